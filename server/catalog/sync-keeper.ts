/**
 * Runs the sync thread: writes its lines to the log, and restarts it when it dies. A catalog too
 * large for its memory or a read-only directory can cause that.
 *
 * Thread: the I/O thread. Non-goals: switching to the pulled catalog (CatalogKeeper).
 */
import type { Worker } from 'node:worker_threads';
import { startThread } from '../../storage/files/thread.ts';
import { type Contradictions, NO_CONTRADICTIONS } from '../common/contradictions.ts';
import { backoffSeconds, type SyncLog } from './sync.ts';
import type { SyncMessage, SyncOrder, SyncSetup } from './sync-thread.ts';

export interface SyncOptions extends SyncSetup {
  readonly log: SyncLog;
}

export interface CatalogSync {
  /** Markets of the source that contradict what is registered, as of its newest pull. */
  readonly contradictions: () => Contradictions;
  /** Pulls now, or once more after a pull that is under way. */
  pull(): void;
  close(): Promise<void>;
}

/**
 * Mirrors the catalog API at `url` (see common/source-url.ts) into DATA_DIR every `seconds`, the first
 * time at once. `close` ends a pull that is under way and resolves when the thread has ended.
 */
export function startSync(options: SyncOptions): CatalogSync {
  const { log, ...setup } = options;
  const { url, seconds } = setup;
  let isClosing = false;
  let deaths = 0;
  let contradictions = NO_CONTRADICTIONS;
  let worker: Worker | undefined;
  let restart: NodeJS.Timeout | undefined;
  let ended: Promise<void> = Promise.resolve();

  const start = (): void => {
    let reason = 'it ended by itself';
    const started = startThread(new URL('./sync-thread', import.meta.url), {
      workerData: setup satisfies SyncSetup,
      name: 'catalog sync',
    });
    worker = started;
    started.on('message', (message: SyncMessage) => {
      if ('contradictions' in message) {
        contradictions = message.contradictions;
        return;
      }
      const { level, line } = message;
      if (level !== 'warn') deaths = 0;
      log(level, line);
    });
    started.on('error', (error) => {
      reason = error instanceof Error ? error.message : String(error);
    });
    ended = new Promise((resolve) => {
      started.once('exit', () => {
        worker = undefined;
        resolve();
        if (isClosing) return;
        deaths += 1;
        const wait = backoffSeconds(seconds, deaths);
        log('warn', `catalog sync from ${url} died: ${reason}; starts again in ${wait} s`);
        restart = setTimeout(start, wait * 1000);
      });
    });
  };

  start();
  return {
    contradictions: () => contradictions,
    pull: () => worker?.postMessage('pull' satisfies SyncOrder),
    async close() {
      isClosing = true;
      clearTimeout(restart);
      worker?.postMessage('stop' satisfies SyncOrder);
      await ended;
    },
  };
}
