/**
 * Bound of the requests that one caller is served within an event-loop iteration; the rest waits for the next
 * one.
 *
 * The HTTP library answers all requests found in a connection within one callback, and reads on while more
 * arrive: without a bound one pipelining connection would block all others. A request beyond the bound is
 * answered in a later iteration. The library ends a connection on which another request is pipelined behind a
 * waiting one. So a caller with many connections and one request on each loses only an iteration, and a flood
 * on one connection ends.
 *
 * The library does not identify the connection of a request, so the bound covers all connections of a caller
 * together. Thread: I/O.
 */
import { performance } from 'node:perf_hooks';
import type { Caller } from './callers.ts';

interface Requester {
  /** Arrival on a monotonic clock in milliseconds; 0 = not read. */
  readonly since: number;
  /** Caller that the request counts against; looked up on demand because of its cost. */
  counted(): Caller;
}

/**
 * 2 ms of the smallest answers: the longest wait of others for one caller in an iteration. Eight connections
 * that pipeline 32 deep fit. Published limits allow a caller five an iteration.
 */
const REQUESTS_MAX = 256;

/** Bound of all callers together where none is limited: load tests pipeline on many connections. */
const REQUESTS_MAX_UNLIMITED = 4096;
/** Common caller where callers are not distinguished: looking one up costs a third of a small answer. */
const EVERYBODY: Caller = { high: 0, low: 0 };

/**
 * Time bound of slow requests: a quarter of a millisecond for each, and EXTRA_MS_MAX for all together, above
 * what garbage collection adds to short ones. Beyond it processor time decides: a busy machine suspends this
 * thread.
 */
const REQUEST_MS = 0.25;
const EXTRA_MS_MAX = 20;
/** The clock is read when the caller changes, and after this many requests of the same one. */
const REQUESTS_PER_LOOK = 2;
/** Cap on the time counted between two readings: a busy machine may have suspended this thread meanwhile. */
const LOOK_MS_MAX = 8;

/** First requests of an iteration that are not checked: an iteration of ordinary load costs nothing. */
const UNWATCHED = 8;

const RESUMED_PER_TURN = 128;

/** Use of one caller in the current iteration. */
interface Share {
  requests: number;
  ms: number;
  /** Processor time of this process when the requests first seemed slow. */
  cpuMs: number | undefined;
}

export class TimeSlice {
  putOff = 0;
  private readonly isLimited: boolean;
  private readonly requestsMax: number;
  /** Requests in the current iteration. */
  private seen = 0;
  private readonly shares = new Map<string, Share>();
  /** Cache: consecutive requests mostly have the same caller. */
  private lastCaller: Caller | undefined = undefined;
  private last: Share | undefined = undefined;
  private lastAt = 0;
  private waiting: (() => void)[] = [];

  constructor(isLimited: boolean, requestsMax = isLimited ? REQUESTS_MAX : REQUESTS_MAX_UNLIMITED) {
    this.isLimited = isLimited;
    this.requestsMax = requestsMax;
  }

  /** Returns true when a request that has just arrived may be answered in this iteration. */
  takes(requester: Requester): boolean {
    this.seen += 1;
    if (this.seen < UNWATCHED) return true;
    // Some of the first ones may belong to earlier iterations; all that follow belong to this one.
    if (this.seen === UNWATCHED) setImmediate(() => this.turn());
    return this.isWithinShare(this.isLimited ? requester.counted() : EVERYBODY, requester.since);
  }

  /**
   * Uses up the time slice of a caller in this iteration: others come first, and a pipelining connection
   * ends.
   */
  spend(caller: Caller): void {
    // Below UNWATCHED shares are neither read nor cleared.
    if (this.seen >= UNWATCHED) this.shareOf(caller).requests = this.requestsMax;
  }

  later(resume: () => void): void {
    this.putOff += 1;
    this.waiting.push(resume);
  }

  private isWithinShare(caller: Caller, since: number): boolean {
    const share = this.shareOf(caller);
    if (share !== this.last || share.requests % REQUESTS_PER_LOOK === 0) {
      const now = since === 0 ? performance.now() : since;
      if (this.last !== undefined) this.last.ms += Math.min(now - this.lastAt, LOOK_MS_MAX);
      this.lastAt = now;
      this.last = share;
      this.lastCaller = caller;
    }
    share.requests += 1;
    if (share.requests > this.requestsMax) return false;
    return share.ms <= EXTRA_MS_MAX + share.requests * REQUEST_MS || this.hasWaited(share);
  }

  /** Returns true when the requests waited for a processor rather than used one; restarts their time. */
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

  /** Runs when all requests that arrived in an iteration were checked. */
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
