/** Tables that are fed by the records of another node. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stateHash } from '../../engine/tables/state-hash.ts';
import { usedSpans } from '../../engine/tables/tables.ts';
import { encodeBatch } from '../../storage/log/batch-record.ts';
import { batchOf } from '../../storage/recovery/replay.ts';
import type { Random } from '../common/random.ts';
import { type LoggedBatch, ROOMY } from '../engine/engine-driver.ts';
import { ledgerDay, seeded, tradingDay } from '../storage/stored-exchange.ts';
import { LiveEngine } from './live-engine.ts';

const WITH_LEDGER = { ...ROOMY, positions: 65_536, history: 60 };
/** Commands of the batches that are joined to large ones, whose events have no room in a slot. */
const LARGE_COMMANDS = 4_000;

/** Small batches as they came, then some that are joined. */
function batchesOf(
  day: readonly LoggedBatch[],
  joined: number,
): readonly (readonly [Int32Array, number])[] {
  const batches: [Int32Array, number][] = [];
  const commands = day.flatMap((batch) =>
    batch.commands.map((command) => ({ command, time: batch.time })),
  );
  const split = Math.floor(commands.length / 2);
  for (const { command, time } of commands.slice(0, split)) batches.push([command, time]);
  for (let at = split; at < commands.length; at += joined) {
    const some = commands.slice(at, at + joined);
    const words = Int32Array.from(some.flatMap(({ command }) => [...command]));
    batches.push([words, some.at(-1)!.time]);
  }
  return batches;
}

async function ledLike(day: readonly LoggedBatch[], random: Random): Promise<void> {
  const leader = new LiveEngine(WITH_LEDGER);
  const other = new LiveEngine(WITH_LEDGER);
  for (const [commands, time] of batchesOf(day, random.below(LARGE_COMMANDS - 1_000) + 1_000)) {
    await leader.lead(commands, time);
  }
  await other.follow(leader.store.entries);
  assert.deepEqual([leader.fatal, other.fatal], [[], []]);
  assert(leader.batches.length > 0);
  assert.deepEqual(other.batches, leader.batches);
  assert.deepEqual(other.store.entries, leader.store.entries);
  assert.equal(stateHash(other.t), stateHash(leader.t));
  for (const [i, { bytes, name, start }] of usedSpans(leader.t).entries()) {
    const [led, fed] = [leader, other].map(({ t }) =>
      Buffer.from(t.memory.buffers[name]).subarray(start, start + bytes),
    );
    assert(led!.equals(fed!), `${name} (${i})`);
  }
  await leader.close();
  await other.close();
}

test('records of a leader give the same tables, events and log on another node', () =>
  seeded((random) => ledLike(tradingDay(random, 6_000), random)));

test('so do records of a ledger, with resolutions', () =>
  seeded((random) => ledLike(ledgerDay(random, 2_000), random)));

test('a record whose effect differs stops the node, and nothing of it is in its log', () =>
  seeded(async (random) => {
    const leader = new LiveEngine(WITH_LEDGER);
    const other = new LiveEngine(WITH_LEDGER);
    for (const [commands, time] of batchesOf(tradingDay(random, 100), 50)) {
      await leader.lead(commands, time);
    }
    const { entries } = leader.store;
    const last = entries.at(-1)!;
    const record = batchOf(last);
    const payload = encodeBatch({ ...record, digest: record.digest ^ 1 }, record.i32);
    await other.follow([...entries.slice(0, -1), { ...last, payload }]);
    assert.match(other.fatal.join(), /its digest differs/);
    assert.equal(other.store.entries.length, entries.length - 1);
    await leader.close();
    await other.close();
  }));

test('ids leave memory only once this node, too, has derived the orders', () =>
  seeded(async (random) => {
    const leader = new LiveEngine(WITH_LEDGER);
    const other = new LiveEngine(WITH_LEDGER);
    for (const [commands, time] of batchesOf(tradingDay(random, 3_000), 100)) {
      await leader.lead(commands, time);
    }
    const { entries } = leader.store;
    let derived = 0;
    other.closedPersisted = () => derived;
    const following = other.follow(entries);
    const forgets = entries.findIndex((entry) => {
      const { closedEnd, persistedClosedSequence } = batchOf(entry);
      return Math.min(persistedClosedSequence, closedEnd - WITH_LEDGER.history) > 0;
    });
    assert(forgets > 0, 'the day has more orders than memory keeps');
    while (other.store.entries.length < forgets) await new Promise((next) => setImmediate(next));
    await other.sequencer.whenBatchesDone(() => undefined);
    assert.equal(other.store.entries.length, forgets);
    derived = Number.POSITIVE_INFINITY;
    await following;
    assert.deepEqual(other.fatal, []);
    assert.equal(other.store.entries.length, entries.length);
    await leader.close();
    await other.close();
  }));
