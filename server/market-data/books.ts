/**
 * POST /books: order books rendered from engine memory. A rendered book is cached with its version,
 * so an unchanged book costs one look-up. Rules: docs/protocol.md#order-books
 *
 * Thread: I/O, while workers write. Non-goals: parsing of the request, making it wait.
 */

import { createHash } from 'node:crypto';
import { marketFlags, tokenComplement, tokenMarket } from '../../engine/reads.ts';
import { MarketFlag } from '../../engine/tables/codes.ts';
import { Depth, type DepthSide, readDepth } from '../../engine/tables/depth.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import {
  PIPS_PER_UNIT,
  type Ticks,
  type TicksPerUnit,
  type TokenRow,
} from '../../engine/tables/units.ts';
import {
  DECIMAL_BYTES_MAX,
  writeInteger,
  writeMicro,
  writePips,
  writeTicks,
} from '../common/decimal.ts';
import { CLOSE_ARRAY, COMMA, OPEN_ARRAY } from '../common/json-measure.ts';
import { BOOKS_EACH, type Rendered, UNKNOWN } from './known-tokens.ts';
import { ascii, put, type TokenTexts } from './texts.ts';
import { type BookSide, SideCode, type TokenRequest } from './token-request.ts';

/**
 * Tries before a wait. A writer changes a book for microseconds, unless its thread is descheduled
 * (docs/protocol.md#consistent-reads).
 */
export const READ_TRIES = 4;

/**
 * Bytes of cached books. Beyond it the whole cache is cleared, so a client that requests every token cannot fill the
 * memory. A busy node caches some thousands of books of a few kilobytes.
 */
const CACHE_BYTES_MAX = 128 * 1024 * 1024;

const AFTER_TIMESTAMP = ascii('","hash":"');
const HASH_BYTES = 40;
const BIDS = ascii('","bids":[');
const ASKS = ascii('],"asks":[');
const MIN_ORDER_SIZE = ascii('],"min_order_size":"');
const TICK_SIZE = ascii('","tick_size":"');
const NEG_RISK = ascii('","neg_risk":true,"last_trade_price":"');
const NOT_NEG_RISK = ascii('","neg_risk":false,"last_trade_price":"');
const END = ascii('"}');
const PRICE = ascii('{"price":"');
const SIZE = ascii('","size":"');
const LEVEL_END = ascii('"},');

const LEVEL_BYTES_MAX = PRICE.length + SIZE.length + LEVEL_END.length + 2 * DECIMAL_BYTES_MAX;
/** Bytes of a book without its levels: two ids, five numbers, the names of the members. */
const REST_BYTES_MAX = 1_024;

export class BookRenderer {
  readonly texts: TokenTexts;
  readonly tables: Tables;
  private readonly depth = new Depth();
  private readonly mirror = new Depth();
  /** Scratch memory for the whole grid. Each price is a bid or an ask, so both sides share it. */
  private readonly scratch = Buffer.alloc(REST_BYTES_MAX + LEVEL_BYTES_MAX * PIPS_PER_UNIT);
  private cachedBytes = 0;

  constructor(tables: Tables, texts: TokenTexts) {
    this.tables = tables;
    this.texts = texts;
  }

  /**
   * Renders the book of a token. With a side, the other array is empty and the hash is that of the object as sent.
   * @returns undefined if a writer was changing the book at every try: try again after the next batch
   */
  render(tokenRow: TokenRow, side: BookSide = ''): Buffer | undefined {
    return this.renderKnown(this.texts.known.of(tokenRow), SideCode[side])?.bytes;
  }

  renderKnown(token: number, side: SideCode): Rendered | undefined {
    const cached = this.current(token, side);
    if (cached !== undefined) return cached;
    for (let tries = 0; tries < READ_TRIES; tries++) {
      if (readDepth(this.tables, this.slotOf(token), this.depth))
        return this.write(token, side, this.depth);
    }
    return undefined;
  }

  renderPair(
    token: number,
    side: SideCode,
    complement: number,
    complementSide: SideCode,
  ): readonly [Rendered, Rendered] | undefined {
    const { depth, mirror, tables } = this;
    for (let tries = 0; tries < READ_TRIES; tries++) {
      const isRead =
        readDepth(tables, this.slotOf(token), depth) &&
        readDepth(tables, this.slotOf(complement), mirror);
      if (!isRead || depth.version !== mirror.version) continue;
      return [this.write(token, side, depth), this.write(complement, complementSide, mirror)];
    }
    return undefined;
  }

  /** Returns the newest complete version, also while a writer changes the book. */
  current(token: number, side: SideCode): Rendered | undefined {
    const { known } = this.texts;
    const book = known.books[token * BOOKS_EACH + side];
    if (book === undefined) return undefined;
    const version = Atomics.load(this.tables.bookI, known.versionAt[token]!);
    return book.version === (version & ~1) ? book : undefined;
  }

  complementOf(token: number): number {
    const tokenRow = tokenComplement(this.tables, this.slotOf(token));
    return tokenRow === 0 ? UNKNOWN : this.texts.known.of(tokenRow);
  }

  private slotOf(token: number): TokenRow {
    return this.texts.known.slots[token]! as TokenRow;
  }

  private write(token: number, side: SideCode, depth: Depth): Rendered {
    const alone = Buffer.from(this.make(this.slotOf(token), side, depth));
    const bytes = alone.subarray(1, alone.length - 1);
    const book = { version: depth.version, bytes, alone };
    this.storeRendered(token, side, book);
    return book;
  }

  copy(tokenRow: TokenRow, side: BookSide, depth: Depth): Buffer {
    return Buffer.from(this.make(tokenRow, SideCode[side], depth).subarray(1, -1));
  }

  /** Writes an array with one object, in the key order that its hash requires. Valid until the next call. */
  private make(tokenRow: TokenRow, side: SideCode, depth: Depth): Buffer {
    const { scratch, tables } = this;
    const grid = depth.ticksPerUnit as TicksPerUnit;
    scratch[0] = OPEN_ARRAY;
    let at = put(this.texts.bookHead(tokenRow), scratch, 1);
    at = writeInteger(depth.changedAt, scratch, at);
    at = put(AFTER_TIMESTAMP, scratch, at);
    const hashAt = at;
    at = put(BIDS, scratch, hashAt + HASH_BYTES);
    if (side !== SideCode.SELL) at = writeLevels(depth.bids, grid, scratch, at);
    at = put(ASKS, scratch, at);
    if (side !== SideCode.BUY) at = writeLevels(depth.asks, grid, scratch, at);
    at = put(MIN_ORDER_SIZE, scratch, at);
    at = writeMicro(depth.minSize, scratch, at);
    at = put(TICK_SIZE, scratch, at);
    at = writeTicks(1 as Ticks, grid, scratch, at);
    const isNegRisk =
      (marketFlags(tables, tokenMarket(tables, tokenRow)) & MarketFlag.negRisk) !== 0;
    at = put(isNegRisk ? NEG_RISK : NOT_NEG_RISK, scratch, at);
    if (depth.lastPrice !== 0) at = writePips(depth.lastPrice, scratch, at);
    at = put(END, scratch, at);
    // The hash is computed over the object with an empty hash: over the parts before and after it.
    const hash = createHash('sha1').update(scratch.subarray(1, hashAt));
    hash.update(scratch.subarray(hashAt + HASH_BYTES, at));
    scratch.write(hash.digest('hex'), hashAt, 'latin1');
    scratch[at] = CLOSE_ARRAY;
    return scratch.subarray(0, at + 1);
  }

  private storeRendered(token: number, side: SideCode, book: Rendered): void {
    const { books } = this.texts.known;
    const at = token * BOOKS_EACH + side;
    this.cachedBytes += book.bytes.length - (books[at]?.bytes.length ?? 0);
    if (this.cachedBytes > CACHE_BYTES_MAX) {
      books.fill(undefined);
      this.cachedBytes = book.bytes.length;
    }
    books[at] = book;
  }
}

function writeLevels(side: DepthSide, grid: TicksPerUnit, out: Uint8Array, from: number): number {
  let at = from;
  for (let i = 0; i < side.count; i++) {
    at = put(PRICE, out, at);
    at = writeTicks(side.ticks[i]! as Ticks, grid, out, at);
    at = put(SIZE, out, at);
    at = writeMicro(side.sizes[i]!, out, at);
    at = put(LEVEL_END, out, at);
  }
  // What follows replaces the comma after the last level.
  return side.count === 0 ? at : at - 1;
}

const parts: Rendered[] = [];

/** Marks an answer that renderBooksLong must make (books-long.ts). */
export const LONG = 'long';

/** Bound of bytes, and of newly rendered bytes, of an answer that is made at once. */
const FRESH_BYTES_MAX = 2 ** 15;
const ANSWER_BYTES_MAX = 2 ** 22;

/**
 * Renders the answer of POST /books: known tokens in request order, each once, at its first position. Both books of a
 * pair have one version, because each cached version is checked here and no other thread renders. Rules:
 * docs/protocol.md#order-books
 * @returns bytes that are valid until the next answer; LONG; undefined if a book could not be read: try again after
 * the next batch
 */
export function renderBooks(
  renderer: BookRenderer,
  request: TokenRequest,
): Uint8Array | typeof LONG | undefined {
  const { count, sides, tokens } = request;
  let fresh = 0;
  let bytes = 0;
  for (let i = 0; i < count; i++) {
    let book = renderer.current(tokens[i]!, sides[i]!);
    if (book === undefined) {
      if (fresh > FRESH_BYTES_MAX) return LONG;
      book = renderWanted(renderer, request, i);
      if (book === undefined) return undefined;
      fresh += book.bytes.length;
    }
    parts[i] = book;
    bytes += book.bytes.length;
  }
  for (let i = 0; i < count; i++) request.versions[i] = parts[i]!.version;
  if (count === 1) return parts[0]!.alone;
  return bytes > ANSWER_BYTES_MAX ? LONG : joined(parts, count);
}

function renderWanted(
  renderer: BookRenderer,
  request: TokenRequest,
  place: number,
): Rendered | undefined {
  const token = request.tokens[place]!;
  const side = request.sides[place]!;
  const complement = renderer.complementOf(token);
  const otherPlace = complement === UNKNOWN ? UNKNOWN : request.placeOf(complement);
  if (otherPlace === UNKNOWN) return renderer.renderKnown(token, side);
  const pair = renderer.renderPair(token, side, complement, request.sides[otherPlace]!);
  // If the other book was already written, it is replaced by this version. If it comes later, it is
  // taken from the cache.
  if (pair !== undefined) parts[otherPlace] = pair[1];
  return pair?.[0];
}

/** Largest buffer that is reused. A larger answer gets a buffer of its own. */
const REUSED_BYTES_MAX = 4 * 2 ** 20;
const REUSED_BYTES_FIRST = 64 * 2 ** 10;

let reused = new Uint8Array(REUSED_BYTES_FIRST);

/** Joins `[part,part,..]` of the first `count` parts. The bytes are valid until the next call. */
function joined(parts: readonly Rendered[], count: number): Uint8Array {
  let length = count === 0 ? 2 : count + 1;
  for (let i = 0; i < count; i++) length += parts[i]!.bytes.length;
  let out = reused;
  if (length > out.length) {
    out = new Uint8Array(Math.max(length, Math.min(2 * length, REUSED_BYTES_MAX)));
    if (out.length <= REUSED_BYTES_MAX) reused = out;
  }
  out[0] = OPEN_ARRAY;
  let at = 1;
  for (let i = 0; i < count; i++) {
    const part = parts[i]!.bytes;
    out.set(part, at);
    at += part.length;
    out[at++] = COMMA;
  }
  // The closing bracket replaces the last comma.
  out[length - 1] = CLOSE_ARRAY;
  return new Uint8Array(out.buffer, 0, length);
}
