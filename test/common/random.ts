/**
 * A seeded generator for tests, and the rule that every random run says how to replay it.
 * Non-goals: cryptographic quality, speed records.
 */
import { randomInt } from 'node:crypto';

/**
 * `npm run test:long` runs what `npm test` leaves out or does fewer times, to stay under two minutes
 * on two cores: for `skip` of a test, false = it runs.
 */
export const SHORT = process.env.TEST_LONG === undefined && 'in npm run test:long';

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** The next 32 bits (mulberry32), 0 to 2^32 - 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return (t ^ (t >>> 14)) >>> 0;
  }

  /** A whole number from 0 to bound - 1. */
  below(bound: number): number {
    return Math.floor((this.next() / 2 ** 32) * bound);
  }

  /** A whole number from low to high, both included. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  /** True in `percent` of a hundred draws. */
  chance(percent: number): boolean {
    return this.next() / 2 ** 32 < percent / 100;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error('cannot pick from an empty list');
    return item;
  }
}

/** A fresh seed, or the one in SEED. */
export function freshSeed(): number {
  return Number(process.env.SEED ?? randomInt(2 ** 31));
}

/**
 * Number of draws of a random test: `count` in the long form, half of it elsewhere, because each run draws others.
 * TEST_ROUNDS multiplies it.
 */
export function rounds(count: number): number {
  const drawn = SHORT === false ? count : count / 2;
  return Math.ceil(drawn * Number(process.env.TEST_ROUNDS ?? 1));
}

/** Runs a random test; a failure prints the seed that replays it. */
export function withSeed(body: (random: Random, seed: number) => void): void {
  const seed = freshSeed();
  try {
    body(new Random(seed), seed);
  } catch (error) {
    console.error(`replay with: SEED=${seed} npm test`);
    throw error;
  }
}
