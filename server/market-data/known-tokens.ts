/**
 * The tokens that were requested since the start. They are found by the text of their id without
 * arithmetic: by a string, or by the digits in the bytes of a request. What the read routes rendered
 * for a token is cached here too. The number of registered tokens bounds the memory: a text that names
 * no token is not stored.
 *
 * A known token has a number, from 0 in the order of first requests, which is its row in columns: with
 * an object for each token a request of many tokens would wait for memory at each step. The cell of a
 * token contains the text of its last price, which begins with its id, so look-up and answer use the
 * same bytes:
 *
 *   {"token_id":"<digits>","price":"<price>","side":"<side>"},
 *
 * Thread: I/O. Non-goals: rendering (books.ts, last-prices.ts).
 */

import { findToken } from '../../engine/markets/markets.ts';
import { bookVersionAt, tokenBook, tokenIdAt } from '../../engine/reads.ts';
import { ID_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { TokenRow } from '../../engine/tables/units.ts';
import { nextIteration } from '../common/event-loop.ts';
import { QUOTE } from '../common/json-measure.ts';
import { isPosition } from '../common/position-ids.ts';
import { decimalToWords, hexToWords, wordsToDecimal } from '../common/uint256.ts';

export interface Rendered {
  /** Even: no writer was changing the book. */
  readonly version: number;
  readonly bytes: Buffer;
  /** Array with this object alone: the answer to a request of one book. */
  readonly alone: Buffer;
}

export const UNKNOWN = -1;

/** Bytes of a cell. The text above with 78 digits and a price of 6 characters is 125 bytes. */
export const CELL_BYTES = 128;
export const CELL_HEAD = '{"token_id":"';
/** Cached books of a token: both sides, bids, asks. */
export const BOOKS_EACH = 3;
const NO_VERSION = 1;

/** Digits that are hashed. Ids are hashes, so their first digits differ. A shorter id is found by its string. */
const LEAD_DIGITS = 8;
/** Probes for tokens with colliding first digits. Further ones are found by their string. */
const PROBES_MAX = 8;
const SPREAD = 0x9e3779b1;
const PLACES_FIRST = 2_048;
const PLACES_EACH = 4;

/** Ids looked up without a pause. A new id takes some 10 us, and more the first time. */
const NEW_PER_TURN = 64;

export class KnownTokens {
  readonly ids: string[] = [];
  /**
   * Columns with room for every possible token, so that none is ever copied. Memory that was never written costs
   * nothing.
   */
  readonly slots: Int32Array;
  /** Index of a book's version in bookI. */
  readonly versionAt: Int32Array;
  readonly lengths: Uint8Array;
  readonly cells: DataView<ArrayBuffer>;
  /** Version shown by a cell, and the length of its text; 0 = never traded. */
  readonly lastVersions: Int32Array;
  readonly lastBytes: Uint8Array;
  readonly books: (Rendered | undefined)[] = [];
  private readonly tables: Tables;
  private readonly byId = new Map<string, number>();
  /** Token + 1; 0 = not requested yet. */
  private readonly bySlot: Int32Array;
  private readonly key = new Int32Array(ID_WORDS);
  private readonly hashes: Int32Array;
  /** Open addressing by the first digits: token + 1, 0 = free; at most a quarter full. */
  private places = new Int32Array(PLACES_FIRST);

  constructor(tables: Tables) {
    const { tokens } = tables.capacities;
    this.tables = tables;
    this.slots = new Int32Array(tokens);
    this.versionAt = new Int32Array(tokens);
    this.lengths = new Uint8Array(tokens);
    this.cells = new DataView(new ArrayBuffer(tokens * CELL_BYTES));
    this.lastVersions = new Int32Array(tokens).fill(NO_VERSION);
    this.lastBytes = new Uint8Array(tokens);
    this.hashes = new Int32Array(tokens);
    this.bySlot = new Int32Array(tokens + 1);
  }

  find(tokenId: string): number {
    const known = this.byId.get(tokenId);
    if (known !== undefined) return known;
    if (!tokenToWords(tokenId, this.key)) return UNKNOWN;
    const tokenRow = findToken(this.tables, this.key, 0);
    return tokenRow === 0 ? UNKNOWN : this.of(tokenRow);
  }

  /** Looks ids up in advance, with pauses, when many of them are new; returns undefined when few are. */
  learn(ids: readonly string[]): Promise<void> | undefined {
    const unseen = ids.filter((id) => !this.byId.has(id));
    return unseen.length > NEW_PER_TURN ? this.findSlowly(unseen) : undefined;
  }

  private async findSlowly(ids: readonly string[]): Promise<void> {
    for (const [i, id] of ids.entries()) {
      if (i % NEW_PER_TURN === 0) await nextIteration();
      this.find(id);
    }
  }

  of(tokenRow: TokenRow): number {
    const known = this.bySlot[tokenRow]!;
    if (known !== 0) return known - 1;
    const token = this.ids.length;
    const id = wordsToDecimal(this.tables.tokenI, tokenIdAt(tokenRow));
    this.slots[token] = tokenRow;
    this.versionAt[token] = bookVersionAt(tokenBook(this.tables, tokenRow));
    this.lengths[token] = id.length;
    const cell = Buffer.from(this.cells.buffer, token * CELL_BYTES, CELL_BYTES);
    cell.write(`${CELL_HEAD}${id}"`, 'latin1');
    this.ids.push(id);
    this.books.push(undefined, undefined, undefined);
    this.bySlot[tokenRow] = token + 1;
    this.byId.set(id, token);
    this.hashes[token] = hashOf(this.cells, token * CELL_BYTES + CELL_HEAD.length);
    if (PLACES_EACH * token < this.places.length) this.place(token);
    else this.growPlaces();
    return token;
  }

  /**
   * Finds the id in `bytes` from `at` to a quote. Returns UNKNOWN also for a token that was never requested by its
   * string.
   * @param end of the bytes: reading it from a DataView is slower than reading eight bytes
   */
  at(bytes: DataView, at: number, end: number): number {
    if (at + LEAD_DIGITS >= end) return UNKNOWN;
    const { places } = this;
    let place = hashOf(bytes, at) & (places.length - 1);
    for (let probes = 0; probes < PROBES_MAX; probes++) {
      const token = places[place]! - 1;
      if (token === UNKNOWN || this.isIdAt(token, bytes, at, end)) return token;
      place = (place + 1) & (places.length - 1);
    }
    return UNKNOWN;
  }

  /**
   * Compares eight bytes at a time as doubles, which are equal exactly when the digits are. The last eight may
   * overlap those before, because an id has some 77 digits. NaN is equal to nothing.
   */
  private isIdAt(token: number, bytes: DataView, at: number, end: number): boolean {
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
    const { hashes, places } = this;
    let place = hashes[token]! & (places.length - 1);
    for (let probes = 0; probes < PROBES_MAX; probes++) {
      if (places[place] === 0) {
        places[place] = token + 1;
        return;
      }
      place = (place + 1) & (places.length - 1);
    }
  }

  /** Doubles the table: two milliseconds for a hundred thousand tokens. */
  private growPlaces(): void {
    this.places = new Int32Array(2 * this.places.length);
    for (let token = 0; token < this.ids.length; token++) this.place(token);
  }
}

/** Reads a decimal id, or the hex digits of a position (docs/protocol.md#positions). */
function tokenToWords(id: string, key: Int32Array): boolean {
  return decimalToWords(id, key, 0) || (isPosition(id) && hexToWords(id, key));
}

function hashOf(bytes: DataView, at: number): number {
  const first = Math.imul(bytes.getInt32(at, true), SPREAD) ^ bytes.getInt32(at + 4, true);
  const hash = Math.imul(first, SPREAD);
  return hash ^ (hash >>> 15);
}
