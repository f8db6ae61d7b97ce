/**
 * GET /trades: selected rows as JSON. A rendered row is cached with the catalog's fields of its
 * market; a fill never changes. To render a row, constant parts are copied and numbers are written
 * as digits. Wallets and transaction hashes come from small caches, because each costs a Keccak
 * digest. Rules: docs/protocol.md#public-trades
 *
 * A long answer is written in pieces with turns of the event loop between them, and so is a shorter
 * one with many new rows: 10,000 rows with new digests would block the thread for some 80 ms. The
 * rows of such an answer are read first, in pieces too: it shows what is in the window when the
 * last of them has been read.
 *
 * Thread: I/O. Non-goals: selecting rows (trades-select.ts), the query (trades-schemas.ts).
 */

import { addressAt, tokenMarket } from '../../engine/reads.ts';
import { ADDRESS_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { AccountRow, MarketRow, TokenRow } from '../../engine/tables/units.ts';
import { checksumAddress } from '../auth/checksum.ts';
import { DECIMAL_BYTES_MAX, writeInteger, writeMicro } from '../common/decimal.ts';
import { nextIteration } from '../common/event-loop.ts';
import { CLOSE_ARRAY, OPEN_ARRAY } from '../common/json-measure.ts';
import { transactionHash } from './match-ids.ts';
import { ascii, type MarketInfo, put, type TokenTexts } from './texts.ts';
import type { TradesIndex } from './trades-index.ts';
import type { TradesQuery } from './trades-schemas.ts';
import { ROW_DOUBLES, Row, TradesSelector } from './trades-select.ts';

const READ_PER_TURN = 1_024;
/** Rows copied without a pause. A new row counts for as many: it needs digests and perhaps a look-up of its market. */
const COPIED_PER_TURN = 1_024;
const NEW_COUNTS = 32;

const WALLET = ascii('{"proxyWallet":"');
const PRICE = ascii(',"price":');
const TIMESTAMP = ascii(',"timestamp":');
const USDC_SIZE = ascii(',"usdcSize":');
const ROW_END = ascii('"},');
const OBJECT_END = ascii('},');

const ADDRESS_TEXT_BYTES = 42;
const HASH_TEXT_BYTES = 64;
const OWN_BYTES_MAX =
  WALLET.length +
  PRICE.length +
  TIMESTAMP.length +
  USDC_SIZE.length +
  ROW_END.length +
  ADDRESS_TEXT_BYTES +
  HASH_TEXT_BYTES +
  4 * DECIMAL_BYTES_MAX;
const ROW_BYTES_USUAL = 768;

/**
 * Cached rows, each in a cell of its own: as many as three of the largest pages. A row has 550 bytes and the texts of
 * its market. A row that does not fit a cell is rendered each time.
 */
const CELLS = 2 ** 15;
const CELL_BYTES = 1_280;
const BLOCK_CELLS = 2 ** 9;
/** Largest page buffer that is reused. */
const PAGE_BYTES_MAX = 2 ** 20;

/** Entries of a cache: more than the rows of six pages of the largest size; 4 MiB of text. */
const CACHE_ENTRIES = 2 ** 16;

/** Texts of one length by number. A newer number replaces one with equal low bits. */
class TextCache {
  private readonly keys = new Float64Array(CACHE_ENTRIES).fill(-1);
  private readonly texts: Buffer;
  private readonly length: number;
  private readonly make: (key: number) => string;

  constructor(length: number, make: (key: number) => string) {
    this.length = length;
    this.make = make;
    this.texts = Buffer.from(new SharedArrayBuffer(CACHE_ENTRIES * length));
  }

  put(key: number, out: Uint8Array, at: number): number {
    const entry = key & (CACHE_ENTRIES - 1);
    const { length, texts } = this;
    const from = entry * length;
    if (this.keys[entry] !== key) {
      texts.write(this.make(key), from, 'latin1');
      this.keys[entry] = key;
    }
    for (let i = 0; i < length; i++) out[at + i] = texts[from + i]!;
    return at + length;
  }
}

/** Rendered rows by their key. A newer row replaces one with equal low bits. */
class RowCache {
  private readonly keys = new Float64Array(CELLS).fill(-1);
  private readonly infos: (MarketInfo | undefined)[] = new Array(CELLS).fill(undefined);
  private readonly rows: (Uint8Array | undefined)[] = new Array(CELLS).fill(undefined);
  /**
   * Allocated on first use, because 40 MB at once make a start collect garbage. Not shared memory: copying from
   * shared memory takes four times as long.
   */
  private readonly blocks: (Uint8Array | undefined)[] = new Array(CELLS / BLOCK_CELLS).fill(
    undefined,
  );

  find(key: number, info: MarketInfo | undefined): Uint8Array | undefined {
    const cell = key & (CELLS - 1);
    return this.keys[cell] === key && this.infos[cell] === info ? this.rows[cell] : undefined;
  }

  add(key: number, info: MarketInfo | undefined, row: Uint8Array): void {
    if (row.length > CELL_BYTES) return;
    const cell = key & (CELLS - 1);
    const from = (cell % BLOCK_CELLS) * CELL_BYTES;
    const place = Math.floor(cell / BLOCK_CELLS);
    const block = this.blocks[place] ?? new Uint8Array(BLOCK_CELLS * CELL_BYTES);
    this.blocks[place] = block;
    block.set(row, from);
    this.keys[cell] = key;
    this.infos[cell] = info;
    this.rows[cell] = block.subarray(from, from + row.length);
  }
}

interface Page {
  bytes: Buffer;
  used: number;
}

export class TradesRenderer {
  private readonly tables: Tables;
  private readonly texts: TokenTexts;
  private selector: TradesSelector;
  private readonly wallets: TextCache;
  private readonly hashes: TextCache;
  private readonly cache = new RowCache();
  private readonly scratch = Buffer.alloc(4 * ADDRESS_WORDS);
  private page: Page = { bytes: Buffer.alloc(ROW_BYTES_USUAL), used: 0 };
  private readonly row = new Float64Array(ROW_DOUBLES);

  constructor(index: TradesIndex, texts: TokenTexts) {
    this.tables = index.tables;
    this.texts = texts;
    this.selector = new TradesSelector(index);
    this.wallets = new TextCache(ADDRESS_TEXT_BYTES, (key) => this.walletText(key as AccountRow));
    this.hashes = new TextCache(HASH_TEXT_BYTES, (match) => transactionHash(match).slice(2));
  }

  /**
   * Renders the rows as they are at the call, without those that leave the window before a long answer is read. Bytes
   * that are returned at once are valid until the next answer; later ones belong to the caller.
   */
  render(query: TradesQuery): Buffer | Promise<Buffer> {
    const { row, selector } = this;
    const walk = selector.select(query);
    if (walk.next().done !== true) return this.renderLater(walk);
    const { found: count, keys } = selector;
    const { page } = this;
    page.used = 1;
    let done = count > COPIED_PER_TURN ? count : 0;
    let infoMarket: MarketRow | 0 = 0;
    let info: MarketInfo | undefined;
    for (let i = 0; i < count; i++) {
      if (done >= COPIED_PER_TURN) return this.renderLong(keys.slice(0, count));
      done += 1;
      const key = keys[i]!;
      const market = selector.market(key);
      // Neighbours are often of one market.
      if (market !== infoMarket) {
        infoMarket = market;
        info = this.texts.info(market);
      }
      if (this.copy(page, key, info)) continue;
      done += NEW_COUNTS;
      if (!selector.read(key, row, 0)) return this.render(query);
      this.write(page, key, info, row, 0);
    }
    if (page.bytes.length > PAGE_BYTES_MAX) {
      this.page = { bytes: Buffer.alloc(ROW_BYTES_USUAL), used: 0 };
    }
    return closed(page);
  }

  /** Renders with a selector of its own, because the walk continues while other requests are served. */
  private async renderLater(walk: Generator<void, void>): Promise<Buffer> {
    const { selector } = this;
    this.selector = new TradesSelector(selector.index);
    do await nextIteration();
    while (walk.next().done !== true);
    return this.renderLong(selector.keys.slice(0, selector.found));
  }

  private async renderLong(keys: Float64Array): Promise<Buffer> {
    const { selector } = this;
    const rows = new Float64Array(keys.length * ROW_DOUBLES);
    let count = 0;
    for (; count < keys.length; count++) {
      if (count % READ_PER_TURN === 0) await nextIteration();
      // The oldest rows leave the window first, and they are last in the answer.
      if (!selector.read(keys[count]!, rows, count * ROW_DOUBLES)) break;
    }
    // The rows of the same match that were already read are dropped with them.
    const { first } = selector.index;
    while (count > 0 && rows[(count - 1) * ROW_DOUBLES + Row.match]! < first) count -= 1;
    return this.renderRows(keys.subarray(0, count), rows);
  }

  /**
   * Renders rows that have been read, with the given text in place of the end of each. The bytes belong to the
   * caller. All rows show the catalog generation of the first one.
   * @param rows ROW_DOUBLES numbers for each of the keys
   * @param other text of a row whose key is below 0, which is no trade; its first number is at the argument
   */
  async renderRows(
    keys: ArrayLike<number>,
    rows: Float64Array,
    end: Uint8Array = OBJECT_END,
    other?: (row: number) => Uint8Array,
  ): Promise<Buffer> {
    const count = keys.length;
    // Few rows are longer than a cell. To copy megabytes to a larger page would take milliseconds.
    const page = { bytes: Buffer.allocUnsafe(2 + count * CELL_BYTES), used: 1 };
    const infos = this.texts.pinnedLookup();
    let done = 0;
    for (let i = 0; i < count; i++) {
      if (done >= COPIED_PER_TURN) {
        done = 0;
        await nextIteration();
      }
      const row = i * ROW_DOUBLES;
      if (keys[i]! < 0) {
        append(page, other!(row));
        done += NEW_COUNTS;
        continue;
      }
      const token = rows[row + Row.token]! as TokenRow;
      const info = infos(tokenMarket(this.tables, token));
      done += 1;
      if (!this.copy(page, keys[i]!, info)) {
        this.write(page, keys[i]!, info, rows, row);
        done += NEW_COUNTS;
      }
      if (end === OBJECT_END) continue;
      if (page.used + end.length > page.bytes.length) grow(page, end.length);
      page.used = put(end, page.bytes, page.used - OBJECT_END.length);
    }
    return closed(page);
  }

  private copy(page: Page, key: number, info: MarketInfo | undefined): boolean {
    const row = this.cache.find(key, info);
    if (row === undefined) return false;
    append(page, row);
    return true;
  }

  private write(
    page: Page,
    key: number,
    info: MarketInfo | undefined,
    rows: Float64Array,
    row: number,
  ): void {
    const texts = this.texts.trade(rows[row + Row.token]! as TokenRow, info);
    const ids = rows[row + Row.side] === 0 ? texts.buy : texts.sell;
    const bytesMax = ids.length + texts.tail.length + OWN_BYTES_MAX;
    if (page.used + bytesMax > page.bytes.length) grow(page, bytesMax);
    const out = page.bytes;
    let at = put(WALLET, out, page.used);
    at = this.wallets.put(rows[row + Row.account]!, out, at);
    at = put(ids, out, at);
    at = writeMicro(rows[row + Row.size]!, out, at);
    at = put(PRICE, out, at);
    at = writeMicro(rows[row + Row.price]!, out, at);
    at = put(TIMESTAMP, out, at);
    at = writeInteger(Math.floor(rows[row + Row.time]! / 1_000), out, at);
    at = put(USDC_SIZE, out, at);
    at = writeMicro(rows[row + Row.collateral]!, out, at);
    at = put(texts.tail, out, at);
    at = this.hashes.put(rows[row + Row.match]!, out, at);
    at = put(ROW_END, out, at);
    this.cache.add(key, info, out.subarray(page.used, at));
    page.used = at;
  }

  private walletText(account: AccountRow): string {
    const from = addressAt(account);
    for (let w = 0; w < ADDRESS_WORDS; w++) {
      this.scratch.writeInt32BE(this.tables.accountI[from + w]!, w * 4);
    }
    return checksumAddress(this.scratch);
  }
}

function closed(page: Page): Buffer {
  const { bytes } = page;
  const end = Math.max(1, page.used - 1);
  bytes[0] = OPEN_ARRAY;
  bytes[end] = CLOSE_ARRAY;
  return bytes.subarray(0, end + 1);
}

function append(page: Page, row: Uint8Array): void {
  if (page.used + row.length > page.bytes.length) grow(page, row.length);
  page.used = put(row, page.bytes, page.used);
}

function grow(page: Page, more: number): void {
  const grown = Buffer.allocUnsafeSlow(2 * (page.used + more));
  page.bytes.copy(grown, 0, 0, page.used);
  page.bytes = grown;
}
