/**
 * Read-only look at the final states of finished orders, for workers: ids that have left the
 * engine's memory are still duplicates (GAPS 3.5, rule 12).
 *
 * Thread: a worker. It never turns its event loop between tasks, so the snapshot that it reads is
 * renewed by hand. Opened on first use: most nodes never forget an id.
 */
import { type JournalTables, openJournalTables } from './journal.ts';

export interface FinalsReader {
  /** Looks at the newest state of the disk from here on. */
  refresh(): void;
  /** True when an order with this id (32 bytes) has a final state. */
  has(id: Uint8Array): boolean;
}

export function openFinalsReader(dataDir: string): FinalsReader {
  let tables: JournalTables | undefined;
  return {
    refresh: () => tables?.root.resetReadTxn(),
    has(id) {
      // Durability is of no concern to a reader.
      tables ??= openJournalTables(dataDir, { durability: 'flushed', readOnly: true });
      return tables.finals.doesExist(Buffer.from(id));
    },
  };
}
