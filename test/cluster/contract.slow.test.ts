import assert from 'node:assert/strict';
import test from 'node:test';
import { Etcd, NO_ETCD } from '../../bench/common/etcd.ts';
import { NoSpace } from '../../storage/replicated-log/replicated-log.ts';
import { freshSeed, Random } from '../common/random.ts';
import { MemoryCluster, MemoryLog } from '../storage/memory-log.ts';
import { BEHAVIOURS } from './contract.ts';
import {
  appendNext,
  claimed,
  entryOf,
  etcdPlace,
  memoryPlace,
  Observer,
  type Place,
  until,
} from './log-place.ts';

async function behave(place: Place, name: string): Promise<void> {
  const seed = freshSeed();
  try {
    await BEHAVIOURS[name]!((faults) => place.open(faults), new Random(seed));
  } catch (error) {
    console.error(`replay with: SEED=${seed} npm test`);
    throw error;
  } finally {
    await place.close();
  }
}

test('the log in memory', async (t) => {
  for (const name of Object.keys(BEHAVIOURS)) {
    await t.test(name, () => behave(memoryPlace(), name));
  }
});

test('a full log in memory makes its writer wait, and says so', async (t) => {
  const cluster = new MemoryCluster();
  const log = new MemoryLog(cluster);
  t.after(() => log.close());
  const writer = await claimed(log);
  const room: (string | undefined)[] = [];
  writer.onRoom = (problem) => void room.push(problem);
  cluster.full = 'refuses';
  let isDone = false;
  const append = appendNext(writer).then(() => {
    isDone = true;
  });
  await until(() => room.length === 1, 'it says so');
  await assert.rejects(writer.heartbeat(Buffer.from('x'), 1_000), NoSpace);
  const tail = await log.tail(1_000);
  await assert.rejects(log.claim(tail, entryOf(2), { node: 'b', patienceMs: 1_000 }), NoSpace);
  assert(!isDone);
  cluster.full = 'no';
  await append;
  assert.deepEqual(room, ['the log of the cluster is full', undefined]);
});

test('a record that a log stores while it reports that it is full is acknowledged', async (t) => {
  const cluster = new MemoryCluster();
  const log = new MemoryLog(cluster);
  t.after(() => log.close());
  const writer = await claimed(log);
  const room: (string | undefined)[] = [];
  writer.onRoom = (problem) => void room.push(problem);
  cluster.full = 'pretends';
  await appendNext(writer);
  assert.equal(room.length, 1);
  assert.equal((await log.tail(1_000)).sequence, 2);
  cluster.full = 'no';
  await until(() => room.length === 2, 'there is room, though nothing is appended');
});

test('the log on etcd', { skip: NO_ETCD }, async (t) => {
  const etcd = await Etcd.start();
  t.after(() => etcd.close());
  for (const [i, name] of Object.keys(BEHAVIOURS).entries()) {
    await t.test(name, () => behave(etcdPlace(etcd, `venue-${i}`), name));
  }
});

test('a follower continues in a log that begins where the lost one ended', {
  skip: NO_ETCD,
}, async (t) => {
  const etcd = await Etcd.start({ members: 1 });
  const place = etcdPlace(etcd, 'venue');
  const client = await etcd.client();
  t.after(async () => {
    await place.close();
    client.close();
    await etcd.close();
  });
  const observer = new Observer(await place.open());
  const writer = await claimed(await place.open());
  for (let i = 0; i < 4; i++) await appendNext(writer);
  await observer.has(5);
  await client.delete({ start: 'venue/', end: 'venue0' }, 10_000);
  await until(() => observer.empties.length > 0, 'it finds the log empty');
  await assert.rejects(appendNext(writer));
  await (await place.open()).begin([entryOf(4), entryOf(5)], 6, 10_000);
  await appendNext(await claimed(await place.open()));
  await observer.has(7);
  assert.deepEqual(observer.empties, [true, false]);
});
