/**
 * GET /trades: selected rows as JSON (SPEC 2 Trade, GAPS 8). Constant parts are copied, numbers
 * are written as digits, wallets and transaction hashes come from small caches, because each costs
 * a Keccak digest.
 *
 * A long answer is written in pieces with turns of the event loop between them: 10,000 rows whose
 * digests are all new would hold the thread for some 80 ms.
 *
 * Thread: I/O. Non-goals: the choice of rows (trades-select.ts), the query (trades-query.ts).
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ACCOUNT_I, Account, ADDRESS_WORDS } from '../../engine/layout.ts';
import type { Tables } from '../../engine/tables.ts';
import type { AccountSlot, TokenSlot } from '../../engine/units.ts';
import { DECIMAL_BYTES_MAX, writeInteger, writeMicro } from '../common/decimal.ts';
import { checksumAddress } from '../identity/checksum.ts';
import { transactionHash } from './match-ids.ts';
import { ascii, put, type TokenTexts } from './texts.ts';
import type { TradesIndex } from './trades-index.ts';
import type { TradesQuery } from './trades-query.ts';
import { ROW_DOUBLES, Row, TradesSelector } from './trades-select.ts';

/** Rows between two turns: some 8 ms when every digest is new, 2 ms when none is. */
const ROWS_PER_TURN = 1_000;

const WALLET = ascii('{"proxyWallet":"');
const PRICE = ascii(',"price":');
const TIMESTAMP = ascii(',"timestamp":');
const USDC_SIZE = ascii(',"usdcSize":');
const ROW_END = ascii('"},');
const OPEN = 0x5b;
const CLOSE = 0x5d;

const ADDRESS_TEXT_BYTES = 42;
const HASH_TEXT_BYTES = 64;
/** All of a row but its token's texts. */
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

/** Entries of a cache: more than the rows of six pages of the largest size; 4 MiB of text. */
const CACHE_ENTRIES = 2 ** 16;

/** Texts of one length by number; a newer number takes the place of one with equal low bits. */
class TextCache {
  private readonly keys = new Float64Array(CACHE_ENTRIES).fill(-1);
  private readonly texts: Buffer;
  private readonly length: number;
  private readonly make: (key: number) => string;

  constructor(length: number, make: (key: number) => string) {
    this.length = length;
    this.make = make;
    this.texts = Buffer.alloc(CACHE_ENTRIES * length);
  }

  /** Copies the text of `key` to `out`; the place after it. */
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

export class TradesRenderer {
  private readonly t: Tables;
  private readonly texts: TokenTexts;
  private readonly selector: TradesSelector;
  private readonly wallets: TextCache;
  private readonly hashes: TextCache;
  private readonly scratch = Buffer.alloc(4 * ADDRESS_WORDS);

  constructor(index: TradesIndex, texts: TokenTexts) {
    this.t = index.t;
    this.texts = texts;
    this.selector = new TradesSelector(index);
    this.wallets = new TextCache(ADDRESS_TEXT_BYTES, (key) => this.walletText(key as AccountSlot));
    this.hashes = new TextCache(HASH_TEXT_BYTES, (match) => transactionHash(match).slice(2));
  }

  /** The answer of GET /trades: the rows as they are at the call. */
  async render(query: TradesQuery): Promise<Buffer> {
    const rows = this.selector.select(query);
    const count = rows.length / ROW_DOUBLES;
    let out: Buffer = Buffer.allocUnsafe(2 + count * ROW_BYTES_USUAL);
    let at = 0;
    out[at++] = OPEN;
    for (let i = 0; i < count; i++) {
      if (i > 0 && i % ROWS_PER_TURN === 0) await nextTurn();
      const row = i * ROW_DOUBLES;
      const texts = this.texts.trade(rows[row + Row.token]! as TokenSlot);
      const ids = rows[row + Row.side] === 0 ? texts.buy : texts.sell;
      const needed = at + ids.length + texts.tail.length + OWN_BYTES_MAX;
      if (needed >= out.length) out = larger(out, at, needed);
      at = put(WALLET, out, at);
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
    }
    // The comma after the last row gives way to the bracket.
    if (count > 0) at -= 1;
    out[at++] = CLOSE;
    return out.subarray(0, at);
  }

  private walletText(account: AccountSlot): string {
    const from = (account << ACCOUNT_I) + Account.address;
    for (let w = 0; w < ADDRESS_WORDS; w++) {
      this.scratch.writeInt32BE(this.t.accountI[from + w]!, w * 4);
    }
    return checksumAddress(this.scratch);
  }
}

function larger(buffer: Buffer, used: number, needed: number): Buffer {
  const grown = Buffer.allocUnsafe(2 * needed);
  buffer.copy(grown, 0, 0, used);
  return grown;
}
