/**
 * A thread that reads one book while another writes it. It counts books that a reader may never
 * see: crossed or unsorted sides, empty levels. For depth.test.ts.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { Depth, type DepthSide, readDepth } from '../../engine/tables/depth.ts';
import { type EngineMemory, Tables } from '../../engine/tables/tables.ts';
import type { TokenRow } from '../../engine/tables/units.ts';

interface Task {
  readonly memory: EngineMemory;
  /** Word 0 becomes 1 when this thread reads, word 1 when it must stop. */
  readonly signals: SharedArrayBuffer;
}

function isSorted(side: DepthSide, direction: 1 | -1): boolean {
  for (let i = 0; i < side.count; i++) {
    if (!(side.sizes[i]! > 0)) return false;
    if (i > 0 && (side.ticks[i]! - side.ticks[i - 1]!) * direction <= 0) return false;
  }
  return true;
}

function isBook(depth: Depth): boolean {
  const { bids, asks } = depth;
  if (!isSorted(bids, 1) || !isSorted(asks, -1)) return false;
  if (bids.count === 0 || asks.count === 0) return true;
  return bids.ticks[bids.count - 1]! < asks.ticks[asks.count - 1]!;
}

const { memory, signals } = workerData as Task;
const words = new Int32Array(signals);
const tables = new Tables(memory);
const depth = new Depth();
const counts = { read: 0, broken: 0 };
Atomics.store(words, 0, 1);
Atomics.notify(words, 0);
let isLast = false;
while (!isLast) {
  // One more round after the end: by then nobody writes, so reads succeed.
  isLast = Atomics.load(words, 1) === 1;
  for (let i = 0; i < 200; i++) {
    if (!readDepth(tables, (1 + (i & 1)) as TokenRow, depth)) continue;
    counts.read += 1;
    if (!isBook(depth)) counts.broken += 1;
  }
}
parentPort?.postMessage(counts);
