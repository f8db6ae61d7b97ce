/**
 * Starts the thread of a change of the catalog's store (catalog-job-thread.ts).
 *
 * Thread: the I/O thread.
 */
import { startThread } from '../../storage/files/thread.ts';
import type { CatalogJobResult, CatalogJobSetup } from './catalog-job-thread.ts';

/** Resolves once it is done, and its thread has ended; rejects with an Error that says why it is not. */
export async function runCatalogJob(
  workerData: CatalogJobSetup,
  signal?: AbortSignal,
): Promise<void> {
  signal?.throwIfAborted();
  const file = new URL('./catalog-job-thread', import.meta.url);
  const thread = startThread(file, { workerData, name: 'catalog job' });
  const stop = (): void => thread.postMessage('stop');
  signal?.addEventListener('abort', stop, { once: true });
  let result: CatalogJobResult = 'its thread ended early';
  thread.on('message', (message: CatalogJobResult) => {
    result = message;
  });
  thread.on('error', ({ message }) => {
    result = message;
  });
  await new Promise<void>((resolve) => thread.once('exit', () => resolve()));
  signal?.removeEventListener('abort', stop);
  if (result !== undefined) throw new Error(result);
}
