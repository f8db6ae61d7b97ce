/**
 * Ledger entries (docs/ledger.md#entries) as rows of 64 bytes, in the order of their numbers: columns as of an event
 * (engine/events.ts), with the time in unix milliseconds in place of the number.
 *
 * The engine of the projector passes them to a collector, where they wait for their transaction. With LEDGER=off
 * there are none.
 *
 * Thread: the projector; functions that read rows are pure.
 */
import assert from 'node:assert/strict';
import { type Amounts, cashAfter, Event, EventBuffer, EventKind } from '../../engine/events.ts';
import { sharesTotal } from '../../engine/ledger/reads.ts';
import type { EntryCauseCode } from '../../engine/tables/codes.ts';
import type { AccountRow, PositionRow, TokenRow } from '../../engine/tables/units.ts';
import type { Copier } from './fills.ts';

const ENTRY_WORDS = 16;
const ENTRY_DOUBLES = ENTRY_WORDS / 2;
export const ENTRY_BYTES = 4 * ENTRY_WORDS;
const TIME = Event.entry;
const ROWS_KEPT = 1_024;

/** An entry without its number, which follows from its position. */
export interface Entry {
  readonly cause: EntryCauseCode;
  /** 0 = the node. */
  readonly account: AccountRow | 0;
  readonly token: TokenRow | 0;
  /** Unix milliseconds. */
  readonly time: number;
  readonly reference: number;
  readonly cash: number;
  readonly shares: number;
  readonly cashAfter: number;
  readonly sharesAfter: number;
}

export function entryOf(row: Buffer): Entry {
  const i = (column: number): number => row.readInt32LE(4 * column);
  const f = (column: number): number => row.readDoubleLE(8 * column);
  return {
    cause: i(Event.cause) as EntryCauseCode,
    account: i(Event.account) as AccountRow | 0,
    token: i(Event.token) as TokenRow | 0,
    time: f(TIME),
    reference: f(Event.reference),
    cash: f(Event.cash),
    shares: f(Event.shares),
    cashAfter: f(Event.cashAfter),
    sharesAfter: f(Event.sharesAfter),
  };
}

export class EntryCollector extends EventBuffer {
  /** Unix milliseconds of the applied batch. */
  time = 0;
  /** Number of the first waiting row, and the count of waiting rows. */
  first = 0;
  count = 0;

  constructor() {
    super(1);
    this.resize(ROWS_KEPT);
  }

  get end(): number {
    return this.first + this.count;
  }

  drop(end: number): void {
    const left = Math.max(0, this.end - end);
    this.i32.copyWithin(0, (this.count - left) * ENTRY_WORDS, this.count * ENTRY_WORDS);
    this.first = end;
    this.count = left;
    if (left === 0 && this.i32.length > ROWS_KEPT * ENTRY_WORDS) this.resize(ROWS_KEPT);
  }

  readonly copy: Copier = (sequence, into, at) => {
    assert(sequence >= this.first && sequence < this.end, 'an entry waits until it is put');
    const row = (sequence - this.first) * ENTRY_BYTES;
    into.set(new Uint8Array(this.i32.buffer, row, ENTRY_BYTES), at);
  };

  /** Ignores known entries, which come again if the log is applied from before them. */
  override entry(
    t: Amounts,
    cause: EntryCauseCode,
    account: AccountRow | 0,
    position: PositionRow | 0,
    token: TokenRow | 0,
    sequence: number,
    reference: number,
    cash: number,
    shares: number,
  ): void {
    if (sequence < this.end) return;
    assert(sequence === this.end, 'entries are numbered without a gap');
    if ((this.count + 1) * ENTRY_WORDS > this.i32.length) this.resize(2 * this.count);
    const { f64, i32 } = this;
    const at = this.count * ENTRY_WORDS;
    const d = this.count * ENTRY_DOUBLES;
    i32[at + Event.kind] = EventKind.entry;
    i32[at + Event.cause] = cause;
    i32[at + Event.account] = account;
    i32[at + Event.token] = token;
    f64[d + TIME] = this.time;
    f64[d + Event.reference] = reference;
    f64[d + Event.cash] = cash;
    f64[d + Event.shares] = shares;
    f64[d + Event.cashAfter] = cashAfter(t, account);
    f64[d + Event.sharesAfter] = sharesTotal(t, position);
    this.count += 1;
  }

  override clear(): void {}

  /** No other event is recorded. */
  protected override take(): number {
    return -1;
  }

  private resize(rows: number): void {
    const i32 = new Int32Array(rows * ENTRY_WORDS);
    i32.set(this.i32.subarray(0, Math.min(this.count * ENTRY_WORDS, i32.length)));
    this.i32 = i32;
    this.f64 = new Float64Array(i32.buffer);
  }
}
