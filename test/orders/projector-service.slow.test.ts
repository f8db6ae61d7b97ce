import assert from 'node:assert/strict';
import { once } from 'node:events';
import test, { type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { ProjectorService } from '../../server/node/projector-service.ts';
import { FileLog } from '../../storage/log/file-log.ts';
import { ProjectorLink } from '../../storage/projection/projector-link.ts';
import type { ProjectorSetup } from '../../storage/projection/projector-thread.ts';
import { startThread } from '../common/forms.ts';
import { until } from '../common/node-harness.ts';
import { directoryOf, TIGHT } from '../storage/stored-exchange.ts';
import type { TickingSetup } from './ticking-projector.ts';

const NOTHING = { sequence: 0, digest: 0, fills: 0, finished: 0, entries: 0 };
/** A position that nobody has published. */
const UNPUBLISHED = { ...NOTHING, sequence: -1 };
/** Pause after a step without work, ms. */
const REST_MS = 20;
const WAIT_MS = 30_000;

async function setUp(t: TestContext): Promise<Omit<ProjectorSetup, 'link'>> {
  const dataDir = directoryOf(t);
  const durability = 'committed';
  const log = await FileLog.open({
    dataDir,
    durability,
    segmentBytes: 4_096,
    log: () => undefined,
  });
  await log.close();
  const snapshots = { imageSeconds: 3_600, imageBatches: 1_000_000 };
  return { dataDir, durability, capacities: TIGHT, logFirst: 0, ...snapshots };
}

test('timers run in a thread that gets requests without a pause', async (t) => {
  const link = new ProjectorLink();
  link.publish(UNPUBLISHED);
  const ticks = new Int32Array(new SharedArrayBuffer(4));
  const setup: TickingSetup = {
    ...(await setUp(t)),
    link: link.memory,
    ticks: ticks.buffer as SharedArrayBuffer,
  };
  const thread = startThread('orders/ticking-projector', setup);
  const ended = once(thread, 'exit');
  while (link.sequence() === UNPUBLISHED.sequence) await sleep(REST_MS);
  const before = Atomics.load(ticks, 0);
  // It has a turn of its event loop between steps.
  await until(() => {
    link.ring();
    return Atomics.load(ticks, 0) > before;
  }, WAIT_MS);
  link.stop();
  await ended;
});

test('a thread that fails is reported once, and leaves no request without an answer', async (t) => {
  const fatal: string[] = [];
  const lines: string[] = [];
  const setup = await setUp(t);
  const service = new ProjectorService({
    setup,
    position: NOTHING,
    durable: 0,
    onSnapshot: () => undefined,
    onProblem: () => undefined,
    onFatal: ({ message }) => fatal.push(message),
    log: (level, line) => void lines.push(`${level} ${line}`),
    now: Date.now,
  });
  const started = once(process, 'worker') as Promise<[Worker]>;
  service.start();
  const [thread] = await started;
  // What the package says of a thread whose heap is full.
  thread.emit('error', new Error('out of memory'));
  await sleep(REST_MS);
  const closed = service.close();
  thread.emit('error', new Error('nor is there any for an image'));
  await closed;
  assert.deepEqual(fatal, ['follower: out of memory']);
  assert.deepEqual(lines, ['warn follower: nor is there any for an image']);
});

test('a thread that finds no file to open is started again, and orders pause meanwhile', async (t) => {
  const problems: (string | undefined)[] = [];
  const service = new ProjectorService({
    setup: await setUp(t),
    position: NOTHING,
    durable: 0,
    onSnapshot: () => undefined,
    onProblem: (problem) => problems.push(problem),
    onFatal: (error) => assert.fail(error),
    log: () => undefined,
    now: Date.now,
  });
  const started = once(process, 'worker') as Promise<[Worker]>;
  service.start();
  const [thread] = await started;
  const again = once(process, 'worker');
  const text = 'Worker initialization failure: EMFILE';
  thread.emit('error', new Error(text));
  await thread.terminate();
  await again;
  while (problems.length < 2) await sleep(REST_MS);
  await service.close();
  assert.deepEqual(problems, [`follower: ${text}`, undefined]);
});
