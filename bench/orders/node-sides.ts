/**
 * Two nodes that get the same traffic by turns, burst by burst, in one run: only their ratio means anything on a
 * machine that is shared.
 *
 * Thread: the suite's only one. Non-goals: what is compared; the suites say it.
 */
import { existsSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { median, print, type Ratio, ratioLine } from '../common/figures.ts';
import { LocalNode } from '../load/load-node.ts';
import { Traffic } from './traffic.ts';

export interface SideOptions {
  readonly name: string;
  /** Beside what every side has. */
  readonly environment: NodeJS.ProcessEnv;
  /** Another program than this checkout's node. */
  readonly main?: string;
  readonly hasLedger?: boolean;
}

export interface TurnShape {
  /** Bursts of each node, by turns. */
  readonly rounds: number;
  /** Orders of a burst. */
  readonly orders: number;
  /** Orders of a request. */
  readonly batch: number;
  readonly unsigned: boolean;
}

export interface Side {
  readonly name: string;
  readonly node: LocalNode;
  readonly traffic: Traffic;
  readonly rates: number[];
  /** Ticks of the processor, of all its threads. */
  readonly ticks: number[];
}

const CONNECTIONS = 32;

/** Returns the path of the program of a compiled node. */
export function programOf(root: string): string {
  // Older builds, and bundles, have their programs in other folders.
  const programs = ['node', 'app', ''].flatMap((folder) => [
    join('node/server', folder, 'main.js'),
    join('server', folder, 'main.js'),
  ]);
  const main = programs.map((name) => join(root, name)).find((path) => existsSync(path));
  if (main === undefined) throw new Error(`${root} is no compiled node`);
  return main;
}

/** Starts a node in a directory of its own, with books that are deep enough for all bursts. */
export async function openSide(
  directory: string,
  { environment, hasLedger = false, main, name }: SideOptions,
  { orders, rounds, unsigned }: TurnShape,
): Promise<Side> {
  const node = await LocalNode.start(mkdtempSync(join(directory, 'node-')), {
    demo: true,
    environment: {
      WORKERS: '1',
      LOG_LEVEL: 'warn',
      VERIFY_SIGNATURES: unsigned ? 'off' : 'on',
      ...environment,
    },
    ...(main === undefined ? {} : { main }),
  });
  const options = { orders: (rounds + 1) * orders, unsigned, hasLedger };
  const traffic = await Traffic.open(node.url, options);
  return { name, node, traffic, rates: [], ticks: [] };
}

/** One burst after another, after one of each that warms up. */
export async function takeTurns(sides: readonly [Side, Side], shape: TurnShape): Promise<void> {
  const [one, other] = sides;
  for (let round = -1; round < shape.rounds; round += 1) {
    // Who comes first changes: the second one finds a warmer machine.
    for (const side of round % 2 === 0 ? [one, other] : [other, one]) {
      await burst(side, shape, round >= 0);
    }
  }
}

async function burst(
  { node, rates, ticks, traffic }: Side,
  { batch, orders }: TurnShape,
  counts: boolean,
): Promise<void> {
  const requests = traffic.draw(Math.ceil(orders / batch), batch);
  const before = node.ticks;
  const { ordersPerSecond } = await traffic.closed(requests, CONNECTIONS);
  if (!counts) return;
  rates.push(ordersPerSecond);
  ticks.push(node.ticks - before);
}

/** Returns ratios of the second side to the first: throughput, and processor time of the first to the second. */
export function sideRatios([first, second]: readonly [Side, Side], aim: number): readonly Ratio[] {
  for (const { name, rates } of [first, second]) {
    print(name, `${median(rates).toFixed(0)} orders/s`);
  }
  const sum = (ticks: readonly number[]): number => ticks.reduce((all, each) => all + each, 0);
  const bound = 'at least';
  const ratios: Ratio[] = [
    {
      name: '  throughput to that of the first',
      bound,
      aim,
      ratio: median(second.rates) / median(first.rates),
    },
    {
      name: '  processor time of the first to that',
      bound,
      aim,
      ratio: sum(first.ticks) / sum(second.ticks),
    },
  ];
  for (const ratio of ratios) ratioLine(ratio);
  return ratios;
}
