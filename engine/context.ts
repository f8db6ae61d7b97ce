/**
 * The engine's tables together with what lives only during one turn: the time of the batch, the
 * book that is being written, and what the last order gave and received. One per writing thread.
 */
import { assert } from './book/matching.ts';
import type { EventBuffer } from './events.ts';
import type { RejectReasonCode } from './orders/reject-reasons.ts';
import { BOOK_F, BOOK_I, Book, State } from './tables/layout.ts';
import type { EngineMemory } from './tables/tables.ts';
import { Tables } from './tables/tables.ts';
import type { BookRow, MicroShares, OrderRow, PositionRow } from './tables/units.ts';

/**
 * Policies for a taker that meets an order of the same maker account
 * (docs/protocol.md#self-trade).
 */
export const SelfTrade = { allow: 0, cancelTaker: 1, cancelMaker: 2, cancelBoth: 3 } as const;

/** Columns of EngineContext.legs: micro-shares, then micro-units of collateral. */
export const Leg = {
  size: 0,
  maker: 1,
  taker: 2,
  fee: 3,
  // With a ledger: what the maker reserved before the fill, and what moves to the wallet at hand.
  reserved: 4,
  cash: 5,
  shares: 6,
} as const;

const HIGH_HALF = 2 ** -32;

/** Applies the command at word `at` of a batch. */
export type Applier = (i32: Int32Array, f64: Float64Array, at: number) => RejectReasonCode;

export class EngineContext {
  readonly t: Tables;
  readonly events: EventBuffer;
  /** Unix milliseconds of the current batch. */
  time = 0;
  /** An order was forgotten for the row of the one that is being placed. */
  hasForgotten = false;
  /** Closed orders before this one have their final states on disk: the batch says so. */
  persistedClosedSequence = 0;
  /** What the last accepted order paid and received at once, in micro-units, net of fees. */
  making = 0;
  taking = 0;
  /** Digest of the records of the current batch. */
  digest = 0;
  /** Changes of the current batch; a batch without any is not logged. */
  changes = 0;
  /** Where the last cancelOwner left off in its owner's list; 0 = it came to the end. */
  nextOwned: OrderRow | 0 = 0;
  /** The fill at hand (settle-fill.ts), in the columns of Leg. */
  readonly legs = new Float64Array(8);
  /** With a ledger: the position of the order that is being placed; 0 = it has none yet. */
  position = 0 as PositionRow | 0;
  /** Sequence of the first fill of the match at hand. */
  firstFill = 0;
  /** What was read ahead (prefetch.ts), so that it is not optimised away. */
  fetched = 0;
  /** Where probeLiquidity() (match.ts) leaves its answer. */
  probedQuantity = 0 as MicroShares;
  probeStopped = false;
  /** Books that this batch has changed so far. */
  private readonly touched: Int32Array;
  private touchedCount = 0;

  constructor(memory: EngineMemory, events: EventBuffer) {
    this.t = new Tables(memory);
    this.events = events;
    this.touched = new Int32Array(memory.capacities.tokens + 1);
  }

  /** Mixes one word of a record into the digest of the batch: what note() does with such a number. */
  noteWord(word: number): void {
    const mixed = Math.imul(this.digest ^ word, 0x01000193);
    this.digest = mixed ^ (mixed >>> 13);
  }

  /** Mixes one amount of a record into the digest of the batch. */
  note(value: number): void {
    // Amounts are below 2^53: both halves count.
    const mixed = Math.imul(this.digest ^ (value | 0), 0x01000193) ^ (value * HIGH_HALF);
    this.digest = mixed ^ (mixed >>> 13);
  }

  /**
   * Marks a book as being written until the end of the batch, and stamps its time of change: what a
   * batch does to a book is seen at once or not at all.
   */
  touch(book: BookRow): void {
    const { bookF, bookI } = this.t;
    const version = bookI[(book << BOOK_I) | Book.version]!;
    if ((version & 1) !== 0) return;
    Atomics.store(bookI, (book << BOOK_I) | Book.version, (version + 1) | 0);
    bookF[(book << BOOK_F) | Book.changedAt] = this.time;
    this.touched[this.touchedCount] = book;
    this.touchedCount += 1;
  }

  /** Ends the batch's writing: readers may believe the books again. */
  publishVersions(): void {
    const { bookI } = this.t;
    for (let i = 0; i < this.touchedCount; i++) {
      const at = (this.touched[i]! << BOOK_I) | Book.version;
      const version = bookI[at]!;
      assert((version & 1) === 1, 'a touched book is being written');
      Atomics.store(bookI, at, (version + 1) | 0);
      this.events.settled(this.touched[i]! as BookRow, (version + 1) | 0);
    }
    this.touchedCount = 0;
  }

  selfTrade(): number {
    return this.t.state[State.selfTrade]!;
  }
}
