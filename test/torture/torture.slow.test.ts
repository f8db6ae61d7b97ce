/** A little of every part of `npm run torture`, each run with seeds of its own. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { NO_ETCD } from '../../bench/common/etcd.ts';
import { freshSeed, SHORT } from '../common/random.ts';
import { ROOT } from '../common/root.ts';
import { cluster } from './cluster/cluster.ts';
import { faults } from './faults.ts';
import { ATTACKS } from './hostile/attacks.ts';
import {
  gainProblem,
  heldProblem,
  latencyProblem,
  lateProblem,
  memoryProblem,
  middleP99,
  refusalProblem,
} from './hostile/verdict.ts';
import { input } from './input.ts';
import { interleavings } from './interleavings.ts';
import { kills } from './kills.ts';
import { model } from './model.ts';
import { overload } from './overload.ts';
import type { PartOptions } from './part.ts';
import { resolutions } from './resolutions.ts';
import { Simulator } from './simulate.ts';
import { soak } from './soak.ts';
import { slowdown, trendOf } from './trend.ts';

const isLong = SHORT === false;
/** Without the handover: beside other tests a request may take longer than its client waits. */
const CLUSTER_FAULTS = ['kill-leader', 'kill-etcd-leader', 'partition', 'pause-leader'];

function little(goal: number, goalLong: number): PartOptions {
  const milliseconds = Number.POSITIVE_INFINITY;
  return { seed: freshSeed(), goal: isLong ? goalLong : goal, milliseconds, say: () => undefined };
}

async function well(part: Promise<unknown>): Promise<void> {
  await part;
}

test('a simulated node survives a crash at every write, and equal seeds give equal runs', async () => {
  const simulator = new Simulator();
  const { seed } = little(0, 0);
  const again = `reproduce with: npm run torture -- simulation --seed ${seed}`;
  try {
    const first = await simulator.run(seed);
    // A drawn day may have few batches, and each writes more than once.
    assert(first.checks > 0 && first.batches > 0, again);
    assert.deepEqual(await simulator.run(seed), first, again);
  } catch (error) {
    console.error(again);
    throw error;
  } finally {
    await simulator.close();
  }
});

test(
  'a node killed again and again under load keeps all acknowledged orders and cancels',
  {
    skip: SHORT,
  },
  () => well(kills(little(2, 20))),
);

test(
  'a node killed in the middle of resolutions pays every wallet once',
  {
    skip: SHORT,
  },
  () => well(resolutions(little(1, 8))),
);

test('workers delayed anywhere apply batches in the order of their dispatch, and no book is torn', () =>
  well(interleavings(little(24, 600))));

test('any request is answered in the documented shape, and changes nothing', () =>
  well(input(little(500, 15_000))));

test('the engine agrees with the naive exchange for any shape of the stream', () =>
  well(model(little(2_000, 200_000))));

test('a fault of the machine loses nothing acknowledged', { skip: SHORT }, () =>
  well(faults(little(1, 6))),
);

test('a node refuses overload, and is quick again afterwards', { skip: SHORT }, () =>
  well(overload(little(2, 5))),
);

test('a cluster loses nothing acknowledged to faults', { skip: SHORT || NO_ETCD }, () =>
  well(cluster({ ...little(1, 4), only: CLUSTER_FAULTS })),
);

test('a node survives a mixed load with catalogs, snapshots and streams', { skip: SHORT }, () =>
  well(soak(little(0.1, 0.3))),
);

test('a slower run is distinguished from one with disturbed minutes, and from a slower machine', () => {
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

test('each attack of the hostile part is on a row of SECURITY.md', () => {
  const text = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8');
  const [, table = ''] = text.split('\n| resource | bound |');
  const rows = table.split('\n\n')[0]!.split('\n').slice(2);
  const resources = rows.map((row) => row.split(' | ')[0]!.slice(2));
  assert(resources.length > 20, 'the table is there');
  for (const [name, { bound }] of Object.entries(ATTACKS)) {
    assert(resources.includes(bound), `${name}: no row ${bound}`);
  }
});

test('a node withstands an attack when orders stay quick, nothing is refused, and memory is returned', () => {
  const MIB = 2 ** 20;
  const slow = (quiet: number, under: number, bare: number, isShort = false) =>
    latencyProblem({ quiet, under, bare, isShort });
  const borne = [slow(10, 29, 5), slow(1, 14, 1), slow(10, 59, 20)];
  assert.deepEqual(borne, [undefined, undefined, undefined]);
  const hurt = [slow(10, 30, 5), slow(1, 15, 1), slow(10, 60, 20), slow(10, 300, 999)].map((why) =>
    why?.slice(0, 3),
  );
  assert.deepEqual(hurt, ['p99', 'p99', 'p99', 'p99']);
  const middle = middleP99([[1], [900], [2], [3], [1]]);
  assert.equal(middle, 2, 'a disturbed stretch does not decide');
  assert.equal(slow(6, 740, 2, true), undefined);
  assert(slow(6, 760, 2, true));
  assert.equal(slow(6, 760, 260, true), undefined);
  const stretch = { orders: [], bare: [], requests: 9, late: 0, wrong: [] };
  assert.equal(refusalProblem(stretch), undefined);
  assert.match(refusalProblem({ ...stretch, wrong: ['503'] }) ?? '', /503/);
  assert.match(refusalProblem({ ...stretch, requests: 0 }) ?? '', /nothing/);
  assert.equal(lateProblem(stretch), undefined);
  assert.match(lateProblem({ ...stretch, late: 2 }) ?? '', /^2 of 9/);
  const held = {
    residentBytes: 400 * MIB,
    handles: 50,
    rows: 0,
    accounts: 5,
    recoveries: 7,
    at: 1_000,
  };
  const before = { ...held, streamClients: 1, streamBytes: 0, queued: 0, ready: 200 };
  const after = (change: Partial<typeof before>) => heldProblem(before, { ...before, ...change });
  const grown = (residentBytes: number, rows = 0) =>
    memoryProblem(before, { ...before, residentBytes, rows });
  assert.equal(grown(440 * MIB), undefined);
  assert.match(grown(441 * MIB) ?? '', /^memory 400 to 441 MiB/);
  assert.equal(grown(441 * MIB, 2_000), undefined, 'rows stay');
  assert.equal(after({}), undefined);
  assert.match(after({ ready: 503 }) ?? '', /503/);
  assert.match(after({ handles: 100 }) ?? '', /descriptors/);
  assert.match(after({ streamClients: 2 }) ?? '', /stream connections/);
  assert.match(after({ streamBytes: 2 * MIB }) ?? '', /wait for streams/);
  assert.match(after({ queued: 1 }) ?? '', /queued/);
  const attack = { ...ATTACKS['invented-wallets']!, accountsMax: 10, servedMax: 3 };
  const gain = (did: number, served: number, accounts: number) =>
    gainProblem(attack, { did, answers: { 200: served } }, before, { ...before, accounts });
  assert.equal(gain(9, 3, 15), undefined);
  assert.match(gain(9, 3, 16) ?? '', /^11 accounts/);
  assert.match(gain(9, 3, Number.NaN) ?? '', /accounts/);
  assert.match(gain(9, 4, 15) ?? '', /^4 requests/);
  assert.match(gain(0, 0, 5) ?? '', /nothing/);
  const costly = { ...ATTACKS['wrong-signatures']!, recoveriesPerSecond: 10 };
  const cost = (recoveries: number, at: number) =>
    gainProblem(costly, { did: 1, answers: {} }, before, { ...before, recoveries, at });
  assert.equal(cost(37, 3_000), undefined);
  assert.match(cost(38, 3_000) ?? '', /^31 signers were recovered: bound 30$/);
  assert.match(cost(Number.NaN, 3_000) ?? '', /signers/);
});
