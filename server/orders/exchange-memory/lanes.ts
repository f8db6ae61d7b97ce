/**
 * Lanes, which carry the slot of a batch to a worker and back: words on which each worker sleeps, and a count
 * of finished batches that the I/O thread waits for. A message there and back takes three times as long. The
 * pool (pool.ts) uses the class Lanes; a worker uses laneSetup() and serveLane(), and does not load the
 * pool's package.
 *
 *   word 0    number of finished batches of all workers
 *   lane n    two queue positions, used alternately: a slot plus one, or 0 = empty
 *             the queue position that is run next
 *             1 = its worker serves it: it is loaded, and may be terminated
 *             1 = its worker sleeps, or is about to: only then does a new batch wake it
 *
 * A worker finds its next batch in the second queue position before the I/O thread has seen the end of the
 * last one.
 *
 * Writers: the I/O thread fills an empty queue position. The worker of the lane empties it after all its
 * other writes for the batch, and then counts it.
 */
import { setImmediate as nextIteration } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';

/** A cache line each, so that writes of one worker do not invalidate the cache of another. */
const LINE_WORDS = 16;
const COMPLETED = 0;
const NEXT = 2;
const SERVED = 3;
const ASLEEP = 4;
/** Reads of an empty queue position before a worker sleeps: some 8 us, less than it takes to wake it. */
const READS_BEFORE_SLEEP = 1_000;
export const LANE_PLACES = 2;

export class Lanes {
  readonly memory: SharedArrayBuffer;
  private readonly words: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.memory = memory;
    this.words = new Int32Array(memory);
  }

  static allocate(count: number): Lanes {
    return new Lanes(new SharedArrayBuffer((1 + count) * LINE_WORDS * 4));
  }

  /** Number of finished batches; read before looking at lanes, and passed to whenFinished(). */
  finished(): number {
    return Atomics.load(this.words, COMPLETED);
  }

  /** Resolves when more than `seen` batches have finished; `undefined` = they have already. */
  whenFinished(seen: number): Promise<unknown> | undefined {
    const wait = Atomics.waitAsync(this.words, COMPLETED, seen);
    return wait.async ? wait.value : undefined;
  }

  isServed(lane: number): boolean {
    return Atomics.load(this.words, wordOf(lane) + SERVED) === 1;
  }

  /** Marks a lane whose worker may be gone: its successor has to load first. */
  markUnserved(lane: number): void {
    Atomics.store(this.words, wordOf(lane) + SERVED, 0);
  }

  isEmpty(lane: number, place: number): boolean {
    return Atomics.load(this.words, wordOf(lane) + place) === 0;
  }

  /** The worker marks itself as asleep before it looks at the queue position for the last time. */
  put(lane: number, place: number, slot: number): void {
    const at = wordOf(lane) + place;
    Atomics.store(this.words, at, slot + 1);
    if (Atomics.load(this.words, wordOf(lane) + ASLEEP) === 1) Atomics.notify(this.words, at);
  }

  /** Removes the batch of a worker that threw or died; its successor continues behind it. */
  remove(lane: number, place: number): void {
    Atomics.store(this.words, wordOf(lane) + NEXT, otherPlace(place));
    Atomics.store(this.words, wordOf(lane) + place, 0);
  }

  /**
   * Worker side of a lane: runs at most `batchesMax` batches. Returns early with a result that has no room
   * in its slot; the slot then still belongs to the lane.
   */
  serve<Result>(
    lane: number,
    run: (slot: number) => Result | undefined,
    batchesMax: number,
  ): Result | undefined {
    const { words } = this;
    const next = wordOf(lane) + NEXT;
    Atomics.store(words, wordOf(lane) + SERVED, 1);
    for (let left = batchesMax; left > 0; ) {
      const place = Atomics.load(words, next);
      const at = wordOf(lane) + place;
      this.awaitBatch(lane, at);
      const given = Atomics.load(words, at);
      if (given === 0) continue;
      const result = run(given - 1);
      if (result !== undefined) return result;
      Atomics.store(words, next, otherPlace(place));
      Atomics.store(words, at, 0);
      Atomics.add(words, COMPLETED, 1);
      Atomics.notify(words, COMPLETED);
      left -= 1;
    }
    return undefined;
  }

  /** Returns once a queue position is filled, or for no reason. */
  private awaitBatch(lane: number, at: number): void {
    const { words } = this;
    for (let left = READS_BEFORE_SLEEP; left > 0; left -= 1) {
      if (Atomics.load(words, at) !== 0) return;
    }
    Atomics.store(words, wordOf(lane) + ASLEEP, 1);
    Atomics.wait(words, at, 0);
    Atomics.store(words, wordOf(lane) + ASLEEP, 0);
  }
}

function wordOf(lane: number): number {
  return (1 + lane) * LINE_WORDS;
}

export function otherPlace(place: number): number {
  return 1 - place;
}

export interface LaneData {
  readonly setup: unknown;
  readonly lanes: SharedArrayBuffer;
}

const BATCHES_PER_TURN = 1_024;

export function laneSetup(): unknown {
  return (workerData as LaneData).setup;
}

/**
 * Runs the batches of a lane, until one has events that its slot has no room for. Once in many batches the
 * event loop of the worker iterates. LMDB sets a timer for each state of the disk that it reads; these would
 * otherwise pile up.
 */
export async function serveLane(
  lane: number,
  run: (slot: number) => Int32Array | undefined,
): Promise<Int32Array> {
  const lanes = new Lanes((workerData as LaneData).lanes);
  for (;;) {
    const large = lanes.serve(lane, run, BATCHES_PER_TURN);
    if (large !== undefined) return large;
    await nextIteration();
  }
}
