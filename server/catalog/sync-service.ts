/**
 * Runs the sync thread: writes its lines to the log, and restarts it when it dies. A catalog too
 * large for its memory or a read-only directory can cause that.
 *
 * Thread: the I/O thread. Non-goals: switching to the pulled catalog (CatalogService).
 */
import { type Contradictions, NO_CONTRADICTIONS } from '../common/contradictions.ts';
import { backoffSeconds, type SyncLog } from './sync.ts';
import type { SyncMessage, SyncOrder, SyncSetup } from './sync-thread.ts';
import { type RunningThread, runThread } from './threads.ts';

export interface SyncOptions extends SyncSetup {
  readonly log: SyncLog;
}

export interface RunningSync {
  /** Markets of the source that contradict what is registered, as of its newest pull. */
  readonly contradictions: () => Contradictions;
  /** Pulls now, or once more after a pull that is under way. */
  pull(): void;
  close(): Promise<void>;
}

/** Pulls the catalog API at `url` (see common/source-url.ts) every `seconds`, the first time at once. */
export function startSync({ log, ...setup }: SyncOptions): RunningSync {
  const { seconds, url } = setup;
  let isClosing = false;
  let deaths = 0;
  let contradictions = NO_CONTRADICTIONS;
  let restart: NodeJS.Timeout | undefined;
  let thread: RunningThread<SyncOrder>;
  let ended: Promise<void>;

  const onMessage = (message: SyncMessage): void => {
    if ('contradictions' in message) {
      contradictions = message.contradictions;
      return;
    }
    if (message.level !== 'warn') deaths = 0;
    log(message.level, message.line);
  };
  const start = (): void => {
    thread = runThread('catalog sync', setup satisfies SyncSetup, onMessage);
    ended = thread.ended.then((error) => {
      if (isClosing) return;
      deaths += 1;
      const wait = backoffSeconds(seconds, deaths);
      const reason = error?.message ?? 'it ended by itself';
      log('warn', `catalog sync from ${url} died: ${reason}; starts again in ${wait} s`);
      restart = setTimeout(start, wait * 1000);
    });
  };

  start();
  return {
    contradictions: () => contradictions,
    pull: () => thread.post('pull'),
    async close() {
      isClosing = true;
      clearTimeout(restart);
      thread.post('stop');
      await ended;
    },
  };
}
