/**
 * Wakes the sequencer at the earliest expiry of an order, so that it leaves although nobody trades.
 *
 * Thread: the I/O thread.
 */
import { earliestExpiry } from '../../engine/orders/expiry.ts';
import type { Tables } from '../../engine/tables/tables.ts';

const TIMER_MS_MAX = 2 ** 31 - 1;
const MS = 1_000;

export class ExpiryTimer {
  private readonly tables: Tables;
  private readonly now: () => number;
  private readonly due: () => void;
  private timer: NodeJS.Timeout | undefined;

  /** @param now unix milliseconds */
  constructor(tables: Tables, now: () => number, due: () => void) {
    this.tables = tables;
    this.now = now;
    this.due = due;
  }

  /** From now on for the order that expires first of all; nothing where none does. */
  arm(): void {
    this.disarm();
    const expiry = earliestExpiry(this.tables);
    if (expiry === 0) return;
    const wait = Math.min(TIMER_MS_MAX, Math.max(0, expiry * MS - this.now()));
    this.timer = setTimeout(this.due, wait);
    this.timer.unref();
  }

  disarm(): void {
    if (this.timer === undefined) return;
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}
