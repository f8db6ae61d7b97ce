import assert from 'node:assert/strict';
import test from 'node:test';
import { AppliedSequence } from '../../server/orders/intake/applied-sequence.ts';

const LONG_MS = 600_000;

test('a waiter continues with its batch or a later one, and never before', async () => {
  const applied = new AppliedSequence(7);
  assert.equal(await applied.when(7, 0), true);
  const reached: number[] = [];
  const wait = async (sequence: number): Promise<void> => {
    if (await applied.when(sequence, LONG_MS)) reached.push(sequence);
  };
  const waits = [12, 9, 2 ** 53 - 1, 9, 10].map(wait);
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  for (const [sequence, expected] of [
    [8, []],
    [9, [9, 9]],
    [11, [9, 9, 10]],
    [11, [9, 9, 10]],
    [12, [9, 9, 10, 12]],
    [2 ** 53 - 1, [9, 9, 10, 12, 2 ** 53 - 1]],
  ] as const) {
    applied.reach(sequence);
    await settle();
    assert.deepEqual(reached, expected);
    assert.equal(applied.newest, sequence);
  }
  await Promise.all(waits);
});

test('a waiter that waits too long is rejected, and the others continue', async () => {
  const applied = new AppliedSequence(1);
  const patient = applied.when(3, LONG_MS);
  assert.equal(await applied.when(2, 1), false);
  applied.reach(2);
  applied.reach(3);
  assert.equal(await patient, true);
});

test('a condition without a known batch is checked after each batch', async () => {
  const applied = new AppliedSequence(1);
  let asked = 0;
  const there = applied.until(() => {
    asked += 1;
    return applied.newest === 3;
  }, LONG_MS);
  for (const sequence of [2, 3]) {
    applied.reach(sequence);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await there;
  assert.equal(asked, 3);
});
