/**
 * The journal: LMDB environment DATA_DIR/journal.
 *
 *   batches  sequence -> one batch of commands (batch-record.ts)
 *   fills    fill sequence -> one fill, its row of the engine's ring (160 bytes)
 *   finals   order id (32 bytes) -> the row of a finished order (128 bytes)
 *   meta     name -> number or text
 *   keys     API keys (keys.ts)
 *
 * Thread: the I/O thread writes, in ticket order, with one transaction in flight; what arrives
 * meanwhile forms the next one (group commit). The first write that fails latches: nothing is
 * acknowledged after it. A worker may open it read-only to look up finished orders.
 */
import assert from 'node:assert/strict';
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
  writeFailure,
} from './lmdb.ts';

export interface JournalTables {
  readonly root: RootDatabase<Buffer, string>;
  readonly batches: SequenceTable;
  readonly fills: SequenceTable;
  readonly finals: BinaryTable;
  readonly meta: BinaryTable;
  readonly keys: BinaryTable;
}

export interface StoredFinal {
  readonly id: Buffer;
  readonly row: Buffer;
}

/** One applied batch on its way to disk. All buffers are ordinary and nobody touches them again. */
export interface JournalEntry {
  /** The engine's batch number. */
  readonly sequence: number;
  readonly record: Buffer;
  readonly firstFill: number;
  readonly fills: readonly Buffer[];
}

interface Waiting {
  readonly entry: JournalEntry | null;
  readonly done: (error: Error | undefined) => void;
}

const META_FINALS = Buffer.from('finals');
const META_FORMAT = Buffer.from('format');
const META_PROBE = Buffer.from('probe');
/** 3: digests name orders by their ids, because their rows differ. */
const FORMAT = 3;

/** Writes of one transaction that only moves final states: it must not hold up an order for long. */
export const FINALS_PER_COMMIT = 2_048;

export function openJournalTables(
  dataDir: string,
  options: { readonly durability: Durability; readonly readOnly?: boolean },
): JournalTables {
  const path = join(dataDir, 'journal');
  if (options.readOnly !== true) mkdirSync(path, { recursive: true });
  const root = openEnvironment({ path, ...options });
  return {
    root,
    batches: openSequence(root, 'batches'),
    fills: openSequence(root, 'fills'),
    finals: openTable(root, 'finals'),
    meta: openTable(root, 'meta'),
    keys: openTable(root, 'keys'),
  };
}

function numberOf(stored: Buffer | undefined): number {
  return stored === undefined ? 0 : stored.readDoubleLE(0);
}

function bufferOf(value: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(8);
  bytes.writeDoubleLE(value, 0);
  return bytes;
}

export class Journal {
  readonly tables: JournalTables;
  /** Set by the first write that failed; nothing is acknowledged after it. */
  failure: Error | undefined;
  /** Told of that failure, whatever the write was for: a batch, final states, a key. */
  onFailure: (error: Error) => void = () => undefined;
  private waiting: Waiting[] = [];
  /** Other transactions, each in its turn between two commits. */
  private others: (() => Promise<void>)[] = [];
  private busy = false;
  private idle: (() => void)[] = [];

  constructor(tables: JournalTables) {
    this.tables = tables;
  }

  /** Refuses a directory of another format, and proves that a write reaches the disk. */
  async prove(): Promise<void> {
    const { meta } = this.tables;
    const stored = meta.get(META_FORMAT);
    if (stored !== undefined && numberOf(stored) !== FORMAT) {
      throw new Error(
        `journal: its format is ${numberOf(stored)}, this node reads ${FORMAT}; it has no way from one ` +
          'to the other: run the version that wrote it, or begin with another DATA_DIR',
      );
    }
    await this.write(() => {
      if (stored === undefined) meta.put(META_FORMAT, bufferOf(FORMAT));
      // A page's worth, so that a full disk shows here and not under the first order.
      meta.put(META_PROBE, Buffer.alloc(4096, 1));
    });
  }

  /**
   * Appends a batch; calls `done` once it would survive a power cut, or with the failure. A batch
   * that changed nothing (null) is done when everything before it is, because its answers may tell
   * of what was changed before.
   */
  append(entry: JournalEntry | null, done: (error: Error | undefined) => void): void {
    if (this.failure !== undefined || (entry === null && !this.busy)) {
      done(this.failure);
      return;
    }
    this.waiting.push({ entry, done });
    if (!this.busy) void this.work();
  }

  /** Sequence up to which final states are on disk. */
  finalsFlushed(): number {
    return numberOf(this.tables.meta.get(META_FINALS));
  }

  /** Writes final states up to sequence `end`, as a transaction of its own. */
  async putFinals(finals: readonly StoredFinal[], end: number): Promise<void> {
    await this.transact(() => {
      for (const final of finals) this.tables.finals.put(final.id, final.row);
      this.tables.meta.put(META_FINALS, bufferOf(end));
    });
  }

  /** Runs a transaction of its own between commits; on disk when it resolves. */
  transact(puts: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.others.push(() =>
        (this.failure === undefined ? this.write(puts) : Promise.reject(this.failure)).then(
          resolve,
          reject,
        ),
      );
      if (!this.busy) void this.work();
    });
  }

  /** Removes batches up to `sequence`, a chunk at a time, between commits. */
  async trim(sequence: number): Promise<void> {
    const { batches } = this.tables;
    for (;;) {
      const keys = [...batches.getKeys({ end: sequence + 1, limit: FINALS_PER_COMMIT })];
      if (keys.length === 0 || this.failure !== undefined) return;
      await this.transact(() => {
        for (const key of keys) batches.remove(key);
      });
    }
  }

  /** Resolves when nothing is waiting or being written. */
  async drained(): Promise<void> {
    while (this.busy) {
      await new Promise<void>((resolve) => this.idle.push(resolve));
    }
  }

  async close(): Promise<void> {
    await this.drained();
    await this.tables.root.close();
  }

  /** Commits and other transactions, one at a time and by turns, until there is nothing to do. */
  private async work(): Promise<void> {
    this.busy = true;
    while (this.waiting.length > 0 || this.others.length > 0) {
      if (this.waiting.length > 0) await this.commit();
      await this.others.shift()?.();
    }
    this.busy = false;
    const idle = this.idle;
    this.idle = [];
    for (const resolve of idle) resolve();
  }

  /** Everything that waits, as one transaction: the group commit. */
  private async commit(): Promise<void> {
    const batch = this.waiting;
    this.waiting = [];
    const entries = batch.flatMap(({ entry }) => (entry === null ? [] : [entry]));
    try {
      if (this.failure === undefined) await this.putAll(entries);
    } catch {
      assert(this.failure !== undefined, 'a write that failed has latched');
    }
    for (const { done } of batch) done(this.failure);
  }

  private async putAll(entries: readonly JournalEntry[]): Promise<void> {
    if (entries.length === 0) return;
    const { batches, fills } = this.tables;
    await this.write(() => {
      for (const entry of entries) {
        assert(entry.record.buffer instanceof ArrayBuffer, 'LMDB is handed ordinary memory only');
        batches.put(entry.sequence, entry.record);
        entry.fills.forEach((fill, i) => {
          assert(fill.buffer instanceof ArrayBuffer, 'LMDB is handed ordinary memory only');
          fills.put(entry.firstFill + i, fill);
        });
      }
    });
  }

  /** One transaction, on disk when it resolves; the first failure latches. */
  private async write(puts: () => void): Promise<void> {
    try {
      await this.tables.root.batch(puts);
    } catch (error) {
      const text = await writeFailure(error);
      if (this.failure === undefined) {
        this.failure = new Error(`journal: a write failed: ${text}`);
        this.onFailure(this.failure);
      }
      throw this.failure;
    }
  }
}
