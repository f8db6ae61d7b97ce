/**
 * Wakes the sending thread when requests are due. Timers of an event loop are a millisecond coarse,
 * which is more than many answers take; a thread that sleeps on a memory word wakes within some tens
 * of microseconds and costs next to nothing.
 * Thread: start() and the callback on the sender's, the rest on a thread of its own.
 * Non-goals: deciding what is due; several wake-ups may become one.
 */
import { once } from 'node:events';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

/** Milliseconds of the machine's monotonic clock, the same in all of its processes. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

interface PacerData {
  readonly pacer: true;
  readonly dueMs: Float64Array;
}

export class Pacer {
  readonly #worker: Worker;

  private constructor(dueMs: Float64Array) {
    const data: PacerData = { pacer: true, dueMs };
    const file = new URL(`pacer${extname(fileURLToPath(import.meta.url))}`, import.meta.url);
    this.#worker = new Worker(file, { workerData: data });
  }

  /** For times that ascend and count from the start. Resolves when its thread waits for that. */
  static async prepare(dueMs: Float64Array): Promise<Pacer> {
    const pacer = new Pacer(dueMs);
    await once(pacer.#worker, 'message');
    return pacer;
  }

  /** Calls `wake` at or soon after each of the times. */
  start(startMs: number, wake: () => void): void {
    this.#worker.on('message', wake);
    this.#worker.postMessage(startMs);
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }
}

function pace(dueMs: Float64Array, startMs: number): void {
  const never = new Int32Array(new SharedArrayBuffer(4));
  for (let next = 0; next < dueMs.length; ) {
    const now = monotonicMs() - startMs;
    if (dueMs[next]! > now) {
      Atomics.wait(never, 0, 0, dueMs[next]! - now);
      continue;
    }
    while (next < dueMs.length && dueMs[next]! <= now) next += 1;
    parentPort!.postMessage(undefined);
  }
}

const data = workerData as Partial<PacerData> | null;
if (!isMainThread && data?.pacer === true) {
  const { dueMs } = data as PacerData;
  parentPort!.once('message', (startMs: number) => pace(dueMs, startMs));
  parentPort!.postMessage(undefined);
}
