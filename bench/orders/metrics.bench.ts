/**
 * `npm run bench -- metrics`: what counting costs. Two nodes take turns, one of them with an admin listener
 * that is scraped every five seconds, one without, which counts nothing (server/admin/README.md).
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median, print, type Ratio, ratioLine } from '../common/figures.ts';
import { freePort, LocalNode } from '../load/load-node.ts';
import { Traffic } from './traffic.ts';

export interface MetricsShape {
  /** Bursts of each node, by turns. */
  readonly rounds: number;
  /** Orders of a burst. */
  readonly orders: number;
  /** Of the nodes, beside what the suite sets. */
  readonly environment?: NodeJS.ProcessEnv;
}

export const METRICS_FULL: MetricsShape = { rounds: 15, orders: 9_000 };

const CONNECTIONS = 32;
/** Three times as often as Prometheus does by itself. */
const SCRAPE_MS = 5_000;
const AIM = 0.98;

/** A node, and what its bursts came to. */
interface Side {
  readonly node: LocalNode;
  readonly traffic: Traffic;
  readonly rates: number[];
  /** Ticks of the processor, of all its threads. */
  readonly ticks: number[];
}

/** Single orders, because a request then costs the most beside an order: signed ones, and not. */
export async function metricsSuite(shape: MetricsShape): Promise<readonly Ratio[]> {
  return [...(await compare(shape, false)), ...(await compare(shape, true))];
}

async function compare(shape: MetricsShape, unsigned: boolean): Promise<readonly Ratio[]> {
  const directory = mkdtempSync(join(tmpdir(), 'metrics-bench-'));
  const port = await freePort();
  const sides: Side[] = [];
  let scraping: NodeJS.Timeout | undefined;
  try {
    for (const adminPort of [0, port]) {
      sides.push(await openSide(shape, directory, adminPort, unsigned));
    }
    scraping = setInterval(() => void scrape(port), SCRAPE_MS);
    const [without, counting] = sides as [Side, Side];
    for (let round = -1; round < shape.rounds; round += 1) {
      // Who comes first changes: the second one finds a warmer machine.
      const order = round % 2 === 0 ? [without, counting] : [counting, without];
      for (const side of order) await burst(side, shape.orders, round >= 0);
    }
    return ratiosOf(without, counting, unsigned ? 'unsigned' : 'signed');
  } finally {
    clearInterval(scraping);
    for (const { node } of sides) await node.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function openSide(
  shape: MetricsShape,
  directory: string,
  adminPort: number,
  unsigned: boolean,
): Promise<Side> {
  const node = await LocalNode.start(mkdtempSync(join(directory, 'node-')), {
    demo: true,
    environment: {
      ...shape.environment,
      ...{ WORKERS: '1', LOG_LEVEL: 'warn', VERIFY_SIGNATURES: unsigned ? 'off' : 'on' },
      ADMIN_PORT: String(adminPort),
    },
  });
  const orders = (shape.rounds + 1) * shape.orders;
  return {
    node,
    traffic: await Traffic.open(node.url, { orders, unsigned }),
    rates: [],
    ticks: [],
  };
}

async function burst({ node, rates, ticks, traffic }: Side, orders: number, counts: boolean) {
  const requests = traffic.draw(orders, 1);
  const before = ticksOf(node);
  const { ordersPerSecond } = await traffic.closed(requests, CONNECTIONS);
  if (!counts) return; // warms up
  rates.push(ordersPerSecond);
  ticks.push(ticksOf(node) - before);
}

/** As Prometheus would; a scrape that fails is a figure that is wrong. */
async function scrape(port: number): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  if (!response.ok) throw new Error(`/metrics answered ${response.status}`);
  await response.text();
}

/** User and system time of the process so far; NaN where the system does not tell. */
function ticksOf({ pid }: LocalNode): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
    return Number(fields[11]) + Number(fields[12]);
  } catch {
    return Number.NaN;
  }
}

function ratiosOf(without: Side, counting: Side, what: string): readonly Ratio[] {
  print(`${what} single orders, nothing counted`, `${median(without.rates).toFixed(0)} orders/s`);
  print('  counted and scraped', `${median(counting.rates).toFixed(0)} orders/s`);
  const sum = (ticks: readonly number[]): number => ticks.reduce((all, each) => all + each, 0);
  const ratios: Ratio[] = [
    {
      name: '  throughput to that of nothing counted',
      ratio: median(counting.rates) / median(without.rates),
      bound: 'at least',
      aim: AIM,
    },
    {
      name: '  processor time of nothing counted to that',
      ratio: sum(without.ticks) / sum(counting.ticks),
      bound: 'at least',
      aim: AIM,
    },
  ];
  for (const ratio of ratios) ratioLine(ratio);
  return ratios;
}
