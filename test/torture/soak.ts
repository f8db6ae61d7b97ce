/**
 * A long mixed load, with a catalog sync from another node, snapshots and streams. Memory and
 * handles stay constant, projections grow by a fixed amount for each fill and closed order, and
 * answers are as quick at the end as at the beginning. Draws its samples.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { coursePicture } from '../../bench/measure/picture.ts';
import type { Result } from '../../bench/measure/result.ts';
import { DEFAULT_CAPACITIES, fillRows, orderRows } from '../../engine/tables/capacities.ts';
import { demoCatalog } from '../../server/demo/demo-catalog.ts';
import { openDerivedTables, positionOf } from '../../storage/projection/derived.ts';
import { useCompiledNodes } from '../common/forms.ts';
import { TestNode, temporaryDirectory } from '../common/node-harness.ts';
import { SocketClient } from '../common/socket-client.ts';
import { QUICK } from '../storage/projector-stage.ts';
import { writeCatalog } from './catalog-change.ts';
import { LOADED_NODE, measured, type Taken, takenBy } from './load-child.ts';
import type { Done, PartOptions } from './part.ts';
import { ms, type Point, slowdown, type Trend, trendOf } from './trend.ts';

const MIB = 2 ** 20;
const RATE = 400;
const BATCH = 5;
/** Orders that rest equal cancelled ones, so that the depth of books stays constant. */
const MIX = 'fok=40,gtc=30,cancel=30';
/**
 * Rate of the warm-up, until every ring of rows was used once: touched memory is taken for good.
 */
const WARM_RATE = 4_000;
const WARM_BATCH = 25;
const WARM_SECONDS = 100;
const SOAKED_NODE = {
  ...LOADED_NODE,
  ORDERS_MAX: '65536',
  ORDER_HISTORY: '8192',
  TRADES_MAX: '10000',
};
const STREAMS = 20;
const SAMPLE_MS = 2_000;
const CATALOG_MS = 15_000;
/** Minutes from which on a second and a last one can be compared. */
const COMPARED_MINUTES = 5;
const P99_RATIO_MAX = 1.2;
const GROWTH_BYTES_MAX = 48 * MIB;
const HANDLES_MAX = 16;

interface Sample extends Taken {
  readonly seconds: number;
  readonly files: number;
  readonly diskBytes: number;
}

/** Runs the load; the goal is minutes. */
export async function soak(options: PartOptions): Promise<Done> {
  const minutes = Math.min(options.goal, options.milliseconds / 60_000);
  const seconds = Math.max(5, Math.round(minutes * 60));
  const sourceDir = temporaryDirectory();
  const source = await TestNode.start(sourceDir, { DEMO: 'on' });
  const dataDir = temporaryDirectory();
  const node = await TestNode.start(dataDir, {
    ...SOAKED_NODE,
    IMAGE_SECONDS: '20',
    CATALOG_SYNC_URL: `http://127.0.0.1:${source.port}`,
    CATALOG_SYNC_SECONDS: '10',
  });
  const clients: SocketClient[] = [];
  const state = { isOver: false, catalogs: 0 };
  try {
    for (let i = 0; i < STREAMS; i++) clients.push(await stream(node));
    const changing = changeCatalogs(sourceDir, state);
    if (minutes >= COMPARED_MINUTES) options.say(await warmUp(node, options.seed + 1));
    const sampling = sample(node, dataDir, state);
    const bare = bareWrites(state);
    const result = await measured(node.port, [
      ...['--rate', String(RATE), '--batch', String(BATCH), '--duration', String(seconds)],
      ...['--mix', MIX, '--seed', String(options.seed)],
    ]);
    state.isOver = true;
    await changing;
    const samples = await sampling;
    const bareTrend = trendOf(await bare);
    assert(!node.hasEnded, node.log);
    for (const client of clients) client.cut();
    await node.stop();
    const path = join(tmpdir(), `torture-soak-${options.seed}.svg`);
    writeFileSync(path, draw(samples, result, minutes));
    options.say(`drawn to ${path}`);
    const text = judge(samples, result, bareTrend, dataDir, minutes);
    const snapshots = node.log.match(/image of batch/g)?.length ?? 0;
    return {
      count: minutes,
      text: `${text}; ${snapshots} snapshots, ${state.catalogs} catalogs; ${path}`,
    };
  } finally {
    state.isOver = true;
    for (const one of [node, source]) if (!one.hasEnded) await one.end('SIGKILL');
  }
}

/** Returns a summary; fails where a ring has untouched rows. */
async function warmUp(node: TestNode, seed: number): Promise<string> {
  const before = takenBy(node.pid).residentBytes;
  const { outcomes } = await measured(node.port, [
    ...['--rate', String(WARM_RATE), '--batch', String(WARM_BATCH)],
    ...['--duration', String(WARM_SECONDS), '--mix', MIX, '--seed', String(seed)],
  ]);
  const capacities = {
    ...DEFAULT_CAPACITIES,
    orders: Number(SOAKED_NODE.ORDERS_MAX),
    history: Number(SOAKED_NODE.ORDER_HISTORY),
    trades: Number(SOAKED_NODE.TRADES_MAX),
  };
  const { filled = 0 } = outcomes;
  const rows = Math.max(fillRows(capacities), orderRows(capacities));
  assert(filled >= rows, `${filled} orders were filled, fewer than the ${rows} rows of a ring`);
  const mib = (bytes: number): string => (bytes / MIB).toFixed(0);
  const after = takenBy(node.pid).residentBytes;
  return `${filled} orders filled ahead, memory ${mib(before)} to ${mib(after)} MiB`;
}

async function stream(node: TestNode): Promise<SocketClient> {
  const client = await SocketClient.open(node, '/ws/market');
  client.onText = () => undefined;
  const { events } = demoCatalog() as { readonly events: readonly { markets: object[] }[] };
  // Markets of positions have other ids.
  const tokens = events.flatMap(({ markets }) =>
    markets.flatMap(
      (market) => JSON.parse(String(Reflect.get(market, 'clobTokenIds') ?? '[]')) as string[],
    ),
  );
  assert(tokens.length > 0, 'books of the demo are followed');
  client.send({ type: 'market', assets_ids: tokens.slice(0, 100) });
  return client;
}

async function changeCatalogs(
  dataDir: string,
  state: { readonly isOver: boolean; catalogs: number },
): Promise<void> {
  for (let waited = 0; !state.isOver; waited += SAMPLE_MS) {
    await sleep(Math.min(SAMPLE_MS, 1_000));
    if (waited % CATALOG_MS >= SAMPLE_MS) continue;
    await writeCatalog(dataDir, demoCatalog() as object, ++state.catalogs);
  }
}

async function sample(
  node: TestNode,
  dataDir: string,
  state: { readonly isOver: boolean },
): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  const startedAt = performance.now();
  while (!state.isOver && !node.hasEnded) {
    const seconds = (performance.now() - startedAt) / 1_000;
    samples.push({ seconds, ...takenBy(node.pid), ...diskOf(dataDir) });
    await sleep(SAMPLE_MS);
  }
  return samples;
}

/** Latency of bare durable writes on the same disk, until it is over. */
async function bareWrites(state: { readonly isOver: boolean }): Promise<readonly Point[]> {
  const tool = join(useCompiledNodes(), 'test/torture/bare-write.js');
  const file = join(temporaryDirectory(), 'bare');
  const child = spawn(process.execPath, [tool, file], { stdio: ['ignore', 'pipe', 'inherit'] });
  const end = (): boolean => child.kill('SIGKILL');
  process.once('exit', end);
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const closed = once(child, 'close');
  while (!state.isOver && child.exitCode === null) await sleep(SAMPLE_MS / 10);
  assert.equal(child.exitCode, null, 'it writes until it is ended');
  end();
  await closed;
  process.off('exit', end);
  return said
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line) as Point);
}

function diskOf(dataDir: string): { readonly files: number; readonly diskBytes: number } {
  const sizes = readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).map(
    (name) => statSync(join(dataDir, name), { throwIfNoEntry: false })?.size ?? 0,
  );
  return { files: sizes.length, diskBytes: sizes.reduce((sum, size) => sum + size, 0) };
}

/** Mean of a quarter of the samples: 1 = the second, 3 = the last. */
function quarter(samples: readonly Sample[], n: number, of: (sample: Sample) => number): number {
  const from = Math.floor((samples.length * n) / 4);
  const part = samples.slice(from, Math.floor((samples.length * (n + 1)) / 4));
  return part.reduce((sum, one) => sum + of(one), 0) / Math.max(1, part.length);
}

function judge(
  samples: readonly Sample[],
  result: Result,
  bare: Trend,
  dataDir: string,
  minutes: number,
): string {
  const derived = openDerivedTables(dataDir, QUICK);
  const { fills, finished } = positionOf(derived);
  void derived.root.close();
  const rows = Math.max(1, fills + finished);
  const growth = (of: (one: Sample) => number): number =>
    quarter(samples, 3, of) - quarter(samples, 1, of);
  const memory = growth((one) => one.residentBytes);
  const handles = growth((one) => one.handles);
  const files = growth((one) => one.files);
  const disk = samples.at(-1)!.diskBytes - samples[0]!.diskBytes;
  const trend = trendOf(pointsOf(result));
  const isCompared = minutes >= COMPARED_MINUTES;
  if (isCompared) {
    assert(memory < GROWTH_BYTES_MAX, `memory grows: ${Math.round(memory / MIB)} MiB`);
    assert(handles < HANDLES_MAX && files < HANDLES_MAX, `handles ${handles}, files ${files}`);
    const problem = slowdown(trend, bare, P99_RATIO_MAX);
    assert(problem === undefined, problem);
  }
  const compared = isCompared
    ? `p99 ${ms(trend.second)} in the second minute, ${ms(trend.last)} in the last; ${ms(trend.early)} in ` +
      `the first quarter, ${ms(trend.late)} in the last; minutes differ by ${Math.round(100 * trend.spread)} %; ` +
      `a bare write ${ms(bare.second)} and ${ms(bare.last)}, ${ms(bare.early)} and ${ms(bare.late)}`
    : '';
  return (
    `${result.ordersPerSecond.toFixed(0)} orders/s, ${fills} fills and ${finished} finished orders; ` +
    `from the second to the last quarter memory ${(memory / MIB).toFixed(1)} MiB ` +
    `(${(memory / (rows / 2)).toFixed(0)} bytes a row), handles ${handles.toFixed(1)}, ` +
    `files ${files.toFixed(1)}; disk ${(disk / rows).toFixed(0)} bytes a row; ${compared}`
  );
}

function pointsOf({ overTime }: Result): Point[] {
  return overTime.flatMap(({ fromSeconds, latencyMs }) =>
    latencyMs === undefined ? [] : [{ seconds: fromSeconds, p99: latencyMs.p99 }],
  );
}

function draw(samples: readonly Sample[], result: Result, minutes: number): string {
  const course = (name: string, of: (one: Sample) => number) => ({
    name,
    points: samples.map((one) => [one.seconds, of(one)] as const),
  });
  const p99 = pointsOf(result).map(({ p99: value, seconds }) => [seconds, value] as const);
  return coursePicture(`soak of ${minutes.toFixed(1)} minutes, ${RATE} orders/s`, [
    course('resident MiB', ({ residentBytes }) => residentBytes / MIB),
    course('handles', ({ handles }) => handles),
    course('files', ({ files }) => files),
    course('disk MiB', ({ diskBytes }) => diskBytes / MIB),
    { name: 'p99 ms', points: p99 },
  ]);
}
