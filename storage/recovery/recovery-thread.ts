/**
 * The thread that recovers while the I/O thread loads its modules and opens its stores: it loads a
 * snapshot, applies the batches of the log after it, and audits every table.
 */
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { auditBooks, auditOrders } from '../../engine/audit.ts';
import { EVENTS_MAX, EventBuffer } from '../../engine/events.ts';
import { lastBatch } from '../../engine/reads.ts';
import type { Capacities } from '../../engine/tables/capacities.ts';
import type { EngineMemory, Tables } from '../../engine/tables/tables.ts';
import { logDirectory } from '../log/file-log.ts';
import type { Log } from '../log/log.ts';
import { SegmentReader } from '../log/reader.ts';
import { SnapshotFiles } from '../snapshot/snapshots.ts';
import { TablesTooSmall } from '../snapshot/tables-too-small.ts';
import { type Begun, begin, catchUp } from './recover.ts';
import { RecoveryAssistant } from './recovery-assistant.ts';
import { type Replayed, ReplayedBatches } from './replayed-batches.ts';

export interface RecoverySetup {
  readonly dataDir: string;
  readonly durability: 'flushed' | 'committed';
  readonly capacities: Capacities;
  /** Tables that may become as large as in the snapshot. */
  readonly growing: readonly (keyof Capacities)[];
}

export type LogReach = Pick<Log, 'digest' | 'first' | 'last'>;

/** The messages of the thread, in this order. The last two are not sent if it failed. */
export type RecoveryMessage =
  | { readonly kind: 'warning'; readonly line: string }
  | { readonly kind: 'failed'; readonly why: string; readonly isTooSmall: boolean }
  | ({ readonly kind: 'recovered'; readonly memory: EngineMemory } & RecoveredSnapshot)
  | { readonly kind: 'sound' };

export interface RecoveredSnapshot {
  readonly snapshot: number;
  readonly replayed: number;
  readonly firstFill: number;
  readonly skippedSnapshots: readonly number[];
  readonly recent: Replayed;
}

/** Bytes of a snapshot from which on a second thread is faster. */
const LARGE_BYTES = 2 ** 26;

const port = parentPort;
assert(port !== null, 'it runs as a thread');

async function run(setup: RecoverySetup, port: MessagePort): Promise<void> {
  const { capacities, dataDir, durability, growing } = setup;
  const say = (message: RecoveryMessage): void => port.postMessage(message);
  const reach = new Promise<LogReach>((resolve) => port.once('message', resolve));
  const snapshots = new SnapshotFiles(dataDir, durability);
  const candidates = snapshots.list();
  const isLarge = candidates.some(({ path }) => statSync(path).size >= LARGE_BYTES);
  const assistant = isLarge && availableParallelism() > 1 ? new RecoveryAssistant() : undefined;
  const warn = (line: string): void => say({ kind: 'warning', line });
  const events = new EventBuffer(EVENTS_MAX);
  const begun: Begun = begin(capacities, snapshots, candidates, warn, assistant, events, growing);
  const { engine, firstFill, snapshot, skippedSnapshots } = begun;
  const { t } = engine;
  const read = (from: number) => new SegmentReader(logDirectory(dataDir), from);
  const log = { ...(await reach), read };
  const recent = new ReplayedBatches(lastBatch(t), log.last);
  const replayed = catchUp(begun, log, (record) => recent.add(record, events));
  const { batches, from } = recent;
  say({
    kind: 'recovered',
    memory: t.memory,
    snapshot,
    replayed,
    firstFill,
    skippedSnapshots,
    recent: { batches, from },
  });
  audit(t, assistant);
  say({ kind: 'sound' });
  await assistant?.close();
}

function audit(t: Tables, assistant: RecoveryAssistant | undefined): void {
  try {
    const orders = assistant?.ask({ kind: 'orders', memory: t.memory });
    auditBooks(t);
    if (orders === undefined) {
      auditOrders(t);
      return;
    }
    const problem = orders();
    if (problem !== undefined) throw new Error(problem);
  } catch (error) {
    throw new Error(`recovery: the tables are wrong: ${(error as Error).message}`);
  }
}

run(workerData as RecoverySetup, port).catch((error: unknown) => {
  const why = error instanceof Error ? error.message : String(error);
  const isTooSmall = error instanceof TablesTooSmall;
  port.postMessage({ kind: 'failed', why, isTooSmall } satisfies RecoveryMessage);
});
