import assert from 'node:assert/strict';
import test from 'node:test';
import { LogDamage, Unreachable } from '../../storage/log/log.ts';
import type {
  EtcdClient,
  KeyRange,
  Row,
  WatchCalls,
} from '../../storage/replicated-log/etcd-client.ts';
import { Feed, type FeedCalls } from '../../storage/replicated-log/feed.ts';
import { until } from './log-place.ts';

/** Consecutive numbers, readable at any time, and watched as far as the test allows. */
class Source implements Pick<EtcdClient, 'watch'> {
  count = 0;
  readonly opened: number[] = [];
  stopped = 0;
  watches: WatchCalls[] = [];

  watch(_: KeyRange, revision: number, calls: WatchCalls): { stop(): void } {
    this.opened.push(revision);
    this.watches.push(calls);
    return {
      stop: () => {
        this.stopped += 1;
      },
    };
  }

  tell(number: number, bytes = 0): void {
    const value = Buffer.alloc(Math.max(4, bytes));
    value.writeUInt32LE(number);
    this.watches.at(-1)!.onRows([{ key: 'a', value }]);
  }
}

class Reader implements FeedCalls {
  readonly range = { start: 'a', end: 'b' };
  readonly taken: number[] = [];
  readonly problems: (string | undefined)[] = [];
  ended: Error | undefined;
  reads = 0;
  fail: (() => Error) | undefined;
  gate: Promise<void> = Promise.resolve();
  private readonly source: Source;

  constructor(source: Source) {
    this.source = source;
  }

  read(): Promise<number> {
    this.reads += 1;
    if (this.fail !== undefined) return Promise.reject(this.fail());
    while (this.taken.length < this.source.count) this.taken.push(this.taken.length + 1);
    return Promise.resolve(this.source.count);
  }

  async take(rows: readonly Row[]): Promise<boolean> {
    await this.gate;
    for (const { value } of rows) {
      const number = value.readUInt32LE();
      if (number > this.taken.length + 1) return false;
      if (number === this.taken.length + 1) this.taken.push(number);
    }
    return true;
  }

  mark(): number {
    return this.taken.length;
  }

  onProblem(problem: string | undefined): void {
    this.problems.push(problem);
  }

  onEnd(error: Error): void {
    this.ended = error;
  }
}

function staged(): { source: Source; reader: Reader; feed: Feed } {
  const source = new Source();
  const reader = new Reader(source);
  return { source, reader, feed: new Feed(source, reader) };
}

test('values that a mute watch does not deliver are read, and the watch is reopened', async () => {
  const { feed, reader, source } = staged();
  await until(() => source.opened.length === 1, 'it watches');
  source.count = 2;
  await until(() => reader.taken.length === 2, 'it reads');
  await until(() => source.opened.length === 2, 'it does not go on with that watch');
  assert.deepEqual(source.opened, [1, 3]);
  await feed.stop();
});

test('a watch that is silent without any change stays open', async () => {
  const { feed, reader, source } = staged();
  await until(() => reader.reads >= 3, 'it reads now and then');
  assert.equal(source.opened.length, 1);
  source.count = 1;
  source.tell(1);
  await until(() => reader.taken.length === 1, 'it is notified');
  await feed.stop();
  assert.equal(source.stopped, source.opened.length);
});

test('values that the watch leaves out, or misses at its end, are read', async () => {
  const { feed, reader, source } = staged();
  await until(() => source.opened.length === 1, 'it watches');
  source.count = 3;
  source.tell(3);
  await until(() => source.opened.length === 2, 'it watches again');
  assert.deepEqual(reader.taken, [1, 2, 3]);
  source.count = 4;
  source.watches.at(-1)!.onEnd('the stream has ended');
  await until(() => source.opened.length === 3, 'it watches again');
  assert.deepEqual(reader.taken, [1, 2, 3, 4]);
  await feed.stop();
});

test('values that arrive faster than they are consumed do not wait in memory', async () => {
  const { feed, reader, source } = staged();
  await until(() => source.opened.length === 1, 'it watches');
  let open = (): void => undefined;
  reader.gate = new Promise((resolve) => {
    open = resolve;
  });
  source.count = 1;
  source.tell(1);
  for (let number = 2; source.stopped === 0; number++) {
    assert(number < 100, 'the watch ends');
    source.count = number;
    source.tell(number, 2 ** 20);
  }
  open();
  await until(() => reader.taken.length === source.count, 'it reads the rest');
  assert.deepEqual(
    reader.taken,
    Array.from({ length: source.count }, (_, i) => i + 1),
  );
  await feed.stop();
});

test('a missing answer is a temporary problem, and damage ends the feed', async () => {
  const { feed, reader } = staged();
  reader.fail = () => new Unreachable('the test says so');
  await until(() => reader.problems.length === 1, 'it is notified');
  assert.match(reader.problems[0]!, /the test says so/);
  reader.fail = undefined;
  await until(() => reader.problems.length === 2, 'it is notified');
  assert.equal(reader.problems[1], undefined);
  reader.fail = () => new LogDamage('the test says so');
  await until(() => reader.ended !== undefined, 'it ends');
  const { reads } = reader;
  await feed.stop();
  assert.equal(reader.reads, reads);
});
