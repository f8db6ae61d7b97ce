/**
 * What a backtest gives: data alone. Amounts are units of collateral, sizes shares, times unix milliseconds. Every
 * amount is a whole number of micro-units that was divided by a million at the end.
 * Formulas: docs/paper.md#figures-of-a-backtest
 */
import type { Side } from './strategy.ts';

/** What a run was made with. */
export interface RunSettings {
  readonly cash: number;
  readonly latencyMs: number;
  readonly impact: 'keep' | 'restore';
  readonly queue: 'pessimistic' | 'proportional';
  /** Of takers, in all markets. */
  readonly feeBps: number;
}

export interface BacktestResult {
  readonly name: string;
  /** When the strategy began, and the last line; undefined = it never began. */
  readonly from: number | undefined;
  readonly to: number | undefined;
  /** Lines of the recording in that time. */
  readonly messages: number;
  readonly settings: RunSettings;
  readonly figures: Figures;
  readonly equity: EquityRows;
  /** Days on which the recording has an entry; on others equity does not change. */
  readonly days: readonly Day[];
  readonly fills: readonly FillRow[];
  /** Those that the strategy traded. */
  readonly markets: readonly MarketResult[];
  /** All of the recording. */
  readonly marketsSeen: number;
  /** Levels of the source that the engine refused; their books lacked them until their next change. */
  readonly levelsRefused: number;
  /** Messages of the recording that could not be understood, and changed nothing. */
  readonly messagesDamaged: number;
  /** Entries of the recording with a time before that of an earlier one, which counts in its place. */
  readonly timesDecreasing: number;
  /** Pauses of the recording in which timers of the strategy were left out, because they had run too often. */
  readonly pausesCut: number;
}

export interface Figures {
  readonly profit: number;
  /** Profit to the cash at the beginning. */
  readonly return: number;
  readonly equity: number;
  readonly drawdown: Drawdown;
  /** Undefined = fewer than two days, or days without a difference. */
  readonly sharpe: number | undefined;
  readonly orders: number;
  readonly refused: number;
  readonly cancels: number;
  readonly fills: number;
  readonly makerFills: number;
  /** Sum of price x size. */
  readonly turnover: number;
  readonly fees: number;
  /** Fills and payouts that closed something. */
  readonly closings: number;
  /** Of those, the share that brought something; undefined = there were none. */
  readonly hitRate: number | undefined;
  /** The most that the positions were worth. */
  readonly inventoryMax: number;
}

export interface Day {
  /** Such as 2026-11-23, in UTC. */
  readonly day: string;
  /** At its end. */
  readonly equity: number;
  /** Of the day: equity at its end to that at its beginning, less 1. */
  readonly return: number;
}

export interface Drawdown {
  /** Units below the highest equity before. */
  readonly amount: number;
  /** Of that highest equity. */
  readonly share: number;
  /** When the amount was reached; undefined = equity never fell. */
  readonly time: number | undefined;
}

/** Columns of the same length; a row for each stretch of time (series.ts). */
export interface EquityRows {
  readonly times: readonly number[];
  readonly equity: readonly number[];
  readonly cash: readonly number[];
  readonly positions: readonly number[];
  /** The largest of its stretch. */
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
  /** What it brought by closing. */
  readonly brought: number | undefined;
}

export interface MarketResult {
  readonly id: string;
  readonly question: string;
  readonly outcomes: readonly string[];
  readonly tokens: readonly string[];
  readonly fills: number;
  readonly profit: number;
  /** Shares of each outcome at the end. */
  readonly shares: readonly [number, number];
  readonly payout: readonly number[] | undefined;
  /** Of the first outcome: the middle of the source's prices, and its shares less those of the second. */
  readonly times: readonly number[];
  readonly mid: readonly (number | null)[];
  readonly inventory: readonly number[];
}
