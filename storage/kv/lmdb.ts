/**
 * Single entry point to the package lmdb. It opens environments and passes every option that
 * decides durability, so that no default of the package can weaken an acknowledgement. The package is loaded with the
 * first environment: most workers never open one.
 *
 * Thread: the I/O thread opens for writing; workers and command-line tools may open read-only.
 */
import { createRequire } from 'node:module';
import type * as Lmdb from 'lmdb';
import type { Database, RootDatabase } from 'lmdb';
import { checkDataFile } from './lmdb-file.ts';

export type { Database, RootDatabase } from 'lmdb';

/** Meaning of a resolved write: on disk (survives a power cut), or in the page cache only. */
export type Durability = 'flushed' | 'committed';

export interface EnvironmentOptions {
  readonly path: string;
  readonly durability: Durability;
  readonly readOnly?: boolean;
}

const require = createRequire(import.meta.url);

/** Address space reserved per environment; the file grows sparsely up to it. */
const MAP_BYTES_MAX = 2 ** 38;

/** Throws an Error; a TruncatedFile when the data file lacks pages. */
export function openEnvironment(options: EnvironmentOptions): RootDatabase<Buffer, string> {
  checkDataFile(options.path);
  return openUnchecked(options);
}

/** Without the checks, for the process that tests whether the environment can be read. */
export function openUnchecked(options: EnvironmentOptions): RootDatabase<Buffer, string> {
  return loaded().open<Buffer, string>({
    path: options.path,
    encoding: 'binary',
    compression: false,
    cache: false,
    maxDbs: 24,
    mapSize: MAP_BYTES_MAX,
    overlappingSync: false,
    // Event-turn batching creates a promise of its own, which rejects without a handler when a
    // commit fails. Writes that belong together go into one batch() instead.
    eventTurnBatching: false,
    noSync: options.durability === 'committed',
    noMemInit: true,
    readOnly: options.readOnly ?? false,
  });
}

/** Loads by `require`, which takes half as long as `import`. */
function loaded(): typeof Lmdb {
  // All values are binary: the native half of its encoder would only take time to load.
  process.env.MSGPACKR_NATIVE_ACCELERATION_DISABLED ??= 'true';
  return require('lmdb') as typeof Lmdb;
}

/** Opens tables in one transaction. Otherwise each one that is new waits for the disk. */
export function openTogether<T>(
  root: RootDatabase<Buffer, string>,
  { readOnly }: Pick<EnvironmentOptions, 'readOnly'>,
  open: () => T,
): T {
  return readOnly === true ? open() : root.transactionSync(open);
}

/** A named table of binary values under whole-number keys below 2^53, kept in key order. */
export function openSequence(root: RootDatabase<Buffer, string>, name: string): SequenceTable {
  return root.openDB<Buffer, number>({ name, encoding: 'binary', keyEncoding: 'ordered-binary' });
}

export function openTable(root: RootDatabase<Buffer, string>, name: string): BinaryTable {
  return root.openDB<Buffer, Buffer>({ name, encoding: 'binary', keyEncoding: 'binary' });
}

export type SequenceTable = Database<Buffer, number>;
export type BinaryTable = Database<Buffer, Buffer>;

/** Longest wait for the reason of a failed commit, because the package may never report it. */
const REASON_MS_MAX = 100;

/**
 * Reason of a failed write. A failed commit rejects a second, hidden promise next to the one that the package
 * returned. Without a handler that rejection would end the process.
 */
export async function writeFailure(error: unknown): Promise<string> {
  const text = error instanceof Error ? error.message : String(error);
  const hidden = (error as { readonly commitError?: unknown } | null)?.commitError;
  if (!(hidden instanceof Promise)) return text;
  const reason: Promise<string> = hidden.then(
    () => text,
    (cause: unknown) => (cause instanceof Error ? cause.message : String(cause)),
  );
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(text), REASON_MS_MAX);
  });
  const found = await Promise.race([reason, patience]);
  clearTimeout(timer);
  return found;
}
