/** Runs of a sweep, and walk-forward windows, as CSV with times as ISO 8601 in UTC. Pure; any thread. */
import { type CsvColumns, csvOf, plainColumn, textColumn } from '../../../storage/texts/csv.ts';
import type { ParameterValues } from '../parameters.ts';
import type { Numbers, SweepRow } from './job.ts';
import type { Combination } from './ranking.ts';
import type { WindowResult } from './walk-forward.ts';

/** A line for each run, those of the best combination first. */
export function sweepCsv(best: readonly Combination[]): string {
  const rows = best.flatMap((combination) => combination.rows);
  const recording = textColumn((row: SweepRow) => row.recording);
  const others: CsvColumns<SweepRow> = {
    from: plainColumn(({ from }) => isoOf(from)),
    to: plainColumn(({ to }) => isoOf(to)),
    messages: plainColumn(({ messages }) => messages),
    ...numberColumns(rows, '', ({ figures }) => figures),
  };
  const values = valueColumns(rows, (row) => row.values, { recording, ...others });
  return csvOf({ recording, ...values, ...others }, rows);
}

/** A line for each window. */
export function windowsCsv(results: readonly WindowResult[]): string {
  const recording = textColumn((result: WindowResult) => result.recording);
  const others: CsvColumns<WindowResult> = {
    train_from: plainColumn(({ train }) => isoOf(train.from)),
    test_from: plainColumn(({ test }) => isoOf(test.from)),
    test_to: plainColumn(({ test }) => isoOf(test.to)),
    ...numberColumns(results, 'train_', ({ trained }) => trained.figures),
    ...numberColumns(results, 'test_', ({ tested }) => tested.figures),
  };
  const values = valueColumns(results, (result) => result.values, { recording, ...others });
  return csvOf({ recording, ...values, ...others }, results);
}

/** Columns of the values. A parameter that is named as another column gets a prefix. */
function valueColumns<Row>(
  rows: readonly Row[],
  read: (row: Row) => ParameterValues,
  others: CsvColumns<Row>,
): CsvColumns<Row> {
  const first = rows[0] === undefined ? {} : read(rows[0]);
  return Object.fromEntries(
    Object.entries(first).map(([name, value]) => {
      const cell = (row: Row): string => String(read(row)[name]);
      const heading = Object.hasOwn(others, name) ? `parameter_${name}` : name;
      return [heading, typeof value === 'string' ? textColumn(cell) : plainColumn(cell)];
    }),
  );
}

function numberColumns<Row>(
  rows: readonly Row[],
  prefix: string,
  read: (row: Row) => Numbers,
): CsvColumns<Row> {
  const names = rows[0] === undefined ? [] : Object.keys(read(rows[0]));
  return Object.fromEntries(
    names.map((name) => [
      `${prefix}${name}`,
      plainColumn((row: Row) => read(row)[name] ?? undefined),
    ]),
  );
}

function isoOf(time: number | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString();
}
