/**
 * The journal: applied batches on their way into the log (log/log.ts), in ticket order, one append in
 * flight; what arrives meanwhile forms the next one (group commit). The first append that fails latches:
 * nothing is acknowledged after it.
 *
 * Thread: the I/O thread.
 */
import assert from 'node:assert/strict';
import type { Log, LogEntry } from './log.ts';

/** One applied batch. Its record is ordinary memory that nobody touches again. */
export interface JournalEntry {
  /** The engine's batch number. */
  readonly sequence: number;
  /** Unix milliseconds given to the batch. */
  readonly time: number;
  /** The engine's digest after it. */
  readonly digest: number;
  /** As batch-record.ts encodes it. */
  readonly record: Buffer;
}

interface Waiting {
  readonly entry: JournalEntry | null;
  readonly done: (error: Error | undefined) => void;
}

export class Journal {
  /** Set by the first append that failed; nothing is acknowledged after it. */
  failure: Error | undefined;
  /** Told of that failure. */
  onFailure: (error: Error) => void = () => undefined;
  private readonly log: Log;
  private digest: number;
  private waiting: Waiting[] = [];
  private busy = false;
  private idle: (() => void)[] = [];

  constructor(log: Log) {
    this.log = log;
    this.digest = log.digest;
  }

  /**
   * Appends a batch; calls `done` once it is as durable as the log promises, or with the failure. A
   * batch that changed nothing (null) is done when everything before it is, because its answers may
   * tell of what was changed before.
   */
  append(entry: JournalEntry | null, done: (error: Error | undefined) => void): void {
    if (this.failure !== undefined || (entry === null && !this.busy)) {
      done(this.failure);
      return;
    }
    this.waiting.push({ entry, done });
    if (!this.busy) void this.work();
  }

  /** Resolves when nothing is waiting or being written. */
  async drained(): Promise<void> {
    while (this.busy) {
      await new Promise<void>((resolve) => this.idle.push(resolve));
    }
  }

  /** One append after the other until there is nothing to do. */
  private async work(): Promise<void> {
    this.busy = true;
    while (this.waiting.length > 0) await this.commit();
    this.busy = false;
    const { idle } = this;
    this.idle = [];
    for (const resolve of idle) resolve();
  }

  /** Everything that waits, in one append: the group commit. */
  private async commit(): Promise<void> {
    const { waiting } = this;
    this.waiting = [];
    const entries: LogEntry[] = [];
    for (const { entry } of waiting) {
      if (entry === null) continue;
      const { digest: after, record: payload, sequence, time } = entry;
      entries.push({ sequence, time, before: this.digest, after, payload });
      this.digest = after;
    }
    if (this.failure === undefined && entries.length > 0) await this.write(entries);
    for (const { done } of waiting) done(this.failure);
  }

  private async write(entries: readonly LogEntry[]): Promise<void> {
    try {
      const expected = entries[0]!.sequence - 1;
      entries.forEach(({ sequence }, i) => {
        assert(sequence === expected + 1 + i, 'batches come in their order');
      });
      await this.log.append(entries, expected);
    } catch (error) {
      this.failure = new Error(`journal: a write failed: ${(error as Error).message}`);
      this.onFailure(this.failure);
    }
  }
}
