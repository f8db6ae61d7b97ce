/**
 * State of the control records in the LMDB environment DATA_DIR/keys, with the batch sequence that it reaches. The log
 * alone cannot rebuild it, because the log is trimmed.
 *
 *   keys   keys (key-rows.ts)
 *   meta   bans, the pause, watched wallets, names, profiles, seasons, the catalog in use, the position (meta-rows.ts); a probe
 *
 * Rows and position change in one transaction. Each row is read as the control record that set it.
 *
 * Thread: the I/O thread applies the log first (read-control-records.ts); from then on the projector writes.
 */
import { join } from 'node:path';
import { makeDirectory } from '../files/make-directory.ts';
import {
  type BinaryTable,
  type Durability,
  openEnvironment,
  openTable,
  openTogether,
  type RootDatabase,
  writeFailure,
} from '../kv/lmdb.ts';
import { type ControlRecord, idBytes, type KeyRow } from './control-records.ts';
import { decodeKeyRow, encodeKeyRow } from './key-rows.ts';
import {
  type ControlRecordPosition,
  decodePosition,
  encodePosition,
  metaRecordOf,
  metaRow,
  POSITION,
} from './meta-rows.ts';

const PROBE = Buffer.from('page');
/** Key of the probe of older versions, which wrote no position. */
const OLDER_PROBE = Buffer.from('probe');
const PAGE_BYTES = 4_096;

export class ControlRecordStore {
  private readonly keys: BinaryTable;
  private readonly meta: BinaryTable;
  private readonly root: RootDatabase<Buffer, string>;

  constructor(
    dataDir: string,
    options: { readonly durability: Durability; readonly readOnly: boolean },
  ) {
    const path = join(dataDir, 'keys');
    if (!options.readOnly) makeDirectory(path);
    this.root = openEnvironment({ path, ...options });
    const tables = ['keys', 'meta'] as const;
    const [keys, meta] = openTogether(this.root, options, () =>
      tables.map((name) => openTable(this.root, name)),
    );
    this.keys = keys!;
    this.meta = meta!;
  }

  /** `undefined` before the first batch. Throws an Error when the row is damaged. */
  position(): ControlRecordPosition | undefined {
    const value = this.meta.get(POSITION);
    return value === undefined ? undefined : decodePosition(value);
  }

  /** True when an older version wrote every row, so that the log holds none of them. */
  isOlder(): boolean {
    return this.position() === undefined && this.meta.get(OLDER_PROBE) !== undefined;
  }

  isNew(): boolean {
    return this.position() === undefined && !this.isOlder();
  }

  /** Every row as a control record. Throws an Error that names a damaged row. */
  *records(): Generator<ControlRecord> {
    for (const row of this.keyRows()) yield { about: 'key', row };
    for (const { key, value } of this.meta.getRange()) {
      const record = metaRecordOf(key, value);
      if (record !== undefined) yield record;
    }
  }

  /** Keys in the order of their ids. Throws an Error that names a damaged row. */
  *keyRows(): Generator<KeyRow> {
    this.root.resetReadTxn();
    for (const { key, value } of this.keys.getRange()) yield decodeKeyRow(key, value);
  }

  apply(records: readonly ControlRecord[], position: ControlRecordPosition): void {
    this.root.transactionSync(() => {
      for (const record of records) this.put(record);
      this.meta.putSync(POSITION, encodePosition(position));
    });
  }

  /** Writes one page to prove that the disk accepts writes. Rejects on a full disk. */
  async prove(): Promise<void> {
    try {
      await this.root.batch(() => void this.meta.put(PROBE, Buffer.alloc(PAGE_BYTES, 1)));
    } catch (error) {
      throw new Error(`keys: a write failed: ${await writeFailure(error)}`);
    }
  }

  close(): Promise<void> {
    return this.root.close();
  }

  private put(record: ControlRecord): void {
    if (record.about === 'key') {
      const key = idBytes(record.row.id);
      this.keys.putSync(key, encodeKeyRow(key, record.row));
      return;
    }
    if (record.about === 'handover') return;
    const { key, value } = metaRow(record);
    if (value === undefined) this.meta.removeSync(key);
    else this.meta.putSync(key, value);
  }
}

export async function withControlRecords<T>(
  dataDir: string,
  options: ConstructorParameters<typeof ControlRecordStore>[1],
  use: (store: ControlRecordStore) => T | Promise<T>,
): Promise<T> {
  const store = new ControlRecordStore(dataDir, options);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}
