/**
 * One mirrored book: takes the messages of its source in their order, finds out when they cannot be trusted, and
 * gives what they mean to the engine, a bounded number of times a second and one batch at a time.
 *
 *   live -> in doubt (its levels stay) -> paused (its levels are withdrawn) -> live, by a snapshot
 *
 * Thread: the I/O thread. Not here: connections and requests (mirror.ts), which paper orders are filled (the model).
 */
import { performance } from 'node:perf_hooks';
import { hashFits } from './book-hash.ts';
import type { Doubt } from './doubts.ts';
import { SourceLevels } from './source-levels.ts';
import type { SideText, SourceLevel, SourceSnapshot } from './source-message.ts';

interface Change extends SourceLevel {
  readonly kind: 'change';
  readonly side: SideText;
  /** Unix milliseconds, by the clock of the source. */
  readonly at: number;
}
interface Print extends Omit<Change, 'kind'> {
  readonly kind: 'print';
}

/** What is to be given to the engine, in its order. */
export type BookStep =
  | {
      readonly kind: 'levels';
      readonly bids: readonly SourceLevel[];
      readonly asks: readonly SourceLevel[];
    }
  | { readonly kind: 'changes'; readonly changes: Map<number, Omit<Change, 'kind' | 'at'>> }
  | Print;

export interface FeedParts {
  /** Least milliseconds between two batches. */
  readonly paceMs: number;
  /** How long levels of a book in doubt stay. */
  readonly graceMs: number;
  /** Gives the steps to the engine; resolves with false where it has refused a level. */
  readonly apply: (steps: readonly BookStep[]) => Promise<boolean>;
  /** A snapshot is wanted: `snapshot` is called with it. */
  readonly wanted: () => void;
  readonly onDoubt: (reason: Doubt) => void;
  /** Whether the source makes hashes as this node does. */
  readonly checksHashes: () => boolean;
}

/** Messages of a book in doubt; beyond, only a newer snapshot helps. */
const WAITING_MAX = 10_000;
const PIPS_BITS = 15;

export class BookFeed {
  private readonly o: FeedParts;
  private readonly truth = new SourceLevels();
  private reason: Doubt | undefined = 'starting';
  private since = Date.now();
  private isWithdrawn = true;
  private grace: NodeJS.Timeout | undefined;
  /** Came while the book was in doubt. */
  private waiting: (Change | Print)[] = [];
  /** Of the newest message about levels; a snapshot from before it is too old. */
  private newestAt = 0;
  /** Messages from before this are in the snapshot already. */
  private knownTo = 0;
  private steps: BookStep[] = [];
  private timer: NodeJS.Timeout | NodeJS.Immediate | undefined;
  private isApplying = false;
  private nextAt = 0;
  private isClosed = false;
  /** Books of the source that were not what the changes before them had led to. */
  corrected = 0;

  constructor(parts: FeedParts) {
    this.o = parts;
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
  get newest(): number {
    return this.newestAt;
  }

  /** A whole book, in its place among the other messages. */
  book(message: SourceSnapshot): void {
    if (message.at < this.knownTo) return;
    this.newestAt = Math.max(this.newestAt, message.at);
    if (this.o.checksHashes() && !hashFits(message.json)) {
      this.distrust('hash');
      return;
    }
    if (this.reason === undefined) {
      if (this.truth.equals(message.bids, message.asks)) return;
      this.corrected += 1;
    }
    this.truth.replace(message.bids, message.asks);
    if (this.truth.isCrossed) {
      this.distrust('crossed');
      return;
    }
    this.beginWith(message);
    // What waits came before this book.
    this.trust(this.waiting.filter(({ kind }) => kind === 'print'));
  }

  /** @param changes those of one message: it may be crossed in between */
  change(at: number, changes: readonly { side: SideText; pips: number; size: number }[]): void {
    if (at < this.knownTo) return;
    this.newestAt = Math.max(this.newestAt, at);
    const all = changes.map(({ pips, side, size }) => ({
      ...{ kind: 'change' as const, side, pips, size, at },
    }));
    if (this.reason === undefined) this.take(all);
    else this.wait(all);
  }

  print(at: number, { pips, side, size }: { side: SideText; pips: number; size: number }): void {
    const print = { kind: 'print' as const, side, pips, size, at };
    if (this.reason === undefined) this.take([print]);
    else this.wait([print]);
  }

  /** Messages may have been missed, or mean something else than was understood. */
  distrust(reason: Doubt): void {
    if (this.isClosed) return;
    if (this.reason !== reason) this.o.onDoubt(reason);
    if (this.reason === undefined) {
      this.since = Date.now();
      this.waiting = [];
      this.grace ??= setTimeout(() => this.withdraw(), this.o.graceMs);
    }
    this.reason = reason;
    this.o.wanted();
  }

  /**
   * The answer to a request for its snapshot.
   * @param newest as it was when the request was sent
   */
  snapshot(answer: SourceSnapshot, newest: number): void {
    if (this.reason === undefined || this.isClosed) return;
    // The stream was further than this answer.
    if (answer.at < newest) {
      this.o.wanted();
      return;
    }
    this.truth.replace(answer.bids, answer.asks);
    const after = this.waiting.filter(({ at, kind }) => kind === 'print' || at >= answer.at);
    for (const { kind, pips, side, size } of after) {
      if (kind === 'change') this.truth.set(side, pips, size);
    }
    if (this.truth.isCrossed) {
      this.distrust('crossed');
      return;
    }
    this.knownTo = answer.at;
    this.beginWith(answer);
    this.trust(after);
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.grace);
    this.steps = [];
  }

  /** Prints keep their place; levels before it do not count any more. */
  private beginWith({ asks, bids }: Pick<SourceSnapshot, 'asks' | 'bids'>): void {
    const prints = this.steps.filter(({ kind }) => kind === 'print');
    this.steps = [...prints, { kind: 'levels', bids, asks }];
  }

  private trust(after: readonly (Change | Print)[]): void {
    clearTimeout(this.grace);
    this.grace = undefined;
    this.reason = undefined;
    this.isWithdrawn = false;
    this.waiting = [];
    this.take(after);
  }

  private take(messages: readonly (Change | Print)[]): void {
    for (const message of messages) {
      if (message.kind === 'print') this.steps.push(message);
      else {
        const { pips, side, size } = message;
        this.truth.set(side, pips, size);
        const last = this.steps.at(-1);
        const changes = last?.kind === 'changes' ? last.changes : new Map();
        if (last?.kind !== 'changes') this.steps.push({ kind: 'changes', changes });
        changes.set((side === 'BUY' ? 0 : 1 << PIPS_BITS) | pips, { side, pips, size });
      }
    }
    if (this.truth.isCrossed) {
      this.distrustCrossed();
      return;
    }
    this.schedule();
  }

  /** What led to it does not go to the engine. */
  private distrustCrossed(): void {
    this.steps = this.steps.filter(({ kind }) => kind === 'print');
    this.distrust('crossed');
  }

  private wait(messages: readonly (Change | Print)[]): void {
    if (this.waiting.length + messages.length > WAITING_MAX) this.waiting = [];
    this.waiting.push(...messages);
  }

  private withdraw(): void {
    this.grace = undefined;
    this.isWithdrawn = true;
    this.beginWith({ bids: [], asks: [] });
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
    const isTaken = await this.o.apply(this.steps.splice(0));
    this.isApplying = false;
    if (!isTaken) this.distrust('refused');
    this.schedule();
  }
}
