/**
 * Bytes that a block of messages leaves to the garbage collector: the heap before and after it, in
 * a span without any collection. The heap of this runtime only grows between two collections, so the
 * difference is what was allocated.
 */
import { PerformanceObserver } from 'node:perf_hooks';
import { setImmediate as nextIteration } from 'node:timers/promises';

const TRIES = 20;

interface Garbage {
  readonly bytesPerMessage: number;
  /** Collections within the span; 0 = the bytes are what was allocated. */
  readonly collections: number;
}

/** Measures a block that was run often enough before to be compiled; the best of some tries. */
async function measureGarbage(
  messages: number,
  before: () => void,
  run: () => void,
): Promise<Garbage> {
  let collected: number[] = [];
  const observer = new PerformanceObserver((list) => {
    collected = [...collected, ...list.getEntries().map(({ startTime }) => startTime)];
  });
  observer.observe({ entryTypes: ['gc'] });
  let best: Garbage = { bytesPerMessage: Number.POSITIVE_INFINITY, collections: -1 };
  try {
    for (let i = 0; i < TRIES; i++) {
      before();
      // Collections are reported in later turns.
      await nextIteration();
      const start = performance.now();
      const used = process.memoryUsage().heapUsed;
      run();
      const bytes = process.memoryUsage().heapUsed - used;
      const end = performance.now();
      await nextIteration();
      await nextIteration();
      const collections = collected.filter((time) => time >= start && time <= end).length;
      const bytesPerMessage = bytes / messages;
      const isBetter =
        best.collections === -1 ||
        collections < best.collections ||
        (collections === best.collections && bytesPerMessage < best.bytesPerMessage);
      if (isBetter) best = { bytesPerMessage, collections };
      if (best.collections === 0 && best.bytesPerMessage < 0.1) break;
    }
  } finally {
    observer.disconnect();
  }
  return best;
}

/** Measures it, and prints a line. */
export async function printGarbage(
  messages: number,
  before: () => void,
  run: () => void,
): Promise<void> {
  const { bytesPerMessage, collections } = await measureGarbage(messages, before, run);
  process.stdout.write(
    `  garbage ${bytesPerMessage.toFixed(3)} bytes a message, ${collections} collections in the span\n`,
  );
}
