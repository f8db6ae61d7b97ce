/**
 * The simulation: engine, log, projector and recovery in one thread, moved by one seeded loop, with
 * a simulated disk and simulated time. At every change of the disk a crash is tried: recovery from
 * it must give a state that was reached, with all that was acknowledged. Now and then the crash is
 * real, and the run continues from it. Equal seeds give equal runs.
 *
 * Thread: one of its own (simulation-thread.ts), whose node:fs and timers are replaced.
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { State } from '../../engine/tables/layout.ts';
import { stateHash } from '../../engine/tables/state-hash.ts';
import { Random } from '../common/random.ts';
import type { LoggedBatch } from '../engine/engine-driver.ts';
import { ledgerDay, TIGHT, tradingDay } from '../storage/stored-exchange.ts';
import { type Crash, SimulatedDisk } from './simulated-disk.ts';
import type { SimulatedFs } from './simulated-fs.ts';
import { Life, recoverFrom, type SimulatedSettings, Uninterrupted } from './simulated-node.ts';

export interface SimulationReport {
  /** Digest of all events, in their order. */
  readonly trace: number;
  readonly crashes: number;
  readonly checks: number;
  readonly batches: number;
  readonly flips: number;
  readonly refused: number;
  readonly pauses: number;
}

/** A disk, and the bounds of its recovery. */
interface Snapshot {
  readonly disk: SimulatedDisk;
  readonly label: string;
  readonly flipped: string | undefined;
  /** First and last batch that recovery may reach. */
  readonly from: number;
  readonly to: number;
}

const COMMANDS = 350;
const TIGHT_WITH_LEDGER = { ...TIGHT, positions: 400, operatorIds: 60 };
const UNLOGGED_MAX = 6;
const ROOM_BYTES = 30_000;
const REFUSAL = /batch \d+|segment/;

export class Simulation {
  private readonly seed: number;
  private readonly random: Random;
  private readonly checks: Random;
  private readonly settings: SimulatedSettings;
  private readonly crash: Crash;
  private readonly fs: SimulatedFs;
  private readonly truth: Uninterrupted;
  private batches: LoggedBatch[];
  private snapshots: Snapshot[] = [];
  private timers: { readonly at: number; readonly run: () => void }[] = [];
  private now = 1_000_000;
  private trace = 0;
  private life: Life | undefined;
  private last: Life | undefined;
  private readonly counts = { crashes: 0, checks: 0, flips: 0, refused: 0, pauses: 0 };

  constructor(seed: number, fs: SimulatedFs) {
    this.seed = seed;
    this.fs = fs;
    fs.disk = new SimulatedDisk();
    this.random = new Random(seed);
    this.checks = new Random(~seed);
    this.crash = this.random.chance(70) ? 'power' : 'kill';
    const hasLedger = this.random.chance(50);
    this.settings = {
      capacities: hasLedger ? TIGHT_WITH_LEDGER : TIGHT,
      durability: this.crash === 'power' ? 'flushed' : 'committed',
      segmentBytes: this.random.pick([1 << 12, 1 << 13, 1 << 15]),
      imageBatches: this.random.pick([7, 20, 60]),
    };
    this.truth = new Uninterrupted(this.settings.capacities);
    this.batches = [...(hasLedger ? ledgerDay : tradingDay)(this.random, COMMANDS)];
    this.replaceTimers();
  }

  async run(): Promise<SimulationReport> {
    const total = this.batches.length;
    let before: string | undefined;
    for (let n = 0; this.batches.length > 0; n++) {
      const dataDir = join(this.fs.root, `${this.seed}-${n}`);
      await this.live(dataDir, before, this.random.between(10, 120));
      if (before !== undefined) rmSync(before, { recursive: true });
      before = dataDir;
    }
    rmSync(before!, { recursive: true });
    return { trace: this.trace, batches: total, ...this.counts };
  }

  private async live(dataDir: string, before: string | undefined, events: number): Promise<void> {
    const { random } = this;
    this.watch(this.fs.disk);
    let life: Life | undefined;
    const starting = Life.start(dataDir, before, this.settings, this.truth, this.now, this.last);
    starting.then(
      (started) => {
        life = started;
      },
      () => undefined,
    );
    await this.quiet();
    // A start writes, too: its calls end one after the other.
    while (life === undefined && this.fs.disk.pending.length > 0) {
      this.endCall();
      await this.quiet();
    }
    try {
      life = await starting;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EIO') throw error;
      await this.stop(undefined);
      return;
    }
    this.life = life;
    if (random.chance(30)) {
      life.checkDerived(this.now);
      await this.quiet();
    }
    const slowness = random.pick([5, 30, 70]);
    for (let i = 0; i < events && this.batches.length > 0 && life.failure === undefined; i++) {
      this.event(life, slowness);
      await this.quiet();
    }
    if (this.batches.length === 0) await this.end(life);
    else await this.stop(life);
  }

  private event(life: Life, slowness: number): void {
    const { random } = this;
    const { disk } = this.fs;
    const draw = random.below(100);
    if (disk.pending.length > 0 && draw < slowness) {
      this.endCall();
    } else if (draw < 75) {
      const canRun = life.problems.size === 0 && life.unlogged < UNLOGGED_MAX;
      const batch = canRun ? this.batches.shift() : undefined;
      if (batch !== undefined) life.run({ ...batch, time: this.now });
      else if (disk.pending.length > 0) this.endCall();
      else this.passTime(random.below(400));
    } else if (draw < 95) life.follow(this.now);
    else if (draw < 98) this.passTime(random.below(1_500));
    else this.changeRoom(disk);
  }

  private changeRoom(disk: SimulatedDisk): void {
    const isFull = Number.isFinite(disk.roomBytes);
    this.counts.pauses += isFull ? 0 : 1;
    disk.roomBytes = isFull ? Number.POSITIVE_INFINITY : this.random.below(ROOM_BYTES);
  }

  private endCall(): void {
    const { pending } = this.fs.disk;
    const [call] = pending.splice(this.random.below(pending.length), 1);
    this.record(`end ${call!.label}`);
    call!.end(undefined);
  }

  private passTime(milliseconds: number): void {
    this.now += milliseconds;
    const due = this.timers.filter(({ at }) => at <= this.now);
    this.timers = this.timers.filter(({ at }) => at > this.now);
    for (const { run } of due) run();
  }

  /** Lets everything continue by itself, and checks every crash on the way. */
  private async quiet(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    const { snapshots } = this;
    this.snapshots = [];
    const { disk } = this.fs;
    for (const snapshot of snapshots) await this.check(snapshot);
    this.fs.disk = disk;
  }

  private async check({ disk, flipped, from, label, to }: Snapshot): Promise<void> {
    this.fs.disk = disk;
    this.counts.checks += 1;
    const where = `seed ${this.seed}: ${this.crash}, after ${label}${flipped ? `, flip in ${flipped}` : ''}`;
    try {
      const { recovered } = await recoverFrom(this.thought, this.settings, true);
      const { t } = recovered.engine;
      const batch = t.state[State.batch]!;
      assert(from <= batch && batch <= to, `batch ${batch} is not from ${from} to ${to}`);
      assert.equal(stateHash(t), this.truth.hashes.get(batch), `the state of batch ${batch}`);
      this.record(`recovered ${batch}`);
    } catch (error) {
      const { message } = error as Error;
      // A log with a flipped bit may be refused by name; beside a damaged snapshot there is another.
      const mayRefuse = flipped?.startsWith('log') === true && REFUSAL.test(message);
      if (!mayRefuse || error instanceof assert.AssertionError) {
        throw new Error(`${where}: ${message}`, { cause: error });
      }
      this.counts.refused += 1;
      this.record(`refused ${message.replaceAll(this.fs.root, '')}`);
    }
  }

  /** Crashes without a life, at its start. The next one begins with the rest. */
  private async stop(life: Life | undefined): Promise<void> {
    this.counts.crashes += 1;
    const before = this.lastBatch;
    const disk = this.fs.disk.crashed(this.random, this.crash);
    this.timers = [];
    this.last = life ?? this.last;
    this.life = undefined;
    this.fs.disk = disk;
    const { recovered } = await recoverFrom(this.thought, this.settings, true);
    const batch = recovered.engine.t.state[State.batch]!;
    const { acknowledged, applied } = life ?? { acknowledged: before, applied: before };
    assert(acknowledged <= batch && batch <= applied, `seed ${this.seed}: ${batch}`);
    // Who had no answer sends it again.
    this.batches.unshift(...this.truth.crash(batch));
    this.record(`crash ${batch}`);
  }

  /** Lets everything come to its end, and checks the projections. */
  private async end(life: Life): Promise<void> {
    this.fs.disk.roomBytes = Number.POSITIVE_INFINITY;
    while (life.unlogged > 0 && life.failure === undefined) {
      if (this.fs.disk.pending.length > 0) this.endCall();
      else this.passTime(1_000);
      await this.quiet();
    }
    if (life.failure !== undefined) {
      await this.stop(life);
      return;
    }
    life.checkDerived(this.now);
    await this.quiet();
  }

  /** Tries a crash at every change of the disk. */
  private watch(disk: SimulatedDisk): void {
    // One append in a few hundred fails: the process stops, as after a crash.
    disk.failure = (label) =>
      label.startsWith('write log') && this.random.chance(0.1) ? 'EIO' : undefined;
    disk.onChange = (label) => {
      this.record(label);
      const { life, checks } = this;
      const crashed = disk.crashed(checks, this.crash);
      const flipped = checks.chance(15) ? crashed.flip(checks) : undefined;
      if (flipped !== undefined) this.counts.flips += 1;
      const last = this.lastBatch;
      const known = life === undefined ? last : life.acknowledged;
      // The last append itself is known to have ended only by the one after it.
      const from = flipped === undefined ? known : Math.min(known, life?.acknowledgedBefore ?? 0);
      this.snapshots.push({ disk: crashed, label, flipped, from, to: last });
    };
  }

  private get lastBatch(): number {
    return Math.max(...this.truth.hashes.keys());
  }

  /** Directory of recoveries that are tried: names of the disk are equal below every directory. */
  private get thought(): string {
    return join(this.fs.root, 'thought');
  }

  private record(what: string): void {
    this.trace = crc32(what, this.trace);
  }

  /** Makes timers of this thread wait for simulated time. */
  private replaceTimers(): void {
    const set = (run: () => void, milliseconds: number): object => {
      const timer = { at: this.now + milliseconds, run, unref: () => timer };
      this.timers.push(timer);
      return timer;
    };
    const clear = (timer: object | undefined): void => {
      this.timers = this.timers.filter((one) => one !== timer);
    };
    Object.assign(globalThis, { setTimeout: set, clearTimeout: clear });
  }
}
