/**
 * The proof of the fill model: recordings with random paper traders beside them. After every message the book is
 * what the source offers, less what was taken, and the paper orders; each fill is one that the source offered or
 * traded; the ledger adds up; the same run gives the same fills.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { SHORT, withSeed } from '../common/random.ts';
import { type Recorded, type RunResult, runPaper } from './paper-run.ts';
import { randomRecording, readRecorded, sharedPaths } from './recorded.ts';

const SETTINGS = [
  { impact: 'keep', queue: 'pessimistic' },
  { impact: 'keep', queue: 'proportional' },
  { impact: 'restore', queue: 'pessimistic' },
  { impact: 'restore', queue: 'proportional' },
] as const;
const ORDERS = 2_000;
const STEPS = SHORT === false ? 20_000 : 2_000;

type Ways = keyof RunResult['fills'];

/** Both impacts and both rules; every way in which a paper order fills comes up in some of them. */
function prove(recorded: Recorded, seed: number, ways: readonly Ways[]): void {
  const found = new Set<string>();
  for (const [index, setting] of SETTINGS.entries()) {
    const options = { ...setting, seed: seed + index, orders: ORDERS };
    const result = runPaper(recorded, options);
    for (const [way, count] of Object.entries(result.fills)) if (count > 0) found.add(way);
    if (SHORT !== false && index !== seed % SETTINGS.length) continue;
    assert.deepEqual(runPaper(recorded, options), result, 'the same run gives the same fills');
  }
  for (const way of ways) assert(found.has(way), `${recorded.name}: fills by ${way}`);
}

test('a random venue that says trades twice, with random traders', () => {
  withSeed((random) => {
    const recorded = randomRecording(random, STEPS);
    prove(recorded, random.next(), ['taken', 'level', 'queue', 'paper']);
  });
});

for (const path of sharedPaths()) {
  test(`random traders on ${path.split('/').at(-1)}`, async () => {
    const recorded = await readRecorded(path);
    withSeed((random) => prove(recorded, random.next(), ['taken', 'level', 'queue', 'paper']));
  });
}
