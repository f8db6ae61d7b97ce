/**
 * Task of a worker thread: runs batches one after the other, each from verification to its answers. It
 * parses, hashes and recovers signers in parallel with other workers, waits for the writer turn, applies,
 * leaves answers and log words in the slot, and passes the turn on. It writes the record of a batch that is alone.
 * Nothing is asynchronous: between batches the thread sleeps in an atomic wait, and its event loop iterates only once
 * in many batches (pool.ts).
 *
 * A failure before the turn fails this batch. A failure inside it poisons the memory and does not pass the
 * turn on: the process stops, and recovery rebuilds the tables.
 */

import { CommandBuffer } from '../../../engine/commands.ts';
import { Engine } from '../../../engine/engine.ts';
import { EVENTS_MAX, EventBuffer } from '../../../engine/events.ts';
import { closedCount, engineSettings, firstKeptClosed, openOrders } from '../../../engine/reads.ts';
import { UNLOGGED_COMMANDS_MAX } from '../../../engine/tables/capacities.ts';
import type { EngineMemory } from '../../../engine/tables/tables.ts';
import { stampOf } from '../../../storage/log/batch-record.ts';
import { writeLent } from '../../../storage/log/lent-place.ts';
import { openClosedOrdersReader } from '../../../storage/projection/closed-orders.ts';
import { batchOf } from '../../../storage/recovery/replay.ts';
import { BannedAddresses } from '../../auth/banned-addresses.ts';
import type { OrderSeparators } from '../../auth/exchange-domains.ts';
import type { WalletFactories } from '../../auth/wallet-factory.ts';
import { laneSetup, serveLane } from '../exchange-memory/lanes.ts';
import { placeIn, putLoanEnd, putWriteError } from '../exchange-memory/lent-slot.ts';
import {
  awaitWriterTurn,
  Control,
  enterWriterTurn,
  leaveWriterTurn,
  passWriterTurn,
  RequestHead,
  RequestKind,
  Slot,
  type SlotMemory,
  SlotState,
  SlotView,
} from '../exchange-memory/slots.ts';
import { FirstAnswers } from '../intake/first-answers.ts';
import type { OrderTexts } from './answers.ts';
import { hasChanged, logRecord } from './applied-batch.ts';
import { BatchApplier } from './batch-apply.ts';
import { BatchPreparer } from './batch-prepare.ts';
import type { ParseRules } from './order-parse.ts';
import { type DiagnosisOptions, SignatureDiagnosis } from './signature-diagnosis.ts';

export interface WorkerSetup {
  readonly memory: EngineMemory;
  readonly slots: SlotMemory;
  readonly separators: OrderSeparators;
  readonly verifySignatures: boolean;
  readonly walletFactories: WalletFactories;
  /** Memory of BannedAddresses. */
  readonly banned: SharedArrayBuffer;
  readonly maxBatchOrders: number;
  readonly maxCancelIds: number;
  readonly parse: ParseRules;
  readonly orderTexts: OrderTexts;
  readonly listsTrades: boolean;
  readonly resultCodes: boolean;
  readonly diagnosis: DiagnosisOptions;
  readonly replaysDuplicates: boolean;
  readonly dataDir: string;
  readonly measures: boolean;
}

/** One batch of so many looks ids up on disk before any has left memory. */
const REHEARSAL_BATCHES = 64;

const setup = laneSetup() as WorkerSetup;
const engine = new Engine(setup.memory, new EventBuffer(EVENTS_MAX));
const control = new Int32Array(setup.slots.control);
const slots = setup.slots.slots.map((buffer) => new SlotView(buffer, setup.slots.sizes));
const closedOrders = openClosedOrdersReader(setup.dataDir);
const commands = new CommandBuffer();
const now = setup.measures ? () => performance.now() : () => 0;
const diagnosis = new SignatureDiagnosis(setup.diagnosis);
const preparer = new BatchPreparer(engine.t, commands, {
  separators: setup.separators,
  verifySignatures: setup.verifySignatures,
  walletFactories: setup.walletFactories,
  banned: new BannedAddresses(setup.banned),
  diagnosis,
  domains: setup.diagnosis.domains,
  hasCodes: setup.resultCodes,
  maxBatchOrders: setup.maxBatchOrders,
  maxCancelIds: setup.maxCancelIds,
  parse: setup.parse,
  now,
  forgotten: () => forgotten,
  reach: () => reach,
  knownStatus: (id) => (idsMayHaveLeft ? statusOnDisk(id) : 0),
});
const first = setup.replaysDuplicates ? new FirstAnswers(engine.t, closedOrders) : undefined;
const results = {
  texts: setup.orderTexts,
  hasCodes: setup.resultCodes,
  listsTrades: setup.listsTrades,
};
const applier = new BatchApplier(engine, commands, results, first);
/** True when an id may have left memory by the turn of this batch: then the disk is searched, too. */
let idsMayHaveLeft = false;
let batches = 0;
/** True for a batch that looks on disk although no id has left memory: nothing depends on what it finds. */
let rehearses = false;
/** False once a rehearsal has failed: it may fail again, and is not worth it. */
let mayRehearse = true;
/** Upper bound of closed orders that have left memory. */
let forgotten = 0;
let reach = 0;

export default function serve(lane: number): Promise<Int32Array> {
  return serveLane(lane, run);
}

export function run(index: number): Int32Array | undefined {
  try {
    return runBatch(slots[index]!);
  } finally {
    // The next batch may come after an hour.
    closedOrders.release();
  }
}

function runBatch(slot: SlotView): Int32Array | undefined {
  const { f64 } = slot;
  const sequence = slot.i32[Slot.dispatchSequence]!;
  const began = now();
  let apply: () => void;
  try {
    apply = slot.beginsWith(RequestKind.record) ? prepareRecord(slot) : prepareRequests(slot);
  } catch (error) {
    awaitWriterTurn(control, sequence);
    slot.setState(SlotState.failed);
    passWriterTurn(control, sequence);
    throw error;
  }
  const ready = now();
  awaitWriterTurn(control, sequence);
  const entered = now();
  enterWriterTurn(control, sequence);
  slot.setState(SlotState.applying);
  try {
    apply();
  } catch (error) {
    Atomics.store(control, Control.poisoned, 1);
    throw error;
  }
  const { i32, words } = engine.context.events;
  const { verifyMs } = preparer;
  f64[Slot.recoveries] = diagnosis.takeRecoveries();
  f64[Slot.parseMs] = ready - began - verifyMs;
  f64[Slot.verifyMs] = verifyMs;
  f64[Slot.turnWaitMs] = entered - ready;
  f64[Slot.matchMs] = now() - entered;
  slot.setState(SlotState.done);
  leaveWriterTurn(control, sequence);
  writeRecordOf(slot);
  return words > slot.events.length ? i32.slice(0, words) : undefined;
}

/** Writes the record of an applied batch, where the I/O thread has lent the place in the log. */
function writeRecordOf(slot: SlotView): void {
  const place = placeIn(slot);
  if (place === undefined || !hasChanged(slot)) return;
  const began = now();
  try {
    putLoanEnd(slot, writeLent(place, logRecord(slot)));
  } catch (error) {
    putWriteError(slot, error as NodeJS.ErrnoException);
  }
  slot.f64[Slot.writeMs] = now() - began;
}

/** Prepares a record of another node: it is applied without checks, and its effect must be the same. */
function prepareRecord(slot: SlotView): () => void {
  const bytes = slot.inputWords[RequestHead.bytes]!;
  const at = 4 * RequestHead.words;
  const payload = Buffer.from(slot.input.subarray(at, at + bytes));
  const record = batchOf({ sequence: stampOf(payload).sequence, payload });
  preparer.verifyMs = 0;
  return () => applier.replay(slot, record);
}

function prepareRequests(slot: SlotView): () => void {
  // Bound of the orders that the batches before this one add to those known now.
  const { t } = engine;
  // Open ones first: those that close between the two reads count twice, and none is left out.
  const known = openOrders(t) + closedCount(t);
  const coming = UNLOGGED_COMMANDS_MAX;
  // A larger history does not bring back ids dropped under a smaller one.
  const history = Math.min(engineSettings(t).history, t.capacities.history);
  // Ids that may leave memory before the turn of this batch.
  const leaving = Math.min(slot.f64[Slot.persistedClosedSequence]!, known + coming - history);
  forgotten = Math.max(firstKeptClosed(t), leaving);
  // A pre-validation for the leader looks up all ids on this disk.
  const isCheck = slot.beginsWith(RequestKind.check);
  reach = isCheck ? slot.f64[Slot.persistedClosedSequence]! : forgotten;
  // Machine code that has never looked on disk is thrown away at the first look, and the next ten batches take ten
  // times as long. So it looks from the start, now and then.
  batches += 1;
  rehearses = reach === 0 && mayRehearse && batches % REHEARSAL_BATCHES === 0;
  idsMayHaveLeft = reach > 0 || rehearses;
  if (idsMayHaveLeft) lookBefore(rehearses ? slot.f64[Slot.persistedClosedSequence]! : reach);
  const prepared = preparer.prepare(slot);
  return () => applier.apply(slot, prepared);
}

function lookBefore(sequence: number): void {
  try {
    closedOrders.refresh(sequence);
  } catch (error) {
    if (!rehearses) throw error;
    mayRehearse = false;
    idsMayHaveLeft = false;
  }
}

function statusOnDisk(id: Uint8Array): number {
  try {
    return closedOrders.statusOf(id);
  } catch (error) {
    if (!rehearses) throw error;
    mayRehearse = false;
    return 0;
  }
}
