/**
 * Internal commands, which pass the sequencer like the orders of clients.
 *
 * Thread: I/O. Not here: the meaning of a command (engine/commands.ts).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandBuffer, encodeSettle } from '../../../engine/commands.ts';
import type { RejectReasonCode } from '../../../engine/orders/reject-reasons.ts';
import {
  type ControlRecord,
  controlRecordCommand,
} from '../../../storage/control-records/control-records.ts';
import { commandsRequest, type Failure } from '../exchange-memory/slot-requests.ts';
import type { Sequencer } from './sequencer.ts';

/** Pause before a retry at a full queue; internal commands may not be dropped. */
const BUSY_MS = 20;
/** A worker that dies before its writer turn leaves the batch undone; one that dies each time is a bug. */
const TRIES_MAX = 5;

/**
 * Runs commands as one batch. Resolves, once it is durable, with a reject reason for each, or with the
 * failure.
 */
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
 * Runs up to BATCH_COMMANDS_MAX commands of a source (engine/orders/source.ts). Resolves, once they are
 * durable, with a RejectReason for each, or with the failure.
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

/**
 * Runs commands that may not be refused: retries while the node is busy. Rejects when nothing is taken any
 * more.
 */
export async function applyCommands(sequencer: Sequencer, words: Int32Array): Promise<Int32Array> {
  for (let tries = 1; ; ) {
    const outcome = await sendCommands(sequencer, words);
    if (typeof outcome !== 'string') return outcome;
    if (outcome === 'undone') tries += 1;
    if (outcome === 'unavailable' || outcome === 'unknown' || tries > TRIES_MAX) {
      throw new Error(`internal commands were refused: ${outcome}`);
    }
    await sleep(BUSY_MS);
  }
}

/**
 * Decides fills that wait for their settlement (docs/protocol.md#unsettled-trades).
 * @param fault number of the fault that struck them, or ALL_FAULTS
 */
export async function settleFills(sequencer: Sequencer, fault: number): Promise<void> {
  const out = new CommandBuffer();
  encodeSettle(out, fault);
  await applyCommands(sequencer, out.i32.slice(0, out.words));
}

/**
 * Writes a control record; resolves once it is durable and applied everywhere in the node. It may exceed a
 * full queue, because nothing sends it again. Rejects where the node takes nothing, not even cancels.
 */
export async function writeControlRecord(
  sequencer: Pick<Sequencer, 'resume'>,
  record: ControlRecord,
): Promise<void> {
  const outcome = await new Promise<Uint8Array | Failure>((settled) => {
    sequencer.resume(commandsRequest(controlRecordCommand(record), settled));
  });
  if (typeof outcome === 'string') throw new Error(`nothing is written now: ${outcome}`);
}
