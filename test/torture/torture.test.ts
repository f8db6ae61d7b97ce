/** A little of every part of `npm run torture`, each run with seeds of its own. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { freshSeed, SHORT } from '../common/random.ts';
import { faults } from './faults.ts';
import { input } from './input.ts';
import { interleavings } from './interleavings.ts';
import { kills } from './kills.ts';
import { model } from './model.ts';
import { overload } from './overload.ts';
import type { PartOptions } from './part.ts';
import { Simulator } from './simulate.ts';
import { soak } from './soak.ts';
import { slowdown, trendOf } from './trend.ts';

const isLong = SHORT === false;

/** A part says what it reproduces with when it fails. */
function little(goal: number, goalLong: number): PartOptions {
  const milliseconds = Number.POSITIVE_INFINITY;
  return { seed: freshSeed(), goal: isLong ? goalLong : goal, milliseconds, say: () => undefined };
}

async function well(part: Promise<unknown>): Promise<void> {
  await part;
}

test('a simulated node survives a crash at every write; the same seed does the same', async () => {
  const simulator = new Simulator();
  const { seed } = little(0, 0);
  const again = `reproduce with: npm run torture -- simulation --seed ${seed}`;
  try {
    const first = await simulator.run(seed);
    assert(first.checks > 20 && first.batches > 20, again);
    assert.deepEqual(await simulator.run(seed), first, again);
  } catch (error) {
    console.error(again);
    throw error;
  } finally {
    await simulator.close();
  }
});

test(
  'a node killed again and again under load keeps all that it acknowledged, cancels too',
  {
    skip: SHORT,
  },
  () => well(kills(little(2, 20))),
);

test('workers held up anywhere apply batches in the order of their tickets, and no book is torn', () =>
  well(interleavings(little(24, 600))));

test('whatever is asked is answered in the documented shape, and changes nothing', () =>
  well(input(little(500, 15_000))));

test('the engine does what the naive exchange does, whatever the shape of the stream', () =>
  well(model(little(2_000, 200_000))));

test('a fault of the machine costs nothing that was told', { skip: SHORT }, () =>
  well(faults(little(1, 6))),
);

test('more than a node can take is refused, and it is quick again', { skip: SHORT }, () =>
  well(overload(little(2, 5))),
);

test('a mixed load with catalogs, images and streams goes on', { skip: SHORT }, () =>
  well(soak(little(0.1, 0.3))),
);

test('a run that gets slower is told from one with disturbed minutes, and from a machine that does', () => {
  const run = (p99: (minute: number) => number) =>
    trendOf(Array.from({ length: 1_200 }, (_, seconds) => ({ seconds, p99: p99(seconds / 60) })));
  const even = run(() => 1);
  const problem = (p99: (minute: number) => number, bare = even) => slowdown(run(p99), bare, 1.2);
  const always = problem(() => 10);
  assert.equal(always, undefined);
  // The first minute warms up; single minutes are anything.
  const noisy = run((minute) => (minute < 1 || (minute > 7 && minute < 8) ? 90 : 10));
  assert.deepEqual([slowdown(noisy, even, 1.2), noisy.early, noisy.late], [undefined, 10, 10]);
  const once = problem((minute) => (minute >= 18 ? 30 : 10));
  assert.equal(once, undefined, 'one minute');
  const steady = (minute: number): number => 10 + minute;
  assert.match(problem(steady) ?? '', /^p99 grows: 11\.\d ms/);
  const inSteps = (minute: number): number => (minute >= 12 ? 13 : 10);
  assert.match(problem(inSteps) ?? '', /13\.0 ms in the last; that of a bare write 1\.0 ms/);
  const slower = run((minute) => (minute >= 12 ? 1.3 : 1));
  assert.equal(problem(inSteps, slower), undefined, 'as the machine does');
  const quicker = run((minute) => (minute >= 12 ? 0.5 : 1));
  assert.match(problem(inSteps, quicker) ?? '', /^p99 grows/);
});
