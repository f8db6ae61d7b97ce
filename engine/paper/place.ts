/**
 * Queue position of one paper order: the micro-shares of the source ahead of it. A print moves it by its size. The
 * rule decides about a decrease that no print explains (double-reports.ts):
 *
 *   pessimistic    as if all that was cancelled stood behind it: never more ahead than the level has
 *   proportional   as if what was cancelled stood anywhere in the level with the same probability
 *
 * Thread: that of its owner.
 */
import { DoubleReports } from './double-reports.ts';

export type QueueRule = 'pessimistic' | 'proportional';

export class Place {
  private ahead: number;
  /** Decreases before the order came: a print that explains them did not trade after it. */
  private readonly earlier: DoubleReports;
  private readonly reports: DoubleReports;

  /**
   * @param ahead source level when the order comes @param earlier decreases that a print may still explain, owned
   * from here on
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

  resized(before: number, after: number, time: number): void {
    this.reports.pass(time);
    if (after < before) this.reports.decrease(before, after, time);
  }

  /** Applies a trade print at this price. Returns the micro-shares of it that are left for the order. */
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
