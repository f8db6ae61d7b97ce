/**
 * Look-up of closed orders on disk. Ids that have left the engine's memory are still duplicates
 * (docs/protocol.md#duplicates), whose answer names their status.
 *
 * Damage throws; it never counts as an unknown id. The next start rebuilds the index from the rows.
 *
 * Thread: a worker, which renews and releases its LMDB snapshot by hand, because its event loop does not run between
 * batches; the I/O thread.
 */

import { ONLY_ORDER, orderIdAt, orderRowsOf, statusOfOrder } from '../../engine/reads.ts';
import { ID_WORDS } from '../../engine/tables/codes.ts';
import { Damage } from '../kv/checksum.ts';
import { type DerivedTables, openDerivedTables } from './derived.ts';
import { lookUp, type Run, RunState, readRuns } from './id-runs.ts';

export class StoredClosedOrders {
  private readonly tables: DerivedTables;

  constructor(tables: DerivedTables) {
    this.tables = tables;
  }

  find(id: Uint8Array, runs: readonly Run[] = this.runs()): Buffer | undefined {
    const { closedOrders, ids } = this.tables;
    const key = Buffer.from(id.buffer, id.byteOffset, id.length);
    const word = key.readUInt32BE(0);
    // The newest are read most often.
    let lost: number | undefined;
    for (let i = runs.length - 1; i >= 0; i--) {
      for (const sequence of lookUp(ids, runs[i]!, word)) {
        const row = closedOrders.get(sequence);
        if (row === undefined) lost = sequence;
        else if (isOf(row, key)) return row;
      }
    }
    // The row was in a damaged value, so the owner of its id is unknown.
    if (lost !== undefined) throw new Damage(`final state ${lost}`);
    return undefined;
  }

  /** Runs of orders that closed before a sequence; valid for one LMDB snapshot. */
  runs(before = Number.POSITIVE_INFINITY): readonly Run[] {
    return readRuns(this.tables.meta, RunState.live).filter(({ from }) => from < before);
  }
}

export interface ClosedOrdersReader {
  /** Renews the LMDB snapshot and limits it to orders that closed before a sequence. */
  refresh(before: number): void;
  /** Status (engine/tables/codes.ts) of the closed order with this id (32 bytes); 0 = unknown. */
  statusOf(id: Uint8Array): number;
  rowOf(id: Uint8Array): Buffer | undefined;
  fill(sequence: number): Buffer | undefined;
  /** Releases the LMDB snapshot. LMDB reuses no page of a held one, so its file grows with every commit. */
  release(): void;
}

/** Opened on first use: most nodes never forget an id. */
export function openClosedOrdersReader(dataDir: string): ClosedOrdersReader {
  let tables: DerivedTables | undefined;
  let closedOrders: StoredClosedOrders | undefined;
  let runs: readonly Run[] = [];
  let looksBefore = 0;
  const renew = (before: number): DerivedTables => {
    // Durability does not matter to a reader.
    tables ??= openDerivedTables(dataDir, { durability: 'flushed', readOnly: true });
    closedOrders ??= new StoredClosedOrders(tables);
    tables.root.resetReadTxn();
    runs = closedOrders.runs(before);
    looksBefore = before;
    return tables;
  };
  const rowOf = (id: Uint8Array): Buffer | undefined => closedOrders?.find(id, runs);
  return {
    refresh: (before) => void renew(before),
    rowOf,
    statusOf(id) {
      const row = rowOf(id);
      return row === undefined ? 0 : statusOfOrder(orderRowsOf(row), ONLY_ORDER);
    },
    // The fill may have been written since the last renewal.
    fill: (sequence) => tables?.fills.get(sequence) ?? renew(looksBefore).fills.get(sequence),
    release: () => tables?.root.resetReadTxn(),
  };
}

/** Rows have the id as words of the machine, ids are bytes. */
function isOf(row: Buffer, id: Buffer): boolean {
  for (let w = 0; w < ID_WORDS; w++) {
    if (row.readInt32LE(4 * (orderIdAt(ONLY_ORDER) + w)) !== id.readInt32BE(4 * w)) return false;
  }
  return true;
}
