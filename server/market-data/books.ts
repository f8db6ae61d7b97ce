/**
 * POST /books: order books rendered from engine memory (GAPS 7). A rendered book is kept with the
 * version it shows, so that an unchanged one costs a look-up.
 *
 * Thread: I/O, while workers write. Non-goals: parsing of the request, parking it.
 */
import { createHash } from 'node:crypto';
import {
  bookVersion,
  Depth,
  type DepthSide,
  marketFlags,
  marketOf,
  readDepth,
} from '../../engine/depth.ts';
import { MarketFlag, TOKEN_I, Token } from '../../engine/layout.ts';
import type { Tables } from '../../engine/tables.ts';
import {
  PIPS_PER_UNIT,
  type Ticks,
  type TicksPerUnit,
  type TokenSlot,
} from '../../engine/units.ts';
import {
  DECIMAL_BYTES_MAX,
  writeInteger,
  writeMicro,
  writePips,
  writeTicks,
} from '../common/decimal.ts';
import { ascii, put, type TokenTexts } from './texts.ts';

/** The side that a request names: BUY = the bids only, SELL = the asks only, '' = both. */
export type BookSide = '' | 'BUY' | 'SELL';

/** A writer is inside a book for microseconds, unless it is descheduled there (DESIGN, Reads). */
export const READ_TRIES = 4;

/**
 * Rendered books that are kept; beyond it all are forgotten at once. A busy node holds some
 * thousands of books of a few kilobytes; a client that walks every token must not fill the memory.
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
/** Everything but the levels: two ids, five numbers, the names of the members. */
const REST_BYTES_MAX = 1_024;

const OPEN = 0x5b;
const CLOSE = 0x5d;
const COMMA = 0x2c;

interface CachedBook {
  readonly version: number;
  readonly bytes: Buffer;
}

export class BookRenderer {
  readonly texts: TokenTexts;
  readonly t: Tables;
  private readonly depth = new Depth();
  private readonly mirror = new Depth();
  /** Every level of a book is a bid or an ask, so both sides share one grid of prices. */
  private readonly scratch = Buffer.alloc(REST_BYTES_MAX + LEVEL_BYTES_MAX * PIPS_PER_UNIT);
  private readonly cache = new Map<number, CachedBook>();
  private cachedBytes = 0;

  constructor(tables: Tables, texts: TokenTexts) {
    this.t = tables;
    this.texts = texts;
  }

  /**
   * The JSON of one token's book. With a side, the other array is empty and the hash is that of
   * the object as sent.
   *
   * @returns undefined when a writer was inside at every try: ask again after the next batch
   */
  render(token: TokenSlot, side: BookSide = ''): Buffer | undefined {
    const cached = this.cached(token, side);
    if (cached !== undefined) return cached;
    for (let tries = 0; tries < READ_TRIES; tries++) {
      if (readDepth(this.t, token, this.depth)) return this.write(token, side, this.depth);
    }
    return undefined;
  }

  /** Both books of a pair at one version, so that one is the mirror image of the other. */
  renderPair(
    token: TokenSlot,
    side: BookSide,
    complement: TokenSlot,
    complementSide: BookSide,
  ): readonly [Buffer, Buffer] | undefined {
    const { depth, mirror, t } = this;
    const cached = this.cached(token, side);
    const cachedMirror = this.cached(complement, complementSide);
    if (cached !== undefined && cachedMirror !== undefined) return [cached, cachedMirror];
    for (let tries = 0; tries < READ_TRIES; tries++) {
      const isRead = readDepth(t, token, depth) && readDepth(t, complement, mirror);
      if (!isRead || depth.version !== mirror.version) continue;
      return [this.write(token, side, depth), this.write(complement, complementSide, mirror)];
    }
    return undefined;
  }

  /** While a writer is inside, the state before its command is still the last settled one. */
  private cached(token: TokenSlot, side: BookSide): Buffer | undefined {
    const book = this.cache.get(cacheKey(token, side));
    return book?.version === (bookVersion(this.t, token) & ~1) ? book?.bytes : undefined;
  }

  private write(token: TokenSlot, side: BookSide, depth: Depth): Buffer {
    const bytes = this.copy(token, side, depth);
    this.keep(cacheKey(token, side), { version: depth.version, bytes });
    return bytes;
  }

  /** The object of a depth that is not, or no longer, the engine's: it is not kept. */
  copy(token: TokenSlot, side: BookSide, depth: Depth): Buffer {
    const { scratch, t } = this;
    const grid = depth.ticksPerUnit as TicksPerUnit;
    // In the key order that the hash demands.
    let at = put(this.texts.bookHead(token), scratch, 0);
    at = writeInteger(depth.changedAt, scratch, at);
    at = put(AFTER_TIMESTAMP, scratch, at);
    const hashAt = at;
    at = put(BIDS, scratch, hashAt + HASH_BYTES);
    if (side !== 'SELL') at = writeLevels(depth.bids, grid, scratch, at);
    at = put(ASKS, scratch, at);
    if (side !== 'BUY') at = writeLevels(depth.asks, grid, scratch, at);
    at = put(MIN_ORDER_SIZE, scratch, at);
    at = writeMicro(depth.minSize, scratch, at);
    at = put(TICK_SIZE, scratch, at);
    at = writeTicks(1 as Ticks, grid, scratch, at);
    const isNegRisk = (marketFlags(t, marketOf(t, token)) & MarketFlag.negRisk) !== 0;
    at = put(isNegRisk ? NEG_RISK : NOT_NEG_RISK, scratch, at);
    if (depth.lastPrice !== 0) at = writePips(depth.lastPrice, scratch, at);
    at = put(END, scratch, at);
    // The hash is over the object with an empty hash: the two parts around its place.
    const hash = createHash('sha1').update(scratch.subarray(0, hashAt));
    hash.update(scratch.subarray(hashAt + HASH_BYTES, at));
    scratch.write(hash.digest('hex'), hashAt, 'latin1');
    return Buffer.from(scratch.subarray(0, at));
  }

  private keep(key: number, book: CachedBook): void {
    this.cachedBytes += book.bytes.length - (this.cache.get(key)?.bytes.length ?? 0);
    if (this.cachedBytes > CACHE_BYTES_MAX) {
      this.cache.clear();
      this.cachedBytes = book.bytes.length;
    }
    this.cache.set(key, book);
  }
}

function cacheKey(token: TokenSlot, side: BookSide): number {
  return token * 3 + (side === '' ? 0 : side === 'BUY' ? 1 : 2);
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
  // The comma after the last level gives way to what follows.
  return side.count === 0 ? at : at - 1;
}

/**
 * The answer of POST /books: known tokens in request order, each once, at its first position.
 * Repetitions of a token that name different sides get both (GAPS 7 is silent). Two books of a
 * pair are of one version (GAPS 12).
 *
 * @returns undefined when some book could not be read: ask again after the next batch
 */
export function renderBooks(
  renderer: BookRenderer,
  tokens: readonly string[],
  sides: readonly BookSide[],
): Buffer | undefined {
  const wanted = new Map<TokenSlot, BookSide>();
  for (let i = 0; i < tokens.length; i++) {
    const token = renderer.texts.find(tokens[i]!);
    if (token === 0) continue;
    const before = wanted.get(token);
    const side = sides[i] ?? '';
    wanted.set(token, before === undefined || before === side ? side : '');
  }
  const books = new Map<TokenSlot, Buffer>();
  for (const [token, side] of wanted) {
    const complement = complementOf(renderer.t, token);
    const complementSide = complement === 0 ? undefined : wanted.get(complement);
    if (books.has(token)) continue;
    if (complement === 0 || complementSide === undefined) {
      const book = renderer.render(token, side);
      if (book === undefined) return undefined;
      books.set(token, book);
    } else {
      const pair = renderer.renderPair(token, side, complement, complementSide);
      if (pair === undefined) return undefined;
      books.set(token, pair[0]).set(complement, pair[1]);
    }
  }
  let length = 2;
  for (const book of books.values()) length += book.length + 1;
  const out = Buffer.allocUnsafe(length);
  let at = 0;
  out[at++] = OPEN;
  for (const token of wanted.keys()) {
    if (at > 1) out[at++] = COMMA;
    at = put(books.get(token)!, out, at);
  }
  out[at++] = CLOSE;
  return out.subarray(0, at);
}

/** The other token of a mirrored pair; 0 = none. */
function complementOf(t: Tables, token: TokenSlot): TokenSlot | 0 {
  return t.tokenI[(token << TOKEN_I) + Token.complement]! as TokenSlot | 0;
}
