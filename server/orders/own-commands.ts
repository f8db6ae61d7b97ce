/**
 * Commands of the node's own, which take the same way as everybody's orders: batch, journal, flush.
 *
 * Thread: the I/O thread.
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { commandWords } from '../../engine/commands.ts';
import { BATCH_COMMANDS_MAX } from '../../engine/tables/capacities.ts';
import { ENGINE_BUSY, INTERNAL_ERROR } from '../common/contract.ts';
import type { Sequencer } from './sequencer.ts';
import type { Answered, Request } from './slot-requests.ts';
import { ORDER_BYTES_MIN, RequestKind } from './slots.ts';

/** A full queue is asked again after so long; what the node itself has to do may not be dropped. */
const BUSY_MS = 20;
/** A worker that dies before its turn leaves the batch undone; one that dies each time is a bug. */
const TRIES_MAX = 5;

/** Encoded commands; the answer's body is a 32-bit rule code for each. */
export function commandsRequest(words: Int32Array, answered: Answered): Request {
  const body = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
  let commands = 0;
  for (let at = 0; at < words.length; at += commandWords(words, at)) commands += 1;
  assert(commands <= BATCH_COMMANDS_MAX, 'a batch has a bounded number of commands');
  const weight = Math.max(body.length, commands * ORDER_BYTES_MIN);
  return { kind: RequestKind.commands, owner: undefined, body, weight, answered };
}

/**
 * Runs commands as one batch and resolves with a rule code for each once it is durable. Rejects
 * when the node is past taking any.
 */
export async function applyCommands(sequencer: Sequencer, words: Int32Array): Promise<Int32Array> {
  for (let tries = 1; ; ) {
    const answer = await new Promise<{ status: number; body: Uint8Array | string }>((resolve) => {
      sequencer.submit(commandsRequest(words, (status, body) => resolve({ status, body })));
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
