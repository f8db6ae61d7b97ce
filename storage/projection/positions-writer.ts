/**
 * Derives positions from fills that are in LMDB, some thousand in a transaction (positions.ts has the
 * rows). A fill moves what two wallets have, and a mint or merge the open interest of its market.
 *
 * Thread: the follower, synchronously.
 */
import { crc32 } from 'node:zlib';
import { MatchKind } from '../../engine/tables/codes.ts';
import { Fill, TOKEN_I, Token } from '../../engine/tables/layout.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { PackedRows } from '../kv/packed.ts';
import {
  DAMAGED_ROW,
  decodeInterest,
  decodePosition,
  encodeInterest,
  encodePosition,
  interestKey,
  newPosition,
  type Position,
  tokenKey,
  trade,
  walletKey,
} from './position-rows.ts';
import { type PositionsMark, type PositionTables, putMark, readMark } from './positions.ts';

/**
 * Fills of one transaction: it holds what they move, two positions each at most. The more there are, the
 * more of them lie in one page.
 */
const FILLS_PER_COMMIT = 16_384;
/** The same where the disk is nearly full. */
const FILLS_PER_SMALL_COMMIT = 256;
/** Between two transactions, so that one takes many. */
const REST_MS = 250;
/**
 * And so many times as long as the last one took: where trades are spread over millions of positions, each
 * fill costs two pages of LMDB, and what else the follower derives must not wait for that.
 */
const REST_FACTOR = 4;
/** Of a fill: two positions, each with a key of its token. */
const ROWS_PER_FILL = 4;
const THERE = Buffer.from([1]);
/** More than any number of fills. */
const UNKNOWN = Number.POSITIVE_INFINITY;

/** Fills by their sequence, as they are stored. */
type Fills = Pick<PackedRows, 'get' | 'range'>;

/** A position that the fills at hand have moved. */
interface Moved {
  readonly key: Buffer;
  /** Of the table tokens, where the position is new. */
  readonly newKey: Buffer | undefined;
  readonly position: Position;
}

/** Thrown to leave the transaction: nothing of it is kept. */
class Damaged extends Error {}

export class PositionsWriter {
  private readonly t: Tables;
  private readonly tables: PositionTables;
  private readonly warn: (line: string) => void;
  private readonly requireFreeSpace: (rows: number) => void;
  /** As stored; undefined = nothing there is of this log, or can be used. */
  private mark: PositionsMark | undefined;
  /** Whether the mark is known to be of this log. */
  private isOurs = false;
  /** When the next transaction may be made, and whether fills wait for it. */
  private restsUntil = Number.NEGATIVE_INFINITY;
  private isWaiting = false;

  /** @param requireFreeSpace throws where the disk may have no room for a transaction of so many rows */
  constructor(
    t: Tables,
    tables: PositionTables,
    warn: (line: string) => void,
    requireFreeSpace: (rows: number) => void,
  ) {
    this.t = t;
    this.requireFreeSpace = requireFreeSpace;
    this.tables = tables;
    this.warn = warn;
  }

  /**
   * Derives some of the fills before `end`, which are in LMDB. False = there is nothing to do before more
   * of them are, or time passes. Throws what a failed write throws; what was not written is derived by the
   * next call.
   *
   * @param isReached whether all fills that there were at the start are before `end`
   * @param now steady milliseconds
   */
  step(fills: Fills, end: number, isReached: boolean, now: number): boolean {
    this.tables.root.resetReadTxn();
    const mark = readMark(this.tables);
    // A reader that found damage removed it.
    if (mark === undefined || mark.end !== this.mark?.end) this.isOurs = false;
    this.mark = mark;
    if (mark === undefined || this.isOfAnother(fills, end, isReached)) {
      this.begin(end, isReached);
      return true;
    }
    if (isReached && mark.complete === UNKNOWN) return this.putComplete({ ...mark, complete: end });
    this.isWaiting = this.isOurs && mark.end < end;
    if (!this.isWaiting || now < this.restsUntil) return false;
    const began = performance.now();
    const last = Math.min(end, mark.end + this.fillsPerCommit());
    try {
      this.derive(fills, mark, last);
    } catch (error) {
      if (!(error instanceof Damaged)) throw error;
      this.warn('positions: a stored row is damaged; all of them are derived again');
      this.begin(end, isReached);
    }
    this.rest(now, performance.now() - began);
    return true;
  }

  /** Milliseconds until what waits is due; Infinity = nothing waits. */
  patience(now: number): number {
    return this.isWaiting ? Math.max(0, this.restsUntil - now) : Number.POSITIVE_INFINITY;
  }

  close(): void {
    void this.tables.root.close();
  }

  private fillsPerCommit(): number {
    try {
      this.requireFreeSpace(ROWS_PER_FILL * FILLS_PER_COMMIT);
      return FILLS_PER_COMMIT;
    } catch {
      return FILLS_PER_SMALL_COMMIT;
    }
  }

  /** As long as nothing is told there is no time to lose. */
  private rest(now: number, took: number): void {
    const { mark } = this;
    const isComplete = mark !== undefined && mark.end >= mark.complete;
    this.restsUntil = now + (isComplete ? Math.max(REST_MS, (1 + REST_FACTOR) * took) : took);
  }

  /** Looks once whether the newest fill that was derived is one of this log's. */
  private isOfAnother(fills: Fills, end: number, isReached: boolean): boolean {
    const { isOurs, mark } = this;
    if (mark === undefined || isOurs) return false;
    if (mark.end > end) return isReached;
    if (mark.end > 0 && crcOf(fills, mark.end - 1) !== mark.crc) return true;
    this.isOurs = true;
    return false;
  }

  /** Throws all of it away. Answers are whole again once the fills that there are by now are derived. */
  private begin(end: number, isReached: boolean): void {
    const { tables } = this;
    this.requireFreeSpace(0);
    if (end > 0) this.warn(`positions: deriving fills 0 to ${end - 1}`);
    this.mark = { end: 0, complete: isReached ? end : UNKNOWN, crc: 0 };
    const { mark } = this;
    tables.root.transactionSync(() => {
      for (const table of [tables.wallets, tables.tokens, tables.interest]) table.clearSync();
      putMark(tables, mark);
    });
    this.isOurs = true;
  }

  /** It was begun before it was known how many fills there are. */
  private putComplete(mark: PositionsMark): true {
    this.requireFreeSpace(0);
    this.tables.root.transactionSync(() => putMark(this.tables, mark));
    this.mark = mark;
    return true;
  }

  private derive(fills: Fills, mark: PositionsMark, end: number): void {
    const { tables } = this;
    const next = { ...mark, end, crc: crcOf(fills, end - 1) };
    let missing = end - mark.end;
    this.requireFreeSpace(ROWS_PER_FILL * missing);
    tables.root.transactionSync(() => {
      const moved = new Map<number, Moved>();
      const minted = new Map<number, bigint>();
      for (const [, row] of fills.range(mark.end, end)) {
        this.count(row, moved, minted);
        missing -= 1;
      }
      for (const { key, newKey, position } of moved.values()) {
        void tables.wallets.put(key, encodePosition(key, position));
        if (newKey !== undefined) void tables.tokens.put(newKey, THERE);
      }
      for (const [market, shares] of minted) this.putInterest(market, shares);
      putMark(tables, next);
    });
    this.mark = next;
    if (missing > 0) this.warn(`positions: ${missing} fills are gone, and what they moved`);
  }

  /** Counts one fill: both wallets, and what its market has outstanding. */
  private count(row: Buffer, moved: Map<number, Moved>, minted: Map<number, bigint>): void {
    const word = (column: number): number => row.readInt32LE(4 * column);
    const double = (column: number): number => row.readDoubleLE(8 * column);
    const time = double(Fill.time);
    const size = BigInt(double(Fill.size));
    const fee = BigInt(double(Fill.fee));
    const kind = word(Fill.kind);
    const takerBuys = word(Fill.takerSide) === 0;
    const makerBuys = kind === MatchKind.complementary ? !takerBuys : takerBuys;
    const takerToken = word(Fill.takerToken);
    const taker = this.moved(moved, word(Fill.taker), takerToken);
    const paid = BigInt(double(Fill.takerCollateral));
    trade(taker, takerBuys, takerBuys ? size - fee : size, takerBuys ? paid : paid - fee);
    taker.time = time;
    const maker = this.moved(moved, word(Fill.maker), word(Fill.makerToken));
    trade(maker, makerBuys, size, BigInt(double(Fill.makerCollateral)));
    maker.time = time;
    if (kind === MatchKind.complementary) return;
    const shares = kind === MatchKind.mint ? size : -size;
    const market = this.t.tokenI[(takerToken << TOKEN_I) + Token.market]!;
    for (const of of [market, 0]) minted.set(of, (minted.get(of) ?? 0n) + shares);
  }

  private moved(all: Map<number, Moved>, account: number, token: number): Position {
    const at = account * 2 ** 24 + token;
    const known = all.get(at);
    if (known !== undefined) return known.position;
    const key = walletKey(token, account);
    const value = this.tables.wallets.get(key);
    const position = value === undefined ? newPosition() : decodePosition(key, value);
    if (position === DAMAGED_ROW) throw new Damaged();
    const newKey = value === undefined ? tokenKey(account, token) : undefined;
    all.set(at, { key, newKey, position });
    return position;
  }

  private putInterest(market: number, shares: bigint): void {
    const { interest } = this.tables;
    const key = interestKey(market);
    const value = interest.get(key);
    const before = value === undefined ? 0n : decodeInterest(key, value);
    if (before === DAMAGED_ROW) throw new Damaged();
    void interest.put(key, encodeInterest(key, before + shares));
  }
}

/** 0 for a fill that is not there. */
function crcOf(fills: Fills, fill: number): number {
  const value = fills.get(fill);
  return value === undefined ? 0 : crc32(value);
}
