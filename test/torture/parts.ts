/** The parts of `npm run torture`, in the order in which it runs them. */
import { ALL_CLUSTER_FAULTS, cluster } from './cluster/cluster.ts';
import { ALL_FAULTS, faults } from './faults.ts';
import { ATTACKS_COUNT, hostile } from './hostile/hostile.ts';
import { input } from './input.ts';
import { interleavings } from './interleavings.ts';
import { kills } from './kills.ts';
import { model } from './model.ts';
import { overload } from './overload.ts';
import type { PartRun } from './part.ts';
import { resolutions } from './resolutions.ts';
import { simulate } from './simulate.ts';
import { soak } from './soak.ts';

interface Part {
  readonly does: string;
  /** Goal of the long form, in the unit of the part. */
  readonly goal: number;
  /** Time limit: all of them together are three hours at most. */
  readonly minutes: number;
  /** Beside the others on a processor of its own, after one another, or alone. */
  readonly how: 'beside' | 'in turn' | 'alone';
  readonly run: PartRun;
}

export const PARTS: Readonly<Record<string, Part>> = {
  simulation: {
    does: 'engine, log, follower and recovery on a simulated disk; a crash at every change of it',
    goal: 60_000,
    minutes: 10,
    how: 'beside',
    run: simulate,
  },
  kills: {
    does: 'kill -9 under load, while snapshots, segments and catalogs change; books of all answers',
    goal: 500,
    minutes: 14,
    how: 'in turn',
    run: kills,
  },
  resolutions: {
    does: 'kill -9 between the steps of resolutions; each wallet before or after, nobody paid twice',
    goal: 100,
    minutes: 12,
    how: 'in turn',
    run: resolutions,
  },
  faults: {
    does: 'disks, files, threads, clocks and processes that fail around a serving node',
    goal: ALL_FAULTS,
    minutes: 9,
    how: 'in turn',
    run: faults,
  },
  interleavings: {
    does: 'eight workers held up at every atomic step; order of batches, whole books',
    goal: 3_000,
    minutes: 4,
    how: 'in turn',
    run: interleavings,
  },
  input: {
    does: 'generated requests of all routes and messages of all streams, from the schemas in code',
    goal: 120_000,
    minutes: 4,
    how: 'in turn',
    run: input,
  },
  model: {
    does: 'naive exchange against engine, audit after every thousandth command',
    goal: 20_000_000,
    minutes: 12,
    how: 'beside',
    run: model,
  },
  overload: {
    does: 'idle connections, slow clients, silent streams, twice the orders that it answers: seconds',
    goal: 60,
    minutes: 4,
    how: 'alone',
    run: overload,
  },
  hostile: {
    does: 'one client against the others: every attack beside a well-behaved client',
    goal: ATTACKS_COUNT,
    minutes: 50,
    how: 'alone',
    run: hostile,
  },
  cluster: {
    does: 'three nodes on three members of etcd: kills, partitions, pauses, clocks, disks',
    goal: ALL_CLUSTER_FAULTS,
    minutes: 45,
    how: 'alone',
    run: cluster,
  },
  soak: {
    does: 'mixed load with catalogs, snapshots and streams: minutes',
    goal: 20,
    minutes: 22,
    how: 'alone',
    run: soak,
  },
};
