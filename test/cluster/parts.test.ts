/**
 * Parts of a node's role: time, heartbeats and their timeout, the feed of records, the first record
 * of an epoch.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { Engine } from '../../engine/engine.ts';
import { stateDigest } from '../../engine/reads.ts';
import { allocateEngine } from '../../engine/tables/tables.ts';
import { ClusterClock } from '../../server/cluster/cluster-clock.ts';
import { epochRecord } from '../../server/cluster/epoch-record.ts';
import { smallerTables } from '../../server/cluster/heartbeat.ts';
import { HeartbeatTimeout } from '../../server/cluster/heartbeat-timeout.ts';
import { RecordFeed } from '../../server/cluster/record-feed.ts';
import { controlRecordsOf } from '../../storage/control-records/control-records.ts';
import type { LogEntry } from '../../storage/log/log.ts';
import { batchOf, replay } from '../../storage/recovery/replay.ts';
import { ROOMY } from '../engine/engine-driver.ts';
import { Exchange, ledgerDay, seeded, TIGHT, tradingDay } from '../storage/stored-exchange.ts';

const SETTINGS = {
  selfTrade: 2,
  openOrdersPerAccount: 9,
  walletsPerSigner: 4,
  openOrdersPerWallet: 3,
  exposurePerWallet: 0,
  ledger: false,
};
const HANDOVER = { from: 'n1', by: 'anna, 127.0.0.1', reasons: ['log', 'clock-skew'] };
const PAYLOAD = Buffer.alloc(0);

function entryOf(sequence: number, time = 0): LogEntry {
  return { sequence, time, before: sequence - 1, after: sequence, payload: PAYLOAD };
}

test('the time of a cluster continues from its newest record, and never goes back', () => {
  let steady = 100;
  const clock = new ClusterClock(1_000, () => steady);
  steady += 50;
  assert.equal(clock.now(), 1_050);
  clock.reach(5_000);
  steady += 600_000;
  assert.equal(clock.now(), 605_000);
  // The first record of an epoch has the time of the one before it: nothing that has passed is lost.
  clock.reach(5_000);
  assert.equal(clock.now(), 605_000);
  clock.reach(700_000);
  assert.equal(clock.now(), 700_000);
});

test('a process that stood still does not count that time as silence of the leader', () => {
  let steady = 0;
  const silence = new HeartbeatTimeout(100, () => steady);
  steady += 60;
  assert.equal(silence.look(), 60);
  steady += 60_000;
  assert.equal(silence.look(), 160);
  silence.end();
  steady += 10;
  assert.equal(silence.look(), 10);
});

test('records that arrive twice are applied once, and the feed reports its lag', async () => {
  let steady = 0;
  const given: (() => void)[] = [];
  const sequencer = { apply: (_: Uint8Array, applied: () => void) => void given.push(applied) };
  const clock = new ClusterClock(0, () => steady);
  const feed = new RecordFeed({ sequence: 4, digest: 4 }, sequencer, clock, () => steady);
  feed.reaches(4);
  assert.equal(feed.behindMs(), 0);
  feed.reaches(6);
  steady = 30;
  assert.equal(feed.behindMs(), 30, 'records are there that have not come');
  void feed.take(entryOf(5));
  void feed.take(entryOf(5));
  void feed.take(entryOf(6));
  feed.reaches(6);
  assert.equal(given.length, 2);
  steady = 50;
  assert.equal(feed.behindMs(), 20, 'they are not applied');
  let isApplied = false;
  const applying = feed.whenApplied(6).then(() => (isApplied = true));
  given[0]!();
  await Promise.resolve();
  assert.deepEqual([feed.applied, isApplied], [5, false]);
  given[1]!();
  await applying;
  assert.deepEqual([feed.applied, feed.behindMs()], [6, 0]);
  // The log does not answer, which is noticed some time after its last sign.
  feed.reaches(undefined, 45);
  assert.equal(feed.behindMs(), 5);
});

test('a full feed makes the log wait', async () => {
  const given: (() => void)[] = [];
  const sequencer = { apply: (_: Uint8Array, applied: () => void) => void given.push(applied) };
  const feed = new RecordFeed({ sequence: 0, digest: 0 }, sequencer, new ClusterClock(0));
  let sequence = 1;
  let room = feed.take(entryOf(sequence));
  while (room === undefined) {
    sequence += 1;
    assert(sequence < 10_000, 'the feed has a bound');
    room = feed.take(entryOf(sequence));
  }
  for (const applied of given.splice(0)) applied();
  await room;
});

test('the first record of an epoch has its recorded effect', () =>
  seeded(async (random) => {
    for (const day of [tradingDay(random, 300), ledgerDay(random, 300)]) {
      const exchange = new Exchange({ ...ROOMY, positions: 65_536 });
      for (const batch of day) exchange.apply(batch);
      const handover = random.chance(50) ? HANDOVER : undefined;
      const record = epochRecord(exchange.t, SETTINGS, handover);
      const records = [...controlRecordsOf(batchOf(record).i32)];
      assert.deepEqual(records, handover === undefined ? [] : [{ about: 'handover', handover }]);
      assert.equal(record.before, stateDigest(exchange.t));
      replay(exchange.engine, record, batchOf(record));
      assert.equal(stateDigest(exchange.t), record.after);
    }
  }));

test('the very first record has its recorded effect, with and without a ledger', () => {
  for (const ledger of [true, false]) {
    const engine = new Engine(allocateEngine({ ...TIGHT, positions: ledger ? 64 : 0 }));
    const record = epochRecord(engine.t, { ...SETTINGS, ledger });
    assert.equal(record.sequence, 1);
    replay(engine, record, batchOf(record));
    assert.equal(stateDigest(engine.t), record.after);
  }
});

test('tables smaller than those of a leader are named by their settings', () => {
  assert.equal(smallerTables(TIGHT, TIGHT), undefined);
  assert.equal(smallerTables({ ...TIGHT, trades: 61 }, TIGHT), undefined);
  assert.equal(smallerTables({ ...TIGHT, history: 29 }, TIGHT), 'ORDER_HISTORY is 29, there 30');
});
