/**
 * Window and step of a request for price history (docs/protocol.md#price-history).
 *
 * Rules: the first bucket contains the start; `max` begins with the first trade; the window ends now at the latest. A
 * window with more than POINTS_MAX buckets gets the next longer step, so that one answer is bounded.
 *
 * Thread: any; pure.
 */
import { STEP_MINUTES, type Step } from '../../storage/projection/prices.ts';
import type { Interval, WindowQuery } from './history-schemas.ts';

/** Points of one token in one answer: a week of minutes, some 2 ms to render and 280 KB. */
const POINTS_MAX = 10_080;

/** Unix seconds, both ends inclusive; `from` undefined = from the first trade on. */
export interface HistoryWindow {
  readonly from: number | undefined;
  readonly to: number;
  /** Minutes; undefined = chosen by the length of the window. */
  readonly fidelity: number | undefined;
}

/** Buckets [first, last] of a step, counted since 1970. */
export interface Buckets {
  readonly step: Step;
  readonly first: number;
  readonly last: number;
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const INTERVAL_SECONDS: Readonly<Record<Exclude<Interval, 'max' | 'all'>, number>> = {
  '5m': 5 * MINUTE,
  '15m': 15 * MINUTE,
  '1h': HOUR,
  '6h': 6 * HOUR,
  '1d': DAY,
  '1w': 7 * DAY,
  '1m': 30 * DAY,
};

/** Longest window of each default step. Longer windows get the last step. */
const DEFAULT_SECONDS_MAX = [6 * HOUR, 2 * DAY, 7 * DAY, 30 * DAY] as const;

/** Returns a window, or the text of a 400. */
export function windowOf(query: WindowQuery, nowSeconds: number): HistoryWindow | string {
  const { endTs, fidelity, interval, startTs } = query;
  if (interval !== undefined) {
    if (startTs !== undefined || endTs !== undefined) {
      return 'interval cannot be combined with startTs or endTs';
    }
    if (interval === 'max' || interval === 'all') {
      return { from: undefined, to: nowSeconds, fidelity };
    }
    return { from: nowSeconds - INTERVAL_SECONDS[interval], to: nowSeconds, fidelity };
  }
  if (startTs === undefined) return 'interval or startTs is required';
  if (startTs > (endTs ?? nowSeconds)) return 'startTs must not be after endTs';
  return { from: startTs, to: Math.min(endTs ?? nowSeconds, nowSeconds), fidelity };
}

/**
 * @param firstTrade unix seconds of the earliest trade of all requested tokens
 * @returns undefined if the window ends before it
 */
export function bucketsOf(window: HistoryWindow, firstTrade: number): Buckets | undefined {
  const { fidelity, to } = window;
  const start = window.from ?? firstTrade;
  const from = Math.max(start, firstTrade);
  if (from > to) return undefined;
  let step = fidelity === undefined ? defaultStep(to - start) : stepFor(fidelity);
  while (step < 4 && count(from, to, step) > POINTS_MAX) step = (step + 1) as Step;
  const last = bucketOf(to, step);
  return { step, first: Math.max(bucketOf(from, step), last - POINTS_MAX + 1), last };
}

/** Unix seconds of the begin of a bucket. */
export function startOf(bucket: number, step: Step): number {
  return bucket * STEP_MINUTES[step] * MINUTE;
}

function bucketOf(seconds: number, step: Step): number {
  return Math.floor(seconds / (STEP_MINUTES[step] * MINUTE));
}

function count(from: number, to: number, step: Step): number {
  return bucketOf(to, step) - bucketOf(from, step) + 1;
}

function defaultStep(seconds: number): Step {
  const step = DEFAULT_SECONDS_MAX.findIndex((longest) => seconds <= longest);
  return (step === -1 ? DEFAULT_SECONDS_MAX.length : step) as Step;
}

function stepFor(minutes: number): Step {
  const step = STEP_MINUTES.findIndex((length) => minutes <= length);
  return (step === -1 ? STEP_MINUTES.length - 1 : step) as Step;
}
