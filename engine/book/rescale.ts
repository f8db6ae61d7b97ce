/** Changes the number of levels of a book, for a finer or a coarser price grid. */
import { assert } from './assert.ts';
import { highest, nextBelow, occupy, vacate } from './bitmap.ts';
import type { Matching } from './core.ts';
import { keyOf, NO_LEVEL, Side } from './levels.ts';
import { BOOK_I, Book, ORDER_I, ORDER_ROW, Order, ROW_F, ROW_I, Row } from './memory.ts';

/**
 * True when there is room for a ladder of so many levels for each of `count` books that are not
 * empty or keep a ladder.
 */
export function canRescale(core: Matching, levels: number, count: number): boolean {
  return core.ladders.available(levels, count);
}

/**
 * Gives a book another number of levels. What rests at level n moves to n x multiply / divide,
 * which must be a whole number for every occupied level. Queues stay as they are. The caller has
 * checked that there is room; an empty book needs none unless it keeps a ladder, for orders that
 * are to rest later.
 */
export function rescale(
  core: Matching,
  book: number,
  levels: number,
  multiply: number,
  divide: number,
  keepsLadder = false,
): void {
  const { bookI } = core;
  const b = book << BOOK_I;
  const before = bookI[b + Book.levels]!;
  const ladder = bookI[b + Book.ladder]!;
  const moves = [moveSide(core, b, Side.bid), moveSide(core, b, Side.ask)];
  bookI[b + Book.levels] = levels;
  if (ladder === 0) return;
  if (!keepsLadder && moves.every((side) => side.length === 0)) {
    // The book gets another ladder when an order rests.
    bookI[b + Book.ladder] = 0;
    core.ladders.give(before, ladder);
    return;
  }
  const from = bookI[b + Book.base]!;
  core.useLadder(b, core.ladders.take(levels));
  for (const side of [Side.bid, Side.ask] as const) {
    for (const level of moves[side]!) {
      const to = (level * multiply) / divide;
      assert(Number.isInteger(to) && to < levels, 'an occupied level has a place to go');
      moveLevel(core, from + level, core.rowOf(book, to), to);
      const key = keyOf(side, to, levels);
      occupy(core.rowI, core.bitmap(b, side), levels, key);
      if (key > bookI[b + Book.best + side]!) bookI[b + Book.best + side] = key;
    }
  }
  core.ladders.give(before, ladder);
}

/** Empties the bitmap of a side. Returns the levels that were in it. */
function moveSide(core: Matching, b: number, side: Side): number[] {
  const { bookI, rowI } = core;
  const levels = bookI[b + Book.levels]!;
  const found: number[] = [];
  if (bookI[b + Book.ladder] === 0) return found;
  const bitmap = core.bitmap(b, side);
  for (let key = highest(rowI, bitmap, levels); key !== NO_LEVEL; ) {
    found.push(keyOf(side, key, levels));
    vacate(rowI, bitmap, levels, key);
    key = nextBelow(rowI, bitmap, levels, key);
  }
  bookI[b + Book.best + side] = NO_LEVEL;
  return found;
}

function moveLevel(core: Matching, from: number, to: number, level: number): void {
  const { rowF, rowI } = core;
  const head = from + rowI[(from << ROW_I) + Row.next]!;
  const tail = from + rowI[(from << ROW_I) + Row.prev]!;
  rowF[to << ROW_F] = rowF[from << ROW_F]!;
  rowI[(to << ROW_I) + Row.next] = head - to;
  rowI[(to << ROW_I) + Row.prev] = tail - to;
  rowI[(head << ROW_I) + Row.prev] = to - head;
  rowI[(tail << ROW_I) + Row.next] = to - tail;
  rowI.fill(0, from << ROW_I, (from + 1) << ROW_I);
  for (let row = head; row !== to; row += rowI[(row << ROW_I) + Row.next]!) {
    rowI[((row >>> ORDER_ROW) << ORDER_I) + Order.level] = level;
  }
}
