/** The journal: acknowledged means on disk, in order, one transaction at a time, and no ack after a failure. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { stateHash } from '../../engine/state-hash.ts';
import { Images } from '../../storage/images.ts';
import { Journal, type JournalEntry, openJournalTables } from '../../storage/journal.ts';
import { recover } from '../../storage/recover.ts';
import { scriptArgs } from '../common/forms.ts';
import { Gate } from './journal-gate.ts';
import {
  appended,
  directoryOf,
  Exchange,
  journalOf,
  QUICK,
  seeded,
  TIGHT,
  tradingDay,
} from './stored-exchange.ts';

function entryOf(sequence: number, bytes = 100): JournalEntry {
  const record = Buffer.alloc(bytes, sequence & 255);
  return { sequence, record, firstFill: sequence, fills: [Buffer.alloc(160, sequence & 255)] };
}

/** Fails the test if a promise is rejected and nobody hears of it. */
function watchRejections(t: TestContext): unknown[] {
  const unheard: unknown[] = [];
  const listener = (reason: unknown): void => void unheard.push(reason);
  process.on('unhandledRejection', listener);
  t.after(() => void process.off('unhandledRejection', listener));
  return unheard;
}

const READER = `
import { openJournalTables } from './storage/journal.ts';
const [directory] = process.argv.slice(-1);
const tables = openJournalTables(directory, { durability: 'flushed', readOnly: true });
process.on('message', (sequence) => {
  tables.root.resetReadTxn();
  const batch = tables.batches.get(sequence);
  const fill = tables.fills.get(sequence);
  process.send([batch?.toString('hex'), fill?.toString('hex')]);
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
  const journal = journalOf(t, directory, 'flushed');
  await journal.prove();
  const reader = startReader(t, directory);
  await once(reader, 'message');
  for (let sequence = 1; sequence <= 60; sequence++) {
    const entry = entryOf(sequence, 100 + 4_000 * (sequence % 3));
    await appended(journal, entry);
    reader.send(sequence);
    const [seen] = (await once(reader, 'message')) as [[string, string]];
    assert.equal(seen[0], entry.record.toString('hex'));
    assert.equal(seen[1], entry.fills[0]!.toString('hex'));
  }
});

test('one transaction is in flight, and what arrives meanwhile forms the next one', async () => {
  const gate = new Gate();
  const done: number[] = [];
  for (let n = 1; n <= 6; n++) gate.journal.append(entryOf(n), () => done.push(n));
  assert.deepEqual(gate.transactions, [[1]]);
  assert.equal(done.length, 0, 'nothing is done before its transaction ends');
  await gate.end();
  assert.deepEqual(done, [1]);
  gate.journal.append(entryOf(7), () => done.push(7));
  assert.deepEqual(gate.transactions, [[1], [2, 3, 4, 5, 6]]);
  await gate.end();
  await gate.end();
  assert.deepEqual(gate.transactions, [[1], [2, 3, 4, 5, 6], [7]]);
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

test('other transactions get their turn although batches never stop coming', async () => {
  const gate = new Gate();
  let next = 1;
  const more = (): void => gate.journal.append(entryOf(next++), more);
  more();
  let isDone = false;
  const other = gate.journal
    .transact(() => undefined)
    .then(() => {
      isDone = true;
    });
  for (let i = 0; i < 4 && !isDone; i++) await gate.end();
  assert(isDone, 'within the next transactions');
  await other;
});

test('after the first failure nothing is acknowledged, whatever comes later', async (t) => {
  const unheard = watchRejections(t);
  const gate = new Gate();
  const { journal } = gate;
  const outcomes: string[] = [];
  const note = (n: number | string) => (error: Error | undefined) =>
    void outcomes.push(`${n}: ${error?.message ?? 'done'}`);
  journal.append(entryOf(1), note(1));
  journal.append(entryOf(2), note(2));
  journal.append(null, note('nothing'));
  const other = assert.rejects(
    journal.transact(() => undefined),
    /No space left/,
  );
  await gate.end();
  journal.append(entryOf(3), note(3));
  const failure = Object.assign(new Error('Commit failed'), {
    commitError: Promise.reject(new Error('No space left on device')),
  });
  await gate.end(failure);
  await other;
  journal.append(entryOf(4), note(4));
  journal.append(null, note('nothing'));
  const text = 'journal: a write failed: No space left on device';
  assert.deepEqual(outcomes, [
    '1: done',
    `2: ${text}`,
    `nothing: ${text}`,
    `3: ${text}`,
    `4: ${text}`,
    `nothing: ${text}`,
  ]);
  await assert.rejects(
    journal.putFinals([], 5),
    ({ message }: Error) => message === text,
    'nor are final states',
  );
  assert.equal(gate.transactions.length, 2, 'and nothing more is tried');
  await journal.drained();
  assert.deepEqual(unheard, [], 'the hidden second promise is heard');
});

test('a failure of whatever write is told once, also when no batch waits', async () => {
  for (const write of [
    (journal: Journal) => journal.putFinals([], 1),
    (journal: Journal) => journal.transact(() => undefined),
  ]) {
    const gate = new Gate();
    const told: string[] = [];
    gate.journal.onFailure = ({ message }) => told.push(message);
    const writes = [write(gate.journal), write(gate.journal)].map((one) =>
      assert.rejects(one, /no space/),
    );
    await gate.end(new Error('no space'));
    await Promise.all(writes);
    assert.deepEqual(told, ['journal: a write failed: no space']);
  }
});

test('a failure whose hidden reason never comes latches all the same', async () => {
  const gate = new Gate();
  const done = appended(gate.journal, entryOf(1));
  const never = new Promise<void>(() => undefined);
  await gate.end(Object.assign(new Error('Commit failed'), { commitError: never }));
  await assert.rejects(done, /journal: a write failed: Commit failed/);
  assert.match(gate.journal.failure!.message, /Commit failed/);
});

test('a full disk fails what does not fit and keeps what was acknowledged', async (t) => {
  const directory = directoryOf(t);
  const disk = join(directory, 'disk');
  mkdirSync(disk);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk], { stdio: 'pipe' });
  } catch {
    t.skip('mounting a tmpfs is not allowed here');
    return;
  }
  const unheard = watchRejections(t);
  // The package prints what it also rejects with.
  t.mock.method(console, 'error', () => undefined);
  try {
    const journal = new Journal(openJournalTables(disk, { durability: 'flushed' }));
    await journal.prove();
    const acknowledged: number[] = [];
    const failed: number[] = [];
    let sequence = 0;
    while (journal.failure === undefined && sequence < 5_000) {
      for (let i = 0; i < 8; i++) {
        const n = ++sequence;
        // Big and small ones: small ones that fit beside a failed big one must not get through.
        const entry = entryOf(n, n % 8 === 0 ? 60_000 : 200);
        journal.append(entry, (error) => (error === undefined ? acknowledged : failed).push(n));
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    await journal.drained();
    assert(failed.length > 0, 'the disk is full');
    assert.match(journal.failure!.message, /^journal: a write failed: (?!Commit failed)/);
    await assert.rejects(appended(journal, entryOf(9_999, 10)), /a write failed/);
    await journal.close();
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual(unheard, []);

    const tables = openJournalTables(disk, { durability: 'flushed', readOnly: true });
    const kept = [...tables.batches.getKeys()];
    const all = Array.from({ length: acknowledged.length }, (_, i) => i + 1);
    assert.deepEqual(acknowledged, all, 'acknowledged without a gap');
    assert.deepEqual(kept.slice(0, all.length), all, 'and all of it is there');
    assert.equal(kept.length, all.length, 'and nothing else');
    await tables.root.close();
  } finally {
    execFileSync('umount', ['--lazy', disk]);
  }
});

test('shared memory goes to disk and comes back as it was when it was applied', async (t) => {
  await seeded(async (random) => {
    const directory = directoryOf(t);
    const journal = journalOf(t, directory);
    const exchange = new Exchange();
    const copies = new Map<number, JournalEntry>();
    for (const batch of tradingDay(random, 800)) {
      const entry = exchange.apply(batch);
      if (entry === null) continue;
      copies.set(entry.sequence, {
        ...entry,
        record: Buffer.from(entry.record),
        fills: entry.fills.map((fill) => Buffer.from(fill)),
      });
      journal.append(entry, (error) => assert.equal(error, undefined));
    }
    const before = stateHash(exchange.t);
    // Whatever is still on its way must not be a view of what is overwritten now.
    for (const buffer of Object.values(exchange.t.memory.buffers)) new Uint8Array(buffer).fill(255);
    await journal.drained();
    for (const [sequence, entry] of copies) {
      assert.deepEqual(journal.tables.batches.get(sequence), entry.record);
      entry.fills.forEach((fill, i) => {
        assert.deepEqual(journal.tables.fills.get(entry.firstFill + i), fill);
      });
    }
    const images = new Images(directory, QUICK);
    t.after(() => images.close());
    const { engine } = recover(TIGHT, images, journal.tables, assert.fail);
    assert.equal(stateHash(engine.t), before);
  });
});

test('a view of shared memory is refused before LMDB sees it', async (t) => {
  const journal = journalOf(t, directoryOf(t));
  const shared = Buffer.from(new SharedArrayBuffer(100));
  const entry = { ...entryOf(1), record: shared };
  await assert.rejects(appended(journal, entry), /LMDB is handed ordinary memory only/);
  assert.equal(journal.tables.batches.get(1), undefined);
  const other = journalOf(t, directoryOf(t));
  await assert.rejects(
    appended(other, { ...entryOf(1), fills: [shared] }),
    /LMDB is handed ordinary memory only/,
  );
});

test('trimming removes the batches up to a sequence, and no fill', async (t) => {
  const journal = journalOf(t, directoryOf(t));
  for (let n = 1; n < 5_000; n++) journal.append(entryOf(n, 8), assert.ifError);
  await journal.drained();
  await journal.trim(4_990);
  const keys = [...journal.tables.batches.getKeys()];
  assert.deepEqual(keys, [4_991, 4_992, 4_993, 4_994, 4_995, 4_996, 4_997, 4_998, 4_999]);
  assert.equal(journal.tables.fills.getKeysCount(), 4_999);
});

test('a directory of another format is refused by naming both', async (t) => {
  const journal = journalOf(t, directoryOf(t));
  await journal.prove();
  await journal.prove();
  const format = Buffer.alloc(8);
  format.writeDoubleLE(7, 0);
  await journal.transact(() => void journal.tables.meta.put(Buffer.from('format'), format));
  await assert.rejects(
    journal.prove(),
    /^Error: journal: its format is 7, this node reads 3; .* begin with another DATA_DIR$/,
  );
});
