/**
 * Recovery loads the newest valid snapshot, then applies every later batch of the log with the same
 * engine. The caller then audits the tables. Recovery stops at any gap, wrong checksum or different
 * digest, and names the batch: a wrong book is worse than a node that is down.
 *
 * Thread: recovery-thread.ts, before workers start and before the port opens. The projector begins
 * the same way.
 */

import { Engine } from '../../engine/engine.ts';
import type { EventBuffer } from '../../engine/events.ts';
import { FILL_BYTES, fillCount, fillRow, lastBatch, stateDigest } from '../../engine/reads.ts';
import type { Capacities } from '../../engine/tables/capacities.ts';
import { allocateEngine, type Tables } from '../../engine/tables/tables.ts';
import { Damage } from '../kv/checksum.ts';
import type { PackedRows } from '../kv/packed.ts';
import type { BatchRecord } from '../log/batch-record.ts';
import { entriesOf, type Log, LogDamage } from '../log/log.ts';
import { resizeTables } from '../snapshot/resize-tables.ts';
import type { LoadAssistant, SnapshotFiles, SnapshotInfo } from '../snapshot/snapshots.ts';
import { batchOf, replay } from './replay.ts';

export interface Recovered {
  readonly engine: Engine;
  /** Batch of the snapshot that it started from; 0 = none. */
  readonly snapshot: number;
  readonly replayed: number;
  readonly firstFill: number;
}

export interface Begun {
  readonly engine: Engine;
  readonly snapshot: number;
  readonly firstFill: number;
  /** Batches of the snapshots that could not be used, and why. */
  readonly skippedSnapshots: readonly number[];
  readonly reasons: readonly string[];
}

/**
 * Rebuilds the engine's memory in tables of `capacities`, which may be larger than those of the
 * last run. Throws an Error that names what is wrong and where.
 * @param fills where to read fills for which the ring had no room when the snapshot was taken
 * @internal Benchmarks and tests recover without a thread.
 */
export function recover(
  capacities: Capacities,
  snapshots: SnapshotFiles,
  log: LogBehind,
  fills: PackedRows | undefined,
  warn: (line: string) => void,
): Recovered {
  const begun = begin(capacities, snapshots, snapshots.list(), warn);
  const { engine, snapshot } = begun;
  const replayed = catchUp(begun, log);
  const firstFill =
    fills === undefined ? begun.firstFill : loadFills(engine.t, fills, begun.firstFill, warn);
  return { engine, snapshot, replayed, firstFill };
}

/**
 * Tables from which a projector begins, chosen so that it applies again every batch that LMDB lacks. LMDB has the
 * batches up to `sequence`. When log and snapshots do not reach back so far, the oldest possible ones. Throws an
 * Error when no snapshot leads up to the log. @param events takes the engine events from then on
 */
export function beginBehind(
  { capacities, logFirst }: { readonly capacities: Capacities; readonly logFirst: number },
  snapshots: SnapshotFiles,
  sequence: number,
  warn: (line: string) => void,
  events: EventBuffer,
): Begun {
  const reaching = snapshots.list().filter((snapshot) => snapshot.sequence + 1 >= logFirst);
  const behind = reaching.filter((snapshot) => snapshot.sequence <= sequence);
  const ahead = reaching.filter((snapshot) => snapshot.sequence > sequence).reverse();
  let begun = begin(capacities, snapshots, behind, warn, undefined, events);
  if (begun.snapshot === 0 && logFirst > 1)
    begun = begin(capacities, snapshots, ahead, warn, undefined, events);
  if (begun.snapshot === 0 && logFirst > 1) {
    throw new Error(`the log begins with batch ${logFirst}, and no image leads up to it`);
  }
  return begun;
}

export type LogBehind = Pick<Log, 'digest' | 'first' | 'last' | 'read'>;

/**
 * Applies every batch of the log after the snapshot. Returns the number of batches.
 * @param onReplayed called with each batch once it is applied
 */
export function catchUp(
  { engine, reasons }: Begun,
  log: LogBehind,
  onReplayed: (record: BatchRecord) => void = () => undefined,
): number {
  const start = lastBatch(engine.t);
  const why = reasons.length === 0 ? '' : ` (${reasons.join('; ')})`;
  if (log.last < start) {
    throw new LogDamage(`it ends with batch ${log.last}, but an image holds batch ${start}`);
  }
  if (log.last === start) {
    if (log.digest === stateDigest(engine.t)) return 0;
    throw new LogDamage(`its batch ${start} is not the one that an image holds${why}`);
  }
  if (log.first > start + 1) throw new LogDamage(`batch ${start + 1} is missing${why}`);
  for (const entry of entriesOf(log.read(start + 1), log.last)) {
    const record = batchOf(entry);
    replay(engine, entry, record);
    onReplayed(record);
  }
  return lastBatch(engine.t) - start;
}

/**
 * Loads the first usable one of these snapshots into tables of `capacities`; of those in `growing` at least as large
 * as in the snapshot.
 */
export function begin(
  capacities: Capacities,
  snapshots: SnapshotFiles,
  candidates: readonly SnapshotInfo[],
  warn: (line: string) => void,
  assistant?: LoadAssistant,
  events?: EventBuffer,
  growing: readonly (keyof Capacities)[] = [],
): Begun {
  const reasons: string[] = [];
  const skippedSnapshots: number[] = [];
  for (const info of candidates) {
    const loaded = snapshots.load(info, assistant);
    if (typeof loaded !== 'string') {
      const room = grown(capacities, loaded.tables.capacities, growing);
      const { memory } = resizeTables(loaded.tables, room);
      const engine = new Engine(memory, events);
      const { t } = engine;
      // A ring that is smaller than before has only the newest fills.
      const firstFill = Math.max(loaded.firstFill, fillCount(t) - t.fillRows);
      return { engine, snapshot: info.sequence, firstFill, skippedSnapshots, reasons };
    }
    skippedSnapshots.push(info.sequence);
    reasons.push(`image ${info.sequence}: ${loaded}`);
    warn(`recovery: image ${info.sequence} cannot be used: ${loaded}`);
  }
  const engine = new Engine(allocateEngine(capacities), events);
  return { engine, snapshot: 0, firstFill: 0, skippedSnapshots, reasons };
}

function grown(
  capacities: Capacities,
  stored: Capacities,
  growing: readonly (keyof Capacities)[],
): Capacities {
  const larger = growing.map((name) => [name, Math.max(capacities[name], stored[name])] as const);
  return { ...capacities, ...Object.fromEntries(larger) };
}

/**
 * Fills the ring of fills up with older ones, when it may reach further back than at the time of
 * the snapshot. Returns the oldest fill that it then contains.
 */
export function loadFills(
  t: Tables,
  fills: PackedRows,
  firstFill: number,
  warn: (line: string) => void,
): number {
  const first = Math.max(0, fillCount(t) - t.capacities.trades);
  const ring = t.memory.buffers.fills;
  let oldest = firstFill;
  try {
    while (oldest > first) {
      const start = Math.max(first, oldest - fills.blockRows);
      for (const [sequence, row] of [...fills.range(start, oldest)].reverse()) {
        if (sequence !== oldest - 1) break;
        ring.set(row, fillRow(t, sequence) * FILL_BYTES);
        oldest = sequence;
      }
      // Stops at the first fill that is missing.
      if (oldest > start) break;
    }
  } catch (error) {
    if (!(error instanceof Damage)) throw error;
    warn(`${error.message}; GET /trades begins with fill ${oldest}`);
  }
  return oldest;
}
