/**
 * What one caller may have served between two turns of the event loop; the rest waits for the next one.
 *
 * The HTTP library answers all requests that it finds in a connection within one callback, and reads
 * on while they keep coming: without a bound one connection that pipelines holds up everybody else. A
 * request beyond the bound is answered in a later turn. The library ends a connection on which another
 * request is pipelined behind one that waits: so a caller with many connections that each ask one thing at
 * a time loses nothing but a turn, and a flood on one connection ends.
 *
 * The library tells nothing by which two requests of one connection could be known as such, so what is
 * bounded is the caller, all its connections together. Thread: I/O.
 */
import { performance } from 'node:perf_hooks';
import type { Caller } from './callers.ts';

/** A request, before anything was done for it. */
export interface Requester {
  /** Whom it counts against; looked up on demand, as that costs. */
  counted(): Caller;
}

/**
 * 2 ms of the smallest answers: what everybody else waits at most for one caller in a turn. Eight
 * connections that pipeline 32 deep fit, and a caller may have five a turn under the published limits.
 */
const REQUESTS_MAX = 256;

/** Of all together where no caller is limited: load is tested with many connections that all pipeline. */
const REQUESTS_MAX_UNLIMITED = 4096;
/** Where nobody asks who a caller is: to look that up costs a third of a small answer. */
const EVERYBODY: Caller = { high: 0, low: 0 };

/**
 * Requests that take long are bounded by their time: each may take a quarter of a millisecond, and all of
 * them so much more, which is above what a collection of garbage adds to short ones. Beyond that the time
 * counts that this process had a processor: a busy machine takes it away for longer.
 */
const REQUEST_MS = 0.25;
const EXTRA_MS_MAX = 20;
/** The clock is read when the caller changes, and after so many requests of the same one. */
const REQUESTS_PER_LOOK = 2;
/** Between two looks no more counts: on a busy machine this thread may have had to stop meanwhile. */
const LOOK_MS_MAX = 8;

/** So many requests of a turn are never looked at: a turn of an ordinary load costs nothing. */
const UNWATCHED = 8;

/** Of those that wait, as many are answered in each turn. */
const RESUMED_PER_TURN = 128;

/** What a caller had in this turn. */
interface Share {
  requests: number;
  ms: number;
  /** Processor time of this process when the requests first seemed to take long. */
  cpuMs: number | undefined;
}

export class TimeSlice {
  /** Requests that had to wait, since the start. */
  putOff = 0;
  private readonly isLimited: boolean;
  private readonly requestsMax: number;
  /** Requests since the last turn that was looked at. */
  private seen = 0;
  private readonly shares = new Map<string, Share>();
  /** Requests of a connection come one after the other, so most of them are the last one's. */
  private lastCaller: Caller | undefined = undefined;
  private last: Share | undefined = undefined;
  private lastAt = 0;
  private waiting: (() => void)[] = [];

  /** @param isLimited whether the rates of callers are limited at all */
  constructor(isLimited: boolean, requestsMax = isLimited ? REQUESTS_MAX : REQUESTS_MAX_UNLIMITED) {
    this.isLimited = isLimited;
    this.requestsMax = requestsMax;
  }

  /** Whether a request that has just arrived may be answered in this turn. */
  takes(requester: Requester): boolean {
    this.seen += 1;
    if (this.seen < UNWATCHED) return true;
    // Some of those before may be of earlier turns; all that come now are of this one.
    if (this.seen === UNWATCHED) setImmediate(() => this.turn());
    return this.isWithinShare(this.isLimited ? requester.counted() : EVERYBODY);
  }

  /** A caller has no more of this turn: others come first, and a connection that pipelines on ends. */
  spend(caller: Caller): void {
    // Nobody looks at the shares of a turn of few requests, and nothing empties them.
    if (this.seen >= UNWATCHED) this.shareOf(caller).requests = this.requestsMax;
  }

  /** Calls back in a later turn. */
  later(resume: () => void): void {
    this.putOff += 1;
    this.waiting.push(resume);
  }

  private isWithinShare(caller: Caller): boolean {
    const share = this.shareOf(caller);
    if (share !== this.last || share.requests % REQUESTS_PER_LOOK === 0) {
      const now = performance.now();
      if (this.last !== undefined) this.last.ms += Math.min(now - this.lastAt, LOOK_MS_MAX);
      this.lastAt = now;
      this.last = share;
      this.lastCaller = caller;
    }
    share.requests += 1;
    if (share.requests > this.requestsMax) return false;
    return share.ms <= EXTRA_MS_MAX + share.requests * REQUEST_MS || this.hasWaited(share);
  }

  /** Whether the requests waited for a processor rather than used one; then their time is counted anew. */
  private hasWaited(share: Share): boolean {
    const { user, system } = process.cpuUsage();
    const cpuMs = (user + system) / 1_000;
    share.cpuMs ??= cpuMs;
    if (cpuMs - share.cpuMs > EXTRA_MS_MAX) return false;
    share.ms -= EXTRA_MS_MAX;
    return true;
  }

  private shareOf(caller: Caller): Share {
    const { last, lastCaller } = this;
    if (last !== undefined && lastCaller?.high === caller.high && lastCaller.low === caller.low) {
      return last;
    }
    const key = `${caller.high} ${caller.low}`;
    let share = this.shares.get(key);
    if (share === undefined) {
      share = { requests: 0, ms: 0, cpuMs: undefined };
      this.shares.set(key, share);
    }
    return share;
  }

  /** Runs when all that arrived in a turn has been looked at. */
  private turn(): void {
    this.seen = 0;
    this.shares.clear();
    this.last = undefined;
    this.lastCaller = undefined;
    if (this.waiting.length === 0) return;
    const due = this.waiting;
    this.waiting = due.splice(RESUMED_PER_TURN);
    for (const resume of due) resume();
    if (this.waiting.length === 0) return;
    this.seen = UNWATCHED;
    setImmediate(() => this.turn());
  }
}
