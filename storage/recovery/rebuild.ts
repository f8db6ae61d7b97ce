/**
 * Rebuilds the engine's tables as they were after any batch that log and snapshots lead up to, also
 * in the data directory of a running node: files are read, nothing is written.
 *
 * Thread: a command-line tool. Non-goals: recovery (recover.ts), which stops at anything that it
 * cannot explain.
 */
import { existsSync } from 'node:fs';
import { Engine } from '../../engine/engine.ts';
import { lastBatch, stateDigest } from '../../engine/reads.ts';
import type { Capacities } from '../../engine/tables/capacities.ts';
import { allocateEngine, type Tables } from '../../engine/tables/tables.ts';
import { logDirectory } from '../log/file-log.ts';
import { entriesOf, type Log, LogDamage } from '../log/log.ts';
import { type ReadableEnd, wholeEnd } from '../log/readable-end.ts';
import { SegmentReader } from '../log/reader.ts';
import { resizeTables } from '../snapshot/resize-tables.ts';
import { SnapshotFiles } from '../snapshot/snapshots.ts';
import { batchOf, replay } from './replay.ts';

export interface Rebuilt {
  readonly t: Tables;
  /** Batches of the snapshot that it started from, 0 = none, and of this state of the tables. */
  readonly snapshot: number;
  readonly sequence: number;
  readonly firstFill: number;
}

export interface RebuildOptions {
  readonly dataDir: string;
  /** Used when there is no snapshot yet. Tables of a snapshot are never made smaller. */
  readonly capacities: Capacities;
  /** The batch after which to stop; undefined = the newest. */
  readonly to?: number | undefined;
  readonly onProgress?: (done: number, total: number) => void;
}

/** The running node may remove a segment or a snapshot during the search. */
const ATTEMPTS_MAX = 3;
const PROGRESS_BATCHES = 1_024;

/** Throws an Error that says which batches can be rebuilt, or what is damaged. */
export function rebuild(options: RebuildOptions): Rebuilt {
  for (let attempt = 1; ; attempt++) {
    try {
      return rebuildOnce(options);
    } catch (error) {
      if (!(error instanceof LogDamage) || attempt === ATTEMPTS_MAX) throw error;
    }
  }
}

/** Rebuilds the newest tables. Throws LogDamage when they differ from the end of the log. */
export function rebuildNewest(
  options: RebuildOptions,
  { digest, last }: Pick<Log, 'digest' | 'last'>,
): Tables {
  const { t } = rebuild(options);
  if (lastBatch(t) === last && stateDigest(t) === digest) return t;
  throw new LogDamage(`its batch ${last} is not the one that it leads to`);
}

function rebuildOnce({ capacities, dataDir, onProgress, to }: RebuildOptions): Rebuilt {
  const directory = logDirectory(dataDir);
  if (!existsSync(directory)) throw new Error(`${dataDir} holds no log: is it a DATA_DIR?`);
  const end = wholeEnd(directory);
  const last = end?.last ?? 0;
  const target = to ?? last;
  if (target > last) throw new Error(`the log ends with batch ${last}`);
  const begun = beginAt(dataDir, capacities, end, target);
  const { engine, snapshot } = begun;
  if (target > snapshot) {
    for (const entry of entriesOf(new SegmentReader(directory, snapshot + 1), target)) {
      replay(engine, entry, batchOf(entry));
      const done = entry.sequence - snapshot;
      if (done % PROGRESS_BATCHES === 0) onProgress?.(done, target - snapshot);
    }
  }
  return { ...begun, t: engine.t, sequence: target };
}

interface Begun {
  readonly engine: Engine;
  readonly snapshot: number;
  readonly firstFill: number;
}

/**
 * The newest snapshot from which the log leads up to `target`; nothing when the log begins with
 * batch 1.
 */
function beginAt(
  dataDir: string,
  capacities: Capacities,
  end: ReadableEnd | undefined,
  target: number,
): Begun {
  const snapshots = new SnapshotFiles(dataDir, 'flushed');
  const first = end?.first ?? 1;
  const reasons: string[] = [];
  for (const info of snapshots.list()) {
    if (info.sequence > target || (info.sequence < target && info.sequence + 1 < first)) continue;
    const loaded = snapshots.load(info);
    if (typeof loaded === 'string') {
      reasons.push(`image ${info.sequence}: ${loaded}`);
      continue;
    }
    const t = resizeTables(loaded.tables, largest(loaded.tables.capacities, capacities));
    return { engine: new Engine(t.memory), snapshot: info.sequence, firstFill: loaded.firstFill };
  }
  if (first > 1) {
    const oldest = snapshots.list().at(-1)?.sequence ?? first;
    const why = reasons.length === 0 ? '' : ` (${reasons.join('; ')})`;
    throw new Error(`batch ${target} is not kept any more: ${oldest} is the oldest${why}`);
  }
  return { engine: new Engine(allocateEngine(capacities)), snapshot: 0, firstFill: 0 };
}

/** A table that grew after the snapshot was taken needs room for the rows that were added. */
export function largest(a: Capacities, b: Capacities): Capacities {
  const names = Object.keys(a) as (keyof Capacities)[];
  return Object.fromEntries(
    names.map((name) => [name, Math.max(a[name], b[name])]),
  ) as unknown as Capacities;
}
