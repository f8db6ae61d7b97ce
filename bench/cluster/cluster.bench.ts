/**
 * `npm run bench -- cluster`: orders and reads of a cluster beside their parts, and beside a single node; a hand-over;
 * with `--baseline DIR` a single node beside that of an older checkout. Three members of etcd and all nodes share the
 * processors and the disk of this machine, so ratios and processor time tell more than rates.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Etcd, NO_ETCD } from '../common/etcd.ts';
import type { Ratio } from '../common/figures.ts';
import { openSide, programOf, sideRatios, takeTurns } from '../orders/node-sides.ts';
import { endNodes, type Stage } from './cluster-nodes.ts';
import { handovers } from './handovers.ts';
import { oneOrder } from './one-order.ts';
import { manyChecked, type ProcessorShape, signedCosts } from './processor.ts';
import { type ReadShape, readsBeside } from './reads.ts';
import { saturationOnPaper } from './saturation.ts';

export interface ClusterShape extends ProcessorShape {
  /** Orders that are sent one at a time. */
  readonly single: number;
  readonly reads: ReadShape;
  readonly handovers: number;
  readonly baseline?: string;
}

export const CLUSTER_FULL: ClusterShape = {
  rounds: 5,
  orders: 6_000,
  single: 500,
  handovers: 12,
  reads: { rounds: 5, seconds: 3, ordersPerSecond: 5_000 },
};

const CLUSTER_PARTS = {
  order: (stage, { single }) => oneOrder(stage, single),
  processor: async (stage, shape) => [
    ...(await signedCosts(stage, shape)),
    ...(await manyChecked(stage, shape)),
  ],
  saturation: saturationOnPaper,
  reads: (stage, { reads }) => readsBeside(stage, reads),
  handover: (stage, shape) => handovers(stage, shape.handovers),
  single: besideBaseline,
} satisfies Readonly<
  Record<string, (stage: Stage, shape: ClusterShape) => Promise<readonly Ratio[]>>
>;
export type ClusterPart = keyof typeof CLUSTER_PARTS;
export const CLUSTER_PART_NAMES = Object.keys(CLUSTER_PARTS) as ClusterPart[];

const BATCH = 15;
const AIM_SINGLE = 0.97;

export async function clusterSuite(
  shape: ClusterShape,
  parts: readonly ClusterPart[] = CLUSTER_PART_NAMES,
): Promise<readonly Ratio[]> {
  if (NO_ETCD !== undefined) throw new Error(NO_ETCD);
  const directory = mkdtempSync(join(tmpdir(), 'cluster-bench-'));
  const stage: Stage = { directory, etcd: await Etcd.start(), nodes: [] };
  const ratios: Ratio[] = [];
  try {
    for (const part of parts) ratios.push(...(await CLUSTER_PARTS[part](stage, shape)));
    return ratios;
  } finally {
    await endNodes(stage);
    await stage.etcd.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** A node without a cluster beside the one of an older checkout. */
async function besideBaseline(
  { directory, nodes }: Stage,
  { baseline, orders, rounds }: ClusterShape,
): Promise<readonly Ratio[]> {
  if (baseline === undefined) return [];
  const turns = { rounds, orders, batch: BATCH, unsigned: false };
  const environment = {};
  const older = { name: 'baseline, a single node', environment, main: programOf(baseline) };
  const sides = [
    await openSide(directory, older, turns),
    await openSide(directory, { name: 'present, a single node', environment }, turns),
  ] as const;
  nodes.push(...sides.map(({ node }) => node));
  await takeTurns(sides, turns);
  return sideRatios(sides, AIM_SINGLE);
}
