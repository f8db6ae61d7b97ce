/**
 * `npm run bench -- order-path`: what an order costs beside the parts that it cannot do without, and
 * beside an older checkout (`--baseline DIR`). Everything takes turns in one run, because only the ratios
 * of one run mean anything on a machine that is shared.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { domainSeparator } from '../../server/auth/eip712.ts';
import { readConfig } from '../../server/config/config.ts';
import { Child } from '../common/child.ts';
import { latencies, median, percentile, print, type Ratio, ratioLine } from '../common/figures.ts';
import { LocalNode } from '../load/load-node.ts';
import { exchangeOf } from '../load/load-orders.ts';
import { Connection } from '../measure/connection.ts';
import { monotonicMs } from '../measure/pacer.ts';
import type { Request } from '../measure/prepare.ts';
import { samplesOf } from '../measure/samples.ts';
import { openSide, programOf, type Side, sideRatios, takeTurns } from './node-sides.ts';
import type { Bodies, Floors, PartTimes } from './path-parts.ts';
import { readCollections, type Span, snapshotSpans, tailRatios } from './tail.ts';
import { Traffic } from './traffic.ts';

export interface PathShape {
  /** Rounds of each part; sides take turns in each. */
  readonly rounds: number;
  /** Requests of a round at one connection. */
  readonly single: number;
  /** Orders of a round at saturation, signed and not. */
  readonly saturated: number;
  readonly unsigned: number;
  /** Seconds at half of saturation. */
  readonly openSeconds: number;
  readonly baseline?: string;
  /** Settings of the nodes, beside those of the suite. */
  readonly environment?: NodeJS.ProcessEnv;
}

export const PATH_FULL: PathShape = {
  rounds: 15,
  single: 200,
  saturated: 9_000,
  unsigned: 30_000,
  openSeconds: 10,
};

export type PathPart = 'latency' | 'saturation' | 'half' | 'unsigned';
const PARTS: readonly PathPart[] = ['latency', 'saturation', 'half', 'unsigned'];

/** The node that checks signatures, and its traffic. */
interface Signed {
  readonly node: LocalNode;
  readonly traffic: Traffic;
}

type PartLists = Record<'bare' | keyof PartTimes, number[]>;

const BATCH = 15;
const CONNECTIONS = 32;
/** Requests of a round that count for nothing, because the connection is new. */
const COLD = 20;
/** Seconds of an open loop before the one that is measured. */
const WARM_SECONDS = 5;
/** More than come through one worker. */
const ORDERS_PER_SECOND = 20_000;
/** Orders of each burst that the floors take. */
const FLOOR_ORDERS = 3_000;
/** Longer than a collection waits for its line in the file. */
const COLLECTIONS_WRITTEN_MS = 1_500;
const EXTENSION = extname(fileURLToPath(import.meta.url));
const WATCHED_FLAGS = [
  '--import',
  new URL(`collections-preload${EXTENSION}`, import.meta.url).href,
];
/** Throughput at saturation to that of the baseline. */
const BASELINE_AIMS = [
  [BATCH, 1.3],
  [1, 1.25],
] as const;

export async function orderPathSuite(
  shape: PathShape,
  wanted: readonly PathPart[] = PARTS,
): Promise<readonly Ratio[]> {
  const directory = mkdtempSync(join(tmpdir(), 'order-path-'));
  const suite = new Suite(shape, directory);
  try {
    await suite.open();
    if (wanted.includes('latency')) await suite.latency();
    if (wanted.includes('saturation') || wanted.includes('half')) {
      const rates = await suite.load();
      if (wanted.includes('half')) await suite.half(rates);
    }
    if (wanted.includes('saturation')) await suite.saturateBeside();
    if (wanted.includes('unsigned')) await suite.unsigned();
    return suite.ratios;
  } finally {
    await suite.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

class Suite {
  readonly ratios: Ratio[] = [];
  private readonly shape: PathShape;
  private readonly directory: string;
  private readonly child = new Child(join(import.meta.dirname, 'path-parts'), []);
  private readonly nodes: LocalNode[] = [];
  private readonly dataDirs: string[] = [];
  private readonly collections: string;
  private bare = 0;
  private signed: Signed | undefined;

  constructor(shape: PathShape, directory: string) {
    this.shape = shape;
    this.directory = directory;
    this.collections = join(directory, 'collections');
  }

  async open(): Promise<void> {
    this.bare = await this.child.ask<number>('open', join(this.directory, 'parts'));
  }

  async close(): Promise<void> {
    await this.endNodes();
    await this.child.stop();
  }

  /** One verified, durable order at one connection. */
  async latency(): Promise<void> {
    const { baseline, rounds, single } = this.shape;
    const orders = (rounds + 2) * single;
    const { node, traffic } = await this.openSigned();
    const older = baseline === undefined ? undefined : await this.startBaseline(baseline);
    const olderTraffic = older && (await Traffic.open(older.url, { orders, unsigned: false }));
    await this.makeBare(node, traffic);
    const times: PartLists = { bare: [], recover: [], handOver: [], write: [] };
    const whole: number[] = [];
    const before: number[] = [];
    for (let round = -1; round < rounds; round += 1) {
      const isWarm = round >= 0;
      const requests = traffic.draw(single, 1);
      const own = (await traffic.closed(requests, 1)).latencyMs.slice(COLD);
      await this.parts(traffic, requests, isWarm ? times : undefined);
      const olderRequests = olderTraffic?.draw(single, 1).map(asList) ?? [];
      const old = (await olderTraffic?.closed(olderRequests, 1))?.latencyMs.slice(COLD) ?? [];
      if (!isWarm) continue;
      whole.push(...own);
      before.push(...old);
    }
    latencies('one order, verified, durable', whole);
    latencies('  a bare HTTP answer', times.bare);
    latencies('  recovery of the signer', times.recover);
    latencies('  a durable write of the log', times.write);
    latencies('  to a worker and back', times.handOver);
    const sum = Object.values(times).reduce((total, each) => total + percentile(each, 0.5), 0);
    const p50 = percentile(whole, 0.5);
    this.ratio('p50 to the sum of its parts', p50 / sum, 'at most', 1.4);
    if (before.length > 0) {
      latencies('the baseline', before);
      this.ratio('p50 to that of the baseline', p50 / percentile(before, 0.5), 'at most', 0.65);
    }
  }

  /**
   * The parts of each order, one after the other, so that each finds threads and caches as cold as an
   * order does: by itself in a loop, each takes half as long.
   */
  private async parts(
    traffic: Traffic,
    requests: readonly Request[],
    times: PartLists | undefined,
  ): Promise<void> {
    const url = new URL(`http://127.0.0.1:${this.bare}`);
    const connection = await new Promise<Connection>((resolve) => new Connection(url, resolve));
    await this.child.ask('prepare', bodiesOf(requests));
    for (const [i, bytes] of traffic.bytes(requests).entries()) {
      const began = performance.now();
      await new Promise<void>((resolve) => connection.send(bytes, () => resolve()));
      const bare = performance.now() - began;
      const parts = await this.child.ask<PartTimes>('parts', i);
      if (times === undefined || i < COLD) continue;
      times.bare.push(bare);
      for (const name of ['recover', 'handOver', 'write'] as const) times[name].push(parts[name]);
    }
    connection.close();
  }

  /** Measures the rate at which a closed loop is answered; orders a second of batches, and of single orders. */
  async load(): Promise<readonly (readonly [batch: number, rate: number])[]> {
    const { traffic } = await this.openSigned();
    const rates: [number, number][] = [];
    for (const [batch, aim] of [
      [BATCH, 0.92],
      [1, 0.75],
    ] as const) {
      const { saturated } = this.shape;
      const { floor, rate } = await this.saturate(traffic, batch, saturated, 'hashAndRecover');
      const what = `${rate.toFixed(0)} orders/s, floor ${floor.toFixed(0)}`;
      print(`saturation, ${nameOf(batch)}`, what);
      this.ratio('  to one worker that hashes and recovers', rate / floor, 'at least', aim);
      rates.push([batch, rate]);
    }
    return rates;
  }

  /** Measures latency at half of those rates, at a node that tells its pauses. */
  async half(rates: readonly (readonly [batch: number, rate: number])[]): Promise<void> {
    const { openSeconds } = this.shape;
    await this.endNodes();
    const { traffic } = await this.openSigned(this.watchedEnvironment(), WATCHED_FLAGS);
    for (const [batch, rate] of rates) {
      const perSecond = rate / 2 / batch;
      // A node that has just started compiles its functions in the first second of a load.
      const warming = Math.min(WARM_SECONDS, openSeconds);
      const first = traffic.drawing(Math.ceil(perSecond * warming), batch);
      await traffic.open(first, CONNECTIONS, perSecond);
      const requests = traffic.drawing(Math.ceil(perSecond * openSeconds), batch);
      await this.tail(`half of it, ${nameOf(batch)}, open loop`, traffic, requests, perSecond);
    }
  }

  /** An open loop, and beside it bare durable writes on the same disk. */
  private async tail(
    name: string,
    traffic: Traffic,
    requests: Iterable<Request>,
    perSecond: number,
  ): Promise<void> {
    await this.child.ask('startWrites');
    const { samples, startMs } = await traffic.open(requests, CONNECTIONS, perSecond);
    const writes = await this.child.ask<readonly Span[]>('stopWrites');
    await sleep(COLLECTIONS_WRITTEN_MS);
    const collections = readCollections(this.collections);
    const snapshots = snapshotSpans(this.dataDirs.at(-1)!, monotonicMs() - Date.now());
    const timed = [...samplesOf(samples)].map((one) => ({ ...one, dueMs: startMs + one.dueMs }));
    for (const line of tailRatios(name, timed, { writes, collections, snapshots })) {
      this.ratio(line.name, line.ratio, line.bound, line.aim);
    }
  }

  /** Saturates nodes of both builds by turns. */
  async saturateBeside(): Promise<void> {
    const { baseline, environment = {}, rounds, saturated: orders } = this.shape;
    if (baseline === undefined) return;
    for (const [batch, aim] of BASELINE_AIMS) {
      const turns = { rounds, orders, batch, unsigned: false };
      const what = nameOf(batch);
      const main = programOf(baseline);
      const sides: Side[] = [];
      try {
        for (const side of [
          { name: `saturation, ${what}, the baseline`, environment, main },
          { name: '  this build', environment },
        ]) {
          sides.push(await openSide(this.directory, side, turns));
        }
        const both = sides as [Side, Side];
        await takeTurns(both, turns);
        this.ratios.push(...sideRatios(both, aim));
      } finally {
        for (const { node } of sides) await node.stop();
      }
    }
  }

  /** Durable batches without signatures. */
  async unsigned(): Promise<void> {
    const { rounds, unsigned: count } = this.shape;
    await this.endNodes();
    const node = await this.start('node', { VERIFY_SIGNATURES: 'off' });
    const orders = (rounds + 1) * count;
    const traffic = await Traffic.open(node.url, { orders, unsigned: true });
    const { floor, rate } = await this.saturate(traffic, BATCH, count, 'parseAndHash');
    const what = `${rate.toFixed(0)} orders/s, floor ${floor.toFixed(0)}`;
    print(`saturation, unsigned batches of ${BATCH}`, what);
    this.ratio('  to one worker that parses and hashes', rate / floor, 'at least', 0.6);
  }

  /** Medians of the rounds, orders a second. */
  private async saturate(
    traffic: Traffic,
    batch: number,
    orders: number,
    floorName: keyof Floors,
  ): Promise<{ rate: number; floor: number }> {
    const rates: number[] = [];
    const floors: number[] = [];
    for (let round = -1; round < this.shape.rounds; round += 1) {
      const requests = traffic.draw(Math.ceil(orders / batch), batch);
      const { ordersPerSecond } = await traffic.closed(requests, CONNECTIONS);
      const few = requests.slice(0, Math.ceil(FLOOR_ORDERS / batch));
      const floor = await this.child.ask<Floors>('floors', bodiesOf(few));
      if (round < 0) continue; // warms up
      rates.push(ordersPerSecond);
      floors.push(floor[floorName]);
    }
    return { rate: median(rates), floor: median(floors) };
  }

  /** The bare handler answers what the node does to one order. */
  private async makeBare(node: LocalNode, traffic: Traffic): Promise<void> {
    const [request] = traffic.draw(1, 1);
    const { head, body } = splitOf(traffic.bytes([request!])[0]!);
    const requests = [{ target: request!.path, body }];
    const wanted = { requests, headers: head, answer: 'same', waits: true };
    await this.child.ask('ready', { port: Number(node.url.port), wanted });
  }

  private ratio(name: string, ratio: number, bound: Ratio['bound'], aim: number): void {
    const line = { name, ratio, bound, aim };
    this.ratios.push(line);
    ratioLine(line);
  }

  /** Its books are deep enough for all that is sent, also in the open loop. */
  private async openSigned(
    environment: NodeJS.ProcessEnv = {},
    flags: readonly string[] = [],
  ): Promise<Signed> {
    const { openSeconds, rounds, saturated, single } = this.shape;
    const orders =
      (rounds + 2) * (single + 2 * saturated) +
      2 * (openSeconds + WARM_SECONDS) * ORDERS_PER_SECOND;
    if (this.signed === undefined) {
      const node = await this.start('node', environment, undefined, flags);
      this.signed = { node, traffic: await Traffic.open(node.url, { orders, unsigned: false }) };
    }
    return this.signed;
  }

  /** Two snapshots begin within the open loop: no more are kept. */
  private watchedEnvironment(): NodeJS.ProcessEnv {
    const seconds = Math.max(1, Math.floor(this.shape.openSeconds / 2));
    return { COLLECTIONS_FILE: this.collections, IMAGE_SECONDS: String(seconds) };
  }

  private startBaseline(root: string): Promise<LocalNode> {
    return this.start('baseline', {}, programOf(root));
  }

  private async start(
    name: string,
    environment: NodeJS.ProcessEnv,
    main?: string,
    flags: readonly string[] = [],
  ): Promise<LocalNode> {
    const dataDir = mkdtempSync(join(this.directory, `${name}-`));
    this.dataDirs.push(dataDir);
    const node = await LocalNode.start(dataDir, {
      demo: true,
      environment: {
        ...this.shape.environment,
        WORKERS: '1',
        LOG_LEVEL: 'warn',
        ...environment,
      },
      ...(main === undefined ? {} : { main }),
      flags: [...process.execArgv, ...flags],
    });
    this.nodes.push(node);
    return node;
  }

  private async endNodes(): Promise<void> {
    this.signed = undefined;
    for (const node of this.nodes.splice(0)) await node.stop();
  }
}

function nameOf(batch: number): string {
  return batch === 1 ? 'single orders' : `batches of ${batch}`;
}

function bodiesOf(requests: readonly Request[]): Bodies {
  const read = readConfig({}, [], 1);
  if (!read.ok) throw new Error(read.problems.join('; '));
  const separator = Buffer.from(domainSeparator(exchangeOf(read.config).normal)).toString('hex');
  return { separator, texts: requests.map(({ body }) => body) };
}

/** An order as a list of one: there was a time before POST /order. */
function asList(request: Request): Request {
  return { ...request, path: '/orders', body: `[${request.body}]` };
}

/** A request's headers, without those of every client, and its body. */
function splitOf(bytes: Buffer): { head: Record<string, string>; body: string } {
  const [head = '', body = ''] = bytes.toString('latin1').split('\r\n\r\n');
  const lines = head.split('\r\n').slice(2);
  return { head: Object.fromEntries(lines.map((line) => line.split(': '))), body };
}
