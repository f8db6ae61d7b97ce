/**
 * The result file of a measuring run. All times are milliseconds unless their name says otherwise.
 * Thread: any.
 */
import type { MeasureOptions } from './measure-options.ts';

export interface PercentileFigures {
  readonly p50: number;
  readonly p75: number;
  readonly p90: number;
  readonly p95: number;
  readonly p99: number;
  readonly p99_9: number;
  readonly p99_99: number;
}

export interface Distribution extends PercentileFigures {
  readonly count: number;
  readonly min: number;
  readonly mean: number;
  readonly max: number;
}

/** A stretch of the time that counts. */
export interface Stretch {
  readonly fromSeconds: number;
  /** Answered in it. */
  readonly requestsPerSecond: number;
  readonly ordersPerSecond: number;
  /** Latency of the requests that were due in it; absent without any. */
  readonly latencyMs?: Distribution;
}

export interface Figures {
  /** Requests that were due after the warm-up. */
  readonly requests: {
    readonly answered: number;
    readonly failed: number;
    readonly unanswered: number;
  };
  /** From the end of the warm-up to the last answer. */
  readonly seconds: number;
  readonly requestsPerSecond: number;
  readonly ordersPerSecond: number;
  /** From when a request was due; of a closed loop, from when it was sent. */
  readonly latencyMs: Distribution;
  readonly latencyMsByKind: Readonly<Record<string, Distribution>>;
  /** From when it was sent: what a tool would see that waits for answers. */
  readonly serviceMs: Distribution;
  /** Delay until the tool noticed that a request was due. Part of the latency. */
  readonly toolLateMs: Distribution;
  /** Percent and latency; the last one is the longest, at 100. */
  readonly percentiles: readonly (readonly [number, number])[];
  readonly servicePercentiles: readonly (readonly [number, number])[];
  readonly stretchSeconds: number;
  readonly overTime: readonly Stretch[];
}

export interface Result extends Figures {
  readonly format: 'load-measure/1';
  readonly startedAt: string;
  readonly machine: {
    readonly processors: number;
    readonly model: string;
    readonly node: string;
    /** Commit of this checkout; `undefined` outside of one. */
    readonly commit: string | undefined;
    /** Load average of the minute before the start. */
    readonly loadAverage: number;
  };
  readonly options: Omit<MeasureOptions, 'url'> & { readonly url: string };
  /** Answer of GET /exchange-info of the node. */
  readonly exchangeInfo: unknown;
  /** Orders by what became of them. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Reasons why the figures may be wrong; empty without any. */
  readonly warnings: readonly string[];
}
