/**
 * A second implementation of the log's contract, in memory: what a log elsewhere would be to a node. Two
 * writers may open one store; the one that is behind is refused. An append ends when the test says so,
 * or at once.
 */
import {
  type Log,
  LogDamage,
  type LogEntry,
  type LogReader,
  WrongSequence,
} from '../../storage/log/log.ts';

/** What the writers and readers of one log share. */
export interface FakeStore {
  entries: LogEntry[];
}

export class FakeLog implements Log {
  onRoom: (problem: string | undefined) => void = () => undefined;
  last: number;
  digest: number;
  readonly store: FakeStore;
  private failure: Error | undefined;

  constructor(store: FakeStore) {
    this.store = store;
    this.last = store.entries.at(-1)?.sequence ?? 0;
    this.digest = store.entries.at(-1)?.after ?? 0;
  }

  get first(): number {
    return this.store.entries[0]?.sequence ?? 0;
  }

  async append(entries: readonly LogEntry[], expected: number): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    if (expected !== (this.store.entries.at(-1)?.sequence ?? 0)) {
      this.failure = new WrongSequence(expected, this.store.entries.at(-1)?.sequence ?? 0);
      throw this.failure;
    }
    await new Promise((resolve) => setImmediate(resolve));
    for (const entry of entries) {
      this.store.entries.push({ ...entry, payload: Buffer.from(entry.payload) });
    }
    this.last = expected + entries.length;
    this.digest = entries.at(-1)?.after ?? this.digest;
  }

  read(from: number): LogReader {
    const { store } = this;
    if (this.first > from) {
      throw new LogDamage(
        `batch ${from} is not there any more, it begins with batch ${this.first}`,
      );
    }
    let sequence = from;
    return {
      next(end) {
        if (sequence > end) return undefined;
        const found = store.entries.find((entry) => entry.sequence === sequence);
        if (found === undefined) throw new LogDamage(`batch ${sequence}: it is missing`);
        sequence += 1;
        return found;
      },
      close: () => undefined,
    };
  }

  trim(sequence: number): Promise<void> {
    const { entries } = this.store;
    this.store.entries = entries.filter((entry, i) => {
      return entry.sequence > sequence || i === entries.length - 1;
    });
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
