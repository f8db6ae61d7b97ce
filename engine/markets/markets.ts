/**
 * Markets, tokens and books: registration and the changes of a catalog. negRisk and the token ids of a market never
 * change (docs/protocol.md#market-terms).
 */

import { canRescale, NO_LEVEL, rescale, Side } from '../book/matching.ts';
import { CommandKind, commandKind, MarketChangeCommand, MarketCommand } from '../commands.ts';
import type { EngineContext } from '../context.ts';
import { eachOrder } from '../orders/books.ts';
import { delayedIn, hasDelayed } from '../orders/delayed.ts';
import { closeOrder } from '../orders/orders.ts';
import type { RejectReasonCode } from '../orders/reject-reasons.ts';
import { RejectReason } from '../orders/reject-reasons.ts';
import type { EndReasonCode } from '../tables/codes.ts';
import { EndReason, ID_WORDS, MarketFlag } from '../tables/codes.ts';
import { indexFind, indexInsert, tagOf } from '../tables/hash-index.ts';
import {
  BOOK_F,
  BOOK_I,
  Book,
  MARKET_F,
  MARKET_I,
  Market,
  ORDER_I,
  Order,
  State,
  TOKEN_I,
  Token,
} from '../tables/layout.ts';
import type { Tables } from '../tables/tables.ts';
import type {
  BookRow,
  MarketRow,
  MicroShares,
  OrderRow,
  Ticks,
  TicksPerUnit,
  TokenRow,
} from '../tables/units.ts';
import { isSchedule } from '../tables/units.ts';
import { endOrders, setEnd } from './ends.ts';
import { heldFlags, releasedFlags } from './held-flags.ts';

const SIDES = [Side.bid, Side.ask] as const;

export function findMarket(t: Tables, key: Int32Array, offset: number): MarketRow | 0 {
  const tag = tagOf(key, offset, ID_WORDS);
  const { marketIndex, marketI } = t;
  return indexFind(marketIndex, marketI, MARKET_I, Market.condition, key, offset, ID_WORDS, tag);
}

/** Last row that is found by its id: a market that is just being registered is not. Any thread. */
export function foundMarkets(t: Tables): number {
  const newest = t.state[State.markets]!;
  const id = (newest << MARKET_I) + Market.condition;
  return newest === 0 || findMarket(t, t.marketI, id) === newest ? newest : newest - 1;
}

export function findToken(t: Tables, key: Int32Array, offset: number): TokenRow | 0 {
  const tag = tagOf(key, offset, ID_WORDS);
  return indexFind(t.tokenIndex, t.tokenI, TOKEN_I, Token.id, key, offset, ID_WORDS, tag);
}

/** Applies a market command. Two outcomes share one mirrored book; otherwise each has its own. */
export function registerMarket(
  context: EngineContext,
  i32: Int32Array,
  f64: Float64Array,
  at: number,
): RejectReasonCode {
  const { t } = context;
  const count = i32[at + MarketCommand.tokenCount]!;
  if (findMarket(t, i32, at + MarketCommand.condition) !== 0) return RejectReason.marketRefused;
  for (let outcome = 0; outcome < count; outcome++) {
    const id = at + MarketCommand.tokens + ID_WORDS * outcome;
    if (findToken(t, i32, id) !== 0) return RejectReason.marketRefused;
    for (let other = 0; other < outcome; other++) {
      const same = at + MarketCommand.tokens + ID_WORDS * other;
      let differs = false;
      for (let w = 0; w < ID_WORDS; w++) if (i32[id + w] !== i32[same + w]) differs = true;
      if (!differs) return RejectReason.marketRefused;
    }
  }
  if (t.state[State.markets]! + 1 > t.capacities.markets) return RejectReason.tableFull;
  if (t.state[State.tokens]! + count > t.capacities.tokens) return RejectReason.tableFull;

  context.changes += 1;
  const isPair = count === 2;
  const market = t.state[State.markets]! + 1;
  const firstToken = t.state[State.tokens]! + 1;
  const firstBook = t.state[State.books]! + 1;
  const bookCount = isPair ? 1 : count;
  t.state[State.markets] = market;
  t.state[State.tokens] = firstToken + count - 1;
  t.state[State.books] = firstBook + bookCount - 1;
  const grid = i32[at + MarketCommand.ticksPerUnit]!;
  const offset = market << MARKET_I;
  for (let w = 0; w < ID_WORDS; w++) {
    t.marketI[offset + Market.condition + w] = i32[at + MarketCommand.condition + w]!;
  }
  t.marketI[offset + Market.flags] = i32[at + MarketCommand.flags]!;
  t.marketI[offset + Market.ticksPerUnit] = grid;
  t.marketI[offset + Market.baseFeeBps] = i32[at + MarketCommand.baseFeeBps]!;
  t.marketI[offset + Market.firstToken] = firstToken;
  t.marketI[offset + Market.tokenCount] = count;
  t.marketI[offset + Market.firstBook] = firstBook;
  t.marketI[offset + Market.bookCount] = bookCount;
  t.marketF[(market << MARKET_F) + Market.minSize] = f64[at / 2 + MarketCommand.minSize]!;
  t.marketF[(market << MARKET_F) + Market.registeredAt] = context.time;
  for (let outcome = 0; outcome < count; outcome++) {
    const token = firstToken + outcome;
    const tokenRow = token << TOKEN_I;
    for (let w = 0; w < ID_WORDS; w++) {
      t.tokenI[tokenRow + Token.id + w] = i32[at + MarketCommand.tokens + ID_WORDS * outcome + w]!;
    }
    t.tokenI[tokenRow + Token.market] = market;
    t.tokenI[tokenRow + Token.outcome] = outcome;
    t.tokenI[tokenRow + Token.book] = isPair ? firstBook : firstBook + outcome;
    t.tokenI[tokenRow + Token.mirrored] = isPair ? outcome : 0;
    t.tokenI[tokenRow + Token.complement] = isPair ? firstToken + 1 - outcome : 0;
    indexInsert(t.tokenIndex, tagOf(t.tokenI, tokenRow + Token.id, ID_WORDS), token);
  }
  for (let book = firstBook; book < firstBook + bookCount; book++) {
    t.matching.open(book, grid);
    t.bookI[(book << BOOK_I) + Book.market] = market;
    t.bookI[(book << BOOK_I) + Book.ticksPerUnit] = grid;
    t.bookI[(book << BOOK_I) + Book.firstToken] = firstToken + (book - firstBook);
    t.bookF[(book << BOOK_F) + Book.changedAt] = context.time;
  }
  const minSize = f64[at / 2 + MarketCommand.minSize]! as MicroShares;
  context.events.market(market as MarketRow, true, i32[at + MarketCommand.baseFeeBps]!, minSize);
  context.mix(market);
  if (commandKind(i32, at) === CommandKind.marketWithEnd) {
    const end = f64[(at + MarketCommand.tokens + ID_WORDS * count) / 2]!;
    setEnd(context, market as MarketRow, end);
  }
  // Last, so that a reader that finds the market finds all of it.
  indexInsert(t.marketIndex, tagOf(t.marketI, offset + Market.condition, ID_WORDS), market);
  return RejectReason.accepted;
}

/** Applies a market change: flags, fee, minimum size, tick. A closed market loses its orders. */
export function changeMarket(
  context: EngineContext,
  i32: Int32Array,
  f64: Float64Array,
  at: number,
): RejectReasonCode {
  const { t } = context;
  const market = i32[at + MarketChangeCommand.market]! as MarketRow;
  if (market < 1 || market > t.state[State.markets]!) return RejectReason.marketRefused;
  const offset = market << MARKET_I;
  const before = t.marketI[offset + Market.flags]!;
  const named = releasedFlags(i32[at + MarketChangeCommand.flags]!);
  // A market that has resolved never trades again (docs/ledger.md#resolution), nor one whose end has come.
  const over = before & MarketFlag.endReached;
  const isOver = over !== 0 || t.marketI[offset + Market.resolution] !== 0;
  const open = isOver ? (named & ~MarketFlag.tradable) | MarketFlag.ended | over : named;
  const flags = (before & MarketFlag.proposed) === 0 ? open : heldFlags(open);
  if (((flags ^ before) & MarketFlag.negRisk) !== 0) return RejectReason.marketRefused;
  const grid = i32[at + MarketChangeCommand.ticksPerUnit]! as TicksPerUnit;
  const firstBook = t.marketI[offset + Market.firstBook]! as BookRow;
  const endBook = firstBook + t.marketI[offset + Market.bookCount]!;
  const endsNow = (flags & MarketFlag.ended) !== 0 && (before & MarketFlag.ended) === 0;
  if (grid !== t.marketI[offset + Market.ticksPerUnit]!) {
    // One that ends has nothing left to move, so it never fails for want of room.
    const moved = endsNow ? 0 : countLadders(context, firstBook, endBook);
    if (!canRescale(t.matching, grid, moved)) return RejectReason.tableFull;
    if (!suitsFees(t, offset, grid)) return RejectReason.feeScheduleInvalid;
  }

  context.changes += 1;
  context.mix(market);
  // Before anything else: a reader must not see new terms under an old version.
  for (let book = firstBook; book < endBook; book++) context.touch(book);
  if (endsNow) endOrders(context, market, EndReason.marketEnded);
  if (grid !== t.marketI[offset + Market.ticksPerUnit]!) {
    for (let book = firstBook; book < endBook; book++) regrid(context, book, grid);
    regridDelayed(context, market, t.marketI[offset + Market.ticksPerUnit]! as TicksPerUnit, grid);
    t.marketI[offset + Market.ticksPerUnit] = grid;
  }
  t.marketI[offset + Market.flags] = flags;
  const baseFeeBps = i32[at + MarketChangeCommand.baseFeeBps]!;
  t.marketI[offset + Market.baseFeeBps] = baseFeeBps;
  const minSize = f64[at / 2 + MarketChangeCommand.minSize]! as MicroShares;
  t.marketF[(market << MARKET_F) + Market.minSize] = minSize;
  context.events.market(market, false, baseFeeBps, minSize);
  if (commandKind(i32, at) === CommandKind.marketChangeWithEnd) {
    setEnd(context, market, f64[at / 2 + MarketChangeCommand.end]!);
  }
  return RejectReason.accepted;
}

/** False when a sale at the lowest price of the grid could owe more than its proceeds. */
function suitsFees({ marketI }: Tables, offset: number, grid: TicksPerUnit): boolean {
  const rate = marketI[offset + Market.feeRate]!;
  return isSchedule(grid, rate, marketI[offset + Market.feeExponent]!, 0);
}

export function hasOrders(t: Tables, market: MarketRow): boolean {
  const firstBook = t.marketI[(market << MARKET_I) + Market.firstBook]!;
  const endBook = firstBook + t.marketI[(market << MARKET_I) + Market.bookCount]!;
  for (let book = firstBook; book < endBook; book++) {
    if (!isEmpty(t, book as BookRow)) return true;
  }
  return false;
}

function isEmpty({ matching }: Tables, book: BookRow): boolean {
  return SIDES.every((side) => matching.best(book, side) === NO_LEVEL);
}

/** Ladders that books need for another grid: for orders that rest, or that wait for a taker delay. */
function countLadders(context: EngineContext, first: BookRow, end: number): number {
  let count = 0;
  for (let book = first; book < end; book++) {
    if (!isEmpty(context.t, book) || hasDelayed(context, book)) count += 1;
  }
  return count;
}

function cancelWhere(
  context: EngineContext,
  book: BookRow,
  reason: EndReasonCode,
  matches: (tick: Ticks) => boolean,
): void {
  eachOrder(context.t, book, (row, tick) => {
    if (matches(tick)) closeOrder(context, row, reason);
  });
}

/**
 * Moves a book to another grid. Orders off the new grid are cancelled first; the other levels are rescaled and keep
 * their queues. A finer grid that is a multiple of the old one loses nothing; from 0.0025 to 0.001 orders between
 * its ticks are lost. Rules: docs/protocol.md#market-terms
 */
function regrid(context: EngineContext, book: BookRow, grid: TicksPerUnit): void {
  const { t } = context;
  const at = book << BOOK_I;
  const oldGrid = t.bookI[at + Book.ticksPerUnit]! as TicksPerUnit;
  context.touch(book);
  const isOnGrid = (tick: number): boolean => (tick * grid) % oldGrid === 0;
  cancelWhere(context, book, EndReason.tickChange, (tick) => !isOnGrid(tick));
  eachOrder(t, book, (row, tick) => {
    t.orderI[(row << ORDER_I) + Order.price] = (tick * grid) / oldGrid;
  });
  rescale(t.matching, book, grid, grid, oldGrid, hasDelayed(context, book));
  t.bookI[at + Book.ticksPerUnit] = grid;
  context.events.tick(book, oldGrid, grid);
}

function regridDelayed(
  context: EngineContext,
  market: MarketRow,
  oldGrid: TicksPerUnit,
  grid: TicksPerUnit,
): void {
  const { orderI } = context.t;
  for (const row of delayedIn(context, market)) {
    const at = (row << ORDER_I) + Order.price;
    const moved = orderI[at]! * grid;
    if (moved % oldGrid === 0) orderI[at] = moved / oldGrid;
    else closeOrder(context, row as OrderRow, EndReason.tickChange);
  }
}
