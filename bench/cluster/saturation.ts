/**
 * Saturation of three nodes on paper, each with a processor of its own: two follow and check signed orders, one leads.
 * Processor time of each node for an order of the cluster is measured here; the node with the most of it is the limit.
 *
 *   orders/s of the cluster       = 1,000,000 / max(us of the leader, of follower 1, of follower 2)
 *   orders/s of a single node     = 1,000,000 / us of the node
 *
 * Not in the figure: etcd, clients and a network, which have processors of their own on paper too; memory and caches,
 * which the nodes share here.
 *
 * Thread: the suite's only one.
 */
import { median, print, type Ratio, ratioLine } from '../common/figures.ts';
import type { LocalNode } from '../load/load-node.ts';
import { Traffic } from '../orders/traffic.ts';
import { endNodes, type Stage, startCluster, startSingle } from './cluster-nodes.ts';
import type { ProcessorShape } from './processor.ts';

const BATCH = 50;
const CONNECTIONS = 16;
const WARM_UP = 2;
const SECOND_US = 1_000_000;
const AIM = 1.3;

export async function saturationOnPaper(
  stage: Stage,
  { orders, rounds }: ProcessorShape,
): Promise<readonly Ratio[]> {
  const names = ['leader', 'follower-1', 'follower-2'];
  const cluster = await startCluster(stage, 'paper', names);
  const single = await startSingle(stage, 'paper-single');
  const all = { orders: orders * (rounds + WARM_UP), unsigned: false };
  const together = await Traffic.open(cluster[0]!.url, all);
  const alone = await Traffic.open(single.url, all);
  const ofCluster: number[][] = [];
  const ofSingle: number[][] = [];
  for (let round = -WARM_UP; round < rounds; round++) {
    const checking = await burst(together, orders, cluster.slice(1), cluster);
    const lone = await burst(alone, orders, [single], [single]);
    if (round < 0) continue;
    ofCluster.push(checking);
    ofSingle.push(lone);
  }
  await endNodes(stage);
  const us = names.map((_, i) => median(ofCluster.map((costs) => costs[i]!)));
  const singleUs = median(ofSingle.map(([cost]) => cost!));
  const most = Math.max(...us);
  const told = names.map((name, i) => `${name} ${us[i]!.toFixed(1)}`).join(', ');
  print(`us an order, ${BATCH} a request`, `${told}; single ${singleUs.toFixed(1)}`);
  const rates = [most, singleUs].map((cost) => (SECOND_US / cost).toFixed(0));
  print('saturation on paper, a processor each', `${rates[0]} orders/s; single ${rates[1]}`);
  const line: Ratio = {
    name: '  of three nodes to a single node',
    ratio: singleUs / most,
    bound: 'at least',
    aim: AIM,
  };
  ratioLine(line);
  return [line];
}

/** Sends an equal share to each node at once; returns the microseconds of each of `of` for an order of all. */
async function burst(
  traffic: Traffic,
  orders: number,
  to: readonly LocalNode[],
  of: readonly LocalNode[],
): Promise<number[]> {
  const share = Math.ceil(orders / BATCH / to.length);
  const requests = to.map(() => traffic.draw(share, BATCH));
  const before = of.map(({ threadUs }) => threadUs.all);
  await Promise.all(to.map(({ url }, i) => traffic.closed(requests[i]!, CONNECTIONS, url)));
  return of.map(({ threadUs }, i) => (threadUs.all - before[i]!) / (BATCH * share * to.length));
}
