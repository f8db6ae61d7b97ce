/**
 * Group commit: acknowledged means in the log, in order, one write at a time, and no
 * acknowledgement after a failure.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import test, { type TestContext } from 'node:test';
import { stateHash } from '../../engine/tables/state-hash.ts';
import type { NewEntry } from '../../storage/log/log.ts';
import { recover } from '../../storage/recovery/recover.ts';
import { SnapshotFiles } from '../../storage/snapshot/snapshots.ts';
import { scriptArgs } from '../common/forms.ts';
import { FakeLog } from './fake-log.ts';
import { Gate } from './log-gate.ts';
import { logOf } from './log-stage.ts';
import { appended, directoryOf, Exchange, seeded, TIGHT, tradingDay } from './stored-exchange.ts';

function entryOf(sequence: number, bytes = 100): NewEntry {
  return {
    sequence,
    time: sequence,
    after: sequence,
    payload: Buffer.alloc(bytes, sequence & 255),
  };
}

function turnOfEvents(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

const READER = `
import { logDirectory } from './storage/log/file-log.ts';
import { SegmentReader } from './storage/log/reader.ts';
const [directory] = process.argv.slice(-1);
const reader = new SegmentReader(logDirectory(directory), 1);
process.on('message', (sequence) => {
  const { payload } = reader.next(sequence);
  process.send([payload.toString('hex'), reader.next(sequence) === undefined]);
});
process.send('ready');
`;

function startReader(t: TestContext, directory: string): ChildProcess {
  const { args, cwd } = scriptArgs(READER);
  const child = spawn(process.execPath, [...args, directory], {
    cwd,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  t.after(() => void child.kill());
  return child;
}

test('an acknowledged record is visible to another process at once', async (t) => {
  const directory = directoryOf(t);
  const log = await logOf(t, directory, { durability: 'flushed' });
  const reader = startReader(t, directory);
  await once(reader, 'message');
  for (let sequence = 1; sequence <= 60; sequence++) {
    const entry = entryOf(sequence, 100 + 4_000 * (sequence % 3));
    await appended(log, entry);
    reader.send(sequence);
    const [seen] = (await once(reader, 'message')) as [[string, boolean]];
    assert.deepEqual(seen, [entry.payload.toString('hex'), true]);
  }
});

function tracked(gate: Gate, outcomes: string[], name: string, entry: NewEntry | null): void {
  appended(gate.log, entry).then(
    () => outcomes.push(name),
    (error: Error) => outcomes.push(`${name}: ${error.message}`),
  );
}

test('one write is in flight, and records that arrive meanwhile form the next one', async () => {
  const gate = new Gate();
  const done: string[] = [];
  for (let n = 1; n <= 6; n++) tracked(gate, done, `${n}`, entryOf(n));
  await turnOfEvents();
  assert.deepEqual(gate.writes, [[1]]);
  assert.equal(done.length, 0, 'nothing is done before its write ends');
  await gate.end();
  assert.deepEqual(done, ['1']);
  tracked(gate, done, '7', entryOf(7));
  assert.deepEqual(gate.writes, [[1], [2, 3, 4, 5, 6]]);
  await gate.end();
  await gate.end();
  assert.deepEqual(gate.writes, [[1], [2, 3, 4, 5, 6], [7]]);
  assert.deepEqual(done, ['1', '2', '3', '4', '5', '6', '7'], 'in the order of arrival');
  assert.deepEqual([gate.last, gate.digest], [7, 7]);
});

test('a batch that changed nothing is done with the ones before it, or at once', async () => {
  const gate = new Gate();
  const done: string[] = [];
  tracked(gate, done, 'alone', null);
  await turnOfEvents();
  assert.deepEqual(done, ['alone'], 'nothing is before it');
  tracked(gate, done, '1', entryOf(1));
  tracked(gate, done, 'after 1', null);
  tracked(gate, done, '2', entryOf(2));
  tracked(gate, done, 'after 2', null);
  await turnOfEvents();
  assert.deepEqual(done, ['alone']);
  await gate.end();
  assert.deepEqual(done, ['alone', '1'], 'what arrived meanwhile waits together');
  await gate.end();
  assert.deepEqual(done, ['alone', '1', 'after 1', '2', 'after 2']);
});

test('nothing is acknowledged after the first failure', async () => {
  const gate = new Gate();
  const outcomes: string[] = [];
  tracked(gate, outcomes, '1', entryOf(1));
  tracked(gate, outcomes, '2', entryOf(2));
  tracked(gate, outcomes, 'nothing', null);
  await gate.end();
  tracked(gate, outcomes, '3', entryOf(3));
  await gate.end(new Error('no space left on device'));
  tracked(gate, outcomes, '4', entryOf(4));
  tracked(gate, outcomes, 'nothing', null);
  await turnOfEvents();
  const text = 'log: a write failed: no space left on device';
  assert.deepEqual(outcomes, [
    '1',
    `2: ${text}`,
    `nothing: ${text}`,
    `3: ${text}`,
    `4: ${text}`,
    `nothing: ${text}`,
  ]);
  assert.equal(gate.failure?.message, text);
  assert.equal(gate.writes.length, 2, 'and nothing more is tried');
});

test('a batch that does not follow the last one is not written, nor is any after it', async () => {
  const gate = new Gate();
  const outcomes: string[] = [];
  tracked(gate, outcomes, '1', entryOf(1));
  tracked(gate, outcomes, '3', entryOf(3));
  tracked(gate, outcomes, '2', entryOf(2));
  await gate.end();
  const text = 'log: wrong last sequence: expected 2, it is at 1';
  assert.deepEqual(outcomes, [`3: ${text}`, `2: ${text}`, '1']);
  assert.deepEqual(gate.writes, [[1]]);
});

test('a writer that another one has replaced stops, and acknowledges nothing', async () => {
  const store = { entries: [] };
  const [mine, other] = [new FakeLog(store), new FakeLog(store)];
  await appended(other, entryOf(1));
  await assert.rejects(appended(mine, entryOf(1)), /wrong last sequence: expected 0, it is at 1/);
  await assert.rejects(appended(mine, null), /wrong last sequence/);
  await appended(other, entryOf(2));
});

test('shared memory is written to disk as it was when it was applied', (t) =>
  seeded(async (random) => {
    const directory = directoryOf(t);
    const log = await logOf(t, directory);
    const context = new Exchange();
    const copies = new Map<number, Buffer>();
    for (const batch of tradingDay(random, 800)) {
      const entry = context.apply(batch);
      if (entry === null) continue;
      copies.set(entry.sequence, Buffer.from(entry.payload));
      void appended(log, entry);
    }
    const before = stateHash(context.t);
    // Whatever is still on its way must not be a view of what is overwritten now.
    for (const buffer of Object.values(context.t.memory.buffers)) buffer.fill(255);
    await log.whenDurable();
    const reader = log.read(1);
    for (const record of copies.values()) assert.deepEqual(reader.next(log.last)!.payload, record);
    reader.close();
    const snapshots = new SnapshotFiles(directory, 'committed');
    const { engine } = recover(TIGHT, snapshots, log, undefined, assert.fail);
    assert.equal(stateHash(engine.t), before);
  }));
