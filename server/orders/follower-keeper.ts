/**
 * The follower's thread as the I/O thread sees it: how far it may read, how far it has come, and its
 * messages. None of its work stands between an order and its answer.
 *
 * Thread: the I/O thread.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { saysOutOfFiles } from '../../storage/files/out-of-files.ts';
import { startThread } from '../../storage/files/thread.ts';
import type { DerivedPosition } from '../../storage/projection/derived.ts';
import { FollowerLink } from '../../storage/projection/follower-link.ts';
import type { FollowerMessage, FollowerSetup } from '../../storage/projection/follower-thread.ts';

export interface FollowerKeeperOptions {
  readonly setup: Omit<FollowerSetup, 'link'>;
  /** What is derived already. */
  readonly position: DerivedPosition;
  /** Batches that are in the log. */
  readonly durable: number;
  /** Recovery may begin with an image of this batch, and needs what follows it. */
  readonly onSnapshot: (older: number) => void;
  /** It can write nothing, for this reason; or, undefined, it can again. */
  readonly onProblem: (problem: string | undefined) => void;
  readonly onFatal: (error: Error) => void;
  readonly log: (level: 'info' | 'warn', line: string) => void;
  readonly now: () => number;
}

/** How far behind the log it is. */
export interface FollowerProgress {
  /** Batches that are durable, and those of them that are derived. */
  readonly durable: number;
  readonly derived: number;
  /** Milliseconds since the oldest batch that is not derived was durable; 0 = there is none. */
  readonly behindMs: number;
  /** The newest image since the start, and when it was there (unix milliseconds). */
  readonly snapshot: { readonly sequence: number; readonly at: number } | undefined;
}

/** Until a thread that could not begin is started again. */
const RETRY_MS = 1_000;
/** Between two looks at how far it has come. */
const LOOK_MS = 5;
/** Who waits for it goes on with what is there. */
const REACH_MS_MAX = 5_000;
/** Moments that are remembered of what is not derived: so many, at such a distance at least. */
const MARKS_MAX = 1_024;
const MARK_MS = 20;

export class FollowerKeeper {
  private readonly link = new FollowerLink();
  private thread: Worker | undefined;
  /** Undefined until it is started. */
  private ended: Promise<void> | undefined;
  private readonly o: FollowerKeeperOptions;
  private durable: number;
  private snapshot: FollowerProgress['snapshot'];
  /** When batches up to `sequence` began to be durable, oldest first. */
  private marks: { readonly sequence: number; readonly at: number }[] = [];
  private isStopping = false;
  /** Its thread has opened what it needs. */
  private hasBegun = false;
  /** Starts it once more. */
  private retry: NodeJS.Timeout | undefined;

  constructor(options: FollowerKeeperOptions) {
    this.o = options;
    this.durable = options.durable;
    const { link } = this;
    link.publish(options.position);
    link.reach(options.durable);
  }

  /**
   * Starts its thread, unless it runs: it loads tables of its own first, so not beside what a start of the node
   * waits for.
   */
  start(): void {
    if (this.thread !== undefined) return;
    const file = new URL('../../storage/projection/follower-thread', import.meta.url);
    const workerData: FollowerSetup = { ...this.o.setup, link: this.link.memory };
    const thread = startThread(file, { workerData });
    thread.on('message', (message: FollowerMessage) => this.onMessage(message));
    thread.on('error', (error) => this.fail(new Error(`follower: ${error.message}`)));
    // A promise of once() would reject with the error, too, and nobody handles it before the end.
    this.ended = new Promise((resolve) => {
      thread.on('exit', () => {
        if (thread === this.thread && !this.isStopping)
          this.fail(new Error('follower: its thread ended'));
        resolve();
      });
    });
    this.thread = thread;
  }

  /** Batches up to `sequence` are durable now. */
  reach(sequence: number): void {
    this.durable = sequence;
    this.link.reach(sequence);
    const at = this.o.now();
    const newest = this.marks.at(-1);
    if (newest !== undefined && at - newest.at < MARK_MS) return;
    this.forgetMarks();
    if (this.marks.length === MARKS_MAX) this.marks = this.marks.filter((_, i) => i % 2 === 0);
    this.marks.push({ sequence, at });
  }

  progress(): FollowerProgress {
    this.forgetMarks();
    const derived = this.link.sequence();
    const [oldest] = this.marks;
    const behindMs = derived >= this.durable || oldest === undefined ? 0 : this.o.now() - oldest.at;
    return { durable: this.durable, derived, behindMs, snapshot: this.snapshot };
  }

  /** Orders that finished before this one have their final state on disk. */
  finished(): number {
    return this.link.finished();
  }

  /** Resolves when the orders that finished before this one have theirs, or it cannot be. */
  async derived(finished: number, signal: AbortSignal | undefined): Promise<void> {
    while (this.finished() < finished && !this.isStopping && signal?.aborted !== true) {
      await sleep(LOOK_MS);
    }
  }

  /** Resolves when batches up to this one are derived; where that takes long, before. */
  async reached(sequence: number): Promise<void> {
    const until = this.o.now() + REACH_MS_MAX;
    while (this.link.sequence() < sequence && !this.isStopping && this.o.now() < until) {
      await sleep(LOOK_MS);
    }
  }

  /** Resolves when all that is durable is derived, an image is on disk, and the thread has ended. */
  async close(): Promise<void> {
    this.isStopping = true;
    clearTimeout(this.retry);
    this.link.stop();
    await this.ended;
  }

  private begun(): void {
    this.hasBegun = true;
    if (this.retry !== undefined) this.o.onProblem(undefined);
  }

  /** Those of batches that are derived; the newest stands for what came shortly after it. */
  private forgetMarks(): void {
    const derived = this.link.sequence();
    if (derived >= this.durable) this.marks = [];
    while (this.marks.length > 1 && this.marks[1]!.sequence <= derived) this.marks.shift();
  }

  /**
   * The first reason counts; one that comes after the thread was stopped is only logged. A thread that could not
   * begin because no file could be opened is started again: connections may have used them up.
   */
  private fail(error: Error): void {
    if (!this.isStopping && !this.hasBegun && saysOutOfFiles(error.message)) {
      this.thread = undefined;
      this.o.onProblem(error.message);
      this.retry = setTimeout(() => this.start(), RETRY_MS);
      return;
    }
    if (this.isStopping) {
      this.o.log('warn', error.message);
      return;
    }
    this.isStopping = true;
    this.o.onFatal(error);
  }

  private onMessage(message: FollowerMessage): void {
    if (message.kind === 'begun') this.begun();
    else if (message.kind === 'line') this.o.log(message.level, message.line);
    else if (message.kind === 'problem') this.o.onProblem(message.problem);
    else if (message.kind === 'fatal') this.fail(new Error(message.why));
    else {
      this.snapshot = { sequence: message.sequence, at: this.o.now() };
      if (message.older !== undefined) this.o.onSnapshot(message.older);
    }
  }
}
