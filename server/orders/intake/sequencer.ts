/**
 * The single order of all changes. Requests wait here in a queue. A batch of them gets a dispatch sequence
 * and a time, and runs in a worker. Batches are logged and answered strictly by their dispatch sequence.
 *
 *   submit -> queue -> dispatch (sequence, time) -> worker -> collect -> log -> answers
 *
 * The worker writes the record of a batch that comes alone (lendPlace), and the log is told of it.
 *
 * apply() takes the records of a node that leads instead; each is a batch of its own.
 *
 * Nothing waits on a timer: a batch leaves at once when a worker is free, and later requests leave together.
 * A request that finds the queue full is refused at once.
 *
 * Thread: I/O. Not here: fairness between wallets (wallet-queue.ts), effects of commands (engine).
 */

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { engineSettings, engineTime, lastBatch } from '../../../engine/reads.ts';
import type { Tables } from '../../../engine/tables/tables.ts';
import { stampOf } from '../../../storage/log/batch-record.ts';
import { type Log, type NewEntry, OutcomeUnknown } from '../../../storage/log/log.ts';
import { ExpiryTimer } from '../cancel/expiry-timer.ts';
import { loanEnd, putPlace } from '../exchange-memory/lent-slot.ts';
import {
  type Failure,
  fail,
  failAll,
  fillSlot,
  placesOrders,
  type Request,
  recordRequest,
  refuse,
  takeAnswers,
} from '../exchange-memory/slot-requests.ts';
import {
  align,
  Control,
  leaveWriterTurn,
  passWriterTurn,
  RequestKind,
  Slot,
  type SlotMemory,
  SlotState,
  SlotView,
} from '../exchange-memory/slots.ts';
import { type AppliedBatch, hasChanged, logRecord, takeApplied } from '../worker/applied-batch.ts';
import type { WorkerPool } from '../worker/pool.ts';
import { AppliedSequence } from './applied-sequence.ts';
import type { OrderMetrics } from './order-metrics.ts';
import { type RequestBatch, RequestQueue, UnloggedLimit } from './request-queue.ts';

/** Polling interval for the end of all work; short sleeps leave the processor to the workers. */
const IDLE_LOOK_MS = 1;
/** Polling interval for enough projected orders to apply the next record. */
const DERIVED_LOOK_MS = 5;

export interface SequencerOptions {
  readonly tables: Tables;
  readonly slots: SlotMemory;
  readonly pool: WorkerPool;
  readonly log: Log;
  readonly workers: number;
  /** Batches queued in workers behind running ones, so that no worker waits for its next one. */
  readonly prefetch: number;
  readonly queueMax: number;
  /** Unix milliseconds. After a jump of the clock, the call may pause the sequencer before it returns. */
  readonly now: () => number;
  /** Sequence up to which the final states of orders are on disk. */
  readonly closedPersisted: () => number;
  /** Called once a batch that changed the engine is durable. */
  readonly onFlushed: (batch: AppliedBatch) => void;
  /** Called when the node cannot continue; nothing is acknowledged after this call. */
  readonly onFatal: (error: Error) => void;
  readonly warn: (line: string) => void;
  readonly metrics: OrderMetrics | undefined;
}

/** Batches that come alone before the next one is taken for the request of a client that waits for each answer. */
const ALONE_BATCHES = 8;

interface Outcome {
  readonly applied: AppliedBatch | undefined;
  readonly deliver: () => void;
}

export class Sequencer {
  readonly applied: AppliedSequence;
  private readonly options: SequencerOptions;
  private readonly control: Int32Array;
  private readonly views: SlotView[];
  private readonly freeSlots: number[];
  private readonly queue: RequestQueue;
  /** Records of another node, in the order of the log. */
  private records: Request[] = [];
  private recordsRetry: NodeJS.Timeout | undefined;
  private tickWanted = false;
  private isPrefetchScheduled = false;
  private isTakingSeveral = false;
  /** Dispatched batches that are not collected, in the order of their dispatch. */
  private batches: RequestBatch[] = [];
  private running = 0;
  private readonly unlogged = new UnloggedLimit();
  /** Batches in succession that were dispatched while nothing else was under way. */
  private aloneInRow = 0;
  private nextDispatch = 0;
  private lastTime: number;
  private hasBegun = false;
  /** True while another node leads, or none does: only records are applied. */
  private follows = false;
  private stopped = false;
  private problem: string | undefined;
  private takesCancels = false;
  private refusal: Failure = 'unavailable';
  private readonly expiry: ExpiryTimer;
  private onBatchesDone: (() => void)[] = [];
  /** Number of batches in the log, and callbacks that wait for a number. */
  private settledBatches = 0;
  /** Value of settledBatches that includes the newest batch made by this node. */
  private settledWithOwn = 0;
  private commitWaits: { readonly batches: number; readonly callback: (is: boolean) => void }[] =
    [];

  constructor(options: SequencerOptions) {
    this.options = options;
    this.queue = new RequestQueue(options);
    this.control = new Int32Array(options.slots.control);
    this.views = options.slots.slots.map((b) => new SlotView(b, options.slots.sizes));
    this.freeSlots = this.views.map((_, i) => i);
    this.lastTime = engineTime(options.tables);
    this.applied = new AppliedSequence(lastBatch(options.tables));
    this.expiry = new ExpiryTimer(options.tables, options.now, () => {
      this.tickWanted = true;
      this.pump();
    });
  }

  /** Allows writes to the tables: no batch is dispatched before, not even one that expires orders. */
  begin(): void {
    this.hasBegun = true;
    this.pause(this.problem, this.takesCancels, this.refusal);
  }

  /** Takes a request; answers 503 at once when the queue is full, or order rows are short. */
  submit(request: Request): void {
    assert(
      align(request.body.length) <= this.options.slots.sizes.logBytes,
      'a request fits a slot',
    );
    const isFull = this.queue.isFullFor(request);
    if (isFull && this.options.log.failure === undefined) fail(request, 'busy');
    else this.resume(request);
  }

  /**
   * Dispatches nothing until `submit` has returned. A batch costs the leader and each of its followers as much as
   * some tens of orders, so the requests of one call shall not become several.
   */
  together(submit: () => void): void {
    this.isTakingSeveral = true;
    try {
      submit();
    } finally {
      this.isTakingSeveral = false;
      this.pump();
    }
  }

  /** Switches between requests of clients and records of another node, which apply() takes. */
  follow(follows: boolean): void {
    this.follows = follows;
    // A new leader continues from the time of the newest record.
    this.lastTime = Math.max(this.lastTime, engineTime(this.options.tables));
    this.pause(this.problem, this.takesCancels, this.refusal);
    this.refuseWaiting();
  }

  /** Applies the next record of another node; `applied` is called once the log of this node has it. */
  apply(payload: Uint8Array, applied: () => void): void {
    const failed = (why: Failure): void =>
      this.stop(new Error(`a record of the leader could not be applied: ${why}`));
    this.records.push(recordRequest(payload, applied, failed));
    this.pump();
  }

  /** Takes the next part of a request; a full queue does not cut it short. */
  resume(request: Request): void {
    if (this.options.log.failure !== undefined) fail(request, 'unavailable');
    else if (!this.admits(request)) refuse(request, this.refusal);
    else if (this.stopped) fail(request, 'busy');
    else {
      this.queue.push(request, this.options.metrics?.now() ?? 0);
      this.pump();
    }
  }

  /**
   * Refuses orders while there is a problem, and everything else unless `takesCancels`. Batches in workers
   * continue; queued requests are refused. Internal commands get `engine busy`, and their sender repeats
   * them.
   */
  pause(problem: string | undefined, takesCancels = false, refusal: Failure = 'unavailable'): void {
    this.refusal = refusal;
    this.problem = problem;
    this.takesCancels = takesCancels;
    this.armExpiry();
    if (problem !== undefined) this.refuseWaiting();
    this.pump();
  }

  isPaused(): boolean {
    return this.problem !== undefined;
  }

  waiting(): number {
    return this.queue.length;
  }

  /** Calls back once the running batches are done; a read that met a writer tries again then. */
  whenBatchesDone(callback: () => void): void {
    if (this.running === 0) setImmediate(callback);
    else this.onBatchesDone.push(callback);
  }

  /**
   * Calls back once all state applied now is committed, at once where it is; with false where it may never
   * be. Records of another node were committed before they arrived.
   */
  whenCommitted(callback: (isCommitted: boolean) => void): void {
    if (this.isCommitted()) callback(true);
    else if (this.stopped) callback(false);
    else this.commitWaits.push({ batches: this.settledWithOwn, callback });
  }

  isCommitted(): boolean {
    return this.settledBatches >= this.settledWithOwn;
  }

  /** Resolves when nothing is queued, running or waiting for the log. */
  async idle(): Promise<void> {
    while (this.records.length + this.queue.length + this.unlogged.batches > 0) {
      await sleep(IDLE_LOOK_MS);
    }
  }

  /** Refuses new requests, and resolves when all earlier ones are answered. */
  async drain(): Promise<void> {
    await this.idle();
    this.expiry.disarm();
    this.stopped = true;
  }

  /** Stops for good: nothing more is taken, and `onFatal` is called. */
  stop(error: Error): void {
    if (this.stopped) return;
    this.stopped = true;
    this.expiry.disarm();
    this.refuseWaiting();
    this.records = [];
    for (const { callback } of this.commitWaits.splice(0)) callback(false);
    this.options.onFatal(error);
  }

  /**
   * Dispatches to free workers at once. Batches to prefetch collect requests for one event-loop iteration.
   */
  private pump(): void {
    if (this.isTakingSeveral) return;
    this.dispatchUpTo(this.options.workers);
    if (this.options.prefetch === 0 || this.isPrefetchScheduled || this.queue.length === 0) return;
    this.isPrefetchScheduled = true;
    setImmediate(() => {
      this.isPrefetchScheduled = false;
      this.dispatchUpTo(this.options.workers + this.options.prefetch);
    });
  }

  private dispatchUpTo(running: number): void {
    while (
      this.records.length > 0 &&
      this.mayDispatch(running) &&
      this.mayApply(this.records[0]!)
    ) {
      this.dispatch(this.batchOf(this.records.shift()!));
    }
    while (this.mayDispatch(running) && this.hasWork()) {
      const time = this.follows ? 0 : this.options.now();
      // The clock may have found a jump; waiting orders are refused by now.
      if (!this.mayDispatch(running) || !this.hasWork()) return;
      this.lastTime = Math.max(this.lastTime, time);
      this.tickWanted = false;
      this.dispatch(this.queue.takeBatch(this.nextDispatch, this.freeSlots.at(-1)!));
    }
  }

  private batchOf(record: Request): RequestBatch {
    this.lastTime = Math.max(this.lastTime, stampOf(record.body).time);
    return {
      dispatchSequence: this.nextDispatch,
      slot: this.freeSlots.at(-1)!,
      requests: [record],
      times: [this.options.metrics?.now() ?? 0],
      isDone: false,
      isLent: false,
      largeEvents: undefined,
    };
  }

  /** False while ids that leave memory with the record are not yet projected on this node. */
  private mayApply({ body }: Request): boolean {
    const { closedEnd, persistedClosedSequence } = stampOf(body);
    const leaving = Math.min(
      persistedClosedSequence,
      closedEnd - engineSettings(this.options.tables).history,
    );
    if (leaving <= this.options.closedPersisted()) return true;
    this.recordsRetry ??= setTimeout(() => {
      this.recordsRetry = undefined;
      this.pump();
    }, DERIVED_LOOK_MS).unref();
    return false;
  }

  private hasWork(): boolean {
    return (
      this.queue.length > 0 || (this.tickWanted && this.problem === undefined && !this.follows)
    );
  }

  private admits(request: Request): boolean {
    // Pre-validation for the leader changes nothing here.
    if (this.follows) return request.kind === RequestKind.check && this.problem === undefined;
    return this.problem === undefined || (this.takesCancels && !placesOrders(request));
  }

  private mayDispatch(running: number): boolean {
    return (
      this.hasBegun &&
      !this.stopped &&
      (this.problem === undefined || this.takesCancels) &&
      this.running < running &&
      this.freeSlots.length > 0 &&
      this.unlogged.hasRoom
    );
  }

  /**
   * Dispatches a batch. The slot and the dispatch sequence are used up only once all requests are in the
   * slot: a sequence without a worker would never pass its turn on.
   */
  private dispatch(batch: RequestBatch): void {
    const { dispatchSequence, requests, slot, times } = batch;
    const view = this.views[slot]!;
    const isAlone = this.unlogged.batches === 0 && this.queue.length === 0;
    try {
      const persistedClosedSequence = this.options.closedPersisted();
      const head = { dispatchSequence, time: this.lastTime, persistedClosedSequence };
      fillSlot(view, head, requests);
    } catch (error) {
      this.options.warn(`a batch could not be handed to a worker: ${(error as Error).message}`);
      this.queue.leave(requests);
      failAll(requests);
      return;
    }
    this.lendPlace(batch, view, isAlone);
    this.unlogged.add(batch);
    if (!this.follows) this.settledWithOwn = this.settledBatches + this.unlogged.batches;
    this.freeSlots.pop();
    this.nextDispatch = (dispatchSequence + 1) | 0;
    view.setState(SlotState.verifying);
    this.options.metrics?.dispatched(times);
    this.batches.push(batch);
    this.running += 1;
    this.run(batch);
  }

  /**
   * Lends the place in the log to the worker of a batch that comes alone, as those before it did. With others under
   * way the worker has better things to do during a write, and one write takes the records of several batches.
   */
  private lendPlace(batch: RequestBatch, view: SlotView, isAlone: boolean): void {
    this.aloneInRow = isAlone ? this.aloneInRow + 1 : 0;
    const mayLend = this.aloneInRow > ALONE_BATCHES && !this.follows;
    const place = mayLend ? this.options.log.lend?.() : undefined;
    batch.isLent = place !== undefined;
    putPlace(view, place);
  }

  private run(batch: RequestBatch): void {
    const done = (largeEvents: Int32Array | undefined): void => {
      batch.largeEvents = largeEvents;
      this.finish(batch);
    };
    const failed = (error: Error): void => this.fail(batch, error);
    try {
      this.options.pool.run(batch.slot, done, failed);
    } catch (error) {
      // Handled like a worker that died before its writer turn.
      queueMicrotask(() => failed(error as Error));
    }
  }

  private finish(batch: RequestBatch): void {
    this.running -= 1;
    batch.isDone = true;
    this.collectReady();
  }

  /** Handles a worker that threw or died; the state of the slot tells how far it was. */
  private fail(batch: RequestBatch, error: Error): void {
    const { dispatchSequence } = batch;
    const view = this.views[batch.slot]!;
    const state = view.state();
    const isPoisoned = Atomics.load(this.control, Control.poisoned) !== 0;
    if (isPoisoned || state === SlotState.applying) {
      this.stop(new Error(`a worker died inside its turn: ${error.message}`));
      return;
    }
    this.options.warn(`a worker failed on batch ${dispatchSequence}: ${error.message}`);
    // It died before its writer turn, which is passed on once it comes, never earlier.
    if (state === SlotState.verifying) {
      this.passWhenDue(batch);
      return;
    }
    // It may have died after it marked the slot as done, and before it passed its turn on.
    if (Atomics.load(this.control, Control.writerTurn) === dispatchSequence) {
      leaveWriterTurn(this.control, dispatchSequence);
    }
    this.finish(batch);
  }

  private passWhenDue(batch: RequestBatch): void {
    if (this.stopped) return;
    // The worker may have died after it took its turn, and before it marked the slot as applying.
    const mark = (batch.dispatchSequence + 1) | 0;
    if (mark !== 0 && Atomics.load(this.control, Control.writer) === mark) {
      this.stop(new Error('a worker died inside its turn'));
      return;
    }
    if (passWriterTurn(this.control, batch.dispatchSequence)) {
      this.views[batch.slot]!.setState(SlotState.failed);
      this.finish(batch);
      return;
    }
    setImmediate(() => this.passWhenDue(batch));
  }

  private collectReady(): void {
    while (this.batches[0]?.isDone === true) this.collect(this.batches.shift()!);
    for (const callback of this.onBatchesDone.splice(0)) callback();
    this.armExpiry();
    this.pump();
  }

  private collect(batch: RequestBatch): void {
    const view = this.views[batch.slot]!;
    const { log, metrics } = this.options;
    const appended = metrics?.now() ?? 0;
    if (batch.isLent && this.endLoan(view)) {
      const began = appended - view.f64[Slot.writeMs]!;
      const outcome = this.takeOutcome(batch, view, undefined);
      // As after a write of the log: an exception here ends the process, and is not one of the worker.
      void Promise.resolve().then(() => this.acknowledge(batch, outcome, began));
      return;
    }
    const record = hasChanged(view) ? logRecord(view) : undefined;
    // A batch that changed nothing waits, too: its answers may show changes of the batches before it.
    const durable =
      record === undefined ? this.whenShown(batch) : log.append([record], record.sequence - 1);
    // The rest is copied out of the slot while the disk works.
    const outcome = this.takeOutcome(batch, view, record);
    durable.then(
      () => this.acknowledge(batch, outcome, appended),
      (error: Error) => this.failUncertain(batch, error),
    );
  }

  /** Returns true where the worker has written the record, which is durable then. */
  private endLoan(view: SlotView): boolean {
    const end = loanEnd(view);
    this.options.log.endLoan!(end);
    return end.kind === 'written';
  }

  /**
   * Pre-validation for another node does not depend on earlier batches, so its answer need not wait for the
   * log.
   */
  private whenShown({ requests }: RequestBatch): Promise<void> {
    const isCheck = requests.length > 0 && requests.every(({ kind }) => kind === RequestKind.check);
    return isCheck ? Promise.resolve() : this.options.log.whenDurable();
  }

  private acknowledge(batch: RequestBatch, { applied, deliver }: Outcome, appended: number): void {
    const { metrics } = this.options;
    this.unlogged.remove(batch);
    const flushed = metrics?.now() ?? 0;
    if (applied !== undefined) this.applied.reach(applied.sequence);
    // Clients get their answers first; then streams and tapes get the batch, before the next request.
    deliver();
    metrics?.answered(appended, flushed, batch.times);
    if (applied !== undefined) this.options.onFlushed(applied);
    this.settledBatches += 1;
    while (this.commitWaits.length > 0 && this.commitWaits[0]!.batches <= this.settledBatches) {
      this.commitWaits.shift()!.callback(true);
    }
    this.pump();
  }

  /** Fails a batch that may or may not be in the log: its requests are not acknowledged. */
  private failUncertain(batch: RequestBatch, error: Error): void {
    this.unlogged.remove(batch);
    const why = error instanceof OutcomeUnknown ? 'unknown' : 'unavailable';
    for (const request of batch.requests) fail(request, why);
    this.stop(error);
  }

  private takeOutcome(
    { largeEvents, requests, slot }: RequestBatch,
    view: SlotView,
    record: NewEntry | undefined,
  ): Outcome {
    const hasFailed = view.state() === SlotState.failed;
    const deliver = hasFailed ? () => failAll(requests) : takeAnswers(view, requests);
    const applied = hasChanged(view) ? takeApplied(view, record?.payload, largeEvents) : undefined;
    if (!hasFailed) this.options.metrics?.applied(view);
    view.setState(SlotState.free);
    this.queue.leave(requests);
    this.freeSlots.push(slot);
    return { applied, deliver };
  }

  private refuseWaiting(): void {
    for (const request of this.queue.takeAll()) {
      if (!this.stopped && this.admits(request)) {
        this.queue.push(request, this.options.metrics?.now() ?? 0);
      } else if (this.stopped) fail(request, 'unavailable');
      else refuse(request, this.refusal);
    }
  }

  private armExpiry(): void {
    const isTaking = this.hasBegun && !this.stopped && !this.isPaused() && !this.follows;
    if (isTaking && this.batches.length === 0) this.expiry.arm();
    else this.expiry.disarm();
  }
}
