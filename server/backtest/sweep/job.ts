/**
 * Jobs of a sweep and their results: data that crosses threads, and lines of a file.
 */
import type { BacktestOptions } from '../backtest.ts';
import type { ParameterValues } from '../parameters.ts';
import type { BacktestResult, Figures } from '../result.ts';
import type { StrategyOrigin } from '../strategy-run.ts';

/** Options that all runs of a sweep share. */
export type SweepOptions = Omit<BacktestOptions, 'name' | 'parameters' | 'from' | 'to'>;

/** First and last time of a run in unix milliseconds; undefined = those of the recording. */
export interface Span {
  readonly from?: number;
  readonly to?: number;
}

export interface SweepJob {
  readonly recording: string;
  readonly origin: StrategyOrigin;
  readonly options: SweepOptions;
  readonly values: ParameterValues;
  readonly span: Span;
}

/** Input of a thread of the pool. */
export interface SweepTask {
  readonly job: SweepJob;
  /** Loader of strategies in TypeScript (strategy-file.ts). */
  readonly loaders: readonly string[];
}

/** Result of one run, without its fills and curves. */
export interface SweepRow
  extends Pick<
    BacktestResult,
    'levelsRefused' | 'messages' | 'messagesDamaged' | 'pausesCut' | 'timesDecreasing'
  > {
  readonly recording: string;
  readonly values: ParameterValues;
  readonly span: Span;
  readonly figures: Numbers;
  /** Times at which the strategy began and ended; absent = it never began. */
  readonly from?: number;
  readonly to?: number;
}

/** `usage`: the input is wrong. `failed`: the strategy failed. An unknown error is rethrown. */
export type SweepOutcome =
  | { readonly kind: 'done'; readonly row: SweepRow }
  | { readonly kind: 'usage' | 'failed'; readonly message: string; readonly detail: string };

/** Figures as numbers by their names, of the drawdown its amount; null = the run has no value. */
export type Numbers = Readonly<Record<string, number | null>>;

export function numbersOf(figures: Figures): Numbers {
  const entries = Object.entries(figures).flatMap(([name, value]): [string, number | null][] => {
    if (name === 'drawdown') return [[name, figures.drawdown.amount]];
    if (value === undefined) return [[name, null]];
    return typeof value === 'number' ? [[name, value]] : [];
  });
  return Object.fromEntries(entries);
}
