/**
 * LMDB environment DATA_DIR/derived: what the follower makes of the log (follower.ts).
 *
 *   fills   fill sequence -> one fill, its row of the engine's ring
 *   finals  order id (32 bytes) -> the row of a finished order
 *   meta    position: format f64 | batch f64 | digest f64 | fills f64 | finished orders f64
 *
 * The position goes with the rows in one transaction, so the rows are those of its batch exactly.
 *
 * Thread: the follower writes; the I/O thread and the workers read. LMDB never sees shared memory: every
 * value is an ordinary Buffer.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  type BinaryTable,
  type Durability,
  openEnvironment,
  openSequence,
  openTable,
  type RootDatabase,
  type SequenceTable,
} from './lmdb.ts';
import { otherFormat } from './other-format.ts';

export interface DerivedTables {
  readonly root: RootDatabase<Buffer, string>;
  readonly fills: SequenceTable;
  readonly finals: BinaryTable;
  readonly meta: BinaryTable;
}

/** Up to where the log is derived. */
export interface DerivedPosition {
  readonly sequence: number;
  /** The engine's digest after that batch. */
  readonly digest: number;
  /** Fills before this one are there. */
  readonly fills: number;
  /** Orders that finished before this one are there. */
  readonly finished: number;
}

const META_POSITION = Buffer.from('position');
/** 3: its digest names orders by their ids, and rows of orders have a column more. */
const FORMAT = 3;
const POSITION_DOUBLES = 5;

export function openDerivedTables(
  dataDir: string,
  options: { readonly durability: Durability; readonly readOnly: boolean },
): DerivedTables {
  const path = join(dataDir, 'derived');
  if (!options.readOnly) mkdirSync(path, { recursive: true });
  const root = openEnvironment({ path, ...options });
  return {
    root,
    fills: openSequence(root, 'fills'),
    finals: openTable(root, 'finals'),
    meta: openTable(root, 'meta'),
  };
}

/** Throws an Error that names both formats where what is there is of another. */
export function positionOf({ meta }: DerivedTables): DerivedPosition {
  const stored = meta.get(META_POSITION);
  if (stored === undefined) return { sequence: 0, digest: 0, fills: 0, finished: 0 };
  const format = stored.readDoubleLE(0);
  if (format !== FORMAT || stored.length !== 8 * POSITION_DOUBLES) {
    throw new Error(`derived: ${otherFormat(format, FORMAT)}`);
  }
  return {
    sequence: stored.readDoubleLE(8),
    digest: stored.readDoubleLE(16),
    fills: stored.readDoubleLE(24),
    finished: stored.readDoubleLE(32),
  };
}

/** Only inside a transaction. */
export function putPosition({ meta }: DerivedTables, position: DerivedPosition): void {
  const { digest, fills, finished, sequence } = position;
  const value = Buffer.allocUnsafeSlow(8 * POSITION_DOUBLES);
  [FORMAT, sequence, digest, fills, finished].forEach((double, i) => {
    value.writeDoubleLE(double, 8 * i);
  });
  meta.put(META_POSITION, value);
}
