/**
 * Commands of the node's own, which go through the sequencer as the orders of clients do.
 *
 * Thread: the I/O thread.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandBuffer } from '../../engine/commands.ts';
import type { RejectReasonCode } from '../../engine/orders/reject-reasons.ts';
import { type Note, noteCommand } from '../../storage/notes/notes.ts';
import type { Sequencer } from './sequencer.ts';
import { commandsRequest, type Failure } from './slot-requests.ts';

/** A full queue is tried again after so long; what the node itself has to do may not be dropped. */
const BUSY_MS = 20;
/** A worker that dies before its turn leaves the batch undone; one that dies each time is a bug. */
const TRIES_MAX = 5;

/** Runs commands as one batch; resolves, once it is durable, with a rule code for each, or why there is none. */
export async function sendCommands(
  sequencer: Pick<Sequencer, 'submit'>,
  words: Int32Array,
): Promise<Int32Array | Failure> {
  const outcome = await new Promise<Uint8Array | Failure>((settled) => {
    sequencer.submit(commandsRequest(words, settled));
  });
  return typeof outcome === 'string' ? outcome : new Int32Array(Uint8Array.from(outcome).buffer);
}

/**
 * Runs what a source did, up to BATCH_COMMANDS_MAX commands (engine/orders/source.ts); resolves, once that is
 * durable, with a RejectReason for each, or why nothing was run.
 */
export type SourceSender = (
  commands: CommandBuffer,
) => Promise<readonly RejectReasonCode[] | Failure>;

export function sourceOf(sequencer: Pick<Sequencer, 'submit'>): SourceSender {
  return async ({ i32, words }) => {
    const outcome = await sendCommands(sequencer, i32.slice(0, words));
    return typeof outcome === 'string' ? outcome : (Array.from(outcome) as RejectReasonCode[]);
  };
}

/** The same for what may not be refused: tries again while the node is busy. Rejects when it takes nothing more. */
export async function applyCommands(sequencer: Sequencer, words: Int32Array): Promise<Int32Array> {
  for (let tries = 1; ; ) {
    const outcome = await sendCommands(sequencer, words);
    if (typeof outcome !== 'string') return outcome;
    if (outcome === 'undone') tries += 1;
    if (outcome === 'unavailable' || outcome === 'unknown' || tries > TRIES_MAX) {
      throw new Error(`the node's own commands were refused: ${outcome}`);
    }
    await sleep(BUSY_MS);
  }
}

/**
 * Writes a note; resolves once it is durable and everybody here has taken it. It may pass a full queue: what it
 * says does not come again by itself. Rejects where the node takes nothing, also not cancels.
 */
export async function writeNote(sequencer: Pick<Sequencer, 'goOn'>, note: Note): Promise<void> {
  const outcome = await new Promise<Uint8Array | Failure>((settled) => {
    sequencer.goOn(commandsRequest(noteCommand(note), settled));
  });
  if (typeof outcome === 'string') throw new Error(`nothing is written now: ${outcome}`);
}
