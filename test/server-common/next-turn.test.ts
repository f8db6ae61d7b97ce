import assert from 'node:assert/strict';
import test from 'node:test';
import { nextIteration } from '../../server/common/event-loop.ts';
import { turnsOf } from '../common/turns.ts';

test('one waiter continues in each event-loop iteration, in the order of requests', async () => {
  const [jobs, parts] = [5, 20];
  const order: string[] = [];
  const work = async (job: number): Promise<void> => {
    for (let part = 0; part < parts; part++) {
      await nextIteration();
      order.push(`${part} of ${job}`);
    }
  };
  const { turns } = await turnsOf(Promise.all(Array.from({ length: jobs }, (_, job) => work(job))));
  assert(turns >= jobs * parts - 1, `${turns} turns`);
  const expected = Array.from({ length: jobs * parts }, (_, i) => {
    return `${Math.floor(i / jobs)} of ${i % jobs}`;
  });
  assert.deepEqual(order, expected);
});
