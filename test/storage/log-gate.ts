import assert from 'node:assert/strict';
import { GroupCommit } from '../../storage/log/group-commit.ts';
import type { Log, LogEntry } from '../../storage/log/log.ts';

/** Writes begin, end and fail when the test says so; no disk is involved. */
export class Gate extends GroupCommit {
  readonly log = this as Partial<Log> as Log;
  inFlight = 0;
  readonly writes: number[][] = [];
  readonly flushed = new Set<number>();
  private readonly ends: { resolve: () => void; reject: (error: Error) => void }[] = [];

  constructor() {
    super({ last: 0, digest: 0 });
  }

  protected write(entries: readonly LogEntry[]): Promise<void> {
    assert.equal(this.last, this.writes.at(-1)?.at(-1) ?? 0, 'after the last one');
    this.writes.push(entries.map(({ sequence }) => sequence));
    this.inFlight += 1;
    assert.equal(this.inFlight, 1, 'one write is in flight at most');
    return new Promise<void>((resolve, reject) => this.ends.push({ resolve, reject }));
  }

  /** Ends the current write, and lets its consequences happen. */
  async end(failure?: Error): Promise<void> {
    const end = this.ends.shift();
    assert(end !== undefined, 'a write is in flight');
    this.inFlight -= 1;
    if (failure === undefined) {
      for (const sequence of this.writes.at(-1)!) this.flushed.add(sequence);
      end.resolve();
    } else {
      end.reject(failure);
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}
