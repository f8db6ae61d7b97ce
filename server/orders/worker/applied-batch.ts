/**
 * Results in the slot of a finished batch: the record for the log, and the applied batch, which subscribers
 * get once the record is durable.
 *
 * Thread: I/O; the record also the worker of the batch.
 */
import { commandsIn, encodeBatch } from '../../../storage/log/batch-record.ts';
import type { NewEntry } from '../../../storage/log/log.ts';
import { Slot, SlotState, type SlotView } from '../exchange-memory/slots.ts';

export interface AppliedBatch {
  /** Batch sequence, as in the log. */
  readonly sequence: number;
  /** Sequence of the first fill after this batch. */
  readonly endFill: number;
  /** Unix milliseconds. */
  readonly time: number;
  /** Records of engine/events.ts, and the same bytes as doubles. */
  readonly events: Int32Array;
  readonly eventsF: Float64Array;
  /** False where events were lost: `events` is empty then. */
  readonly isWhole: boolean;
  /** Commands that changed the engine, at the words that the events name. */
  readonly commands: Int32Array;
  readonly commandsF: Float64Array;
}

export function hasChanged(view: SlotView): boolean {
  return view.state() !== SlotState.failed && view.i32[Slot.changed] === 1;
}

/** @param payload of the record: its commands are not copied once more; `undefined` = the worker has written it */
export function takeApplied(
  view: SlotView,
  payload: Buffer | undefined,
  large: Int32Array | undefined,
): AppliedBatch {
  const { f64, i32 } = view;
  const words = i32[Slot.eventWords]!;
  const fits = words <= view.events.length;
  const events = fits ? view.events.slice(0, words) : large;
  const commands = payload === undefined ? copiedCommands(view) : commandsIn(payload);
  const isWhole = i32[Slot.eventsLost] === 0 && events !== undefined;
  const recorded = isWhole ? events : new Int32Array(0);
  return {
    sequence: f64[Slot.sequence]!,
    endFill: f64[Slot.endFill]!,
    time: f64[Slot.time]!,
    events: recorded,
    eventsF: new Float64Array(recorded.buffer),
    isWhole,
    commands: commands.i32,
    commandsF: commands.f64,
  };
}

function copiedCommands({ i32, log }: SlotView) {
  const commands = log.slice(0, i32[Slot.logWords]!);
  return { i32: commands, f64: new Float64Array(commands.buffer) };
}

export function logRecord({ f64, i32, log }: SlotView): NewEntry {
  const facts = {
    sequence: f64[Slot.sequence]!,
    time: f64[Slot.time]!,
    persistedClosedSequence: f64[Slot.persistedClosedSequence]!,
    firstFill: f64[Slot.firstFill]!,
    endFill: f64[Slot.endFill]!,
    closedEnd: f64[Slot.closedEnd]!,
    digest: i32[Slot.digest]!,
  };
  const payload = encodeBatch(facts, log.subarray(0, i32[Slot.logWords]!));
  return { sequence: facts.sequence, time: facts.time, after: facts.digest, payload };
}
