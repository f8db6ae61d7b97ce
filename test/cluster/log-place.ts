/**
 * Replicated logs in memory or on a real etcd, for tests of both; each client has faults of its
 * own. Also records, and the checks of an observer.
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Etcd } from '../../bench/common/etcd.ts';
import { type LogEntry, WrongSequence } from '../../storage/log/log.ts';
import type { Answer } from '../../storage/replicated-log/certain.ts';
import { EtcdLog } from '../../storage/replicated-log/etcd-log.ts';
import type { EncodedGroup } from '../../storage/replicated-log/group-value.ts';
import type {
  FollowCalls,
  LogWriter,
  Position,
  ReplicatedLog,
  Subscription,
} from '../../storage/replicated-log/replicated-log.ts';
import { type Fate, Faults, MemoryCluster, MemoryLog } from '../storage/memory-log.ts';

export const START: Position = { sequence: 0, digest: 0 };
const WAIT_MS = 60_000;

/** Clients of one log; all are closed by close(). */
export interface Place {
  open(faults?: Faults): Promise<ReplicatedLog>;
  close(): Promise<void>;
}

export function memoryPlace(): Place {
  const cluster = new MemoryCluster();
  const open: ReplicatedLog[] = [];
  return {
    open: (faults) => {
      const log = new MemoryLog(cluster, faults);
      open.push(log);
      return Promise.resolve(log);
    },
    close: async () => void (await Promise.all(open.map((log) => log.close()))),
  };
}

/** An etcd log whose writer loses requests and answers by `Faults`; everything else is real. */
class FaultyEtcdLog extends EtcdLog {
  faults = new Faults();

  override swap(group: EncodedGroup, msMax: number): Promise<Answer> {
    const waitMs = Math.min(msMax, this.faults.patienceMs);
    return faulty(this.faults.fate(), waitMs, () => super.swap(group, msMax));
  }
}

async function faulty<T>(fate: Fate, waitMs: number, work: () => Promise<T>): Promise<T> {
  if (fate === 'arrives') return work();
  if (fate === 'answer lost') await work();
  // A request that arrives late does so after its client has tried again, or has given up.
  if (fate === 'late') setTimeout(() => void work().catch(() => undefined), waitMs + 30);
  await sleep(waitMs);
  throw new Error('the test has lost it');
}

/** @param name of the venue, different for each test */
export function etcdPlace(etcd: Etcd, name: string, keepBytes = 0): Place {
  const open: ReplicatedLog[] = [];
  return {
    open: async (faults) => {
      const log = new FaultyEtcdLog(await etcd.client(open.length), name, keepBytes);
      if (faults !== undefined) log.faults = faults;
      open.push(log);
      return log;
    },
    close: async () => void (await Promise.all(open.map((log) => log.close()))),
  };
}

export function digestOf(sequence: number): number {
  return Math.imul(sequence, 0x9e3779b1);
}

export function entryOf(sequence: number, bytes = 50, fill = sequence): LogEntry {
  return {
    sequence,
    time: 1_000 + sequence,
    before: sequence === 1 ? 0 : digestOf(sequence - 1),
    after: digestOf(sequence),
    payload: Buffer.alloc(bytes, fill & 255),
  };
}

export function positionOf(sequence: number): Position {
  return { sequence, digest: sequence === 0 ? 0 : digestOf(sequence) };
}

export async function claimed(
  log: ReplicatedLog,
  node = 'a',
  patienceMs = WAIT_MS,
): Promise<LogWriter> {
  const tail = await log.tail(WAIT_MS);
  return log.claim(tail, entryOf(tail.sequence + 1), { node, patienceMs });
}

/** Claims the log until no append of an earlier, ended writer comes in between. */
export async function claimUntilWon(log: ReplicatedLog): Promise<LogWriter> {
  for (;;) {
    try {
      return await claimed(log);
    } catch (error) {
      if (!(error instanceof WrongSequence)) throw error;
    }
  }
}

export function appendNext(writer: LogWriter, bytes = 50, fill?: number): Promise<void> {
  const sequence = writer.last + 1;
  return writer.append([entryOf(sequence, bytes, fill ?? sequence)], sequence - 1);
}

/** Records that a follower has received; their order is checked at once. */
export class Observer {
  readonly entries: LogEntry[] = [];
  readonly problems: (string | undefined)[] = [];
  readonly empties: boolean[] = [];
  ended: Error | undefined;
  readonly subscription: Subscription;
  gate: Promise<void> = Promise.resolve();
  private at: number;

  constructor(log: ReplicatedLog, from: Position = START) {
    this.at = from.sequence;
    const calls: FollowCalls = {
      take: async (entry) => {
        await this.gate;
        assert.equal(entry.sequence, this.at + 1, 'without a gap');
        this.at = entry.sequence;
        this.entries.push(entry);
      },
      onProblem: (problem) => void this.problems.push(problem),
      onEmpty: (isEmpty) => void this.empties.push(isEmpty),
      onEnd: (error) => {
        this.ended = error;
      },
    };
    this.subscription = log.follow(from, calls);
  }

  get last(): number {
    return this.at;
  }

  has(sequence: number): Promise<void> {
    return until(() => {
      if (this.ended !== undefined) throw this.ended;
      return this.at >= sequence;
    }, `batch ${sequence} is to come`);
  }
}

export async function until(isSo: () => boolean, what: string): Promise<void> {
  const end = performance.now() + WAIT_MS;
  while (!isSo()) {
    assert(performance.now() < end, what);
    await sleep(5);
  }
}

export async function rangeOf(log: ReplicatedLog, from: Position, to: number): Promise<LogEntry[]> {
  const entries: LogEntry[] = [];
  for await (const entry of log.range(from, to)) entries.push(entry);
  return entries;
}
