/**
 * A second implementation of the log's contract, in memory. Two writers may open one store; the one
 * that is behind is refused. An append ends when the test says so, or at once.
 */
import { GroupCommit } from '../../storage/log/group-commit.ts';
import {
  type Log,
  LogDamage,
  type LogEntry,
  type LogReader,
  WrongSequence,
} from '../../storage/log/log.ts';

export interface FakeStore {
  entries: LogEntry[];
}

export class FakeLog extends GroupCommit implements Log {
  onRoom: (problem: string | undefined) => void = () => undefined;
  readonly store: FakeStore;

  constructor(store: FakeStore) {
    const end = store.entries.at(-1);
    super({ last: end?.sequence ?? 0, digest: end?.after ?? 0 });
    this.store = store;
  }

  get first(): number {
    return this.store.entries[0]?.sequence ?? 0;
  }

  protected async write(entries: readonly LogEntry[]): Promise<void> {
    const end = this.store.entries.at(-1)?.sequence ?? 0;
    if (this.last !== end) throw new WrongSequence(this.last, end);
    await new Promise((resolve) => setImmediate(resolve));
    for (const entry of entries) {
      this.store.entries.push({ ...entry, payload: Buffer.from(entry.payload) });
    }
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
