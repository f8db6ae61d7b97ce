/**
 * Single entry point to the package piscina. The pool holds no state and is never allowed to queue: its own queue is
 * not first-in first-out, and a later ticket in the only free worker would wait for ever for an
 * earlier one behind it (DESIGN). The sequencer dispatches only while a worker is free.
 */
import { Piscina, workerData as piscinaWorkerData } from 'piscina';

export interface WorkerPool {
  /**
   * Runs the ticket in a slot; rejects when the worker threw or died. Resolves with the events of
   * the batch where the slot has no room for them.
   */
  run(slot: number): Promise<Int32Array | undefined>;
  close(): Promise<void>;
}

export interface PoolOptions {
  /** File of the worker task; defaults to this project's own. */
  readonly file?: URL;
  readonly workers: number;
  readonly setup: unknown;
  /** A worker died while it had no task; it is replaced, and this is only for the log. */
  readonly report: (error: unknown) => void;
}

/** The worker's own file, in the form in which this one runs: source under tsx, or compiled. */
const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js';

export function openPool(options: PoolOptions): WorkerPool {
  const file = options.file ?? new URL(`./worker.${EXTENSION}`, import.meta.url);
  const pool = new Piscina<number, Int32Array | undefined>({
    filename: file.href,
    minThreads: options.workers,
    maxThreads: options.workers,
    concurrentTasksPerWorker: 1,
    idleTimeout: Number.POSITIVE_INFINITY,
    atomics: 'sync',
    recordTiming: false,
    workerData: options.setup,
  });
  pool.on('error', options.report);
  return {
    run: (slot) => pool.run(slot),
    close: () => pool.destroy(),
  };
}

/** What the pool was opened with, inside a worker. */
export function workerData(): unknown {
  return piscinaWorkerData;
}
