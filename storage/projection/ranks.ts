/**
 * Boards: rows ordered by a score, the highest first.
 *
 *   ranks   board u8 | period u8 | number of the period u32 | 2^127 - score, 128 bits | account u32 | token u32
 *           (big-endian) -> crc u32 | bytes of the board
 *
 * Boards of past periods are removed.
 *
 * Thread: the projector writes; the I/O thread reads (reader.ts).
 */
import { CRC_BYTES, checksumMatches, withChecksum } from '../kv/checksum.ts';
import { type BinaryTable, openTable, type RootDatabase } from '../kv/lmdb.ts';
import { PERIODS, type Period } from './periods.ts';
import { checkRows, DamagedRow } from './projection.ts';

export const Board = { profit: 0, volume: 1, wins: 2, brier: 3 } as const;
export type BoardCode = (typeof Board)[keyof typeof Board];

/** One board of one period. */
export interface BoardOf {
  readonly board: BoardCode;
  readonly period: Period;
  /** Number of the period (periods.ts). */
  readonly number: number;
}

export interface Place {
  readonly score: bigint;
  readonly account: number;
  /** 0 on boards of wallets. */
  readonly token: number;
}

export interface PlacedRow extends Place {
  /** Bytes that the board stored with the row. */
  readonly bytes: Buffer;
}

/** @internal Tests name the table. */
export const RANKS = 'ranks';

const NUMBER_AT = 2;
const SCORE_AT = 6;
const ACCOUNT_AT = 22;
const TOKEN_AT = 26;
const KEY_BYTES = 30;
const TOP = 1n << 127n;
const WORD = (1n << 64n) - 1n;
const NOTHING = Buffer.alloc(0);
/** Rows that one transaction removes from past periods. */
const PRUNED_MAX = 16_384;

export class Ranks {
  private readonly rows: BinaryTable;

  constructor(root: RootDatabase<Buffer, string>) {
    this.rows = openTable(root, RANKS);
  }

  put(of: BoardOf, place: Place, bytes = NOTHING): void {
    const key = keyOf(of, place);
    const value = Buffer.allocUnsafeSlow(CRC_BYTES + bytes.length);
    bytes.copy(value, CRC_BYTES);
    void this.rows.put(key, withChecksum(key, value));
  }

  remove(of: BoardOf, place: Place): void {
    void this.rows.remove(keyOf(of, place));
  }

  has(of: BoardOf, place: Place): boolean {
    return this.rows.get(keyOf(of, place)) !== undefined;
  }

  /** Removes some rows of the periods before this one. */
  prune({ board, number, period }: BoardOf): void {
    const range = {
      start: edge({ board, period, number: 0 }),
      end: edge({ board, period, number }),
      limit: PRUNED_MAX,
    };
    for (const key of [...this.rows.getKeys(range)]) void this.rows.remove(key);
  }

  /** Rows after a place, or from the first on, `limit` at most. Throws DamagedRow. */
  page(of: BoardOf, after: Place | undefined, limit: number): PlacedRow[] {
    const start = after === undefined ? edge(of) : keyOf(of, after);
    const end = edge({ ...of, number: of.number + 1 });
    const found: PlacedRow[] = [];
    const skipped = after === undefined ? 0 : 1;
    for (const { key, value } of this.rows.getRange({ start, end, limit: limit + skipped })) {
      if (after !== undefined && key.equals(start)) continue;
      if (found.length === limit) break;
      found.push(read(key, value));
    }
    return found;
  }

  /** Number of rows with a higher score, `limit` at most. Reads no row. */
  countAbove(of: BoardOf, score: bigint, limit: number): number {
    const range = { start: edge(of), end: keyOf(of, { score, account: 0, token: 0 }) };
    // A count has no limit of its own.
    const [next] = this.rows.getKeys({ ...range, offset: limit, limit: 1 });
    return next === undefined ? this.rows.getKeysCount(range) : limit;
  }

  clear(): void {
    this.rows.clearSync();
  }

  /** Number of rows. Throws an Error that names a damaged one. */
  check(): number {
    return checkRows(RANKS, this.rows);
  }
}

function edge({ board, number, period }: BoardOf): Buffer {
  const key = Buffer.allocUnsafeSlow(SCORE_AT);
  key.writeUInt8(board, 0);
  key.writeUInt8(PERIODS.indexOf(period), 1);
  key.writeUInt32BE(number, NUMBER_AT);
  return key;
}

function keyOf(of: BoardOf, { account, score, token }: Place): Buffer {
  const key = Buffer.allocUnsafeSlow(KEY_BYTES);
  edge(of).copy(key);
  const inverted = TOP - score;
  key.writeBigUInt64BE(inverted >> 64n, SCORE_AT);
  key.writeBigUInt64BE(inverted & WORD, SCORE_AT + 8);
  key.writeUInt32BE(account, ACCOUNT_AT);
  key.writeUInt32BE(token, TOKEN_AT);
  return key;
}

function read(key: Buffer, value: Buffer): PlacedRow {
  if (key.length !== KEY_BYTES || !checksumMatches(key, value)) throw new DamagedRow('boards');
  const inverted = (key.readBigUInt64BE(SCORE_AT) << 64n) | key.readBigUInt64BE(SCORE_AT + 8);
  return {
    score: TOP - inverted,
    account: key.readUInt32BE(ACCOUNT_AT),
    token: key.readUInt32BE(TOKEN_AT),
    bytes: value.subarray(CRC_BYTES),
  };
}
