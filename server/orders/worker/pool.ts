/**
 * Workers of batches (thread-pool.ts). Each worker runs one endless task, its lane (lanes.ts), and gets the slots of
 * its batches through shared memory.
 *
 * The pool's own queue is not first-in first-out, so it never holds a batch: a later one in the only free
 * worker would wait forever for an earlier one behind it. A lane runs its batches in their order, so the
 * earliest of all is never behind another. Where no lane is free, the next batch is queued behind the
 * earliest one, which ends first.
 *
 * A task that ended is started again. It ends with a result without room in its slot, with an error, or with
 * the death of its worker, which the package replaces.
 *
 * Thread: I/O. The worker side is in lanes.ts, without the package.
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { openThreadPool, ownFile, type ThreadPool } from '../../common/thread-pool.ts';
import { LANE_PLACES, type LaneData, Lanes, otherPlace } from '../exchange-memory/lanes.ts';

export interface WorkerPool {
  /**
   * Runs the batch in a slot, LANE_PLACES a worker at a time; later calls `done` or `failed` once. `done`
   * gets the events of the batch where the slot has no room for them; `failed` means that the worker threw or
   * died.
   */
  run(slot: number, done: Done, failed: Failed): void;
  /**
   * Resolves when every worker serves its lane: until then a batch waits longer than others. Waiting for a
   * worker that does not load ends after a while.
   */
  loaded(): Promise<void>;
  /** Ends the workers, once they are loaded: terminating a loading thread ends the process. */
  close(): Promise<void>;
}

export type Done = (large: Int32Array | undefined) => void;
export type Failed = (error: Error) => void;

export interface PoolOptions {
  readonly file?: URL;
  readonly workers: number;
  readonly setup: unknown;
  /** Called when a worker died without a batch; it is replaced, so this is only for the log. */
  readonly report: (error: unknown) => void;
}

interface Running {
  readonly lane: number;
  readonly place: number;
  readonly done: Done;
  readonly failed: Failed;
}

const LOADED_LOOK_MS = 5;
const LOADED_MS_MAX = 10_000;

/** Pause before a worker that died without a batch is replaced. */
const IDLE_DEATH_MS = 50;

export function openPool(options: PoolOptions): WorkerPool {
  return new Pool(options);
}

class Pool implements WorkerPool {
  private readonly options: PoolOptions;
  private readonly lanes: Lanes;
  private readonly threads: ThreadPool<number, Int32Array>;
  /** The lane used last comes last: its worker has the most in its caches. */
  private readonly free: number[];
  /** Next queue position of each lane, and number of its batches. */
  private readonly nextPlace: number[];
  private readonly load: number[];
  private running: Running[] = [];
  private isWatching = false;
  private isClosing = false;

  constructor(options: PoolOptions) {
    this.options = options;
    const { workers } = options;
    this.lanes = Lanes.allocate(workers);
    const data: LaneData = { setup: options.setup, lanes: this.lanes.memory };
    this.threads = openThreadPool(options.file ?? ownFile('./worker', import.meta.url), workers, {
      atomics: 'sync',
      data,
      report: options.report,
    });
    this.free = Array.from({ length: workers }, (_, lane) => lane);
    this.nextPlace = this.free.map(() => 0);
    this.load = this.free.map(() => 0);
    for (const lane of this.free) void this.runLane(lane);
  }

  run(slot: number, done: Done, failed: Failed): void {
    const lane = this.free.pop() ?? this.running.find((one) => this.load[one.lane] === 1)?.lane;
    assert(
      lane !== undefined && this.load[lane]! < LANE_PLACES,
      'no more than lanes have room for',
    );
    const place = this.nextPlace[lane]!;
    this.nextPlace[lane] = otherPlace(place);
    this.load[lane]! += 1;
    this.running.push({ lane, place, done, failed });
    this.lanes.put(lane, place, slot);
    if (!this.isWatching) void this.watch();
  }

  async loaded(): Promise<void> {
    const end = performance.now() + LOADED_MS_MAX;
    const isLoading = (_: number, lane: number): boolean => !this.lanes.isServed(lane);
    while (this.load.some(isLoading) && performance.now() < end) await sleep(LOADED_LOOK_MS);
  }

  async close(): Promise<void> {
    await this.loaded();
    this.isClosing = true;
    await this.threads.close();
  }

  private async runLane(lane: number): Promise<void> {
    while (!this.isClosing) {
      try {
        const large = await this.threads.run(lane);
        this.end(lane, ({ done }) => done(large));
      } catch (error) {
        if (this.isClosing) return;
        this.lanes.markUnserved(lane);
        const hadBatch = this.end(lane, ({ failed }) => failed(error as Error));
        if (hadBatch) continue;
        this.options.report(error);
        // A worker that cannot even load shall not keep the process busy.
        await sleep(IDLE_DEATH_MS);
      }
    }
  }

  /** Ends the task of a lane with the first of its batches that is not finished; false = it had none. */
  private end(lane: number, report: (running: Running) => void): boolean {
    // Batches that it finished before, and that were not collected yet, are whole.
    this.collect();
    const index = this.running.findIndex((running) => running.lane === lane);
    if (index < 0) return false;
    const [running] = this.running.splice(index, 1);
    this.lanes.remove(lane, running!.place);
    this.load[lane]! -= 1;
    // Other workers are ready sooner than its successor.
    if (this.load[lane] === 0) this.free.unshift(lane);
    report(running!);
    return true;
  }

  private async watch(): Promise<void> {
    this.isWatching = true;
    while (this.running.length > 0 && !this.isClosing) {
      const seen = this.lanes.finished();
      this.collect();
      if (this.running.length === 0) break;
      // Where workers are as fast as this loop, requests still get in.
      await (this.lanes.whenFinished(seen) ?? new Promise((resolve) => setImmediate(resolve)));
    }
    this.isWatching = false;
  }

  private collect(): void {
    const { lanes } = this;
    const isDone = ({ lane, place }: Running): boolean => lanes.isEmpty(lane, place);
    const ended = this.running.filter(isDone);
    if (ended.length === 0) return;
    this.running = this.running.filter((running) => !ended.includes(running));
    for (const { lane } of ended) {
      this.load[lane]! -= 1;
      if (this.load[lane] === 0) this.free.push(lane);
    }
    for (const { done } of ended) done(undefined);
  }
}
