/**
 * Reads of books at a follower and at a single node, each while the same orders come in: at the leader there, at the node
 * itself here. The figure is reads for a second of the I/O thread's processor time, because that thread
 * bounds what a node serves, and because on a machine that is shared only processor time tells. Orders go to both
 * sides all the time, so that what else runs on the machine is the same whichever is read: a read costs more where
 * other processes take the caches and the thread wakes for one request at a time.
 *
 * Thread: the suite's only one.
 */
import { median, print, type Ratio, ratioLine } from '../common/figures.ts';
import { loadProblem, runLoad } from '../common/http-load.ts';
import type { LocalNode } from '../load/load-node.ts';
import { Traffic } from '../orders/traffic.ts';
import { endNodes, type Stage, startPair, startSingle } from './cluster-nodes.ts';

export interface ReadShape {
  /** Stretches of each node, by turns. */
  readonly rounds: number;
  readonly seconds: number;
  /** That come in meanwhile. */
  readonly ordersPerSecond: number;
}

const BATCH = 50;
const WRITERS = 8;
/** Connections that keep the thread busy with reads. */
const READERS = 64;
const US_PER_SECOND = 1e6;
const AIM = 0.95;

interface Side {
  readonly traffic: Traffic;
  readonly ordersTo: LocalNode;
  readonly read: LocalNode;
  readonly perSecond: number[];
}
type Sides = readonly [Side, Side];

/** None without wrk. Signatures are checked by neither: a single node has less left for reads where it checks them. */
export async function readsBeside(stage: Stage, shape: ReadShape): Promise<readonly Ratio[]> {
  const problem = loadProblem();
  if (problem !== undefined) {
    print('reads: not run', problem);
    return [];
  }
  const settings = { VERIFY_SIGNATURES: 'off' };
  const { follower, leader } = await startPair(stage, 'read', settings);
  const single = await startSingle(stage, 'read-single', settings);
  const orders = Math.ceil(2 * shape.ordersPerSecond * shape.seconds * (shape.rounds + 2));
  const open = (url: URL): Promise<Traffic> => Traffic.open(url, { orders, unsigned: true });
  const sides: Sides = [
    { traffic: await open(leader.url), ordersTo: leader, read: follower, perSecond: [] },
    { traffic: await open(single.url), ordersTo: single, read: single, perSecond: [] },
  ];
  for (let round = -1; round < shape.rounds; round++) {
    for (const side of sides) {
      const perSecond = await stretch(side, sides, shape);
      if (round >= 0) side.perSecond.push(perSecond);
    }
  }
  await endNodes(stage);
  const [ofFollower, ofSingle] = sides.map(({ perSecond }) => median(perSecond)) as [
    number,
    number,
  ];
  const what = `reads a second of the I/O thread, ${shape.ordersPerSecond} orders/s`;
  print(what, `follower ${ofFollower.toFixed(0)}, single node ${ofSingle.toFixed(0)}`);
  const line: Ratio = {
    name: '  a follower to a single node',
    ratio: ofFollower / ofSingle,
    bound: 'at least',
    aim: AIM,
  };
  ratioLine(line);
  return [line];
}

/** Reads of one side for a second of processor time, while orders come in at both. */
async function stretch(
  { read, traffic }: Side,
  sides: Sides,
  { ordersPerSecond, seconds }: ReadShape,
): Promise<number> {
  const count = Math.ceil((ordersPerSecond * seconds) / BATCH);
  const writes = sides.map((side) => ({ side, requests: side.traffic.draw(count, BATCH) }));
  const { requests: own } = writes.find(({ side }) => side.traffic === traffic)!;
  const books = tokensOf(own[0]!.body).map((token) => ({ target: `/book?token_id=${token}` }));
  const load = { port: Number(read.url.port), requests: books, seconds, connections: READERS };
  const before = read.threadUs.io;
  const [{ failed, requests: reads }] = await Promise.all([
    runLoad(load),
    ...writes.map(({ requests, side }) =>
      side.traffic.open(requests, WRITERS, ordersPerSecond / BATCH, side.ordersTo.url),
    ),
  ]);
  if (failed > 0) throw new Error(`${failed} reads failed`);
  return (US_PER_SECOND * reads) / (read.threadUs.io - before);
}

function tokensOf(body: string): string[] {
  const items = JSON.parse(body) as { readonly order: { readonly tokenId: string } }[];
  return [...new Set(items.map(({ order }) => order.tokenId))];
}
