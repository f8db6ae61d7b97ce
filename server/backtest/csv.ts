/** The fills and the equity of a backtest as CSV, times as ISO 8601 in UTC. */
import { csvOf, plainColumn, textColumn } from '../../storage/texts/csv.ts';
import type { BacktestResult, FillRow } from './result.ts';

const FILL_COLUMNS = {
  time: plainColumn(({ time }: FillRow) => isoOf(time)),
  market: textColumn(({ market }: FillRow) => market),
  outcome: textColumn(({ outcome }: FillRow) => outcome),
  token: textColumn(({ token }: FillRow) => token),
  side: plainColumn(({ side }: FillRow) => side),
  price: plainColumn(({ price }: FillRow) => price),
  size: plainColumn(({ size }: FillRow) => size),
  fee: plainColumn(({ fee }: FillRow) => fee),
  role: plainColumn(({ role }: FillRow) => role),
  order: plainColumn(({ order }: FillRow) => order),
  cash_after: plainColumn(({ cash }: FillRow) => cash),
  position_after: plainColumn(({ position }: FillRow) => position),
  profit_of_closing: plainColumn(({ brought }: FillRow) => brought),
};

export function fillsCsv({ fills, markets }: BacktestResult): string {
  const questions = new Map(markets.map(({ id, question }) => [id, question]));
  const question = textColumn(({ market }: FillRow) => questions.get(market));
  return csvOf({ ...FILL_COLUMNS, question }, fills);
}

export function equityCsv({ equity }: BacktestResult): string {
  const columns = {
    time: plainColumn((i: number) => isoOf(equity.times[i]!)),
    equity: plainColumn((i: number) => equity.equity[i]),
    cash: plainColumn((i: number) => equity.cash[i]),
    positions: plainColumn((i: number) => equity.positions[i]),
    drawdown: plainColumn((i: number) => equity.drawdown[i]),
  };
  return csvOf(columns, [...equity.times.keys()]);
}

function isoOf(time: number): string {
  return new Date(time).toISOString();
}
