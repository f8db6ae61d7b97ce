/**
 * Value of an account over time: the curve, its drawdown, its days, and the Sharpe ratio of the days. Formulas:
 * docs/guides/paper-and-backtests.md#figures-of-a-backtest
 */
import type { Day, Drawdown } from './result.ts';
import { Series } from './series.ts';

const DAY_MS = 86_400_000;
const DAYS_A_YEAR = 365;
const POINTS_MAX = 2_000;

export class EquityCurve {
  readonly series = new Series(4, POINTS_MAX, 3);
  readonly days: Day[] = [];
  /** Days between the first and the last one that are not in `days`. */
  quietDays = 0;
  equity: number;
  cash: number;
  private peak: number;
  private worst: Drawdown = { amount: 0, share: 0, time: undefined };
  private dayStart: number;
  private day = Number.NaN;

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

  end(): void {
    if (!Number.isNaN(this.day)) this.closeDay();
  }

  /** Records an entry at a time that is not before that of the last one. */
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
 * Returns the ratio of mean and deviation of the returns, for a year; undefined with too few returns, or equal ones.
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
