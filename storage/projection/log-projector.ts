/**
 * The projector: applies the log to tables of its own with the same engine, compares every batch with its recorded
 * digest, and stores the results: facts in LMDB (projection/facts.ts), projections of them (projection/projector.ts),
 * control records (control-records/control-record-store.ts), snapshots as files (snapshots.ts). Orders and their
 * answers do not wait for any of it.
 *
 * Unprojected data is in its own rings, and in the log, which is not trimmed past a snapshot.
 *
 * Thread: the projector, synchronously; step() drives it.
 */
import assert from 'node:assert/strict';
import type { Engine } from '../../engine/engine.ts';
import { ledgerTotals } from '../../engine/ledger/reads.ts';
import {
  closedCount,
  fillCount,
  firstKeptClosed,
  lastBatch,
  stateDigest,
} from '../../engine/reads.ts';
import {
  BATCH_COMMANDS_MAX,
  type Capacities,
  DELAYED_STEP_MAX,
  UNLOGGED_COMMANDS_MAX,
} from '../../engine/tables/capacities.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { ControlRecordStore } from '../control-records/control-record-store.ts';
import { type ControlRecord, controlRecordsOf } from '../control-records/control-records.ts';
import { requireFreeSpace } from '../files/disk-room.ts';
import { Damage } from '../kv/checksum.ts';
import type { Log, LogEntry, LogReader } from '../log/log.ts';
import { beginBehind } from '../recovery/recover.ts';
import { batchOf, replay } from '../recovery/replay.ts';
import { SnapshotFiles, type SnapshotInfo } from '../snapshot/snapshots.ts';
import {
  type DerivedPosition,
  type DerivedTables,
  openDerivedTables,
  positionOf,
} from './derived.ts';
import { EntryCollector } from './entries.ts';
import { Projections } from './environment.ts';
import { Facts } from './facts.ts';
import { Projector } from './projector.ts';

export interface LogProjectorOptions {
  readonly dataDir: string;
  readonly durability: 'flushed' | 'committed';
  readonly capacities: Capacities;
  /** Seconds or batches between snapshots, whichever comes first. */
  readonly imageSeconds: number;
  readonly imageBatches: number;
  readonly logFirst: number;
  /** Batches of snapshots that were found damaged, though this thread may not read them. */
  readonly damagedSnapshots?: readonly number[];
  readonly read: Log['read'];
  readonly report: (report: ProjectorReport) => void;
}

export type ProjectorReport =
  | { readonly kind: 'line'; readonly level: 'info' | 'warn'; readonly line: string }
  /** Reason why nothing can be written; undefined = it can again. */
  | { readonly kind: 'problem'; readonly problem: string | undefined }
  /** A snapshot is on disk; recovery may begin with one of this batch. */
  | { readonly kind: 'image'; readonly sequence: number; readonly older: number | undefined };

/** Longest wait of rows, so that a transaction takes many and a fill is there within a second. */
const COMMIT_MS = 100;
/** Rows of one transaction, which is assembled in memory. With those of one more batch they are in the ring. */
const ROWS_PER_COMMIT = 29_000;
/** Batches of one step. A piece of a snapshot is written between two steps. */
const BATCHES_PER_STEP = 256;
/** Values of LMDB that are checked in one step, some microseconds each. */
const CHECKS_PER_STEP = 64;
const RETRY_MS = 1_000;
const BEHIND_MS = 10_000;
const MS = 1_000;

assert(
  ROWS_PER_COMMIT + 2 * (BATCH_COMMANDS_MAX + DELAYED_STEP_MAX) <= 2 * UNLOGGED_COMMANDS_MAX,
  'fills that wait are in the ring',
);

export class LogProjector {
  readonly tables: Tables;
  written: DerivedPosition;
  private readonly options: LogProjectorOptions;
  private readonly engine: Engine;
  private readonly entries = new EntryCollector();
  private readonly derived: DerivedTables;
  private readonly kept: ControlRecordStore;
  /** Batch up to which control records are in keys/, and those behind it that wait. */
  private keptTo: number;
  private records: ControlRecord[] = [];
  private facts: Facts;
  private readonly projector: Projector;
  /** Newest batch that was durable at the first step. */
  private reach: number | undefined;
  /** False: fills that are to be projected are damaged. */
  private isProjecting = true;
  private readonly snapshots: SnapshotFiles;
  private readonly reader: LogReader;
  private readonly firstFill: number;
  private pending: LogEntry | undefined;
  private repairing: Generator<void> | undefined;
  private imaging: Generator<void, SnapshotInfo> | undefined;
  private snapshotted: number;
  /** Batch of the last attempted snapshot. A failed one is not repeated at once. */
  private attempted: number;
  private attemptedAt: number;
  /** Time of the oldest applied change that is not in LMDB; undefined = none. */
  private waitingSince: number | undefined;
  /** Time since which LMDB has been behind the log without a break, or time of the last report of that. */
  private behindSince: number | undefined;
  private retryAt = 0;
  private hasProblem = false;
  private readonly warn = (line: string): void => this.line('warn', line);
  private readonly needRows = (rows: number): void => requireFreeSpace(this.options.dataDir, rows);

  constructor(options: LogProjectorOptions, now: number) {
    this.options = options;
    const { dataDir, durability } = options;
    this.snapshots = new SnapshotFiles(dataDir, durability);
    this.snapshots.skip(options.damagedSnapshots ?? []);
    this.derived = openDerivedTables(dataDir, { durability, readOnly: false });
    this.written = positionOf(this.derived);
    this.kept = new ControlRecordStore(dataDir, { durability, readOnly: false });
    this.keptTo = this.kept.position()?.sequence ?? 0;
    const begun = beginBehind(
      options,
      this.snapshots,
      this.written.sequence,
      this.warn,
      this.entries,
    );
    this.engine = begun.engine;
    this.tables = begun.engine.t;
    this.facts = new Facts(this.derived, this.warn);
    this.firstFill = begun.firstFill;
    this.snapshotted = begun.snapshot;
    this.attempted = begun.snapshot;
    this.attemptedAt = now;
    const { firstFill, needRows, tables, warn } = this;
    this.refuseOther();
    if (lastBatch(tables) > this.written.sequence) this.skipGone(now);
    this.entries.drop(this.written.entries);
    this.reader = options.read(lastBatch(tables) + 1);
    const projections = new Projections(dataDir, { durability, readOnly: false });
    this.projector = new Projector({ tables, projections, warn, needRows });
    const position = (): DerivedPosition => this.written;
    this.repairing = this.facts.repairs({ tables, firstFill, position, needRows });
  }

  /** Does some of the due work. Returns false if nothing is due before more is durable or time passes. */
  step(durable: number, now: number): boolean {
    if (this.hasProblem && now < this.retryAt) return false;
    const applied = this.apply(durable, now);
    const isDue = this.waitingSince !== undefined && now - this.waitingSince >= COMMIT_MS;
    const wantsSnapshot =
      this.imaging === undefined && this.isPastWritten() && this.isSnapshotDue(now);
    if (isDue || wantsSnapshot || this.isFull()) this.commit(now);
    if (wantsSnapshot && !this.hasProblem && this.applyControlRecords(now)) this.beginSnapshot(now);
    const isProjecting = this.project(durable, now);
    this.watch(durable, now);
    const isRepairing = this.repairStep();
    return this.snapshotStep() || isRepairing || isProjecting || applied > 0;
  }

  /** Projects all that is durable, takes a snapshot unless the newest is as new, and closes. */
  close(durable: number, now: number): void {
    for (;;) {
      const applied = this.apply(durable, now);
      if (this.isFull()) this.commit(now);
      else if (applied === 0) break;
      if (this.hasProblem) break;
    }
    this.commit(now);
    // A rebuild of the projections continues after the next start.
    this.project(durable, now + MS);
    while (this.snapshotStep());
    const isCaughtUp = lastBatch(this.tables) === durable && !this.hasProblem;
    if (isCaughtUp && durable !== this.snapshotted && this.applyControlRecords(now)) {
      this.beginSnapshot(now);
      while (this.snapshotStep());
    }
    this.reader.close();
    this.projector.close();
    void this.kept.close();
    void this.derived.root.close();
  }

  /** Milliseconds until work is due without new batches. */
  patience(now: number): number {
    const { retryAt, waitingSince } = this;
    if (this.hasProblem) return Math.max(1, retryAt - now);
    const commit = waitingSince === undefined ? MS : waitingSince + COMMIT_MS - now;
    const projection = this.isProjecting ? this.projector.patience(now) : MS;
    return Math.max(1, Math.min(commit, projection));
  }

  /** Skips rows from before the oldest snapshot: those in the rings are stored, the rest is lost. */
  private skipGone(now: number): void {
    const { tables } = this;
    const { digest, entries, fills, finished, sequence } = this.written;
    const first = {
      fills: this.firstFill,
      finished: firstKeptClosed(tables),
      entries: ledgerTotals(tables).entries,
    };
    const gone = (what: string, from: number, to: number): void => {
      if (to <= from) return;
      const line = `derived: ${what} ${from} to ${to - 1} are gone, neither log nor images have them`;
      this.line('warn', line);
    };
    gone('fills', fills, first.fills);
    gone('final states of orders', finished, first.finished);
    gone('entries of the ledger', entries, first.entries);
    this.written = {
      sequence,
      digest,
      fills: Math.max(fills, first.fills),
      finished: Math.max(finished, first.finished),
      entries: Math.max(entries, first.entries),
    };
    this.waitingSince = now;
  }

  private apply(durable: number, now: number): number {
    let applied = 0;
    while (applied < BATCHES_PER_STEP && !this.isFull() && !this.hasProblem) {
      const entry = this.pending ?? this.reader.next(durable);
      if (entry === undefined) break;
      this.pending = entry;
      const record = batchOf(entry);
      // LMDB was deleted since: it had more when the record was stamped.
      if (record.persistedClosedSequence > this.written.finished) this.commit(now);
      if (this.hasProblem) break;
      this.entries.time = record.time;
      replay(this.engine, entry, record);
      this.pending = undefined;
      if (entry.sequence > this.keptTo) this.records.push(...controlRecordsOf(record.i32));
      applied += 1;
      this.refuseOther();
      if (entry.sequence > this.written.sequence) this.waitingSince ??= now;
    }
    return applied;
  }

  /** Throws if the tables are at the projected batch with another digest. */
  private refuseOther(): void {
    const { digest, sequence } = this.written;
    const { tables } = this;
    if (lastBatch(tables) !== sequence || stateDigest(tables) === digest) return;
    throw new Error(`derived: it holds batch ${sequence} of another log; remove DATA_DIR/derived`);
  }

  private isFull(): boolean {
    return this.rows() + this.entries.count + this.records.length >= ROWS_PER_COMMIT;
  }

  private rows(): number {
    const { tables } = this;
    const { fills, finished } = this.written;
    // Negative while the tables are behind the position.
    return Math.max(0, fillCount(tables) - fills + closedCount(tables) - finished);
  }

  /**
   * Returns false if LMDB has rows of later batches, because a commit was interrupted. The rows are the same when
   * they come again, and no position precedes them.
   */
  private isPastWritten(): boolean {
    const { fills, finished, sequence } = this.written;
    const { tables } = this;
    if (lastBatch(tables) <= sequence) return true;
    return fillCount(tables) >= fills && closedCount(tables) >= finished;
  }

  /**
   * Stores control records up to the applied batch. It precedes every snapshot, because the log is trimmed behind
   * snapshots. Returns false if the write failed.
   */
  private applyControlRecords(now: number): boolean {
    const sequence = lastBatch(this.tables);
    if (sequence <= this.keptTo) return true;
    try {
      this.needRows(this.records.length);
      this.kept.apply(this.records, { sequence, digest: stateDigest(this.tables) });
    } catch (error) {
      this.fail('keys', error as Error, now);
      return false;
    }
    this.keptTo = sequence;
    this.records = [];
    return true;
  }

  /** Stores all waiting rows, in transactions of a bounded size; the position is in the last. */
  private commit(now: number): void {
    if (this.waitingSince === undefined || !this.isPastWritten()) return;
    const { tables } = this;
    // First: who has seen the position of derived/ finds the control records of its batch.
    if (this.records.length > 0 && !this.applyControlRecords(now)) return;
    try {
      while (this.rows() > ROWS_PER_COMMIT) this.commitSome(ROWS_PER_COMMIT, undefined);
      const sequence = lastBatch(tables);
      this.commitSome(ROWS_PER_COMMIT, { sequence, digest: stateDigest(tables) });
      this.waitingSince = undefined;
      if (this.hasProblem) this.options.report({ kind: 'problem', problem: undefined });
      this.hasProblem = false;
    } catch (error) {
      // Its index of ids contains unwritten runs.
      this.facts = new Facts(this.derived, this.warn);
      this.repairing = undefined;
      this.fail('derived', error as Error, now);
    }
  }

  /** Projects fills that are in LMDB. Returns false if all are projected, or cannot be now. */
  private project(durable: number, now: number): boolean {
    const { derived, projector, tables, written } = this;
    this.reach ??= durable;
    // Tables that are behind do not know every token of the fills.
    const isBehind = lastBatch(tables) < written.sequence;
    if (this.hasProblem || !this.isProjecting || isBehind) return false;
    try {
      return projector.step(derived, written, written.sequence >= this.reach, now);
    } catch (error) {
      if (!(error instanceof Damage)) {
        this.fail('projections', error as Error, now);
      } else if (this.repairing === undefined) {
        this.isProjecting = false;
        this.line('warn', `projections: ${error.message}; the next start goes on`);
      }
      return false;
    }
  }

  /** Stops the projection until a write succeeds; the next commit tries. */
  private fail(what: string, { message }: Error, now: number): void {
    this.retryAt = now + RETRY_MS;
    this.waitingSince ??= now;
    const problem = `${what}: a write failed: ${message}`;
    if (!this.hasProblem) this.options.report({ kind: 'problem', problem });
    this.hasProblem = true;
  }

  /** @param at position with these rows; absent if more transactions follow */
  private commitSome(rows: number, at: { sequence: number; digest: number } | undefined): void {
    const { tables, written } = this;
    const fills = Math.min(fillCount(tables), written.fills + rows);
    const left = rows - (fills - written.fills);
    const finished = Math.min(closedCount(tables), written.finished + left);
    const { digest, sequence } = at ?? written;
    // Never ahead of the position, which alone says of which batch they are.
    const entries = at === undefined ? written.entries : this.entries.end;
    const position = { sequence, digest, fills, finished, entries };
    const more = fills - written.fills + finished - written.finished + entries - written.entries;
    this.needRows(more);
    this.facts.write({ tables, from: written, to: position, entry: this.entries.copy });
    this.entries.drop(entries);
    this.written = position;
  }

  private repairStep(): boolean {
    try {
      for (let i = 0; i < CHECKS_PER_STEP && this.repairing !== undefined; i++) {
        if (this.repairing.next().done === true) this.repairing = undefined;
      }
    } catch (error) {
      this.line('warn', `${(error as Error).message}; the next start looks at it again`);
      this.repairing = undefined;
    }
    return this.repairing !== undefined;
  }

  /** Reports how far it is behind, after a long time and not too often. */
  private watch(durable: number, now: number): void {
    const behind = durable - this.written.sequence;
    if (behind <= 0) this.behindSince = undefined;
    else this.behindSince ??= now;
    if (this.behindSince === undefined || now - this.behindSince < BEHIND_MS) return;
    this.behindSince = now;
    this.line('warn', `follower: ${behind} batches behind the log`);
  }

  private isSnapshotDue(now: number): boolean {
    const batches = lastBatch(this.tables) - this.attempted;
    if (batches === 0) return false;
    return (
      batches >= this.options.imageBatches ||
      now - this.attemptedAt >= this.options.imageSeconds * MS
    );
  }

  /** Begins a snapshot. Everything before it is in LMDB: a snapshot never contains more. */
  private beginSnapshot(now: number): void {
    const { tables } = this;
    this.attempted = lastBatch(tables);
    this.attemptedAt = now;
    const reach = fillCount(tables) - this.options.capacities.trades;
    this.imaging = this.snapshots.save(this.tables, Math.max(0, reach, this.firstFill));
  }

  private snapshotStep(): boolean {
    if (this.imaging === undefined) return false;
    try {
      const { done, value } = this.imaging.next();
      if (done !== true) return true;
      this.snapshotted = value.sequence;
      this.line('info', `image of batch ${value.sequence}`);
      const { sequence } = value;
      this.options.report({ kind: 'image', sequence, older: this.snapshots.list()[1]?.sequence });
    } catch (error) {
      this.line('warn', `image: ${(error as Error).message}`);
    }
    this.imaging = undefined;
    return true;
  }

  private line(level: 'info' | 'warn', line: string): void {
    this.options.report({ kind: 'line', level, line });
  }
}
