/** Final states of orders: on disk in the order of finishing, before memory forgets them. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { Flag, Order, State } from '../../engine/layout.ts';
import { findOrder } from '../../engine/orders.ts';
import type { Tables } from '../../engine/tables.ts';
import { FinalsKeeper } from '../../server/orders/keepers.ts';
import { finalCopies } from '../../storage/fills.ts';
import { type FinalsReader, openFinalsReader } from '../../storage/finals-reader.ts';
import { FINALS_PER_COMMIT, type Journal, type StoredFinal } from '../../storage/journal.ts';
import type { JournalBatch } from '../engine/engine-driver.ts';
import {
  appended,
  directoryOf,
  Exchange,
  journalOf,
  seeded,
  TIGHT,
  tradingDay,
} from './stored-exchange.ts';

/** A node's memory, journal and keeper. */
class Node {
  readonly exchange: Exchange;
  readonly journal: Journal;
  readonly keeper: FinalsKeeper;
  readonly lines: string[] = [];
  /** Every order that ever finished, in its order. */
  readonly finals: StoredFinal[] = [];

  constructor(t: TestContext, directory: string, exchange = new Exchange()) {
    this.exchange = exchange;
    this.journal = journalOf(t, directory);
    const { state } = exchange.t;
    this.keeper = new FinalsKeeper(exchange.t, this.journal, state[State.finished]!, (line) =>
      this.lines.push(line),
    );
  }

  /** As the sequencer: the stamp is what was on disk at dispatch. */
  async go(batches: readonly JournalBatch[]): Promise<void> {
    const { t } = this.exchange;
    for (const batch of batches) {
      const before = t.state[State.finished]!;
      const entry = this.exchange.apply(batch, this.keeper.flushed);
      this.finals.push(...finalCopies(t, before, t.state[State.finished]!));
      if (entry === null) continue;
      await appended(this.journal, entry);
      this.keeper.reach(t.state[State.finished]!);
    }
  }
}

function isInMemory(t: Tables, id: Buffer): boolean {
  const words = Int32Array.from({ length: 8 }, (_, w) => id.readInt32BE(4 * w));
  return findOrder(t, words, 0) !== 0;
}

test('every finished order is on disk as it ended, and those that memory forgot are found', (t) =>
  seeded(async (random) => {
    const directory = directoryOf(t);
    const node = new Node(t, directory);
    const reader: FinalsReader = openFinalsReader(directory);
    const day = tradingDay(random, 1_500);
    let forgotten = 0;
    for (let at = 0; at < day.length; at += 25) {
      await node.go(day.slice(at, at + 25));
      await node.keeper.drain();
      reader.refresh();
      // Whatever was evicted until now had to be on disk before.
      for (const { id } of node.finals) {
        if (isInMemory(node.exchange.t, id)) continue;
        forgotten += 1;
        assert(reader.statusOf(id) !== 0, `order ${id.toString('hex')} is forgotten`);
      }
    }
    assert(forgotten > 10 * TIGHT.history, 'memory has forgotten many');
    assert.equal(reader.statusOf(Buffer.alloc(32, 3)), 0, 'an id that never was is not found');
    assert.deepEqual(node.lines, []);
    const { finals } = node.journal.tables;
    for (const { id, row } of node.finals) {
      assert.deepEqual(finals.get(id), row);
      assert.equal(
        reader.statusOf(id),
        (row.readInt32LE(4 * Order.flags) >>> Flag.statusShift) & 7,
      );
    }
    assert.equal(finals.getKeysCount(), node.finals.length, 'and nothing else');
    assert.equal(node.journal.finalsFlushed(), node.finals.length);
    assert.equal(node.keeper.flushed, node.finals.length);
  }));

test('what had not been moved before a restart is moved after it', (t) =>
  seeded(async (random) => {
    const directory = directoryOf(t);
    // A longer history: until they are moved, finished orders stay in memory.
    const exchange = new Exchange({ ...TIGHT, history: 1_000 });
    const node = new Node(t, directory, exchange);
    const day = tradingDay(random, 1_000);
    await node.go(day.slice(0, 40));
    await node.keeper.drain();
    const moved = node.keeper.flushed;
    assert(moved > 0);
    t.mock.method(node.journal, 'putFinals', () => Promise.reject(new Error('not now')));
    await node.go(day.slice(40));
    assert.equal(node.keeper.flushed, moved);
    t.mock.restoreAll();
    const again = new Node(t, directory, exchange);
    await again.keeper.drain();
    assert.equal(again.keeper.flushed, node.finals.length);
    for (const { id, row } of node.finals) {
      assert.deepEqual(again.journal.tables.finals.get(id), row);
    }
  }));

test('they move in order, and never more than a bounded number at once', async () => {
  const ends: number[] = [];
  const counts: number[] = [];
  const journal = {
    failure: undefined,
    finalsFlushed: () => 0,
    putFinals: (finals: readonly StoredFinal[], end: number) => {
      counts.push(finals.length);
      ends.push(end);
      return new Promise<void>((resolve) => setImmediate(resolve));
    },
  } as unknown as Journal;
  const exchange = new Exchange({ ...TIGHT, history: 8_000 });
  const keeper = new FinalsKeeper(exchange.t, journal, 0, assert.fail);
  keeper.reach(3_000);
  await keeper.drain();
  keeper.reach(5_000);
  keeper.reach(5_001);
  await keeper.drain();
  assert.deepEqual(ends, [FINALS_PER_COMMIT, 3_000, 3_000 + 2_001]);
  assert.deepEqual(counts, [FINALS_PER_COMMIT, 3_000 - FINALS_PER_COMMIT, 2_001]);
});

test('after a failure of the journal the keeper gives up, and says why', async () => {
  const journal = {
    failure: undefined as Error | undefined,
    finalsFlushed: () => 0,
    putFinals() {
      this.failure = new Error('no space');
      return Promise.reject(this.failure);
    },
  };
  const lines: string[] = [];
  const { t } = new Exchange();
  const keeper = new FinalsKeeper(t, journal as unknown as Journal, 0, (line) => lines.push(line));
  keeper.reach(10);
  await keeper.drain();
  assert.equal(keeper.flushed, 0);
  assert.deepEqual(lines, ['final states: no space']);
});
