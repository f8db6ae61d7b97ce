/**
 * Writes rows of the environment `history` for the I/O thread, which makes them (history.ts): its reads need what
 * they are made of, and must not wait for a disk.
 *
 * Thread: the follower, between its own transactions; the environment is opened with the first rows.
 */
import { join } from 'node:path';
import { requireFreeSpace } from '../files/disk-room.ts';
import type { Durability } from '../kv/lmdb.ts';
import { type HistoryRow, type HistoryTables, openHistoryTables, putRows } from './history.ts';

export class HistoryWrites {
  private readonly dataDir: string;
  private readonly durability: Durability;
  private tables: HistoryTables | undefined;

  constructor(dataDir: string, durability: Durability) {
    this.dataDir = dataDir;
    this.durability = durability;
  }

  /** One transaction, on disk when it returns: why it failed, or undefined. */
  write(rows: readonly HistoryRow[]): string | undefined {
    try {
      const { durability } = this;
      const path = join(this.dataDir, 'history');
      this.tables ??= openHistoryTables(path, { durability, readOnly: false });
      const { tables } = this;
      requireFreeSpace(this.dataDir, rows.length);
      tables.root.transactionSync(() => putRows(rows, tables));
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }

  close(): void {
    void this.tables?.root.close();
  }
}
