/** `backtest` with `--sweep`, `--recording`, `--out` or `--walk-forward`: many runs on all processors. */
import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import { writeWhole } from '../../storage/files/whole-file.ts';
import { openRecording } from '../../storage/recordings/recording.ts';
import { type BacktestOptions, type BacktestResult, reportHtml } from '../backtest/backtest.ts';
import type { ParameterValues } from '../backtest/parameters.ts';
import {
  declaredBy,
  originText,
  runStrategy,
  type StrategyOrigin,
} from '../backtest/strategy-run.ts';
import { fileDigest, strategyDigest } from '../backtest/sweep/digests.ts';
import { combinationsOf, type SweptValues, sweptValues } from '../backtest/sweep/grid.ts';
import type { Span, SweepJob, SweepOptions, SweepRow } from '../backtest/sweep/job.ts';
import { type Combination, combined, ranked } from '../backtest/sweep/ranking.ts';
import { OtherResults, ResultsFile } from '../backtest/sweep/results-file.ts';
import { Sweep, SweepFailed } from '../backtest/sweep/sweep.ts';
import { sweepCsv, windowsCsv } from '../backtest/sweep/sweep-csv.ts';
import { sweepReport, windowsReport } from '../backtest/sweep/sweep-report.ts';
import {
  type Lengths,
  type Window,
  type WindowResult,
  walkForward,
  windowsOf,
} from '../backtest/sweep/walk-forward.ts';
import { packageVersion } from '../common/package-version.ts';
import {
  assignedBy,
  listOf,
  noteOmissions,
  percent,
  reported,
  withFlags,
} from './backtest-options.ts';
import { type Cells, given, tableLines } from './command.ts';
import { type Context, type Exit, type Options, Refused } from './context.ts';
import { numberOf, optionOf, secondsOf, textOf } from './settings.ts';

/** Options that a sweep does not take. */
const OF_ONE_RUN = {
  checkLookahead: '--check-lookahead',
  compare: '--compare',
  parquet: '--parquet',
} as const;
/** Options of which each makes a sweep of the command. */
export const SWEEP_OPTIONS: readonly string[] = ['sweep', 'recording', 'out', 'walkForward'];

const RANK = 'profit';
const MS_A_SECOND = 1_000;

interface Plan {
  readonly recordings: readonly string[];
  readonly origin: StrategyOrigin;
  readonly swept: SweptValues;
  readonly combinations: readonly ParameterValues[];
  readonly options: SweepOptions;
  readonly span: Span;
  readonly rank: string;
}

export async function runSweep(
  context: Context,
  recording: string,
  [origin, ...others]: readonly StrategyOrigin[],
  settings: BacktestOptions,
  options: Options,
): Promise<Exit> {
  if (origin === undefined || others.length > 0) throw new Refused('a sweep is of one strategy');
  for (const [name, option] of Object.entries(OF_ONE_RUN))
    if (options[name] !== undefined) throw new Refused(`${option} is for one run, with --set`);
  return await reported<Exit>(context, origin, async () => {
    const plan = await planOf(recording, origin, settings, options);
    const lengths = optionOf(options, 'walkForward', lengthsOf);
    const { progress } = context;
    const threads = optionOf(options, 'threads', (text, flag) => numberOf(text, flag, 1));
    const sweep = new Sweep(
      threads ?? availableParallelism(),
      await resultsOf(plan, options),
      (done, total) => progress.show(`runs: ${done} of ${total},`, done, total),
    );
    try {
      if (lengths === undefined) await sweepAll(context, sweep, plan, options);
      else await walk(context, sweep, plan, lengths, options);
      return 'done';
    } catch (error) {
      if (!(error instanceof SweepFailed)) throw error;
      progress.clear();
      if (error.kind === 'usage') throw new Refused(withFlags(error.message));
      context.stderr.block(error.detail);
      throw new Error(error.message, { cause: error });
    } finally {
      await sweep.close();
    }
  });
}

async function planOf(
  recording: string,
  origin: StrategyOrigin,
  { from, to, ...shared }: BacktestOptions,
  options: Options,
): Promise<Plan> {
  const declared = await declaredBy(origin);
  const assigned = await assignedBy(origin, options);
  const text = textOf(options, 'sweep');
  const swept = text === undefined ? new Map() : sweptValues(declared, text);
  const both = [...swept.keys()].find((name) => Object.hasOwn(assigned, name));
  if (both !== undefined) throw new Refused(`${both} is both in --set and in --sweep`);
  return {
    recordings: [...new Set([recording, ...listOf(options, 'recording')])],
    origin,
    swept,
    combinations: combinationsOf({ ...declared, ...assigned }, swept),
    options: shared,
    span: given({ from: numberIn(from), to: numberIn(to) }),
    rank: textOf(options, 'rank') ?? RANK,
  };
}

function numberIn(time: number | Date | undefined): number | undefined {
  return time === undefined ? undefined : Number(time);
}

async function resultsOf(plan: Plan, options: Options): Promise<ResultsFile | undefined> {
  const out = textOf(options, 'out');
  if (out === undefined) return undefined;
  const { origin, recordings } = plan;
  const digests = new Map<string, string>();
  for (const path of recordings) digests.set(path, await fileDigest(path));
  try {
    return new ResultsFile(
      out,
      {
        program: packageVersion(),
        strategy: originText(origin),
        sha256: strategyDigest(origin),
        options: plan.options,
      },
      digests,
    );
  } catch (error) {
    if (error instanceof OtherResults) throw new Refused(error.message);
    throw error;
  }
}

async function sweepAll(
  context: Context,
  sweep: Sweep,
  plan: Plan,
  options: Options,
): Promise<void> {
  const { combinations, options: shared, origin, rank, recordings, span, swept } = plan;
  const jobs = recordings.flatMap((recording) =>
    combinations.map((values): SweepJob => ({ recording, origin, options: shared, values, span })),
  );
  const best = ranked(combined(await sweep.run(jobs)), rank);
  const names = swept.size > 0 ? [...swept.keys()] : Object.keys(combinations[0]!);
  const [html, csv] = [textOf(options, 'html'), textOf(options, 'csv')];
  if (csv !== undefined) await writeTable(csv, 'sweep.csv', sweepCsv(best));
  if (html !== undefined) {
    const runs = await runsOf(plan, best[0]!.values);
    await writeWhole(html, [reportHtml(runs, sweepReport(best, names, recordings, rank))]);
  }
  const { stderr, stdout } = context;
  context.progress.clear();
  if (options.json === true) for (const each of best) stdout.json(jsonOf(each));
  else {
    const cells = cellsOf(names, rank, recordings.length > 1);
    stdout.lines(tableLines(best, cells, Object.keys(cells)));
  }
  for (const row of best[0]!.rows) noteOmissions(stderr, row.recording, row);
}

async function walk(
  context: Context,
  sweep: Sweep,
  plan: Plan,
  lengths: Lengths,
  options: Options,
): Promise<void> {
  const { combinations, options: shared, origin, rank, recordings, span, swept } = plan;
  const windows: Window[] = [];
  for (const recording of recordings)
    windows.push(...windowsOf(recording, await spanOf(recording, span), lengths));
  if (windows.length === 0)
    throw new Refused('no recording is as long as the train part of --walk-forward and more');
  const results = await walkForward(
    sweep,
    windows,
    combinations,
    { options: shared, origin },
    rank,
  );
  const [html, csv] = [textOf(options, 'html'), textOf(options, 'csv')];
  if (csv !== undefined) await writeTable(csv, 'windows.csv', windowsCsv(results));
  if (html !== undefined)
    await writeWhole(html, [reportHtml([], windowsReport(results, [...swept.keys()], rank))]);
  const { stderr, stdout } = context;
  context.progress.clear();
  if (options.json === true) for (const each of results) stdout.json(windowJson(each));
  else stdout.lines(windowLines(results, [...swept.keys()], rank));
  for (const recording of recordings) {
    const last = results.findLast((result) => result.recording === recording);
    if (last !== undefined) noteOmissions(stderr, recording, last.tested);
  }
}

/** Runs a combination once more over each recording, for fills and curves. */
async function runsOf(
  { options, origin, recordings, span }: Plan,
  parameters: ParameterValues,
): Promise<BacktestResult[]> {
  const results: BacktestResult[] = [];
  for (const recording of recordings) {
    const result = await runStrategy(recording, origin, { ...options, ...span, parameters });
    results.push({ ...result, name: basename(recording) });
  }
  return results;
}

/** First and last time of the messages of a recording, within the wanted ones. */
async function spanOf(path: string, { from, to }: Span): Promise<Required<Span>> {
  const recording = await openRecording(path);
  let first: number | undefined;
  let last = 0;
  for await (const entries of recording.batches()) {
    for (const { at, kind } of entries) {
      if (kind !== 'message') continue;
      first ??= at;
      last = at;
    }
  }
  first ??= last;
  return { from: Math.max(first, from ?? first), to: Math.min(last, to ?? last) };
}

function lengthsOf(text: string): Lengths {
  const what = '--walk-forward';
  const [train = '', test = '', more] = text.split('/');
  if (test === '' || more !== undefined)
    throw new Refused(`${what} must be two times such as 6h/1h, not "${text}"`);
  return {
    trainMs: secondsOf(train, what) * MS_A_SECOND,
    testMs: secondsOf(test, what) * MS_A_SECOND,
  };
}

type Format = (value: number) => string;
const decimal: Format = (value) => value.toFixed(2);
const whole: Format = String;

/** Columns by their headings: figure and format. */
const FIGURE_COLUMNS: Readonly<Record<string, readonly [figure: string, Format]>> = {
  profit: ['profit', decimal],
  return: ['return', percent],
  drawdown: ['drawdown', decimal],
  sharpe: ['sharpe', decimal],
  'hit rate': ['hitRate', percent],
  turnover: ['turnover', decimal],
  fees: ['fees', decimal],
  fills: ['fills', whole],
  orders: ['orders', whole],
  refused: ['refused', whole],
};

const OTHER_COLUMNS = ['worst', 'recording', 'train', 'test', 'until'];

function cellsOf(names: readonly string[], rank: string, hasMany: boolean): Cells<Combination> {
  const cells: Record<string, (row: Combination) => string> = {};
  for (const name of names) cells[headingOf(name)] = ({ values }) => String(values[name]);
  for (const [heading, [figure, format]] of Object.entries(FIGURE_COLUMNS)) {
    cells[heading] = ({ figures }) => shown(figures[figure], format);
    if (heading === 'profit' && hasMany)
      cells.worst = ({ rows }) =>
        decimal(Math.min(...rows.map(({ figures }) => figures.profit ?? 0)));
  }
  const isShown = Object.values(FIGURE_COLUMNS).some(([figure]) => figure === rank);
  if (!isShown) cells[rank] = ({ figures }) => shown(figures[rank], String);
  return cells;
}

/** Heading of a parameter, also of one that is named as a column of the tables. */
function headingOf(name: string): string {
  const isTaken = [...Object.keys(FIGURE_COLUMNS), ...OTHER_COLUMNS].includes(name);
  return isTaken ? `parameter ${name}` : name;
}

function shown(value: number | null | undefined, format: Format): string {
  return value === null || value === undefined ? '-' : format(value);
}

function windowLines(
  results: readonly WindowResult[],
  names: readonly string[],
  rank: string,
): string[] {
  const hasMany = new Set(results.map(({ recording }) => recording)).size > 1;
  const rankOf = ({ figures }: SweepRow): string =>
    shown(figures[rank], rank === RANK ? decimal : String);
  const cells: Record<string, (row: WindowResult) => string> = {};
  if (hasMany) cells.recording = ({ recording }) => basename(recording);
  cells.train = ({ train }) => timeText(train.from);
  cells.test = ({ test }) => timeText(test.from);
  cells.until = ({ test }) => timeText(test.to);
  for (const name of names) cells[headingOf(name)] = ({ values }) => String(values[name]);
  cells[`${rank} of train`] = ({ trained }) => rankOf(trained);
  if (rank !== RANK) cells[`${rank} of test`] = ({ tested }) => rankOf(tested);
  cells.profit = ({ tested }) => shown(tested.figures.profit, decimal);
  cells.fills = ({ tested }) => shown(tested.figures.fills, whole);
  const sumOf = (figure: string): number =>
    results.reduce((sum, { tested }) => sum + (tested.figures[figure] ?? 0), 0);
  const sum = `sum of ${results.length} windows: profit ${decimal(sumOf('profit'))}, fills ${sumOf('fills')}`;
  return [...tableLines(results, cells, Object.keys(cells).slice(hasMany ? 1 : 0)), sum];
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

function jsonOf({ figures, rows, values }: Combination): object {
  const recordings = rows.map(({ span: _, values: __, ...row }) => row);
  return { parameters: values, figures, recordings };
}

function windowJson({ tested, trained, values, ...window }: WindowResult): object {
  return { ...window, parameters: values, trained: trained.figures, tested: tested.figures };
}

async function writeTable(directory: string, name: string, text: string): Promise<void> {
  mkdirSync(directory, { recursive: true });
  await writeWhole(join(directory, name), [text]);
}
