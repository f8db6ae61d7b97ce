/** The contract of a log (storage/log/log.ts), for the segment files and a fake. */
import assert from 'node:assert/strict';
import { existsSync, fstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import type { FileLog } from '../../storage/log/file-log.ts';
import { writeLent } from '../../storage/log/lent-place.ts';
import type { Log, LogEntry, LogReader } from '../../storage/log/log.ts';
import { readRecord, recordBytes, writeRecord } from '../../storage/log/record.ts';
import type { Random } from '../common/random.ts';
import { FakeLog } from './fake-log.ts';
import { chain, logOf } from './log-stage.ts';
import { directoryOf, seeded } from './stored-exchange.ts';

/** Opens the one log of a test any number of times, each time like another process. */
type Opener = (t: TestContext) => () => Promise<Log>;

const openers: Readonly<Record<string, Opener>> = {
  'segment files': (t) => {
    const directory = directoryOf(t);
    // Small ones, so that the log goes from segment to segment all the time.
    return () => logOf(t, directory, { segmentBytes: 4_096 });
  },
  'a fake': () => {
    const store = { entries: [] };
    return () => Promise.resolve(new FakeLog(store));
  },
};

function all(reader: LogReader, end: number): LogEntry[] {
  const entries: LogEntry[] = [];
  for (;;) {
    const entry = reader.next(end);
    if (entry === undefined) break;
    entries.push(plain(entry));
  }
  reader.close();
  return entries;
}

/** Copy of an entry, whose payload is valid only until the next one is read. */
function plain({ after, before, payload, sequence, time }: LogEntry): LogEntry {
  return { after, before, payload: Buffer.from(payload), sequence, time };
}

async function grow(log: Log, random: Random, count: number): Promise<LogEntry[]> {
  const entries = chain(log, random, count);
  for (let at = 0; at < entries.length; ) {
    const some = entries.slice(at, at + random.between(1, 9));
    await log.append(some, log.last);
    at += some.length;
  }
  return entries;
}

for (const [name, opener] of Object.entries(openers)) {
  test(`${name}: appended records read back in order, from any sequence`, (t) =>
    seeded(async (random) => {
      const open = opener(t);
      const log = await open();
      assert.deepEqual([log.first, log.last, log.digest], [0, 0, 0]);
      const entries = await grow(log, random, 200);
      assert.deepEqual([log.first, log.last], [1, 200]);
      assert.equal(log.digest, entries.at(-1)!.after);
      for (const from of [1, 2, random.between(3, 199), 200]) {
        assert.deepEqual(all(log.read(from), 200), entries.slice(from - 1));
      }
      const reader = log.read(201);
      assert.equal(reader.next(200), undefined, 'and the next one to come is waited for');
      const [next] = await grow(log, random, 1);
      assert.deepEqual(plain(reader.next(201)!), next);
      reader.close();
    }));

  test(`${name}: a reader follows while the log is written, and stays within its bound`, (t) =>
    seeded(async (random) => {
      const open = opener(t);
      const log = await open();
      const reader = log.read(1);
      let seen = 0;
      for (let round = 0; round < 60; round++) {
        const before = log.last;
        const entries = await grow(log, random, random.between(1, 12));
        assert.equal(reader.next(before), undefined, 'not beyond what it was told');
        for (const entry of entries) {
          assert.deepEqual(plain(reader.next(log.last)!), entry);
          seen += 1;
        }
        assert.equal(reader.next(log.last), undefined);
      }
      assert.equal(seen, log.last);
      reader.close();
    }));

  test(`${name}: the next process finds the log unchanged, and continues it`, (t) =>
    seeded(async (random) => {
      const open = opener(t);
      const entries: LogEntry[] = [];
      for (let run = 0; run < 5; run++) {
        const log = await open();
        assert.equal(log.last, entries.length);
        assert.equal(log.digest, entries.at(-1)?.after ?? 0);
        entries.push(...(await grow(log, random, random.between(1, 40))));
        await log.close();
      }
      const log = await open();
      assert.deepEqual(all(log.read(1), log.last), entries);
    }));

  test(`${name}: a writer that is not at the end is refused, and has written nothing`, (t) =>
    seeded(async (random) => {
      const open = opener(t);
      const log = await open();
      const entries = await grow(log, random, 10);
      const late = { ...entries[8]!, payload: Buffer.from('of another writer') };
      await assert.rejects(log.append([late], 8), {
        message: 'log: wrong last sequence: expected 8, it is at 10',
      });
      assert.deepEqual(all(log.read(1), 10), entries);
    }));

  test(`${name}: trimming removes the oldest records, and never later ones, nor the last`, (t) =>
    seeded(async (random) => {
      const open = opener(t);
      const log = await open();
      const entries = await grow(log, random, 300);
      await log.trim(0);
      assert.equal(log.first, 1);
      await log.trim(180);
      assert(log.first > 100 && log.first <= 181, `it begins with ${log.first}`);
      assert.throws(
        () => log.read(1),
        new RegExp(`log: batch 1 is not there any more, it begins with batch ${log.first}`),
      );
      assert.deepEqual(all(log.read(181), 300), entries.slice(180));
      await log.trim(10_000);
      assert(log.first > 181 && log.first <= 300);
      await log.close();
      const again = await open();
      assert.deepEqual([again.last, again.digest], [300, entries.at(-1)!.after]);
      const more = await grow(again, random, 20);
      assert.deepEqual(all(again.read(301), 320), more);
    }));
}

test('the writer that is behind is fenced off when a log has two', () =>
  seeded(async (random) => {
    const store = { entries: [] };
    const [first, second] = [new FakeLog(store), new FakeLog(store)];
    await grow(first, random, 3);
    await assert.rejects(grow(second, random, 1), /wrong last sequence: expected 0, it is at 3/);
    await assert.rejects(grow(second, random, 1), /wrong last sequence/, 'and stays so');
    await grow(first, random, 1);
  }));

test('a record of any payload, also an empty one, reads back whole from reused memory', () => {
  for (let length = 0; length <= 40; length++) {
    const payload = Buffer.alloc(length, 0xa5);
    const entry = { sequence: length + 1, time: 3, before: -4, after: 5, payload };
    const bytes = Buffer.alloc(recordBytes(length) + 16, 0xff);
    const crc = writeRecord(bytes, 8, entry, 2 ** 32 - 6, 7);
    const read = readRecord(bytes, 8);
    assert(typeof read === 'object', String(read));
    const { acknowledged, bytes: all, link } = read;
    assert.deepEqual(plain(read), entry);
    assert.deepEqual(
      [acknowledged, all, link, read.crc],
      [7, recordBytes(length), 2 ** 32 - 6, crc],
    );
    const padding = bytes.subarray(8 + 48 + length, 8 + all - 4);
    assert(
      padding.every((byte) => byte === 0),
      'what is left over is zero',
    );
    assert.deepEqual([bytes[7], bytes[8 + all]], [0xff, 0xff], 'nothing around it is written');
  }
});

test('half-prepared segments are removed', async (t) => {
  const dataDir = directoryOf(t);
  mkdirSync(join(dataDir, 'log'));
  const left = join(dataDir, 'log', '00000001.segment.tmp');
  writeFileSync(left, 'half');
  const log = await logOf(t, dataDir);
  assert(!existsSync(left));
  assert.equal(log.last, 0);
});

test('the remains of a write over several segments after a power cut do no harm later', (t) =>
  seeded(async (random) => {
    const dataDir = directoryOf(t);
    const options = { segmentBytes: 4_096 };
    const entriesOf = (log: Log, count: number) =>
      chain(log, random, count).map((entry) => ({ ...entry, payload: Buffer.alloc(3_000, 7) }));
    const log = await logOf(t, dataDir, options);
    await log.append(entriesOf(log, 1), 0);
    await log.append(entriesOf(log, 3), 1);
    await log.close();
    // Of the last file some sectors came to the disk, of those before it none.
    for (const number of [2, 3, 4]) {
      const sectors = Buffer.alloc(4_096).fill(7, number === 4 ? 1_024 : 4_096);
      writeFileSync(join(dataDir, 'log', `0000000${number}.segment`), sectors);
    }
    const again = await logOf(t, dataDir, options);
    const problems: (string | undefined)[] = [];
    again.onRoom = (problem) => problems.push(problem);
    for (let n = 0; n < 5; n++) await again.append(entriesOf(again, 1), again.last);
    assert.deepEqual([again.last, problems], [6, []]);
  }));

test('a first record that is larger than its segment is read while it is written, and by the next process', (t) =>
  seeded(async (random) => {
    const dataDir = directoryOf(t);
    const options = { segmentBytes: 4_096 };
    const log = await logOf(t, dataDir, options);
    const follower = log.read(1);
    const [entry] = chain(log, random, 1);
    const first = { ...entry!, payload: Buffer.alloc(8_192, 7) };
    await log.append([first], 0);
    assert.deepEqual(all(follower, 1), [first]);
    await log.close();
    const again = await logOf(t, dataDir, options);
    assert.deepEqual([again.first, again.last], [1, 1]);
    assert.deepEqual(all(again.read(1), 1), [first]);
  }));

function lendAndWrite(log: FileLog, { after, payload, sequence, time }: LogEntry) {
  const place = log.lend();
  assert(place !== undefined);
  return writeLent(place, { after, payload, sequence, time });
}

test('records that another thread writes into a lent place follow those of the log, also in the next process', (t) =>
  seeded(async (random) => {
    const directory = directoryOf(t);
    const open = () => logOf(t, directory, { segmentBytes: 4_096 });
    let log = await open();
    const entries: LogEntry[] = [];
    for (let i = 0; i < 300; i += 1) {
      const [entry] = chain(log, random, 1) as [LogEntry];
      entries.push(entry);
      // The end of an append is told before the log has put it away.
      await turn();
      if (random.chance(5)) {
        await log.close();
        log = await open();
      }
      if (random.chance(30)) {
        await log.append([entry], log.last);
        continue;
      }
      const end = lendAndWrite(log, entry);
      // A worker that ends before it tells of its write: the log writes the same bytes once more.
      const told = random.chance(80) ? end : ({ kind: 'unused' } as const);
      log.endLoan(told);
      if (told.kind === 'unused') await log.append([entry], log.last);
      assert.deepEqual([log.last, log.digest], [entry.sequence, entry.after]);
    }
    assert.deepEqual(all(log.read(1), log.last), entries);
    await log.close();
    const again = await open();
    assert.deepEqual(all(again.read(1), again.last), entries);
  }));

test('what is appended during a loan is written after it, and a place is lent once', (t) =>
  seeded(async (random) => {
    const log = await logOf(t, directoryOf(t));
    const [first, second] = chain(log, random, 2) as [LogEntry, LogEntry];
    const end = lendAndWrite(log, first);
    assert.equal(log.lend(), undefined);
    let isDurable = false;
    const durable = log.whenDurable().then(() => {
      isDurable = true;
    });
    await sleep(20);
    assert.deepEqual([log.last, isDurable], [0, false]);
    log.endLoan(end);
    await durable;
    await log.append([second], 1);
    assert.deepEqual(all(log.read(1), log.last), [first, second]);
  }));

test('a log whose lent place could not be written takes nothing more', (t) =>
  seeded(async (random) => {
    const log = await logOf(t, directoryOf(t));
    const [entry] = chain(log, random, 1) as [LogEntry];
    assert(log.lend() !== undefined);
    const waiting = log.whenDurable();
    log.endLoan({ kind: 'failed', message: 'EIO, write' });
    await assert.rejects(waiting, /a write failed: EIO/);
    await assert.rejects(log.append([entry], 0), /a write failed: EIO/);
    assert.equal(log.lend(), undefined);
  }));

test('a record that has no room in a lent place is left to the log', (t) =>
  seeded(async (random) => {
    const log = await logOf(t, directoryOf(t), { segmentBytes: 4_096 });
    const [entry] = chain(log, random, 1) as [LogEntry];
    const large = { ...entry, payload: Buffer.alloc(9_000, 7) };
    assert.deepEqual(lendAndWrite(log, large), { kind: 'unused' });
    log.endLoan({ kind: 'unused' });
    await log.append([large], 0);
    assert.deepEqual(all(log.read(1), 1), [large]);
  }));

test('a record that does not follow the one before a lent place is not written there', (t) =>
  seeded(async (random) => {
    const log = await logOf(t, directoryOf(t));
    const [first, second] = chain(log, random, 2) as [LogEntry, LogEntry];
    assert.throws(() => lendAndWrite(log, second), /follows the one before/);
    log.endLoan({ kind: 'unused' });
    await log.append([first], 0);
    assert.deepEqual(all(log.read(1), 1), [first]);
  }));

test('a log that is closed during a loan closes its file when the loan ends', (t) =>
  seeded(async (random) => {
    const directory = directoryOf(t);
    const log = await logOf(t, directory);
    const [entry] = chain(log, random, 1) as [LogEntry];
    const place = log.lend();
    assert(place !== undefined);
    await log.close();
    const { after, payload, sequence, time } = entry;
    const end = writeLent(place, { after, payload, sequence, time });
    log.endLoan(end);
    await sleep(50);
    assert.throws(() => fstatSync(place.file), /EBADF/);
    const again = await logOf(t, directory);
    assert.deepEqual(all(again.read(1), again.last), [entry]);
  }));
