/**
 * LMDB environment DATA_DIR/history: price buckets and volumes (history-rows.ts), and in `meta` how far
 * they have come:
 *
 *   position   crc u32 | format u32 | fills that are derived f64 | crc u32 of the last one
 *
 * All of it follows from the fills of the journal, so an environment that is missing, damaged, of
 * another format or of another journal is emptied and derived again. It is an environment of its own
 * because each has one write lock, and an order must not wait for these writes.
 *
 * Thread: the I/O thread, one transaction in flight. While a node serves, the follower's thread writes them
 * (history-writes.ts); before and after, this one. Always synchronously: with asynchronous writes a full disk
 * could end the process. A write that fails while the node serves is tried again until there is room for it;
 * before and after, it latches: nothing more is written, and the next start goes on from what there is.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeDirectory } from '../files/make-directory.ts';
import { checksumMatches, withChecksum } from '../kv/checksum.ts';
import {
  type BinaryTable,
  type Durability,
  openEnvironment,
  openTable,
  type RootDatabase,
} from '../kv/lmdb.ts';

export interface HistoryTables {
  readonly root: RootDatabase<Buffer, string>;
  readonly prices: BinaryTable;
  readonly totals: BinaryTable;
  readonly hours: BinaryTable;
  readonly meta: BinaryTable;
}

/** What is put is put into, in one transaction. */
export type HistorySink = Record<HistoryTable, HistoryPuts>;
export type HistoryTable = 'prices' | 'totals' | 'hours' | 'meta';
interface HistoryPuts {
  put(key: Buffer, value: Buffer): unknown;
  remove(key: Buffer): unknown;
}

/** A row to be put or, without a value, removed. */
export type HistoryRow = readonly [table: HistoryTable, key: Uint8Array, value?: Uint8Array];

/** Writes rows elsewhere, in one transaction; resolves to why it could not, or to undefined. */
export type HistoryHand = (rows: readonly HistoryRow[]) => Promise<string | undefined>;

/** Fills [0, end) are derived; `crc` is the checksum of the last of them. */
export interface HistoryPosition {
  readonly end: number;
  readonly crc: number;
}

export interface HistoryOptions {
  readonly durability: Durability;
  readonly readOnly: boolean;
  /** Milliseconds until a write that failed is tried again. */
  readonly retryMs?: number;
}

const RETRY_MS = 1_000;
const FORMAT = 1;
const POSITION = Buffer.from('position');
const POSITION_BYTES = 20;

export class HistoryStore {
  /** Undefined: nothing can be kept, what is derived stays in memory. */
  tables: HistoryTables | undefined;
  /** Why what there was could not be opened, and begins anew. */
  damage: string | undefined;
  /** Who writes; undefined = this thread. */
  hand: HistoryHand | undefined;
  /** Why nothing is written any more. */
  failure: string | undefined;
  /** Told why a write failed that will be tried again; and undefined when it went through. */
  onWait: (problem: string | undefined) => void = () => undefined;
  private readonly path: string;
  private readonly options: HistoryOptions;

  constructor(dataDir: string, options: HistoryOptions) {
    this.path = join(dataDir, 'history');
    this.options = options;
    if (options.readOnly) this.failure = 'the data directory cannot be written';
    try {
      this.tables = this.open();
    } catch (error) {
      this.damage = (error as Error).message;
      this.tables = this.fresh();
    }
  }

  /** How far it has come; undefined = it has not begun, or cannot be used. */
  position(): HistoryPosition | undefined {
    const value = this.tables?.meta.get(POSITION);
    if (value?.length !== POSITION_BYTES || !checksumMatches(POSITION, value)) return undefined;
    if (value.readUInt32LE(4) !== FORMAT) return undefined;
    return { end: value.readDoubleLE(8), crc: value.readUInt32LE(16) };
  }

  /** Only inside write(). */
  putPosition({ crc, end }: HistoryPosition, into: HistorySink): void {
    const value = Buffer.allocUnsafeSlow(POSITION_BYTES);
    value.writeUInt32LE(FORMAT, 4);
    value.writeDoubleLE(end, 8);
    value.writeUInt32LE(crc, 16);
    into.meta.put(POSITION, withChecksum(POSITION, value));
  }

  /** Throws all of it away; where nothing may be written, what there is is not looked at any more. */
  async empty(): Promise<void> {
    await this.close();
    this.tables = this.fresh();
  }

  /** Writes nothing more; the next start finds no position, and derives all of it again. */
  async condemn(): Promise<void> {
    await this.write(({ meta }) => void meta.remove(POSITION));
    this.failure ??= 'a stored row is damaged';
  }

  /** One transaction, on disk when it resolves; false = it failed, or an earlier one. */
  async write(puts: (into: HistorySink) => void): Promise<boolean> {
    const { hand, tables } = this;
    if (tables === undefined || this.failure !== undefined) return false;
    const failure =
      hand === undefined ? writeHere(tables, puts) : await this.handed(tables, rowsOf(puts));
    this.failure ??= failure;
    return failure === undefined;
  }

  /** What is put is not put again by its owner, so it waits for room, for as long as another thread writes. */
  private async handed(
    tables: HistoryTables,
    rows: readonly HistoryRow[],
  ): Promise<string | undefined> {
    for (let hasWaited = false; ; hasWaited = true) {
      const { hand } = this;
      if (hand === undefined) return writeHere(tables, (into) => putRows(rows, into));
      const problem = await hand(rows);
      if (problem === undefined) {
        if (hasWaited) this.onWait(undefined);
        return undefined;
      }
      if (!hasWaited) this.onWait(problem);
      await sleep(this.options.retryMs ?? RETRY_MS);
    }
  }

  async close(): Promise<void> {
    await this.tables?.root.close();
    this.tables = undefined;
  }

  private open(): HistoryTables {
    if (!this.options.readOnly) makeDirectory(this.path);
    return openHistoryTables(this.path, this.options);
  }

  private fresh(): HistoryTables | undefined {
    if (this.options.readOnly) return undefined;
    try {
      rmSync(this.path, { recursive: true, force: true });
      return this.open();
    } catch (error) {
      this.failure = (error as Error).message;
      return undefined;
    }
  }
}

export function openHistoryTables(
  path: string,
  options: { readonly durability: Durability; readonly readOnly: boolean },
): HistoryTables {
  const root = openEnvironment({ path, ...options });
  return {
    root,
    prices: openTable(root, 'prices'),
    totals: openTable(root, 'totals'),
    hours: openTable(root, 'hours'),
    meta: openTable(root, 'meta'),
  };
}

/** Why it failed, or undefined. */
function writeHere(tables: HistoryTables, puts: (into: HistorySink) => void): string | undefined {
  try {
    tables.root.transactionSync(() => puts(tables));
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Only inside a transaction. */
export function putRows(rows: readonly HistoryRow[], into: HistorySink): void {
  for (const [table, key, value] of rows) {
    if (value === undefined) into[table].remove(bufferOf(key));
    else into[table].put(bufferOf(key), bufferOf(value));
  }
}

/** What has come from another thread is no Buffer any more. */
function bufferOf({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}

/** What would be put, as rows for another thread. */
function rowsOf(puts: (into: HistorySink) => void): HistoryRow[] {
  const rows: HistoryRow[] = [];
  const recorder = (table: HistoryTable): HistoryPuts => ({
    put: (key, value) => rows.push([table, key, value]),
    remove: (key) => rows.push([table, key]),
  });
  puts({
    prices: recorder('prices'),
    totals: recorder('totals'),
    hours: recorder('hours'),
    meta: recorder('meta'),
  });
  return rows;
}
