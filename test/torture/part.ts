/**
 * What every part of the torture has in common: a seed, an amount to reach, a time after which it ends
 * anyway, and the line that reproduces it.
 */

export interface PartOptions {
  /** Everything that is drawn follows from it. */
  readonly seed: number;
  /** How much is to be done, in the unit of the part. */
  readonly goal: number;
  /** After so much time it ends, whatever has been done. */
  readonly milliseconds: number;
  /** Names of what alone is to be done, where a part has names for it. */
  readonly only?: readonly string[] | undefined;
  /** Tells how far it is. */
  readonly say: (line: string) => void;
}

/** Rejects with an Error that says what is wrong; resolves with what was done, in a line. */
export type PartRun = (options: PartOptions) => Promise<Done>;

export interface Done {
  /** In the unit of the goal. */
  readonly count: number;
  readonly text: string;
}

const SAY_MS = 10_000;

/** Goes on until the goal is reached or the time is up, and says now and then how far it is. */
export class Pace {
  count = 0;
  private readonly o: PartOptions;
  private readonly unit: string;
  private readonly startedAt = performance.now();
  private saidAt = performance.now();

  constructor(options: PartOptions, unit: string) {
    this.o = options;
    this.unit = unit;
  }

  /** @param done so much more has been done since the last call */
  goesOn(done: number): boolean {
    this.count += done;
    const now = performance.now();
    if (now - this.saidAt >= SAY_MS) {
      this.saidAt = now;
      this.o.say(`${this.count} ${this.unit} after ${Math.round(this.seconds)} s`);
    }
    return this.count < this.o.goal && now - this.startedAt < this.o.milliseconds;
  }

  get seconds(): number {
    return (performance.now() - this.startedAt) / 1_000;
  }

  done(what = ''): Done {
    const { count, unit } = this;
    return { count, text: `${count} ${unit}${what === '' ? '' : `: ${what}`}` };
  }
}

/** The seeds of the rounds of a part; round 0 is the part's own, so that a round reproduces alone. */
export function seedOf(seed: number, round: number): number {
  return (seed + round) % 2 ** 31;
}

/** Runs a round; its failure names the seed that reproduces it alone. */
export async function withRoundSeed<T>(
  part: string,
  seed: number,
  body: (seed: number) => T | Promise<T>,
): Promise<T> {
  try {
    return await body(seed);
  } catch (error) {
    const line = `reproduce with: npm run torture -- ${part} --seed ${seed}`;
    throw new Error(`${(error as Error).stack ?? error}\n${line}`, { cause: error });
  }
}
