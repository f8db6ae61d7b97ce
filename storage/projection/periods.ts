/**
 * Periods of the boards: days, weeks from Monday on and months of UTC, all time, and seasons. Rule:
 * docs/protocol.md#profit-and-volume
 *
 * Thread: any; pure.
 */
export const PERIODS = ['day', 'week', 'month', 'all', 'season'] as const;
export type Period = (typeof PERIODS)[number];
/** Periods that end. */
export const ROLLING = ['day', 'week', 'month', 'season'] as const;

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
const WEEK_DAYS = 7;
/** Day 0 of Unix time is a Thursday. */
const THURSDAY = 3;
const YEAR_MONTHS = 12;

/**
 * Number of the period that contains a time in unix milliseconds; consecutive ones have consecutive numbers.
 * @param seasonEnds last milliseconds of the seasons before now, in order
 */
export function periodNumber(period: Period, time: number, seasonEnds: readonly number[]): number {
  const day = Math.floor(time / DAY_MS);
  switch (period) {
    case 'day':
      return day;
    case 'week':
      return Math.floor((day + THURSDAY) / WEEK_DAYS);
    case 'month': {
      const date = new Date(time);
      return date.getUTCFullYear() * YEAR_MONTHS + date.getUTCMonth();
    }
    case 'all':
      return 0;
    case 'season':
      return 1 + seasonEnds.filter((end) => end < time).length;
  }
}

/** Times of one day of UTC and of one season: each period has the same number at all of them. */
export class PeriodSpan {
  readonly numbers: Readonly<Record<(typeof ROLLING)[number], number>>;
  private readonly day: number;
  /** Last milliseconds of the season before, and of this one. */
  private readonly after: number;
  private readonly last: number;

  constructor(time: number, seasonEnds: readonly number[]) {
    const numberOf = (period: Period): number => periodNumber(period, time, seasonEnds);
    const season = numberOf('season');
    this.day = numberOf('day');
    this.numbers = { day: this.day, week: numberOf('week'), month: numberOf('month'), season };
    this.after = seasonEnds[season - 2] ?? Number.NEGATIVE_INFINITY;
    this.last = seasonEnds[season - 1] ?? Number.POSITIVE_INFINITY;
  }

  has(time: number): boolean {
    return Math.floor(time / DAY_MS) === this.day && time > this.after && time <= this.last;
  }
}
