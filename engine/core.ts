/**
 * The engine's tables together with what lives only during one turn: the time of the batch, the
 * book that is being written, and what the last order gave and received. One per writing thread.
 */
import { assert } from './assert.ts';
import { BOOK_F, BOOK_I, Book, State } from './layout.ts';
import type { EngineMemory } from './tables.ts';
import { Tables } from './tables.ts';

/** Policies for a taker that meets an order of the same maker account (GAPS 12, SELF_TRADE). */
export const SelfTrade = { allow: 0, cancelTaker: 1, cancelMaker: 2, cancelBoth: 3 } as const;

export class Core {
  readonly t: Tables;
  /** Unix milliseconds of the current batch. */
  time = 0;
  /** What the last accepted order paid and received at once, in micro-units, net of fees. */
  making = 0;
  taking = 0;
  /** Slot of the last accepted order. */
  orderSlot = 0;
  /** Digest of the records of the current batch. */
  digest = 0;
  /** Changes of the current batch; a batch without any is not journaled. */
  changes = 0;
  /** Where survey() (match.ts) leaves its answer. */
  surveyedQuantity = 0;
  surveyStopped = false;
  private writing = 0;

  constructor(memory: EngineMemory) {
    this.t = new Tables(memory);
  }

  /** Mixes one number of a record into the digest of the batch. */
  note(value: number): void {
    // Amounts are below 2^53: both halves count.
    const high = Math.floor(value / 4_294_967_296);
    this.digest = Math.imul(this.digest ^ (value | 0), 0x01000193) ^ high;
    this.digest ^= this.digest >>> 13;
  }

  /** Marks a book as being written until the end of the command, and stamps its time of change. */
  touch(book: number): void {
    if (this.writing === book) return;
    this.settle();
    const { bookI, bookF } = this.t;
    const version = bookI[(book << BOOK_I) + Book.version]!;
    assert((version & 1) === 0, 'a book has one writer');
    Atomics.store(bookI, (book << BOOK_I) + Book.version, (version + 1) | 0);
    bookF[(book << BOOK_F) + Book.changedAt] = this.time;
    this.writing = book;
  }

  /** Ends the writing of the touched book: readers may believe it again. */
  settle(): void {
    if (this.writing === 0) return;
    const at = (this.writing << BOOK_I) + Book.version;
    Atomics.store(this.t.bookI, at, (this.t.bookI[at]! + 1) | 0);
    this.writing = 0;
  }

  selfTrade(): number {
    return this.t.state[State.selfTrade]!;
  }
}
