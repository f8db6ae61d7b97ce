/**
 * `npm run bench -- pauses`: batches applied and logged as a node does it, without HTTP and signatures, while
 * the follower's thread derives behind them: how far it is behind at full load, and what images cost those
 * who wait for an answer. A million orders rest. Rounds with and without images take turns.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandBuffer } from '../../engine/commands.ts';
import type { Engine } from '../../engine/engine.ts';
import { lastBatch } from '../../engine/reads.ts';
import { ProjectorService } from '../../server/node/projector-service.ts';
import { FileLog } from '../../storage/log/file-log.ts';
import { openDerivedTables, positionOf } from '../../storage/projection/derived.ts';
import { recover } from '../../storage/recovery/recover.ts';
import { SnapshotFiles } from '../../storage/snapshot/snapshots.ts';
import { percentile, percentiles, print } from '../common/figures.ts';
import { applyBatch, BATCH, CAPACITIES, Orders, writeDay } from './log-day.ts';

export interface PausesShape {
  readonly restingOrders: number;
  readonly rounds: number;
  /** Length of one round. */
  readonly seconds: number;
  /** Time between two snapshots. */
  readonly imageSeconds: number;
}

export const PAUSES_FULL: PausesShape = {
  restingOrders: 1_000_000,
  rounds: 3,
  seconds: 8,
  imageSeconds: 2,
};

const NEVER = 2 ** 31;
const PAIRS = 15_000;
/** Batches that wait for the log at full load. */
const IN_FLIGHT = 32;
/** Batches before a round. */
const WARM_UP = 4_096;
const MS = 1_000;
const SHOWN = [0.5, 0.99, 0.999, 1];

export async function pausesSuite(shape: PausesShape): Promise<{ readonly behindMs: number }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'pauses-bench-'));
  try {
    await writeDay(dataDir, { restingOrders: shape.restingOrders, fills: 0 });
    const live = await Live.open(dataDir);
    const quiet: number[] = [];
    const imaging: number[] = [];
    let behindMs = 0;
    for (let round = 0; round < shape.rounds; round++) {
      quiet.push(...(await live.oneByOne(shape.seconds, NEVER)));
      imaging.push(...(await live.oneByOne(shape.seconds, shape.imageSeconds)));
      behindMs = Math.max(behindMs, await live.atFullLoad(shape.seconds));
    }
    await live.close();
    print('a durable batch of 15, no images', percentiles(quiet, SHOWN));
    print(`the same, an image every ${shape.imageSeconds} s`, percentiles(imaging, SHOWN));
    const ratio = percentile(imaging, 0.999) / percentile(quiet, 0.999);
    print('p99.9 with images to without', `${ratio.toFixed(2)} x`);
    return { behindMs };
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** The parts of a node between a batch and its answer, and its projector. */
class Live {
  private readonly dataDir: string;
  private readonly engine: Engine;
  private readonly log: FileLog;
  private readonly orders = new Orders('the day after');
  private commands: CommandBuffer = this.orders.pairs(PAIRS);
  private next = 0;
  private applied = 0;

  private constructor(dataDir: string, engine: Engine, log: FileLog) {
    this.dataDir = dataDir;
    this.engine = engine;
    this.log = log;
  }

  static async open(dataDir: string): Promise<Live> {
    const log = await FileLog.open({
      dataDir,
      durability: 'flushed',
      segmentBytes: 2 ** 24,
      log: () => undefined,
    });
    const snapshots = new SnapshotFiles(dataDir, 'flushed');
    const { engine } = recover(CAPACITIES, snapshots, log, undefined, () => undefined);
    return new Live(dataDir, engine, log);
  }

  /** Milliseconds of each batch, from before it is applied until it is durable. */
  async oneByOne(seconds: number, imageSeconds: number): Promise<number[]> {
    const follower = await this.follow(imageSeconds);
    const taken: number[] = [];
    const end = performance.now() + seconds * MS;
    for (let now = performance.now(); now < end; now = performance.now()) {
      await this.batch(follower);
      taken.push(performance.now() - now);
    }
    await follower.close();
    return taken;
  }

  /** Batches as fast as the log takes them; the longest that a batch waited to be derived. */
  async atFullLoad(seconds: number): Promise<number> {
    const follower = await this.follow(NEVER);
    const before = this.applied;
    const began = performance.now();
    let longest = 0;
    const lane = async (): Promise<void> => {
      while (performance.now() - began < seconds * MS) {
        await this.batch(follower);
        longest = Math.max(longest, follower.progress().behindMs);
      }
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
    const rate = ((this.applied - before) / (performance.now() - began)) * MS;
    print('full load', `${rate.toFixed(0)} orders a second, derived within ${longest} ms`);
    await follower.close();
    return longest;
  }

  async close(): Promise<void> {
    await this.log.close();
  }

  private async batch(follower: ProjectorService): Promise<void> {
    if (this.next >= this.commands.words) {
      this.commands = this.orders.pairs(PAIRS);
      this.next = 0;
    }
    const { commands, engine, next } = this;
    const { end, entry } = applyBatch(
      engine,
      commands,
      next,
      Date.now(),
      follower.closedPersisted(),
    );
    this.next = end;
    this.applied += BATCH;
    if (entry === undefined) return this.log.whenDurable();
    await this.log.append([entry], entry.sequence - 1);
    follower.reach(entry.sequence);
  }

  /** A follower that is warm and has caught up. */
  private async follow(imageSeconds: number): Promise<ProjectorService> {
    const { dataDir, log } = this;
    const derived = openDerivedTables(dataDir, { durability: 'flushed', readOnly: false });
    const position = positionOf(derived);
    await derived.root.close();
    const options = {
      capacities: CAPACITIES,
      dataDir,
      durability: 'flushed',
      imageSeconds,
    } as const;
    const follower = new ProjectorService({
      setup: { ...options, imageBatches: NEVER, logFirst: log.first },
      position,
      durable: lastBatch(this.engine.t),
      onSnapshot: (older) => void log.trim(older),
      onProblem: (problem) => print('follower', String(problem)),
      onFatal: (error) => print('follower', error.message),
      log: () => undefined,
      now: Date.now,
    });
    follower.start();
    const caughtUp = async (): Promise<void> => {
      while (follower.progress().derived < log.last) await sleep(10);
    };
    await caughtUp();
    // A thread that has just begun runs code that nothing has compiled yet.
    for (let i = 0; i < WARM_UP; i += IN_FLIGHT) {
      await Promise.all(Array.from({ length: IN_FLIGHT }, () => this.batch(follower)));
    }
    await caughtUp();
    return follower;
  }
}
