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
 * Thread: the I/O thread, one transaction in flight. The first write that fails latches: nothing more
 * is written, and the next start goes on from what there is.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  type BinaryTable,
  type Durability,
  openEnvironment,
  openTable,
  type RootDatabase,
  writeFailure,
} from './lmdb.ts';
import { makeDirectory } from './make-directory.ts';
import { isWhole, sealed } from './sealed.ts';

interface HistoryTables {
  readonly root: RootDatabase<Buffer, string>;
  readonly prices: BinaryTable;
  readonly totals: BinaryTable;
  readonly hours: BinaryTable;
  readonly meta: BinaryTable;
}

/** Fills [0, end) are derived; `crc` is the checksum of the last of them. */
export interface HistoryPosition {
  readonly end: number;
  readonly crc: number;
}

const FORMAT = 1;
const POSITION = Buffer.from('position');
const POSITION_BYTES = 20;

export class HistoryStore {
  /** Undefined: nothing can be kept, what is derived stays in memory. */
  tables: HistoryTables | undefined;
  /** Why what there was could not be opened, and begins anew. */
  damage: string | undefined;
  /** Why nothing is written any more. */
  failure: string | undefined;
  private readonly path: string;
  private readonly options: { readonly durability: Durability; readonly readOnly: boolean };

  constructor(
    dataDir: string,
    options: { readonly durability: Durability; readonly readOnly: boolean },
  ) {
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
    if (value?.length !== POSITION_BYTES || !isWhole(POSITION, value)) return undefined;
    if (value.readUInt32LE(4) !== FORMAT) return undefined;
    return { end: value.readDoubleLE(8), crc: value.readUInt32LE(16) };
  }

  /** Only inside write(). */
  putPosition({ crc, end }: HistoryPosition): void {
    const value = Buffer.allocUnsafeSlow(POSITION_BYTES);
    value.writeUInt32LE(FORMAT, 4);
    value.writeDoubleLE(end, 8);
    value.writeUInt32LE(crc, 16);
    this.tables?.meta.put(POSITION, sealed(POSITION, value));
  }

  /** Throws all of it away; where nothing may be written, what there is is not looked at any more. */
  async empty(): Promise<void> {
    await this.close();
    this.tables = this.fresh();
  }

  /** Writes nothing more; the next start finds no position, and derives all of it again. */
  async condemn(): Promise<void> {
    const { tables } = this;
    if (tables === undefined || this.failure !== undefined) return;
    this.failure = 'a stored row is damaged';
    await tables.root.batch(() => tables.meta.remove(POSITION)).catch(() => undefined);
  }

  /** One transaction, on disk when it resolves; false = it failed, or an earlier one. */
  async write(puts: (tables: HistoryTables) => void): Promise<boolean> {
    const { tables } = this;
    if (tables === undefined || this.failure !== undefined) return false;
    try {
      await tables.root.batch(() => puts(tables));
      return true;
    } catch (error) {
      this.failure = await writeFailure(error);
      return false;
    }
  }

  async close(): Promise<void> {
    await this.tables?.root.close();
    this.tables = undefined;
  }

  private open(): HistoryTables {
    if (!this.options.readOnly) makeDirectory(this.path);
    const root = openEnvironment({ path: this.path, ...this.options });
    return {
      root,
      prices: openTable(root, 'prices'),
      totals: openTable(root, 'totals'),
      hours: openTable(root, 'hours'),
      meta: openTable(root, 'meta'),
    };
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
