/**
 * A sequencer with a log that the test opens (log-gate.ts) and workers that the test plays. Batches
 * take their writer turns, and tasks end or fail, when the test says so.
 */
import assert from 'node:assert/strict';
import { CommandBuffer } from '../../engine/commands.ts';
import { Engine } from '../../engine/engine.ts';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import { BATCH_COMMANDS_MAX } from '../../engine/tables/capacities.ts';
import { allocateEngine, Tables } from '../../engine/tables/tables.ts';
import {
  orderRequest,
  type RequestOwner,
} from '../../server/orders/exchange-memory/slot-requests.ts';
import {
  align,
  allocateSlots,
  awaitWriterTurn,
  Control,
  enterWriterTurn,
  leaveWriterTurn,
  RequestHead,
  RequestKind,
  Slot,
  SlotState,
  SlotView,
} from '../../server/orders/exchange-memory/slots.ts';
import { Sequencer } from '../../server/orders/intake/sequencer.ts';
import { ResultWriter } from '../../server/orders/worker/answers.ts';
import { encodeExpiring } from '../engine/expiring-order.ts';
import { Gate } from '../storage/log-gate.ts';
import { TIGHT } from '../storage/stored-exchange.ts';

const OWNER: RequestOwner = {
  apiKeyBytes: new Uint8Array(16).fill(1),
  address: new Uint8Array(20).fill(2),
};

/** One task of the pool, from a worker's view. */
export interface Task {
  readonly dispatchSequence: number;
  readonly view: SlotView;
  readonly bodies: readonly string[];
  readonly time: number;
  resolve(): void;
  reject(error: Error): void;
}

export interface Answer {
  readonly name: string;
  readonly status: number;
  readonly body: string;
}

export class Stage {
  readonly gate = new Gate();
  readonly tables = new Tables(allocateEngine(TIGHT));
  readonly sequencer: Sequencer;
  readonly control: Int32Array;
  readonly tasks: Task[] = [];
  readonly answers: Answer[] = [];
  readonly fatal: string[] = [];
  readonly lines: string[] = [];
  readonly flushed: number[] = [];
  /** Batch times that were sent to streams. */
  readonly told: number[] = [];
  time = 1_000;
  /** Closed orders whose final state is on disk. */
  closedPersisted = 7;
  failsToRun = false;
  private readonly writer = new ResultWriter();
  private sequence = 0;

  constructor(
    workers: number,
    queueMax = 1_000,
    prefetch = 0,
    begins = true,
    now: () => number = () => this.time,
  ) {
    const slots = allocateSlots(2 * workers, 4_096, BATCH_COMMANDS_MAX);
    const views = slots.slots.map((buffer) => new SlotView(buffer, slots.sizes));
    this.control = new Int32Array(slots.control);
    this.sequencer = new Sequencer({
      tables: this.tables,
      slots,
      pool: {
        run: (slot, done, failed) => {
          assert(!this.failsToRun, 'the pool is closed');
          assert(this.tasks.length < workers + prefetch, 'no more than the pool has room for');
          this.tasks.push(taskOf(views[slot]!, () => done(undefined), failed));
        },
        loaded: () => Promise.resolve(),
        close: () => Promise.resolve(),
      },
      log: this.gate.log,
      workers,
      prefetch,
      queueMax,
      now,
      closedPersisted: () => this.closedPersisted,
      onFlushed: (batch) => {
        this.flushed.push(batch.sequence);
        this.told.push(batch.time);
      },
      onFatal: (error) => this.fatal.push(error.message),
      warn: (line) => this.lines.push(line),
      metrics: undefined,
    });
    if (begins) this.sequencer.begin();
  }

  submit(name: string, kind: number = RequestKind.orders): void {
    const answered = (status: number, body: Uint8Array | string): void => {
      this.answers.push({ name, status, body: Buffer.from(body).toString() });
    };
    const request = orderRequest(RequestKind.orders, OWNER, Buffer.from(name), answered);
    this.sequencer.submit({ ...request, kind });
  }

  /** Submits the next part of a request that was taken before. */
  resume(name: string): void {
    const body = Buffer.from(name);
    const answered = (status: number, answer: Uint8Array | string): void => {
      this.answers.push({ name, status, body: Buffer.from(answer).toString() });
    };
    const { orders: kind } = RequestKind;
    this.sequencer.resume({ kind, owner: OWNER, body, weight: body.length, answered });
  }

  /**
   * Takes the task's turn: each request is answered by its own text; returns its batch sequence, if
   * any.
   */
  turn(task: Task, options: { readonly changed: boolean }): number | undefined {
    const { view } = task;
    awaitWriterTurn(this.control, task.dispatchSequence);
    enterWriterTurn(this.control, task.dispatchSequence);
    view.setState(SlotState.applying);
    this.writer.start(view);
    for (const body of task.bodies) this.writer.whole(200, Buffer.from(`answer to ${body}`));
    this.writer.finish();
    if (options.changed) this.sequence += 1;
    view.i32[Slot.changed] = options.changed ? 1 : 0;
    view.i32[Slot.logWords] = 0;
    view.f64[Slot.sequence] = this.sequence;
    view.f64[Slot.firstFill] = 0;
    view.f64[Slot.endFill] = 0;
    view.setState(SlotState.done);
    leaveWriterTurn(this.control, task.dispatchSequence);
    return options.changed ? this.sequence : undefined;
  }

  /** Ends a task: resolves, or rejects like a worker that threw or died. */
  async end(task: Task, failure?: string): Promise<void> {
    this.tasks.splice(this.tasks.indexOf(task), 1);
    if (failure === undefined) task.resolve();
    else task.reject(new Error(failure));
    await new Promise((resolve) => setImmediate(resolve));
  }

  async run(task: Task, changed = true): Promise<void> {
    this.turn(task, { changed });
    await this.end(task);
  }

  names(): string[] {
    return this.answers.map(({ name, status, body }) =>
      status === 200 && body === `answer to ${name}` ? name : `${name}: ${status} ${body}`,
    );
  }

  turnIs(): number {
    return Atomics.load(this.control, Control.writerTurn);
  }
}

function taskOf(view: SlotView, resolve: () => void, reject: (error: Error) => void): Task {
  const bodies: string[] = [];
  let at = 0;
  for (let i = 0; i < view.i32[Slot.requests]!; i++) {
    const bytes = view.inputWords[at / 4 + RequestHead.bytes]!;
    const bodyAt = at + 4 * RequestHead.words;
    bodies.push(Buffer.from(view.input.slice(bodyAt, bodyAt + bytes)).toString());
    at = bodyAt + align(bytes);
  }
  return {
    dispatchSequence: view.i32[Slot.dispatchSequence]!,
    view,
    bodies,
    time: view.f64[Slot.time]!,
    resolve,
    reject,
  };
}

export function withExpiring(stage: Stage, expiration = 2): Engine {
  const engine = new Engine(stage.tables.memory);
  const out = new CommandBuffer(256);
  const commands = encodeExpiring(out, expiration);
  engine.begin(1_000, 0);
  for (const at of commands) {
    assert.equal(engine.apply(out.i32, out.f64, at), RejectReason.accepted);
  }
  engine.end();
  return engine;
}
