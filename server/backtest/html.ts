/**
 * Backtests as one page that needs nothing else. Style, charts and data are in it; its policy forbids loading; every
 * text of the source is data.
 *
 * Thread: any. Reads the files of the page.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nearest } from '../common/nearest.ts';
import type { ReportData, ReportFill, ReportRun, SweepData } from './report-data.ts';
import type { BacktestResult, FillRow } from './result.ts';

/** Bound that keeps the page small enough to open at once. */
const FILLS_MAX = 5_000;

/** Styles that later ones override. */
const STYLES = ['page/app/base.css', 'backtest/page/report.css'];
/** Modules in the order of their dependencies. */
const SCRIPTS = [
  'backtest/page/dom.js',
  'backtest/page/format.js',
  'backtest/page/chart.js',
  'backtest/page/sweep.js',
  'backtest/page/report.js',
];

/** @param sweep where the results are those of its best combination */
export function reportHtml(
  results: readonly BacktestResult[],
  sweep: SweepData | null = null,
): string {
  const chart = readPackage('uplot/dist/uPlot.iife.min.js');
  const script = `(() => {\n'use strict';\n${SCRIPTS.map(moduleText).join('\n')}\n})();`;
  const style = [readPackage('uplot/dist/uPlot.min.css'), ...STYLES.map(readOwn)].join('\n');
  const data: ReportData = { runs: results.map(runOf), sweep };
  const policy = [
    "default-src 'none'",
    `script-src ${[chart, script].map(hashOf).join(' ')}`,
    `style-src ${hashOf(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const parts: Readonly<Record<string, string>> = {
    policy,
    title: escaped(results.map(({ name }) => name).join(', ') || 'walk-forward windows'),
    style,
    // Within a script element, no text ends it.
    data: JSON.stringify(data).replaceAll('<', '\\u003c'),
    chart,
    script,
  };
  return readOwn('backtest/page/report.html').replace(/\{\{(\w+)\}\}/g, (_, name) => parts[name]!);
}

function runOf(result: BacktestResult): ReportRun {
  const { equity, figures, levelsRefused, messages, messagesDamaged } = result;
  const { name, pausesCut, settings, timesDecreasing } = result;
  return {
    name,
    messages,
    messagesDamaged,
    timesDecreasing,
    levelsRefused,
    pausesCut,
    settings,
    figures,
    from: result.from ?? null,
    to: result.to ?? null,
    equity: { ...equity, times: equity.times.map(secondsOf) },
    fills: result.fills.slice(-FILLS_MAX).map((fill) => reportFill(result, fill)),
    days: result.days,
    markets: result.markets.map(({ payout, shares, times, tokens, ...market }) => ({
      ...market,
      times: times.map(secondsOf),
    })),
  };
}

function reportFill({ markets }: BacktestResult, fill: FillRow): ReportFill {
  const { brought, fee, market, outcome, price, role, side, size, time, token } = fill;
  const tokens = markets.find(({ id }) => id === market)?.tokens;
  return {
    time: secondsOf(time),
    market,
    outcome,
    isSecond: tokens?.[1] === token,
    side,
    price,
    size,
    fee,
    role,
    brought: brought ?? null,
  };
}

function secondsOf(ms: number): number {
  return ms / 1_000;
}

/** Converts a module to a part of one script: its imports precede it, its exports become names. */
function moduleText(name: string): string {
  return readOwn(name)
    .replace(/^import [^;]*;$/gm, '')
    .replace(/^export /gm, '');
}

function readOwn(name: string): string {
  return readNearest(join('server', name), 'the page of the report is not installed');
}

function readPackage(name: string): string {
  const text = readNearest(join('node_modules', name), `${name} is not installed`);
  return text.replaceAll('</', '<\\/');
}

function readNearest(name: string, problem: string): string {
  const path = nearest(import.meta.url, name);
  if (path === undefined) throw new Error(problem);
  return readFileSync(path, 'utf8');
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
