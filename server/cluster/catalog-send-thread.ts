/**
 * The thread that reads the content of a generation for another node, a piece for each message that it receives,
 * until that is `stop`. All pieces are of one LMDB snapshot.
 */
import assert from 'node:assert/strict';
import { parentPort, workerData } from 'node:worker_threads';
import { openCatalog } from '../../storage/catalog/catalog.ts';
import type { Durability } from '../../storage/kv/lmdb.ts';

export interface SendSetup {
  readonly dataDir: string;
  readonly durability: Durability;
  readonly generation: number;
}

/** A piece, the end of them, or why there is none. */
export type SendMessage = Uint8Array | null | string;

assert(parentPort !== null, 'this file is the entry of a thread');
const port = parentPort;
const { dataDir, durability, generation } = workerData as SendSetup;
const store = openCatalog(dataDir, { durability, readOnly: true, generation });
const pieces = store.content()[Symbol.iterator]();

function next(): SendMessage {
  try {
    const { done, value } = pieces.next();
    return done === true ? null : value;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

port.on('message', (message: 'next' | 'stop') => {
  if (message === 'next') {
    const piece = next();
    const transfer = piece instanceof Uint8Array ? [piece.buffer as ArrayBuffer] : [];
    port.postMessage(piece satisfies SendMessage, transfer);
    return;
  }
  pieces.return?.();
  void store.close().then(() => port.close());
});
