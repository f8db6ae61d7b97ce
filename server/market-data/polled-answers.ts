/**
 * Answers of one route to polled bodies (polled-bodies.ts). An answer is sent again while the books that it shows
 * have their versions; within a batch not even these are compared. Joined books and prices are one run of bytes, where
 * their parts lie in many places that no cache holds. An answer is stored when it is made a second time for the same
 * versions: one whose books change between two requests is not copied.
 *
 * Thread: I/O, while workers write. An answer that is sent again allocates nothing. Memory of an answer is made when
 * it is first stored. Non-goals: rendering (books.ts, last-prices.ts).
 */
import { lastBatch } from '../../engine/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { KnownTokens } from './known-tokens.ts';
import { POLLED_TOKENS_MAX, type PolledBodies } from './polled-bodies.ts';

/** Longest answer that is stored: all cells together take at most 64 MiB for a route. */
const ANSWER_BYTES_MAX = 2 ** 16;
/** Memory of an answer is a multiple of this, so that most changed answers fit in the same. */
const ROOM_BYTES = 2 ** 11;

const NO_BATCH = -1;

interface Shown {
  readonly count: number;
  readonly tokens: Int32Array;
  /** Version of each book that the answer shows. */
  readonly versions: Int32Array;
}

export class PolledAnswers {
  private readonly tables: Tables;
  private readonly known: KnownTokens;
  private readonly bodies: PolledBodies;
  private readonly rooms: (Uint8Array | undefined)[];
  /** Undefined where only the versions are known. */
  private readonly answers: (Uint8Array | undefined)[];
  /** Body that each answer belongs to (PolledBodies.numberOf). */
  private readonly numbers: Float64Array;
  /** Batch with which all shown versions were seen last; NO_BATCH = they are to be compared. */
  private readonly batches: Float64Array;
  private readonly counts: Int32Array;
  /** Index of each shown version in bookI, and its value. */
  private readonly versionAt: Int32Array;
  private readonly versions: Int32Array;

  constructor(tables: Tables, known: KnownTokens, bodies: PolledBodies) {
    const { cells } = bodies;
    this.tables = tables;
    this.known = known;
    this.bodies = bodies;
    this.rooms = new Array(cells).fill(undefined);
    this.answers = new Array(cells).fill(undefined);
    this.numbers = new Float64Array(cells);
    this.batches = new Float64Array(cells);
    this.counts = new Int32Array(cells);
    this.versionAt = new Int32Array(cells * POLLED_TOKENS_MAX);
    this.versions = new Int32Array(cells * POLLED_TOKENS_MAX);
  }

  /** Current answer to the body of a cell; valid until the next answer. */
  find(cell: number): Uint8Array | undefined {
    if (this.numbers[cell] !== this.bodies.numberOf(cell)) return undefined;
    // Before the versions: all that a batch changed is there once its number is.
    const batch = lastBatch(this.tables);
    const answer = this.answers[cell];
    if (answer === undefined || this.batches[cell] === batch) return answer;
    return this.hasVersions(cell, batch) ? answer : undefined;
  }

  /**
   * Takes a new answer, and stores it if the one before had the same versions.
   * @param batch the last one before the books were read
   */
  set(cell: number, batch: number, shown: Shown, answer: Uint8Array): void {
    const isAgain = this.setVersions(cell, shown);
    if (!isAgain || answer.length > ANSWER_BYTES_MAX || !this.hasVersions(cell, batch)) return;
    let room = this.rooms[cell];
    if (room === undefined || room.length < answer.length) {
      room = new Uint8Array(Math.ceil(answer.length / ROOM_BYTES) * ROOM_BYTES);
      this.rooms[cell] = room;
    }
    room.set(answer);
    this.answers[cell] = room.subarray(0, answer.length);
  }

  /** Returns true if the versions of the body of a cell are those of its answer before. */
  private setVersions(cell: number, { count, tokens, versions }: Shown): boolean {
    const number = this.bodies.numberOf(cell);
    let isAgain = this.numbers[cell] === number;
    const from = cell * POLLED_TOKENS_MAX;
    for (let i = 0; i < count; i++) {
      if (this.versions[from + i] === versions[i] && isAgain) continue;
      isAgain = false;
      this.versionAt[from + i] = this.known.versionAt[tokens[i]!]!;
      this.versions[from + i] = versions[i]!;
    }
    this.numbers[cell] = number;
    this.counts[cell] = count;
    this.batches[cell] = NO_BATCH;
    this.answers[cell] = undefined;
    return isAgain;
  }

  /**
   * Compares the versions of the shown books. While a writer changes a book, the state before its batch is the newest
   * complete one; the batch is taken as that of the answer only if there is no such book.
   */
  private hasVersions(cell: number, batch: number): boolean {
    const { bookI } = this.tables;
    const { versionAt, versions } = this;
    const from = cell * POLLED_TOKENS_MAX;
    const end = from + this.counts[cell]!;
    let all = 0;
    for (let i = from; i < end; i++) {
      const newest = Atomics.load(bookI, versionAt[i]!);
      if ((newest & ~1) !== versions[i]) return false;
      all |= newest;
    }
    if ((all & 1) === 0) this.batches[cell] = batch;
    return true;
  }
}
