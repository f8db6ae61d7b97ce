/**
 * A book as the streams have published it: copied once from the engine and then updated by the events of each flushed
 * batch. The engine's book is ahead of it by unflushed batches. It counts the connections that follow its tokens.
 *
 * Thread: the I/O thread. Non-goals: JSON.
 */
import {
  bookFirstToken,
  bookMarket,
  marketFeeBps,
  tokenComplement,
  tokenLastPrice,
} from '../../engine/reads.ts';
import { bookVersion, type Depth, type DepthSide, readDepth } from '../../engine/tables/depth.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import {
  type BookRow,
  type MarketRow,
  type MicroShares,
  PIPS_PER_UNIT,
  type Pips,
  type TicksPerUnit,
  type TokenRow,
} from '../../engine/tables/units.ts';
import type { TokenName } from './names.ts';
import type { Stream } from './numbering.ts';

export interface LevelCause {
  readonly kind: number;
  readonly sequence: number;
  /** First word of the last applied order command; for a delayed order -1 less that of its `due` record. */
  readonly command: number;
}

export interface ChangedLevel {
  readonly pips: Pips;
  readonly isAsk: boolean;
  readonly by: LevelCause;
}

/** A trade of the market channel: the fills of one match at one price. */
export interface PublicTrade {
  readonly token: TokenName;
  readonly isSell: boolean;
  readonly pips: Pips;
  /** Micro-shares. */
  size: number;
  readonly match: number;
  readonly feeBps: number;
}

/** Trades of one match at one price: of the taker's token, and of the other token. */
const PARALLEL_TRADES = 2;

/** Streams of a book, and of each of its tokens in the order of `tokens`. */
export interface BookStreams {
  readonly book: Stream;
  readonly assets: readonly Stream[];
  readonly bests: readonly Stream[];
}

export class PublishedBook {
  readonly bookRow: BookRow;
  readonly market: MarketRow;
  /** One token, or a pair with the complement last. */
  readonly tokens: readonly TokenRow[];
  version = 0;
  /** False until every batch of that version is published. */
  isPublished = false;
  grid: TicksPerUnit = 100;
  changedAt = 0;
  minSize = 0 as MicroShares;
  baseFeeBps = 0;
  /** Pips in the order of `tokens`; 0 = never traded. */
  readonly lastPrices: (Pips | 0)[] = [0, 0];
  readonly streams: BookStreams;
  /** Ticks; 0 = no bid, and the grid = no ask. */
  bestBid = 0;
  bestAsk = 0;
  /** Followers of each of `tokens`, and the number of those with extras. */
  readonly followers: number[];
  readonly extraFollowers: number[];
  waiting: (() => void)[] = [];
  readonly bodies: (Buffer | undefined)[] = [];
  /** Last published best prices, in the same order: bid x 2^20 + ask, in ticks of 0.0001. */
  readonly publishedBest: number[] = [];
  trades: PublicTrade[] = [];
  ticks: { readonly before: number; readonly grid: number }[] = [];
  needsWhole = false;
  /** Micro-shares of each tick; negative for an ask. */
  private levels = new Float64Array(0);
  private readonly changed = new Map<number, ChangedLevel>();

  constructor(
    tables: Tables,
    bookRow: BookRow,
    streamsOf: (tokens: readonly TokenRow[]) => BookStreams,
  ) {
    const first = bookFirstToken(tables, bookRow);
    const second = tokenComplement(tables, first);
    this.bookRow = bookRow;
    this.market = bookMarket(tables, bookRow);
    this.tokens = second === 0 ? [first] : [first, second];
    this.streams = streamsOf(this.tokens);
    this.followers = this.tokens.map(() => 0);
    this.extraFollowers = this.tokens.map(() => 0);
  }

  /** Copies the engine's current book; returns false while a writer changes it. */
  load(tables: Tables, depth: Depth): boolean {
    const [first, second] = this.tokens;
    if (!readDepth(tables, first!, depth)) return false;
    const baseFeeBps = marketFeeBps(tables, this.market);
    const other = second === undefined ? 0 : tokenLastPrice(tables, second);
    if (bookVersion(tables, first!) !== depth.version) return false;
    this.version = depth.version;
    this.isPublished = false;
    this.changedAt = depth.changedAt;
    this.minSize = depth.minSize;
    this.baseFeeBps = baseFeeBps;
    this.lastPrices[0] = depth.lastPrice;
    this.lastPrices[1] = other;
    this.clear(depth.ticksPerUnit as TicksPerUnit);
    for (let i = 0; i < depth.bids.count; i++) this.put(depth.bids.ticks[i]!, depth.bids.sizes[i]!);
    for (let i = 0; i < depth.asks.count; i++) {
      this.put(depth.asks.ticks[i]!, -depth.asks.sizes[i]!);
    }
    return true;
  }

  /** Applies one level event, on the grid that the book has at that moment. */
  change(tick: number, isAsk: boolean, quantity: number, by: LevelCause): void {
    this.put(tick, isAsk ? -quantity : quantity);
    const pips = (tick * (PIPS_PER_UNIT / this.grid)) as Pips;
    const key = 2 * pips + (isAsk ? 1 : 0);
    // The entry moves to the end, so that entries are in the order of their last changes.
    this.changed.delete(key);
    this.changed.set(key, { pips, isAsk, by });
  }

  isAskAt(tick: number): boolean {
    return this.levels[tick]! < 0;
  }

  /** Moves every level to another grid, on which every remaining level has a tick. */
  regrid(grid: TicksPerUnit): void {
    const { grid: before, levels } = this;
    this.clear(grid);
    for (let tick = 1; tick < before; tick++) {
      if (levels[tick] !== 0) this.put((tick * grid) / before, levels[tick]!);
    }
  }

  /** Returns the changes since the last call, and updates the best prices. */
  takeChanges(): ChangedLevel[] {
    const changes = [...this.changed.values()];
    this.changed.clear();
    this.findBest();
    return changes;
  }

  /** Total of one side at a price of the book, which need not be on its current grid. */
  quantity(pips: Pips, isAsk: boolean): number {
    const signed = this.levels[(pips * this.grid) / PIPS_PER_UNIT] ?? 0;
    return Math.max(0, isAsk ? -signed : signed);
  }

  /** Fills `out` as readDepth does, for the token at `index` of `tokens`. */
  copyTo(index: number, out: Depth): void {
    const { grid, levels } = this;
    const isMirrored = index === 1;
    out.version = this.version;
    out.ticksPerUnit = grid;
    out.changedAt = this.changedAt;
    out.minSize = this.minSize;
    out.lastPrice = this.lastPrices[index]!;
    out.bids.count = 0;
    out.asks.count = 0;
    // In the token's own prices bids ascend and asks descend; for the mirrored token they are read
    // from the other end.
    const low = isMirrored ? out.asks : out.bids;
    for (let tick = 1; tick <= this.bestBid; tick++) {
      if (levels[tick]! > 0) append(low, isMirrored ? grid - tick : tick, levels[tick]!);
    }
    const high = isMirrored ? out.bids : out.asks;
    for (let tick = grid - 1; tick >= this.bestAsk; tick--) {
      if (levels[tick]! < 0) append(high, isMirrored ? grid - tick : tick, -levels[tick]!);
    }
  }

  get isFollowed(): boolean {
    return this.followers.some((count) => count > 0);
  }

  /** Adds one trade. Fills of one match at one price become one trade. */
  addTrade(token: TokenRow, trade: PublicTrade): void {
    this.lastPrices[this.tokens.indexOf(token)] = trade.pips;
    // A match alternates at most between trades of one token and of the pair.
    for (const known of this.trades.slice(-PARALLEL_TRADES)) {
      const { match, pips, token: its } = known;
      if (match !== trade.match || pips !== trade.pips || its.id !== trade.token.id) continue;
      known.size += trade.size;
      return;
    }
    this.trades.push(trade);
  }

  endBatch(): void {
    this.trades = [];
    this.ticks = [];
    this.needsWhole = false;
  }

  private clear(grid: TicksPerUnit): void {
    this.grid = grid;
    this.levels = new Float64Array(grid + 1);
    this.bestBid = 0;
    this.bestAsk = grid;
  }

  private put(tick: number, signed: number): void {
    this.levels[tick] = signed;
    if (signed > 0 && tick > this.bestBid) this.bestBid = tick;
    if (signed < 0 && tick < this.bestAsk) this.bestAsk = tick;
  }

  private findBest(): void {
    const { grid, levels } = this;
    while (this.bestBid > 0 && !(levels[this.bestBid]! > 0)) this.bestBid -= 1;
    while (this.bestAsk < grid && !(levels[this.bestAsk]! < 0)) this.bestAsk += 1;
  }
}

function append(side: DepthSide, tick: number, size: number): void {
  side.ticks[side.count] = tick;
  side.sizes[side.count] = size;
  side.count += 1;
}
