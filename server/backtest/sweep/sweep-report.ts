/** Part of the page of a report about a sweep or about walk-forward windows (page/sweep.js). Pure; any thread. */
import { basename } from 'node:path';
import { valuesText } from '../parameters.ts';
import type { SweepData } from '../report-data.ts';
import type { Combination } from './ranking.ts';
import type { WindowResult } from './walk-forward.ts';

/** Combinations in a page: the best ones. */
const ROWS_MAX = 5_000;

/** @param best combinations, best first @param names swept parameters */
export function sweepReport(
  best: readonly Combination[],
  names: readonly string[],
  recordings: readonly string[],
  rank: string,
): SweepData {
  const figures = Object.keys(best[0]?.figures ?? {});
  return {
    kind: 'sweep',
    rank,
    names,
    figures,
    recordings: recordings.map((path) => basename(path)),
    combinations: best.length,
    rows: best.slice(0, ROWS_MAX).map((combination) => ({
      values: names.map((name) => combination.values[name]!),
      all: figures.map((figure) => combination.figures[figure] ?? null),
      each: combination.rows.map((row) => figures.map((figure) => row.figures[figure] ?? null)),
    })),
  };
}

/** @param names swept parameters */
export function windowsReport(
  results: readonly WindowResult[],
  names: readonly string[],
  rank: string,
): SweepData {
  return {
    kind: 'windows',
    rank,
    rows: results.map(({ recording, test, tested, train, trained, values }) => ({
      recording: basename(recording),
      times: [train.from, test.from, test.to],
      values: valuesText(Object.fromEntries(names.map((name) => [name, values[name]!]))),
      trained: trained.figures[rank] ?? null,
      tested: tested.figures[rank] ?? null,
      profit: tested.figures.profit ?? 0,
    })),
  };
}
