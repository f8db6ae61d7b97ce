/**
 * Stores of DATA_DIR: the log, snapshots, and LMDB environments. They open read-only where a write does not
 * reach the disk: a node on a full or read-only disk still serves reads (docs/protocol.md#retries).
 *
 * Thread: I/O. Not here: formats of the stores (storage).
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type CatalogStore, openCatalog } from '../../storage/catalog/catalog.ts';
import { ControlRecordStore } from '../../storage/control-records/control-record-store.ts';
import { makeDirectory } from '../../storage/files/make-directory.ts';
import { OtherFormat } from '../../storage/files/other-format.ts';
import type { Durability } from '../../storage/kv/lmdb.ts';
import { TruncatedFile } from '../../storage/kv/lmdb-file.ts';
import { FileLog } from '../../storage/log/file-log.ts';
import { type Log, LogDamage } from '../../storage/log/log.ts';
import {
  type DerivedTables,
  openDerivedTables,
  positionOf,
} from '../../storage/projection/derived.ts';
import { openProjections, type Projections } from '../../storage/projection/environment.ts';
import { SnapshotFiles } from '../../storage/snapshot/snapshots.ts';

export interface Stores {
  readonly log: Log;
  readonly snapshots: SnapshotFiles;
  /** Written by the projector, like `projections`. */
  readonly derived: DerivedTables;
  /** `undefined` where none exist and the disk is read-only. */
  readonly projections: Projections | undefined;
  readonly controlRecords: ControlRecordStore;
  readonly catalog: CatalogStore;
  close(): Promise<void>;
}

export interface StoreOptions {
  readonly dataDir: string;
  readonly durability: Durability;
  readonly segmentBytes: number;
  readonly log: (line: string) => void;
}

/** @returns problem: the reason why the stores are read-only */
export async function openStores(
  storeOptions: StoreOptions,
): Promise<{ readonly stores: Stores; readonly problem: string | undefined }> {
  let problem: string;
  try {
    makeDirectory(storeOptions.dataDir);
    return { stores: await open(storeOptions, false), problem: undefined };
  } catch (error) {
    const isUnreadable = [LogDamage, TruncatedFile, OtherFormat].some((of) => error instanceof of);
    if (isUnreadable) throw error;
    problem = (error as Error).message;
  }
  try {
    return { stores: await open(storeOptions, true), problem };
  } catch (error) {
    const detail = (error as Error).message;
    throw new Error(
      `DATA_DIR ${storeOptions.dataDir}: not writable (${problem}), not readable (${detail})`,
    );
  }
}

/** Opens all stores, or none. */
async function open(storeOptions: StoreOptions, readOnly: boolean): Promise<Stores> {
  const { dataDir } = storeOptions;
  const options = { durability: storeOptions.durability, readOnly };
  const opened: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const closeOne of opened.splice(0).reverse()) await closeOne();
  };
  try {
    refuseOlder(dataDir);
    const derived = openDerivedTables(dataDir, options);
    opened.push(() => derived.root.close());
    const controlRecords = new ControlRecordStore(dataDir, options);
    opened.push(() => controlRecords.close());
    const seen = [
      { sequence: positionOf(derived).sequence, by: 'derived/' },
      { sequence: controlRecords.position()?.sequence ?? 0, by: 'keys/' },
    ] as const;
    const [derivedTo, controlRecordsTo] = seen;
    const log = await FileLog.open({
      ...storeOptions,
      readOnly,
      seen: controlRecordsTo.sequence > derivedTo.sequence ? controlRecordsTo : derivedTo,
    });
    opened.push(() => log.close());
    if (!readOnly) await controlRecords.prove();
    const catalog = openCatalog(dataDir, options);
    opened.push(() => catalog.close());
    // Last: this may delete projections of another version.
    const projections = openProjections(dataDir, options, storeOptions.log);
    opened.push(async () => projections?.close());
    return {
      log,
      snapshots: new SnapshotFiles(dataDir, storeOptions.durability),
      derived,
      projections,
      controlRecords,
      catalog,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Throws OtherFormat for the journal of an older version; ignoring it would begin an empty exchange. */
function refuseOlder(dataDir: string): void {
  if (!existsSync(join(dataDir, 'journal'))) return;
  throw new OtherFormat(
    `DATA_DIR ${dataDir}: it holds the journal of an older version, this node reads a log of files; it ` +
      'has no way from one to the other: run the version that wrote it, or begin with another DATA_DIR',
  );
}
