/**
 * One mirrored book: takes the messages of its source in order, detects when it is stale, and sends batches to the
 * engine, one at a time and a bounded number a second.
 *
 * live -> stale (its levels stay) -> paused (its levels are withdrawn) -> live, by a snapshot
 *
 * Thread: the I/O thread. Not here: connections and requests (book-mirror.ts), the effect of a message on the levels
 * of the engine (market-mirror.ts).
 */
import { performance } from 'node:perf_hooks';
import type { BookStep, SourceLevels, SourceStep } from '../../engine/paper/source-step.ts';
import type { SourceSnapshot } from '../../storage/recordings/source-message.ts';
import { hashFits } from './book-hash.ts';
import type { StaleReason } from './stale-books.ts';

export interface FeedParts {
  readonly paceMs: number;
  /** Milliseconds for which the levels of a stale book stay. */
  readonly graceMs: number;
  readonly apply: (steps: readonly SourceStep[]) => Promise<StaleReason | undefined>;
  readonly wanted: () => void;
  readonly onStale: (reason: StaleReason) => void;
  readonly checksHashes: () => boolean;
}

export interface FeedMark {
  readonly newestAt: number;
  readonly staleCount: number;
}

/** Messages that wait for a snapshot or for the engine. A new snapshot replaces more of them. */
const WAITING_MAX = 10_000;
/** Largest difference between a message and an answer of a sound source, and largest time in the future. */
const TIMES_APART_MS = 60_000;
const CLEAR: SourceStep = { kind: 'clear', at: 0 };

export class BookFeed {
  private readonly parts: FeedParts;
  private reason: StaleReason | undefined = 'starting';
  private since = Date.now();
  private staleCount = 0;
  private isWithdrawn = false;
  private grace: NodeJS.Timeout | undefined;
  private waiting: SourceStep[] = [];
  /** Time of the newest message about levels. An older snapshot is refused. */
  private newestAt = 0;
  /** Time of the applied snapshot, which includes earlier messages. */
  private knownTo = 0;
  private steps: SourceStep[] = [];
  private timer: NodeJS.Timeout | NodeJS.Immediate | undefined;
  private isApplying = false;
  /** Monotonic milliseconds. */
  private nextAt = 0;
  private isClosed = false;

  constructor(parts: FeedParts) {
    this.parts = parts;
    this.grace = setTimeout(() => this.withdraw(), parts.graceMs);
  }

  /** Reason why the book may differ from its source; undefined while live. */
  get staleReason(): StaleReason | undefined {
    return this.reason;
  }

  get staleSince(): number {
    return this.since;
  }

  get isPaused(): boolean {
    return this.isWithdrawn;
  }

  get mark(): FeedMark {
    return { newestAt: this.newestAt, staleCount: this.staleCount };
  }

  take(message: BookStep | SourceSnapshot): void {
    if (message.kind === 'print') {
      this.follow([message]);
      return;
    }
    if (message.at < this.knownTo) {
      if (message.at >= this.knownTo - TIMES_APART_MS) return;
      // One of both times is wrong: what was left out because of it would be missing.
      this.markStale('time');
    }
    if (message.kind === 'changes') {
      this.newestAt = Math.max(this.newestAt, message.at);
      this.follow([message]);
      return;
    }
    // The clock of a source that has started again may be behind.
    this.newestAt = message.at;
    const isDamaged = 'json' in message && this.parts.checksHashes() && !hashFits(message.json);
    if (isDamaged) this.markStale('hash');
    else if (isCrossed(message)) this.markStale('crossed');
    // What waits came before this book.
    else this.makeLive([...this.waiting.filter(isPrint), message]);
  }

  markStale(reason: StaleReason): void {
    if (this.isClosed) return;
    this.staleCount += 1;
    this.knownTo = 0;
    if (this.reason !== reason) this.parts.onStale(reason);
    if (this.reason === undefined) {
      this.since = Date.now();
      this.grace ??= setTimeout(() => this.withdraw(), this.parts.graceMs);
    }
    this.reason = reason;
    this.parts.wanted();
  }

  /**
   * Applies the answer to a snapshot request.
   * @param mark as it was when the request was sent
   */
  snapshot(answer: SourceSnapshot, mark: FeedMark): void {
    if (this.reason === undefined || this.isClosed) return;
    // A time of the stream that was wrong must not outdo all answers for good.
    const isWrong = this.newestAt > Date.now() + TIMES_APART_MS;
    if (isWrong && answer.at < this.newestAt - TIMES_APART_MS) this.newestAt = 0;
    // It may be from before what was missed meanwhile, or from before what the stream has said.
    if (mark.staleCount !== this.staleCount || answer.at < mark.newestAt) this.parts.wanted();
    else if (isCrossed(answer)) this.markStale('crossed');
    else {
      this.knownTo = answer.at;
      const after = this.waiting.filter((step) => isPrint(step) || step.at >= answer.at);
      this.makeLive([answer, ...after]);
    }
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.grace);
    this.steps = [];
  }

  private makeLive(steps: readonly SourceStep[]): void {
    const begin = this.reason === undefined ? [] : [CLEAR];
    clearTimeout(this.grace);
    this.grace = undefined;
    this.reason = undefined;
    this.isWithdrawn = false;
    this.waiting = [];
    this.follow([...begin, ...steps]);
  }

  private follow(steps: readonly SourceStep[]): void {
    if (this.reason !== undefined) {
      if (this.waiting.length >= WAITING_MAX) this.waiting = [];
      this.waiting.push(...steps);
      return;
    }
    this.steps.push(...steps);
    if (this.steps.length > WAITING_MAX) {
      this.steps = [];
      this.markStale('behind');
    } else this.schedule();
  }

  private withdraw(): void {
    this.grace = undefined;
    this.isWithdrawn = true;
    this.steps = [...this.steps.filter(isPrint), CLEAR];
    this.schedule();
  }

  private schedule(): void {
    const isIdle = this.timer === undefined && !this.isApplying && !this.isClosed;
    if (!isIdle || this.steps.length === 0) return;
    const waitMs = this.nextAt - performance.now();
    const run = (): void => {
      this.timer = undefined;
      void this.run();
    };
    // What comes with the same read of the socket goes together.
    this.timer = waitMs > 0 ? setTimeout(run, waitMs) : setImmediate(run);
  }

  private async run(): Promise<void> {
    if (this.isClosed || this.steps.length === 0) return;
    this.nextAt = performance.now() + this.parts.paceMs;
    this.isApplying = true;
    // Rejects when the node takes nothing more.
    const reason = await this.parts.apply(this.steps.splice(0)).catch(() => 'behind' as const);
    this.isApplying = false;
    if (reason !== undefined) this.markStale(reason);
    this.schedule();
  }
}

function isPrint({ kind }: SourceStep): boolean {
  return kind === 'print';
}

function isCrossed({ asks, bids }: SourceLevels): boolean {
  let bid = 0;
  let ask = Number.POSITIVE_INFINITY;
  for (const { pips, size } of bids) if (size > 0) bid = Math.max(bid, pips);
  for (const { pips, size } of asks) if (size > 0) ask = Math.min(ask, pips);
  return bid >= ask;
}
