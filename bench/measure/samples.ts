/**
 * Facts of a sent request, as rows of numbers that travel between processes as they are.
 * Thread: any.
 * Non-goals: what the answer said about its orders (outcomes.ts).
 */
import type { Kind } from './mix.ts';
import { KINDS } from './mix.ts';

/** Outcome of a request. */
export const Fate = {
  /** No answer, or one other than 200: not in the latencies. */
  failed: 0,
  answered: 1,
  /** Due, and not answered when the run was given up: its latency is how long it has waited. */
  unanswered: 2,
} as const;
export type Fate = (typeof Fate)[keyof typeof Fate];

export interface Sample {
  /** Time at which it was due, from the start of the run. */
  readonly dueMs: number;
  /** Delay until the tool noticed that it was due: the error of the tool. */
  readonly toolLateMs: number;
  /** From the send to the answer. */
  readonly serviceMs: number;
  /** From when it was due to the answer: includes waiting for a free connection. */
  readonly latencyMs: number;
  readonly kind: Kind;
  readonly orders: number;
  readonly fate: Fate;
}

const COLUMNS = 7;
const FIRST_ROWS = 1024;

/** Gathers samples until they are taken as one array of rows. */
export class SampleRows {
  #rows: Float64Array;
  #length = 0;

  /** @param expected number of samples for which there is room at once */
  constructor(expected = FIRST_ROWS) {
    this.#rows = new Float64Array(Math.max(1, expected) * COLUMNS);
  }

  add(sample: Sample): void {
    if (this.#length === this.#rows.length) {
      const larger = new Float64Array(2 * this.#rows.length);
      larger.set(this.#rows);
      this.#rows = larger;
    }
    const rows = this.#rows;
    const at = this.#length;
    rows[at] = sample.dueMs;
    rows[at + 1] = sample.toolLateMs;
    rows[at + 2] = sample.serviceMs;
    rows[at + 3] = sample.latencyMs;
    rows[at + 4] = KINDS.indexOf(sample.kind);
    rows[at + 5] = sample.orders;
    rows[at + 6] = sample.fate;
    this.#length += COLUMNS;
  }

  take(): Float64Array {
    const taken = this.#rows.slice(0, this.#length);
    this.#length = 0;
    return taken;
  }
}

export function* samplesOf(rows: Float64Array): Generator<Sample> {
  for (let at = 0; at < rows.length; at += COLUMNS) {
    yield {
      dueMs: rows[at]!,
      toolLateMs: rows[at + 1]!,
      serviceMs: rows[at + 2]!,
      latencyMs: rows[at + 3]!,
      kind: KINDS[rows[at + 4]!]!,
      orders: rows[at + 5]!,
      fate: rows[at + 6]! as Fate,
    };
  }
}
