/**
 * LMDB environment DATA_DIR/positions: what each wallet has by its fills here (position-rows.ts), and in
 * `meta` how far that has come:
 *
 *   position   crc u32 | format u32 | fills that are derived f64 | fills f64 that make the answers
 *              complete, Infinity = not known yet | crc u32 of the last one
 *
 * Rows and position go in one transaction, so no fill is counted twice or left out. All of it follows
 * from the fills: an environment that is missing, damaged, of another format or of another log is emptied
 * and derived again, and until that is done nothing of it is told.
 *
 * Thread: the follower writes (PositionsWriter); the I/O thread reads (PositionsReader).
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { checksumMatches, withChecksum } from '../kv/checksum.ts';
import {
  type BinaryTable,
  type Durability,
  openEnvironment,
  openTable,
  type RootDatabase,
} from '../kv/lmdb.ts';
import {
  DAMAGED_ROW,
  decodeInterest,
  decodePosition,
  interestKey,
  type Position,
  secondOf,
  tokenKey,
  walletKey,
} from './position-rows.ts';

export interface PositionTables {
  readonly root: RootDatabase<Buffer, string>;
  readonly wallets: BinaryTable;
  readonly tokens: BinaryTable;
  readonly interest: BinaryTable;
  readonly meta: BinaryTable;
}

/** Fills [0, end) are derived; what is told of them is whole from `complete` on. */
export interface PositionsMark {
  readonly end: number;
  readonly complete: number;
  /** Checksum of the last fill; 0 = none. */
  readonly crc: number;
}

interface Options {
  readonly durability: Durability;
  readonly readOnly: boolean;
}

const DIRECTORY = 'positions';
const FORMAT = 1;
const MARK = Buffer.from('position');
const MARK_BYTES = 28;
const U32_MAX = 2 ** 32 - 1;

export function openPositions(dataDir: string, options: Options): PositionTables {
  const path = join(dataDir, DIRECTORY);
  if (!options.readOnly) mkdirSync(path, { recursive: true });
  const root = openEnvironment({ path, ...options });
  return {
    root,
    wallets: openTable(root, 'wallets'),
    tokens: openTable(root, 'tokens'),
    interest: openTable(root, 'interest'),
    meta: openTable(root, 'meta'),
  };
}

/**
 * The first opening of a process: what cannot be opened is thrown away. Undefined = there is nothing, and
 * nothing may be made.
 */
export function openSoundPositions(dataDir: string, options: Options): PositionTables | undefined {
  try {
    return openPositions(dataDir, options);
  } catch {
    if (options.readOnly) return undefined;
    rmSync(join(dataDir, DIRECTORY), { recursive: true, force: true });
    return openPositions(dataDir, options);
  }
}

/** Undefined: it has not begun, or cannot be used. */
export function readMark({ meta }: PositionTables): PositionsMark | undefined {
  const value = meta.get(MARK);
  if (value?.length !== MARK_BYTES || !checksumMatches(MARK, value)) return undefined;
  if (value.readUInt32LE(4) !== FORMAT) return undefined;
  return {
    end: value.readDoubleLE(8),
    complete: value.readDoubleLE(16),
    crc: value.readUInt32LE(24),
  };
}

/** Only inside a transaction. */
export function putMark({ meta }: PositionTables, { complete, crc, end }: PositionsMark): void {
  const value = Buffer.allocUnsafeSlow(MARK_BYTES);
  value.writeUInt32LE(FORMAT, 4);
  value.writeDoubleLE(end, 8);
  value.writeDoubleLE(complete, 16);
  value.writeUInt32LE(crc, 24);
  void meta.put(MARK, withChecksum(MARK, value));
}

/** Of a log that holds nothing yet: all of them are derived. */
export function beginPositions(tables: PositionTables): void {
  if (readMark(tables) !== undefined) return;
  tables.root.transactionSync(() => putMark(tables, { end: 0, complete: 0, crc: 0 }));
}

/** A position and whose it is. */
export interface HeldPosition extends Position {
  readonly account: number;
  readonly token: number;
}

/** They have not been derived yet, or one of them is not what was written: all are derived again. */
export class PositionsUnready extends Error {
  override readonly message = 'positions: they are being derived';
}

/**
 * Looks at what is on disk; every call sees the newest of it. Whoever calls again and again, with turns of the
 * event loop between, is told where they were thrown away meanwhile.
 */
export class PositionsReader {
  private readonly tables: PositionTables | undefined;

  constructor(tables: PositionTables | undefined) {
    this.tables = tables;
  }

  /** Whether all fills of before the start of the derivation are in it. */
  isComplete(): boolean {
    const mark = this.tables && readMark(this.tables);
    return mark !== undefined && mark.end >= mark.complete;
  }

  /** What a wallet has of one token; undefined = it never traded it. Throws PositionsUnready. */
  of(account: number, token: number): HeldPosition | undefined {
    return this.find(this.ready(), account, token);
  }

  /** Positions of a wallet from `token` on, by token, `limit` at most. Throws PositionsUnready. */
  ofWallet(account: number, token: number, limit: number): HeldPosition[] {
    const tables = this.ready();
    const start = tokenKey(account, token);
    const end = tokenKey(account, U32_MAX);
    const keys = tables.tokens.getKeys({ start, end, limit });
    return Array.from(keys, (key) => {
      const position = this.find(tables, account, secondOf(key));
      if (position === undefined) throw this.damaged();
      return position;
    });
  }

  /** Positions in a token from `account` on, by account, `limit` at most. Throws PositionsUnready. */
  inToken(token: number, account: number, limit: number): HeldPosition[] {
    const start = walletKey(token, account);
    const end = walletKey(token, U32_MAX);
    const range = this.ready().wallets.getRange({ start, end, limit });
    return Array.from(range, ({ key, value }) => this.read(key, value));
  }

  /** Micro-shares minted less merged, of a market, or with 0 of all of them. Throws PositionsUnready. */
  interest(market: number): bigint {
    const key = interestKey(market);
    const value = this.ready().interest.get(key);
    const shares = value === undefined ? 0n : decodeInterest(key, value);
    if (shares === DAMAGED_ROW) throw this.damaged();
    return shares;
  }

  /** Tables that hold all of it: one turn of the event loop sees one state of the disk. */
  private ready(): PositionTables {
    if (this.tables === undefined || !this.isComplete()) throw new PositionsUnready();
    return this.tables;
  }

  private find(
    { wallets }: PositionTables,
    account: number,
    token: number,
  ): HeldPosition | undefined {
    const key = walletKey(token, account);
    const value = wallets.get(key);
    return value === undefined ? undefined : this.read(key, value);
  }

  private read(key: Buffer, value: Buffer): HeldPosition {
    const position = decodePosition(key, value);
    if (position === DAMAGED_ROW) throw this.damaged();
    return { token: key.readUInt32BE(0), account: secondOf(key), ...position };
  }

  /** Without a mark the follower begins anew. */
  private damaged(): PositionsUnready {
    const { tables } = this;
    try {
      void tables?.meta.remove(MARK).catch(() => undefined);
    } catch {
      // Opened for reading only: the first reader after a start that can write finds it again.
    }
    return new PositionsUnready();
  }
}
