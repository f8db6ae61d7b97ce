/**
 * Counts requests of callers against the rate limits: fixed windows, each started by its first request. A
 * refused request counts nowhere.
 *
 * Memory is fixed. Callers live in sets of WAYS_OWN entries, found by a hash keyed with a random seed, so
 * that nobody can choose their neighbours. An entry passes to another caller only when all windows of its
 * caller have ended: no flood of addresses resets a count. New callers that find their set full share one
 * more entry and are limited together until an entry becomes free. A flood can slow newcomers down, and lets
 * nobody exceed a limit.
 *
 * Thread: I/O. Time is a parameter.
 */
import type { Caller } from './callers.ts';
import { RATE_CLASSES, type RateCaps, type RateClass } from './rate-limits.ts';

/** Rows that cover a route; `applying` are those with caps now. */
export interface RatePlan {
  readonly covered: Int32Array;
  applying: Int32Array;
}

/** Result of counting a request; numbers are those of the row that binds first. */
export interface RateDecision {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** End of the window, on the given clock. */
  readonly resetMs: number;
  /** True where it is allowed beyond a cap, because the limiter only warns. */
  readonly warned: boolean;
  /** Consecutive refusals of the caller, this one included. */
  readonly refusedInRow: number;
}

interface RateLimiterOptions {
  readonly caps: RateCaps;
  /** Seed of the hash, any integer: secret, and different in each process. */
  readonly seed: number;
  /** Callers counted separately, rounded up to a power of two; further ones share. */
  readonly callersMax?: number;
  /** True: what exceeds a cap is counted and allowed. */
  readonly warns?: boolean;
}

/** About 16 MB, touched only as it fills; an order keeps the entry of its caller for ten minutes. */
const CALLERS_MAX = 65_536;
const WAYS_OWN = 8;
/** The last entry of a set is shared. */
const WAYS = WAYS_OWN + 1;
const ROWS = RATE_CLASSES.length;
const MS = 1_000;
/** Above every cap, and within V8's small integers. */
const REMAINING_MAX = 2 ** 30 - 1;

export class RateLimiter {
  /** Caps by row; 0 = the row limits nobody. */
  private readonly caps = new Int32Array(ROWS);
  private readonly windowMs = new Float64Array(ROWS);
  private readonly plans: RatePlan[] = [];
  /** Refused requests by row. */
  readonly throttled = new Float64Array(ROWS);
  private windowMsMax = 0;
  private readonly seed: number;
  private readonly warns: boolean;
  private readonly setMask: number;
  /** Columns by entry: both halves of the caller, then the end of its last window. */
  private readonly high: Int32Array;
  private readonly low: Int32Array;
  private readonly busyUntil: Float64Array;
  /** Requests in the window, and its end, by entry and row. */
  private readonly counts: Int32Array;
  private readonly ends: Float64Array;
  private readonly refused: Int32Array;
  /** One object for all decisions, because there is one for each request. */
  private readonly decision = {
    allowed: false,
    limit: 0,
    remaining: 0,
    resetMs: 0,
    warned: false,
    refusedInRow: 0,
  };

  constructor({ caps, seed, callersMax = CALLERS_MAX, warns = false }: RateLimiterOptions) {
    this.setCaps(caps);
    this.seed = seed | 0;
    this.warns = warns;
    const sets = 2 ** Math.ceil(Math.log2(Math.max(1, callersMax / WAYS_OWN)));
    this.setMask = sets - 1;
    const places = sets * WAYS;
    this.high = new Int32Array(places);
    this.low = new Int32Array(places);
    this.busyUntil = new Float64Array(places);
    this.counts = new Int32Array(places * ROWS);
    this.ends = new Float64Array(places * ROWS);
    this.refused = new Int32Array(places);
  }

  /** Replaces the caps; open windows continue where they keep their length. */
  setCaps(caps: RateCaps): void {
    for (const [row, name] of RATE_CLASSES.entries()) {
      this.caps[row] = caps[name]?.requests ?? 0;
      this.windowMs[row] = (caps[name]?.seconds ?? 0) * MS;
    }
    this.windowMsMax = Math.max(...this.windowMs);
    for (const plan of this.plans) plan.applying = this.applyingOf(plan.covered);
  }

  plan(classes: readonly RateClass[]): RatePlan {
    const covered = Int32Array.from(classes, (name) => RATE_CLASSES.indexOf(name));
    const plan = { covered, applying: this.applyingOf(covered) };
    this.plans.push(plan);
    return plan;
  }

  private applyingOf(covered: Int32Array): Int32Array {
    return covered.filter((row) => this.caps[row] !== 0);
  }

  /**
   * Counts one request, or `weight` of them, if it fits every applying row of the plan, or the limiter only warns.
   * The plan must have such a row.
   *
   * @param nowMs unix milliseconds; a clock that was set back ends the windows that end too late
   * @returns the same object each time, valid until the next call
   */
  take({ high, low }: Caller, { applying }: RatePlan, nowMs: number, weight = 1): RateDecision {
    const { caps, counts, ends, decision, windowMs } = this;
    const place = this.placeOf(high, low, nowMs);
    const base = place * ROWS;
    decision.allowed = true;
    let refusing = 0;
    for (let i = 0; i < applying.length; i++) {
      const row = applying[i]!;
      const end = ends[base + row]!;
      const isNew = !isOpen(end, nowMs, windowMs[row]!);
      if ((isNew ? 0 : counts[base + row]!) + weight <= caps[row]!) continue;
      const reset = isNew ? nowMs + windowMs[row]! : end;
      // Of several full rows, the one that stays full longest says when to retry.
      if (decision.allowed || reset > decision.resetMs) {
        refusing = row;
        this.decide(false, caps[row]!, 0, reset);
      }
    }
    decision.warned = !decision.allowed && this.warns;
    if (!decision.allowed) this.throttled[refusing]! += 1;
    if (!decision.allowed && !this.warns) {
      if (this.refused[place]! < REMAINING_MAX) this.refused[place]! += 1;
      decision.refusedInRow = this.refused[place]!;
      return decision;
    }
    this.refused[place] = 0;
    decision.refusedInRow = 0;
    decision.remaining = REMAINING_MAX;
    for (let i = 0; i < applying.length; i++) {
      const row = applying[i]!;
      const at = base + row;
      if (!isOpen(ends[at]!, nowMs, windowMs[row]!)) {
        ends[at] = nowMs + windowMs[row]!;
        counts[at] = 0;
        this.stayUntil(place, ends[at]!, nowMs);
      }
      const count = counts[at]! + weight;
      counts[at] = count;
      const remaining = Math.max(0, caps[row]! - count);
      if (remaining < decision.remaining) this.decide(true, caps[row]!, remaining, ends[at]!);
    }
    return decision;
  }

  private stayUntil(place: number, end: number, nowMs: number): void {
    const before = this.busyUntil[place]!;
    if (end > before || !isOpen(before, nowMs, this.windowMsMax)) this.busyUntil[place] = end;
  }

  private decide(allowed: boolean, limit: number, remaining: number, resetMs: number): void {
    const { decision } = this;
    decision.allowed = allowed;
    decision.limit = limit;
    decision.remaining = remaining;
    decision.resetMs = resetMs;
  }

  /** Entry of the caller, a free one, or the shared one of its set. */
  private placeOf(high: number, low: number, nowMs: number): number {
    const first = (hash(high, low, this.seed) & this.setMask) * WAYS;
    let free = -1;
    for (let place = first; place < first + WAYS_OWN; place++) {
      if (this.high[place] === high && this.low[place] === low) return place;
      if (free < 0 && !isOpen(this.busyUntil[place]!, nowMs, this.windowMsMax)) free = place;
    }
    if (free < 0) return first + WAYS_OWN;
    this.high[free] = high;
    this.low[free] = low;
    this.busyUntil[free] = 0;
    this.refused[free] = 0;
    this.counts.fill(0, free * ROWS, (free + 1) * ROWS);
    this.ends.fill(0, free * ROWS, (free + 1) * ROWS);
    return free;
  }
}

/**
 * Returns true for a window that has begun and not ended. More than its length left means that the clock was
 * set back.
 */
function isOpen(end: number, nowMs: number, lengthMs: number): boolean {
  return end > nowMs && end - nowMs <= lengthMs;
}

/** The finaliser of MurmurHash3 over both halves. */
function hash(high: number, low: number, seed: number): number {
  let mixed = Math.imul(high ^ seed, 0x85ebca6b) ^ low;
  mixed ^= mixed >>> 16;
  mixed = Math.imul(mixed ^ seed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
