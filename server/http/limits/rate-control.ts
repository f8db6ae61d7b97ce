/**
 * Rate limits of a node: its two counters (requests by address, and handler limits), and changes of rows at
 * run time. A change lasts until the restart; settings hold then.
 *
 * Thread: I/O.
 */
import { randomInt } from 'node:crypto';
import { RateLimiter } from './rate-limiter.ts';
import {
  effectiveCaps,
  type OwnCaps,
  overridesText,
  parseOverrides,
  RATE_CLASSES,
  RATE_LIMITS,
  type RateCaps,
  type RateOverrides,
} from './rate-limits.ts';

const SEEDS = 2 ** 32;

export class RateControl {
  /** Counts requests before their handlers run; `late` counts inside handlers. */
  readonly limiter: RateLimiter;
  readonly late: RateLimiter;
  private readonly own: OwnCaps;
  private overrides: RateOverrides;

  constructor(overrides: RateOverrides, own: OwnCaps, warns = false) {
    this.overrides = overrides;
    this.own = own;
    const caps = this.caps();
    this.limiter = new RateLimiter({ caps, seed: randomInt(SEEDS), warns });
    this.late = new RateLimiter({ caps, seed: randomInt(SEEDS), warns });
  }

  caps(): RateCaps {
    return effectiveCaps(this.overrides, this.own);
  }

  /** Takes `book=400/10` or `book=off`; returns an error text, or undefined. */
  change(text: string): string | undefined {
    const read = parseOverrides(text);
    if (!read.ok) return read.detail;
    this.overrides = { ...this.overrides, ...read.value };
    this.limiter.setCaps(this.caps());
    this.late.setCaps(this.caps());
    return undefined;
  }

  shown() {
    const caps = this.caps();
    return {
      limits: RATE_CLASSES.map((name) => ({
        name,
        covers: RATE_LIMITS[name].covers,
        limit: caps[name] === undefined ? 'off' : `${caps[name].requests}/${caps[name].seconds}`,
      })),
      /** Setting that keeps the changes beyond the restart. */
      setting: `RATE_LIMITS_OVERRIDES=${overridesText(this.overrides)}`,
    };
  }

  throttled(): (readonly [name: string, count: number])[] {
    return RATE_CLASSES.map((name, row) => [
      name,
      this.limiter.throttled[row]! + this.late.throttled[row]!,
    ]);
  }
}
