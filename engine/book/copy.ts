/**
 * Lists the bytes of a core's memory that are in use, and copies books into tables of other sizes.
 */
import { assert } from './assert.ts';
import type { Matching } from './core.ts';
import { BOOK_I, Book, Header, ORDER_F, ORDER_I, ORDER_ROW, ROW_I, Row } from './memory.ts';

/** A run of bytes in use. All other bytes are as they were allocated. */
export interface MatchingSpan {
  readonly table: 'header' | 'books' | 'rows';
  readonly start: number;
  readonly bytes: number;
}

/** The byte ranges that a copy of a core needs. `books` is the highest book that was opened. */
export function matchingSpans(core: Matching, books: number): MatchingSpan[] {
  const ladders = core.firstLadder << ROW_I;
  const used = core.header;
  return [
    { table: 'header', start: 0, bytes: used.byteLength },
    { table: 'books', start: 0, bytes: (books + 1) * (4 << BOOK_I) },
    { table: 'rows', start: 0, bytes: (used[Header.orderRows]! + 1) * (4 << ORDER_I) },
    { table: 'rows', start: 4 * ladders, bytes: used[Header.levelRows]! * (4 << ROW_I) },
  ];
}

/** Resting slots and ladder rows ever used. Another core needs as many to take the same books. */
export function matchingUse(core: Matching): { readonly orders: number; readonly levels: number } {
  return { orders: core.header[Header.orderRows]!, levels: core.header[Header.levelRows]! };
}

/**
 * Copies a core into an empty one that is large enough. Resting slots keep their numbers; ladders
 * move.
 */
export function copyMatching(from: Matching, into: Matching, books: number): void {
  const use = matchingUse(from);
  const distance = into.firstLadder - from.firstLadder;
  assert(into.header[Header.orderRows] === 0, 'a core is copied into an empty one');
  into.header.set(from.header);
  into.bookI.set(from.bookI.subarray(0, (books + 1) << BOOK_I));
  into.rowI.set(from.rowI.subarray(0, (use.orders + 1) << ORDER_I));
  const ladders = from.firstLadder << ROW_I;
  const end = ladders + (use.levels << ROW_I);
  into.rowI.set(from.rowI.subarray(ladders, end), into.firstLadder << ROW_I);
  if (distance === 0) return;
  for (let book = 1; book <= books; book++) moveBook(into, book << BOOK_I, distance);
  for (let at = Header.freeLadders; at < Header.size; at++) moveFree(into, at, distance);
  for (let slot = 1; slot <= use.orders; slot++) {
    if (into.rowF[slot << ORDER_F] !== 0) moveLinks(from, into, slot, distance);
  }
}

function moveBook(into: Matching, b: number, distance: number): void {
  const { bookI } = into;
  if (bookI[b + Book.ladder] === 0) return;
  bookI[b + Book.ladder]! += distance;
  bookI[b + Book.base]! += distance;
  bookI[b + Book.bitmap]! += distance << ROW_I;
  bookI[b + Book.bitmap + 1]! += distance << ROW_I;
}

/**
 * Moves the links of a list of free ladders. The head of the list is at word `at` of the header.
 */
function moveFree(into: Matching, at: number, distance: number): void {
  if (into.header[at] === 0) return;
  into.header[at]! += distance;
  for (let ladder = into.header[at]!; into.rowI[ladder << ROW_I] !== 0; ) {
    into.rowI[ladder << ROW_I]! += distance;
    ladder = into.rowI[ladder << ROW_I]!;
  }
}

/** Links are relative, so the links between an order and its level change. */
function moveLinks(from: Matching, into: Matching, slot: number, distance: number): void {
  const row = slot << ORDER_ROW;
  const order = slot << ORDER_I;
  const next = row + from.rowI[order + Row.next]!;
  const prev = row + from.rowI[order + Row.prev]!;
  if (next >= from.firstLadder) {
    into.rowI[order + Row.next]! += distance;
    into.rowI[((next + distance) << ROW_I) + Row.prev]! -= distance;
  }
  if (prev >= from.firstLadder) {
    into.rowI[order + Row.prev]! += distance;
    into.rowI[((prev + distance) << ROW_I) + Row.next]! -= distance;
  }
}
