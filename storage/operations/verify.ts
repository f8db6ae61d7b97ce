/**
 * Check of a data directory: the log against itself, snapshots against the replayed log, projections against both.
 * Writes nothing; no node may run meanwhile.
 *
 * Thread: a command-line tool.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { audit } from '../../engine/audit.ts';
import { Engine } from '../../engine/engine.ts';
import { lastBatch } from '../../engine/reads.ts';
import type { Capacities } from '../../engine/tables/capacities.ts';
import { digestOf, stateHash } from '../../engine/tables/state-hash.ts';
import { allocateEngine, type Tables } from '../../engine/tables/tables.ts';
import { openCatalog } from '../catalog/catalog.ts';
import { withControlRecords } from '../control-records/control-record-store.ts';
import { controlRecordsOf } from '../control-records/control-records.ts';
import {
  type BatchedRecord,
  verifyControlRecords,
} from '../control-records/verify-control-records.ts';
import { logDirectory } from '../log/file-log.ts';
import { findEnd } from '../log/find-end.ts';
import { entriesOf } from '../log/log.ts';
import { SegmentReader } from '../log/reader.ts';
import { PROJECTIONS } from '../projection/environment.ts';
import type { Seen } from '../projection/projection.ts';
import { verifyDerived, verifyProjections } from '../projection/verify-derived.ts';
import { largest } from '../recovery/rebuild.ts';
import { batchOf, replay } from '../recovery/replay.ts';
import { resizeTables } from '../snapshot/resize-tables.ts';
import { SnapshotFiles, type SnapshotInfo } from '../snapshot/snapshots.ts';

export interface Finding {
  /** Folder of the directory, or name of a snapshot. */
  readonly part: string;
  readonly ok: boolean;
  readonly text: string;
}

export interface VerifyOptions {
  readonly dataDir: string;
  /** Capacities of a node without a snapshot. */
  readonly capacities: Capacities;
  readonly onProgress: (what: string, done: number, total: number) => void;
}

const READ_ONLY = { durability: 'flushed', readOnly: true } as const;
const PROGRESS_BATCHES = 1_024;

/** Yields each finding at once. A damaged part ends neither the check nor the other parts. */
export async function* verify(options: VerifyOptions): AsyncGenerator<Finding> {
  const { dataDir } = options;
  const replayed = yield* attempt('log', () => verifyLog(options));
  if (replayed !== undefined) {
    const { seen } = replayed;
    yield* replayed.findings;
    yield* attempt('derived', () => verifyDerived(dataDir, seen));
    yield* attempt(PROJECTIONS, () => verifyProjections(dataDir, seen));
  }
  yield* attempt('keys', () => verifyKeys(dataDir, replayed));
  yield* attempt('catalog', () => verifyCatalog(dataDir));
}

export interface Looked {
  readonly text: string;
}

async function* attempt<T extends Looked>(
  part: string,
  look: () => T | Promise<T>,
): AsyncGenerator<Finding, T | undefined> {
  try {
    const looked = await look();
    yield { part, ok: true, text: looked.text };
    return looked;
  } catch (error) {
    yield { part, ok: false, text: (error as Error).message };
    return undefined;
  }
}

interface Replayed extends Looked {
  readonly seen: Seen;
  readonly records: readonly BatchedRecord[];
  readonly findings: readonly Finding[];
}

/** Checks the log from its beginning; from a snapshot on, replays it through the engine. */
function verifyLog({ capacities, dataDir, onProgress }: VerifyOptions): Replayed {
  const directory = logDirectory(dataDir);
  if (!existsSync(directory)) throw new Error(`${dataDir} holds no log: is it a DATA_DIR?`);
  const { first, message, newest } = findEnd(directory);
  const last = newest?.sequence ?? 0;
  const snapshots = new LoadedSnapshots(dataDir, capacities, Math.max(1, first));
  let engine = snapshots.begin();
  const digests = new Map<number, number>([[0, 0]]);
  const records: BatchedRecord[] = [];
  if (engine !== undefined) snapshots.compare(engine.t);
  if (last > 0) {
    for (const entry of entriesOf(new SegmentReader(directory, first), last)) {
      const { sequence } = entry;
      const batch = batchOf(entry);
      digests.set(sequence, entry.after);
      for (const record of controlRecordsOf(batch.i32)) records.push({ sequence, record });
      engine ??= snapshots.at(sequence - 1);
      if (engine !== undefined && sequence > lastBatch(engine.t)) {
        replay(engine, entry, batch);
        snapshots.compare(engine.t);
      }
      if (sequence % PROGRESS_BATCHES === 0) onProgress('log', sequence - first, last - first);
    }
  }
  engine ??= snapshots.at(last);
  if (engine === undefined) throw new Error(`no image leads up to its first batch, ${first}`);
  const { t } = engine;
  if (last < lastBatch(t)) {
    throw new Error(`it ends with batch ${last}, but an image holds ${lastBatch(t)}`);
  }
  snapshots.refuseAhead(last);
  audit(t);
  const range = last === 0 ? 'no batch' : `batches ${first} to ${last}`;
  const torn = message === undefined ? '' : `; ${message}`;
  const seen = { tables: t, last, digests, firstFill: snapshots.firstFill };
  const text = `${range}, state ${stateHash(t)}${torn}`;
  return { text, seen, records, findings: snapshots.findings };
}

/** Snapshots of a directory, each compared with the tables at its batch. */
class LoadedSnapshots {
  readonly findings: Finding[] = [];
  firstFill = 0;
  private readonly snapshots: SnapshotFiles;
  /** Oldest first. */
  private readonly waiting: SnapshotInfo[];
  private readonly first: number;
  private capacities: Capacities;

  constructor(dataDir: string, capacities: Capacities, first: number) {
    this.snapshots = new SnapshotFiles(dataDir, 'flushed');
    this.waiting = this.snapshots.list().reverse();
    this.first = first;
    this.capacities = capacities;
  }

  /** Empty tables, when the log begins with the first batch. */
  begin(): Engine | undefined {
    if (this.first > 1) return undefined;
    for (const info of this.waiting) {
      const loaded = this.snapshots.load(info);
      if (typeof loaded === 'string') continue;
      this.capacities = largest(this.capacities, loaded.tables.capacities);
    }
    return new Engine(allocateEngine(this.capacities));
  }

  /** Tables of the oldest usable snapshot, if it is of this batch. */
  at(batch: number): Engine | undefined {
    for (;;) {
      const info = this.waiting[0];
      if (info === undefined || info.sequence > batch) return undefined;
      this.waiting.shift();
      const loaded = this.snapshots.load(info);
      if (typeof loaded === 'string') {
        this.say(info, loaded);
        continue;
      }
      this.capacities = largest(this.capacities, loaded.tables.capacities);
      const t = resizeTables(loaded.tables, this.capacities);
      audit(t);
      this.firstFill = loaded.firstFill;
      this.say(info, undefined, `state ${stateHash(t)}, where the replay begins`);
      return new Engine(t.memory);
    }
  }

  compare(t: Tables): void {
    const batch = lastBatch(t);
    while (this.waiting[0] !== undefined && this.waiting[0].sequence <= batch) {
      const info = this.waiting.shift()!;
      if (info.sequence < batch) continue;
      const loaded = this.snapshots.load(info);
      if (typeof loaded === 'string') {
        this.say(info, loaded);
        continue;
      }
      const { tables } = loaded;
      const [own, replayed] = [stateHash(tables), stateHash(t)];
      const isEqual = own === replayed && digestOf(tables) === digestOf(t);
      const problem = isEqual ? undefined : `its state is ${own}, the log leads to ${replayed}`;
      this.say(info, problem, `state ${own}, as the log leads to`);
    }
  }

  /** Reports snapshots of batches that the log lacks: no node starts with them. */
  refuseAhead(last: number): void {
    for (const info of this.waiting.splice(0)) this.say(info, `the log ends with batch ${last}`);
  }

  private say({ sequence }: SnapshotInfo, problem: string | undefined, text = ''): void {
    const part = `image ${sequence}`;
    this.findings.push({ part, ok: problem === undefined, text: problem ?? text });
  }
}

async function verifyKeys(dataDir: string, replayed: Replayed | undefined): Promise<Looked> {
  if (!existsSync(join(dataDir, 'keys'))) return { text: 'none' };
  const seen = replayed && { ...replayed.seen, records: replayed.records };
  return withControlRecords(dataDir, READ_ONLY, (store) => ({
    text: verifyControlRecords(store, seen),
  }));
}

async function verifyCatalog(dataDir: string): Promise<Looked> {
  if (!existsSync(join(dataDir, 'catalog'))) return { text: 'none' };
  const store = openCatalog(dataDir, READ_ONLY);
  try {
    const generation = store.current();
    if (generation === undefined) return { text: 'none' };
    let objects = 0;
    for (const _ of store.objects()) objects += 1;
    return { text: `generation ${generation}, ${objects} objects` };
  } finally {
    await store.close();
  }
}
