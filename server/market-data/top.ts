/**
 * The top of a token's book and its last trade, read together under the version of the book, so
 * that price, midpoint, spread and last price agree with the book of that version
 * (docs/protocol.md#consistent-reads).
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

/** The top of one version of a book, in the prices of the token. */
export interface Top {
  /** Even: no writer was changing the book. */
  readonly version: number;
  /** Pips; 0 = no bid. */
  readonly bid: Pips | 0;
  /** Pips; 0 = no ask. */
  readonly ask: Pips | 0;
  /** Pips; 0 = never traded. */
  readonly last: Pips | 0;
  /** Side of the last taker. */
  readonly lastSide: 'BUY' | 'SELL';
  readonly ticksPerUnit: TicksPerUnit;
  readonly baseFeeBps: number;
}

/** Reads tops and caches the newest of each token: an unchanged one costs one look-up. */
export class TopReader {
  private readonly t: Tables;
  /** By token row. */
  private readonly tops: (Top | undefined)[] = [];

  constructor(t: Tables) {
    this.t = t;
  }

  /**
   * The top of a book at its newest complete version.
   * @returns undefined when a writer was changing the book at every try: try again after the next
   * batch
   */
  read(token: TokenRow): Top | undefined {
    const cached = this.tops[token];
    // While a writer changes the book, the state before its batch is still the newest complete one.
    if (cached?.version === (bookVersion(this.t, token) & ~1)) return cached;
    for (let tries = 0; tries < READ_TRIES; tries++) {
      const top = readTop(this.t, token);
      if (top === undefined) continue;
      this.tops[token] = top;
      return top;
    }
    return undefined;
  }
}

function readTop(t: Tables, token: TokenRow): Top | undefined {
  const version = bookVersion(t, token);
  if ((version & 1) !== 0) return undefined;
  const book = tokenBook(t, token);
  const grid = bookTicks(t, book);
  const low = bestTick(t, book, Side.bid);
  const high = bestTick(t, book, Side.ask);
  const mirrored = isMirroredToken(t, token);
  const bid = mirrored ? (high === 0 ? 0 : grid - high) : low;
  const ask = mirrored ? (low === 0 ? 0 : grid - low) : high;
  const last = tokenLastPrice(t, token);
  const lastSide = tokenLastSide(t, token) === 0 ? 'BUY' : 'SELL';
  const baseFeeBps = marketFeeBps(t, tokenMarket(t, token));
  if (bookVersion(t, token) !== version) return undefined;
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
