/**
 * `npm run bench -- cluster-log`: an append to the log on etcd beside a bare transaction of the same bytes through
 * the same connection, by turns; then many appends that wait together. Three members on this machine share its
 * processors and its disk.
 */

import type { NewEntry } from '../../storage/log/log.ts';
import { recordBytes } from '../../storage/log/record.ts';
import { EtcdLog } from '../../storage/replicated-log/etcd-log.ts';
import { type LogWriter, NO_TAIL } from '../../storage/replicated-log/replicated-log.ts';
import { BareLog } from '../common/bare-log.ts';
import { Etcd, NO_ETCD } from '../common/etcd.ts';
import { median, percentile, print } from '../common/figures.ts';

export interface ClusterLogShape {
  /** Appends of each size, except of the largest, of which there are a fifth. */
  readonly appends: number;
  /** Appends that wait together. */
  readonly waiting: number;
  readonly seconds: number;
}

export const CLUSTER_LOG_FULL: ClusterLogShape = { appends: 300, waiting: 64, seconds: 5 };

export interface ClusterLogFigures {
  /** Median of an append to that of a bare transaction, by size. */
  readonly ratios: readonly number[];
  /** Appends that waited together. */
  readonly perSecond: number;
}

const SIZES = [300, 4_000, 100_000, 1_000_000];
const LARGE = 1_000_000;
const WARM_UP = 20;
const PATIENCE_MS = 60_000;

export async function clusterLogSuite(shape: ClusterLogShape): Promise<ClusterLogFigures> {
  if (NO_ETCD !== undefined) throw new Error(NO_ETCD);
  const etcd = await Etcd.start();
  try {
    const client = await etcd.client();
    const log = new EtcdLog(client, 'bench', 2 ** 26);
    const first = { ...entryOf(1, 300), before: 0 };
    const writer = await log.claim(NO_TAIL, first, { node: 'bench', patienceMs: PATIENCE_MS });
    const bare = new BareLog(client);
    const ratios: number[] = [];
    for (const bytes of SIZES) ratios.push(await beside(writer, bare, bytes, shape.appends));
    await log.trim(writer.last);
    let perSecond = 0;
    for (const bytes of [4_000, 300]) perSecond = await together(writer, bytes, shape);
    await log.close();
    return { ratios, perSecond };
  } finally {
    await etcd.close();
  }
}

async function beside(
  writer: LogWriter,
  bare: BareLog,
  bytes: number,
  appends: number,
): Promise<number> {
  const count = bytes >= LARGE ? Math.ceil(appends / 5) : appends;
  const value = Buffer.alloc(recordBytes(bytes), 7);
  const taken = { log: [] as number[], bare: [] as number[] };
  const ways = {
    log: () => writer.append([entryOf(writer.last + 1, bytes)], writer.last),
    bare: () => bare.write(value),
  };
  const turns = [['log', 'bare'] as const, ['bare', 'log'] as const];
  for (let i = -Math.min(count, WARM_UP); i < count; i++) {
    // What one leaves behind for the disks delays the other one as often.
    for (const way of turns[i & 1]!) {
      const begin = performance.now();
      await ways[way]();
      if (i >= 0) taken[way].push(performance.now() - begin);
    }
  }
  print(`append of ${bytes} bytes`, percentiles(taken.log));
  print('  bare transaction of as many', percentiles(taken.bare));
  const ratio = median(taken.log) / median(taken.bare);
  print('  ratio of the medians', `${ratio.toFixed(2)} x`);
  return ratio;
}

async function together(
  writer: LogWriter,
  bytes: number,
  { seconds, waiting }: ClusterLogShape,
): Promise<number> {
  const end = performance.now() + 1_000 * seconds;
  const begin = performance.now();
  const taken: number[] = [];
  let sent = writer.last;
  const run = async (): Promise<void> => {
    while (performance.now() < end) {
      sent += 1;
      const began = performance.now();
      await writer.append([entryOf(sent, bytes)], sent - 1);
      taken.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: waiting }, run));
  const perSecond = (1_000 * taken.length) / (performance.now() - begin);
  print(
    `${waiting} waiting appends of ${bytes} bytes`,
    `${perSecond.toFixed(0)} a second, ${percentiles(taken)}`,
  );
  return perSecond;
}

function entryOf(sequence: number, bytes: number): NewEntry {
  return { sequence, time: sequence, after: sequence | 0, payload: Buffer.alloc(bytes, 7) };
}

function percentiles(ms: readonly number[]): string {
  const at = (share: number): string => `p${100 * share} ${percentile(ms, share).toFixed(1)} ms`;
  return `${at(0.5)}, ${at(0.99)} (${ms.length})`;
}
