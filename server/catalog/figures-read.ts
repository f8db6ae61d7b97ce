/**
 * Reads the figures of one market from its books in engine memory while workers write. All books
 * are read at one version each, so that bid, ask, prices and liquidity belong together.
 *
 * Liquidity is counted by levels, once for the two books of a pair: an order for the second outcome
 * counts at its price in the book of the first.
 *
 * Thread: the I/O thread. Non-goals: volumes, and when to read.
 */

import { AMOUNT_MAX } from '../../engine/tables/capacities.ts';
import { Depth, type DepthSide, readDepth } from '../../engine/tables/depth.ts';
import { BOOK_I, Book, MARKET_I, Market, TOKEN_I, Token } from '../../engine/tables/layout.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import {
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
import { figuresWithoutBook } from './figures-text.ts';
import { type MarketFigures, PRICE_UNKNOWN } from './shape.ts';

const MICRO_PER_PIP = MICRO / PIPS_PER_UNIT;

/** A writer is changing one of the books. */
export const BUSY = -1;

export class BookFigures {
  /** The result of the last read; the caller adds volumes. */
  readonly figures: MarketFigures & { readonly prices: number[] } = {
    ...figuresWithoutBook(0),
    prices: [],
  };
  private readonly t: Tables;
  private readonly depth = new Depth();

  constructor(t: Tables) {
    this.t = t;
  }

  /** A number that changes with every change of the market's books, or BUSY. */
  versionOf(market: MarketRow): number {
    const { bookI, marketI } = this.t;
    const row = market << MARKET_I;
    const first = marketI[row + Market.firstBook]!;
    const end = first + marketI[row + Market.bookCount]!;
    let sum = 0;
    for (let book = first; book < end; book++) {
      const version = Atomics.load(bookI, (book << BOOK_I) + Book.version);
      if ((version & 1) !== 0) return BUSY;
      sum += version >>> 0;
    }
    return sum;
  }

  /**
   * Reads the books of a market into `figures`.
   * @param outcomes how many the catalog lists; outcomes without a book get the unknown price
   * @returns the version that was read, or BUSY after every try: `figures` is then invalid
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
    const { depth, figures, t } = this;
    const row = market << MARKET_I;
    const first = t.marketI[row + Market.firstToken]!;
    const tokens = t.marketI[row + Market.tokenCount]!;
    figures.prices.length = 0;
    figures.liquidity = 0;
    for (let outcome = 0; outcome < tokens; outcome++) {
      const token = (first + outcome) as TokenRow;
      const isMirrored = t.tokenI[(token << TOKEN_I) + Token.mirrored] === 1;
      // The mirrored book has the complementary price.
      if (isMirrored) figures.prices.push(MICRO - figures.prices.at(-1)!);
      else {
        if (!readDepth(t, token, depth)) return false;
        this.takeBook(token, outcome === 0);
      }
    }
    while (figures.prices.length < outcomes) figures.prices.push(PRICE_UNKNOWN);
    figures.prices.length = outcomes;
    return true;
  }

  private takeBook(token: TokenRow, isFirst: boolean): void {
    const { depth, figures } = this;
    const grid = depth.ticksPerUnit as TicksPerUnit;
    const bid = bestOf(depth.bids, grid) ?? 0;
    const ask = bestOf(depth.asks, grid) ?? MICRO;
    const last = this.lastTradeOf(token);
    const isTwoSided = depth.bids.count > 0 && depth.asks.count > 0;
    figures.prices.push(isTwoSided || last === 0 ? (bid + ask) / 2 : last);
    const resting = notionalOf(depth.bids, grid) + notionalOf(depth.asks, grid);
    figures.liquidity = Math.min(figures.liquidity + resting, AMOUNT_MAX);
    if (!isFirst) return;
    figures.bestBid = bid;
    figures.bestAsk = ask;
    figures.lastTrade = last;
  }

  /** If only the other outcome of a pair has traded, the price of this one is its complement. */
  private lastTradeOf(token: TokenRow): number {
    const { depth, t } = this;
    if (depth.lastPrice !== 0) return depth.lastPrice * MICRO_PER_PIP;
    const other = t.tokenI[(token << TOKEN_I) + Token.complement]!;
    const last = other === 0 ? 0 : t.tokenI[(other << TOKEN_I) + Token.lastPrice]!;
    return last === 0 ? 0 : MICRO - last * MICRO_PER_PIP;
  }
}

/** Micro-units; the best level is the last. */
function bestOf({ count, ticks }: DepthSide, grid: TicksPerUnit): number | undefined {
  return count === 0 ? undefined : pipsOf(ticks[count - 1]! as Ticks, grid) * MICRO_PER_PIP;
}

/** Price times size of every level, each rounded down to a micro-unit. */
function notionalOf({ count, sizes, ticks }: DepthSide, grid: TicksPerUnit): number {
  let value = 0;
  for (let i = 0; i < count; i++) {
    value += collateralOf(sizes[i]! as MicroShares, ticks[i]! as Ticks, grid);
  }
  return value;
}
