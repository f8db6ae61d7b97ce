/**
 * Bodies with many tokens, and the tokens that they name: a client that polls sends the same bytes each time. Comparing
 * them reads memory in one run, where tokens lie in a hundred places that no cache holds. A token keeps its number
 * (known-tokens.ts), so an entry stays valid.
 *
 * A hash of some words of a body names a group of four cells. It is stored if one of them is empty, or when it comes twice
 * in a row among the unknown ones of its group. All cells together take 5 MB once they are used.
 *
 * Thread: I/O. Nothing is allocated for a request. Non-goals: reading a body (token-request.ts), its answers
 * (polled-answers.ts).
 */
const CELLS = 2 ** 10;
const GROUP_CELLS = 4;
const GROUPS = CELLS / GROUP_CELLS;
/** Bounds of a stored body in bytes and in tokens. Reading a shorter one takes no longer than comparing it. */
const BYTES_MIN = 128;
const BYTES_MAX = 4_096;
export const POLLED_TOKENS_MAX = 64;
const SAMPLES = 8;
const SPREAD = 0x9e3779b1;

export const NOT_POLLED = -1;

export interface NamedTokens {
  readonly count: number;
  readonly tokens: Int32Array;
  readonly sides: Uint8Array;
}

export class PolledBodies {
  readonly cells = CELLS;
  /** Written by cells, so memory of unused ones costs nothing. */
  private readonly memory = new ArrayBuffer(CELLS * BYTES_MAX);
  private readonly bodies = new Array<Uint8Array>(CELLS).fill(new Uint8Array(0));
  private readonly counts = new Int32Array(CELLS);
  private readonly tokens = new Int32Array(CELLS * POLLED_TOKENS_MAX);
  private readonly sides = new Uint8Array(CELLS * POLLED_TOKENS_MAX);
  /** Number of the body of each cell; 0 = none. */
  private readonly numbers = new Float64Array(CELLS);
  private stored = 0;
  /** Hash of the body of each cell; 0 = the cell is empty. */
  private readonly hashes = new Int32Array(CELLS);
  /** Hash of the last unknown body of each group, and the cell that is replaced next. */
  private readonly unknown = new Int32Array(GROUPS);
  private readonly next = new Uint8Array(GROUPS);
  /** Hash of the body that find() was called with last; 0 = it is not stored. */
  private hash = 0;

  /** Cell of a stored body, or NOT_POLLED. */
  find(body: Uint8Array): number {
    const { length } = body;
    const hash = length < BYTES_MIN || length > BYTES_MAX ? 0 : hashOf(body);
    this.hash = hash;
    if (hash === 0) return NOT_POLLED;
    const first = GROUP_CELLS * (hash & (GROUPS - 1));
    for (let cell = first; cell < first + GROUP_CELLS; cell++) {
      if (this.hashes[cell] !== hash) continue;
      return Buffer.compare(this.bodies[cell]!, body) === 0 ? cell : NOT_POLLED;
    }
    return NOT_POLLED;
  }

  /** Takes the tokens of a body that find() did not find. */
  add(body: Uint8Array, { count, sides, tokens }: NamedTokens): void {
    const { hash } = this;
    if (hash === 0 || count > POLLED_TOKENS_MAX) return;
    const cell = this.cellFor(hash);
    if (cell === NOT_POLLED) return;
    this.hashes[cell] = hash;
    const bytes = new Uint8Array(this.memory, cell * BYTES_MAX, body.length);
    bytes.set(body);
    this.bodies[cell] = bytes;
    this.stored += 1;
    this.numbers[cell] = this.stored;
    this.counts[cell] = count;
    this.tokens.set(tokens.subarray(0, count), cell * POLLED_TOKENS_MAX);
    this.sides.set(sides.subarray(0, count), cell * POLLED_TOKENS_MAX);
  }

  /** Cell for another body; NOT_POLLED if it has to come once more. */
  private cellFor(hash: number): number {
    const group = hash & (GROUPS - 1);
    const first = GROUP_CELLS * group;
    for (let cell = first; cell < first + GROUP_CELLS; cell++) {
      // A body with the same hash is replaced, so that a hash stands for one cell.
      if (this.hashes[cell] === 0 || this.hashes[cell] === hash) return cell;
    }
    const isAgain = this.unknown[group] === hash;
    this.unknown[group] = hash;
    if (!isAgain) return NOT_POLLED;
    const cell = first + this.next[group]!;
    this.next[group] = (this.next[group]! + 1) % GROUP_CELLS;
    return cell;
  }

  /** Number of the body of a cell: each stored body has another one. */
  numberOf(cell: number): number {
    return this.numbers[cell]!;
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
}

/** Never 0. */
function hashOf(body: Uint8Array): number {
  const { length } = body;
  const step = ((length - 4) / SAMPLES) | 0;
  let hash = length;
  for (let i = 1; i <= SAMPLES; i++) {
    hash = Math.imul(hash ^ wordAt(body, i * step), SPREAD);
    hash ^= hash >>> 15;
  }
  return hash === 0 ? 1 : hash;
}

function wordAt(body: Uint8Array, at: number): number {
  return body[at]! | (body[at + 1]! << 8) | (body[at + 2]! << 16) | (body[at + 3]! << 24);
}
