/**
 * Comparison of latency at the end and at the beginning of a long run, on a machine where others
 * disturb single minutes: stretches of several minutes are compared, each by its median minute.
 *
 * Pure.
 */

/** p99 of about a second of a run, at so many seconds from its beginning. */
export interface Point {
  readonly seconds: number;
  readonly p99: number;
}

export interface Trend {
  /** Milliseconds: the median p99 of the second and of the last whole minute. */
  readonly second: number;
  readonly last: number;
  /** The medians of the first and of the last quarter of minutes, without the first minute. */
  readonly early: number;
  readonly late: number;
  /** Interquartile range of all minutes after the first, over their median. */
  readonly spread: number;
}

const MINUTE = 60;

/** Trend of at least three whole minutes. */
export function trendOf(points: readonly Point[]): Trend {
  const end = Math.floor((points.at(-1)?.seconds ?? 0) / MINUTE);
  // The first minute warms up.
  const minutes = Array.from({ length: Math.max(0, end - 1) }, (_, i) => {
    const from = (i + 1) * MINUTE;
    const within = points.filter(({ seconds }) => seconds >= from && seconds < from + MINUTE);
    return at(
      within.map(({ p99 }) => p99),
      0.5,
    );
  });
  const quarter = Math.max(1, Math.floor(minutes.length / 4));
  return {
    second: minutes[0] ?? 0,
    last: minutes.at(-1) ?? 0,
    early: at(minutes.slice(0, quarter), 0.5),
    late: at(minutes.slice(-quarter), 0.5),
    spread: (at(minutes, 0.75) - at(minutes, 0.25)) / at(minutes, 0.5),
  };
}

/**
 * Reason for which the end is too slow: both the last minute and the last quarter are slower, and a
 * bare process has not slowed as much. `undefined` when it is not.
 *
 * @param bare of the same time on the same machine
 */
export function slowdown(
  { early, last, late, second }: Trend,
  bare: Trend,
  ratioMax: number,
): string | undefined {
  const lateMax = early * ratioMax * Math.max(1, bare.late / bare.early);
  const lastMax = second * ratioMax * Math.max(1, bare.last / bare.second);
  if (late <= lateMax || last <= lastMax) return undefined;
  return (
    `p99 grows: ${ms(second)} in the second minute and ${ms(last)} in the last, ${ms(early)} in the first ` +
    `quarter and ${ms(late)} in the last; that of a bare write ${ms(bare.second)} and ${ms(bare.last)}, ` +
    `${ms(bare.early)} and ${ms(bare.late)}`
  );
}

export function ms(milliseconds: number): string {
  return `${milliseconds.toFixed(1)} ms`;
}

function at(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}
