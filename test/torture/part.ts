/**
 * Common form of the parts of the torture: a seed, an amount to reach, a time limit, and the line
 * that reproduces a failure.
 */

export interface PartOptions {
  /** Seed of everything that is drawn. */
  readonly seed: number;
  /** Amount to reach, in the unit of the part. */
  readonly goal: number;
  /** Time limit, whatever has been reached. */
  readonly milliseconds: number;
  readonly only?: readonly string[] | undefined;
  readonly say: (line: string) => void;
}

/** Rejects with an Error that says what is wrong; resolves with a summary. */
export type PartRun = (options: PartOptions) => Promise<Done>;

export interface Done {
  readonly count: number;
  readonly text: string;
}

const SAY_MS = 10_000;

/** Continues until the goal or the time limit is reached, and prints progress. */
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

  /** @param done amount since the last call */
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

/** Seeds of the rounds of a part; round 0 has the part's own, so that a round reproduces alone. */
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
