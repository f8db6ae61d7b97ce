/** The contract of a log of several machines, of the one in memory and of the one on a real etcd. */
import test from 'node:test';
import { Etcd, NO_ETCD } from '../../bench/common/etcd.ts';
import { freshSeed, Random } from '../common/random.ts';
import { BEHAVIOURS } from './contract.ts';
import { etcdPlace, memoryPlace, type Place } from './log-place.ts';

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

test('the log on etcd', { skip: NO_ETCD }, async (t) => {
  const etcd = await Etcd.start();
  t.after(() => etcd.close());
  for (const [i, name] of Object.keys(BEHAVIOURS).entries()) {
    await t.test(name, () => behave(etcdPlace(etcd, `venue-${i}`), name));
  }
});
