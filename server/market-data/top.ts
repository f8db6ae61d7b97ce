/**
 * Best prices of a token's book and its last trade, read under one version of the book, so that price, midpoint,
 * spread and last price agree (docs/protocol.md#consistent-reads).
 *
 * Thread: I/O, while workers write. Non-goals: the form of an answer, waiting for a writer.
 */

import { Side } from '../../engine/book/matching.ts';
import { bestTick } from '../../engine/orders/books.ts';
import {
  bookTicks,
  isMirroredToken,
  marketFeeBps,
  tokenBook,
  tokenLastPrice,
  tokenLastSide,
  tokenMarket,
} from '../../engine/reads.ts';
import { bookVersion } from '../../engine/tables/depth.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import {
  type Pips,
  pipsOf,
  type Ticks,
  type TicksPerUnit,
  type TokenRow,
} from '../../engine/tables/units.ts';
import { READ_TRIES } from './books.ts';

export interface Top {
  readonly version: number;
  /** Pips of the best prices and of the last trade, with the side of its taker; 0 = none. */
  readonly bid: Pips | 0;
  readonly ask: Pips | 0;
  readonly last: Pips | 0;
  readonly lastSide: 'BUY' | 'SELL';
  readonly ticksPerUnit: TicksPerUnit;
  readonly baseFeeBps: number;
}

/** Reader with a cache of the newest top of each token: an unchanged one costs one look-up. */
export class TopReader {
  private readonly tables: Tables;
  private readonly tops: (Top | undefined)[] = [];

  constructor(tables: Tables) {
    this.tables = tables;
  }

  /**
   * Reads the newest complete version.
   * @returns undefined if a writer was changing the book at every try: try again after the next batch
   */
  read(token: TokenRow): Top | undefined {
    const cached = this.tops[token];
    // While a writer changes the book, the state before its batch is still the newest complete one.
    if (cached?.version === (bookVersion(this.tables, token) & ~1)) return cached;
    for (let tries = 0; tries < READ_TRIES; tries++) {
      const top = readTop(this.tables, token);
      if (top === undefined) continue;
      this.tops[token] = top;
      return top;
    }
    return undefined;
  }
}

function readTop(tables: Tables, token: TokenRow): Top | undefined {
  const version = bookVersion(tables, token);
  if ((version & 1) !== 0) return undefined;
  const book = tokenBook(tables, token);
  const grid = bookTicks(tables, book);
  const low = bestTick(tables, book, Side.bid);
  const high = bestTick(tables, book, Side.ask);
  const mirrored = isMirroredToken(tables, token);
  const bid = mirrored ? (high === 0 ? 0 : grid - high) : low;
  const ask = mirrored ? (low === 0 ? 0 : grid - low) : high;
  const last = tokenLastPrice(tables, token);
  const lastSide = tokenLastSide(tables, token) === 0 ? 'BUY' : 'SELL';
  const baseFeeBps = marketFeeBps(tables, tokenMarket(tables, token));
  if (bookVersion(tables, token) !== version) return undefined;
  return {
    version,
    bid: bid === 0 ? 0 : pipsOf(bid as Ticks, grid),
    ask: ask === 0 ? 0 : pipsOf(ask as Ticks, grid),
    last,
    lastSide,
    ticksPerUnit: grid,
    baseFeeBps,
  };
}
