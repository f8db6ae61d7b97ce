/**
 * Sends the content of a catalog generation to another node. A piece is read once the one before it has left, so a slow
 * reader costs no memory.
 *
 * Thread: the I/O thread; a thread reads (catalog-send-thread.ts).
 */
import { once } from 'node:events';
import { startThread } from '../../storage/files/thread.ts';
import type { SendMessage, SendSetup } from './catalog-send-thread.ts';

/** Each has a thread, and keeps LMDB from using old pages again. */
const SENDS_MAX = 8;
/** A reader that takes nothing for so long is given up. */
const WAIT_MS_MAX = 30_000;

let underWay = 0;

/** The content as CatalogStore.receive() takes it. */
export async function* sendContent(workerData: SendSetup): AsyncGenerator<Uint8Array, void, void> {
  if (underWay === SENDS_MAX) throw new Error(`${SENDS_MAX} nodes are taking a catalog already`);
  underWay += 1;
  const file = new URL('./catalog-send-thread', import.meta.url);
  const thread = startThread(file, { workerData, name: 'catalog to a peer' });
  const ended = new Promise<never>((_, reject) => {
    thread.once('error', reject);
    thread.once('exit', () => reject(new Error('its thread ended early')));
  });
  // Nobody may be waiting for a piece then.
  ended.catch(() => undefined);
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    underWay -= 1;
    thread.postMessage('stop');
  };
  try {
    for (;;) {
      thread.postMessage('next');
      const [message] = await Promise.race([once(thread, 'message'), ended]);
      const piece = message as SendMessage;
      if (piece === null) return;
      if (typeof piece === 'string') throw new Error(piece);
      const patience = setTimeout(end, WAIT_MS_MAX);
      try {
        yield piece;
      } finally {
        clearTimeout(patience);
      }
      if (isOver) throw new Error('its reader takes too long');
    }
  } finally {
    end();
  }
}
