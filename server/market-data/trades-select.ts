/**
 * Which rows a GET /trades query gets: the walk over the index (trades-index.ts). Rows come match
 * by match, newest first; in a match the taker row, then its makers in fill order (GAPS 12).
 *
 * The rows are copied out as numbers: a page that is rendered piece by piece takes a copy of them,
 * because the ring of fills goes on meanwhile.
 *
 * Thread: I/O. Non-goals: text.
 */
import { findAccount } from '../../engine/accounts.ts';
import {
  ADDRESS_WORDS,
  FILL_DOUBLES,
  FILL_WORDS,
  Fill,
  ID_WORDS,
  MatchKind,
} from '../../engine/layout.ts';
import { findMarket } from '../../engine/markets.ts';
import { type AccountSlot, type MarketSlot, MICRO, PIPS_PER_UNIT } from '../../engine/units.ts';
import { ratioMicro } from '../common/decimal.ts';
import { hexToBytes } from '../common/uint256.ts';
import type { TradesIndex } from './trades-index.ts';
import { PAGE_MAX, type TradesQuery } from './trades-query.ts';

/** Columns of a selected row. */
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
  /** Names the row: sequence x 2, of the match for a taker's row, of the fill + 1 for a maker's. */
  key: 8,
} as const;
export const ROW_DOUBLES = 9;

/** No further match or fill; sequences start at 0. */
const NONE = -1;
const ANY_SIDE = -1;
const MICRO_PER_PIP = MICRO / PIPS_PER_UNIT;

/** Runs queries; one is enough for a thread. */
export class TradesSelector {
  private readonly index: TradesIndex;
  /** The page that was selected last, ROW_DOUBLES numbers a row. */
  readonly rows = new Float64Array(PAGE_MAX * ROW_DOUBLES);
  private readonly key = new Int32Array(ID_WORDS);
  private readonly keyBytes = Buffer.alloc(ID_WORDS * 4);
  /** Fills of one wallet in one match, newest first. */
  private readonly group: number[] = [];
  // The query at hand.
  private takerOnly = true;
  private side = ANY_SIDE;
  private amountColumn: 'size' | 'collateral' | '' = '';
  private amount = 0;
  private markets: ReadonlySet<MarketSlot> | null = null;
  private toSkip = 0;
  private limit = 0;
  private count = 0;

  constructor(index: TradesIndex) {
    this.index = index;
  }

  /** Fills `rows`; how many there are. */
  select(query: TradesQuery): number {
    this.takerOnly = query.takerOnly;
    this.side = query.side === '' ? ANY_SIDE : query.side === 'BUY' ? 0 : 1;
    this.amountColumn =
      query.filterType === '' ? '' : query.filterType === 'CASH' ? 'collateral' : 'size';
    this.amount = query.filterAmount;
    this.markets = query.markets === null ? null : this.marketSlots(query.markets);
    this.toSkip = query.offset;
    this.limit = query.limit;
    this.count = 0;
    if (this.limit > 0) this.walk(query.user);
    return this.count;
  }

  private walk(user: string): void {
    if (user !== '') {
      const account = this.accountSlot(user);
      if (account === 0) return;
      if (this.takerOnly) this.walkTaker(account);
      else this.walkWallet(account);
    } else if (this.markets !== null) {
      this.walkMarkets([...this.markets]);
    } else {
      this.walkAll();
    }
  }

  private walkAll(): void {
    const { index } = this;
    let match = index.end;
    for (;;) {
      const last = match - 1;
      if (last < index.first) return;
      match = last - index.toMatch[last & index.mask]!;
      if (match < index.first || this.takeMatch(match)) return;
    }
  }

  /** Several chains of matches, merged: the newest of their heads is the next. */
  private walkMarkets(markets: readonly MarketSlot[]): void {
    const { index } = this;
    const heads = markets.map((market) => this.head(index.lastInMarket, market));
    for (;;) {
      let newest = 0;
      for (let i = 1; i < heads.length; i++) if (heads[i]! > heads[newest]!) newest = i;
      const match = heads[newest] ?? NONE;
      if (match === NONE || this.takeMatch(match)) return;
      heads[newest] = this.before(index.toMarketBefore, match);
    }
  }

  private walkTaker(account: AccountSlot): void {
    const { index } = this;
    let match = this.head(index.lastTaken, account);
    while (match !== NONE && !this.takeTaker(match)) {
      match = this.before(index.toTakerBefore, match);
    }
  }

  /** What a wallet took and made: two chains, merged match by match. */
  private walkWallet(account: AccountSlot): void {
    const { group, index } = this;
    let taken = this.head(index.lastTaken, account);
    let made = this.head(index.lastMade, account);
    for (;;) {
      const madeIn = made === NONE ? NONE : made - index.toMatch[made & index.mask]!;
      const match = Math.max(taken, madeIn);
      if (match < index.first) return;
      if (taken === match) {
        if (this.takeTaker(match)) return;
        taken = this.before(index.toTakerBefore, match);
      }
      group.length = 0;
      while (made !== NONE && made - index.toMatch[made & index.mask]! === match) {
        group.push(made);
        made = this.before(index.toMakerBefore, made);
      }
      for (let i = group.length - 1; i >= 0; i--) if (this.takeMaker(group[i]!, match)) return;
    }
  }

  private head(heads: Float64Array, owner: number): number {
    const newest = heads[owner]! - 1;
    return newest < this.index.first ? NONE : newest;
  }

  private before(distances: Uint32Array, sequence: number): number {
    const distance = distances[sequence & this.index.mask]!;
    const before = sequence - distance;
    return distance === 0 || before < this.index.first ? NONE : before;
  }

  /** The rows of one match that pass; true when the page is full. */
  private takeMatch(match: number): boolean {
    const { index } = this;
    if (this.takeTaker(match)) return true;
    if (this.takerOnly) return false;
    // A maker's shares are part of the match, and cost at most one unit each.
    const isTooSmall = this.amountColumn !== '' && index.size[match & index.mask]! < this.amount;
    if (isTooSmall) return false;
    for (let fill = match; fill < index.end; fill++) {
      if (index.toMatch[fill & index.mask] !== fill - match) break;
      if (this.takeMaker(fill, match)) return true;
    }
    return false;
  }

  /** The taker row of a match, if it passes; true when the page is full. */
  private takeTaker(match: number): boolean {
    const { index } = this;
    const slot = match & index.mask;
    const marketSide = index.marketSide[slot]!;
    if (this.side !== ANY_SIDE && (marketSide & 1) !== this.side) return false;
    if (this.markets !== null && !this.markets.has((marketSide >> 1) as MarketSlot)) return false;
    if (this.amountColumn !== '' && index[this.amountColumn][slot]! < this.amount) return false;
    if (this.skips()) return false;
    const { fillF, fillI, fillRows } = index.t;
    const row = match % fillRows;
    const i = row * FILL_WORDS;
    const size = index.size[slot]!;
    const collateral = index.collateral[slot]!;
    const pips = index.price[slot]!;
    const { rows } = this;
    const at = this.count * ROW_DOUBLES;
    rows[at + Row.match] = match;
    rows[at + Row.time] = fillF[row * FILL_DOUBLES + Fill.time]!;
    rows[at + Row.account] = fillI[i + Fill.taker]!;
    rows[at + Row.token] = fillI[i + Fill.takerToken]!;
    rows[at + Row.side] = marketSide & 1;
    rows[at + Row.size] = size;
    rows[at + Row.collateral] = collateral;
    // An average only where there is something to average (GAPS 8).
    rows[at + Row.price] = pips !== 0 ? pips * MICRO_PER_PIP : ratioMicro(collateral, size);
    rows[at + Row.key] = 2 * match;
    this.count += 1;
    return this.count === this.limit;
  }

  /** The maker row of a fill, if it passes; true when the page is full. */
  private takeMaker(fill: number, match: number): boolean {
    const { index } = this;
    const marketSide = index.marketSide[match & index.mask]!;
    if (this.markets !== null && !this.markets.has((marketSide >> 1) as MarketSlot)) return false;
    const { fillF, fillI, fillRows } = index.t;
    const row = fill % fillRows;
    const f = row * FILL_DOUBLES;
    const i = row * FILL_WORDS;
    const takerSide = marketSide & 1;
    const isOpposite = fillI[i + Fill.kind] === MatchKind.complementary;
    const side = isOpposite ? 1 - takerSide : takerSide;
    if (this.side !== ANY_SIDE && side !== this.side) return false;
    const size = fillF[f + Fill.size]!;
    const collateral = fillF[f + Fill.makerCollateral]!;
    const compared = this.amountColumn === 'size' ? size : collateral;
    if (this.amountColumn !== '' && compared < this.amount) return false;
    if (this.skips()) return false;
    const { rows } = this;
    const at = this.count * ROW_DOUBLES;
    rows[at + Row.match] = match;
    rows[at + Row.time] = fillF[f + Fill.time]!;
    rows[at + Row.account] = fillI[i + Fill.maker]!;
    rows[at + Row.token] = fillI[i + Fill.makerToken]!;
    rows[at + Row.side] = side;
    rows[at + Row.size] = size;
    rows[at + Row.collateral] = collateral;
    rows[at + Row.price] = fillI[i + Fill.makerPrice]! * MICRO_PER_PIP;
    rows[at + Row.key] = 2 * fill + 1;
    this.count += 1;
    return this.count === this.limit;
  }

  /** A row that passed lies before the page: `offset` counts after the filters (GAPS 8). */
  private skips(): boolean {
    if (this.toSkip === 0) return false;
    this.toSkip -= 1;
    return true;
  }

  private marketSlots(conditionIds: readonly string[]): ReadonlySet<MarketSlot> {
    const slots = new Set<MarketSlot>();
    for (const id of conditionIds) {
      if (!this.readKey(id, ID_WORDS)) continue;
      const market = findMarket(this.index.t, this.key, 0);
      if (market !== 0) slots.add(market);
    }
    return slots;
  }

  private accountSlot(address: string): AccountSlot | 0 {
    return this.readKey(address, ADDRESS_WORDS) ? findAccount(this.index.t, this.key, 0) : 0;
  }

  /** `0x` and hex digits to the big-endian words of the engine's keys. */
  private readKey(text: string, words: number): boolean {
    if (!hexToBytes(text, words * 4, this.keyBytes, 0)) return false;
    for (let w = 0; w < words; w++) this.key[w] = this.keyBytes.readInt32BE(w * 4);
    return true;
  }
}
