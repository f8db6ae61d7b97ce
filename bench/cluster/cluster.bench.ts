/**
 * `npm run bench -- cluster`: what an order costs the node that leads, by whom it was checked. The same orders go to
 * the leader, and to a node that follows, by turns; each time the processor time of the leader's process is taken. Three
 * members of etcd and both nodes share the processors of this machine, so nothing is said of how fast they are.
 */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openNodeKey } from '../../server/identity/credentials.ts';
import { Etcd, NO_ETCD } from '../common/etcd.ts';
import { median, percentile, print, type Ratio, ratioLine } from '../common/figures.ts';
import { LocalNode } from '../load/load-node.ts';
import { Traffic } from '../orders/traffic.ts';

export interface ClusterShape {
  /** Bursts at each of the nodes, by turns. */
  readonly rounds: number;
  /** Orders of a burst. */
  readonly orders: number;
}

export const CLUSTER_FULL: ClusterShape = { rounds: 3, orders: 6_000 };

/** Orders of one request. */
const BATCHES = [1, 15, 50];
const CONNECTIONS = 16;
const ONE_BY_ONE = 300;
/** A tick of the processor, as the system counts. */
const TICK_US = 10_000;
/** Of the leader, for an order that another node has checked; and of the time of one at a follower. */
const AIM_US = 15;
const AIM_HOP = 1.3;

export async function clusterSuite(shape: ClusterShape): Promise<readonly Ratio[]> {
  if (NO_ETCD !== undefined) throw new Error(NO_ETCD);
  const directory = mkdtempSync(join(tmpdir(), 'cluster-bench-'));
  const etcd = await Etcd.start();
  const nodes: LocalNode[] = [];
  try {
    for (const name of ['leader', 'follower']) nodes.push(await startNode(directory, name, etcd));
    const [leader, follower] = nodes as [LocalNode, LocalNode];
    const orders = 2 * BATCHES.length * shape.orders * shape.rounds + 4 * ONE_BY_ONE;
    const traffic = await Traffic.open(leader.url, { orders, unsigned: false });
    for (const batch of BATCHES) await processorTime(traffic, leader, follower, batch, shape);
    return [await oneByOne(traffic, leader, follower)];
  } finally {
    for (const node of nodes) await node.stop();
    await etcd.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The first one leads. All have one key of the node. */
async function startNode(directory: string, name: string, etcd: Etcd): Promise<LocalNode> {
  const dataDir = join(directory, name);
  mkdirSync(dataDir);
  const first = join(directory, 'leader');
  if (dataDir === first) openNodeKey(first);
  else copyFileSync(join(first, 'node.key'), join(dataDir, 'node.key'));
  return LocalNode.start(dataDir, {
    demo: true,
    environment: {
      ...{ WORKERS: '1', LOG_LEVEL: 'warn', CLUSTER: etcd.address(), NODE_ID: name },
      ...{ ADVERTISE: 'http://127.0.0.1:1', CLUSTER_SECRET: 'bench'.repeat(8) },
      CLUSTER_SILENCE_MS: '5000',
    },
  });
}

async function processorTime(
  traffic: Traffic,
  leader: LocalNode,
  follower: LocalNode,
  batch: number,
  { orders, rounds }: ClusterShape,
): Promise<void> {
  const us: [number[], number[]] = [[], []];
  for (let round = -1; round < rounds; round++) {
    for (const [i, node] of [leader, follower].entries()) {
      const requests = traffic.draw(Math.ceil(orders / batch), batch);
      const before = leader.ticks;
      await traffic.closed(requests, CONNECTIONS, node.url);
      // The first round warms up.
      if (round >= 0) us[i]!.push((TICK_US * (leader.ticks - before)) / (batch * requests.length));
    }
  }
  const [own, forwarded] = us.map(median) as [number, number];
  const what = `leader, us of processor an order, ${batch} a request`;
  print(what, `own ${own.toFixed(1)}, checked elsewhere ${forwarded.toFixed(1)}, aim ${AIM_US}`);
}

/** One order at a time, at the leader and at a follower. */
async function oneByOne(traffic: Traffic, leader: LocalNode, follower: LocalNode): Promise<Ratio> {
  const ms: [number[], number[]] = [[], []];
  for (const isWarm of [false, true]) {
    for (const [i, node] of [leader, follower].entries()) {
      const requests = traffic.draw(ONE_BY_ONE, 1);
      const { latencyMs } = await traffic.closed(requests, 1, node.url);
      if (isWarm) ms[i] = [...latencyMs];
    }
  }
  for (const [i, name] of ['leader', 'follower'].entries()) {
    const at = (share: number): string => percentile(ms[i]!, share).toFixed(2);
    print(`one order at the ${name}`, `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`);
  }
  const ratio = median(ms[1]) / median(ms[0]);
  const line: Ratio = {
    name: 'at the follower beside the leader',
    ratio,
    bound: 'at most',
    aim: AIM_HOP,
  };
  ratioLine(line);
  return line;
}
