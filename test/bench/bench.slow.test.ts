/** Every benchmark suite on tiny inputs, so that it keeps running; it measures nothing here. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import test from 'node:test';
import { clusterSuite } from '../../bench/cluster/cluster.bench.ts';
import { NO_ETCD } from '../../bench/common/etcd.ts';
import { loadProblem } from '../../bench/common/http-load.ts';
import { engineSuite } from '../../bench/engine/engine.bench.ts';
import { ledgerSizes } from '../../bench/engine/ledger-size.ts';
import { resolutionSuite } from '../../bench/engine/resolution.bench.ts';
import { backtestSuite, modelSuite } from '../../bench/paper/paper.bench.ts';
import { programSuite } from '../../bench/paper/program.bench.ts';
import { limitsSuite } from '../../bench/server/limits.bench.ts';
import { signaturesSuite } from '../../bench/server/signatures.bench.ts';
import { validateSuite } from '../../bench/server/validate.bench.ts';
import { clusterLogSuite } from '../../bench/storage/cluster-log.bench.ts';
import { logSuite } from '../../bench/storage/log.bench.ts';
import { pausesSuite } from '../../bench/storage/log-live.ts';
import { restartLedgerSuite } from '../../bench/storage/restart.bench.ts';
import { sizesSuite } from '../../bench/storage/sizes.bench.ts';
import { startSuite } from '../../bench/storage/start.bench.ts';
import { fanoutIdleSuite, fanoutSuite } from '../../bench/streams/fanout.bench.ts';
import { streamsSuite } from '../../bench/streams/streams.bench.ts';
import { DEFAULT_CAPACITIES, RESOLVE_STEP_MAX } from '../../engine/tables/capacities.ts';
import { useCompiledNodes } from '../common/forms.ts';
import { SHORT } from '../common/random.ts';

test('the engine suite measures every task on one book, a thousand, ten thousand, a replay, and a ledger', async () => {
  const measured = await engineSuite({ messages: 400, blocks: 2 });
  assert.equal(measured.length, 14);
  assert(measured.every(({ perSecond }) => perSecond > 0));
});

test('the suite of resolutions ends every order and pays every holder', () => {
  assert.equal(resolutionSuite(3 * RESOLVE_STEP_MAX), 1 + 3 + 3 + 1);
});

test('an older engine takes the same streams beside this one', async () => {
  const baseline = useCompiledNodes();
  const measured = await engineSuite({ messages: 100, blocks: 1, baseline });
  assert.equal(measured.length, 10);
  assert(measured.every(({ perSecond }) => perSecond > 0));
});

test('the validate suite checks orders with both packages', async () => {
  const measured = await validateSuite(4, 2);
  assert.equal(measured.length, 3);
  assert(measured.every(({ perSecond }) => perSecond > 0));
});

test('the signatures suite recovers every signer, also by the functions of an older build', async () => {
  const baseline = useCompiledNodes();
  const measured = await signaturesSuite({ orders: 8, blocks: 2, baseline });
  assert(measured.length >= 7, `${measured.length} figures`);
  assert(measured.every(({ perSecond }) => perSecond > 0));
});

test('the fan-out suite sends frames of every book, also beside clients that do not read', async () => {
  await fanoutIdleSuite({ connections: 20, books: 2 });
  const load = { connections: 20, books: 2, framesPerSecond: 200, seconds: 1 };
  const { beside, quick } = await fanoutSuite({ ...load, slowShare: 0.1 });
  for (const { frames, samples } of [quick, beside]) {
    assert(frames > 0 && samples > 0, `${frames} frames, ${samples} samples`);
  }
});

test('the streams suite sends every batch to every subscriber', async () => {
  const shape = { subscribers: 3, rounds: 1, batches: 5, orders: 4 };
  const measured = await streamsSuite(shape);
  assert(measured.frames >= shape.batches * shape.subscribers, `${measured.frames} frames`);
});

test('the limits suite serves the same answer in four ways', async () => {
  const figures = await limitsSuite(500, 1);
  assert.equal(figures.length, 4);
  assert(figures.every(({ nsPerRequest }) => nsPerRequest > 0));
});

test('sizes of accounts and positions are those of the tables', () => {
  const few = { ...DEFAULT_CAPACITIES, orders: 64, levels: 2_000, trades: 64, history: 64 };
  const { account, position } = ledgerSizes({ capacities: few, accounts: 1_000, warm: 64 });
  // Rows of 32, 4 and 32 bytes and an index that is half full; rows of 32 and 16 bytes and an index.
  assert.deepEqual(
    [account, position].map(([bytes]) => Math.round(bytes)),
    [84, 64],
  );
});

test('the sizes suite measures connections of a node beside the rows of its tables', async () => {
  const small = { ...DEFAULT_CAPACITIES, orders: 4_096, trades: 1_000, history: 4_096 };
  const { closedOrder, fill, restingOrder } = await sizesSuite(20, small);
  // A row of 128 bytes and its index; rows of 32 and 8 bytes of a queue, a link and an expiry; 8 of the ring.
  assert.deepEqual([restingOrder, closedOrder, fill].map(Math.round), [200, 164, 160]);
});

test('the start suite takes the time of first answers', async () => {
  const [ratio] = await startSuite({ starts: 1 });
  assert(ratio!.ratio > 0);
});

test('the log suite recovers what the follower kept of its day', async () => {
  const { restartMs } = await logSuite({ writes: 2, restingOrders: 60, fills: 40 });
  assert(restartMs > 0);
});

test('the cluster-log suite appends to a real etcd beside bare transactions', {
  skip: NO_ETCD,
}, async () => {
  const figures = await clusterLogSuite({ appends: 3, waiting: 4, seconds: 0.05 });
  assert.equal(figures.ratios.length, 4);
  assert(figures.ratios.every((ratio) => ratio > 0) && figures.perSecond > 0);
});

test('the suite of a cluster asks the leader and a follower', {
  skip: SHORT || NO_ETCD,
}, async () => {
  const reads = { rounds: 1, seconds: 1, ordersPerSecond: 500 };
  const shape = { rounds: 1, orders: 100, single: 5, reads, handovers: 1 };
  const ratios = await clusterSuite(shape);
  assert.equal(ratios.length, loadProblem() === undefined ? 7 : 6);
  assert(ratios.every(({ ratio }) => ratio > 0));
});

test('the suite of pauses logs beside a projector, with snapshots and without', {
  skip: SHORT,
}, async () => {
  const shape = { restingOrders: 60, rounds: 1, seconds: 0.1, imageSeconds: 0.02 };
  const { behindMs } = await pausesSuite(shape);
  assert(behindMs >= 0 && behindMs < 60_000);
});

test('a day with a ledger and one without start again after kills', { skip: SHORT }, async () => {
  const shape = { restingOrders: 60, fills: 30, books: 1, restarts: 1 };
  const [time] = await restartLedgerSuite(shape);
  assert(time!.ratio > 0);
});

test('a strategy in Python and a sweep run beside the same runs in the process', {
  skip: spawnSync('python3', ['-c', '']).status !== 0 && 'no python3',
}, async () => {
  const { program, sweep } = await programSuite({ markets: 2, messages: 200, rounds: 1 });
  assert(program > 0 && sweep > 0);
});

test('the paper suite runs strategies over a drawn recording, and mirrors it beside orders', async () => {
  const shape = { markets: 2, messages: 600, rounds: 1 };
  const figures = await backtestSuite(shape);
  assert(figures.idle > 0 && figures.quotes > 0);
  assert(modelSuite(shape) > 0);
});
