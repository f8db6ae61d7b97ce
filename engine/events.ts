/**
 * Engine events of a batch in the order in which they happened: the source of the streams. Records refer to data
 * that stays in place until the batch is on disk (the command, the rings of fills and closed orders) and copy the
 * rest. So a reader needs nothing that later batches may change.
 *
 * A record is eight words, a f64 at an even one:
 *
 *   placed    kind | command | tick | grid          an order was taken in; its command's word
 *   fill      kind | - - - | sequence f64
 *   partly    kind, then the maker's row (32 words) a fill left something of its maker
 *   level     kind | book | tick | grid | quantity f64 | sequence f64
 *             the total of a level, and whose doing it was: kind says where its id is found
 *   source    kind | book | tick | grid | quantity f64 | side f64
 *             the total of a level that the source set, or whose source part was taken or ended
 *   finished  kind | - - - | sequence f64
 *   tick      kind | book | grid before | grid
 *   market    kind | market | 1 = new | base fee | minSize f64
 *   settled   kind | book | version                 last of all, once for each book that changed
 *   entry     kind | cause | account | token | sequence f64 | reference f64 | cash f64 | shares f64 |
 *             cash after f64 | shares after f64 | cash reserved f64 | shares reserved f64
 *             20 words (docs/ledger.md#entries); account 0 = the venue, whose cash is its fees
 *   resolved  kind | market | state | 1 = due       a resolution has begun, at the deadline of its proposal or not, or
 *                                                   is done
 *   reserved  kind | account | token | - | total f64 | reserved f64
 *             an order rests or has ended, and reserves more or less of this; token 0 = cash
 *   delayed   as placed                             an order was taken in, and waits for its taker delay
 *   due       kind | - | tick | grid, then its row (32 words): a delayed order is placed
 *   decided   kind | 1 = it failed | - - | sequence f64, then the fill (40 words), and the API keys of the orders of its
 *             taker and its maker (4 words each, 0 where the order is forgotten): it is settled
 *
 * One per writing thread. Grows up to its bound; beyond it `overflowed` says that the log is not
 * whole. A bound of 0 turns it off.
 */
import { assert } from './book/matching.ts';
import type { FillRows, OrderRows } from './reads.ts';
import { API_KEY_WORDS, type EntryCauseCode } from './tables/codes.ts';
import {
  CASH_F,
  Cash,
  FILL_WORDS,
  Ledger,
  ORDER_I,
  Order,
  POSITION_F,
  Position,
} from './tables/layout.ts';
import type { Tables } from './tables/tables.ts';
import type {
  AccountRow,
  BookRow,
  MarketRow,
  MicroShares,
  PositionRow,
  Ticks,
  TokenRow,
} from './tables/units.ts';

export type Amounts = Pick<Tables, 'cashF' | 'ledger' | 'positionF'>;

const EVENT_WORDS = 8;
const PARTLY_WORDS = 40;
const ENTRY_WORDS = 20;
const DECIDED_WORDS = EVENT_WORDS + FILL_WORDS + 2 * API_KEY_WORDS;

export const EventKind = {
  placed: 1,
  fill: 2,
  partly: 3,
  closed: 4,
  /** Price level changed by the order placed last, by the maker of a fill, by an order that closed. */
  levelPlaced: 5,
  levelFill: 6,
  levelClosed: 7,
  tick: 8,
  market: 9,
  settled: 10,
  entry: 11,
  resolved: 12,
  reserved: 13,
  levelSource: 14,
  delayed: 15,
  due: 16,
  decided: 17,
} as const;

/** Columns of a record; f64 ones count doubles. */
export const Event = {
  kind: 0,
  command: 1,
  book: 1,
  market: 1,
  tick: 2,
  gridBefore: 2,
  isNew: 2,
  version: 2,
  grid: 3,
  baseFeeBps: 3,
  quantity: 2,
  minSize: 2,
  sequence: 3,
  /** Side of a source level in the prices of its book: 0 bid, 1 ask. */
  side: 3,
  row: 8,
  fails: 1,
  /** Word of the taker's API key; the maker's follows. */
  keys: 48,
  // Of an entry.
  cause: 1,
  account: 2,
  token: 3,
  entry: 2,
  reference: 3,
  cash: 4,
  shares: 5,
  cashAfter: 6,
  sharesAfter: 7,
  cashReserved: 8,
  sharesReserved: 9,
  // Of a resolution.
  state: 2,
  isAtDeadline: 3,
  // Of a change of what is reserved.
  total: 2,
  reserved: 3,
} as const;

/** Records of a batch of usual size. */
const RECORDS_FIRST = 4_096;
/** Records of a batch of 8,192 orders that all trade. */
const RECORDS_KEPT = 2 ** 16;
/** Records of a cancel of half a million orders: 64 MiB, for a batch that takes a second. */
export const EVENTS_MAX = 2 ** 21;

export class EventBuffer {
  i32: Int32Array;
  f64: Float64Array;
  words = 0;
  overflowed = false;
  /** Index of the command at hand, as the caller counts those of the batch. */
  command = 0;
  readonly isOn: boolean;
  private readonly wordsMax: number;

  constructor(recordsMax: number) {
    this.isOn = recordsMax > 0;
    this.wordsMax = recordsMax * EVENT_WORDS;
    this.i32 = new Int32Array(Math.min(RECORDS_FIRST, recordsMax) * EVENT_WORDS);
    this.f64 = new Float64Array(this.i32.buffer);
  }

  clear(): void {
    this.words = 0;
    this.overflowed = false;
    // The memory that a rare batch needed is released.
    if (this.i32.length > RECORDS_KEPT * EVENT_WORDS) this.allocate(RECORDS_FIRST * EVENT_WORDS);
  }

  placed(tick: Ticks, grid: number): void {
    this.taken(EventKind.placed, tick, grid);
  }

  delayed(tick: Ticks, grid: number): void {
    this.taken(EventKind.delayed, tick, grid);
  }

  /** @param offset first word of its row in `orderI` */
  due(orderI: Int32Array, offset: number, grid: number): void {
    const at = this.take(PARTLY_WORDS);
    if (at < 0) return;
    const { i32 } = this;
    i32[at] = EventKind.due;
    i32[at + Event.tick] = orderI[offset + Order.price]!;
    i32[at + Event.grid] = grid;
    for (let w = 0; w < PARTLY_WORDS - EVENT_WORDS; w++)
      i32[at + EVENT_WORDS + w] = orderI[offset + w]!;
  }

  /**
   * @param offset first word of the fill in `unsettledI`
   * @param orders rows of its taker and its maker; 0 = forgotten
   */
  decided(
    { orderI, unsettledI }: Pick<Tables, 'orderI' | 'unsettledI'>,
    offset: number,
    sequence: number,
    fails: boolean,
    orders: readonly number[],
  ): void {
    const at = this.take(DECIDED_WORDS);
    if (at < 0) return;
    const { i32 } = this;
    i32[at] = EventKind.decided;
    i32[at + Event.fails] = fails ? 1 : 0;
    this.f64[(at >> 1) + Event.sequence] = sequence;
    for (let w = 0; w < FILL_WORDS; w++) i32[at + EVENT_WORDS + w] = unsettledI[offset + w]!;
    orders.forEach((row, party) => {
      const into = at + Event.keys + party * API_KEY_WORDS;
      const from = (row << ORDER_I) + Order.apiKey;
      for (let w = 0; w < API_KEY_WORDS; w++) i32[into + w] = row === 0 ? 0 : orderI[from + w]!;
    });
  }

  private taken(kind: number, tick: Ticks, grid: number): void {
    const at = this.take(EVENT_WORDS);
    if (at < 0) return;
    const { i32 } = this;
    i32[at] = kind;
    i32[at + 1] = this.command;
    i32[at + 2] = tick;
    i32[at + 3] = grid;
  }

  fill(sequence: number): void {
    const at = this.take(EVENT_WORDS);
    if (at < 0) return;
    this.i32[at] = EventKind.fill;
    this.f64[(at >> 1) + 3] = sequence;
  }

  /** @param offset first word of the maker's row in `orderI`, from which the fill was already subtracted */
  partly(orderI: Int32Array, offset: number): void {
    const at = this.take(PARTLY_WORDS);
    if (at < 0) return;
    const { i32 } = this;
    i32[at] = EventKind.partly;
    for (let w = 0; w < PARTLY_WORDS - EVENT_WORDS; w++)
      i32[at + EVENT_WORDS + w] = orderI[offset + w]!;
  }

  /** @param sequence fill sequence, or sequence among the closed orders; for a source level its side */
  level(
    kind: number,
    book: BookRow,
    tick: Ticks,
    grid: number,
    quantity: MicroShares,
    sequence: number,
  ): void {
    const at = this.take(EVENT_WORDS);
    if (at < 0) return;
    const { f64, i32 } = this;
    i32[at] = kind;
    i32[at + 1] = book;
    i32[at + 2] = tick;
    i32[at + 3] = grid;
    f64[(at >> 1) + 2] = quantity;
    f64[(at >> 1) + 3] = sequence;
  }

  ended(book: BookRow, tick: Ticks, grid: number, quantity: MicroShares, sequence: number): void {
    const at = this.take(2 * EVENT_WORDS);
    if (at < 0) return;
    const { f64, i32 } = this;
    const d = at >> 1;
    i32[at] = EventKind.levelClosed;
    i32[at + 1] = book;
    i32[at + 2] = tick;
    i32[at + 3] = grid;
    f64[d + 2] = quantity;
    f64[d + 3] = sequence;
    i32[at + EVENT_WORDS] = EventKind.closed;
    f64[d + EVENT_WORDS / 2 + 3] = sequence;
  }

  closed(sequence: number): void {
    const at = this.take(EVENT_WORDS);
    if (at < 0) return;
    this.i32[at] = EventKind.closed;
    this.f64[(at >> 1) + 3] = sequence;
  }

  tick(book: BookRow, before: number, grid: number): void {
    const at = this.take(EVENT_WORDS);
    if (at < 0) return;
    const { i32 } = this;
    i32[at] = EventKind.tick;
    i32[at + 1] = book;
    i32[at + 2] = before;
    i32[at + 3] = grid;
  }

  market(market: MarketRow, isNew: boolean, baseFeeBps: number, minSize: MicroShares): void {
    const at = this.take(EVENT_WORDS);
    if (at < 0) return;
    this.i32[at] = EventKind.market;
    this.i32[at + 1] = market;
    this.i32[at + 2] = isNew ? 1 : 0;
    this.i32[at + 3] = baseFeeBps;
    this.f64[(at >> 1) + 2] = minSize;
  }

  settled(book: BookRow, version: number): void {
    const at = this.take(EVENT_WORDS);
    if (at < 0) return;
    const { i32 } = this;
    i32[at] = EventKind.settled;
    i32[at + 1] = book;
    i32[at + 2] = version;
  }

  /**
   * Records new totals of a wallet (0 = the venue): its cash, and those of a position (0 = cash alone). The amounts
   * after it are read here, because doubles passed as arguments may be allocated.
   */
  entry(
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
    const at = this.take(ENTRY_WORDS);
    if (at < 0) return;
    const { f64, i32 } = this;
    const d = at >> 1;
    i32[at] = EventKind.entry;
    i32[at + Event.cause] = cause;
    i32[at + Event.account] = account;
    i32[at + Event.token] = token;
    f64[d + Event.entry] = sequence;
    f64[d + Event.reference] = reference;
    f64[d + Event.cash] = cash;
    f64[d + Event.shares] = shares;
    const { cashF, positionF } = t;
    const ofCash = account << CASH_F;
    const ofShares = position << POSITION_F;
    f64[d + Event.cashAfter] = cashAfter(t, account);
    f64[d + Event.sharesAfter] = positionF[ofShares + Position.total]!;
    f64[d + Event.cashReserved] = cashF[ofCash + Cash.reserved]!;
    f64[d + Event.sharesReserved] = positionF[ofShares + Position.reserved]!;
  }

  resolved(market: MarketRow, state: number, isAtDeadline: boolean): void {
    const at = this.take(EVENT_WORDS);
    if (at < 0) return;
    const { i32 } = this;
    i32[at] = EventKind.resolved;
    i32[at + Event.market] = market;
    i32[at + Event.state] = state;
    i32[at + Event.isAtDeadline] = isAtDeadline ? 1 : 0;
  }

  reserved(
    { cashF, positionF }: Amounts,
    account: AccountRow,
    position: PositionRow | 0,
    token: TokenRow | 0,
  ): void {
    const at = this.take(EVENT_WORDS);
    if (at < 0) return;
    const { f64, i32 } = this;
    const d = at >> 1;
    i32[at] = EventKind.reserved;
    i32[at + Event.account] = account;
    i32[at + Event.token] = token;
    if (token === 0) {
      f64[d + Event.total] = cashF[(account << CASH_F) + Cash.total]!;
      f64[d + Event.reserved] = cashF[(account << CASH_F) + Cash.reserved]!;
    } else {
      f64[d + Event.total] = positionF[(position << POSITION_F) + Position.total]!;
      f64[d + Event.reserved] = positionF[(position << POSITION_F) + Position.reserved]!;
    }
  }

  /** Returns the first word of a new record; -1 when it does not fit. */
  protected take(words: number): number {
    const at = this.words;
    const end = at + words;
    if (end > this.i32.length && !this.grow(end)) return -1;
    this.words = end;
    return at;
  }

  private grow(words: number): boolean {
    if (words > this.wordsMax || this.overflowed) {
      this.overflowed = true;
      return false;
    }
    const before = this.i32;
    this.allocate(Math.min(this.wordsMax, 2 * words));
    this.i32.set(before);
    return true;
  }

  private allocate(words: number): void {
    const i32 = new Int32Array(words);
    this.i32 = i32;
    this.f64 = new Float64Array(i32.buffer);
  }
}

export function cashAfter({ cashF, ledger }: Amounts, account: AccountRow | 0): number {
  return account === 0 ? ledger[Ledger.fees]! : cashF[(account << CASH_F) + Cash.total]!;
}

/** Returns the row in the `partly` or `due` record at `at`, as ONLY_ORDER. */
export function partlyRows(i32: Int32Array, f64: Float64Array, at: number): OrderRows {
  const row = at + Event.row;
  const end = at + PARTLY_WORDS;
  return { orderI: i32.subarray(row, end), orderF: f64.subarray(row / 2, end / 2) };
}

/** Returns the fill in the `decided` record at `at`, as row 0. */
export function decidedFill(i32: Int32Array, f64: Float64Array, at: number): FillRows {
  const row = at + Event.row;
  const end = row + FILL_WORDS;
  return { fillI: i32.subarray(row, end), fillF: f64.subarray(row / 2, end / 2) };
}

export function eventWords(i32: Int32Array, at: number): number {
  const kind = i32[at]!;
  assert(kind >= EventKind.placed && kind <= EventKind.decided, 'an event has a known kind');
  if (kind === EventKind.partly || kind === EventKind.due) return PARTLY_WORDS;
  if (kind === EventKind.decided) return DECIDED_WORDS;
  return kind === EventKind.entry ? ENTRY_WORDS : EVENT_WORDS;
}
