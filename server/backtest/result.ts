/**
 * Result of a backtest: data alone. Amounts are units of collateral, sizes shares, times unix milliseconds. Each
 * amount is a whole number of micro-units, divided by a million at the end. Formulas:
 * docs/guides/paper-and-backtests.md#figures-of-a-backtest
 */
import type { Impact } from '../../engine/paper/mirrored-book.ts';
import type { QueueRule } from '../../engine/paper/place.ts';
import type { LatencyChoice } from './latency.ts';
import type { ParameterValues } from './parameters.ts';
import type { Side } from './strategy.ts';

/** Value of a setting that the recording decides, market by market. */
export const RECORDED = 'recorded';

export interface RunSettings {
  readonly cash: number;
  /** Milliseconds, a distribution, or `measured`: of orders and cancels, and of what the strategy sees. */
  readonly latencyMs: LatencyChoice;
  readonly feedLatencyMs: LatencyChoice;
  /** Start of the sequences of drawn latencies. */
  readonly seed: number;
  readonly takerDelayMs: number | typeof RECORDED;
  readonly impact: Impact;
  readonly queue: QueueRule;
  readonly feeBps: number | typeof RECORDED;
}

export interface BacktestResult {
  readonly name: string;
  /** Begin of the strategy and the last line; undefined = it never began. */
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly messages: number;
  readonly settings: RunSettings;
  /** Values of the strategy's parameters; {} if it has none. */
  readonly parameters: ParameterValues;
  readonly figures: Figures;
  readonly equity: EquityRows;
  readonly days: readonly Day[];
  readonly fills: readonly FillRow[];
  readonly markets: readonly MarketResult[];
  readonly marketsSeen: number;
  /** Source levels that the engine refused. Their books lacked them until their next change. */
  readonly levelsRefused: number;
  /** Unreadable messages of the recording. They changed nothing. */
  readonly messagesDamaged: number;
  /** Entries with a time before that of an earlier one. They count at the earlier entry's time. */
  readonly timesDecreasing: number;
  /** Pauses in which timers of the strategy were left out, because they ran too often. */
  readonly pausesCut: number;
}

/** Figures of orders and fills, of a run, of a market, or of a day: that of the fill, or of the accepted order. */
export interface TradeFigures {
  readonly fills: number;
  readonly makerFills: number;
  /** Sum of price x size. */
  readonly turnover: number;
  readonly fees: number;
  /** Filled shares to the shares of accepted orders; undefined without orders. */
  readonly fillRate: number | undefined;
  /**
   * Move of the middle against the fills after 1, 10 and 60 seconds, in units a share: positive = the price went to the
   * other side. Undefined without a fill that long before the end.
   */
  readonly adverse1s: number | undefined;
  readonly adverse10s: number | undefined;
  readonly adverse60s: number | undefined;
  /** Share of the time since the first order in which an own order stood at the best price, mean of both sides. */
  readonly timeAtBest: number | undefined;
  /** Mean squared error of the probabilities traded at, 0 = best; undefined without a resolved market. */
  readonly brier: number | undefined;
  /** Mean squared error of the middles at the fills, less `brier`: positive = better than the market. */
  readonly brierAdvantage: number | undefined;
}

export interface Figures extends TradeFigures {
  readonly profit: number;
  readonly return: number;
  readonly equity: number;
  readonly drawdown: Drawdown;
  /** Undefined with fewer than two days, or days without a difference. */
  readonly sharpe: number | undefined;
  /** Undefined with fewer than two days, or without a day of loss. */
  readonly sortino: number | undefined;
  readonly orders: number;
  readonly refused: number;
  readonly cancels: number;
  readonly closings: number;
  /** Share of the closings that had a profit; undefined without closings. */
  readonly hitRate: number | undefined;
  /** Highest value of all positions. */
  readonly inventoryMax: number;
}

export interface Day extends TradeFigures {
  /** Date in UTC, as in 2026-11-23. */
  readonly day: string;
  /** At the end of the day, as the value of all positions. */
  readonly equity: number;
  readonly positions: number;
  readonly profit: number;
  /** Equity at the end of the day relative to that at its beginning, less 1. */
  readonly return: number;
  /** Largest fall of equity within the day. */
  readonly drawdown: number;
}

export interface Drawdown {
  /** Largest fall of equity in units, as a share of the equity before it, and its time; undefined = it never fell. */
  readonly amount: number;
  readonly share: number;
  readonly time: number | undefined;
}

/** Columns of equal length; a row for each period (series.ts). */
export interface EquityRows {
  readonly times: readonly number[];
  readonly equity: readonly number[];
  readonly cash: readonly number[];
  readonly positions: readonly number[];
  readonly drawdown: readonly number[];
}

export interface FillRow {
  readonly time: number;
  readonly market: string;
  readonly outcome: string;
  readonly token: string;
  readonly side: Side;
  readonly price: number;
  readonly size: number;
  readonly fee: number;
  readonly role: 'maker' | 'taker';
  readonly order: number;
  readonly cash: number;
  readonly position: number;
  readonly brought: number | undefined;
}

export interface MarketResult extends TradeFigures {
  readonly id: string;
  readonly question: string;
  readonly outcomes: readonly string[];
  readonly tokens: readonly string[];
  readonly profit: number;
  /** Largest fall of the profit. */
  readonly drawdown: number;
  /** Ratios of the profits of the days of the run. */
  readonly sharpe: number | undefined;
  readonly sortino: number | undefined;
  /** Largest inventory of either sign, in shares. */
  readonly sharesMax: number;
  readonly shares: readonly [number, number];
  readonly payout: readonly number[] | undefined;
  readonly times: readonly number[];
  readonly mid: readonly (number | null)[];
  readonly inventory: readonly number[];
}
