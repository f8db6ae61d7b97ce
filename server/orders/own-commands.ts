/**
 * Commands of the node's own, which take the same way as everybody's orders: ticket, journal, flush.
 *
 * Thread: the I/O thread.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ENGINE_BUSY, INTERNAL_ERROR } from '../common/contract.ts';
import type { Sequencer } from './sequencer.ts';

/** A full queue is asked again after so long; what the node itself has to do may not be dropped. */
const BUSY_MS = 20;
/** A worker that dies before its turn leaves the batch undone; one that dies each time is a bug. */
const TRIES_MAX = 5;

/**
 * Runs commands as one batch and resolves with a rule code for each once it is durable. Rejects
 * when the node is past taking any.
 */
export async function applyCommands(sequencer: Sequencer, words: Int32Array): Promise<Int32Array> {
  for (let tries = 1; ; ) {
    const answer = await new Promise<{ status: number; body: Uint8Array | string }>((resolve) => {
      sequencer.submitCommands(words, (status, body) => resolve({ status, body }));
    });
    if (answer.status === 200 && typeof answer.body !== 'string') {
      return new Int32Array(Uint8Array.from(answer.body).buffer);
    }
    if (answer.body === INTERNAL_ERROR) tries += 1;
    if ((answer.body !== ENGINE_BUSY && answer.body !== INTERNAL_ERROR) || tries > TRIES_MAX) {
      throw new Error(`the node's own commands were refused: ${String(answer.body)}`);
    }
    await sleep(BUSY_MS);
  }
}
