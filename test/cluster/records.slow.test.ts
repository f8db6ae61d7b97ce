import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandBuffer } from '../../engine/commands.ts';
import { Event, EventKind, eventWords } from '../../engine/events.ts';
import { openOrders } from '../../engine/reads.ts';
import { stateHash } from '../../engine/tables/state-hash.ts';
import type { AppliedBatch } from '../../server/orders/worker/applied-batch.ts';
import { encodeBatch } from '../../storage/log/batch-record.ts';
import { batchOf } from '../../storage/recovery/replay.ts';
import type { Random } from '../common/random.ts';
import { type LoggedBatch, ROOMY } from '../engine/engine-driver.ts';
import { encodeExpiring } from '../engine/expiring-order.ts';
import { ledgerDay, seeded, tradingDay } from '../storage/stored-exchange.ts';
import { LiveEngine } from './live-engine.ts';

const WITH_LEDGER = { ...ROOMY, positions: 65_536, history: 60 };
/** Commands of the batches that are joined to large ones, whose events have no room in a slot. */
const LARGE_COMMANDS = 4_000;

/** Small batches unchanged, then some that are joined. */
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

/** Words that an event of a kind uses; other words are stale. */
const USED: Readonly<Record<number, readonly number[]>> = {
  [EventKind.placed]: [1, 2, 3],
  [EventKind.fill]: [6, 7],
  [EventKind.partly]: Array.from({ length: 32 }, (_, i) => 8 + i),
  [EventKind.closed]: [6, 7],
  [EventKind.levelPlaced]: [1, 2, 3, 4, 5, 6, 7],
  [EventKind.levelFill]: [1, 2, 3, 4, 5, 6, 7],
  [EventKind.levelClosed]: [1, 2, 3, 4, 5, 6, 7],
  [EventKind.tick]: [1, 2, 3],
  [EventKind.market]: [1, 2, 3, 4, 5],
  [EventKind.settled]: [1, 2],
  [EventKind.entry]: Array.from({ length: 19 }, (_, i) => 1 + i),
  [EventKind.resolved]: [1, 2],
  [EventKind.reserved]: [2, 3, 4, 5, 6, 7],
  [EventKind.levelSource]: [1, 2, 3, 4, 5, 6, 7],
  [EventKind.delayed]: [1, 2, 3],
  [EventKind.due]: [2, 3, ...Array.from({ length: 32 }, (_, i) => 8 + i)],
  [EventKind.decided]: [1, 6, 7, ...Array.from({ length: 48 }, (_, i) => 8 + i)],
};

function comparable({ commandsF: _, events, eventsF: __, ...batch }: AppliedBatch): object {
  const what: number[][] = [];
  for (let at = 0; at < events.length; at += eventWords(events, at)) {
    const kind = events[at + Event.kind]!;
    what.push([kind, ...USED[kind]!.map((word) => events[at + word]!)]);
  }
  return { ...batch, what };
}

async function dayOf(day: readonly LoggedBatch[], joined: number): Promise<LiveEngine> {
  const leader = new LiveEngine(WITH_LEDGER);
  for (const [commands, time] of batchesOf(day, joined)) await leader.lead(commands, time);
  // Nothing more expires, and nothing is forgotten.
  leader.sequencer.pause('the day is over');
  await leader.sequencer.idle();
  return leader;
}

async function ledLike(day: readonly LoggedBatch[], random: Random): Promise<void> {
  const leader = await dayOf(day, random.between(1_000, LARGE_COMMANDS));
  const other = new LiveEngine(WITH_LEDGER);
  try {
    await other.follow(leader.store.entries);
    assert.deepEqual([leader.fatal, other.fatal], [[], []]);
    assert(leader.batches.length > 0);
    for (const [i, batch] of leader.batches.entries()) {
      assert.deepEqual(comparable(other.batches[i]!), comparable(batch), `batch ${i}`);
    }
    assert.deepEqual(other.store.entries, leader.store.entries);
    assert.equal(stateHash(other.t), stateHash(leader.t));
  } finally {
    await Promise.all([leader.close(), other.close()]);
  }
}

test('records of a leader give equal tables, events and log on another node', () =>
  seeded((random) => ledLike(tradingDay(random, 6_000), random)));

test('records of a ledger with resolutions give equal tables, events and log on another node', () =>
  seeded((random) => ledLike(ledgerDay(random, 2_000), random)));

test('a successor ends due orders, in a slot that held a record before', async () => {
  const expiration = 5;
  const [leader, other] = [new LiveEngine(WITH_LEDGER), new LiveEngine(WITH_LEDGER)];
  try {
    for (const engine of [leader, other]) engine.time = 1_000;
    const commands = new CommandBuffer();
    encodeExpiring(commands, expiration);
    await leader.lead(commands.i32.slice(0, commands.words), 1_000);
    await other.follow(leader.store.entries);
    assert.equal(openOrders(other.t), 1);

    other.time = expiration * 1_000;
    other.sequencer.follow(false);
    while (openOrders(other.t) > 0 && other.fatal.length === 0) await sleep(1);
    assert.deepEqual(other.fatal, []);
    await other.sequencer.idle();
    const [before, after] = other.store.entries.slice(-2).map(batchOf);
    assert.equal(after!.sequence, before!.sequence + 1);
    assert.equal(after!.i32.length, 0);
  } finally {
    await Promise.all([leader.close(), other.close()]);
  }
});

test('a record with another effect stops the node, and is not in its log', () =>
  seeded(async (random) => {
    const leader = await dayOf(tradingDay(random, 100), 50);
    const other = new LiveEngine(WITH_LEDGER);
    try {
      const { entries } = leader.store;
      const last = entries.at(-1)!;
      const record = batchOf(last);
      const payload = encodeBatch({ ...record, digest: record.digest ^ 1 }, record.i32);
      await other.follow([...entries.slice(0, -1), { ...last, payload }]);
      await other.log.whenDurable();
      assert.match(other.fatal.join(), /its digest differs/);
      assert.equal(other.store.entries.length, entries.length - 1);
    } finally {
      await Promise.all([leader.close(), other.close()]);
    }
  }));

test('ids leave memory only once this node, too, has projected the orders', () =>
  seeded(async (random) => {
    const leader = await dayOf(tradingDay(random, 3_000), 100);
    const other = new LiveEngine(WITH_LEDGER);
    try {
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
      await other.log.whenDurable();
      assert.equal(other.store.entries.length, forgets);
      derived = Number.POSITIVE_INFINITY;
      await following;
      assert.deepEqual(other.fatal, []);
      assert.equal(other.store.entries.length, entries.length);
    } finally {
      await Promise.all([leader.close(), other.close()]);
    }
  }));
