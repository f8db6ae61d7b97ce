/**
 * Selects the rows of a GET /trades query by walking the index (trades-index.ts). Rows come match
 * by match, newest first; in a match first the taker row, then its makers in fill order
 * (docs/protocol.md#public-trades).
 *
 * A page is the keys of its rows. The key of a taker row is twice the sequence of the match; the
 * key of a maker row is twice the sequence of the fill, plus one. The content of a row is read by
 * its key while the ring of fills still contains it.
 *
 * A walk that finds little reads many matches, so it pauses regularly for other work. Rows that
 * leave the window during a pause are not found any more.
 *
 * Thread: I/O. Non-goals: text.
 */
import {
  fillFails,
  fillKind,
  fillMaker,
  fillMakerCollateral,
  fillMakerPrice,
  fillMakerToken,
  fillRow,
  fillSize,
  fillTaker,
  fillTakerToken,
  fillTime,
  isPrint,
  unsettledEver,
} from '../../engine/reads.ts';
import { MatchKind } from '../../engine/tables/codes.ts';
import {
  type AccountRow,
  type MarketRow,
  MICRO,
  PIPS_PER_UNIT,
} from '../../engine/tables/units.ts';
import { ratioMicro } from '../common/decimal.ts';
import { NONE } from './fill-chains.ts';
import { accountByAddress, marketsByConditions } from './find.ts';
import { NewestHeap } from './newest-heap.ts';
import { type TradesIndex, walletRows } from './trades-index.ts';
import { PAGE_MAX, type TradesQuery } from './trades-schemas.ts';

export const Row = {
  match: 0,
  /** Unix milliseconds. */
  time: 1,
  account: 2,
  token: 3,
  side: 4,
  /** Micro-units, gross of fees. */
  size: 5,
  collateral: 6,
  /** Millionths. */
  price: 7,
} as const;
export const ROW_DOUBLES = 8;

/** A row by its match and its key: a page begins behind it. */
export interface TradeRowPlace {
  readonly match: number;
  readonly key: number;
}
const NEWEST: TradeRowPlace = { match: Number.POSITIVE_INFINITY, key: 0 };

export interface TradesBounds {
  readonly after?: TradeRowPlace;
  /** Unix seconds, both inclusive. */
  readonly start?: number;
  readonly end?: number;
}

const MS = 1_000;
const ANY_SIDE = -1;
const MICRO_PER_PIP = MICRO / PIPS_PER_UNIT;

/** Matches read without a pause, in a row or along chains: a fraction of a millisecond. */
const MATCHES_PER_TURN = 4_096;
const LINKS_PER_TURN = 2_048;

export class TradesSelector {
  readonly index: TradesIndex;
  readonly keys: Float64Array;
  // The current query.
  private takerOnly = true;
  private side = ANY_SIDE;
  private amountColumn: 'size' | 'collateral' | '' = '';
  private amount = 0;
  private markets: ReadonlySet<MarketRow> | null = null;
  private after: TradeRowPlace = NEWEST;
  private startMs = 0;
  private endMs = Number.POSITIVE_INFINITY;
  private toSkip = 0;
  private limit = 0;
  private count = 0;

  /** @param rowsMax most rows of a page */
  constructor(index: TradesIndex, rowsMax = PAGE_MAX) {
    this.index = index;
    this.keys = new Float64Array(rowsMax);
  }

  /**
   * Fills `keys` step by step; at the end the first `found` are valid. Any time may pass between steps, but no other
   * query of the same selector.
   */
  *select(query: TradesQuery, bounds: TradesBounds = {}): Generator<void, void> {
    const { after = NEWEST, end = Number.POSITIVE_INFINITY, start = 0 } = bounds;
    this.after = after;
    this.startMs = start * MS;
    this.endMs = end * MS + MS - 1;
    this.takerOnly = query.takerOnly;
    this.side = query.side === '' ? ANY_SIDE : query.side === 'BUY' ? 0 : 1;
    this.amountColumn =
      query.filterType === '' ? '' : query.filterType === 'CASH' ? 'collateral' : 'size';
    this.amount = query.filterAmount;
    this.markets =
      query.market === null ? null : marketsByConditions(this.index.tables, query.market);
    this.toSkip = query.offset;
    this.limit = query.limit;
    this.count = 0;
    if (this.limit > 0) yield* this.walk(query.user);
    this.forgetLost();
  }

  get found(): number {
    return this.count;
  }

  private forgetLost(): void {
    while (this.count > 0 && !this.isShown(this.keys[this.count - 1]!)) this.count -= 1;
  }

  private isShown(key: number): boolean {
    const { first } = this.index;
    return Math.floor(key / 2) >= first && this.matchOf(key) >= first;
  }

  market(key: number): MarketRow {
    return (this.index.marketSide[this.matchOf(key) & this.index.mask]! >> 1) as MarketRow;
  }

  /**
   * Writes the content of a row to ROW_DOUBLES numbers of `rows` from `at` on. Returns false if the row has left the
   * window, and older ones with it; the numbers mean nothing then.
   */
  read(key: number, rows: Float64Array, at: number): boolean {
    const match = this.matchOf(key);
    if (key % 2 === 0) this.readTaker(match, rows, at);
    else this.readMaker((key - 1) / 2, match, rows, at);
    return this.isShown(key);
  }

  matchOf(key: number): number {
    const fill = Math.floor(key / 2);
    return key % 2 === 0 ? fill : this.index.matchOf(fill);
  }

  private readTaker(match: number, rows: Float64Array, at: number): void {
    const { index } = this;
    const slot = match & index.mask;
    const { tables } = index;
    const row = fillRow(tables, match);
    const size = index.size[slot]!;
    const collateral = index.collateral[slot]!;
    const pips = index.price[slot]!;
    rows[at + Row.match] = match;
    rows[at + Row.time] = fillTime(tables, row);
    rows[at + Row.account] = fillTaker(tables, row);
    rows[at + Row.token] = fillTakerToken(tables, row);
    rows[at + Row.side] = index.marketSide[slot]! & 1;
    rows[at + Row.size] = size;
    rows[at + Row.collateral] = collateral;
    // An average only when the fills have different prices (docs/protocol.md#public-trades).
    rows[at + Row.price] = pips !== 0 ? pips * MICRO_PER_PIP : ratioMicro(collateral, size);
  }

  private readMaker(fill: number, match: number, rows: Float64Array, at: number): void {
    const { tables } = this.index;
    const row = fillRow(tables, fill);
    rows[at + Row.match] = match;
    rows[at + Row.time] = fillTime(tables, row);
    rows[at + Row.account] = fillMaker(tables, row);
    rows[at + Row.token] = fillMakerToken(tables, row);
    rows[at + Row.side] = this.makerSide(fill, match);
    rows[at + Row.size] = fillSize(tables, row);
    rows[at + Row.collateral] = fillMakerCollateral(tables, row);
    rows[at + Row.price] = fillMakerPrice(tables, row) * MICRO_PER_PIP;
  }

  /** Collateral that moved by a row, with the fee of a schedule: what a buyer paid, or a seller got. */
  movedCollateral(key: number, rows: Float64Array, at: number): number {
    const fee = key % 2 === 0 ? this.index.fee[this.matchOf(key) & this.index.mask]! : 0;
    return rows[at + Row.collateral]! + (rows[at + Row.side] === 0 ? fee : -fee);
  }

  /** Returns the side of a maker: opposite to the taker, except when a pair is minted or merged. */
  private makerSide(fill: number, match: number): number {
    const { index } = this;
    const takerSide = index.marketSide[match & index.mask]! & 1;
    const kind = fillKind(index.tables, fillRow(index.tables, fill));
    return kind === MatchKind.complementary ? 1 - takerSide : takerSide;
  }

  private *walk(user: string): Generator<void, void> {
    if (user !== '') {
      const account = accountByAddress(this.index.tables, user);
      if (account === 0) return;
      if (this.takerOnly) yield* this.walkTaker(account);
      else yield* this.walkWallet(account);
    } else if (this.markets !== null) {
      yield* this.walkMarkets([...this.markets]);
    } else {
      yield* this.walkAll();
    }
  }

  private *walkAll(): Generator<void, void> {
    const { index } = this;
    let match = Math.min(index.end, this.after.match + 1);
    const mayFail = unsettledEver(index.tables) > 0;
    const isOpen = this.takerOnly && this.side === ANY_SIDE && this.amountColumn === '';
    for (let looked = 1; ; looked++) {
      if (looked % MATCHES_PER_TURN === 0) yield;
      const last = match - 1;
      if (last < index.first) return;
      match = index.matchOf(last);
      if (match < index.first) return;
      if (mayFail && fillFails(index.tables, fillRow(index.tables, match))) continue;
      // Every match is one row, so the matches before the page only need to be counted.
      if (isOpen && this.skips()) continue;
      if (this.takeMatch(match)) return;
    }
  }

  private *walkMarkets(markets: readonly MarketRow[]): Generator<void, void> {
    const { index } = this;
    const [first] = markets;
    if (first !== undefined && markets.length === 1) {
      yield* this.walkMarket(first);
      return;
    }
    const heads = markets.map((market) => index.inMarket.newest(market));
    const heap = new NewestHeap(heads.filter((head) => head !== NONE));
    for (let looked = 1; ; looked++) {
      if (looked % LINKS_PER_TURN === 0) yield;
      const match = heap.newest ?? NONE;
      if (match < index.first || this.takeMatch(match)) return;
      const before = index.inMarket.before(match);
      heap.replaceNewest(before === NONE ? undefined : before);
    }
  }

  private *walkMarket(market: MarketRow): Generator<void, void> {
    const { index } = this;
    let match = index.inMarket.newest(market);
    for (let looked = 1; match >= index.first && !this.takeMatch(match); looked++) {
      match = index.inMarket.before(match);
      if (looked % LINKS_PER_TURN === 0) yield;
    }
  }

  private *walkTaker(account: AccountRow): Generator<void, void> {
    const { index } = this;
    let match = index.taken.newest(account);
    for (let looked = 1; match >= index.first && !this.takeTaker(match); looked++) {
      match = index.taken.before(match);
      if (looked % LINKS_PER_TURN === 0) yield;
    }
  }

  private *walkWallet(account: AccountRow): Generator<void, void> {
    const walk = walletRows(this.index, account);
    for (let looked = 1; ; looked++) {
      // Between two rows, because the next row may leave the window during a pause.
      if (looked % LINKS_PER_TURN === 0) yield;
      const { done, value: key } = walk.next();
      if (done === true) return;
      const fill = (key - (key % 2)) / 2;
      if (key % 2 === 0 ? this.takeTaker(fill) : this.takeMaker(fill, this.matchOf(key))) return;
    }
  }

  private takeMatch(match: number): boolean {
    const { index } = this;
    if (this.takeTaker(match)) return true;
    const { tables } = index;
    if (this.takerOnly || isPrint(tables, fillRow(tables, match))) return false;
    // A maker's shares are part of the match, and each costs at most one unit.
    const isTooSmall = this.amountColumn !== '' && index.size[match & index.mask]! < this.amount;
    if (isTooSmall) return false;
    for (let fill = match; fill < index.end; fill++) {
      if (index.toMatch[fill & index.mask] !== fill - match) break;
      if (this.takeMaker(fill, match)) return true;
    }
    return false;
  }

  private takeTaker(match: number): boolean {
    const { index } = this;
    const isIn = this.isInBounds(match, 2 * match);
    if (isIn !== true) return isIn === undefined;
    const slot = match & index.mask;
    const marketSide = index.marketSide[slot]!;
    if (this.side !== ANY_SIDE && (marketSide & 1) !== this.side) return false;
    if (this.markets !== null && !this.markets.has((marketSide >> 1) as MarketRow)) return false;
    if (this.amountColumn !== '' && index[this.amountColumn][slot]! < this.amount) return false;
    if (this.skips()) return false;
    return this.add(2 * match);
  }

  private takeMaker(fill: number, match: number): boolean {
    const { index } = this;
    const isIn = this.isInBounds(match, 2 * fill + 1);
    if (isIn !== true) return isIn === undefined;
    const marketSide = index.marketSide[match & index.mask]!;
    if (this.markets !== null && !this.markets.has((marketSide >> 1) as MarketRow)) return false;
    if (this.side !== ANY_SIDE && this.makerSide(fill, match) !== this.side) return false;
    if (this.amountColumn !== '') {
      const { tables } = index;
      const row = fillRow(tables, fill);
      const amount =
        this.amountColumn === 'size' ? fillSize(tables, row) : fillMakerCollateral(tables, row);
      if (amount < this.amount) return false;
    }
    if (this.skips()) return false;
    return this.add(2 * fill + 1);
  }

  /** Returns undefined for a row before the period, as every further one is. */
  private isInBounds(match: number, key: number): boolean | undefined {
    const { after, endMs, startMs } = this;
    if (match >= after.match && (match > after.match || key <= after.key)) return false;
    if (startMs === 0 && endMs === Number.POSITIVE_INFINITY) return true;
    const { tables } = this.index;
    const time = fillTime(tables, fillRow(tables, match));
    return time < startMs ? undefined : time <= endMs;
  }

  /** Returns true when the page is full. */
  private add(key: number): boolean {
    this.keys[this.count] = key;
    this.count += 1;
    return this.count === this.limit;
  }

  /** Skips a row before the page: `offset` counts after the filters (docs/protocol.md#public-trades). */
  private skips(): boolean {
    if (this.toSkip === 0) return false;
    this.toSkip -= 1;
    return true;
  }
}
