/**
 * Reads of a book from any thread while a worker may be writing it: the copy is valid only if the book's version
 * was even before and the same after. Nothing here writes to shared memory.
 *
 * Words are read by plain loads between two atomic ones; this was never seen torn on x64 and is not
 * tested on other processors.
 */

import { readSide, Side } from '../book/matching.ts';
import { BOOK_F, BOOK_I, Book, MARKET_F, Market, TOKEN_I, Token } from './layout.ts';
import type { Tables } from './tables.ts';
import type { BookRow, MicroShares, Pips, TicksPerUnit, TokenRow } from './units.ts';
import { isTickGrid, PIPS_PER_UNIT } from './units.ts';

/** One side of a book, worst price first, in the prices of the token that is read. */
export interface DepthSide {
  count: number;
  readonly ticks: Int32Array;
  readonly sizes: Float64Array;
}

/** Consistent copy of one token's book, reused from read to read. */
export class Depth {
  version = 0;
  ticksPerUnit: TicksPerUnit | 0 = 0;
  /** Unix milliseconds of the last change. */
  changedAt = 0;
  minSize = 0 as MicroShares;
  /** Last trade: its price, 0 = never traded; and its side, 0 BUY, 1 SELL. */
  lastPrice: Pips | 0 = 0;
  lastSide = 0;
  readonly bids: DepthSide;
  readonly asks: DepthSide;

  constructor() {
    this.bids = emptySide();
    this.asks = emptySide();
  }
}

function emptySide(): DepthSide {
  return {
    count: 0,
    ticks: new Int32Array(PIPS_PER_UNIT),
    sizes: new Float64Array(PIPS_PER_UNIT),
  };
}

/** Version of a token's book; odd while it is being written. Compare for equality only. */
export function bookVersion(t: Tables, token: TokenRow): number {
  const book = t.tokenI[(token << TOKEN_I) + Token.book]!;
  return Atomics.load(t.bookI, (book << BOOK_I) + Book.version);
}

/** Copies the book of a token. Returns false when a writer was inside; then `out` is invalid. */
export function readDepth(t: Tables, token: TokenRow, out: Depth): boolean {
  const tokenRow = token << TOKEN_I;
  const book = t.tokenI[tokenRow + Token.book]! as BookRow;
  const versionAt = (book << BOOK_I) + Book.version;
  const version = Atomics.load(t.bookI, versionAt);
  if ((version & 1) !== 0) return false;
  const market = t.bookI[(book << BOOK_I) + Book.market]!;
  out.version = version;
  out.ticksPerUnit = t.bookI[(book << BOOK_I) + Book.ticksPerUnit]! as TicksPerUnit;
  out.changedAt = t.bookF[(book << BOOK_F) + Book.changedAt]!;
  out.minSize = t.marketF[(market << MARKET_F) + Market.minSize]! as MicroShares;
  out.lastPrice = t.tokenI[tokenRow + Token.lastPrice]! as Pips | 0;
  out.lastSide = t.tokenI[tokenRow + Token.lastSide]!;
  const mirrored = t.tokenI[tokenRow + Token.mirrored] === 1;
  const readable = isTickGrid(out.ticksPerUnit) && copyLevels(t, book, mirrored, out);
  return readable && Atomics.load(t.bookI, versionAt) === version;
}

function copyLevels(t: Tables, book: BookRow, mirrored: boolean, out: Depth): boolean {
  const low = mirrored ? out.asks : out.bids;
  const high = mirrored ? out.bids : out.asks;
  const isWhole = copySide(t, book, Side.bid, low) && copySide(t, book, Side.ask, high);
  if (isWhole && mirrored) {
    mirror(low, out.ticksPerUnit);
    mirror(high, out.ticksPerUnit);
  }
  return isWhole;
}

function copySide(t: Tables, book: BookRow, side: Side, out: DepthSide): boolean {
  const { sizes, ticks } = out;
  const count = readSide(t.matching, book, side, ticks, sizes);
  if (count === -1) return false;
  out.count = count;
  for (let i = 0, j = count - 1; i < j; i++, j--) {
    const tick = ticks[i]!;
    const size = sizes[i]!;
    ticks[i] = ticks[j]!;
    sizes[i] = sizes[j]!;
    ticks[j] = tick;
    sizes[j] = size;
  }
  return true;
}

function mirror(side: DepthSide, grid: number): void {
  for (let i = 0; i < side.count; i++) side.ticks[i] = grid - side.ticks[i]!;
}
