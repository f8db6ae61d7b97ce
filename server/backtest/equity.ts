/**
 * Value of an account, or of the trading in a market, over time: drawdown, days, and the Sharpe and Sortino ratios of
 * the days. Formulas: docs/guides/paper-and-backtests.md#figures-of-a-backtest
 */
import type { Drawdown } from './result.ts';
import { Series } from './series.ts';

const DAY_MS = 86_400_000;
const DAYS_A_YEAR = 365;
const POINTS_MAX = 2_000;

/** Micro-units at the end of a day in UTC. */
export interface EquityDay {
  /** Date, as in 2026-11-23. */
  readonly day: string;
  readonly equity: number;
  readonly positions: number;
  readonly profit: number;
  /** Profit as a share of the equity at the beginning. */
  readonly return: number;
  readonly drawdown: number;
}

export class Equity {
  readonly days: EquityDay[] = [];
  /** Days between the first and the last one that are not in `days`. */
  quietDays = 0;
  equity: number;
  protected worst: Drawdown = { amount: 0, share: 0, time: undefined };
  protected peak: number;
  private positions = 0;
  private dayStart: number;
  private dayPeak: number;
  private dayWorst = 0;
  private day = Number.NaN;

  constructor(start: number) {
    this.equity = start;
    this.peak = start;
    this.dayStart = start;
    this.dayPeak = start;
  }

  record(time: number, equity: number, positions: number): void {
    this.pass(time);
    this.equity = equity;
    this.positions = positions;
    if (equity > this.peak) this.peak = equity;
    if (equity > this.dayPeak) this.dayPeak = equity;
    const drawdown = this.peak - equity;
    if (drawdown > this.worst.amount)
      this.worst = { amount: drawdown, share: drawdown / this.peak, time };
    this.dayWorst = Math.max(this.dayWorst, this.dayPeak - equity);
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
    const { dayStart, equity } = this;
    this.days.push({
      day: new Date(this.day * DAY_MS).toISOString().slice(0, 10),
      equity,
      positions: this.positions,
      profit: equity - dayStart,
      return: dayStart === 0 ? 0 : equity / dayStart - 1,
      drawdown: this.dayWorst,
    });
    this.dayStart = equity;
    this.dayPeak = equity;
    this.dayWorst = 0;
  }
}

/** Equity of the account, with its rows over time. */
export class EquityCurve extends Equity {
  readonly series = new Series(4, POINTS_MAX, 3);
  cash: number;

  constructor(start: number) {
    super(start);
    this.cash = start;
  }

  add(time: number, cash: number, positions: number): void {
    const equity = cash + positions;
    this.record(time, equity, positions);
    this.cash = cash;
    this.series.add(time, equity, cash, positions, this.peak - equity);
  }
}

/**
 * Returns the ratio of mean and deviation of the returns, for a year; undefined with too few returns, or equal ones.
 * @param quiet further days, with a return of 0
 */
export function sharpeOf(returns: readonly number[], quiet = 0): number | undefined {
  const count = returns.length + quiet;
  if (count < 2) return undefined;
  const mean = meanOf(returns, count);
  const squares = returns.reduce((sum, each) => sum + (each - mean) ** 2, quiet * mean ** 2);
  return yearly(mean, Math.sqrt(squares / (count - 1)));
}

/** Returns the ratio of the mean and the deviation below 0 of the returns, for a year; undefined without a loss. */
export function sortinoOf(returns: readonly number[], quiet = 0): number | undefined {
  const count = returns.length + quiet;
  if (count < 2) return undefined;
  const squares = returns.reduce((sum, each) => sum + Math.min(0, each) ** 2, 0);
  return yearly(meanOf(returns, count), Math.sqrt(squares / count));
}

function meanOf(returns: readonly number[], count: number): number {
  return returns.reduce((sum, each) => sum + each, 0) / count;
}

function yearly(mean: number, deviation: number): number | undefined {
  // What is left by rounding is no deviation.
  if (deviation <= Number.EPSILON * Math.max(1, Math.abs(mean))) return undefined;
  return (mean / deviation) * Math.sqrt(DAYS_A_YEAR);
}
