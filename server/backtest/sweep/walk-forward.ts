/**
 * Walk-forward windows: the best combination of a time span runs over the span after it, which it has not been chosen by.
 *
 * Thread: the caller's.
 */
import type { ParameterValues } from '../parameters.ts';
import type { Span, SweepJob, SweepRow } from './job.ts';
import { combined, ranked } from './ranking.ts';
import type { Sweep } from './sweep.ts';

export interface Lengths {
  readonly trainMs: number;
  readonly testMs: number;
}

export interface Window {
  readonly recording: string;
  readonly train: Required<Span>;
  readonly test: Required<Span>;
}

export interface WindowResult extends Window {
  /** Values of the best combination of the train span. */
  readonly values: ParameterValues;
  readonly trained: SweepRow;
  readonly tested: SweepRow;
}

const WINDOWS_MAX = 10_000;

/**
 * Returns the windows of a recording. Each begins one test span after the one before, so the test spans follow each
 * other. The last test span may be shorter.
 */
export function windowsOf(
  recording: string,
  { from, to }: Required<Span>,
  { testMs, trainMs }: Lengths,
): Window[] {
  const windows: Window[] = [];
  for (let start = from; start + trainMs <= to; start += testMs) {
    const begin = start + trainMs;
    windows.push({
      recording,
      train: { from: start, to: begin - 1 },
      test: { from: begin, to: Math.min(begin + testMs - 1, to) },
    });
    if (windows.length > WINDOWS_MAX)
      throw new RangeError(`${recording} has more than ${WINDOWS_MAX} windows`);
  }
  return windows;
}

/** Runs all combinations over the train spans, then the best one of each over its test span. */
export async function walkForward(
  sweep: Sweep,
  windows: readonly Window[],
  combinations: readonly ParameterValues[],
  shared: Pick<SweepJob, 'options' | 'origin'>,
  rank: string,
): Promise<WindowResult[]> {
  const jobOf = (recording: string, values: ParameterValues, span: Span): SweepJob => ({
    recording,
    values,
    span,
    ...shared,
  });
  const rows = await sweep.run(
    windows.flatMap(({ recording, train }) =>
      combinations.map((values) => jobOf(recording, values, train)),
    ),
  );
  const best = windows.map((_, i) => {
    const own = rows.slice(i * combinations.length, (i + 1) * combinations.length);
    return ranked(combined(own), rank)[0]!.rows[0]!;
  });
  const tested = await sweep.run(
    windows.map(({ recording, test }, i) => jobOf(recording, best[i]!.values, test)),
  );
  return windows.map((window, i) => ({
    ...window,
    values: best[i]!.values,
    trained: best[i]!,
    tested: tested[i]!,
  }));
}
