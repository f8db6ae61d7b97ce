import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Etcd, NO_ETCD } from '../../bench/common/etcd.ts';
import { freshSeed, Random, rounds } from '../common/random.ts';
import { type HistoryShape, runHistory } from './history.ts';
import { etcdPlace, memoryPlace, type Place } from './log-place.ts';

async function checked(
  place: Place,
  shape: HistoryShape,
): Promise<Readonly<Record<string, number>>> {
  const seed = freshSeed();
  try {
    return await runHistory((faults) => place.open(faults), new Random(seed), shape);
  } catch (error) {
    console.error(`replay with: SEED=${seed} npm test`);
    throw error;
  } finally {
    await place.close();
  }
}

test('every answer to nodes that take the log from one another is true, in memory', async () => {
  const counts: Record<string, number> = { acknowledged: 0, refused: 0, unknown: 0 };
  for (let round = 0; round < rounds(6); round++) {
    const shape = { nodes: 3, records: 60, patienceMs: 100 + 200 * (round % 3) };
    const seen = await checked(memoryPlace(), shape);
    for (const [name, count] of Object.entries(seen)) counts[name]! += count;
  }
  for (const [name, count] of Object.entries(counts)) assert(count > 0, `some are ${name}`);
});

test('every answer to such nodes is true on an etcd whose leading member is killed now and then', {
  skip: NO_ETCD,
}, async (t) => {
  const etcd = await Etcd.start();
  let isOver = false;
  const kills = (async () => {
    while (!isOver) {
      await sleep(500);
      const leader = await etcd.leader();
      await leader.kill();
      await sleep(300);
      leader.start();
      await sleep(2_000);
    }
  })();
  t.after(async () => {
    isOver = true;
    await kills;
    await etcd.close();
  });
  for (let round = 0; round < rounds(4); round++) {
    const shape = { nodes: 3, records: 120, patienceMs: 1_500 };
    const { acknowledged } = await checked(etcdPlace(etcd, `venue-${round}`), shape);
    assert(acknowledged! > 0);
  }
});
