/**
 * Single entry point to the package piscina: threads that run one task at a time. The package queues tasks that find no
 * free thread, and replaces a thread that dies.
 *
 * Thread: any.
 */
import { Piscina } from 'piscina';

export interface ThreadPool<Task, Result> {
  /** Rejects with what the task throws, or where its thread dies. */
  run(task: Task): Promise<Result>;
  /** Ends all threads. Tasks that run or wait are rejected. */
  close(): Promise<void>;
}

export interface ThreadPoolOptions {
  /** Wait of a thread for its next task: `sync` blocks it, `disabled` leaves its event loop running. */
  readonly atomics: 'sync' | 'disabled';
  /** Data for all threads, `workerData` in them. */
  readonly data?: unknown;
  /** Called with the error of a thread that died without a task. */
  readonly report: (error: unknown) => void;
}

/** Starts threads. @param file module whose default export runs a task */
export function openThreadPool<Task, Result>(
  file: URL,
  threads: number,
  { atomics, data, report }: ThreadPoolOptions,
): ThreadPool<Task, Result> {
  const pool = new Piscina<Task, Result>({
    filename: file.href,
    minThreads: threads,
    maxThreads: threads,
    concurrentTasksPerWorker: 1,
    idleTimeout: Number.POSITIVE_INFINITY,
    atomics,
    recordTiming: false,
    workerData: data,
  });
  pool.on('error', report);
  return { run: (task) => pool.run(task), close: () => pool.destroy() };
}

/** File beside a module, in the form in which this one runs: source under tsx, or compiled. */
export function ownFile(name: string, url: string): URL {
  return new URL(`${name}.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, url);
}
