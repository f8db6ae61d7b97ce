/**
 * The lead goes to and fro between two nodes while orders come in at both, one at a time at each: how long the longest
 * of them waits. An order that fails ends the run.
 *
 * Thread: the suite's only one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { median, percentile, print, type Ratio, ratioLine } from '../common/figures.ts';
import type { LocalNode } from '../load/load-node.ts';
import { Traffic } from '../orders/traffic.ts';
import { endNodes, type Stage, startPair } from './cluster-nodes.ts';

const AIM_MS = 200;
/** Before a hand-over, and after it. */
const CALM_MS = 1_000;
const ORDERS_PER_HANDOVER = 2_000;

interface Sent {
  readonly at: number;
  readonly ms: number;
}

export async function handovers(stage: Stage, count: number): Promise<readonly Ratio[]> {
  const { follower, leader } = await startPair(stage, 'handover');
  const orders = ORDERS_PER_HANDOVER * count;
  const traffic = await Traffic.open(leader.url, { orders, unsigned: false });
  const sent: Sent[] = [];
  let isOver = false;
  const send = async ({ url }: LocalNode): Promise<void> => {
    while (!isOver) {
      const requests = traffic.draw(1, 1);
      const at = performance.now();
      const { latencyMs } = await traffic.closed(requests, 1, url);
      sent.push({ at, ms: latencyMs[0]! });
    }
  };
  const load = Promise.all([send(leader), send(follower)]);
  const led: number[] = [];
  const longest: number[] = [];
  const before: number[] = [];
  const worstOf = (from: number, to: number): number =>
    Math.max(...sent.filter(({ at, ms }) => at + ms > from && at < to).map(({ ms }) => ms));
  for (let i = 0; i < count; i++) {
    await sleep(CALM_MS);
    const began = performance.now();
    const node = i % 2 === 0 ? leader : follower;
    const answer = await node.operator('/admin/cluster/handover', {});
    await sleep(CALM_MS);
    led.push(answer!.ms as number);
    longest.push(worstOf(began, performance.now()));
    before.push(worstOf(began - CALM_MS, began));
  }
  isOver = true;
  await load;
  await endNodes(stage);
  const at = (ms: readonly number[]): string =>
    `p50 ${median(ms).toFixed(0)}, worst ${percentile(ms, 1).toFixed(0)} ms`;
  print(`hand-over, until another node leads (${count})`, at(led));
  print('  longest wait of an order meanwhile', at(longest));
  print('  in the second before', at(before));
  const line: Ratio = {
    name: '  longest wait, p50 to the aim',
    ratio: median(longest) / AIM_MS,
    bound: 'at most',
    aim: 1,
  };
  ratioLine(line);
  return [line];
}
