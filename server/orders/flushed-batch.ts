/**
 * What a batch leaves in the slot of its ticket: its record for the log, and what it did, kept
 * until it is on disk and may be told to others.
 *
 * Thread: the I/O thread.
 */
import assert from 'node:assert/strict';
import { encodeBatch } from '../../storage/log/batch-record.ts';
import type { NewEntry } from '../../storage/log/log.ts';
import { failAll, type Request, takeAnswers } from './slot-requests.ts';
import { Slot, SlotState, type SlotView } from './slots.ts';

export interface FlushedBatch {
  /** Unix milliseconds given to the batch. */
  readonly time: number;
  /** Records of engine/events.ts, and the same bytes as doubles. */
  readonly events: Int32Array;
  readonly eventsF: Float64Array;
  /** False: only the beginning of what happened was recorded. */
  readonly isWhole: boolean;
  /** The commands that changed the engine, at the words that the events name. */
  readonly commands: Int32Array;
  readonly commandsF: Float64Array;
}

/** All that is needed of a batch once it is on disk. */
export interface KeptBatch {
  readonly deliver: () => void;
  /** Undefined where it changed nothing. */
  readonly batch: FlushedBatch | undefined;
  readonly sequence: number;
  /** Its fills are those before this one. */
  readonly endFill: number;
}

/** Whether there is anything to write of what a worker has finished. */
export function hasChanged(view: SlotView): boolean {
  return view.state() !== SlotState.failed && view.i32[Slot.changed] === 1;
}

/**
 * Copies it out of the slot of its ticket.
 *
 * @param large the events, where the slot had no room for them
 */
export function keepBatch(
  view: SlotView,
  requests: readonly Request[],
  large: Int32Array | undefined,
): KeptBatch {
  const hasFailed = view.state() === SlotState.failed;
  // Those of a caller that was refused are gone, and its worker was told so.
  assert(hasFailed || view.i32[Slot.requests] === requests.length, 'what is applied is proven');
  return {
    deliver: hasFailed ? () => failAll(requests) : takeAnswers(view, requests),
    batch: hasChanged(view) ? takeBatch(view, large) : undefined,
    sequence: view.f64[Slot.sequence]!,
    endFill: view.f64[Slot.endFill]!,
  };
}

/** What it did. */
export function takeBatch(view: SlotView, large: Int32Array | undefined): FlushedBatch {
  const { f64, i32 } = view;
  const words = i32[Slot.eventWords]!;
  const fits = words <= view.events.length;
  const events = fits ? view.events.slice(0, words) : large;
  const commands = view.journal.slice(0, i32[Slot.journalWords]!);
  const isWhole = i32[Slot.eventsLost] === 0 && events !== undefined;
  const kept = isWhole ? events : new Int32Array(0);
  return {
    time: f64[Slot.time]!,
    events: kept,
    eventsF: new Float64Array(kept.buffer),
    isWhole,
    commands,
    commandsF: new Float64Array(commands.buffer),
  };
}

/** The record of the batch for the log. */
export function logEntryOf({ f64, i32, journal }: SlotView): NewEntry {
  const facts = {
    sequence: f64[Slot.sequence]!,
    time: f64[Slot.time]!,
    persistedClosedSequence: f64[Slot.persistedClosedSequence]!,
    firstFill: f64[Slot.firstFill]!,
    endFill: f64[Slot.endFill]!,
    closedEnd: f64[Slot.closedEnd]!,
    digest: i32[Slot.digest]!,
  };
  const payload = encodeBatch(facts, journal.subarray(0, i32[Slot.journalWords]!));
  return { sequence: facts.sequence, time: facts.time, after: facts.digest, payload };
}
