/**
 * A lane from inside its worker: what the pool was opened with, and its tickets.
 *
 * Thread: a worker of the pool (pool.ts).
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';
import { Lanes } from './lanes.ts';

/** What the pool hands to its workers. */
export interface LaneData {
  readonly setup: unknown;
  readonly lanes: SharedArrayBuffer;
}

/** Between two turns of a worker's event loop. */
const TICKETS_PER_TURN = 1_024;

/** What the pool was opened with. */
export function laneSetup(): unknown {
  return (workerData as LaneData).setup;
}

/**
 * Runs the tickets of a lane, for as long as nothing goes wrong. Now and then its event loop has a turn:
 * timers that a package sets (LMDB does for each state of the disk that it looks at) would otherwise never
 * end, and pile up.
 */
export async function serveLane(
  lane: number,
  run: (slot: number) => Int32Array | undefined,
): Promise<Int32Array> {
  const lanes = new Lanes((workerData as LaneData).lanes);
  for (;;) {
    const large = lanes.serve(lane, run, TICKETS_PER_TURN);
    if (large !== undefined) return large;
    await nextTurn();
  }
}
