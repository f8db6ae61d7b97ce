import assert from 'node:assert/strict';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import {
  CONTROL_RECORD_BYTES_MAX,
  CommandBuffer,
  encodeControlRecord,
} from '../../engine/commands.ts';
import { digestOf, stateHash } from '../../engine/tables/state-hash.ts';
import { ControlRecordStore } from '../../storage/control-records/control-record-store.ts';
import {
  type ControlRecord,
  controlRecordCommand,
  controlRecordsOf,
} from '../../storage/control-records/control-records.ts';
import { bringUp, readControlRecords } from '../../storage/control-records/read-control-records.ts';
import { openEnvironment, openTable } from '../../storage/kv/lmdb.ts';
import { encodeBatch } from '../../storage/log/batch-record.ts';
import { cutLog } from '../../storage/operations/cut-log.ts';
import { batchOf, replay } from '../../storage/recovery/replay.ts';
import { FakeLog, type FakeStore } from './fake-log.ts';
import { logOf } from './log-stage.ts';
import { directoryOf, Exchange } from './stored-exchange.ts';

const ADDRESS = new Uint8Array(20).fill(0xab);
const ID = '11111111-1111-4111-8111-111111111111';
const key = (revoked: boolean, id = ID, readOnly = false): ControlRecord => ({
  about: 'key',
  row: { id, address: ADDRESS, nonce: '7', revoked, readOnly },
});
const ALL: readonly ControlRecord[] = [
  key(false),
  key(true),
  key(false, ID, true),
  key(true, ID, true),
  { about: 'ban', address: ADDRESS, decision: { since: 1_700_000_000_000, reason: 'why, ü' } },
  { about: 'ban', address: ADDRESS, decision: undefined },
  { about: 'pause', decision: { since: 1, reason: '' } },
  { about: 'pause', decision: undefined },
  { about: 'message', decision: { since: 2, reason: 'Hello, ü' } },
  { about: 'message', decision: undefined },
  { about: 'fault', kind: 'restart', decision: { since: 1_700_000_000_000, seconds: 60, ms: -5 } },
  { about: 'fault', kind: 'restart', decision: undefined },
  { about: 'watch', address: ADDRESS, isWatched: true },
  { about: 'watch', address: ADDRESS, isWatched: false },
  { about: 'catalog', digest: '0f'.repeat(32) },
  { about: 'name', address: ADDRESS, name: 'Ann, ü' },
  { about: 'name', address: ADDRESS, name: '' },
  { about: 'profile', address: ADDRESS, name: 'Ann.1', isHidden: true },
  { about: 'profile', address: ADDRESS, name: '', isHidden: false },
  {
    about: 'liquidity',
    condition: `0x${'0e'.repeat(32)}`,
    terms: { depth: 72_134_752, centre: -5, paidIn: 50_000_000, paidOut: 0 },
  },
  { about: 'handover', handover: { from: 'n1', by: 'ann, ü', reasons: ['log'] } },
];

function commandsOf(...records: ControlRecord[]): Int32Array {
  return Int32Array.from(records.flatMap((record) => [...controlRecordCommand(record)]));
}

class Venue {
  readonly exchange = new Exchange();
  readonly store: FakeStore = { entries: [] };

  async apply(...records: ControlRecord[]): Promise<void> {
    const { engine, t } = this.exchange;
    const i32 = commandsOf(...records);
    const before = { sequence: this.store.entries.length, digest: digestOf(t) };
    engine.begin(0, 0);
    for (const record of records)
      engine.apply(controlRecordCommand(record), new Float64Array(0), 0);
    assert(engine.end(), 'a batch of control records alone is a batch that changed something');
    const facts = {
      sequence: before.sequence + 1,
      time: 0,
      persistedClosedSequence: 0,
      firstFill: 0,
      endFill: 0,
      closedEnd: 0,
      digest: digestOf(t),
    };
    const payload = encodeBatch(facts, i32);
    const entry = { sequence: facts.sequence, time: 0, after: facts.digest, payload };
    await this.log.append([entry], before.sequence);
  }

  get log(): FakeLog {
    return new FakeLog(this.store);
  }
}

function opened(t: TestContext, dataDir = directoryOf(t)): ControlRecordStore {
  const rows = new ControlRecordStore(dataDir, { durability: 'committed', readOnly: false });
  t.after(() => rows.close());
  return rows;
}

function seenBy(rows: ControlRecordStore, { log }: Venue): ControlRecord[] {
  const records: ControlRecord[] = [];
  readControlRecords(rows, log, (record) => records.push(record));
  return records;
}

test('each kind of control record is read as it was written, and an unreadable one is refused', () => {
  assert.deepEqual([...controlRecordsOf(commandsOf(...ALL))], ALL);
  for (const [kind, bytes] of [
    [0, 0],
    [12, 0],
    [1, 36],
    [6, 19],
    [7, 7],
    [9, 21],
    [11, 31],
    [14, 2],
  ] as const) {
    const out = new CommandBuffer();
    encodeControlRecord(out, kind, new Uint8Array(bytes));
    const what = new RegExp(`^Error: a note of kind ${kind} cannot be read: a newer version`);
    assert.throws(() => [...controlRecordsOf(out.i32.slice(0, out.words))], what);
  }
  const tooLong = new Uint8Array(CONTROL_RECORD_BYTES_MAX + 1);
  assert.throws(
    () => encodeControlRecord(new CommandBuffer(), 1, tooLong),
    /a bounded number of bytes/,
  );
});

test('the engine changes no row for a control record, and every byte counts in its digest', async () => {
  const venues = [new Venue(), new Venue(), new Venue()] as const;
  const [one, same, other] = venues;
  await one.apply(...ALL);
  await same.apply(...ALL);
  await other.apply(...ALL.slice(0, -1), { about: 'catalog', digest: `1${'f0'.repeat(31)}f` });
  const states = venues.map(({ exchange: { t } }) => stateHash(t));
  assert.equal(states[0], states[1]);
  assert.notEqual(digestOf(one.exchange.t), digestOf(other.exchange.t));
  const replayed = new Exchange();
  const [entry = assert.fail()] = one.store.entries;
  replay(replayed.engine, entry, batchOf(entry));
  assert.equal(stateHash(replayed.t), states[0]);
});

test('a command of a newer version stops the replay by name', async () => {
  const venue = new Venue();
  await venue.apply(key(false));
  const [entry = assert.fail()] = venue.store.entries;
  const record = batchOf(entry);
  record.i32[0] = (record.i32[0]! & ~0xff) | 200;
  assert.throws(
    () => replay(new Exchange().engine, entry, record),
    /batch 1: a newer version wrote its command of kind 200/,
  );
});

test('a start continues after the position of the rows, and lost rows are rebuilt from the log', async (t) => {
  const venue = new Venue();
  const rows = opened(t);
  assert.equal(bringUp(rows, venue.log), undefined);
  await venue.apply(key(false));
  await venue.apply(key(true), { about: 'ban', address: ADDRESS, decision: undefined });
  assert.deepEqual(seenBy(rows, venue), [key(false), key(true), ALL[5]]);
  assert.equal(bringUp(rows, venue.log), undefined);
  assert.deepEqual(seenBy(rows, venue), [key(true)], 'of rows alone');
  assert.equal(rows.position()?.sequence, 2);
  const fresh = opened(t);
  assert.equal(bringUp(fresh, venue.log), 'keys/ is new: made again from batches 1 to 2');
  assert.deepEqual([...fresh.records()], [...rows.records()]);
});

test('a new directory logs no line when its first batches have no control records', async (t) => {
  const venue = new Venue();
  await venue.apply({ about: 'pause', decision: undefined });
  assert.equal(
    bringUp(opened(t), venue.log, () => false),
    undefined,
  );
});

test('rows of an older version are taken over at the end of the log, and later control records follow', async (t) => {
  const dataDir = directoryOf(t);
  const venue = new Venue();
  await venue.apply({ about: 'pause', decision: undefined });
  const before = opened(t, dataDir);
  before.apply([key(false)], { sequence: 0, digest: 0 });
  const root = openEnvironment({ path: join(dataDir, 'keys'), durability: 'committed' });
  t.after(() => root.close());
  const meta = openTable(root, 'meta');
  meta.removeSync(Buffer.from('position'));
  meta.putSync(Buffer.from('probe'), Buffer.alloc(4_096, 1));
  const rows = opened(t, dataDir);
  assert.equal(rows.isOlder(), true);
  assert.deepEqual(seenBy(rows, venue), [key(false)]);
  assert.match(bringUp(rows, venue.log) ?? '', /of an older version is taken over at batch 1$/);
  await venue.apply(key(true));
  assert.deepEqual(seenBy(rows, venue), [key(false), key(true)]);
  bringUp(rows, venue.log);
  assert.deepEqual([...rows.records()], [key(true)]);
});

test('a start is refused when revocations may be missing or the rows belong to another log', async (t) => {
  const venue = new Venue();
  const rows = opened(t);
  await venue.apply(key(false));
  bringUp(rows, venue.log);
  await venue.apply(key(true));
  await venue.apply(ALL[4]!);
  // The log was trimmed since this copy of the rows was made.
  const trimmed = { ...venue.log, first: 3, read: () => assert.fail() };
  const fails = (log: Parameters<typeof readControlRecords>[1], what: RegExp): void => {
    assert.throws(() => readControlRecords(rows, log, () => undefined), what);
    assert.throws(() => bringUp(rows, log), what);
  };
  const { digest, last } = venue.log;
  fails(
    { ...trimmed, digest, last },
    /keys\/ ends with batch 1, and the log begins with batch 3: what was revoked between/,
  );
  const other = new Venue();
  await other.apply(key(true));
  fails(other.log, /keys\/ holds batch 1 of another log; put back/);
  await other.apply(key(true));
  fails(other.log, /keys\/ holds batch 1 of another log; put back/);
  fails(new Venue().log, /it ends with batch 0, but keys\/ holds batch 1/);
});

test('a cut of the log sets keys/ back to the batch before it, and revoked keys stay revoked', async (t) => {
  const dataDir = directoryOf(t);
  const venue = new Venue();
  await venue.apply(key(false));
  await venue.apply(ALL[4]!);
  await venue.apply(key(true));
  const log = await logOf(t, dataDir);
  for (const entry of venue.store.entries) await log.append([entry], entry.sequence - 1);
  const rows = opened(t, dataDir);
  bringUp(rows, log);
  await log.close();
  const before = [...rows.records()];
  await cutLog(dataDir, 3, true);
  await new Promise(setImmediate);
  assert.deepEqual(rows.position(), { sequence: 2, digest: venue.store.entries[1]!.after });
  assert.deepEqual([...rows.records()], before);
  await cutLog(dataDir, 1, true);
  await new Promise(setImmediate);
  assert.deepEqual(rows.position(), { sequence: 0, digest: 0 });
  const empty = await logOf(t, dataDir);
  assert.equal(bringUp(rows, empty), undefined);
});
