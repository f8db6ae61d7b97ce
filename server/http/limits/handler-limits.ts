/**
 * Rate limits that are counted inside a handler. Orders of an API key count after its credentials are
 * checked, so that a stranger cannot use up the limits of the key. New keys count when one is about to be
 * issued.
 *
 * Thread: I/O. Counting itself is rate-limiter.ts; the rows of the table are rate-limits.ts.
 */
import type { Headers } from '../answer-head.ts';
import { TOO_MANY_REQUESTS } from '../refusals.ts';
import type { RequestContext } from '../request-context.ts';
import type { Caller } from './callers.ts';
import type { RateLimiter } from './rate-limiter.ts';
import type { RateClass } from './rate-limits.ts';

export interface HandlerLimitRefusal {
  readonly status: 429;
  readonly body: string;
  readonly headers: Headers;
}

type HandlerRow = Extract<RateClass, 'keyOrders' | 'keysIssued'>;

export class HandlerLimits {
  private readonly limiter: RateLimiter;
  private readonly now: () => number;
  private readonly plans;

  /** @param now unix milliseconds */
  constructor(limiter: RateLimiter, now: () => number) {
    this.limiter = limiter;
    this.now = now;
    this.plans = {
      keyOrders: limiter.plan(['keyOrders']),
      keysIssued: limiter.plan(['keysIssued']),
    };
  }

  applies(row: HandlerRow): boolean {
    return this.plans[row].applying.length > 0;
  }

  /** Counts `count` if all of them fit; otherwise counts none and returns a refusal with Retry-After. */
  refusal(
    row: HandlerRow,
    caller: Caller,
    count: number,
    context: RequestContext,
  ): HandlerLimitRefusal | undefined {
    if (!this.applies(row)) return undefined;
    const decision = this.limiter.take(caller, this.plans[row], this.now(), count);
    if (decision.allowed) {
      context.countedBy(decision);
      return undefined;
    }
    return { status: 429, body: TOO_MANY_REQUESTS, headers: context.limitedBy(decision) };
  }
}
