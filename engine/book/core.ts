/**
 * The matching core: books of orders under price-time priority, and nothing else. It knows slots,
 * levels and quantities. Ids, accounts, money and time belong to its caller. No operation
 * allocates, calls back or fails halfway. The caller checks for room first (hasRoom); all other
 * preconditions are asserted.
 *
 * Levels are compared as keys. The best level of a side has the highest key: the key of a bid is
 * its level, the key of an ask is counted down from the last level. So the same code serves both
 * sides, without a branch that the processor would often predict wrong.
 *
 * Functions of every message are fields that close over their core. V8 then takes the tables for constants: addresses
 * and lengths stand in the machine code (bench/README.md). With several cores in a process it loads them.
 *
 * Thread: one writer at a time. Several threads may attach a Matching to the same memory, as long
 * as only one of them calls it at a time.
 */
import * as assertions from './assert.ts';
import * as bitmaps from './bitmap.ts';
import { Ladders } from './ladders.ts';
import * as sides from './levels.ts';
import * as memory from './memory.ts';
import {
  bitmapRows,
  doublesOf,
  firstLadderRow,
  ladderRows,
  type MatchingMemory,
  wordsOf,
} from './memory.ts';

// V8 folds a module's own constants into machine code. It loads imported or exported values, and
// functions, at each use.
const { BOOK_I, Book, Header, ORDER_F, ORDER_I, ORDER_ROW, Order, ROW_F, ROW_I, Row } = memory;
const { keyOf, NO_LEVEL, Side } = sides;
const { nextBelow, occupy, vacate } = bitmaps;
const assert: typeof assertions.assert = assertions.assert;

type Side = sides.Side;

export class Matching {
  readonly header: Int32Array;
  readonly bookI: Int32Array;
  readonly rowI: Int32Array;
  readonly rowF: Float64Array;
  readonly firstLadder: number;
  readonly ladders: Ladders;
  /** Fills of the last match, in order: the maker's slot, the quantity, and what remained at the maker's level. */
  readonly makers: Int32Array;
  readonly sizes: Float64Array;
  readonly totals: Float64Array;
  /**
   * Passes a quantity into or out of a function. As a call argument it would allocate a heap
   * number.
   */
  private readonly amount = new Float64Array(2);
  private readonly orders: number;

  constructor(buffers: MatchingMemory) {
    this.header = wordsOf(buffers.header);
    this.bookI = wordsOf(buffers.books);
    this.rowI = wordsOf(buffers.rows);
    this.rowF = doublesOf(buffers.rows);
    this.firstLadder = firstLadderRow(buffers.orders);
    this.ladders = new Ladders(buffers);
    this.orders = buffers.orders;
    // As long as the longest possible match. Memory that is never used is never touched.
    this.makers = new Int32Array(buffers.orders);
    this.sizes = new Float64Array(buffers.orders);
    this.totals = new Float64Array(buffers.orders);
  }

  /**
   * Opens an empty book with levels 0 to levels - 1. It gets a ladder when the first order rests.
   */
  open(book: number, levels: number): void {
    const { bookI } = this;
    const b = book << BOOK_I;
    assert(book > 0 && b < bookI.length, 'a book has a row');
    assert(bookI[b | Book.levels] === 0, 'a book is opened once');
    assert(ladderRows(levels) > 0, 'a book has levels');
    bookI[b | Book.levels] = levels;
    bookI[b | (Book.best + Side.bid)] = NO_LEVEL;
    bookI[b | (Book.best + Side.ask)] = NO_LEVEL;
  }

  /** Levels of a book; 0 = it is not open. */
  levels(book: number): number {
    return this.bookI[(book << BOOK_I) | Book.levels]!;
  }

  hasRoom(book: number): boolean {
    const { bookI, header } = this;
    const isRow = header[Header.freeOrder] !== 0 || header[Header.orderRows]! < this.orders;
    const b = book << BOOK_I;
    if (!isRow || bookI[b | Book.ladder] !== 0) return isRow;
    return this.ladders.available(bookI[b | Book.levels]!, 1);
  }

  /**
   * Adds a resting order at the end of the queue of its level. The order must not cross. Returns
   * its slot.
   */
  readonly rest = (
    book: number,
    side: Side,
    level: number,
    quantity: number,
    word: number,
  ): number => {
    this.amount[0] = quantity;
    return this.enqueue(book, side, level, word);
  };

  /** Removes a resting order. Its row can be read until the next order rests. */
  readonly cancel = (slot: number): void => {
    const { bookI, header, rowF, rowI } = this;
    const remaining = rowF[slot << ORDER_F]!;
    assert(remaining > 0, 'what is cancelled rests');
    const row = slot << ORDER_ROW;
    const order = slot << ORDER_I;
    const next = (row + rowI[order | Row.next]!) | 0;
    const prev = (row + rowI[order | Row.prev]!) | 0;
    rowI[(prev << ROW_I) | Row.next] = next - prev;
    rowI[(next << ROW_I) | Row.prev] = prev - next;
    const place = rowI[order | Order.place]!;
    const b = (place >>> 1) << BOOK_I;
    const level = rowI[order | Order.level]!;
    const at = (bookI[b | Book.base]! + level) | 0;
    const total = rowF[at << ROW_F]! - remaining;
    rowF[at << ROW_F] = total;
    this.amount[1] = total;
    // The only order of a level is linked to the level on both sides.
    if (next === prev) this.leave(b, (place & 1) as Side, level);
    rowF[slot << ORDER_F] = 0;
    rowI[order | Order.next] = header[Header.freeOrder]!;
    header[Header.freeOrder] = slot;
  };

  /** Gives a resting order another remaining quantity. It keeps its position in the queue. */
  resize(slot: number, quantity: number): void {
    const { bookI, rowF } = this;
    const before = rowF[slot << ORDER_F]!;
    assert(before > 0 && quantity > 0, 'what is resized rests, before and after');
    const b = this.book(slot) << BOOK_I;
    const at = (bookI[b | Book.base]! + this.level(slot)) << ROW_F;
    const total = rowF[at]! + (quantity - before);
    rowF[slot << ORDER_F] = quantity;
    rowF[at] = total;
    this.amount[1] = total;
  }

  /**
   * Matches a taker of `quantity` against the other side of a book: best level first, oldest order
   * first, not beyond `limit`. Returns the number of fills. makers, sizes and totals describe the
   * fills; `left` is the quantity that was not filled. A maker with nothing remaining has left the
   * book; its row can be read until the next order rests.
   */
  readonly match = (book: number, side: Side, limit: number, quantity: number): number => {
    this.amount[0] = quantity;
    return this.matchUpTo(book, side, limit);
  };

  get left(): number {
    return this.amount[0]!;
  }

  /** The quantity at the level of the last rest, resize or cancel. */
  get total(): number {
    return this.amount[1]!;
  }

  /** Returns the quantity that a taker could fill within its limit. Counting stops at `wanted`. */
  available(book: number, side: Side, limit: number, wanted: number): number {
    this.amount[0] = wanted;
    this.count(book, side, limit);
    return this.amount[0]!;
  }

  /** The best level of a side, or NO_LEVEL. */
  best(book: number, side: Side): number {
    const b = book << BOOK_I;
    const key = this.bookI[b | (Book.best + side)]!;
    return key === NO_LEVEL ? NO_LEVEL : keyOf(side, key, this.bookI[b | Book.levels]!);
  }

  /** The next occupied level of a side that is worse than `level`, or NO_LEVEL. */
  worse(book: number, side: Side, level: number): number {
    const b = book << BOOK_I;
    const levels = this.bookI[b | Book.levels]!;
    if (this.bookI[b | Book.ladder] === 0) return NO_LEVEL;
    const key = nextBelow(this.rowI, this.bitmap(b, side), levels, keyOf(side, level, levels));
    return key === NO_LEVEL ? NO_LEVEL : keyOf(side, key, levels);
  }

  quantityAt(book: number, level: number): number {
    const row = this.rowOf(book, level);
    return row === 0 ? 0 : this.rowF[row << ROW_F]!;
  }

  /** The oldest order at a level; 0 = none. */
  first(book: number, level: number): number {
    const row = this.rowOf(book, level);
    return row === 0 ? 0 : this.slotOf(row + this.rowI[(row << ROW_I) | Row.next]!);
  }

  next(slot: number): number {
    return this.slotOf((slot << ORDER_ROW) + this.rowI[(slot << ORDER_I) | Row.next]!);
  }

  /** The remaining quantity of an order; 0 = it does not rest. */
  remaining(slot: number): number {
    return this.rowF[slot << ORDER_F]!;
  }

  userData(slot: number): number {
    return this.rowI[(slot << ORDER_I) | Order.word]!;
  }

  /** The level of an order that rests, or that the last match or cancel removed. */
  level(slot: number): number {
    return this.rowI[(slot << ORDER_I) | Order.level]!;
  }

  side(slot: number): Side {
    return (this.rowI[(slot << ORDER_I) | Order.place]! & 1) as Side;
  }

  book(slot: number): number {
    return this.rowI[(slot << ORDER_I) | Order.place]! >>> 1;
  }

  /** The first word of a side's bitmap, in a book that has a ladder. */
  bitmap(b: number, side: Side): number {
    return this.bookI[b | (Book.bitmap + side)]!;
  }

  /** The row of a level; 0 while its book has no ladder. */
  rowOf(book: number, level: number): number {
    const b = book << BOOK_I;
    const { bookI } = this;
    assert(level >= 0 && level < bookI[b | Book.levels]!, 'a level is one of its book');
    return bookI[b | Book.ladder] === 0 ? 0 : bookI[b | Book.base]! + level;
  }

  /** The slot of a row that belongs to an order; 0 = the row belongs to a level. */
  private slotOf(row: number): number {
    return row >= this.firstLadder ? 0 : row >>> ORDER_ROW;
  }

  private readonly takeRow = (): number => {
    const { header, rowI } = this;
    const free = header[Header.freeOrder]!;
    if (free !== 0) {
      header[Header.freeOrder] = rowI[(free << ORDER_I) | Order.next]!;
      return free;
    }
    const slot = header[Header.orderRows]! + 1;
    assert(slot <= this.orders, 'the caller of rest() has checked for room');
    header[Header.orderRows] = slot;
    return slot;
  };

  private readonly enqueue = (book: number, side: Side, level: number, word: number): number => {
    const { bookI, rowF, rowI } = this;
    const b = book << BOOK_I;
    const quantity = this.amount[0]!;
    const levels = bookI[b | Book.levels]!;
    assert(quantity > 0 && level >= 0 && level < levels, 'an order has a quantity and a level');
    const key = keyOf(side, level, levels);
    assert(bookI[b | (Book.best + 1 - side)]! < levels - 1 - key, 'what crosses does not rest');
    if (bookI[b | Book.ladder] === 0) this.takeLadder(b);
    const slot = this.takeRow();
    const row = slot << ORDER_ROW;
    const order = slot << ORDER_I;
    const at = (bookI[b | Book.base]! + level) | 0;
    const tail = (at + rowI[(at << ROW_I) | Row.prev]!) | 0;
    rowI[(tail << ROW_I) | Row.next] = row - tail;
    rowI[(at << ROW_I) | Row.prev] = row - at;
    const total = rowF[at << ROW_F]! + quantity;
    rowF[at << ROW_F] = total;
    this.amount[1] = total;
    rowF[slot << ORDER_F] = quantity;
    rowI[order | Row.next] = at - row;
    rowI[order | Row.prev] = tail - row;
    rowI[order | Order.level] = level;
    rowI[order | Order.place] = (book << 1) | side;
    rowI[order | Order.word] = word;
    occupy(rowI, this.bitmap(b, side), levels, key);
    const ahead = key - bookI[b | (Book.best + side)]!;
    // The larger of the two, without a branch.
    bookI[b | (Book.best + side)]! += ahead & ~(ahead >> 31);
    return slot;
  };

  private takeLadder(b: number): void {
    const levels = this.bookI[b | Book.levels]!;
    this.useLadder(b, this.ladders.take(levels));
  }

  useLadder(b: number, ladder: number): void {
    const { bookI } = this;
    const levels = bookI[b | Book.levels]!;
    bookI[b | Book.ladder] = ladder;
    bookI[b | Book.base] = ladder + bitmapRows(levels);
    bookI[b | (Book.bitmap + Side.bid)] = ladder << ROW_I;
    bookI[b | (Book.bitmap + Side.ask)] = (ladder << ROW_I) + bitmaps.bitmapWords(levels);
  }

  /** Marks a level as empty after its last order was removed. */
  private readonly leave = (b: number, side: Side, level: number): void => {
    const { bookI, rowI } = this;
    const levels = bookI[b | Book.levels]!;
    const bitmap = this.bitmap(b, side);
    const key = keyOf(side, level, levels);
    vacate(rowI, bitmap, levels, key);
    if (bookI[b | (Book.best + side)] === key) {
      bookI[b | (Book.best + side)] = nextBelow(rowI, bitmap, levels, key);
    }
  };

  /** Fills up to amount[0], and leaves the unfilled quantity there. */
  private readonly matchUpTo = (book: number, side: Side, limit: number): number => {
    const { bookI, header, makers, rowF, rowI, sizes, totals } = this;
    const b = book << BOOK_I;
    const levels = bookI[b | Book.levels]!;
    assert(limit >= 0 && limit < levels, 'a limit is a level of the book');
    const facing = (1 - side) as Side;
    const worst = keyOf(facing, limit, levels);
    const base = bookI[b | Book.base]!;
    let left = this.amount[0]!;
    let count = 0;
    for (let key = bookI[b | (Book.best + facing)]!; key >= worst && left > 0; ) {
      const level = keyOf(facing, key, levels);
      const at = base + level;
      const row = (at + rowI[(at << ROW_I) | Row.next]!) | 0;
      const size = rowF[row << ROW_F]!;
      const total = rowF[at << ROW_F]! - (size < left ? size : left);
      makers[count] = row >>> ORDER_ROW;
      rowF[at << ROW_F] = total;
      totals[count] = total;
      if (size > left) {
        sizes[count] = left;
        rowF[row << ROW_F] = size - left;
        this.amount[0] = 0;
        return count + 1;
      }
      sizes[count] = size;
      count += 1;
      left -= size;
      const next = (row + rowI[(row << ROW_I) | Row.next]!) | 0;
      rowI[(at << ROW_I) | Row.next] = next - at;
      rowI[(next << ROW_I) | Row.prev] = at - next;
      rowF[row << ROW_F] = 0;
      rowI[(row << ROW_I) | Order.next] = header[Header.freeOrder]!;
      header[Header.freeOrder] = row >>> ORDER_ROW;
      if (next !== at) continue;
      this.leave(b, facing, level);
      key = bookI[b | (Book.best + facing)]!;
    }
    this.amount[0] = left;
    return count;
  };

  /** Leaves in amount[0] how much of it can be filled within the limit. */
  private count(book: number, side: Side, limit: number): void {
    const { bookI, rowF, rowI } = this;
    const b = book << BOOK_I;
    const levels = bookI[b | Book.levels]!;
    assert(limit >= 0 && limit < levels, 'a limit is a level of the book');
    const facing = (1 - side) as Side;
    const worst = keyOf(facing, limit, levels);
    const base = bookI[b | Book.base]!;
    const bitmap = this.bitmap(b, facing);
    const wanted = this.amount[0]!;
    let found = 0;
    for (let key = bookI[b | (Book.best + facing)]!; key >= worst && found < wanted; ) {
      found += rowF[(base + keyOf(facing, key, levels)) << ROW_F]!;
      key = nextBelow(rowI, bitmap, levels, key);
    }
    this.amount[0] = found < wanted ? found : wanted;
  }
}
