/** The real journal over a log whose appends end when the test says so: what is acknowledged when, without a disk. */
import assert from 'node:assert/strict';
import { Journal } from '../../storage/log/journal.ts';
import type { Log, LogEntry } from '../../storage/log/log.ts';

/** A journal whose appends begin, end and fail when the test says so; no disk is involved. */
export class Gate {
  readonly journal: Journal;
  inFlight = 0;
  /** Sequences of the batches of each append so far. */
  readonly appends: number[][] = [];
  /** Sequences of the batches whose append has ended well. */
  readonly flushed = new Set<number>();
  private readonly ends: { resolve: () => void; reject: (error: Error) => void }[] = [];

  constructor() {
    const log = {
      digest: 0,
      append: (entries: readonly LogEntry[], expected: number) => {
        assert.equal(expected, this.appends.at(-1)?.at(-1) ?? 0, 'after the last one');
        this.appends.push(entries.map(({ sequence }) => sequence));
        this.inFlight += 1;
        assert.equal(this.inFlight, 1, 'one append is in flight at most');
        return new Promise<void>((resolve, reject) => this.ends.push({ resolve, reject }));
      },
    };
    this.journal = new Journal(log as Partial<Log> as Log);
  }

  /** Ends the append in flight, and lets what follows from it happen. */
  async end(failure?: Error): Promise<void> {
    const end = this.ends.shift();
    assert(end !== undefined, 'an append is in flight');
    this.inFlight -= 1;
    if (failure === undefined) {
      for (const sequence of this.appends.at(-1)!) this.flushed.add(sequence);
      end.resolve();
    } else {
      end.reject(failure);
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}
