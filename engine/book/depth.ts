/**
 * Reads a side of a book, also while a writer changes it. What is read then may be inconsistent, so
 * nothing is asserted and every walk ends. The reader decides by a version, which the writer
 * changes, whether to use the result.
 */
import { nextBelow } from './bitmap.ts';
import type { Matching } from './core.ts';
import { keyOf, NO_LEVEL, type Side } from './levels.ts';
import { BOOK_I, Book, ORDER_F, ORDER_I, ORDER_ROW, Order, ROW_F, ROW_I, Row } from './memory.ts';

/**
 * Copies the levels of a side, best first, and the quantity at each, to arrays with room for all
 * levels of the book. Returns the number of levels, or -1 when the memory is inconsistent because a
 * writer is changing it.
 */
export function readSide(
  core: Matching,
  book: number,
  side: Side,
  levels: Int32Array,
  quantities: Float64Array,
): number {
  const { bookI, rowF, rowI } = core;
  const b = book << BOOK_I;
  const all = bookI[b + Book.levels]!;
  const base = bookI[b + Book.base]!;
  const bitmap = bookI[b + Book.bitmap + side]!;
  let count = 0;
  for (let key = bookI[b + Book.best + side]!; key !== NO_LEVEL; ) {
    const level = keyOf(side, key, all);
    if (level < 0 || level >= all || count === levels.length || base === 0) return -1;
    levels[count] = level;
    quantities[count] = rowF[(base + level) << ROW_F] ?? 0;
    count += 1;
    const next = nextBelow(rowI, bitmap, all, key);
    if (next >= key) return -1;
    key = next;
  }
  return count;
}

/**
 * Visits the orders of a side, best level first and oldest first, with level, remaining quantity and word, until
 * `visit` returns false. `visit` has to return false at some time, because inconsistent memory may lead in a circle.
 * Returns false when the memory is inconsistent because a writer is changing it.
 */
export function visitSide(
  core: Matching,
  book: number,
  side: Side,
  visit: (level: number, quantity: number, word: number) => boolean,
): boolean {
  const { bookI, rowF, rowI } = core;
  const b = book << BOOK_I;
  const all = bookI[b + Book.levels]!;
  const base = bookI[b + Book.base]!;
  const bitmap = bookI[b + Book.bitmap + side]!;
  for (let key = bookI[b + Book.best + side]!; key !== NO_LEVEL; ) {
    const level = keyOf(side, key, all);
    if (level < 0 || level >= all || base === 0) return false;
    const at = base + level;
    for (let row = at + rowI[(at << ROW_I) + Row.next]!; row !== at; ) {
      if (!(row > 0 && row < core.firstLadder)) return false;
      const slot = row >>> ORDER_ROW;
      const quantity = rowF[slot << ORDER_F]!;
      if (!visit(level, quantity, rowI[(slot << ORDER_I) + Order.word]!)) return true;
      row += rowI[(row << ROW_I) + Row.next]!;
    }
    const next = nextBelow(rowI, bitmap, all, key);
    if (next >= key) return false;
    key = next;
  }
  return true;
}
