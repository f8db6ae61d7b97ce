/**
 * Window and buckets of GET /v2/prices-history. Rules: docs/protocol.md#rows-of-the-data-api-v2
 *
 * Thread: any; pure.
 */
import { STEP_MINUTES, type Step } from '../../storage/projection/prices.ts';
import type { Broken } from './envelope.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const INTERVALS = ['max', 'all', '1m', '1w', '1d', '6h', '1h'] as const;
type Interval = (typeof INTERVALS)[number];

interface IntervalRule {
  /** Infinite: from the first trade. */
  readonly seconds: number;
  readonly bucket: number;
  readonly bucketMin: number;
}

const WHOLE: IntervalRule = {
  seconds: Number.POSITIVE_INFINITY,
  bucket: 12 * HOUR,
  bucketMin: 10 * MINUTE,
};
const INTERVAL_RULES: Readonly<Record<Interval, IntervalRule>> = {
  max: WHOLE,
  all: WHOLE,
  '1m': { seconds: 30 * DAY, bucket: 30 * MINUTE, bucketMin: 10 * MINUTE },
  '1w': { seconds: 7 * DAY, bucket: 5 * MINUTE, bucketMin: 5 * MINUTE },
  '1d': { seconds: DAY, bucket: MINUTE, bucketMin: MINUTE },
  '6h': { seconds: 6 * HOUR, bucket: MINUTE, bucketMin: MINUTE },
  '1h': { seconds: HOUR, bucket: MINUTE, bucketMin: MINUTE },
};

const WINDOW_SECONDS_MAX = 15 * DAY;
/** Longest window with buckets of a minute by default. */
const MINUTES_SECONDS_MAX = 12 * HOUR;
const POINTS_USUAL_MAX = 2_500;
/** Finer buckets of a whole life reach back this far. */
const FINE_SECONDS_MAX = 30 * DAY;
const COARSE_BUCKET = 3 * HOUR;

export interface PriceQuery {
  readonly interval: Interval | '';
  /** Unix seconds; 0 = none given. */
  readonly start: number;
  readonly end: number;
  readonly as_of: number;
  /** Seconds; 0 = that of the window. */
  readonly bucket_seconds: number;
}

export interface PriceWindow {
  /** Unix seconds, inclusive; 0 = from the first trade. */
  readonly from: number;
  /** Unix seconds, exclusive. */
  readonly to: number;
  /** Seconds. */
  readonly bucket: number;
}

/** Rule that the parts of a query break together. */
export function brokenWindow({ as_of, end, interval, start }: PriceQuery): Broken | undefined {
  const forms = [interval !== '', start !== 0, as_of !== 0].filter(Boolean).length;
  if (end !== 0 && start === 0) return { parameter: 'end', rule: 'end needs start' };
  if (forms !== 1) return { parameter: 'start', rule: 'give one of start, interval and as_of' };
  if (end === 0) return undefined;
  if (end <= start) return { parameter: 'end', rule: 'end must be after start' };
  return end - start > WINDOW_SECONDS_MAX
    ? { parameter: 'end', rule: 'a window has at most 15 days' }
    : undefined;
}

/** @param now unix seconds */
export function priceWindow(query: PriceQuery, now: number): PriceWindow {
  const { bucket_seconds: asked, end, interval, start } = query;
  if (interval === '') {
    const to = Math.min(end === 0 ? now + 1 : end, now + 1);
    const from = Math.max(start, to - WINDOW_SECONDS_MAX);
    return { from, to, bucket: asked === 0 ? bucketOf(to - from) : asked };
  }
  const { bucket, bucketMin, seconds } = INTERVAL_RULES[interval];
  const width = asked === 0 ? bucket : Math.max(asked, bucketMin);
  const isFine = width < COARSE_BUCKET || stepOf(width) === 0;
  const reach = Math.min(seconds, isFine ? FINE_SECONDS_MAX : Number.POSITIVE_INFINITY);
  return { from: Math.max(0, now - reach), to: now + 1, bucket: width };
}

function bucketOf(seconds: number): number {
  if (seconds <= MINUTES_SECONDS_MAX) return MINUTE;
  const coarser = STEP_MINUTES.map((minutes) => minutes * MINUTE).slice(1);
  return coarser.find((width) => seconds / width < POINTS_USUAL_MAX) ?? coarser.at(-1)!;
}

/** Longest stored step that divides a bucket; 0 where none does. */
export function stepOf(bucket: number): Step {
  let step: Step = 0;
  for (let longer = 1; longer < STEP_MINUTES.length; longer++) {
    if (bucket % (STEP_MINUTES[longer]! * MINUTE) === 0) step = longer as Step;
  }
  return step;
}
