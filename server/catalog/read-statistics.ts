/**
 * Reads the statistics of one market from its books in engine memory while workers write. All books
 * are read at one version each, so that bid, ask, prices and liquidity belong together.
 *
 * Liquidity is counted by levels, once for the two books of a pair: an order for the second outcome
 * counts at its price in the book of the first.
 *
 * Thread: the I/O thread. Non-goals: volumes, and when to read.
 */

import { resolutionOf } from '../../engine/ledger/reads.ts';
import {
  bookVersionAt,
  isMirroredToken,
  marketBooks,
  marketFirstBook,
  marketFirstToken,
  marketTokens,
  tokenComplement,
  tokenLastPrice,
} from '../../engine/reads.ts';
import { AMOUNT_MAX } from '../../engine/tables/capacities.ts';
import { Depth, type DepthSide, readDepth } from '../../engine/tables/depth.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import {
  type BookRow,
  collateralOf,
  type MarketRow,
  MICRO,
  type MicroShares,
  PIPS_PER_UNIT,
  pipsOf,
  type Ticks,
  type TicksPerUnit,
  type TokenRow,
} from '../../engine/tables/units.ts';
import { READ_TRIES } from '../market-data/books.ts';
import { type MarketStatistics, PRICE_UNKNOWN } from './shape.ts';
import { statisticsWithoutBook } from './statistics-text.ts';

const MICRO_PER_PIP = MICRO / PIPS_PER_UNIT;

/** Version while a writer changes one of the books. */
export const BUSY = -1;

export class BookStatistics {
  readonly statistics: MarketStatistics & { readonly prices: number[] } = {
    ...statisticsWithoutBook(0),
    prices: [],
  };
  private readonly tables: Tables;
  private readonly depth = new Depth();

  constructor(tables: Tables) {
    this.tables = tables;
  }

  /** Returns a number that changes with every change of the market's books, or BUSY. */
  versionOf(market: MarketRow): number {
    const { tables } = this;
    const first = marketFirstBook(tables, market);
    const end = first + marketBooks(tables, market);
    let sum = 0;
    for (let book = first; book < end; book++) {
      const version = Atomics.load(tables.bookI, bookVersionAt(book as BookRow));
      if ((version & 1) !== 0) return BUSY;
      sum += version >>> 0;
    }
    return sum;
  }

  /**
   * Reads the books of a market into `statistics`.
   * @param outcomes how many the catalog lists; outcomes without a book get the unknown price
   * @returns the version that was read, or BUSY after every try: `statistics` is then invalid
   */
  read(market: MarketRow, outcomes: number): number {
    for (let tries = 0; tries < READ_TRIES; tries++) {
      const version = this.versionOf(market);
      if (version === BUSY || !this.readBooks(market, outcomes)) continue;
      if (this.versionOf(market) === version) return version;
    }
    return BUSY;
  }

  private readBooks(market: MarketRow, outcomes: number): boolean {
    const { depth, statistics, tables } = this;
    const first = marketFirstToken(tables, market);
    const tokens = marketTokens(tables, market);
    statistics.prices.length = 0;
    statistics.liquidity = 0;
    for (let outcome = 0; outcome < tokens; outcome++) {
      const token = (first + outcome) as TokenRow;
      // The mirrored book has the complementary price.
      if (isMirroredToken(tables, token)) statistics.prices.push(MICRO - statistics.prices.at(-1)!);
      else {
        if (!readDepth(tables, token, depth)) return false;
        this.takeBook(token, outcome === 0);
      }
    }
    while (statistics.prices.length < outcomes) statistics.prices.push(PRICE_UNKNOWN);
    statistics.prices.length = outcomes;
    this.takePayout(market);
    return true;
  }

  private takePayout(market: MarketRow): void {
    const resolution = resolutionOf(this.tables, market);
    if (resolution === undefined) return;
    const { sum, weights } = resolution;
    const { prices } = this.statistics;
    for (let i = 0; i < Math.min(prices.length, weights.length); i++) {
      prices[i] = Math.floor((weights[i]! * MICRO) / sum);
    }
  }

  private takeBook(token: TokenRow, isFirst: boolean): void {
    const { depth, statistics } = this;
    const grid = depth.ticksPerUnit as TicksPerUnit;
    const bid = bestOf(depth.bids, grid) ?? 0;
    const ask = bestOf(depth.asks, grid) ?? MICRO;
    const last = this.lastTradeOf(token);
    const isTwoSided = depth.bids.count > 0 && depth.asks.count > 0;
    statistics.prices.push(isTwoSided || last === 0 ? (bid + ask) / 2 : last);
    const resting = notionalOf(depth.bids, grid) + notionalOf(depth.asks, grid);
    statistics.liquidity = Math.min(statistics.liquidity + resting, AMOUNT_MAX);
    if (!isFirst) return;
    statistics.bestBid = bid;
    statistics.bestAsk = ask;
    statistics.lastTrade = last;
  }

  /** Last price, or the complement of the other outcome's where only that one has traded. */
  private lastTradeOf(token: TokenRow): number {
    const { depth, tables } = this;
    if (depth.lastPrice !== 0) return depth.lastPrice * MICRO_PER_PIP;
    const other = tokenComplement(tables, token);
    const last = other === 0 ? 0 : tokenLastPrice(tables, other);
    return last === 0 ? 0 : MICRO - last * MICRO_PER_PIP;
  }
}

/** Best price in micro-units; the best price level is the last. */
function bestOf({ count, ticks }: DepthSide, grid: TicksPerUnit): number | undefined {
  return count === 0 ? undefined : pipsOf(ticks[count - 1]! as Ticks, grid) * MICRO_PER_PIP;
}

/** Price times size of every price level, each rounded down to a micro-unit. */
function notionalOf({ count, sizes, ticks }: DepthSide, grid: TicksPerUnit): number {
  let value = 0;
  for (let i = 0; i < count; i++) {
    value += collateralOf(sizes[i]! as MicroShares, ticks[i]! as Ticks, grid);
  }
  return value;
}
