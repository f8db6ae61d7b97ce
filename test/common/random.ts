/**
 * A seeded generator for tests, and the rule that every random run prints its seed. Non-goals:
 * cryptographic quality, speed.
 */
import { randomInt } from 'node:crypto';

/** Value of `skip` for tests of the long form (`npm run test:long`); false = it runs. */
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

  below(bound: number): number {
    return Math.floor((this.next() / 2 ** 32) * bound);
  }

  /** A whole number from low to high, both included. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  chance(percent: number): boolean {
    return this.next() / 2 ** 32 < percent / 100;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error('cannot pick from an empty list');
    return item;
  }
}

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

export function withSeed(body: (random: Random, seed: number) => void): void {
  const seed = freshSeed();
  try {
    body(new Random(seed), seed);
  } catch (error) {
    console.error(`replay with: SEED=${seed} npm test`);
    throw error;
  }
}
