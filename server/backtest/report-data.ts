import type { BacktestResult, FillRow, MarketResult } from './result.ts';

/** Input of the script of the page. Times are unix seconds, as the charts expect them. */
export interface ReportData {
  readonly runs: readonly ReportRun[];
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
