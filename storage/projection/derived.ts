/**
 * LMDB environment DATA_DIR/derived: what the projector makes of the log (log-projector.ts).
 *
 *   fills   fills by their sequence, rows of the engine's ring (packed.ts)
 *   finals  closed orders in the order in which they ended, rows of the engine's (packed.ts)
 *   entries entries of the ledger by their number (entries.ts)
 *   ids     where among them an order is, by its id (id-runs.ts)
 *   meta    position: crc u32 | format u32 | batch f64 | digest f64 | fills f64 | finished orders f64,
 *           and where there is a ledger entries f64
 *           ids: the runs of the table ids
 *
 * The position goes with the rows in one transaction, so the rows are those of its batch exactly. Every
 * value has a checksum that covers its key.
 *
 * Thread: the projector writes; the I/O thread and the workers read. LMDB never sees shared memory: every
 * value is an ordinary Buffer.
 */
import { join } from 'node:path';
import { FILL_BYTES, ORDER_BYTES } from '../../engine/reads.ts';
import { makeDirectory } from '../files/make-directory.ts';
import { OtherFormat, otherFormat } from '../files/other-format.ts';
import { checksumMatches, withChecksum } from '../kv/checksum.ts';
import {
  type BinaryTable,
  type Durability,
  openEnvironment,
  openSequence,
  openTable,
  openTogether,
  type RootDatabase,
} from '../kv/lmdb.ts';
import { PackedRows } from '../kv/packed.ts';
import { ENTRY_BYTES } from './entries.ts';

export interface DerivedTables {
  readonly root: RootDatabase<Buffer, string>;
  readonly fills: PackedRows;
  readonly closedOrders: PackedRows;
  readonly entries: PackedRows;
  readonly ids: BinaryTable;
  readonly meta: BinaryTable;
}

/** End of the projected part of the log: a batch with its digest, and the ends of the stored sequences. */
export interface DerivedPosition {
  readonly sequence: number;
  readonly digest: number;
  readonly fills: number;
  readonly finished: number;
  readonly entries: number;
}

const META_POSITION = Buffer.from('position');
/** 4: rows in packed values, an index by id beside them, checksums. */
export const FORMAT = 4;
const POSITION_BYTES = 40;
const POSITION_BYTES_WITH_LEDGER = POSITION_BYTES + 8;

export function openDerivedTables(
  dataDir: string,
  options: { readonly durability: Durability; readonly readOnly: boolean },
): DerivedTables {
  const path = join(dataDir, 'derived');
  if (!options.readOnly) makeDirectory(path);
  const root = openEnvironment({ path, ...options });
  return openTogether(root, options, () => ({
    root,
    fills: new PackedRows(openSequence(root, 'fills'), 'fills', FILL_BYTES),
    closedOrders: new PackedRows(openSequence(root, 'finals'), 'final states', ORDER_BYTES),
    entries: new PackedRows(openSequence(root, 'entries'), 'entries', ENTRY_BYTES),
    ids: openTable(root, 'ids'),
    meta: openTable(root, 'meta'),
  }));
}

/** Throws an Error that names both formats, or the damage. */
export function positionOf({ meta }: DerivedTables): DerivedPosition {
  const stored = meta.get(META_POSITION);
  if (stored === undefined) return { sequence: 0, digest: 0, fills: 0, finished: 0, entries: 0 };
  // Until format 3 it began with the format as a double.
  const older = stored.length === POSITION_BYTES ? stored.readDoubleLE(0) : 0;
  const isOlder = Number.isInteger(older) && older > 0 && older < FORMAT;
  const format = isOlder ? older : stored.readUInt32LE(4);
  if (isOlder || (checksumMatches(META_POSITION, stored) && format !== FORMAT)) {
    throw new OtherFormat(`derived: ${otherFormat(format, FORMAT)}`);
  }
  const hasLedger = stored.length === POSITION_BYTES_WITH_LEDGER;
  const isOfLength = hasLedger || stored.length === POSITION_BYTES;
  if (!isOfLength || !checksumMatches(META_POSITION, stored)) {
    throw new Error(
      'derived: its position is damaged; remove DATA_DIR/derived, and what log and images hold is derived again',
    );
  }
  return {
    sequence: stored.readDoubleLE(8),
    digest: stored.readDoubleLE(16),
    fills: stored.readDoubleLE(24),
    finished: stored.readDoubleLE(32),
    entries: hasLedger ? stored.readDoubleLE(POSITION_BYTES) : 0,
  };
}

/** Call only inside a transaction. */
export function putPosition({ meta }: DerivedTables, position: DerivedPosition): void {
  const { digest, entries, fills, finished, sequence } = position;
  const hasLedger = entries > 0;
  const bytes = hasLedger ? POSITION_BYTES_WITH_LEDGER : POSITION_BYTES;
  const value = Buffer.allocUnsafeSlow(bytes);
  value.writeUInt32LE(FORMAT, 4);
  [sequence, digest, fills, finished].forEach((double, i) => {
    value.writeDoubleLE(double, 8 + 8 * i);
  });
  if (hasLedger) value.writeDoubleLE(entries, POSITION_BYTES);
  meta.put(META_POSITION, withChecksum(META_POSITION, value));
}
