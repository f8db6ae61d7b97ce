/**
 * Tables of the engine with the state of one writer turn: time of the batch, books being written, results of the
 * last order. One for each writing thread.
 */
import { assert } from './book/matching.ts';
import type { EventBuffer } from './events.ts';
import type { RejectReasonCode } from './orders/reject-reasons.ts';
import { DELAYED_ORDERS_MAX } from './tables/capacities.ts';
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
  /** The whole fee, and the part of it that is in shares. */
  fee: 3,
  feeShares: 7,
  // With a ledger: what the maker reserved before the fill, and what moves to the wallet at hand.
  reserved: 4,
  cash: 5,
  shares: 6,
} as const;

const HIGH_HALF = 2 ** -32;

export type Applier = (i32: Int32Array, f64: Float64Array, at: number) => RejectReasonCode;

export class EngineContext {
  readonly t: Tables;
  readonly events: EventBuffer;
  time = 0;
  /** Milliseconds of a unit of taker delays: a second in a node; a backtest has milliseconds. Set once. */
  delayUnitMs = 1_000;
  /** True when the row of the order being placed came from a forgotten order. */
  hasForgotten = false;
  persistedClosedSequence = 0;
  /** Micro-units that the last accepted order paid and received at once, net of fees that are no schedule's. */
  making = 0;
  taking = 0;
  digest = 0;
  changes = 0;
  /** True when the last accepted order waits for a taker delay. */
  isDelayed = false;
  /** Settlement of the fills of the order at hand (SettlementTerms); 0 ms = at once. */
  settleMs = 0;
  settleFails = 0;
  settleFault = 0;
  /** Result of delayedWhere(). */
  readonly delayedRows = new Int32Array(DELAYED_ORDERS_MAX);
  /** Order at which the last cancelOwner stopped; 0 = the end of its owner's list. */
  nextOwned: OrderRow | 0 = 0;
  readonly legs = new Float64Array(8);
  position = 0 as PositionRow | 0;
  firstFill = 0;
  /** Result of prefetch.ts, stored so that V8 does not drop the reads. */
  fetched = 0;
  probedQuantity = 0 as MicroShares;
  probeStopped = false;
  private readonly touched: Int32Array;
  private touchedCount = 0;

  constructor(memory: EngineMemory, events: EventBuffer) {
    this.t = new Tables(memory);
    this.events = events;
    this.touched = new Int32Array(memory.capacities.tokens + 1);
  }

  /** Mixes one word into the digest of the batch: equal to mix() of that number. */
  mixWord(word: number): void {
    const mixed = Math.imul(this.digest ^ word, 0x01000193);
    this.digest = mixed ^ (mixed >>> 13);
  }

  mix(value: number): void {
    // Amounts are below 2^53: both halves count.
    const mixed = Math.imul(this.digest ^ (value | 0), 0x01000193) ^ (value * HIGH_HALF);
    this.digest = mixed ^ (mixed >>> 13);
  }

  /**
   * Marks a book as being written until the end of the batch and stamps its time of change. Readers see the batch's
   * change of a book at once or not at all.
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
