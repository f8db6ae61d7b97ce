/**
 * Processor time of an order: of the node that leads, by which node checked it; of one that follows, to apply
 * it; and of a single node.
 *
 * Thread: the suite's only one.
 */
import { median, print, type Ratio, ratioLine } from '../common/figures.ts';
import type { LocalNode } from '../load/load-node.ts';
import { Traffic } from '../orders/traffic.ts';
import { endNodes, type Stage, startPair, startSingle } from './cluster-nodes.ts';

export interface ProcessorShape {
  /** Bursts of each kind, by turns. */
  readonly rounds: number;
  /** Orders of a burst. */
  readonly orders: number;
}

const BATCHES = [1, 15, 50];
const CONNECTIONS = 16;
/** Load of many nodes that check: the leader checks nothing, and many orders wait. */
const MANY = { batch: 50, connections: 64, factor: 4, warmUp: 12 };
const SATURATED = { batch: 15, connections: 32 };
/** Microseconds of the leader for an order that another node has checked. */
const AIM_US = 20;
const AIM_SINGLE = 0.8;

/** Node that receives orders, and process whose time counts. */
interface Side {
  readonly traffic: Traffic;
  readonly to: LocalNode;
  readonly of: LocalNode;
}

interface Load {
  readonly batch: number;
  readonly connections: number;
  /** Bursts that count for nothing: V8 compiles. One by default. */
  readonly warmUp?: number;
}

/** Medians of the bursts, microseconds an order. */
interface Cost {
  readonly us: number;
  /** Processor time of the I/O thread alone, us an order. */
  readonly ioUs: number;
  readonly perSecond: number;
}

/** With signatures: by the leader, by a follower, by a single node. */
export async function signedCosts(stage: Stage, shape: ProcessorShape): Promise<readonly Ratio[]> {
  const { follower, leader } = await startPair(stage, 'signed');
  const single = await startSingle(stage, 'single');
  const orders = (BATCHES.length * 2 + 2) * shape.orders * (shape.rounds + 1);
  const traffic = await Traffic.open(leader.url, { orders, unsigned: false });
  const alone = await Traffic.open(single.url, { orders, unsigned: false });
  const own: Side = { traffic, to: leader, of: leader };
  const elsewhere: Side = { traffic, to: follower, of: leader };
  for (const batch of BATCHES) {
    const load = { batch, connections: CONNECTIONS };
    const [checked, forwarded] = await costs([own, elsewhere], load, shape);
    const figures = `own ${told(checked!)}, checked elsewhere ${told(forwarded!)}, aim ${AIM_US}`;
    print(`leader, us an order, ${batch} a request`, figures);
  }
  const sides = [{ traffic: alone, to: single, of: single }, own];
  const [ofSingle, ofLeader] = await costs(sides, SATURATED, shape);
  await endNodes(stage);
  for (const [name, cost] of [
    ['a single node', ofSingle!],
    ['the leader', ofLeader!],
  ] as const) {
    const rate = `${cost.perSecond.toFixed(0)} orders/s, ${told(cost)} us an order`;
    print(`saturation, batches of ${SATURATED.batch}, ${name}`, rate);
  }
  const line: Ratio = {
    name: '  orders for the same processor time',
    ratio: ofSingle!.us / ofLeader!.us,
    bound: 'at least',
    aim: AIM_SINGLE,
  };
  ratioLine(line);
  return [line];
}

/** Measures as many checked orders as several machines send. No signature is checked here. */
export async function manyChecked(stage: Stage, shape: ProcessorShape): Promise<readonly Ratio[]> {
  const settings = { VERIFY_SIGNATURES: 'off' };
  const { follower, leader } = await startPair(stage, 'many', settings);
  const all = { ...shape, orders: MANY.factor * shape.orders };
  const orders = 2 * all.orders * (all.rounds + MANY.warmUp);
  const traffic = await Traffic.open(leader.url, { orders, unsigned: true });
  const [forwarded] = await costs([{ traffic, to: follower, of: leader }], MANY, all);
  const [applied] = await costs([{ traffic, to: leader, of: follower }], MANY, all);
  await endNodes(stage);
  const rate = `at ${forwarded!.perSecond.toFixed(0)} orders/s`;
  print('leader, us an order, as many machines send', `${told(forwarded!)} ${rate}`);
  print('follower, us an order that it applies', told(applied!));
  const line: Ratio = {
    name: '  us of the leader, to the aim',
    ratio: forwarded!.us / AIM_US,
    bound: 'at most',
    aim: 1,
  };
  ratioLine(line);
  return [line];
}

/** The sides take turns, after bursts of each that warm up. */
async function costs(
  sides: readonly Side[],
  { batch, connections, warmUp = 1 }: Load,
  { orders, rounds }: ProcessorShape,
): Promise<readonly Cost[]> {
  const bursts = sides.map(() => [] as Cost[]);
  for (let round = -warmUp; round < rounds; round++) {
    for (const [i, { of, to, traffic }] of sides.entries()) {
      const requests = traffic.draw(Math.ceil(orders / batch), batch);
      const count = batch * requests.length;
      const before = of.threadUs;
      const { ordersPerSecond: perSecond } = await traffic.closed(requests, connections, to.url);
      const { all, io } = of.threadUs;
      const cost = { us: (all - before.all) / count, ioUs: (io - before.io) / count, perSecond };
      if (round >= 0) bursts[i]!.push(cost);
    }
  }
  return bursts.map((all) => ({
    us: median(all.map(({ us }) => us)),
    ioUs: median(all.map(({ ioUs }) => ioUs)),
    perSecond: median(all.map(({ perSecond }) => perSecond)),
  }));
}

function told({ ioUs, us }: Cost): string {
  return `${us.toFixed(1)} (I/O thread ${ioUs.toFixed(1)})`;
}
