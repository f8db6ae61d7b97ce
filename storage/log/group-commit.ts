/**
 * Part of a log that does not depend on the place of its records. It checks the order of batches, has one write in
 * flight, and stops for good after the first failure. Batches that arrive during a write form the next one (group
 * commit). A log extends this class by write().
 *
 * Thread: the I/O thread.
 */
import assert from 'node:assert/strict';
import { type LogEntry, type NewEntry, OutcomeUnknown, WrongSequence } from './log.ts';

interface Waiting {
  readonly entries: readonly NewEntry[];
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

export interface LogPosition {
  readonly last: number;
  readonly digest: number;
}

export abstract class GroupCommit {
  last: number;
  digest: number;
  failure: Error | undefined;
  /** End of all appended batches, durable or not. */
  private appended: LogPosition;
  private waiting: Waiting[] = [];
  private isWriting = false;

  protected constructor({ last, digest }: LogPosition) {
    this.last = last;
    this.digest = digest;
    this.appended = { last, digest };
  }

  /** Resolves when the entries, which follow `this.last`, are as durable as the log promises. */
  protected abstract write(entries: readonly LogEntry[]): Promise<void>;

  append(entries: readonly NewEntry[], expected: number): Promise<void> {
    const { last } = this.appended;
    if (expected !== last) this.failure ??= new WrongSequence(expected, last);
    if (this.failure !== undefined) return Promise.reject(this.failure);
    this.appended = { last: expected + entries.length, digest: entries.at(-1)!.after };
    return this.queue(entries);
  }

  whenDurable(): Promise<void> {
    if (this.failure !== undefined) return Promise.reject(this.failure);
    return this.isWriting ? this.queue([]) : Promise.resolve();
  }

  private queue(entries: readonly NewEntry[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ entries, resolve, reject });
      if (!this.isWriting) void this.writeAll();
    });
  }

  /** Keeps appended entries waiting, as during a write. Returns false where something is written, or the log has failed. */
  protected hold(): boolean {
    if (this.isWriting || this.failure !== undefined) return false;
    this.isWriting = true;
    return true;
  }

  /** Ends hold(). @param after digest of the batch that another thread has written meanwhile */
  protected release(after: number | undefined): void {
    if (after !== undefined) {
      assert.equal(this.appended.last, this.last, 'nothing was appended before the lent place');
      this.last += 1;
      this.digest = after;
      this.appended = { last: this.last, digest: after };
    }
    this.isWriting = false;
    if (this.waiting.length > 0) void this.writeAll();
  }

  /** Returns the first failure. */
  protected fail(error: Error): Error {
    this.failure ??= failureOf(error);
    return this.failure;
  }

  private async writeAll(): Promise<void> {
    this.isWriting = true;
    while (this.waiting.length > 0) await this.writeWaiting();
    this.isWriting = false;
  }

  private async writeWaiting(): Promise<void> {
    const { waiting } = this;
    this.waiting = [];
    try {
      if (this.failure !== undefined) throw this.failure;
      const entries = this.linked(waiting);
      if (entries.length > 0) await this.write(entries);
      this.last += entries.length;
      this.digest = entries.at(-1)?.after ?? this.digest;
      for (const { resolve } of waiting) resolve();
    } catch (error) {
      const failure = this.fail(error as Error);
      for (const { reject } of waiting) reject(failure);
    }
  }

  private linked(waiting: readonly Waiting[]): LogEntry[] {
    const linked: LogEntry[] = [];
    let before = this.digest;
    for (const { entries } of waiting) {
      for (const { after, payload, sequence, time } of entries) {
        assert.equal(sequence, this.last + linked.length + 1, 'batches come in their order');
        linked.push({ sequence, time, before, after, payload });
        before = after;
      }
    }
    return linked;
  }
}

function failureOf(error: Error): Error {
  if (error instanceof WrongSequence || error instanceof OutcomeUnknown) return error;
  return new Error(`log: a write failed: ${error.message}`);
}
