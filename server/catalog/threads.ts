/**
 * Threads of the catalog, all run in one way: start data, messages in both directions, and an end that
 * says why. Whatever grows with a catalog runs in one of them.
 *
 * Thread: the I/O thread starts them. Non-goals: what a thread does with its messages.
 */
import type { Transferable } from 'node:worker_threads';
import { startThread } from '../../storage/files/thread.ts';

const THREADS = {
  catalog: './catalog-thread',
  search: './search-thread',
  'catalog sync': './sync-thread',
  'catalog edit': './edits/edit-thread',
  'catalog import': './edits/import-thread',
} as const;

export interface RunningThread<Sent> {
  post(message: Sent): void;
  terminate(): Promise<unknown>;
  readonly ended: Promise<Error | undefined>;
}

export function runThread<Sent, Received>(
  name: keyof typeof THREADS,
  workerData: unknown,
  onMessage: (message: Received) => void,
  transferList: Transferable[] = [],
): RunningThread<Sent> {
  const url = new URL(THREADS[name], import.meta.url);
  const worker = startThread(url, { workerData, transferList, name });
  worker.on('message', onMessage);
  let failure: Error | undefined;
  worker.on('error', (error) => {
    failure = error instanceof Error ? error : new Error(String(error));
  });
  return {
    post: (message) => worker.postMessage(message),
    terminate: () => worker.terminate(),
    ended: new Promise((resolve) => worker.once('exit', () => resolve(failure))),
  };
}
