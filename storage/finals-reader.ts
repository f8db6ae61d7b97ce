/**
 * Read-only look at the final states of finished orders, for workers: ids that have left the
 * engine's memory are still duplicates (GAPS 3.5, rule 12), whose answer names their status.
 *
 * Thread: a worker. It never turns its event loop between tasks, so the snapshot that it reads is
 * renewed by hand. Opened on first use: most nodes never forget an id.
 */
import { Flag, Order } from '../engine/layout.ts';
import { type DerivedTables, openDerivedTables } from './derived.ts';

export interface FinalsReader {
  /** Looks at the newest state of the disk from here on. */
  refresh(): void;
  /** Status (engine/layout.ts) of the finished order with this id (32 bytes); 0 = there is none. */
  statusOf(id: Uint8Array): number;
}

export function openFinalsReader(dataDir: string): FinalsReader {
  let tables: DerivedTables | undefined;
  return {
    refresh: () => tables?.root.resetReadTxn(),
    statusOf(id) {
      // Durability is of no concern to a reader.
      tables ??= openDerivedTables(dataDir, { durability: 'flushed', readOnly: true });
      const row = tables.finals.get(Buffer.from(id));
      return row === undefined ? 0 : (row.readInt32LE(4 * Order.flags) >>> Flag.statusShift) & 7;
    },
  };
}
