/**
 * What an account was worth over time: the curve, its drawdown, its days, and the Sharpe ratio of the days.
 * Formulas: docs/paper.md#figures-of-a-backtest
 */
import type { Day, Drawdown } from './result.ts';
import { Series } from './series.ts';

const DAY_MS = 86_400_000;
const DAYS_A_YEAR = 365;
const POINTS_MAX = 2_000;

export class EquityCurve {
  /** Equity, cash, value of positions, drawdown. */
  readonly series = new Series(4, POINTS_MAX, 3);
  /** Days on which something came; on the others equity did not change. */
  readonly days: Day[] = [];
  /** Days between the first and the last one that are not in `days`. */
  quietDays = 0;
  equity: number;
  cash: number;
  private peak: number;
  private worst: Drawdown = { amount: 0, share: 0, time: undefined };
  private dayStart: number;
  private day = Number.NaN;

  /** Amounts in any one unit. */
  constructor(start: number) {
    this.equity = start;
    this.cash = start;
    this.peak = start;
    this.dayStart = start;
  }

  add(time: number, cash: number, positions: number): void {
    this.pass(time);
    const equity = cash + positions;
    this.equity = equity;
    this.cash = cash;
    if (equity > this.peak) this.peak = equity;
    const drawdown = this.peak - equity;
    if (drawdown > this.worst.amount) {
      this.worst = { amount: drawdown, share: drawdown / this.peak, time };
    }
    this.series.add(time, equity, cash, positions, drawdown);
  }

  get drawdown(): Drawdown {
    return this.worst;
  }

  /** Ends the day at hand; nothing is added any more. */
  end(): void {
    if (!Number.isNaN(this.day)) this.closeDay();
  }

  /** Something came at this time, which is not before that of the last one. */
  pass(time: number): void {
    const day = Math.floor(time / DAY_MS);
    if (Number.isNaN(this.day)) this.day = day;
    if (this.day === day) return;
    this.closeDay();
    this.quietDays += day - this.day - 1;
    this.day = day;
  }

  private closeDay(): void {
    const before = this.dayStart;
    this.days.push({
      day: new Date(this.day * DAY_MS).toISOString().slice(0, 10),
      equity: this.equity,
      return: before === 0 ? 0 : this.equity / before - 1,
    });
    this.dayStart = this.equity;
  }
}

/**
 * Mean of the returns to their deviation, for a year; undefined where there are too few, or all are equal.
 * @param quiet further days, with a return of 0
 */
export function sharpeOf(returns: readonly number[], quiet = 0): number | undefined {
  const count = returns.length + quiet;
  if (count < 2) return undefined;
  const mean = returns.reduce((sum, each) => sum + each, 0) / count;
  const squares = returns.reduce((sum, each) => sum + (each - mean) ** 2, quiet * mean ** 2);
  const deviation = Math.sqrt(squares / (count - 1));
  // What is left by rounding is no deviation.
  if (deviation <= Number.EPSILON * Math.max(1, Math.abs(mean))) return undefined;
  return (mean / deviation) * Math.sqrt(DAYS_A_YEAR);
}
