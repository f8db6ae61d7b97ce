/**
 * The place of one paper order in the queue of the source's level: how much of the source is ahead of it. Prints
 * move it by their size. What a decrease of the level moves that no print explains (double-reports.ts) is the rule:
 *
 *   pessimistic    as if all that was cancelled stood behind it: never more ahead than the level has
 *   proportional   as if what was cancelled stood anywhere in the level with the same probability
 *
 * Thread: that of its owner.
 */
import { DoubleReports } from './double-reports.ts';

export type QueueRule = 'pessimistic' | 'proportional';

export class Place {
  /** Micro-shares of the source that trade before it. */
  private ahead: number;
  /** Decreases before the order came: a print that explains them did not trade after it. */
  private readonly earlier: DoubleReports;
  /** What came since. */
  private readonly reports: DoubleReports;

  /**
   * @param ahead what the source has at the level when the order comes
   * @param earlier decreases that a print may still explain; its own from now on
   */
  constructor(ahead: number, earlier: DoubleReports, rule: QueueRule) {
    this.ahead = ahead;
    this.earlier = earlier;
    this.reports = new DoubleReports(({ after, before, left }) => {
      // Rounded up: never nearer to its turn than the rule says.
      if (rule === 'proportional' && left > 0) {
        this.ahead = Math.ceil(this.ahead * (1 - left / before));
      }
      this.ahead = Math.min(this.ahead, after);
    });
  }

  /** The level of the source has another size. */
  resized(before: number, after: number, time: number): void {
    this.reports.pass(time);
    if (after < before) this.reports.decrease(before, after, time);
  }

  /** The source traded `size` at this price. Returns how much of it was left for the order. */
  print(size: number, time: number): number {
    this.reports.pass(time);
    this.earlier.pass(time);
    const later = size - Math.min(size, this.earlier.unexplained);
    this.earlier.print(size - later, time);
    const reached = Math.max(0, later - this.ahead);
    this.ahead = Math.max(0, this.ahead - later);
    this.reports.print(later, time);
    return reached;
  }
}
