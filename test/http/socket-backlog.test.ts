import assert from 'node:assert/strict';
import test from 'node:test';
import { SocketBacklog, type Waiting } from '../../server/http/limits/socket-backlog.ts';

/** Reader that counts how often its queue is read. */
class Reader implements Waiting {
  reads = 0;
  isCut = false;
  private readonly bytes: number;

  constructor(bytes: number) {
    this.bytes = bytes;
  }

  waiting(): number {
    this.reads += 1;
    return this.isCut ? 0 : this.bytes;
  }

  cut(): void {
    this.isCut = true;
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('queues are read once an eighth of the bound may have been added, by frames times their readers', async () => {
  const reader = new Reader(0);
  const backlog = new SocketBacklog(8_000, new Set([reader]), assert.fail);
  for (let frame = 0; frame < 9; frame++) backlog.added(10, 10);
  await settled();
  assert.equal(reader.reads, 0, '900 bytes');
  backlog.added(10, 10);
  await settled();
  assert.equal(reader.reads, 1, '1,000 bytes');
  backlog.added(1_000_000, 0);
  await settled();
  assert.equal(reader.reads, 1, 'a frame without readers adds nothing');
});

test('the longest queue is cut first, and readers within the bound stay', async () => {
  const [slow, slower, quick] = [new Reader(4_000), new Reader(6_000), new Reader(0)];
  const lines: string[] = [];
  const all = new Set([slow, slower, quick]);
  const backlog = new SocketBacklog(8_000, all, (line) => lines.push(line));
  backlog.added(10_000, 1);
  await settled();
  assert.deepEqual(
    [slow, slower, quick].map(({ isCut }) => isCut),
    [false, true, false],
  );
  assert.deepEqual(lines, [
    'streams: 10000 bytes waited for all readers: the slowest were cut, 1 of them',
  ]);
});
