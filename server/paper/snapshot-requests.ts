/**
 * Requests snapshots of stale books from a source: many in one request, one request at a time, and with growing
 * pauses for each book.
 *
 * Thread: the I/O thread.
 */
import { performance } from 'node:perf_hooks';
import { backOffMs } from '../common/back-off.ts';
import type { BookFeed, FeedMark } from './book-feed.ts';
import { hashFits } from './book-hash.ts';
import { pagesOf, type SourceApi } from './source-api.ts';

interface Wanted {
  at: number;
  tries: number;
  /** Requested even if the stream is faster: the answer shows the hash rule of the source. */
  isFirst: boolean;
}

interface AskerParts {
  readonly api: Pick<SourceApi, 'snapshots'>;
  readonly feedOf: (token: string) => BookFeed | undefined;
  readonly log: (line: string) => void;
}

const GATHER_MS = 10;
const AGAIN_MS = 250;
const AGAIN_MS_MAX = 10_000;
/** A book without a request for so long has short pauses again. */
const FORGET_MS = 30_000;

export class SnapshotRequests {
  private readonly parts: AskerParts;
  private readonly wanted = new Map<string, Wanted>();
  private readonly requested = new Map<string, Wanted>();
  private timer: NodeJS.Timeout | undefined;
  private isRequesting = false;
  private isClosed = false;
  private problem = '';
  /** All books of the newest snapshots had the hash that this node computes. */
  checksHashes = false;

  constructor(parts: AskerParts) {
    this.parts = parts;
  }

  want(token: string, isFirst = false): void {
    if (this.isClosed) return;
    const waiting = this.wanted.get(token);
    if (waiting !== undefined) {
      // The waiting request may be of the previous connection.
      waiting.isFirst ||= isFirst;
      return;
    }
    const now = performance.now();
    const before = this.requested.get(token);
    const tries = before !== undefined && now - before.at < FORGET_MS ? before.tries + 1 : 0;
    const waitMs = tries === 0 ? GATHER_MS : backOffMs(tries, AGAIN_MS, AGAIN_MS_MAX);
    this.wanted.set(token, { at: now + waitMs, tries, isFirst });
    this.schedule();
  }

  /** Drops requests of a closed connection, whose snapshots would be outdated at once. */
  forget(tokens: Iterable<string>): void {
    for (const token of tokens) {
      this.wanted.delete(token);
      this.requested.delete(token);
    }
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
  }

  private schedule(): void {
    clearTimeout(this.timer);
    if (this.isRequesting || this.isClosed || this.wanted.size === 0) return;
    let earliest = Number.POSITIVE_INFINITY;
    for (const { at } of this.wanted.values()) earliest = Math.min(earliest, at);
    this.timer = setTimeout(() => void this.ask(), Math.max(0, earliest - performance.now()));
  }

  private async ask(): Promise<void> {
    this.isRequesting = true;
    const now = performance.now();
    const marks = new Map<string, FeedMark>();
    for (const [token, { at, isFirst, tries }] of this.wanted) {
      if (at > now) continue;
      this.wanted.delete(token);
      const feed = this.parts.feedOf(token);
      if (feed === undefined || (feed.staleReason === undefined && !isFirst)) continue;
      this.requested.set(token, { at: now, tries, isFirst });
      marks.set(token, feed.mark);
    }
    if (marks.size > 0) await this.answer(marks);
    this.isRequesting = false;
    this.schedule();
  }

  /** Requests snapshots by page. A failing page does not affect others. */
  private async answer(marks: ReadonlyMap<string, FeedMark>): Promise<void> {
    let problem = '';
    let fits = true;
    for (const page of pagesOf([...marks.keys()])) {
      try {
        const answers = await this.parts.api.snapshots(page);
        fits &&= answers.every(({ json }) => hashFits(json));
        if (answers.length > 0) this.checksHashes = fits;
        for (const answer of answers) {
          const mark = marks.get(answer.token);
          if (mark !== undefined) this.parts.feedOf(answer.token)?.snapshot(answer, mark);
        }
      } catch (error) {
        const { message } = error as Error;
        if (message !== this.problem && message !== problem && !this.isClosed)
          this.parts.log(`no snapshots: ${message}`);
        problem = message;
      }
    }
    this.problem = problem;
    for (const token of marks.keys()) {
      if (this.parts.feedOf(token)?.staleReason !== undefined) this.want(token);
    }
  }
}
