/**
 * Source levels as rows of the order table: a BUY of the reserved account without id and owner's list, found by
 * book, side and price. Its row goes to a list of free ones when it ends, so a source level leaves no closed order.
 * Rules: docs/guides/paper-and-backtests.md#levels
 */
import type * as matching from '../book/matching.ts';
import { assert } from '../book/matching.ts';
import type { EngineContext } from '../context.ts';
import { EventKind } from '../events.ts';
import { releasePosition, unreserve } from '../ledger/reservations.ts';
import { home, indexInsert, indexRemove, next } from '../tables/hash-index.ts';
import * as layout from '../tables/layout.ts';
import type { Tables } from '../tables/tables.ts';
import type { BookRow, MicroShares, OrderRow, Pips, Ticks } from '../tables/units.ts';
import * as units from '../tables/units.ts';

// A module's own constants are folded into machine code; imported ones are loaded at each use.
const { BOOK_I, Book, Flag, ORDER_I, Order, State, TOKEN_I, Token } = layout;
const { PIPS_PER_UNIT } = units;

const GOLDEN = 0x9e3779b1;

function placeTag(book: number, side: number, pips: number): number {
  return Math.imul(Math.imul(book, GOLDEN) ^ ((pips << 1) | side), 0x85ebca6b);
}

export function isLevel({ orderI }: Pick<Tables, 'orderI'>, row: OrderRow): boolean {
  return (orderI[(row << ORDER_I) | Order.flags]! & Flag.source) !== 0;
}

/** Source level at a price of a book, in the book's prices; 0 = none. */
export function findLevel(t: Tables, book: BookRow, side: matching.Side, pips: Pips): OrderRow | 0 {
  const { orderIndex } = t;
  const tag = placeTag(book, side, pips);
  for (let entry = home(orderIndex, tag); ; entry = next(orderIndex, entry)) {
    const row = orderIndex[2 * entry + 1]! as OrderRow | 0;
    if (row === 0) return 0;
    if (orderIndex[2 * entry] !== tag || !isLevel(t, row)) continue;
    if (bookOf(t, row) === book && sideOf(t, row) === side && pipsOfLevel(t, row) === pips)
      return row;
  }
}

export function findLevelOf(t: Tables, row: OrderRow): OrderRow | 0 {
  return findLevel(t, bookOf(t, row), sideOf(t, row), pipsOfLevel(t, row));
}

/** Index tag of a source level. Its price is on every grid on which it stands. */
export function levelTag(t: Tables, row: OrderRow): number {
  return placeTag(bookOf(t, row), sideOf(t, row), pipsOfLevel(t, row));
}

export function enterLevel(t: Tables, row: OrderRow): void {
  indexInsert(t.orderIndex, levelTag(t, row), row);
  t.state[State.sourceLevels]! += 1;
}

/** Ends a source level that has left its book. `total`: remaining quantity of its price level. */
export function endLevel(
  context: EngineContext,
  row: OrderRow,
  book: BookRow,
  tick: Ticks,
  total: MicroShares,
): void {
  const { events, t } = context;
  const isThere = indexRemove(t.orderIndex, levelTag(t, row), row);
  assert(isThere, 'a level is known by its place');
  t.state[State.sourceLevels]! -= 1;
  unreserve(context, row);
  const side = sideOf(t, row);
  freeLevel(context, row);
  const grid = t.bookI[(book << BOOK_I) | Book.ticksPerUnit]!;
  events.level(EventKind.levelSource, book, tick, grid, total, side);
  context.mixWord(book);
  context.mixWord(tick);
}

export function freeLevel({ t }: EngineContext, row: OrderRow): void {
  const { orderI, state } = t;
  releasePosition(t, row);
  const offset = row << ORDER_I;
  orderI.fill(0, offset, offset + (1 << ORDER_I));
  orderI[offset | Order.nextFree] = state[State.freeSourceRow]!;
  state[State.freeSourceRow] = row;
  state[State.freeSourceRows]! += 1;
}

export function reuseLevel({ orderI, state }: Tables): OrderRow | 0 {
  const row = state[State.freeSourceRow]! as OrderRow | 0;
  if (row === 0) return 0;
  const link = (row << ORDER_I) | Order.nextFree;
  state[State.freeSourceRow] = orderI[link]!;
  state[State.freeSourceRows]! -= 1;
  orderI[link] = 0;
  return row;
}

function bookOf({ orderI, tokenI }: Tables, row: OrderRow): BookRow {
  const token = orderI[(row << ORDER_I) | Order.token]!;
  return tokenI[(token << TOKEN_I) | Token.book]! as BookRow;
}

function sideOf({ orderI }: Tables, row: OrderRow): matching.Side {
  return (orderI[(row << ORDER_I) | Order.flags]! & Flag.ask) as matching.Side;
}

function pipsOfLevel(t: Tables, row: OrderRow): Pips {
  const grid = t.bookI[(bookOf(t, row) << BOOK_I) | Book.ticksPerUnit]!;
  return (t.orderI[(row << ORDER_I) | Order.price]! * (PIPS_PER_UNIT / grid)) as Pips;
}
