/**
 * The proof of the fill model: recordings with random paper traders. After every message the book
 * consists of the source's offers, less taken parts, and the paper orders. Each fill is one that
 * the source offered or traded, the ledger adds up, and equal runs give equal fills.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { SHORT, withSeed } from '../common/random.ts';
import { type Recorded, runPaper } from './paper-run.ts';
import { randomRecording, readRecorded, sharedPaths } from './recorded.ts';

const SETTINGS = [
  { impact: 'keep', queue: 'pessimistic' },
  { impact: 'keep', queue: 'proportional' },
  { impact: 'keep', queue: 'power:2' },
  { impact: 'restore', queue: 'power:3' },
  { impact: 'restore', queue: 'pessimistic' },
  { impact: 'restore', queue: 'proportional' },
] as const;
const ORDERS = 2_000;
const STEPS = SHORT === false ? 20_000 : 2_000;

type Setting = (typeof SETTINGS)[number];

/** Runs recordings, one of them twice. Returns how often a paper order filled in each way. */
function prove(
  recorded: Recorded,
  seed: number,
  settings: readonly Setting[],
): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const [index, setting] of settings.entries()) {
    const options = { ...setting, seed: seed + index, orders: ORDERS };
    const result = runPaper(recorded, options);
    for (const [way, count] of Object.entries(result.fills)) {
      found.set(way, (found.get(way) ?? 0) + count);
    }
    if (SHORT !== false && index > 0) continue;
    assert.deepEqual(runPaper(recorded, options), result, 'the same run gives the same fills');
  }
  return found;
}

test('the proof holds for a random venue that reports trades twice, with random traders', () => {
  withSeed((random) => {
    const recorded = randomRecording(random, STEPS);
    const found = prove(recorded, random.next(), SETTINGS);
    for (const [way, count] of found) assert(count > 0, `fills by ${way}`);
  });
});

for (const path of sharedPaths()) {
  test(`the proof holds for random traders on ${path.split('/').at(-1)}`, async () => {
    const recorded = await readRecorded(path);
    withSeed((random) => {
      const drawn = random.below(SETTINGS.length);
      // Two that differ in both: each impact and each rule.
      const settings = [SETTINGS[drawn]!, SETTINGS[SETTINGS.length - 1 - drawn]!];
      const found = prove(recorded, random.next(), SHORT === false ? SETTINGS : settings);
      // A short recording may have no print for which an order waits.
      for (const way of ['taken', 'level', 'paper']) assert(found.get(way)! > 0, `fills by ${way}`);
    });
  });
}
