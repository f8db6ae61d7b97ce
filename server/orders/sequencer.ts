/**
 * The order of everything: requests wait here, are numbered as tickets, run in workers, and are
 * appended to the log and answered strictly in ticket order.
 *
 *   submit -> queue -> dispatch (ticket, time) -> worker -> collect -> log -> answers
 *
 * Nothing waits on a timer: a batch leaves at once when a worker is free, and what arrives meanwhile
 * leaves together. A request that finds the queue full is refused at once.
 *
 * Thread: the I/O thread.
 */
import assert from 'node:assert/strict';
import { State } from '../../engine/tables/layout.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { Log } from '../../storage/log/log.ts';
import { ExpiryTimer } from './expiry-timer.ts';
import {
  type FlushedBatch,
  hasChanged,
  type KeptBatch,
  keepBatch,
  logEntryOf,
} from './flushed-batch.ts';
import type { OrderMeters } from './order-meters.ts';
import type { WorkerPool } from './pool.ts';
import { RequestQueue, type Share } from './request-queue.ts';
import {
  fail,
  failAll,
  fillSlot,
  isProven,
  placesOrders,
  type Request,
  refuse,
} from './slot-requests.ts';
import {
  align,
  Control,
  leaveTurn,
  passTurn,
  RequestHead,
  type SlotMemory,
  SlotState,
  SlotView,
} from './slots.ts';
import { type Ticket, Unjournaled } from './unjournaled.ts';

export interface SequencerOptions {
  readonly tables: Tables;
  readonly slots: SlotMemory;
  readonly pool: WorkerPool;
  readonly log: Log;
  readonly workers: number;
  /** Tickets that wait in workers behind those that run, so that none has to wait for its next one. */
  readonly ahead: number;
  /** Requests that may wait. */
  readonly queueMax: number;
  /** Unix milliseconds; it may pause the sequencer before it returns, where the clock has jumped. */
  readonly now: () => number;
  /** Sequence up to which the final states of orders are on disk. */
  readonly closedPersisted: () => number;
  /** Called after each flush with what became durable; fills are those before `endFill`. */
  readonly onFlushed: (sequence: number, endFill: number, batch: FlushedBatch) => void;
  /** The node cannot go on; nothing is acknowledged after this call. */
  readonly onFatal: (error: Error) => void;
  readonly warn: (line: string) => void;
  /** Undefined: nobody wants to know. */
  readonly meters: OrderMeters | undefined;
}

export class Sequencer {
  private readonly o: SequencerOptions;
  private readonly control: Int32Array;
  private readonly views: SlotView[];
  private readonly freeSlots: number[];
  private readonly queue: RequestQueue;
  private tickWanted = false;
  private isLookingAhead = false;
  /** In ticket order: dispatched, not yet collected. */
  private tickets: Ticket[] = [];
  private running = 0;
  private readonly unjournaled = new Unjournaled();
  private nextTicket = 0;
  private lastTime: number;
  private hasBegun = false;
  private stopped = false;
  /** Why orders are not taken for the time being; undefined = they are. */
  private problem: string | undefined;
  /** Whether all else is taken meanwhile. */
  private takesCancels = false;
  private readonly expiry: ExpiryTimer;
  private settled: (() => void)[] = [];

  constructor(options: SequencerOptions) {
    this.o = options;
    this.queue = new RequestQueue(options);
    this.control = new Int32Array(options.slots.control);
    this.views = options.slots.slots.map((b) => new SlotView(b, options.slots.sizes));
    this.freeSlots = this.views.map((_, i) => i);
    this.lastTime = options.tables.state[State.time]!;
    this.expiry = new ExpiryTimer(options.tables, options.now, () => {
      this.tickWanted = true;
      this.pump();
    });
  }

  /** From now on tables may be written: nothing gets a ticket before, not even what expires. */
  begin(): void {
    this.hasBegun = true;
    this.pause(this.problem, this.takesCancels);
  }

  /**
   * Takes a request; answers 503 at once when the queue is full, or rows of orders are short. Who asks is
   * settled before anything else is, unless nothing is under way: a worker begins meanwhile.
   */
  submit(request: Request): void {
    const framed = align(request.body.length) + 4 * RequestHead.words;
    assert(framed <= this.o.slots.sizes.inputBytes, 'a request fits a slot');
    const isFull = this.queue.isFullFor(request);
    const { failure } = this.o.log;
    const isIdle = this.queue.length + this.unjournaled.batches === 0;
    const isTaken = !isFull && failure === undefined && this.admits(request);
    const leavesAtOnce = isIdle && isTaken && this.mayDispatch(this.o.workers);
    if (!leavesAtOnce && !isProven(request)) return;
    if (isFull && failure === undefined) fail(request, 'busy');
    else this.goOn(request);
  }

  /** Takes the next part of a request that has been taken: a full queue does not cut it short. */
  goOn(request: Request): void {
    if (this.o.log.failure !== undefined) fail(request, 'unavailable');
    else if (!this.admits(request)) refuse(request);
    else if (this.stopped) fail(request, 'busy');
    else {
      this.queue.push(request, this.o.meters?.now() ?? 0);
      this.pump();
    }
  }

  /**
   * Takes no orders while there is a problem, and nothing else unless `takesCancels`; what has a ticket goes
   * on, what waits is refused. Own commands are told that it is busy: they come again.
   */
  pause(problem: string | undefined, takesCancels = false): void {
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

  /** Calls back once the batches that now run are done: a torn read is worth another try then. */
  whenSettled(callback: () => void): void {
    if (this.running === 0) setImmediate(callback);
    else this.settled.push(callback);
  }

  /** Resolves when nothing is queued, running or waiting for the log. */
  async idle(): Promise<void> {
    while (this.queue.length + this.unjournaled.batches > 0) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Takes nothing more, and resolves when what was taken is answered. */
  async drain(): Promise<void> {
    await this.idle();
    this.expiry.disarm();
    this.stopped = true;
  }

  /** The node cannot go on: nothing more is taken, and `onFatal` is told. */
  stop(error: Error): void {
    if (this.stopped) return;
    this.stopped = true;
    this.expiry.disarm();
    this.refuseWaiting();
    this.o.onFatal(error);
  }

  /** Free workers get work at once; what they have ahead is left to pile up for a turn of the loop. */
  private pump(): void {
    this.dispatchUpTo(this.o.workers);
    if (this.o.ahead === 0 || this.isLookingAhead || this.queue.length === 0) return;
    this.isLookingAhead = true;
    setImmediate(() => {
      this.isLookingAhead = false;
      this.dispatchUpTo(this.o.workers + this.o.ahead);
    });
  }

  private dispatchUpTo(running: number): void {
    while (this.mayDispatch(running) && this.hasWork()) {
      const time = this.o.now();
      // Where that has found that the clock jumped, orders that waited are refused by now.
      if (!this.mayDispatch(running) || !this.hasWork()) return;
      this.lastTime = Math.max(this.lastTime, time);
      this.tickWanted = false;
      this.dispatch(this.queue.takeShare());
    }
  }

  private hasWork(): boolean {
    return this.queue.length > 0 || (this.tickWanted && this.problem === undefined);
  }

  private admits(request: Request): boolean {
    return this.problem === undefined || (this.takesCancels && !placesOrders(request));
  }

  private mayDispatch(running: number): boolean {
    return (
      this.hasBegun &&
      !this.stopped &&
      (this.problem === undefined || this.takesCancels) &&
      this.running < running &&
      this.freeSlots.length > 0 &&
      this.unjournaled.hasRoom
    );
  }

  /**
   * Slot and ticket are taken once all of it lies in the slot: a ticket without a worker would keep
   * the turn for ever.
   */
  private dispatch({ requests, times }: Share): void {
    const number = this.nextTicket;
    const slot = this.freeSlots.at(-1)!;
    const view = this.views[slot]!;
    try {
      const persistedClosedSequence = this.o.closedPersisted();
      fillSlot(view, { ticket: number, time: this.lastTime, persistedClosedSequence }, requests);
    } catch (error) {
      this.o.warn(`a batch could not be handed to a worker: ${(error as Error).message}`);
      this.queue.leave(requests);
      failAll(requests.filter(isProven));
      return;
    }
    const commands = this.unjournaled.enter(requests);
    const ticket: Ticket = {
      ...{ number, slot, commands, requests, times },
      ...{ finished: false, large: undefined },
    };
    this.freeSlots.pop();
    this.nextTicket = (number + 1) | 0;
    view.setState(SlotState.verifying);
    this.o.meters?.dispatched(times);
    this.tickets.push(ticket);
    this.running += 1;
    this.run(ticket);
    if (requests[0]?.prove !== undefined) this.settleProof(ticket, view);
  }

  /** Looks at what is left of its caller's credentials, while a worker has begun; it waits before its turn. */
  private settleProof(ticket: Ticket, view: SlotView): void {
    const { requests } = ticket;
    let isGiven = false;
    try {
      isGiven = isProven(requests[0]!);
    } finally {
      if (!isGiven) {
        ticket.requests = [];
        ticket.times = [];
        this.queue.leave(requests);
      }
      view.setProof(isGiven);
    }
  }

  private run(ticket: Ticket): void {
    const done = (large: Int32Array | undefined): void => {
      ticket.large = large;
      this.finish(ticket);
    };
    const failed = (error: Error): void => this.fail(ticket, error);
    try {
      this.o.pool.run(ticket.slot, done, failed);
    } catch (error) {
      // A pool that throws is one whose worker died before its turn.
      queueMicrotask(() => failed(error as Error));
    }
  }

  private finish(ticket: Ticket): void {
    this.running -= 1;
    ticket.finished = true;
    this.collectReady();
  }

  /** A worker threw or died: what that means depends on how far it had come. */
  private fail(ticket: Ticket, error: Error): void {
    const view = this.views[ticket.slot]!;
    const state = view.state();
    const isPoisoned = Atomics.load(this.control, Control.poisoned) !== 0;
    if (isPoisoned || state === SlotState.applying) {
      this.stop(new Error(`a worker died inside its turn: ${error.message}`));
      return;
    }
    this.o.warn(`a worker failed on ticket ${ticket.number}: ${error.message}`);
    // Dead while verifying: its turn is passed on once it comes, never earlier.
    if (state === SlotState.verifying) {
      this.passWhenDue(ticket);
      return;
    }
    // It may have died between saying so and passing its turn on.
    const { number } = ticket;
    if (Atomics.load(this.control, Control.turn) === number) leaveTurn(this.control, number);
    this.finish(ticket);
  }

  private passWhenDue(ticket: Ticket): void {
    if (this.stopped) return;
    // It may have died between taking its turn and saying so.
    const mark = (ticket.number + 1) | 0;
    if (mark !== 0 && Atomics.load(this.control, Control.writer) === mark) {
      this.stop(new Error('a worker died inside its turn'));
      return;
    }
    if (passTurn(this.control, ticket.number)) {
      this.views[ticket.slot]!.setState(SlotState.failed);
      this.finish(ticket);
      return;
    }
    setImmediate(() => this.passWhenDue(ticket));
  }

  private collectReady(): void {
    while (this.tickets[0]?.finished === true) this.collect(this.tickets.shift()!);
    for (const callback of this.settled.splice(0)) callback();
    this.armExpiry();
    this.pump();
  }

  /** Appends what a finished ticket changed to the log, and answers once that is durable. */
  private collect(ticket: Ticket): void {
    const view = this.views[ticket.slot]!;
    const { log, meters } = this.o;
    const appended = meters?.now() ?? 0;
    const entry = hasChanged(view) ? logEntryOf(view) : undefined;
    const durable =
      entry === undefined ? log.whenDurable() : log.append([entry], entry.sequence - 1);
    // The rest is taken out of the slot while the disk is at it.
    const kept = this.keep(ticket, view);
    durable.then(
      () => this.acknowledge(ticket, kept, appended),
      (error: Error) => this.giveUp(ticket, error),
    );
  }

  private acknowledge(ticket: Ticket, kept: KeptBatch, appended: number): void {
    const { meters } = this.o;
    const { batch, deliver, endFill, sequence } = kept;
    this.unjournaled.leave(ticket.commands);
    const flushed = meters?.now() ?? 0;
    // Clients that wait are answered before anybody else learns of the batch.
    deliver();
    meters?.answered(appended, flushed, ticket.times);
    if (batch !== undefined) this.o.onFlushed(sequence, endFill, batch);
    this.pump();
  }

  /** The log failed, and may or may not hold the batch: its requests are not acknowledged. */
  private giveUp(ticket: Ticket, error: Error): void {
    this.stop(error);
    this.unjournaled.leave(ticket.commands);
    for (const request of ticket.requests) fail(request, 'unavailable');
  }

  /** Takes the outcome of a ticket out of its slot, which is free then. */
  private keep({ large, requests, slot }: Ticket, view: SlotView): KeptBatch {
    const kept = keepBatch(view, requests, large);
    if (view.state() !== SlotState.failed) this.o.meters?.applied(view);
    view.setState(SlotState.free);
    this.queue.leave(requests);
    this.freeSlots.push(slot);
    return kept;
  }

  private refuseWaiting(): void {
    for (const request of this.queue.takeAll()) {
      if (!this.stopped && this.admits(request)) {
        this.queue.push(request, this.o.meters?.now() ?? 0);
      } else if (isProven(request)) {
        if (this.stopped) fail(request, 'unavailable');
        else refuse(request);
      }
    }
  }

  /** An empty batch at the earliest expiry, so that orders leave although nobody trades. */
  private armExpiry(): void {
    const isIdle = this.hasBegun && !this.stopped && !this.isPaused() && this.tickets.length === 0;
    if (isIdle) this.expiry.arm();
    else this.expiry.disarm();
  }
}
