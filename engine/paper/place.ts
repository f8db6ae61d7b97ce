/**
 * Queue position of one paper order: the micro-shares of the source ahead of it. A print moves it by its size. The
 * rule decides about a decrease that no print explains (double-reports.ts):
 *
 *   pessimistic    as if all that was cancelled stood behind it: never more ahead than the level has
 *   proportional   as if what was cancelled stood anywhere in the level with the same probability
 *   power:N        the part of ahead^N / (ahead^N + behind^N) leaves ahead of it, so that more leaves the longer part
 *                  of the queue; what was cancelled beyond all that stood behind leaves ahead too. N = 1 is `proportional`.
 *
 * Whole numbers alone, rounded to more ahead: an order is never nearer to its turn than the rule says.
 * Thread: that of its owner.
 */
import { DoubleReports } from './double-reports.ts';

/** Exponents of the rules; undefined = what was cancelled stood behind. */
const EXPONENTS = {
  pessimistic: undefined,
  proportional: 1n,
  'power:2': 2n,
  'power:3': 3n,
  'power:4': 4n,
  'power:5': 5n,
} as const;

export type QueueRule = keyof typeof EXPONENTS;

export const QUEUE_RULES = Object.keys(EXPONENTS) as readonly QueueRule[];

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
    const exponent = EXPONENTS[rule];
    this.ahead = ahead;
    this.earlier = earlier;
    this.reports = new DoubleReports(({ after, before, left }) => {
      if (exponent !== undefined && left > 0) {
        const behind = Math.max(0, before - this.ahead);
        this.ahead -= leftAhead(this.ahead, behind, left, exponent);
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

/** Micro-shares of a cancelled size that stood ahead, at most `ahead`. */
function leftAhead(ahead: number, behind: number, cancelled: number, exponent: bigint): number {
  if (ahead === 0) return 0;
  const weight = BigInt(ahead) ** exponent;
  const whole = weight + BigInt(behind) ** exponent;
  return Math.min(ahead, Number((BigInt(cancelled) * weight) / whole));
}
