/**
 * The fills and the equity of a backtest as CSV: RFC 4180, a head, times as ISO 8601 in UTC. A text that a
 * spreadsheet would take for a formula begins with an apostrophe, because the names come from the source.
 */
import type { BacktestResult, FillRow } from './result.ts';

type Cell = string | number | undefined;

const FILL_COLUMNS: Readonly<Record<string, (fill: FillRow) => Cell>> = {
  time: ({ time }) => isoOf(time),
  market: ({ market }) => market,
  outcome: ({ outcome }) => outcome,
  token: ({ token }) => token,
  side: ({ side }) => side,
  price: ({ price }) => price,
  size: ({ size }) => size,
  fee: ({ fee }) => fee,
  role: ({ role }) => role,
  order: ({ order }) => order,
  cash_after: ({ cash }) => cash,
  position_after: ({ position }) => position,
  profit_of_closing: ({ brought }) => brought,
};

export function fillsCsv({ fills, markets }: BacktestResult): string {
  const questions = new Map(markets.map(({ id, question }) => [id, question]));
  const columns = Object.entries(FILL_COLUMNS);
  const rows = fills.map((fill) => [
    ...columns.map(([, read]) => read(fill)),
    questions.get(fill.market),
  ]);
  return csvOf([[...columns.map(([name]) => name), 'question'], ...rows]);
}

export function equityCsv({ equity }: BacktestResult): string {
  const rows = equity.times.map((time, i) => [
    isoOf(time),
    equity.equity[i],
    equity.cash[i],
    equity.positions[i],
    equity.drawdown[i],
  ]);
  return csvOf([['time', 'equity', 'cash', 'positions', 'drawdown'], ...rows]);
}

function csvOf(rows: readonly (readonly Cell[])[]): string {
  return rows.map((row) => `${row.map(cellText).join(',')}\r\n`).join('');
}

function cellText(cell: Cell): string {
  if (cell === undefined) return '';
  if (typeof cell === 'number') return numberText(cell);
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Six decimals at most, without an exponent. */
function numberText(value: number): string {
  const text = value.toFixed(6);
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

function isoOf(time: number): string {
  return new Date(time).toISOString();
}
