/** The benchmark of an order's path, and profiles, on tiny inputs; they measure nothing here. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { useCompiledNodes } from '../common/forms.ts';
import { SMALL_NODE, temporaryDirectory } from '../common/node-harness.ts';
import { SHORT } from '../common/random.ts';

const compiled = useCompiledNodes();
const [
  { orderPathSuite },
  { orderStreamSuite },
  { metricsSuite },
  { ledgerSuite },
  { profileNode },
] = (await Promise.all(
  [
    'orders/order-path.bench',
    'orders/order-stream.bench',
    'orders/metrics.bench',
    'orders/ledger.bench',
    'profile/profile-node',
  ].map((name) => import(join(compiled, `bench/${name}.js`))),
)) as [
  typeof import('../../bench/orders/order-path.bench.ts'),
  typeof import('../../bench/orders/order-stream.bench.ts'),
  typeof import('../../bench/orders/metrics.bench.ts'),
  typeof import('../../bench/orders/ledger.bench.ts'),
  typeof import('../../bench/profile/profile-node.ts'),
];

test('the order-path suite sends every order, and compares its measurements with the aims', {
  skip: SHORT,
}, async () => {
  const shape = { rounds: 1, single: 25, saturated: 60, unsigned: 60, openSeconds: 1 };
  const ratios = await orderPathSuite({ ...shape, environment: SMALL_NODE }, ['latency', 'half']);
  assert.deepEqual(
    // A snapshot may begin after the second of the open loop.
    ratios
      .map(({ name }) => name.trim().split(',')[0]!)
      .filter((name) => !name.startsWith('p99 during snapshots')),
    [
      'p50 to the sum of its parts',
      'to one worker that hashes and recovers',
      'to one worker that hashes and recovers',
      'p99 to p50',
      'p99 to p50',
    ],
  );
  assert(ratios.every(({ ratio }) => ratio > 0));
});

test('the order-stream suite sends every order over both transports', { skip: SHORT }, async () => {
  const ratios = await orderStreamSuite({ rounds: 1, single: 25, environment: SMALL_NODE });
  assert.equal(ratios.length, 1);
  assert(ratios[0]!.ratio > 0);
});

test('the order-path suite saturates this build and an older one by turns', {
  skip: SHORT,
}, async () => {
  const shape = { rounds: 1, single: 25, saturated: 60, unsigned: 60, openSeconds: 1 };
  const ratios = await orderPathSuite({ ...shape, environment: SMALL_NODE, baseline: compiled }, [
    'saturation',
  ]);
  assert.deepEqual(
    ratios.map(({ aim }) => aim),
    [0.92, 0.75, 1.3, 1.3, 1.25, 1.25],
  );
  assert(ratios.every(({ ratio }) => ratio > 0));
});

test('the metrics suite sends every order to both nodes, and scrapes one of them', {
  skip: SHORT,
}, async () => {
  const ratios = await metricsSuite({ rounds: 2, orders: 60, environment: SMALL_NODE });
  assert.equal(ratios.length, 4);
  assert(ratios[0]!.ratio > 0);
});

test('the ledger suite sends every order to a node with a ledger and to one without', {
  skip: SHORT,
}, async () => {
  const shape = { rounds: 1, signed: 60, unsigned: 60, environment: SMALL_NODE };
  const ratios = await ledgerSuite(shape);
  assert.equal(ratios.length, 4);
  assert(ratios[0]!.ratio > 0);
});

test('a profile shows the work of the I/O thread and the worker under load', {
  skip: SHORT,
}, async () => {
  const out = temporaryDirectory();
  await profileNode({
    rate: undefined,
    orders: 60,
    batch: 1,
    connections: 2,
    unsigned: false,
    interval: 500,
    perf: false,
    out,
    environment: { ...SMALL_NODE, WORKERS: '1' },
  });
  const summary = readFileSync(join(out, 'summary.txt'), 'utf8');
  assert.match(summary, /^60 orders in requests of 1, 2 connections: \d+ orders\/s\n/);
  assert.match(summary, /\nI\/O thread: awake [\d.]+ % of/);
  assert.match(summary, /\nworker: awake [\d.]+ % of/);
  assert(readdirSync(out).filter((name) => name.endsWith('.cpuprofile')).length >= 2);
});
