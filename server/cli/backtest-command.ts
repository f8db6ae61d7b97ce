/** `backtest`: strategies over a recording; figures in the terminal, and as files. */
import { mkdirSync } from 'node:fs';
import { basename, extname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { writeWhole } from '../../storage/files/whole-file.ts';
import { RecordingDamaged } from '../../storage/recordings/entries.ts';
import {
  type BacktestOptions,
  type BacktestResult,
  backtest,
  COMPARED,
  NoStrategy,
  reportHtml,
  StrategyError,
  type StrategySource,
  tablesOf,
} from '../backtest/backtest.ts';
import { nextIteration } from '../common/event-loop.ts';
import { type Cells, given, tableLines } from './command.ts';
import { type Options, Refused, type Run } from './context.ts';
import { numberOf, optionOf, textOf, timeOf } from './settings.ts';

const COLUMNS: Cells<BacktestResult> = {
  run: 'name',
  profit: ({ figures }) => figures.profit.toFixed(2),
  return: ({ figures }) => percent(figures.return),
  drawdown: ({ figures }) => figures.drawdown.amount.toFixed(2),
  sharpe: ({ figures }) => figures.sharpe?.toFixed(2) ?? '-',
  'hit rate': ({ figures }) => (figures.hitRate === undefined ? '-' : percent(figures.hitRate)),
  turnover: ({ figures }) => figures.turnover.toFixed(2),
  fees: ({ figures }) => figures.fees.toFixed(2),
  'adverse 10s': ({ figures }) => figures.adverse10s?.toFixed(4) ?? '-',
  'fill rate': ({ figures }) => (figures.fillRate === undefined ? '-' : percent(figures.fillRate)),
  fills: ({ figures }) => String(figures.fills),
  orders: ({ figures }) => String(figures.orders),
  refused: ({ figures }) => String(figures.refused),
};

export const runBacktest: Run = async (context, [recording = '', ...files], options) => {
  const { stderr, stdout } = context;
  const settings = optionsOf(options);
  const results: BacktestResult[] = [];
  for (const file of files) {
    try {
      for (const { options: compared, words } of comparedOf(options)) {
        const result = await runOf(recording, file, { ...settings, ...compared }, results.length);
        results.push(words === '' ? result : { ...result, name: `${result.name}, ${words}` });
      }
    } catch (error) {
      if (error instanceof RangeError || error instanceof RecordingDamaged) {
        throw new Refused(error.message);
      }
      if (error instanceof NoStrategy) throw new Refused(`${file}: ${error.message}`);
      if (!(error instanceof StrategyError)) throw error;
      const { cause, message } = error;
      if (cause instanceof Error) stderr.block(`${cause.stack}\n`);
      throw new Error(`${file}: ${message}`, { cause });
    }
  }
  const named = withDistinctNames(results);
  const [html, csv] = [textOf(options, 'html'), textOf(options, 'csv')];
  if (html !== undefined) await writeWhole(html, [reportHtml(named)]);
  if (csv !== undefined) await writeTables(csv, named, 'csv');
  const parquet = textOf(options, 'parquet');
  if (parquet !== undefined) await writeTables(parquet, named, 'parquet');
  if (options.json === true) for (const each of named) stdout.json(each);
  else stdout.lines(tableLines(named, COLUMNS, Object.keys(COLUMNS).slice(1)));
  const [first] = named;
  for (const [what, count] of [
    ['damaged messages left out', first?.messagesDamaged],
    [
      'entries with a time before that of an earlier one, whose time counts',
      first?.timesDecreasing,
    ],
  ] as const) {
    if (count !== undefined && count > 0) stderr.line(`${recording}: ${what}: ${count}`);
  }
  for (const { name, pausesCut } of named) {
    if (pausesCut > 0) stderr.line(`${name}: pauses in which timers were left out: ${pausesCut}`);
  }
  return 'done';
};

/** Options of the runs of each strategy: those that are compared, or none of their own. */
function comparedOf(options: Options): readonly { words: string; options: BacktestOptions }[] {
  const name = textOf(options, 'compare');
  if (name === undefined) return [{ words: '', options: {} }];
  if (Object.hasOwn(COMPARED, name)) return COMPARED[name as keyof typeof COMPARED];
  throw new Refused(`--compare must be ${Object.keys(COMPARED).join(', ')}, not ${name}`);
}

/** Runs the strategy of a file. A rejected promise of the strategy that nothing waits for ends the run too. */
async function runOf(
  recording: string,
  file: string,
  settings: BacktestOptions,
  number: number,
): Promise<BacktestResult> {
  let rejection: StrategyError | undefined;
  const rejected = (cause: unknown): void => {
    const what = cause instanceof Error ? cause.message : String(cause);
    rejection ??= new StrategyError(`a promise that nothing waits for: ${what}`, { cause });
  };
  process.on('unhandledRejection', rejected);
  try {
    const strategy = await strategyOf(file, number);
    const name = basename(file, extname(file));
    const result = await backtest(recording, strategy, { ...settings, name });
    // Rejections are known once the promises at hand have run.
    await nextIteration();
    if (rejection !== undefined) throw rejection;
    return result;
  } finally {
    process.off('unhandledRejection', rejected);
  }
}

/** Options of the run, whose values are checked where they are used. */
function optionsOf(options: Options): BacktestOptions {
  return given({
    cash: optionOf(options, 'cash', Number),
    feeBps: optionOf(options, 'fee', numberOf),
    latencyMs: textOf(options, 'latency'),
    feedLatencyMs: textOf(options, 'feedLatency'),
    latencyFile: textOf(options, 'latencyFile'),
    seed: optionOf(options, 'seed', numberOf),
    takerDelayMs: optionOf(options, 'takerDelay', Number),
    impact: textOf(options, 'impact') as BacktestOptions['impact'],
    queue: textOf(options, 'queue') as BacktestOptions['queue'],
    from: optionOf(options, 'from', timeOf),
    to: optionOf(options, 'to', timeOf),
  });
}

async function strategyOf(file: string, number: number): Promise<StrategySource> {
  const { default: strategy } = await imported(file, number);
  const isSource = typeof strategy === 'function' || typeof strategy === 'object';
  if (isSource && strategy !== null) return strategy as StrategySource;
  throw new Refused(`${file}: its default export must be a strategy, or a function that makes one`);
}

/** @param number of the run, so that runs of a file share no state of its module */
async function imported(file: string, number: number): Promise<{ default?: unknown }> {
  const { href } = pathToFileURL(resolve(file));
  try {
    return await import(number === 0 ? href : `${href}?run=${number}`);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ERR_UNKNOWN_FILE_EXTENSION') {
      throw new Refused(
        `${file}: Node ${process.versions.node} runs no TypeScript; 22.18 and later do, and so does \`npm run cli\` in a checkout`,
      );
    }
    if (code === 'ERR_MODULE_NOT_FOUND') throw new Refused(message);
    const what = error instanceof Error ? message : String(error);
    throw new StrategyError(`it cannot be loaded: ${what}`, { cause: error });
  }
}

function withDistinctNames(results: readonly BacktestResult[]): BacktestResult[] {
  return results.map((result, i) => {
    const same = results.filter(({ name }) => name === result.name);
    if (same.length === 1) return result;
    const number = results.slice(0, i + 1).filter(({ name }) => name === result.name).length;
    return { ...result, name: `${result.name} ${number}` };
  });
}

async function writeTables(
  directory: string,
  results: readonly BacktestResult[],
  format: 'csv' | 'parquet',
): Promise<void> {
  mkdirSync(directory, { recursive: true });
  for (const result of results) {
    const name = result.name.replace(/[^\w.-]+/g, '-');
    for (const [table, rows] of Object.entries(tablesOf(result))) {
      const content = format === 'csv' ? [rows.csv()] : rows.parquet();
      await writeWhole(join(directory, `${name}-${table}.${format}`), content);
    }
  }
}

function percent(part: number): string {
  return `${(100 * part).toFixed(2)} %`;
}
