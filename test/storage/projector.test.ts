import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { findOrder } from '../../engine/orders/orders.ts';
import { FILL_WORDS, State } from '../../engine/tables/layout.ts';
import { stateHash } from '../../engine/tables/state-hash.ts';
import { allocateEngine, Tables } from '../../engine/tables/tables.ts';
import { withChecksum } from '../../storage/kv/checksum.ts';
import type { SequenceTable } from '../../storage/kv/lmdb.ts';
import { PackedRows } from '../../storage/kv/packed.ts';
import { openClosedOrdersReader } from '../../storage/projection/closed-orders.ts';
import { openDerivedTables, positionOf } from '../../storage/projection/derived.ts';
import { fillCopy, StoredFills } from '../../storage/projection/fills.ts';
import { begin, loadFills, recover } from '../../storage/recovery/recover.ts';
import { SnapshotFiles } from '../../storage/snapshot/snapshots.ts';
import { Pair, parts, QUICK } from './projector-stage.ts';
import { directoryOf, seeded, TIGHT, tradingDay } from './stored-exchange.ts';

function isInMemory(t: Tables, id: Buffer): boolean {
  const words = Int32Array.from({ length: 8 }, (_, w) => id.readInt32BE(4 * w));
  return findOrder(t, words, 0) !== 0;
}

test('the tables of the projector equal those of the engine, and LMDB has every fill and every closed order', (t) =>
  seeded(async (random) => {
    const pair = new Pair(t);
    for (const part of parts(tradingDay(random, 1_500))) {
      await pair.go(part);
      pair.settle();
      assert.equal(stateHash(pair.follower.tables), stateHash(pair.context.t));
    }
    pair.checkDerived();
    assert.deepEqual(pair.reports, []);
    pair.follower.close(pair.log.last, pair.now);
  }));

test('a fill is in LMDB within a tenth of a second of its batch, and not each in its own transaction', (t) =>
  seeded(async (random) => {
    const pair = new Pair(t);
    const day = tradingDay(random, 1_000);
    await pair.go(day.slice(0, 60));
    const derived = openDerivedTables(pair.dataDir, QUICK);
    t.after(() => derived.root.close());
    const position = (): number => {
      derived.root.resetReadTxn();
      return positionOf(derived).sequence;
    };
    while (pair.follower.step(pair.log.last, pair.now));
    assert.equal(position(), 0, 'it is waited a little for more');
    assert(pair.follower.patience(pair.now) <= 100);
    pair.now += 100;
    pair.follower.step(pair.log.last, pair.now);
    assert.equal(position(), pair.log.last);
    pair.checkDerived();
  }));

test('every id that memory dropped is found on disk', (t) =>
  seeded(async (random) => {
    const pair = new Pair(t);
    const reader = openClosedOrdersReader(pair.dataDir);
    let forgotten = 0;
    for (const part of parts(tradingDay(random, 1_500))) {
      await pair.go(part);
      pair.settle();
      reader.refresh(pair.context.t.state[State.firstKeptClosed]!);
      for (const { id } of pair.closedOrders) {
        if (isInMemory(pair.context.t, id)) continue;
        forgotten += 1;
        assert(reader.statusOf(id) !== 0, `order ${id.toString('hex')} is forgotten`);
      }
    }
    assert(forgotten > 10 * TIGHT.history, 'memory has forgotten many');
    assert.equal(reader.statusOf(Buffer.alloc(32, 3)), 0, 'an id that never was is not found');
  }));

/** Fills like the projector's, without LMDB. */
function rowsInMemory(): PackedRows {
  const values = new Map<number, Buffer>();
  const table = { get: values.get.bind(values), put: values.set.bind(values) } as unknown;
  return new PackedRows(table as SequenceTable, 'fills', 4 * FILL_WORDS);
}

test('fills that the ring has overwritten since a snapshot are read from LMDB', () => {
  const t = new Tables(allocateEngine(TIGHT));
  t.state[State.fills] = 2 * t.fillRows;
  const rows = rowsInMemory();
  rows.put(0, 10, (sequence, into, at) => into.fill(sequence, at, at + 4 * FILL_WORDS));
  // What a snapshot said of the ring, before so many batches of the log.
  const fills = new StoredFills(t, rows, 5);
  assert.equal(fills.get(7)?.[0], 7);
  const found = [...fills.range(4, t.fillRows + 1)];
  assert.deepEqual(
    found.map(([sequence]) => sequence),
    [4, 5, 6, 7, 8, 9, t.fillRows],
  );
});

test('the oldest fill of a snapshot fits the ring of this run', (t) => {
  const tables = new Tables(allocateEngine(TIGHT));
  tables.state[State.fills] = tables.fillRows + 100;
  const snapshots = new SnapshotFiles(directoryOf(t), 'committed');
  snapshots.load = () => ({ tables, firstFill: 3 });
  const candidates = [{ sequence: 1, path: '' }];
  assert.equal(begin(TIGHT, snapshots, candidates, assert.fail).firstFill, 100);
});

test('a ring is completed up to the newest missing fill', () => {
  const t = new Tables(allocateEngine({ ...TIGHT, trades: 300 }));
  t.state[State.fills] = 300;
  const rows = rowsInMemory();
  const copy = (sequence: number, into: Buffer, at: number): void =>
    void into.fill(sequence & 255, at, at + 4 * FILL_WORDS);
  rows.put(0, rows.blockRows, copy);
  rows.put(150, 200, copy);
  assert.equal(
    loadFills(t, rows, 200, (line) => assert.fail(line)),
    150,
  );
  assert.equal(fillCopy(t, 150)[0], 150);
});

test('a projector that is stopped or killed at any moment continues at its position', (t) =>
  seeded(async (random) => {
    const pair = new Pair(t, { imageBatches: 20 });
    for (const part of parts(tradingDay(random, 1_500))) {
      await pair.go(part);
      const steps = random.below(60);
      for (let i = 0; i < steps; i++) {
        pair.now += random.below(150);
        pair.follower.step(pair.log.last, pair.now);
      }
      // Without an end: what was not written is derived again.
      if (random.chance(40)) pair.start();
      else if (random.chance(30)) {
        pair.follower.close(pair.log.last, pair.now);
        pair.start();
      }
      const older = pair.reports.findLast(({ kind }) => kind === 'image');
      if (older?.kind !== 'image' || older.older === undefined) continue;
      assert(older.older <= pair.follower.written.sequence, 'the log is not trimmed past it');
      await pair.log.trim(older.older);
    }
    pair.settle();
    assert.equal(stateHash(pair.follower.tables), stateHash(pair.context.t));
    pair.checkDerived();
    assert(pair.log.first > 1, 'the log was trimmed meanwhile');
  }));

test('a batch with another result than recorded stops the projector', (t) =>
  seeded(async (random) => {
    const pair = new Pair(t);
    await pair.go(tradingDay(random, 300));
    const { entries } = pair.store;
    const middle = entries[entries.length >> 1]!;
    pair.store.entries = entries.map((entry) =>
      entry === middle ? { ...entry, before: entry.before ^ 1 } : entry,
    );
    const line = new RegExp(`recovery: batch ${middle.sequence}: its digest before differs`);
    assert.throws(() => pair.settle(), line);
    pair.store.entries = entries;
    pair.start();
    pair.settle();
    pair.checkDerived();
  }));

test('another format of derived/ is refused by naming both, and a damaged position with advice', (t) =>
  seeded(async (random) => {
    const pair = new Pair(t);
    await pair.go(tradingDay(random, 50));
    pair.settle();
    const tables = openDerivedTables(pair.dataDir, { durability: 'committed', readOnly: false });
    t.after(() => tables.root.close());
    const key = Buffer.from('position');
    const stored = Buffer.from(tables.meta.get(key)!);
    const change = (value: Buffer): void =>
      void tables.root.transactionSync(() => void tables.meta.put(key, value));
    // As versions before wrote it.
    const older = Buffer.alloc(40);
    older.writeDoubleLE(3, 0);
    change(older);
    assert.throws(
      () => positionOf(tables),
      /^Error: derived: its format is 3, this node reads 4; /,
    );
    const newer = Buffer.from(stored);
    newer.writeUInt32LE(5, 4);
    change(withChecksum(key, newer));
    assert.throws(
      () => positionOf(tables),
      /^Error: derived: its format is 5, this node reads 4; /,
    );
    const damaged = Buffer.from(stored);
    damaged[4 + random.below(36)]! ^= 1;
    change(damaged);
    assert.throws(() => positionOf(tables), /its position is damaged; remove DATA_DIR\/derived/);
  }));

test('damaged rows that are still in memory, and the index, are rebuilt during normal work', (t) =>
  seeded(async (random) => {
    const pair = new Pair(t, {}, { ...TIGHT, trades: 4_000, history: 4_000 });
    const day = parts(tradingDay(random, 800));
    for (const part of day.splice(0, day.length >> 1)) {
      await pair.go(part);
      pair.settle();
    }
    const { root } = openDerivedTables(pair.dataDir, { durability: 'committed', readOnly: false });
    t.after(() => root.close());
    for (const name of ['fills', 'finals', 'ids']) {
      const table = root.openDB<Buffer, Buffer>({
        name,
        encoding: 'binary',
        keyEncoding: 'binary',
      });
      const [row] = table.getRange({ start: Buffer.alloc(0), limit: 1 });
      const value = Buffer.from(row!.value);
      value[random.below(value.length)]! ^= 16;
      root.transactionSync(() => void table.put(row!.key, value));
    }
    pair.start();
    for (const part of day) await pair.go(part);
    pair.settle();
    pair.checkDerived();
    assert.deepEqual(
      pair.lines().map((line) => line.replace(/ \d+ to \d+/, '')),
      [
        'derived: fills were damaged, and are made again',
        'derived: final states of orders were damaged, and are made again',
        'derived: a page of the ids of finished orders is made again',
      ],
    );
  }));

test('deleted LMDB is rebuilt from log and snapshots, and lost rows are reported', (t) =>
  seeded(async (random) => {
    // Two snapshots have to lie in it; some days have few batches of many commands.
    let day = tradingDay(random, 1_500);
    while (day.length < 150) day = tradingDay(random, 1_500);
    const whole = new Pair(t);
    await whole.go(day);
    whole.follower.close(whole.log.last, 0);
    rmSync(join(whole.dataDir, 'derived'), { recursive: true });
    whole.start();
    whole.settle();
    whole.checkDerived();
    const others = whole.lines().filter((line) => !/^(image of|projections: made)/.test(line));
    assert.deepEqual(others, [], 'from the whole log all of it');

    const pair = new Pair(t, { imageBatches: 60 });
    for (const part of parts(day)) {
      await pair.go(part);
      pair.settle();
    }
    const older = pair.reports.findLast(({ kind }) => kind === 'image');
    assert(older?.kind === 'image' && older.older !== undefined);
    await pair.log.trim(older.older);
    rmSync(join(pair.dataDir, 'derived'), { recursive: true });
    const before = pair.lines().length;
    pair.start();
    const said = pair.lines().slice(before);
    const [, fills] = /^derived: fills 0 to (\d+) are gone/.exec(said[0] ?? '') ?? [];
    const [, closedOrders] =
      /^derived: final states of orders 0 to (\d+) are gone/.exec(said[1] ?? '') ?? [];
    assert.equal(said.length, 2);
    assert(Number(fills) + 1 < pair.fills.length - 20 && Number(fills) > 0);
    pair.settle();
    pair.checkDerived(Number(fills) + 1, Number(closedOrders) + 1);
  }));

test('the log may be trimmed to the older of two snapshots, from which recovery still works', (t) =>
  seeded(async (random) => {
    const pair = new Pair(t, { imageBatches: 30 });
    for (const part of parts(tradingDay(random, 1_000))) {
      await pair.go(part);
      pair.settle();
      const last = pair.reports.findLast(({ kind }) => kind === 'image');
      if (last?.kind === 'image' && last.older !== undefined) await pair.log.trim(last.older);
      const snapshots = new SnapshotFiles(pair.dataDir, 'committed');
      const newest = snapshots.list()[0]?.sequence;
      const load = snapshots.load.bind(snapshots);
      snapshots.load = (info) => (info.sequence === newest ? 'it is torn' : load(info));
      const { engine } = recover(TIGHT, snapshots, pair.log, undefined, () => undefined);
      assert.equal(stateHash(engine.t), stateHash(pair.context.t), 'from the older one');
    }
    assert(pair.log.first > 1);
  }));

test('a snapshot is written after so many batches or seconds, at the end, and never twice of one state', (t) =>
  seeded(async (random) => {
    const pair = new Pair(t, { imageBatches: 30, imageSeconds: 60 });
    const snapshots = new SnapshotFiles(pair.dataDir, 'committed');
    const sequences = (): number[] => snapshots.list().map(({ sequence }) => sequence);
    const day = tradingDay(random, 1_000);
    await pair.go(day.slice(0, 60));
    while (pair.follower.step(pair.log.last, pair.now));
    const [first] = sequences();
    assert(first !== undefined && first >= 30);
    await pair.go(day.slice(60, 65));
    while (pair.follower.step(pair.log.last, pair.now));
    assert.deepEqual(sequences(), [first], 'not before it is due');
    pair.now += 60_000;
    while (pair.follower.step(pair.log.last, pair.now));
    assert.deepEqual(sequences(), [pair.log.last, first]);
    pair.now += 60_000;
    while (pair.follower.step(pair.log.last, pair.now));
    assert.deepEqual(sequences(), [pair.log.last, first]);
    await pair.go(day.slice(65, 70));
    pair.follower.close(pair.log.last, pair.now);
    assert.equal(sequences()[0], pair.log.last);
    const { length } = pair.reports;
    pair.start();
    pair.follower.close(pair.log.last, pair.now);
    assert.equal(pair.reports.length, length);
  }));

test('a projector on a full disk waits, says so, and loses nothing', async (t) => {
  const disk = join(directoryOf(t), 'disk');
  mkdirSync(disk);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', disk], { stdio: 'pipe' });
  } catch {
    t.skip('mounting a tmpfs is not allowed here');
    return;
  }
  try {
    await seeded(async (random) => {
      // What waits for the disk needs room in memory.
      const capacities = { ...TIGHT, history: 4_000, orders: 4_000 };
      const pair = new Pair(t, { dataDir: disk }, capacities);
      const day = parts(tradingDay(random, 3_000));
      const first = day.splice(0, day.length >> 1);
      for (const part of first) {
        await pair.go(part);
        pair.settle();
      }
      const { bavail, bsize } = statfsSync(disk);
      appendFileSync(join(disk, 'filler'), Buffer.alloc(bavail * bsize, 1));
      for (const part of day) {
        await pair.go(part);
        pair.settle();
      }
      const problems = (): (string | undefined)[] =>
        pair.reports.flatMap((report) => (report.kind === 'problem' ? [report.problem] : []));
      assert.equal(problems().length, 1, 'told once');
      assert.match(
        problems()[0]!,
        /^derived: a write failed: No space left .*: \d+ bytes, a transaction may/,
      );
      assert(pair.follower.written.sequence < pair.log.last);
      assert(pair.follower.patience(pair.now) > 0);
      rmSync(join(disk, 'filler'));
      pair.settle();
      assert.deepEqual(problems().slice(1), [undefined]);
      pair.settle();
      pair.checkDerived();
      pair.follower.close(pair.log.last, pair.now);
    });
  } finally {
    execFileSync('umount', ['--lazy', disk]);
  }
});
