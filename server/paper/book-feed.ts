/**
 * One mirrored book: takes the messages of its source in their order, finds out when they cannot be trusted, and
 * gives them to the engine a bounded number of times a second, one batch at a time.
 *
 *   live -> in doubt (its levels stay) -> paused (its levels are withdrawn) -> live, by a snapshot
 *
 * Thread: the I/O thread. Not here: connections and requests (mirror.ts), what a message means to the levels of the
 * engine (market-mirror.ts).
 */
import { performance } from 'node:perf_hooks';
import type { BookStep, SourceLevels, SourceStep } from '../../engine/paper/source-step.ts';
import type { SourceSnapshot } from '../../storage/recordings/source-message.ts';
import { hashFits } from './book-hash.ts';
import type { Doubt } from './doubts.ts';

export interface FeedParts {
  /** Least milliseconds between two batches. */
  readonly paceMs: number;
  /** How long the levels of a book in doubt stay. */
  readonly graceMs: number;
  /** Gives steps to the engine; resolves with why the book needs a snapshot after them. */
  readonly apply: (steps: readonly SourceStep[]) => Promise<Doubt | undefined>;
  /** A snapshot is wanted: `snapshot` is called with it. */
  readonly wanted: () => void;
  readonly onDoubt: (reason: Doubt) => void;
  /** Whether the source makes hashes as this node does. */
  readonly checksHashes: () => boolean;
}

/** State of a book when a snapshot is requested. */
export interface FeedMark {
  readonly newestAt: number;
  readonly doubts: number;
}

/** Messages that may wait, for a snapshot or for the engine; beyond, a new snapshot replaces them. */
const WAITING_MAX = 10_000;
/** No message of a sound source is so much older than an answer of it, nor so far in the future. */
const TIMES_APART_MS = 60_000;
const CLEAR: SourceStep = { kind: 'clear', at: 0 };

export class BookFeed {
  private readonly o: FeedParts;
  private reason: Doubt | undefined = 'starting';
  private since = Date.now();
  /** How often it was doubted. */
  private doubts = 0;
  private isWithdrawn = false;
  private grace: NodeJS.Timeout | undefined;
  /** Came while the book was in doubt. */
  private waiting: SourceStep[] = [];
  /** Of the newest message about levels; a snapshot from before it is too old. */
  private newestAt = 0;
  /** Messages from before this are in the snapshot already. */
  private knownTo = 0;
  private steps: SourceStep[] = [];
  private timer: NodeJS.Timeout | NodeJS.Immediate | undefined;
  private isApplying = false;
  /** Monotonic milliseconds. */
  private nextAt = 0;
  private isClosed = false;

  constructor(parts: FeedParts) {
    this.o = parts;
    this.grace = setTimeout(() => this.withdraw(), parts.graceMs);
  }

  /** Why it may differ from its source; undefined = it does not. */
  get doubt(): Doubt | undefined {
    return this.reason;
  }

  /** Since when (unix milliseconds) it is in doubt. */
  get doubtedSince(): number {
    return this.since;
  }

  get isPaused(): boolean {
    return this.isWithdrawn;
  }

  /** What a request for a snapshot has to remember. */
  get mark(): FeedMark {
    return { newestAt: this.newestAt, doubts: this.doubts };
  }

  /** The next message of its stream. */
  take(message: BookStep | SourceSnapshot): void {
    if (message.kind === 'print') {
      this.follow([message]);
      return;
    }
    if (message.at < this.knownTo) {
      if (message.at >= this.knownTo - TIMES_APART_MS) return;
      // One of both times is wrong: what was left out because of it would be missing.
      this.distrust('time');
    }
    if (message.kind === 'changes') {
      this.newestAt = Math.max(this.newestAt, message.at);
      this.follow([message]);
      return;
    }
    // The clock of a source that has started again may be behind.
    this.newestAt = message.at;
    const isDamaged = 'json' in message && this.o.checksHashes() && !hashFits(message.json);
    if (isDamaged) this.distrust('hash');
    else if (isCrossed(message)) this.distrust('crossed');
    // What waits came before this book.
    else this.trust([...this.waiting.filter(isPrint), message]);
  }

  /** Messages may have been missed, or mean something else than was understood. */
  distrust(reason: Doubt): void {
    if (this.isClosed) return;
    this.doubts += 1;
    this.knownTo = 0;
    if (this.reason !== reason) this.o.onDoubt(reason);
    if (this.reason === undefined) {
      this.since = Date.now();
      this.grace ??= setTimeout(() => this.withdraw(), this.o.graceMs);
    }
    this.reason = reason;
    this.o.wanted();
  }

  /**
   * The answer to a request for its snapshot.
   * @param mark as it was when the request was sent
   */
  snapshot(answer: SourceSnapshot, mark: FeedMark): void {
    if (this.reason === undefined || this.isClosed) return;
    // A time of the stream that was wrong must not outdo all answers for good.
    const isWrong = this.newestAt > Date.now() + TIMES_APART_MS;
    if (isWrong && answer.at < this.newestAt - TIMES_APART_MS) this.newestAt = 0;
    // It may be from before what was missed meanwhile, or from before what the stream has said.
    if (mark.doubts !== this.doubts || answer.at < mark.newestAt) this.o.wanted();
    else if (isCrossed(answer)) this.distrust('crossed');
    else {
      this.knownTo = answer.at;
      const after = this.waiting.filter((step) => isPrint(step) || step.at >= answer.at);
      this.trust([answer, ...after]);
    }
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.grace);
    this.steps = [];
  }

  private trust(steps: readonly SourceStep[]): void {
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
      this.distrust('behind');
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
    this.nextAt = performance.now() + this.o.paceMs;
    this.isApplying = true;
    // Rejects when the node takes nothing more.
    const doubt = await this.o.apply(this.steps.splice(0)).catch(() => 'behind' as const);
    this.isApplying = false;
    if (doubt !== undefined) this.distrust(doubt);
    this.schedule();
  }
}

function isPrint({ kind }: SourceStep): boolean {
  return kind === 'print';
}

/** Whether the best bid is not below the best ask. */
function isCrossed({ asks, bids }: SourceLevels): boolean {
  let bid = 0;
  let ask = Number.POSITIVE_INFINITY;
  for (const { pips, size } of bids) if (size > 0) bid = Math.max(bid, pips);
  for (const { pips, size } of asks) if (size > 0) ask = Math.min(ask, pips);
  return bid >= ask;
}
