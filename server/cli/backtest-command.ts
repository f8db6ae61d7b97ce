/** `backtest`: strategies over a recording; figures in the terminal, and as files. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { writeWhole } from '../../storage/files/whole-file.ts';
import {
  type BacktestOptions,
  type BacktestResult,
  COMPARED,
  NoStrategy,
  reportHtml,
  tablesOf,
} from '../backtest/backtest.ts';
import { type Cuts, checkLookahead, type Lookahead } from '../backtest/lookahead.ts';
import { loadStrategy } from '../backtest/strategy-file.ts';
import { originText, runStrategy, type StrategyOrigin } from '../backtest/strategy-run.ts';
import {
  assignedBy,
  cutsOf,
  decimalOf,
  noteOmissions,
  percent,
  reported,
} from './backtest-options.ts';
import { type Cells, given, tableLines } from './command.ts';
import { type Context, type Exit, type Options, Refused, type Run } from './context.ts';
import { numberOf, optionOf, textOf, timeOf } from './settings.ts';
import { runSweep, SWEEP_OPTIONS } from './sweep-command.ts';

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

/** Runs the command in one of its forms: runs, a sweep (sweep-command.ts), or a look-ahead check. */
export const runBacktest: Run = async (context, [recording = '', ...files], options) => {
  const command = textOf(options, 'command');
  const origins: StrategyOrigin[] = files.map((file) => ({ file }));
  if (command !== undefined) origins.push({ command });
  if (origins.length === 0) throw new Refused('missing required argument: STRATEGY, or --command');
  const settings = optionsOf(options);
  if (SWEEP_OPTIONS.some((name) => options[name] !== undefined))
    return await runSweep(context, recording, origins, settings, options);
  for (const name of ['rank', 'threads'])
    if (options[name] !== undefined) throw new Refused(`--${name} is for a sweep`);
  if (options.checkLookahead !== undefined)
    return await runLookahead(context, recording, origins, settings, options);
  const results: BacktestResult[] = [];
  for (const origin of origins) {
    for (const { options: compared, words } of comparedOf(options)) {
      const run = async () => {
        if (words !== '') await checkMakes(origin);
        const parameters = await assignedBy(origin, options);
        return await runStrategy(recording, origin, { ...settings, ...compared, parameters });
      };
      const result = await reported(context, origin, run);
      results.push(words === '' ? result : { ...result, name: `${result.name}, ${words}` });
    }
  }
  await showRuns(context, recording, results, options);
  return 'done';
};

async function showRuns(
  { stderr, stdout }: Context,
  recording: string,
  results: readonly BacktestResult[],
  options: Options,
): Promise<void> {
  const named = withDistinctNames(results);
  const [html, csv] = [textOf(options, 'html'), textOf(options, 'csv')];
  if (html !== undefined) await writeWhole(html, [reportHtml(named)]);
  if (csv !== undefined) await writeTables(csv, named, 'csv');
  const parquet = textOf(options, 'parquet');
  if (parquet !== undefined) await writeTables(parquet, named, 'parquet');
  if (options.json === true) for (const each of named) stdout.json(each);
  else stdout.lines(tableLines(named, COLUMNS, Object.keys(COLUMNS).slice(1)));
  const [first] = named;
  if (first !== undefined) noteOmissions(stderr, recording, first);
  for (const { name, pausesCut } of named) {
    if (pausesCut > 0) stderr.line(`${name}: pauses in which timers were left out: ${pausesCut}`);
  }
}

/** Options of the runs of each strategy: those that are compared, or none of their own. */
function comparedOf(options: Options): readonly { words: string; options: BacktestOptions }[] {
  const name = textOf(options, 'compare');
  if (name === undefined) return [{ words: '', options: {} }];
  if (!Object.hasOwn(COMPARED, name))
    throw new Refused(`--compare must be ${Object.keys(COMPARED).join(', ')}, not ${name}`);
  if (options[name] !== undefined)
    throw new Refused(`--${name} is one value, and --compare ${name} runs every value`);
  return COMPARED[name as keyof typeof COMPARED];
}

/** Runs of one file share the objects of its module, so a strategy that runs several times is a function that makes it. */
async function checkMakes(origin: StrategyOrigin): Promise<void> {
  if (!('file' in origin)) return;
  const { source } = await loadStrategy(origin.file);
  if (typeof source !== 'function')
    throw new NoStrategy(
      'its default export must be a function for --compare, which runs it several times',
    );
}

/** Compares runs over a recording that is cut with the run over the whole one. */
async function runLookahead(
  context: Context,
  recording: string,
  origins: readonly StrategyOrigin[],
  settings: BacktestOptions,
  options: Options,
): Promise<Exit> {
  const { stdout } = context;
  if (options.compare !== undefined)
    throw new Refused('--compare runs several settings, and --check-lookahead checks one');
  const cuts = cutsOf(options.checkLookahead);
  let exit: Exit = 'done';
  for (const origin of origins) {
    const found = await reported(context, origin, async () => {
      const parameters = await assignedBy(origin, options);
      return await checkLookahead(recording, origin, { ...settings, parameters }, cuts);
    });
    if (found.difference !== undefined) exit = 'differs';
    const strategy = originText(origin);
    if (options.json === true) stdout.json({ strategy, ...found });
    else stdout.lines(lookaheadLines(strategy, found, cuts));
  }
  return exit;
}

function lookaheadLines(
  strategy: string,
  { actions, cuts, difference }: Lookahead,
  wanted: Cuts,
): string[] {
  const drawn = 'seed' in wanted ? ` of seed ${wanted.seed}` : '';
  if (difference === undefined)
    return [`${strategy}: it acts the same with ${cuts.length} cuts${drawn} (actions: ${actions})`];
  const { cut, untilCut, whole } = difference;
  return [
    `${strategy}: it does not act the same where the recording is cut at ${new Date(cut).toISOString()}`,
    `  whole: ${whole ?? 'nothing more'}`,
    `  cut:   ${untilCut ?? 'nothing more'}`,
  ];
}

/** Options of the run, whose values are checked where they are used. */
function optionsOf(options: Options): BacktestOptions {
  const [from, to] = [optionOf(options, 'from', timeOf), optionOf(options, 'to', timeOf)];
  if (from !== undefined && to !== undefined && from > to)
    throw new Refused('--from must be at or before --to');
  return given({
    cash: optionOf(options, 'cash', decimalOf),
    feeBps: optionOf(options, 'fee', numberOf),
    latencyMs: textOf(options, 'latency'),
    feedLatencyMs: textOf(options, 'feedLatency'),
    latencyFile: textOf(options, 'latencyFile'),
    seed: optionOf(options, 'seed', numberOf),
    takerDelayMs: optionOf(options, 'takerDelay', (text) => decimalOf(text, '--taker-delay')),
    impact: textOf(options, 'impact') as BacktestOptions['impact'],
    queue: textOf(options, 'queue') as BacktestOptions['queue'],
    from,
    to,
  });
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
