/** The journal: acknowledged means in the log, in order, one append at a time, and no ack after a failure. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import test, { type TestContext } from 'node:test';
import { stateHash } from '../../engine/tables/state-hash.ts';
import { Journal, type JournalEntry } from '../../storage/log/journal.ts';
import { recover } from '../../storage/recovery/recover.ts';
import { SnapshotFiles } from '../../storage/snapshot/snapshots.ts';
import { scriptArgs } from '../common/forms.ts';
import { FakeLog } from './fake-log.ts';
import { Gate } from './journal-gate.ts';
import { logOf } from './log-stage.ts';
import { appended, directoryOf, Exchange, seeded, TIGHT, tradingDay } from './stored-exchange.ts';

function entryOf(sequence: number, bytes = 100): JournalEntry {
  return {
    sequence,
    time: sequence,
    digest: sequence,
    record: Buffer.alloc(bytes, sequence & 255),
  };
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

test('what is acknowledged is there for another process at once', async (t) => {
  const directory = directoryOf(t);
  const log = await logOf(t, directory, { durability: 'flushed' });
  const journal = new Journal(log);
  const reader = startReader(t, directory);
  await once(reader, 'message');
  for (let sequence = 1; sequence <= 60; sequence++) {
    const entry = entryOf(sequence, 100 + 4_000 * (sequence % 3));
    await appended(journal, entry);
    reader.send(sequence);
    const [seen] = (await once(reader, 'message')) as [[string, boolean]];
    assert.deepEqual(seen, [entry.record.toString('hex'), true]);
  }
});

test('one append is in flight, and what arrives meanwhile forms the next one', async () => {
  const gate = new Gate();
  const done: number[] = [];
  for (let n = 1; n <= 6; n++) gate.journal.append(entryOf(n), () => done.push(n));
  assert.deepEqual(gate.appends, [[1]]);
  assert.equal(done.length, 0, 'nothing is done before its append ends');
  await gate.end();
  assert.deepEqual(done, [1]);
  gate.journal.append(entryOf(7), () => done.push(7));
  assert.deepEqual(gate.appends, [[1], [2, 3, 4, 5, 6]]);
  await gate.end();
  await gate.end();
  assert.deepEqual(gate.appends, [[1], [2, 3, 4, 5, 6], [7]]);
  assert.deepEqual(done, [1, 2, 3, 4, 5, 6, 7], 'in the order of arrival');
  await gate.journal.drained();
});

test('a batch that changed nothing is done with all that came before it, or at once', async () => {
  const gate = new Gate();
  const done: string[] = [];
  gate.journal.append(null, () => done.push('alone'));
  assert.deepEqual(done, ['alone'], 'nothing is before it');
  gate.journal.append(entryOf(1), () => done.push('1'));
  gate.journal.append(null, () => done.push('after 1'));
  gate.journal.append(entryOf(2), () => done.push('2'));
  gate.journal.append(null, () => done.push('after 2'));
  assert.deepEqual(done, ['alone']);
  await gate.end();
  assert.deepEqual(done, ['alone', '1'], 'what arrived meanwhile waits together');
  await gate.end();
  assert.deepEqual(done, ['alone', '1', 'after 1', '2', 'after 2']);
});

test('after the first failure nothing is acknowledged, whatever comes later', async () => {
  const gate = new Gate();
  const { journal } = gate;
  const outcomes: string[] = [];
  const told: string[] = [];
  journal.onFailure = ({ message }) => void told.push(message);
  const note = (n: number | string) => (error: Error | undefined) =>
    void outcomes.push(`${n}: ${error?.message ?? 'done'}`);
  journal.append(entryOf(1), note(1));
  journal.append(entryOf(2), note(2));
  journal.append(null, note('nothing'));
  await gate.end();
  journal.append(entryOf(3), note(3));
  await gate.end(new Error('no space left on device'));
  journal.append(entryOf(4), note(4));
  journal.append(null, note('nothing'));
  const text = 'journal: a write failed: no space left on device';
  assert.deepEqual(outcomes, [
    '1: done',
    `2: ${text}`,
    `nothing: ${text}`,
    `3: ${text}`,
    `4: ${text}`,
    `nothing: ${text}`,
  ]);
  assert.deepEqual(told, [text], 'and it is told once');
  assert.equal(gate.appends.length, 2, 'and nothing more is tried');
  await journal.drained();
});

test('a writer that another one has overtaken stops, and acknowledges nothing', async () => {
  const store = { entries: [] };
  const [mine, other] = [new Journal(new FakeLog(store)), new Journal(new FakeLog(store))];
  await appended(other, entryOf(1));
  await assert.rejects(appended(mine, entryOf(1)), /wrong last sequence: expected 0, it is at 1/);
  await assert.rejects(appended(mine, null), /wrong last sequence/);
  await appended(other, entryOf(2));
});

test('shared memory goes to disk and comes back as it was when it was applied', (t) =>
  seeded(async (random) => {
    const directory = directoryOf(t);
    const log = await logOf(t, directory);
    const journal = new Journal(log);
    const context = new Exchange();
    const copies = new Map<number, Buffer>();
    for (const batch of tradingDay(random, 800)) {
      const entry = context.apply(batch);
      if (entry === null) continue;
      copies.set(entry.sequence, Buffer.from(entry.record));
      journal.append(entry, (error) => assert.equal(error, undefined));
    }
    const before = stateHash(context.t);
    // Whatever is still on its way must not be a view of what is overwritten now.
    for (const buffer of Object.values(context.t.memory.buffers)) buffer.fill(255);
    await journal.drained();
    const reader = log.read(1);
    for (const record of copies.values()) assert.deepEqual(reader.next(log.last)!.payload, record);
    reader.close();
    const snapshots = new SnapshotFiles(directory, 'committed');
    const { engine } = recover(TIGHT, snapshots, log, undefined, assert.fail);
    assert.equal(stateHash(engine.t), before);
  }));
