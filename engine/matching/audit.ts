/**
 * Every invariant of the core's memory, walked in full: for tests, and after a restart. Throws on the
 * first one that is broken.
 */
import { assert } from './assert.ts';
import { bitmapWords, highest, nextBelow } from './bitmap.ts';
import type { Matching } from './core.ts';
import { keyOf, NO_LEVEL, Side } from './levels.ts';
import {
  BOOK_I,
  Book,
  bitmapRows,
  Header,
  ladderRows,
  ORDER_F,
  ORDER_I,
  ORDER_ROW,
  Order,
  ROW_F,
  ROW_I,
  Row,
} from './memory.ts';

/** Returns how many orders rest. */
export function auditMatching(core: Matching): number {
  let resting = 0;
  for (let book = 1; book << BOOK_I < core.bookI.length; book++) {
    if (core.bookI[(book << BOOK_I) + Book.levels] !== 0) resting += auditBook(core, book);
  }
  auditFree(core, resting);
  auditLadders(core);
  return resting;
}

/** Returns how many orders rest in the book. */
function auditBook(core: Matching, book: number): number {
  const { bookI } = core;
  const b = book << BOOK_I;
  const levels = bookI[b + Book.levels]!;
  const bid = core.best(book, Side.bid);
  const ask = core.best(book, Side.ask);
  assert(bid === NO_LEVEL || ask === NO_LEVEL || bid < ask, 'a book is not crossed');
  let orders = 0;
  if (bookI[b + Book.ladder] !== 0) {
    const base = bookI[b + Book.ladder]! + bitmapRows(levels);
    assert(bookI[b + Book.base] === base, 'levels follow their bitmaps');
    orders = auditSide(core, book, Side.bid) + auditSide(core, book, Side.ask);
    for (let level = 0; level < levels; level++) {
      if (core.first(book, level) !== 0) continue;
      const row = core.rowOf(book, level);
      const word = row << ROW_I;
      const isBare = core.rowI[word + Row.next] === 0 && core.rowI[word + Row.prev] === 0;
      assert(isBare && core.rowF[row << ROW_F] === 0, 'an empty level holds nothing');
    }
  }
  return orders;
}

/** Returns how many orders rest on the side. */
function auditSide(core: Matching, book: number, side: Side): number {
  const b = book << BOOK_I;
  const levels = core.bookI[b + Book.levels]!;
  const bitmap = core.bitmap(b, side);
  auditStoreys(core, bitmap, levels);
  let key = highest(core.rowI, bitmap, levels);
  assert(core.bookI[b + Book.best + side] === key, 'the best level has the highest key');
  let orders = 0;
  let marked = 0;
  for (; key !== NO_LEVEL; key = nextBelow(core.rowI, bitmap, levels, key)) {
    orders += auditLevel(core, book, side, keyOf(side, key, levels));
    marked += 1;
  }
  let occupied = 0;
  for (let level = 0; level < levels; level++) {
    const first = core.first(book, level);
    if (first !== 0 && core.side(first) === side) occupied += 1;
  }
  assert(marked === occupied, 'the bitmap marks every level with orders');
  return orders;
}

/** Returns how many orders rest at the level. */
function auditLevel(core: Matching, book: number, side: Side, level: number): number {
  const { rowF, rowI } = core;
  const at = core.rowOf(book, level);
  let before = at;
  let quantity = 0;
  let orders = 0;
  for (let slot = core.first(book, level); slot !== 0; slot = core.next(slot)) {
    const order = slot << ORDER_I;
    const row = slot << ORDER_ROW;
    assert(rowF[slot << ORDER_F]! > 0, 'nothing empty rests');
    assert(rowI[order + Order.level] === level, 'an order rests at its own level');
    assert(rowI[order + Order.place] === ((book << 1) | side), 'an order rests on its own side');
    assert(row + rowI[order + Row.prev]! === before, 'a queue is linked both ways');
    quantity += rowF[slot << ORDER_F]!;
    orders += 1;
    assert(orders <= core.header[Header.orderRows]!, 'a queue ends');
    before = row;
  }
  assert(orders > 0, 'an occupied level has orders');
  assert(at + rowI[(at << ROW_I) + Row.prev]! === before, 'a queue closes at its level');
  assert(core.quantityAt(book, level) === quantity, 'a level is the sum of its orders');
  assert(quantity <= Number.MAX_SAFE_INTEGER, 'the sum of a level is exact');
  return orders;
}

/** Each storey of a bitmap marks exactly the words of the one below that are not empty. */
function auditStoreys(core: Matching, bitmap: number, levels: number): void {
  const { rowI } = core;
  const end = bitmap + bitmapWords(levels);
  let start = bitmap;
  for (let width = (levels + 31) >>> 5; start + width < end; width = (width + 31) >>> 5) {
    for (let word = 0; word < width; word++) {
      const above = rowI[start + width + (word >>> 5)]!;
      const isMarked = ((above >>> (word & 31)) & 1) === 1;
      assert(isMarked === (rowI[start + word] !== 0), 'every storey of the bitmap is right');
    }
    start += width;
  }
}

function auditFree(core: Matching, resting: number): void {
  const { header, rowF, rowI } = core;
  let free = 0;
  for (let slot = header[Header.freeOrder]!; slot !== 0; ) {
    assert(rowF[slot << ORDER_F] === 0, 'a free row holds no order');
    free += 1;
    assert(free <= header[Header.orderRows]!, 'the list of free rows ends');
    slot = rowI[(slot << ORDER_I) + Order.next]!;
  }
  assert(free + resting === header[Header.orderRows], 'every row is in a queue or free');
}

/** Used and free ladders follow one another without gap or overlap. */
function auditLadders(core: Matching): void {
  const { bookI, header } = core;
  const spans: (readonly [start: number, rows: number])[] = [...core.ladders.free()];
  for (let b = 1 << BOOK_I; b < bookI.length; b += 1 << BOOK_I) {
    const ladder = bookI[b + Book.ladder]!;
    if (ladder !== 0) spans.push([ladder, ladderRows(bookI[b + Book.levels]!)]);
  }
  spans.sort((a, b) => a[0] - b[0]);
  let end = core.firstLadder;
  for (const [start, rows] of spans) {
    assert(start === end, 'ladders neither overlap nor leave gaps');
    end += rows;
  }
  assert(
    end === core.firstLadder + header[Header.levelRows]!,
    'every ladder row belongs to a ladder',
  );
}
