/**
 * Bound of the bytes of discarded bodies: bodies hashed for a caller whose credentials turn out wrong, or
 * whose key is over its limit of orders.
 *
 * A level-2 signature covers the whole body and has several forms, and orders are counted from the body. A
 * body of a mebibyte takes the I/O thread milliseconds, and hundreds of them a second are within the rate
 * limits of requests. Beyond the bound long bodies of that caller are refused before anything is hashed;
 * short ones, which every client sends, never are.
 *
 * Thread: I/O. Not here: checks of credentials (auth/auth.ts).
 */

import type { Headers } from '../http/answer-head.ts';
import type { RequestContext } from '../http/http.ts';
import { callerKey, callerOf } from '../http/limits/callers.ts';
import { TOO_MANY_REQUESTS } from '../http/refusals.ts';

/** A batch of some fifteen orders: below this size a body adds no noticeable cost. */
const SHORT_BYTES = 16 * 1024;
/** Bound of one caller in a window: sixteen of the longest bodies, some 40 ms of hashing. */
const BYTES_MAX = 16 * 1024 * 1024;
const WINDOW_MS = 10_000;
const CALLERS_MAX = 4_096;

const MS = 1_000;

const UNCOUNTED = (): void => undefined;

interface Discarded {
  bytes: number;
  readonly until: number;
}

export class DiscardedBodies {
  private readonly isLimited: boolean;
  private readonly elapsed: () => number;
  private readonly callers = new Map<string, Discarded>();

  /** @param elapsed milliseconds of a monotonic clock */
  constructor(isLimited: boolean, elapsed: () => number) {
    this.isLimited = isLimited;
    this.elapsed = elapsed;
  }

  /** Headers of a 429 for a long body of a caller beyond the bound: the body need not be received. */
  refusal(context: RequestContext): Headers | undefined {
    if (!this.isLimited) return undefined;
    return this.refusalOf(keyOf(context));
  }

  /**
   * Answers 429 to a caller beyond the bound and returns undefined. Otherwise returns a function to be called
   * when the request is refused for its credentials or a rate limit.
   */
  admit(context: RequestContext): (() => void) | undefined {
    const bytes = context.bodyBytes.length;
    if (!this.isLimited || bytes <= SHORT_BYTES) return UNCOUNTED;
    const key = keyOf(context);
    const headers = this.refusalOf(key);
    if (headers === undefined) return () => this.add(key, bytes);
    context.reply(429, TOO_MANY_REQUESTS, headers);
    return undefined;
  }

  private refusalOf(key: string): Headers | undefined {
    const now = this.elapsed();
    const known = this.callers.get(key);
    if (known === undefined || now >= known.until || known.bytes < BYTES_MAX) return undefined;
    return [['Retry-After', String(Math.ceil((known.until - now) / MS))]];
  }

  private add(key: string, bytes: number): void {
    const now = this.elapsed();
    const known = this.callers.get(key);
    if (known !== undefined && now < known.until) {
      known.bytes += bytes;
      return;
    }
    if (this.callers.size >= CALLERS_MAX) this.callers.clear();
    this.callers.set(key, { bytes, until: now + WINDOW_MS });
  }
}

function keyOf(context: RequestContext): string {
  return callerKey(callerOf(context.address));
}
