/**
 * Looks at the final states of finished orders: ids that have left the engine's memory are still
 * duplicates (docs/protocol.md#duplicates), whose answer names their status.
 *
 * What is damaged is never taken for "there is no such order": it throws. The next start makes the index
 * again from the rows.
 *
 * Thread: a worker, which renews its snapshot and lets go of it by hand because its event loop has no turn
 * between batches; the I/O thread.
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

  /**
   * Row of the finished order with this id (32 bytes), or undefined.
   *
   * @param runs where to look, as runs() says
   */
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
    // It went with a value that was damaged and is made again: whose it was nobody can say.
    if (lost !== undefined) throw new Damage(`final state ${lost}`);
    return undefined;
  }

  /** Where orders are that finished before a sequence; good for one snapshot. */
  runs(before = Number.POSITIVE_INFINITY): readonly Run[] {
    return readRuns(this.tables.meta, RunState.live).filter(({ from }) => from < before);
  }
}

export interface ClosedOrdersReader {
  /** Looks at the newest state of the disk from here on, at orders that finished before a sequence. */
  refresh(before: number): void;
  /** Status (engine/tables/codes.ts) of the finished order with this id (32 bytes); 0 = there is none. */
  statusOf(id: Uint8Array): number;
  /** Its row of the order table. */
  rowOf(id: Uint8Array): Buffer | undefined;
  /** A fill by its sequence, a row of the engine's ring; undefined where it is not on disk. */
  fill(sequence: number): Buffer | undefined;
  /**
   * Lets go of the state of the disk that was looked at: until then LMDB uses no page of it again, and
   * its file grows with every commit.
   */
  release(): void;
}

/** Opened on first use: most nodes never forget an id. */
export function openClosedOrdersReader(dataDir: string): ClosedOrdersReader {
  let tables: DerivedTables | undefined;
  let closedOrders: StoredClosedOrders | undefined;
  let runs: readonly Run[] = [];
  let looksBefore = 0;
  const renew = (before: number): DerivedTables => {
    // Durability is of no concern to a reader.
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
    // It may have come to the disk since.
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
