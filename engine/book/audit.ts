/**
 * Checks every invariant of the matching core's memory, in tests and after a restart. Throws on the
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
  Order,
  ROW_F,
  ROW_I,
  Row,
} from './memory.ts';
import { LANES, sideBySide } from './side-by-side.ts';

/** Returns the number of resting orders. */
export function auditMatching(core: Matching): number {
  const occupied: Occupied = { rows: [], levels: [], places: [] };
  for (let book = 1; book << BOOK_I < core.bookI.length; book++) {
    if (core.bookI[(book << BOOK_I) + Book.levels] !== 0) auditBook(core, book, occupied);
  }
  const resting = auditQueues(core, occupied);
  auditFree(core, resting);
  auditLadders(core);
  return resting;
}

/** Price levels with resting orders: their rows, their level numbers, and book << 1 | side. */
interface Occupied {
  readonly rows: number[];
  readonly levels: number[];
  readonly places: number[];
}

function auditBook(core: Matching, book: number, occupied: Occupied): void {
  const { bookI } = core;
  const b = book << BOOK_I;
  const levels = bookI[b + Book.levels]!;
  const bid = core.best(book, Side.bid);
  const ask = core.best(book, Side.ask);
  assert(bid === NO_LEVEL || ask === NO_LEVEL || bid < ask, 'a book is not crossed');
  if (bookI[b + Book.ladder] === 0) return;
  const base = bookI[b + Book.ladder]! + bitmapRows(levels);
  assert(bookI[b + Book.base] === base, 'levels follow their bitmaps');
  const before = occupied.rows.length;
  auditSide(core, book, Side.bid, occupied);
  auditSide(core, book, Side.ask, occupied);
  let bare = 0;
  for (let level = 0; level < levels; level++) {
    if (core.first(book, level) !== 0) continue;
    const row = core.rowOf(book, level);
    const word = row << ROW_I;
    const isBare = core.rowI[word + Row.next] === 0 && core.rowI[word + Row.prev] === 0;
    assert(isBare && core.rowF[row << ROW_F] === 0, 'an empty level holds nothing');
    bare += 1;
  }
  const marked = occupied.rows.length - before;
  assert(marked + bare === levels, 'the bitmaps mark every level with orders');
}

function auditSide(core: Matching, book: number, side: Side, occupied: Occupied): void {
  const b = book << BOOK_I;
  const levels = core.bookI[b + Book.levels]!;
  const bitmap = core.bitmap(b, side);
  auditStoreys(core, bitmap, levels);
  let key = highest(core.rowI, bitmap, levels);
  assert(core.bookI[b + Book.best + side] === key, 'the best level has the highest key');
  for (; key !== NO_LEVEL; key = nextBelow(core.rowI, bitmap, levels, key)) {
    const level = keyOf(side, key, levels);
    assert(core.first(book, level) !== 0, 'an occupied level has orders');
    occupied.rows.push(core.rowOf(book, level));
    occupied.levels.push(level);
    occupied.places.push((book << 1) | side);
  }
}

function auditQueues(core: Matching, { levels, places, rows }: Occupied): number {
  const { firstLadder, rowF, rowI } = core;
  const ordersMax = core.header[Header.orderRows]!;
  const queue = new Int32Array(LANES);
  const at = new Int32Array(LANES);
  const before = new Int32Array(LANES);
  const count = new Int32Array(LANES);
  const quantity = new Float64Array(LANES);
  let begun = 0;
  let resting = 0;
  const begin = (lane: number): boolean => {
    if (begun === rows.length) return false;
    const level = rows[begun]!;
    queue[lane] = begun;
    before[lane] = level;
    at[lane] = level + rowI[(level << ROW_I) + Row.next]!;
    count[lane] = 0;
    quantity[lane] = 0;
    begun += 1;
    return true;
  };
  const end = (lane: number, level: number): void => {
    const last = level + rowI[(level << ROW_I) + Row.prev]!;
    assert(at[lane] === level && last === before[lane], 'a queue closes at its level');
    assert(rowF[level << ROW_F] === quantity[lane], 'a level is the sum of its orders');
    assert(quantity[lane]! <= Number.MAX_SAFE_INTEGER, 'the sum of a level is exact');
    resting += count[lane]!;
  };
  const step = (lane: number): boolean => {
    const row = at[lane]!;
    if (row >= firstLadder) {
      end(lane, rows[queue[lane]!]!);
      return false;
    }
    const word = row << ROW_I;
    assert(rowF[row << ROW_F]! > 0, 'nothing empty rests');
    assert(rowI[word + Order.level] === levels[queue[lane]!], 'an order rests at its own level');
    assert(rowI[word + Order.place] === places[queue[lane]!], 'an order rests on its own side');
    assert(row + rowI[word + Row.prev]! === before[lane], 'a queue is linked both ways');
    quantity[lane]! += rowF[row << ROW_F]!;
    count[lane]! += 1;
    assert(count[lane]! <= ordersMax, 'a queue ends');
    before[lane] = row;
    at[lane] = row + rowI[word + Row.next]!;
    return true;
  };
  sideBySide(begin, step);
  return resting;
}

/** Each layer of a bitmap marks exactly the words of the layer below that are not empty. */
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
