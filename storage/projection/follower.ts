/**
 * The follower: applies the log to tables of its own with the very same engine, compares every batch
 * with the digest that was recorded of it, and keeps what follows from it: facts in LMDB
 * (projection/facts.ts), projections of them (projection/projector.ts), what notes lead to (notes/kept-notes.ts),
 * images as files (snapshots.ts). So none of that stands between an order and its answer.
 *
 * What it has not derived yet lies in its own rings, and in the log, which is not trimmed past an image.
 *
 * Thread: the follower, synchronously; it is driven by step().
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
  UNLOGGED_COMMANDS_MAX,
} from '../../engine/tables/capacities.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { requireFreeSpace } from '../files/disk-room.ts';
import { Damage } from '../kv/checksum.ts';
import type { Log, LogEntry, LogReader } from '../log/log.ts';
import { KeptNotes } from '../notes/kept-notes.ts';
import { type Note, notesOf } from '../notes/notes.ts';
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

export interface FollowerOptions {
  readonly dataDir: string;
  readonly durability: 'flushed' | 'committed';
  readonly capacities: Capacities;
  /** An image is taken after so many seconds or batches, whichever comes first. */
  readonly imageSeconds: number;
  readonly imageBatches: number;
  /** Batches before it are not in the log any more. */
  readonly logFirst: number;
  /** Images that somebody found to be damaged, though this thread may not look at them. */
  readonly damagedSnapshots?: readonly number[];
  readonly read: Log['read'];
  readonly report: (report: FollowerReport) => void;
}

export type FollowerReport =
  | { readonly kind: 'line'; readonly level: 'info' | 'warn'; readonly line: string }
  /** Nothing can be written, for this reason; or, undefined, it can again. */
  | { readonly kind: 'problem'; readonly problem: string | undefined }
  /** An image is on disk; recovery may begin with one of this batch. */
  | { readonly kind: 'image'; readonly sequence: number; readonly older: number | undefined };

/** Rows wait so long at most, so that a transaction takes many and a fill is there within a second. */
const COMMIT_MS = 100;
/**
 * Rows of one transaction, which holds up nobody but is put together in memory. With those of one more batch
 * they are in the ring.
 */
const ROWS_PER_COMMIT = 30_000;
/** Batches of one step: between two, a piece of an image is written. */
const BATCHES_PER_STEP = 256;
/** Values of LMDB that are looked at in one step, some microseconds each. */
const CHECKS_PER_STEP = 64;
const RETRY_MS = 1_000;
const BEHIND_MS = 10_000;
const MS = 1_000;

assert(
  ROWS_PER_COMMIT + 2 * BATCH_COMMANDS_MAX <= 2 * UNLOGGED_COMMANDS_MAX,
  'fills that wait are in the ring',
);

export class Follower {
  readonly t: Tables;
  /** What is in LMDB. */
  written: DerivedPosition;
  private readonly o: FollowerOptions;
  private readonly engine: Engine;
  /** What the engine enters into the ledger. */
  private readonly entries = new EntryCollector();
  private readonly derived: DerivedTables;
  private readonly kept: KeptNotes;
  /** Up to which batch notes are in keys/, and those behind it that wait. */
  private keptTo: number;
  private notes: Note[] = [];
  private facts: Facts;
  private readonly projector: Projector;
  /** The newest batch that was durable at the first look. */
  private reach: number | undefined;
  /** False: fills that are to be projected are damaged. */
  private isProjecting = true;
  private readonly snapshots: SnapshotFiles;
  private readonly reader: LogReader;
  /** The oldest fill that the ring holds. */
  private readonly firstFill: number;
  /** Read, and not applied yet. */
  private pending: LogEntry | undefined;
  private repairing: Generator<void> | undefined;
  private imaging: Generator<void, SnapshotInfo> | undefined;
  private snapshotted: number;
  /** Batch of the last attempt at an image: one that fails is not repeated at once. */
  private attempted: number;
  private attemptedAt: number;
  /** When the oldest change that is not in LMDB was applied; undefined = there is none. */
  private waitingSince: number | undefined;
  /** Since when LMDB has been behind the log without a break, or when that was last said. */
  private behindSince: number | undefined;
  private retryAt = 0;
  private hasProblem = false;
  private readonly warn = (line: string): void => this.line('warn', line);
  private readonly needRows = (rows: number): void => requireFreeSpace(this.o.dataDir, rows);

  /** Throws an Error that says why it cannot begin. */
  constructor(options: FollowerOptions, now: number) {
    this.o = options;
    const { dataDir, durability } = options;
    this.snapshots = new SnapshotFiles(dataDir, durability);
    this.snapshots.passOver(options.damagedSnapshots ?? []);
    this.derived = openDerivedTables(dataDir, { durability, readOnly: false });
    this.written = positionOf(this.derived);
    this.kept = new KeptNotes(dataDir, { durability, readOnly: false });
    this.keptTo = this.kept.position()?.sequence ?? 0;
    const begun = beginBehind(
      options,
      this.snapshots,
      this.written.sequence,
      this.warn,
      this.entries,
    );
    this.engine = begun.engine;
    this.t = begun.engine.t;
    this.facts = new Facts(this.derived, this.warn);
    this.firstFill = begun.firstFill;
    this.snapshotted = begun.snapshot;
    this.attempted = begun.snapshot;
    this.attemptedAt = now;
    const { firstFill, needRows, t, warn } = this;
    this.refuseOther();
    if (lastBatch(t) > this.written.sequence) this.skipGone(now);
    this.entries.drop(this.written.entries);
    this.reader = options.read(lastBatch(t) + 1);
    const projections = new Projections(dataDir, { durability, readOnly: false });
    this.projector = new Projector({ t, projections, warn, needRows });
    const position = (): DerivedPosition => this.written;
    this.repairing = this.facts.repairs({ t, firstFill, position, needRows });
  }

  /** Does some of what is due; false = there is nothing to do before more is durable or time passes. */
  step(durable: number, now: number): boolean {
    if (this.hasProblem && now < this.retryAt) return false;
    const applied = this.apply(durable, now);
    const isDue = this.waitingSince !== undefined && now - this.waitingSince >= COMMIT_MS;
    const wantsSnapshot =
      this.imaging === undefined && this.isPastWritten() && this.isSnapshotDue(now);
    if (isDue || wantsSnapshot || this.isFull()) this.commit(now);
    if (wantsSnapshot && !this.hasProblem && this.keepNotes(now)) this.beginSnapshot(now);
    const isProjecting = this.project(durable, now);
    this.watch(durable, now);
    const isRepairing = this.repairStep();
    return this.snapshotStep() || isRepairing || isProjecting || applied > 0;
  }

  /** Derives all that is durable, takes an image unless the newest is as new, and closes. */
  close(durable: number, now: number): void {
    for (;;) {
      const applied = this.apply(durable, now);
      if (this.isFull()) this.commit(now);
      else if (applied === 0) break;
      if (this.hasProblem) break;
    }
    this.commit(now);
    // What is made again from the beginning goes on after the next start.
    this.project(durable, now + MS);
    while (this.snapshotStep());
    const isCaughtUp = lastBatch(this.t) === durable && !this.hasProblem;
    if (isCaughtUp && durable !== this.snapshotted && this.keepNotes(now)) {
      this.beginSnapshot(now);
      while (this.snapshotStep());
    }
    this.reader.close();
    this.projector.close();
    void this.kept.close();
    void this.derived.root.close();
  }

  /** Milliseconds until something is due although nothing comes. */
  patience(now: number): number {
    const { retryAt, waitingSince } = this;
    if (this.hasProblem) return Math.max(1, retryAt - now);
    const commit = waitingSince === undefined ? MS : waitingSince + COMMIT_MS - now;
    const projection = this.isProjecting ? this.projector.patience(now) : MS;
    return Math.max(1, Math.min(commit, projection));
  }

  /** LMDB lacks what came before the oldest image: what its rings hold is put, the rest is gone. */
  private skipGone(now: number): void {
    const { t } = this;
    const { digest, entries, fills, finished, sequence } = this.written;
    const first = {
      fills: this.firstFill,
      finished: firstKeptClosed(t),
      entries: ledgerTotals(t).entries,
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

  /** Applies batches; how many. */
  private apply(durable: number, now: number): number {
    let applied = 0;
    while (applied < BATCHES_PER_STEP && !this.isFull() && !this.hasProblem) {
      const entry = this.pending ?? this.reader.next(durable);
      if (entry === undefined) break;
      this.pending = entry;
      const record = batchOf(entry);
      // When it was stamped LMDB had more than it has now, since somebody deleted it.
      if (record.persistedClosedSequence > this.written.finished) this.commit(now);
      if (this.hasProblem) break;
      this.entries.time = record.time;
      replay(this.engine, entry, record);
      this.pending = undefined;
      if (entry.sequence > this.keptTo) this.notes.push(...notesOf(record.i32));
      applied += 1;
      this.refuseOther();
      if (entry.sequence > this.written.sequence) this.waitingSince ??= now;
    }
    return applied;
  }

  /** Throws where the tables are at the batch that is derived, and it is not the same. */
  private refuseOther(): void {
    const { digest, sequence } = this.written;
    const { t } = this;
    if (lastBatch(t) !== sequence || stateDigest(t) === digest) return;
    throw new Error(`derived: it holds batch ${sequence} of another log; remove DATA_DIR/derived`);
  }

  /** Whether what waits is enough for a transaction. */
  private isFull(): boolean {
    return this.rows() + this.entries.count + this.notes.length >= ROWS_PER_COMMIT;
  }

  /** Rows of fills and closed orders that wait to be put. */
  private rows(): number {
    const { t } = this;
    const { fills, finished } = this.written;
    // Behind the position there are none.
    return Math.max(0, fillCount(t) - fills + closedCount(t) - finished);
  }

  /**
   * False: LMDB has rows of batches that come yet, since only some transactions of a commit were made. They are
   * the same when they come again, and no position leads back behind them.
   */
  private isPastWritten(): boolean {
    const { fills, finished, sequence } = this.written;
    const { t } = this;
    if (lastBatch(t) <= sequence) return true;
    return fillCount(t) >= fills && closedCount(t) >= finished;
  }

  /**
   * Has keys/ reach to the batch that is applied. Before every image, as the log is trimmed behind images; false =
   * it could not be written.
   */
  private keepNotes(now: number): boolean {
    const sequence = lastBatch(this.t);
    if (sequence <= this.keptTo) return true;
    try {
      this.needRows(this.notes.length);
      this.kept.apply(this.notes, { sequence, digest: stateDigest(this.t) });
    } catch (error) {
      this.fail('keys', error as Error, now);
      return false;
    }
    this.keptTo = sequence;
    this.notes = [];
    return true;
  }

  /** Puts all rows that wait, in transactions of a bounded size; the position goes with the last. */
  private commit(now: number): void {
    if (this.waitingSince === undefined || !this.isPastWritten()) return;
    const { t } = this;
    // First: who has seen the position of derived/ finds the notes of its batch.
    if (this.notes.length > 0 && !this.keepNotes(now)) return;
    try {
      while (this.rows() > ROWS_PER_COMMIT) this.commitSome(ROWS_PER_COMMIT, undefined);
      const sequence = lastBatch(t);
      this.commitSome(ROWS_PER_COMMIT, { sequence, digest: stateDigest(t) });
      this.waitingSince = undefined;
      if (this.hasProblem) this.o.report({ kind: 'problem', problem: undefined });
      this.hasProblem = false;
    } catch (error) {
      // What it knows of runs was not written.
      this.facts = new Facts(this.derived, this.warn);
      this.repairing = undefined;
      this.fail('derived', error as Error, now);
    }
  }

  /** Has fills that are in LMDB projected; false = they are, or cannot be now. */
  private project(durable: number, now: number): boolean {
    const { derived, projector, t, written } = this;
    this.reach ??= durable;
    // Tables that are behind do not know every token of the fills.
    const isBehind = lastBatch(t) < written.sequence;
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

  /** Nothing is derived until a write goes through; the next commit shows it. */
  private fail(what: string, { message }: Error, now: number): void {
    this.retryAt = now + RETRY_MS;
    this.waitingSince ??= now;
    const problem = `${what}: a write failed: ${message}`;
    if (!this.hasProblem) this.o.report({ kind: 'problem', problem });
    this.hasProblem = true;
  }

  /** @param at the position that is reached with these rows, unless there are more to come */
  private commitSome(rows: number, at: { sequence: number; digest: number } | undefined): void {
    const { t, written } = this;
    const fills = Math.min(fillCount(t), written.fills + rows);
    const left = rows - (fills - written.fills);
    const finished = Math.min(closedCount(t), written.finished + left);
    const { digest, sequence } = at ?? written;
    // Never ahead of the position, which alone says of which batch they are.
    const entries = at === undefined ? written.entries : this.entries.end;
    const position = { sequence, digest, fills, finished, entries };
    const more = fills - written.fills + finished - written.finished + entries - written.entries;
    this.needRows(more);
    this.facts.write({ t, from: written, to: position, entry: this.entries.copy });
    this.entries.drop(entries);
    this.written = position;
  }

  /** Looks at some of what is derived; false = all of it was looked at. */
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

  /** Says how far it is behind, when it has been for long and not too often. */
  private watch(durable: number, now: number): void {
    const behind = durable - this.written.sequence;
    if (behind <= 0) this.behindSince = undefined;
    else this.behindSince ??= now;
    if (this.behindSince === undefined || now - this.behindSince < BEHIND_MS) return;
    this.behindSince = now;
    this.line('warn', `follower: ${behind} batches behind the log`);
  }

  private isSnapshotDue(now: number): boolean {
    const batches = lastBatch(this.t) - this.attempted;
    if (batches === 0) return false;
    return batches >= this.o.imageBatches || now - this.attemptedAt >= this.o.imageSeconds * MS;
  }

  /** Everything before it is in LMDB: an image never holds more. */
  private beginSnapshot(now: number): void {
    const { t } = this;
    this.attempted = lastBatch(t);
    this.attemptedAt = now;
    const reach = fillCount(t) - this.o.capacities.trades;
    this.imaging = this.snapshots.save(this.t, Math.max(0, reach, this.firstFill));
  }

  /** Writes a piece of the image in progress; false = there is none. */
  private snapshotStep(): boolean {
    if (this.imaging === undefined) return false;
    try {
      const { done, value } = this.imaging.next();
      if (done !== true) return true;
      this.snapshotted = value.sequence;
      this.line('info', `image of batch ${value.sequence}`);
      const { sequence } = value;
      this.o.report({ kind: 'image', sequence, older: this.snapshots.list()[1]?.sequence });
    } catch (error) {
      this.line('warn', `image: ${(error as Error).message}`);
    }
    this.imaging = undefined;
    return true;
  }

  private line(level: 'info' | 'warn', line: string): void {
    this.o.report({ kind: 'line', level, line });
  }
}
