/**
 * Projector thread as seen by the I/O thread: the batches that it may read, its progress, and its messages.
 *
 * Thread: I/O. Not here: the projection (storage/projection).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { saysOutOfFiles } from '../../storage/files/out-of-files.ts';
import { startThread } from '../../storage/files/thread.ts';
import type { DerivedPosition } from '../../storage/projection/derived.ts';
import { ProjectorLink } from '../../storage/projection/projector-link.ts';
import type {
  ProjectorMessage,
  ProjectorSetup,
} from '../../storage/projection/projector-thread.ts';

export interface ProjectorServiceOptions {
  readonly setup: Omit<ProjectorSetup, 'link'>;
  readonly position: DerivedPosition;
  readonly durable: number;
  /** Called after a snapshot with the oldest batch that recovery may begin with. */
  readonly onSnapshot: (older: number) => void;
  /** Called when a write fails, and with `undefined` when writes succeed again. */
  readonly onProblem: (problem: string | undefined) => void;
  readonly onFatal: (error: Error) => void;
  readonly log: (level: 'info' | 'warn', line: string) => void;
  readonly now: () => number;
}

export interface ProjectorProgress {
  /** Sequences of the newest durable batch, and of the newest projected one. */
  readonly durable: number;
  readonly derived: number;
  /** Age of the oldest durable batch that is not projected, in milliseconds; 0 = there is none. */
  readonly behindMs: number;
  /** The newest snapshot since the start; `at` in unix milliseconds. */
  readonly snapshot: { readonly sequence: number; readonly at: number } | undefined;
}

const RETRY_MS = 1_000;
const LOOK_MS = 5;
const REACH_MS_MAX = 5_000;
const MARKS_MAX = 1_024;
const MARK_MS = 20;

export class ProjectorService {
  private readonly link = new ProjectorLink();
  private thread: Worker | undefined;
  private ended: Promise<void> | undefined;
  private readonly options: ProjectorServiceOptions;
  private durable: number;
  private snapshot: ProjectorProgress['snapshot'];
  /** Times at which batches up to `sequence` became durable, oldest first. */
  private marks: { readonly sequence: number; readonly at: number }[] = [];
  private isStopping = false;
  private hasBegun = false;
  private retry: NodeJS.Timeout | undefined;

  constructor(options: ProjectorServiceOptions) {
    this.options = options;
    this.durable = options.durable;
    const { link } = this;
    link.publish(options.position);
    link.reach(options.durable);
  }

  /** Starts the thread unless it runs. It loads tables first, so a node calls this late in its start. */
  start(): void {
    if (this.thread !== undefined) return;
    const file = new URL('../../storage/projection/projector-thread', import.meta.url);
    const workerData: ProjectorSetup = { ...this.options.setup, link: this.link.memory };
    const thread = startThread(file, { workerData });
    thread.on('message', (message: ProjectorMessage) => this.onMessage(message));
    thread.on('error', (error) => this.fail(new Error(`follower: ${error.message}`)));
    // A promise of once() would also reject with the error, and nobody handles it before the end.
    this.ended = new Promise((resolve) => {
      thread.on('exit', () => {
        if (thread === this.thread && !this.isStopping)
          this.fail(new Error('follower: its thread ended'));
        resolve();
      });
    });
    this.thread = thread;
  }

  /** Lets the thread read batches up to `sequence`, which are durable. */
  reach(sequence: number): void {
    this.durable = sequence;
    this.link.reach(sequence);
    const at = this.options.now();
    const newest = this.marks.at(-1);
    if (newest !== undefined && at - newest.at < MARK_MS) return;
    this.forgetMarks();
    if (this.marks.length === MARKS_MAX) this.marks = this.marks.filter((_, i) => i % 2 === 0);
    this.marks.push({ sequence, at });
  }

  progress(): ProjectorProgress {
    this.forgetMarks();
    const derived = this.link.sequence();
    const [oldest] = this.marks;
    const behindMs =
      derived >= this.durable || oldest === undefined ? 0 : this.options.now() - oldest.at;
    return { durable: this.durable, derived, behindMs, snapshot: this.snapshot };
  }

  /** Closed sequence of the first closed order that is not on disk. */
  closedPersisted(): number {
    return this.link.closedPersisted();
  }

  /** Resolves when orders before this closed sequence are on disk, or the projector ends. */
  async whenClosedPersisted(closed: number, signal: AbortSignal | undefined): Promise<void> {
    while (this.closedPersisted() < closed && !this.isStopping && signal?.aborted !== true) {
      await sleep(LOOK_MS);
    }
  }

  /** Resolves when batches up to this batch sequence are projected, or after a bounded wait. */
  async whenProjected(sequence: number): Promise<void> {
    const until = this.options.now() + REACH_MS_MAX;
    while (this.link.sequence() < sequence && !this.isStopping && this.options.now() < until) {
      await sleep(LOOK_MS);
    }
  }

  /** Resolves when all durable batches are projected, a snapshot is on disk, and the thread has ended. */
  async close(): Promise<void> {
    this.isStopping = true;
    clearTimeout(this.retry);
    this.link.stop();
    await this.ended;
  }

  private begun(): void {
    this.hasBegun = true;
    if (this.retry !== undefined) this.options.onProblem(undefined);
  }

  /** Drops marks of projected batches. The newest mark stands for batches shortly after it. */
  private forgetMarks(): void {
    const derived = this.link.sequence();
    if (derived >= this.durable) this.marks = [];
    while (this.marks.length > 1 && this.marks[1]!.sequence <= derived) this.marks.shift();
  }

  /**
   * Reports the first failure; one after the stop is only logged. A thread that could not open a file is started
   * again: connections may have used up the files.
   */
  private fail(error: Error): void {
    if (!this.isStopping && !this.hasBegun && saysOutOfFiles(error.message)) {
      this.thread = undefined;
      this.options.onProblem(error.message);
      this.retry = setTimeout(() => this.start(), RETRY_MS);
      return;
    }
    if (this.isStopping) {
      this.options.log('warn', error.message);
      return;
    }
    this.isStopping = true;
    this.options.onFatal(error);
  }

  private onMessage(message: ProjectorMessage): void {
    if (message.kind === 'begun') this.begun();
    else if (message.kind === 'line') this.options.log(message.level, message.line);
    else if (message.kind === 'problem') this.options.onProblem(message.problem);
    else if (message.kind === 'fatal') this.fail(new Error(message.why));
    else {
      this.snapshot = { sequence: message.sequence, at: this.options.now() };
      if (message.older !== undefined) this.options.onSnapshot(message.older);
    }
  }
}
