/**
 * The memory of the matching core, drawn: three shared tables, sized once and never grown, because
 * other threads may hold the same buffers. Offsets live here and nowhere else.
 *
 *   header (256 bytes)  freeOrder | orderRows | levelRows | ... | freeLadders (32)
 *   books (32 bytes)    ladder | base | levels | best (2) | bitmap (2) | -
 *   rows (16 bytes)     orders, two rows each: remaining f64 | next | prev | level | place | word | tag
 *                       then ladders, a row per level: quantity f64 | next | prev
 *
 * Orders and levels share a table because a queue is a ring that runs through the row of its level:
 * the level is before the oldest and after the youngest order, so taking an order out never asks
 * whether it was the first or the last. Links are relative: the row meant minus the row they are in;
 * an empty level is its own neighbour, which is what fresh memory says.
 *
 * A ladder is a run of rows: the bitmaps of its two sides (bitmap.ts), then one row per level. Slot
 * 0 and book 0 are left out, so that 0 can mean "none".
 *
 * `*I` views are Int32, `*F` views Float64 over the same bytes: word w of a row is f64 w / 2.
 */
import { assert } from './assert.ts';
import { bitmapWords } from './bitmap.ts';

/** Levels of one book: four 32-way layers of the bitmap cover 32^4 = 2^20. */
export const LEVELS_MAX = 2 ** 20;

/** Shifts that turn a row of the shared table into the index of its first word or double. */
export const ROW_I = 2;
export const ROW_F = 1;
/** Columns that orders and levels have in common. */
export const Row = { quantity: 0, next: 2, prev: 3 } as const;

/** Shifts that turn a slot into its first row, word and double. */
export const ORDER_ROW = 1;
export const ORDER_I = 3;
export const ORDER_F = 2;
export const Order = {
  /** Float64: the remaining quantity; 0 = a free row. */
  remaining: 0,
  /** Slot of the next free row, in a free row. */
  next: 2,
  level: 4,
  /** Book and side: book << 1 | side. */
  place: 5,
  /** Two words of user data. The core never reads them. */
  word: 6,
  tag: 7,
} as const;

export const BOOK_I = 3;
export const Book = {
  /** First row of the ladder; 0 = no order has rested in this book yet. */
  ladder: 0,
  /** The row of level 0. */
  base: 1,
  levels: 2,
  /** Keys of the best bid and the best ask: best + side. -1 = none. */
  best: 3,
  /** First words of the bitmaps of bids and asks: bitmap + side. */
  bitmap: 5,
} as const;

export const Header = {
  freeOrder: 0,
  /** Slots, and rows of ladders, ever used. Rows above them were never touched. */
  orderRows: 1,
  levelRows: 2,
  /** Heads of the lists of free ladders, by the binary logarithm of their number of rows. */
  freeLadders: 32,
  size: 64,
} as const;

export interface MatchingCapacities {
  readonly books: number;
  /** Orders that may rest at the same time, in all books together. */
  readonly orders: number;
  /** Rows of all ladders: the sum of ladderRows() of the books in use. */
  readonly levels: number;
}

/**
 * Bytes before the first row of a table. The platform's allocator puts 16 bytes of its own before a
 * large block. With these bytes, a row of 16 to 128 bytes lies in as few cache lines as possible.
 */
const TABLE_START = 112;

/** The bytes of a table. Its buffer is a little longer. */
export type TableBytes = Uint8Array<SharedArrayBuffer>;

export function allocateTable(bytes: number): TableBytes {
  return new Uint8Array(new SharedArrayBuffer(TABLE_START + bytes), TABLE_START, bytes);
}

export function wordsOf({ buffer, byteLength, byteOffset }: TableBytes): Int32Array {
  return new Int32Array(buffer, byteOffset, byteLength >>> 2);
}

export function doublesOf({ buffer, byteLength, byteOffset }: TableBytes): Float64Array {
  return new Float64Array(buffer, byteOffset, byteLength >>> 3);
}

/** Buffers with which a thread attaches to a core. They can be posted to a worker. */
export interface MatchingMemory {
  readonly header: TableBytes;
  readonly books: TableBytes;
  readonly rows: TableBytes;
  /** The capacity for resting orders. Ladders begin after their rows. */
  readonly orders: number;
}

export function matchingBytes(
  capacities: MatchingCapacities,
): Record<'header' | 'books' | 'rows', number> {
  const { books, levels, orders } = capacities;
  return {
    header: Header.size * 4,
    books: (books + 1) * (4 << BOOK_I),
    rows: (firstLadderRow(orders) + levels) * (4 << ROW_I),
  };
}

export function allocateMatching(capacities: MatchingCapacities): MatchingMemory {
  const bytes = matchingBytes(capacities);
  return {
    header: allocateTable(bytes.header),
    books: allocateTable(bytes.books),
    rows: allocateTable(bytes.rows),
    orders: capacities.orders,
  };
}

export function firstLadderRow(orders: number): number {
  return (orders + 1) << ORDER_ROW;
}

/** The rows of a ladder that contain its two bitmaps. The rows of the levels follow. */
export function bitmapRows(levels: number): number {
  return (2 * bitmapWords(levels) + (1 << ROW_I) - 1) >>> ROW_I;
}

/** The rows that a book of so many levels uses once an order rests in it. */
export function ladderRows(levels: number): number {
  assert(Number.isInteger(levels) && levels >= 2, 'a book has two levels or more');
  assert(levels <= LEVELS_MAX, 'a book has at most 2^20 levels');
  return bitmapRows(levels) + levels;
}
