import type { ParameterValue } from './parameters.ts';
import type { BacktestResult, FillRow, MarketResult } from './result.ts';

/** Input of the script of the page. Times are unix seconds, as the charts expect them. */
export interface ReportData {
  readonly runs: readonly ReportRun[];
  /** Sweep whose best combination the runs have, or walk-forward windows; null = neither. */
  readonly sweep: SweepData | null;
}

export type SweepData = SweptData | WindowsData;

/** Combinations of a sweep, best first. Figures are columns in the order of `figures`. */
export interface SweptData {
  readonly kind: 'sweep';
  readonly rank: string;
  readonly names: readonly string[];
  readonly figures: readonly string[];
  readonly recordings: readonly string[];
  /** Number of all combinations; `rows` has the best of them. */
  readonly combinations: number;
  readonly rows: readonly {
    readonly values: readonly ParameterValue[];
    readonly all: readonly (number | null)[];
    /** Figures over each recording. */
    readonly each: readonly (readonly (number | null)[])[];
  }[];
}

export interface WindowsData {
  readonly kind: 'windows';
  readonly rank: string;
  readonly rows: readonly {
    readonly recording: string;
    /** Begins of train and test span, end of the test span; unix milliseconds. */
    readonly times: readonly number[];
    readonly values: string;
    /** Figure of the rank over each span. */
    readonly trained: number | null;
    readonly tested: number | null;
    readonly profit: number;
  }[];
}

export interface ReportRun
  extends Pick<
    BacktestResult,
    | 'days'
    | 'equity'
    | 'figures'
    | 'levelsRefused'
    | 'messages'
    | 'messagesDamaged'
    | 'name'
    | 'pausesCut'
    | 'settings'
    | 'timesDecreasing'
  > {
  /** Unix milliseconds; null = the strategy never began. */
  readonly from: number | null;
  readonly to: number | null;
  readonly fills: readonly ReportFill[];
  readonly markets: readonly ReportMarket[];
}

export type ReportMarket = Omit<MarketResult, 'shares' | 'payout' | 'tokens'>;

export interface ReportFill
  extends Pick<
    FillRow,
    'fee' | 'market' | 'outcome' | 'price' | 'role' | 'side' | 'size' | 'time'
  > {
  readonly isSecond: boolean;
  readonly brought: number | null;
}
