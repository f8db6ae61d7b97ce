/**
 * The tokens that have been asked for, found by the text of their id without arithmetic: by a string,
 * or by the digits where they stand in a request. What the read routes have rendered of a token is
 * kept here too. Bounded by the tokens that are registered: a text that names none is not remembered.
 *
 * A token has a number, from 0 in the order of asking, which is its row in columns: a request of many
 * tokens would wait for memory at each step from object to object. Its cell holds the text of its last
 * price, which begins with its id, so that finding and answering touch the same bytes:
 *
 *   {"token_id":"<digits>","price":"<price>","side":"<side>"},
 *
 * Thread: I/O. Non-goals: rendering (books.ts, last-prices.ts).
 */
import { BOOK_I, Book, ID_WORDS, TOKEN_I, Token } from '../../engine/layout.ts';
import { findToken } from '../../engine/markets.ts';
import type { Tables } from '../../engine/tables.ts';
import type { TokenSlot } from '../../engine/units.ts';
import { decimalToWords, wordsToDecimal } from '../common/uint256.ts';

/** A version of a book as JSON. */
export interface Rendered {
  /** Even. */
  readonly version: number;
  readonly bytes: Buffer;
}

/** No such token. */
export const UNKNOWN = -1;

/** The text above with 78 digits and a price of 6 characters is 125 bytes. */
export const CELL_BYTES = 128;
export const CELL_HEAD = '{"token_id":"';
/** Kept books of a token: both sides, bids, asks. */
export const BOOKS_EACH = 3;
/** What no settled version is. */
const NO_VERSION = 1;

/** Ids are hashes, so that their first digits tell them apart. One with fewer is found by its string. */
const LEAD_DIGITS = 8;
/** Tokens whose digits begin alike share so many places; those beyond are found by their string. */
const PROBES_MAX = 8;
const SPREAD = 0x9e3779b1;
const ROWS_FIRST = 512;
const QUOTE = 0x22;

export class KnownTokens {
  readonly ids: string[] = [];
  slots = new Int32Array(ROWS_FIRST);
  /** The place of a book's version in bookI. */
  versionAt = new Int32Array(ROWS_FIRST);
  /** Digits of an id. */
  lengths = new Uint8Array(ROWS_FIRST);
  cells = new DataView(new ArrayBuffer(ROWS_FIRST * CELL_BYTES));
  /** The version that a cell shows, and how much of it is an answer: 0 = never traded. */
  lastVersions = new Int32Array(ROWS_FIRST).fill(NO_VERSION);
  lastBytes = new Uint8Array(ROWS_FIRST);
  /** BOOKS_EACH of each token. */
  readonly books: (Rendered | undefined)[] = [];
  private readonly t: Tables;
  private readonly byId = new Map<string, number>();
  private readonly bySlot = new Map<TokenSlot, number>();
  private readonly key = new Int32Array(ID_WORDS);
  /** Open addressing by the first digits: token + 1, 0 = free; at most a quarter full. */
  private places = new Int32Array(4 * ROWS_FIRST);

  constructor(t: Tables) {
    this.t = t;
  }

  /** The token with this decimal id, exactly as an id is written; UNKNOWN when there is none. */
  find(tokenId: string): number {
    const known = this.byId.get(tokenId);
    if (known !== undefined) return known;
    if (!decimalToWords(tokenId, this.key, 0)) return UNKNOWN;
    const slot = findToken(this.t, this.key, 0);
    return slot === 0 ? UNKNOWN : this.of(slot);
  }

  of(slot: TokenSlot): number {
    const known = this.bySlot.get(slot);
    if (known !== undefined) return known;
    const token = this.ids.length;
    if (token === this.slots.length) this.grow();
    const row = slot << TOKEN_I;
    const id = wordsToDecimal(this.t.tokenI, row + Token.id);
    this.slots[token] = slot;
    this.versionAt[token] = (this.t.tokenI[row + Token.book]! << BOOK_I) + Book.version;
    this.lengths[token] = id.length;
    const cell = Buffer.from(this.cells.buffer, token * CELL_BYTES, CELL_BYTES);
    cell.write(`${CELL_HEAD}${id}"`, 'latin1');
    this.ids.push(id);
    this.books.push(undefined, undefined, undefined);
    this.bySlot.set(slot, token);
    this.byId.set(id, token);
    this.place(token);
    return token;
  }

  /**
   * The token whose id stands in `bytes` from `at` on and ends before a quote. UNKNOWN also for one
   * that has not been asked for by its string yet.
   *
   * @param end of the bytes: a DataView takes longer to say it than to give eight of them
   */
  at(bytes: DataView, at: number, end: number): number {
    if (at + LEAD_DIGITS >= end) return UNKNOWN;
    const { places } = this;
    let place = placeOf(bytes, at, places.length);
    for (let probes = 0; probes < PROBES_MAX; probes++) {
      const token = places[place]! - 1;
      if (token === UNKNOWN || this.stands(token, bytes, at, end)) return token;
      place = (place + 1) & (places.length - 1);
    }
    return UNKNOWN;
  }

  /**
   * Eight bytes at a time, the last of them a second time: an id has some 77 digits. As doubles,
   * digits are equal where their bytes are; what is no number is equal to nothing.
   */
  private stands(token: number, bytes: DataView, at: number, end: number): boolean {
    const { cells } = this;
    const digits = token * CELL_BYTES + CELL_HEAD.length;
    const length = this.lengths[token]!;
    if (at + length >= end || bytes.getUint8(at + length) !== QUOTE) return false;
    const last = length - 8;
    for (let i = 0; i < last; i += 8) {
      if (cells.getFloat64(digits + i, true) !== bytes.getFloat64(at + i, true)) return false;
    }
    return cells.getFloat64(digits + last, true) === bytes.getFloat64(at + last, true);
  }

  private place(token: number): void {
    if (this.lengths[token]! < LEAD_DIGITS) return;
    const { cells, places } = this;
    let place = placeOf(cells, token * CELL_BYTES + CELL_HEAD.length, places.length);
    for (let probes = 0; probes < PROBES_MAX; probes++) {
      if (places[place] === 0) {
        places[place] = token + 1;
        return;
      }
      place = (place + 1) & (places.length - 1);
    }
  }

  private grow(): void {
    const rows = 2 * this.slots.length;
    this.slots = grown(this.slots, new Int32Array(rows));
    this.versionAt = grown(this.versionAt, new Int32Array(rows));
    this.lengths = grown(this.lengths, new Uint8Array(rows));
    this.lastVersions = grown(this.lastVersions, new Int32Array(rows).fill(NO_VERSION));
    this.lastBytes = grown(this.lastBytes, new Uint8Array(rows));
    const cells = new Uint8Array(rows * CELL_BYTES);
    cells.set(new Uint8Array(this.cells.buffer));
    this.cells = new DataView(cells.buffer);
    this.places = new Int32Array(4 * rows);
    for (let token = 0; token < this.ids.length; token++) this.place(token);
  }
}

function grown<Column extends Int32Array | Uint8Array>(from: Column, to: Column): Column {
  to.set(from);
  return to;
}

/** @param places a power of two */
function placeOf(bytes: DataView, at: number, places: number): number {
  const first = Math.imul(bytes.getInt32(at, true), SPREAD) ^ bytes.getInt32(at + 4, true);
  const hash = Math.imul(first, SPREAD);
  return (hash ^ (hash >>> 15)) & (places - 1);
}
