/** The real journal over a store that completes writes when the test says so: what is acknowledged when, without a disk. */
import assert from 'node:assert/strict';
import { Journal } from '../../storage/journal.ts';
import type { RootDatabase } from '../../storage/lmdb.ts';

/** A journal whose transactions begin, end and fail when the test says so; no disk is involved. */
export class Gate {
  readonly journal: Journal;
  inFlight = 0;
  /** Sequences of the batches of each transaction so far. */
  readonly transactions: number[][] = [];
  /** Sequences of the batches whose transaction has ended well. */
  readonly flushed = new Set<number>();
  private readonly ends: { resolve: () => void; reject: (error: Error) => void }[] = [];

  constructor() {
    const puts: number[] = [];
    const root = {
      batch: (write: () => void) => {
        puts.length = 0;
        write();
        this.transactions.push([...puts]);
        this.inFlight += 1;
        assert.equal(this.inFlight, 1, 'one transaction is in flight at most');
        return new Promise<void>((resolve, reject) => this.ends.push({ resolve, reject }));
      },
    } as unknown as RootDatabase<Buffer, string>;
    const table = { put: () => undefined };
    const batches = { put: (sequence: number) => void puts.push(sequence) };
    const tables = { root, batches, fills: table, finals: table, meta: table, keys: table };
    this.journal = new Journal(tables as unknown as ConstructorParameters<typeof Journal>[0]);
  }

  /** Ends the transaction in flight, and lets what follows from it happen. */
  async end(failure?: Error): Promise<void> {
    const end = this.ends.shift();
    assert(end !== undefined, 'a transaction is in flight');
    this.inFlight -= 1;
    if (failure === undefined) {
      for (const sequence of this.transactions.at(-1)!) this.flushed.add(sequence);
      end.resolve();
    } else {
      end.reject(failure);
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}
