/**
 * The one order of all changes. Requests wait here in a queue. A batch of them gets a dispatch sequence and a
 * time, and runs in a worker. Batches are logged and answered strictly by their dispatch sequence.
 *
 *   submit -> queue -> dispatch (sequence, time) -> worker -> collect -> log -> answers
 *
 * Where another node leads, its records come instead, each a batch of its own, by apply().
 *
 * Nothing waits on a timer: a batch leaves at once when a worker is free, and what arrives meanwhile
 * leaves together. A request that finds the queue full is refused at once.
 *
 * Thread: the I/O thread.
 */

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { engineSettings, engineTime, lastBatch } from '../../engine/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { stampOf } from '../../storage/log/batch-record.ts';
import { type Log, OutcomeUnknown } from '../../storage/log/log.ts';
import { type AppliedBatch, hasChanged, logRecord, takeApplied } from './applied-batch.ts';
import { AppliedSequence } from './applied-sequence.ts';
import { ExpiryTimer } from './expiry-timer.ts';
import type { OrderMeters } from './order-meters.ts';
import type { WorkerPool } from './pool.ts';
import { type RequestBatch, UnloggedLimit } from './request-batch.ts';
import { RequestQueue } from './request-queue.ts';
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
} from './slot-requests.ts';
import {
  align,
  Control,
  leaveApplyTurn,
  passApplyTurn,
  RequestKind,
  type SlotMemory,
  SlotState,
  SlotView,
} from './slots.ts';

/** Between two looks whether all is done: what is waited for needs the processor, too. */
const IDLE_LOOK_MS = 1;
/** Between two looks whether enough is derived for the next record. */
const DERIVED_LOOK_MS = 5;

export interface SequencerOptions {
  readonly tables: Tables;
  readonly slots: SlotMemory;
  readonly pool: WorkerPool;
  readonly log: Log;
  readonly workers: number;
  /** Batches that wait in workers behind those that run, so that no worker waits for its next one. */
  readonly prefetch: number;
  /** Requests that may wait. */
  readonly queueMax: number;
  /** Unix milliseconds; it may pause the sequencer before it returns, where the clock has jumped. */
  readonly now: () => number;
  /** Sequence up to which the final states of orders are on disk. */
  readonly closedPersisted: () => number;
  /** Called once a batch that changed the engine is durable. */
  readonly onFlushed: (batch: AppliedBatch) => void;
  /** The node cannot go on; nothing is acknowledged after this call. */
  readonly onFatal: (error: Error) => void;
  readonly warn: (line: string) => void;
  /** Undefined: nobody wants to know. */
  readonly meters: OrderMeters | undefined;
}

/** What is delivered once a batch is durable. */
interface Outcome {
  /** Undefined: the batch changed nothing. */
  readonly applied: AppliedBatch | undefined;
  readonly deliver: () => void;
}

export class Sequencer {
  /** The newest batch that is durable. */
  readonly applied: AppliedSequence;
  private readonly o: SequencerOptions;
  private readonly control: Int32Array;
  private readonly views: SlotView[];
  private readonly freeSlots: number[];
  private readonly queue: RequestQueue;
  /** Of another node, in the order of the log. */
  private records: Request[] = [];
  private recordsRetry: NodeJS.Timeout | undefined;
  private tickWanted = false;
  private isPrefetchScheduled = false;
  /** Dispatched and not yet collected, in the order of their dispatch. */
  private batches: RequestBatch[] = [];
  private running = 0;
  private readonly unlogged = new UnloggedLimit();
  private nextDispatch = 0;
  private lastTime: number;
  private hasBegun = false;
  /** Another node leads, or none: only records are applied. */
  private follows = false;
  private stopped = false;
  /** Why orders are not taken for the time being; undefined = they are. */
  private problem: string | undefined;
  /** Whether all else is taken meanwhile. */
  private takesCancels = false;
  /** How orders of clients are refused meanwhile. */
  private refusal: Failure = 'unavailable';
  private readonly expiry: ExpiryTimer;
  private onBatchesDone: (() => void)[] = [];
  /** Batches that are in the log, and who waits until there are so many. */
  private settledBatches = 0;
  /** How many are once the newest batch is that this node made itself. */
  private settledWithOwn = 0;
  private commitWaits: { readonly batches: number; readonly callback: (is: boolean) => void }[] =
    [];

  constructor(options: SequencerOptions) {
    this.o = options;
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

  /** From now on tables may be written: no batch is dispatched before, not even one that expires orders. */
  begin(): void {
    this.hasBegun = true;
    this.pause(this.problem, this.takesCancels, this.refusal);
  }

  /** Takes a request; answers 503 at once when the queue is full, or rows of orders are short. */
  submit(request: Request): void {
    assert(align(request.body.length) <= this.o.slots.sizes.logBytes, 'a request fits a slot');
    const isFull = this.queue.isFullFor(request);
    if (isFull && this.o.log.failure === undefined) fail(request, 'busy');
    else this.goOn(request);
  }

  /** Whether it takes records of another node, by apply(), and refuses all requests. */
  follow(follows: boolean): void {
    this.follows = follows;
    // Whoever leads goes on from the time of the newest record.
    this.lastTime = Math.max(this.lastTime, engineTime(this.o.tables));
    this.pause(this.problem, this.takesCancels, this.refusal);
    this.refuseWaiting();
  }

  /**
   * Applies the next record of the log, which another node has made; `applied` is called once the log of this
   * node has it.
   */
  apply(payload: Uint8Array, applied: () => void): void {
    const failed = (why: Failure): void =>
      this.stop(new Error(`a record of the leader could not be applied: ${why}`));
    this.records.push(recordRequest(payload, applied, failed));
    this.pump();
  }

  /** Takes the next part of a request that has been taken: a full queue does not cut it short. */
  goOn(request: Request): void {
    if (this.o.log.failure !== undefined) fail(request, 'unavailable');
    else if (!this.admits(request)) refuse(request, this.refusal);
    else if (this.stopped) fail(request, 'busy');
    else {
      this.queue.push(request, this.o.meters?.now() ?? 0);
      this.pump();
    }
  }

  /**
   * Takes no orders while there is a problem, and nothing else unless `takesCancels`. Batches in workers go on;
   * requests in the queue are refused. Commands of the node itself get `engine busy`, and come again.
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

  /** Requests that wait for a worker. */
  waiting(): number {
    return this.queue.length;
  }

  /** Calls back once the batches that now run are done; whoever read while they wrote tries again then. */
  whenBatchesDone(callback: () => void): void {
    if (this.running === 0) setImmediate(callback);
    else this.onBatchesDone.push(callback);
  }

  /**
   * Calls back once all that is applied now is committed, at once where it is; with false where it may never be.
   * Records of another node were committed before they came, whether or not the disk of this one has them.
   */
  whenCommitted(callback: (isCommitted: boolean) => void): void {
    if (this.isCommitted()) callback(true);
    else if (this.stopped) callback(false);
    else this.commitWaits.push({ batches: this.settledWithOwn, callback });
  }

  /** Whether all that is applied now is committed. */
  isCommitted(): boolean {
    return this.settledBatches >= this.settledWithOwn;
  }

  /** Resolves when nothing is queued, running or waiting for the log. */
  async idle(): Promise<void> {
    while (this.records.length + this.queue.length + this.unlogged.batches > 0) {
      await sleep(IDLE_LOOK_MS);
    }
  }

  /** Takes nothing more, and resolves when what was taken is answered. */
  async drain(): Promise<void> {
    await this.idle();
    this.expiry.disarm();
    this.stopped = true;
  }

  /** The node cannot go on: nothing more is taken, and `onFatal` is called. */
  stop(error: Error): void {
    if (this.stopped) return;
    this.stopped = true;
    this.expiry.disarm();
    this.refuseWaiting();
    this.records = [];
    for (const { callback } of this.commitWaits.splice(0)) callback(false);
    this.o.onFatal(error);
  }

  /** Free workers get work at once. Batches behind those collect requests for one turn of the event loop. */
  private pump(): void {
    this.dispatchUpTo(this.o.workers);
    if (this.o.prefetch === 0 || this.isPrefetchScheduled || this.queue.length === 0) return;
    this.isPrefetchScheduled = true;
    setImmediate(() => {
      this.isPrefetchScheduled = false;
      this.dispatchUpTo(this.o.workers + this.o.prefetch);
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
      const time = this.follows ? 0 : this.o.now();
      // Where that has found that the clock jumped, orders that waited are refused by now.
      if (!this.mayDispatch(running) || !this.hasWork()) return;
      this.lastTime = Math.max(this.lastTime, time);
      this.tickWanted = false;
      this.dispatch(this.queue.takeBatch(this.nextDispatch, this.freeSlots.at(-1)!));
    }
  }

  private batchOf(record: Request): RequestBatch {
    this.lastTime = Math.max(this.lastTime, stampOf(record.body).time);
    return {
      ...{ dispatchSequence: this.nextDispatch, slot: this.freeSlots.at(-1)!, requests: [record] },
      ...{ times: [this.o.meters?.now() ?? 0], isDone: false, largeEvents: undefined },
    };
  }

  /** Ids that leave memory with a record have to be found in what this node has derived: it may be behind. */
  private mayApply({ body }: Request): boolean {
    const { closedEnd, persistedClosedSequence } = stampOf(body);
    const leaving = Math.min(
      persistedClosedSequence,
      closedEnd - engineSettings(this.o.tables).history,
    );
    if (leaving <= this.o.closedPersisted()) return true;
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
    // What it may check for the node that leads changes nothing here.
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
   * The slot and the dispatch sequence are used up only once all requests are in the slot: a sequence without
   * a worker would never pass its apply turn on.
   */
  private dispatch(batch: RequestBatch): void {
    const { dispatchSequence, requests, slot, times } = batch;
    const view = this.views[slot]!;
    try {
      const persistedClosedSequence = this.o.closedPersisted();
      const head = { dispatchSequence, time: this.lastTime, persistedClosedSequence };
      fillSlot(view, head, requests);
    } catch (error) {
      this.o.warn(`a batch could not be handed to a worker: ${(error as Error).message}`);
      this.queue.leave(requests);
      failAll(requests);
      return;
    }
    this.unlogged.add(batch);
    if (!this.follows) this.settledWithOwn = this.settledBatches + this.unlogged.batches;
    this.freeSlots.pop();
    this.nextDispatch = (dispatchSequence + 1) | 0;
    view.setState(SlotState.verifying);
    this.o.meters?.dispatched(times);
    this.batches.push(batch);
    this.running += 1;
    this.run(batch);
  }

  private run(batch: RequestBatch): void {
    const done = (largeEvents: Int32Array | undefined): void => {
      batch.largeEvents = largeEvents;
      this.finish(batch);
    };
    const failed = (error: Error): void => this.fail(batch, error);
    try {
      this.o.pool.run(batch.slot, done, failed);
    } catch (error) {
      // As if its worker had died before the apply turn.
      queueMicrotask(() => failed(error as Error));
    }
  }

  private finish(batch: RequestBatch): void {
    this.running -= 1;
    batch.isDone = true;
    this.collectReady();
  }

  /** A worker threw or died: what that means depends on how far it had come. */
  private fail(batch: RequestBatch, error: Error): void {
    const { dispatchSequence } = batch;
    const view = this.views[batch.slot]!;
    const state = view.state();
    const isPoisoned = Atomics.load(this.control, Control.poisoned) !== 0;
    if (isPoisoned || state === SlotState.applying) {
      this.stop(new Error(`a worker died inside its turn: ${error.message}`));
      return;
    }
    this.o.warn(`a worker failed on batch ${dispatchSequence}: ${error.message}`);
    // It died before its apply turn, which is passed on once it comes, never earlier.
    if (state === SlotState.verifying) {
      this.passWhenDue(batch);
      return;
    }
    // It may have died after it marked the slot as done, and before it passed its turn on.
    if (Atomics.load(this.control, Control.applyTurn) === dispatchSequence) {
      leaveApplyTurn(this.control, dispatchSequence);
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
    if (passApplyTurn(this.control, batch.dispatchSequence)) {
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

  /** Appends the record of a finished batch to the log, and answers once that is durable. */
  private collect(batch: RequestBatch): void {
    const view = this.views[batch.slot]!;
    const { log, meters } = this.o;
    const appended = meters?.now() ?? 0;
    const record = hasChanged(view) ? logRecord(view) : undefined;
    // A batch that changed nothing waits, too: its answers may show what the batches before it changed.
    const durable =
      record === undefined ? this.whenShown(batch) : log.append([record], record.sequence - 1);
    // The rest is copied out of the slot while the disk works.
    const outcome = this.takeOutcome(batch, view);
    durable.then(
      () => this.acknowledge(batch, outcome, appended),
      (error: Error) => this.giveUp(batch, error),
    );
  }

  /** What was checked for another node shows nothing of the batches before it. */
  private whenShown({ requests }: RequestBatch): Promise<void> {
    const isCheck = requests.length > 0 && requests.every(({ kind }) => kind === RequestKind.check);
    return isCheck ? Promise.resolve() : this.o.log.whenDurable();
  }

  private acknowledge(batch: RequestBatch, { applied, deliver }: Outcome, appended: number): void {
    const { meters } = this.o;
    this.unlogged.remove(batch);
    const flushed = meters?.now() ?? 0;
    if (applied !== undefined) this.applied.reach(applied.sequence);
    // Clients get their answers first; then streams and tapes get the batch, before the next request.
    deliver();
    meters?.answered(appended, flushed, batch.times);
    if (applied !== undefined) this.o.onFlushed(applied);
    this.settledBatches += 1;
    while (this.commitWaits.length > 0 && this.commitWaits[0]!.batches <= this.settledBatches) {
      this.commitWaits.shift()!.callback(true);
    }
    this.pump();
  }

  /** The log failed, and may or may not hold the batch: its requests are not acknowledged. */
  private giveUp(batch: RequestBatch, error: Error): void {
    this.unlogged.remove(batch);
    const why = error instanceof OutcomeUnknown ? 'unknown' : 'unavailable';
    for (const request of batch.requests) fail(request, why);
    this.stop(error);
  }

  /** Copies answers and changes of a batch out of its slot, which is free then. */
  private takeOutcome({ largeEvents, requests, slot }: RequestBatch, view: SlotView): Outcome {
    const hasFailed = view.state() === SlotState.failed;
    const deliver = hasFailed ? () => failAll(requests) : takeAnswers(view, requests);
    const applied = hasChanged(view) ? takeApplied(view, largeEvents) : undefined;
    if (!hasFailed) this.o.meters?.applied(view);
    view.setState(SlotState.free);
    this.queue.leave(requests);
    this.freeSlots.push(slot);
    return { applied, deliver };
  }

  private refuseWaiting(): void {
    for (const request of this.queue.takeAll()) {
      if (!this.stopped && this.admits(request)) {
        this.queue.push(request, this.o.meters?.now() ?? 0);
      } else if (this.stopped) fail(request, 'unavailable');
      else refuse(request, this.refusal);
    }
  }

  /** An empty batch at the earliest expiry, so that orders leave although nobody trades. */
  private armExpiry(): void {
    const isTaking = this.hasBegun && !this.stopped && !this.isPaused() && !this.follows;
    if (isTaking && this.batches.length === 0) this.expiry.arm();
    else this.expiry.disarm();
  }
}
