/**
 * Timer that wakes the sequencer when an order expires, a market ends or a proposed payout begins without a
 * request.
 *
 * Thread: I/O. Not here: what is due, which the engine decides.
 */
import { earliestDue } from '../../../engine/due.ts';
import type { Tables } from '../../../engine/tables/tables.ts';

const TIMER_MS_MAX = 2 ** 31 - 1;

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

  arm(): void {
    this.disarm();
    const due = earliestDue(this.tables);
    if (due === 0) return;
    const wait = Math.min(TIMER_MS_MAX, Math.max(0, due - this.now()));
    this.timer = setTimeout(this.due, wait);
    this.timer.unref();
  }

  disarm(): void {
    if (this.timer === undefined) return;
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}
