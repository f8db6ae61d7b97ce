/**
 * Begins an empty log with the records of one directory, for an operator. Every running node is compared first, so that
 * no history is published that is shorter than another one.
 *
 * Thread: a command-line tool.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { LogEntry } from '../../storage/log/log.ts';
import {
  NO_TAIL,
  type ReplicatedLog,
  type Tail,
} from '../../storage/replicated-log/replicated-log.ts';
import type { NodeView } from '../admin/cluster-schemas.ts';
import type { Announcements } from './announced.ts';
import { nodesOf } from './control.ts';

export interface Records {
  readonly sequence: number;
  readonly digest: number;
  readonly records: readonly LogEntry[];
  /** `undefined` for a batch that was removed, or is not written yet. */
  digestAt(sequence: number): number | undefined;
}

export interface Stand extends Pick<NodeView, 'node' | 'address' | 'sequence' | 'digest'> {
  readonly says: string;
  /** This node forbids that the log begins with the directory. */
  readonly blocks: boolean;
}

const TAIL_MS = 5_000;
const PATIENCE_MS = 15_000;
/** An announcement outlives its node by ten seconds. */
const ANSWER_MS = 14_000;
const REST_MS = 1_000;

/**
 * The nodes that run, each compared with the directory. An etcd that has lost its disks has lost the announcements too,
 * so the list is final `heardAt` at the earliest, on the scale of performance.now(). Nodes that do not answer are given
 * time to, or to be gone.
 */
export async function standsOf(
  announcements: Pick<Announcements, 'all'>,
  own: Records,
  heardAt: number,
): Promise<{ readonly stands: readonly Stand[]; readonly epoch: number }> {
  const end = Math.max(heardAt, performance.now() + ANSWER_MS);
  const isOpen = (nodes: readonly NodeView[]): boolean => {
    const now = performance.now();
    return now < heardAt || (now < end && nodes.some(isSilent));
  };
  let nodes = await nodesOf(announcements);
  while (isOpen(nodes)) {
    await sleep(REST_MS);
    nodes = await nodesOf(announcements);
  }
  const epoch = Math.max(0, ...nodes.map((node) => node.epoch ?? 0));
  return { stands: nodes.map((node) => standOf(node, own)), epoch };
}

function isSilent({ sequence }: NodeView): boolean {
  return sequence === undefined;
}

function standOf(view: NodeView, own: Records): Stand {
  const { address, digest, node, sequence, state } = view;
  const stand = (says: string, blocks: boolean): Stand => {
    return { node, address, says, blocks, ...(!isSilent(view) && { sequence, digest }) };
  };
  if (sequence === undefined) return stand(`does not answer: ${state}`, true);
  if (sequence > own.sequence) return stand(`is ahead by ${sequence - own.sequence}`, true);
  const there = sequence === own.sequence ? own.digest : own.digestAt(sequence);
  if (there !== undefined && there !== digest) return stand('has another history', true);
  if (sequence === own.sequence) return stand('is level', false);
  return stand(`is behind by ${own.sequence - sequence}`, false);
}

/** The tail of the cluster's log; `undefined` where it is empty. */
export async function begunTail(
  replicated: Pick<ReplicatedLog, 'tail'>,
): Promise<Tail | undefined> {
  const tail = await replicated.tail(TAIL_MS);
  return tail.epoch === NO_TAIL.epoch ? undefined : tail;
}

/**
 * Begins the log. An epoch is a record of the log, so none has a number above that of the newest record; nodes that
 * run may have seen one of a log that was begun and lost since.
 */
export function beginWith(
  replicated: Pick<ReplicatedLog, 'begin'>,
  { records, sequence }: Records,
  seen: number,
): Promise<Tail> {
  return replicated.begin(records, Math.max(sequence, seen) + 1, PATIENCE_MS);
}
