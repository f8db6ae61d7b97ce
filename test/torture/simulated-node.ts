/**
 * The node without its shell, on a simulated disk: engine, log and projector, composed like the
 * server's, and a second engine that is never interrupted.
 *
 * Non-goals: the order of their steps (simulation.ts).
 */
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { audit } from '../../engine/audit.ts';
import type { Capacities } from '../../engine/tables/capacities.ts';
import { State } from '../../engine/tables/layout.ts';
import { stateHash } from '../../engine/tables/state-hash.ts';
import { FileLog } from '../../storage/log/file-log.ts';
import { StoredClosedOrders } from '../../storage/projection/closed-orders.ts';
import { openDerivedTables } from '../../storage/projection/derived.ts';
import { EntryCollector } from '../../storage/projection/entries.ts';
import { fillCopy } from '../../storage/projection/fills.ts';
import { LogProjector } from '../../storage/projection/log-projector.ts';
import { type Recovered, recover } from '../../storage/recovery/recover.ts';
import { SnapshotFiles } from '../../storage/snapshot/snapshots.ts';
import type { LoggedBatch } from '../engine/engine-driver.ts';
import { QUICK } from '../storage/projector-stage.ts';
import { appended, Exchange, finalCopy, type StoredFinal } from '../storage/stored-exchange.ts';

export interface SimulatedSettings {
  readonly durability: 'flushed' | 'committed';
  readonly segmentBytes: number;
  readonly imageBatches: number;
  readonly capacities: Capacities;
}

/** Milliseconds after which everything that waits is due. */
const LATER_MS = 10_000;

/** Expected state, by an engine without crashes. */
export class Uninterrupted {
  readonly entries = new EntryCollector();
  private readonly context: Exchange;
  /**
   * Batches of the node that are not yet known to be in the log; one without a sequence changed
   * nothing.
   */
  private ahead: { batch: LoggedBatch; flushed: number; sequence: number }[] = [];
  /** State hashes by batch, of the node that ran them; none for batches that a crash took back. */
  readonly hashes: Map<number, string>;
  readonly fills: Buffer[] = [];
  readonly closedOrders: StoredFinal[] = [];

  constructor(capacities: Capacities) {
    this.context = new Exchange(capacities, this.entries);
    this.hashes = new Map([[0, stateHash(this.context.t)]]);
  }

  ran(batch: LoggedBatch, flushed: number, sequence: number, hash: string): void {
    this.ahead.push({ batch, flushed, sequence });
    this.hashes.set(sequence, hash);
  }

  /** Applies durable batches up to `end`, and compares the state. */
  follow(end: number): void {
    const { context, fills, closedOrders } = this;
    const { state } = context.t;
    while (this.ahead.length > 0 && this.ahead[0]!.sequence <= end) {
      const { batch, flushed, sequence } = this.ahead.shift()!;
      this.entries.time = batch.time;
      context.apply(batch, flushed);
      assert.equal(state[State.batch], sequence);
      while (fills.length < state[State.fills]!) fills.push(fillCopy(context.t, fills.length));
      while (closedOrders.length < state[State.closed]!) {
        closedOrders.push(finalCopy(context.t, closedOrders.length));
      }
    }
    assert.equal(stateHash(context.t), this.hashes.get(end), `the uninterrupted run at ${end}`);
  }

  /** Returns the batches that a crash took back, to be sent again. */
  crash(end: number): LoggedBatch[] {
    this.follow(end);
    const lost = this.ahead.map(({ batch }) => batch);
    this.ahead = [];
    for (const sequence of this.hashes.keys()) if (sequence > end) this.hashes.delete(sequence);
    return lost;
  }
}

/** One life of the process, from its start to its crash. */
export class Life {
  /** Acknowledged batch sequence. */
  acknowledged = 0;
  /**
   * Acknowledged batch sequence before the last append that ended, which a reader of the disk has.
   */
  acknowledgedBefore: number;
  unlogged = 0;
  /** Reasons for which it takes no batches; empty when it does. */
  readonly problems = new Map<'log' | 'derived', string>();
  readonly lines: string[] = [];
  readonly context: Exchange;
  private readonly log: FileLog;
  private readonly follower: LogProjector;
  private readonly dataDir: string;
  private readonly truth: Uninterrupted;

  private constructor(
    dataDir: string,
    settings: SimulatedSettings,
    log: FileLog,
    { engine }: Recovered,
    truth: Uninterrupted,
    now: number,
    last: Life | undefined,
  ) {
    this.dataDir = dataDir;
    this.truth = truth;
    this.log = log;
    this.context = new Exchange(engine.t.memory);
    this.acknowledged = log.last;
    // A start appends nothing: what the last record says is still known from that record alone.
    this.acknowledgedBefore = last?.acknowledgedBefore ?? 0;
    log.onRoom = (problem) => this.setProblem('log', problem);
    this.follower = new LogProjector(
      {
        dataDir,
        durability: settings.durability,
        capacities: settings.capacities,
        imageSeconds: 86_400,
        imageBatches: settings.imageBatches,
        logFirst: log.first,
        read: (from) => log.read(from),
        report: (report) => {
          if (report.kind === 'line') this.lines.push(report.line);
          else if (report.kind === 'problem') this.setProblem('derived', report.problem);
          else if (report.older !== undefined) void log.trim(report.older).catch(() => undefined);
        },
      },
      now,
    );
  }

  /**
   * @param before data directory of the life before; its projections are taken over
   * @param last the life before
   */
  static async start(
    dataDir: string,
    before: string | undefined,
    settings: SimulatedSettings,
    truth: Uninterrupted,
    now: number,
    last: Life | undefined,
  ): Promise<Life> {
    mkdirSync(dataDir);
    const derived = before === undefined ? '' : join(before, 'derived');
    if (derived !== '' && existsSync(derived)) {
      cpSync(join(derived, 'data.mdb'), join(dataDir, 'derived', 'data.mdb'), { recursive: true });
    }
    const { log, recovered } = await recoverFrom(dataDir, settings, false);
    return new Life(dataDir, settings, log, recovered, truth, now, last);
  }

  private setProblem(of: 'log' | 'derived', problem: string | undefined): void {
    if (problem === undefined) this.problems.delete(of);
    else this.problems.set(of, problem);
  }

  get failure(): Error | undefined {
    return this.log.failure;
  }

  get applied(): number {
    return this.context.t.state[State.batch]!;
  }

  run(batch: LoggedBatch): void {
    const flushed = this.follower.written.finished;
    const entry = this.context.apply(batch, flushed);
    this.truth.ran(batch, flushed, this.applied, stateHash(this.context.t));
    this.unlogged += 1;
    const settle = (): void => {
      this.unlogged -= 1;
    };
    appended(this.log, entry).then(() => {
      settle();
      if (entry === null || entry.sequence === this.acknowledged) return;
      // One write may hold several batches: the log says how far it has come.
      if (this.log.last !== this.acknowledged) this.acknowledgedBefore = this.acknowledged;
      this.acknowledged = this.log.last;
      this.truth.follow(this.acknowledged);
    }, settle);
  }

  /** A step of the projector; false = it had nothing to do. */
  follow(now: number): boolean {
    return this.follower.step(this.acknowledged, now);
  }

  /** Compares the projections with those of the uninterrupted run. */
  checkDerived(now: number): void {
    for (let i = 1; i <= 3; i++) while (this.follower.step(this.acknowledged, now + i * LATER_MS));
    const { closedOrders, entries, fills, hashes } = this.truth;
    const hash = hashes.get(this.acknowledged);
    assert.equal(stateHash(this.follower.tables), hash, "the follower's tables");
    const { written } = this.follower;
    assert.deepEqual(
      [written.sequence, written.fills, written.finished, written.entries],
      [this.acknowledged, fills.length, closedOrders.length, entries.count],
    );
    const derived = openDerivedTables(this.dataDir, QUICK);
    assert.deepEqual([...derived.fills.range(0, fills.length)], [...fills.entries()]);
    for (const [number, row] of derived.entries.range(0, entries.count)) {
      const own = Buffer.alloc(row.length);
      entries.copy(number, own, 0);
      assert.deepEqual(row, own, `entry ${number}`);
    }
    const found = new StoredClosedOrders(derived);
    for (const { id, row } of closedOrders) assert.deepEqual(found.find(id), row);
    void derived.root.close();
  }
}

/** Recovers from the disk. Rejects with the reason of a refusal. */
export async function recoverFrom(
  dataDir: string,
  { capacities, durability, segmentBytes }: Omit<SimulatedSettings, 'imageBatches'>,
  readOnly: boolean,
): Promise<{ readonly log: FileLog; readonly recovered: Recovered }> {
  const warn = (): void => undefined;
  const log = await FileLog.open({ dataDir, durability, segmentBytes, readOnly, log: warn });
  const snapshots = new SnapshotFiles(dataDir, durability);
  const recovered = recover(capacities, snapshots, log, undefined, warn);
  audit(recovered.engine.t);
  return { log, recovered };
}
