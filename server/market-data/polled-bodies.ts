/**
 * Bodies with many tokens, the tokens that they name, and their answer as of a batch: a client that polls
 * sends the same bytes each time. Comparing them reads memory in one run, where tokens and books lie in a hundred places
 * that no cache holds. A token keeps its number (known-tokens.ts), so an entry stays valid.
 *
 * A body has one cell, by a hash of some of its words. It is stored if the cell is empty, or when it comes twice in a row
 * among those of its cell. All cells together take 13 MB once they are used.
 *
 * Thread: I/O. Nothing is allocated for a request. Non-goals: reading a body (token-request.ts).
 */
const CELLS = 2 ** 10;
/** Bounds of a stored body in bytes and in tokens. Reading a shorter one takes no longer than comparing it. */
const BYTES_MIN = 128;
const BYTES_MAX = 4_096;
const POLLED_TOKENS_MAX = 64;
const ANSWER_BYTES_MAX = 2 ** 13;
const SAMPLES = 8;
const SPREAD = 0x9e3779b1;

export const NOT_POLLED = -1;

export interface NamedTokens {
  readonly count: number;
  readonly tokens: Int32Array;
  readonly sides: Uint8Array;
}

export class PolledBodies {
  /** Written by cells, so memory of unused ones costs nothing. */
  private readonly bodies = new DataView(new ArrayBuffer(CELLS * BYTES_MAX));
  private readonly lengths = new Int32Array(CELLS);
  private readonly counts = new Int32Array(CELLS);
  private readonly tokens = new Int32Array(CELLS * POLLED_TOKENS_MAX);
  private readonly sides = new Uint8Array(CELLS * POLLED_TOKENS_MAX);
  private readonly answers = new Uint8Array(CELLS * ANSWER_BYTES_MAX);
  private readonly answerLengths = new Int32Array(CELLS);
  /** Batch that each answer shows. */
  private readonly batches = new Float64Array(CELLS);
  /** Hash of the last body of each cell. */
  private readonly hashes = new Int32Array(CELLS);
  /** Hash of the body that find() was called with last; 0 = it is not stored. */
  private hash = 0;

  /** Cell of a stored body, or NOT_POLLED. */
  find(body: DataView): number {
    const { byteLength } = body;
    this.hash = byteLength < BYTES_MIN || byteLength > BYTES_MAX ? 0 : hashOf(body);
    if (this.hash === 0) return NOT_POLLED;
    const cell = this.hash & (CELLS - 1);
    return this.lengths[cell] === byteLength && this.isSame(cell, body, byteLength)
      ? cell
      : NOT_POLLED;
  }

  /** Takes the tokens of a body that find() did not find. */
  add(body: DataView, { count, sides, tokens }: NamedTokens): void {
    const { hash } = this;
    if (hash === 0 || count > POLLED_TOKENS_MAX) return;
    const cell = hash & (CELLS - 1);
    const isNext = this.lengths[cell] === 0 || this.hashes[cell] === hash;
    this.hashes[cell] = hash;
    if (!isNext) return;
    const bytes = new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
    new Uint8Array(this.bodies.buffer).set(bytes, cell * BYTES_MAX);
    this.lengths[cell] = body.byteLength;
    this.answerLengths[cell] = 0;
    this.counts[cell] = count;
    this.tokens.set(tokens.subarray(0, count), cell * POLLED_TOKENS_MAX);
    this.sides.set(sides.subarray(0, count), cell * POLLED_TOKENS_MAX);
  }

  /** Answer to the body of a cell as of a batch; valid until the next answer. */
  answerOf(cell: number, batch: number): Uint8Array | undefined {
    const length = this.answerLengths[cell]!;
    if (length === 0 || this.batches[cell] !== batch) return undefined;
    return new Uint8Array(this.answers.buffer, cell * ANSWER_BYTES_MAX, length);
  }

  setAnswer(cell: number, batch: number, answer: Uint8Array): void {
    if (answer.length > ANSWER_BYTES_MAX) return;
    this.answers.set(answer, cell * ANSWER_BYTES_MAX);
    this.answerLengths[cell] = answer.length;
    this.batches[cell] = batch;
  }

  countOf(cell: number): number {
    return this.counts[cell]!;
  }

  tokenAt(cell: number, index: number): number {
    return this.tokens[cell * POLLED_TOKENS_MAX + index]!;
  }

  sideAt(cell: number, index: number): number {
    return this.sides[cell * POLLED_TOKENS_MAX + index]!;
  }

  /**
   * Compares eight bytes at a time as doubles. A stored body is plain text, so none of its doubles is NaN or 0, and
   * equal ones have equal bytes. The last eight may overlap those before.
   */
  private isSame(cell: number, body: DataView, length: number): boolean {
    const { bodies } = this;
    const from = cell * BYTES_MAX;
    const last = length - 8;
    for (let i = 0; i < last; i += 8) {
      if (bodies.getFloat64(from + i, true) !== body.getFloat64(i, true)) return false;
    }
    return bodies.getFloat64(from + last, true) === body.getFloat64(last, true);
  }
}

/** Never 0. */
function hashOf(body: DataView): number {
  const { byteLength } = body;
  const step = ((byteLength - 4) / SAMPLES) | 0;
  let hash = byteLength;
  for (let i = 1; i <= SAMPLES; i++) {
    hash = Math.imul(hash ^ body.getInt32(i * step, true), SPREAD);
    hash ^= hash >>> 15;
  }
  return hash === 0 ? 1 : hash;
}
