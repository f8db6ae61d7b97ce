/** Fills, equity, days and markets of a backtest as CSV, times as ISO 8601 in UTC. */
import { csvOf, plainColumn, textColumn } from '../../storage/texts/csv.ts';
import type { BacktestResult, Day, FillRow, MarketResult, TradeFigures } from './result.ts';

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

const TRADE_COLUMNS = {
  fills: plainColumn(({ fills }: TradeFigures) => fills),
  maker_fills: plainColumn(({ makerFills }: TradeFigures) => makerFills),
  turnover: plainColumn(({ turnover }: TradeFigures) => turnover),
  fees: plainColumn(({ fees }: TradeFigures) => fees),
  fill_rate: plainColumn(({ fillRate }: TradeFigures) => fillRate),
  adverse_1s: plainColumn(({ adverse1s }: TradeFigures) => adverse1s),
  adverse_10s: plainColumn(({ adverse10s }: TradeFigures) => adverse10s),
  adverse_60s: plainColumn(({ adverse60s }: TradeFigures) => adverse60s),
  time_at_best: plainColumn(({ timeAtBest }: TradeFigures) => timeAtBest),
  brier: plainColumn(({ brier }: TradeFigures) => brier),
  brier_advantage: plainColumn(({ brierAdvantage }: TradeFigures) => brierAdvantage),
};

const DAY_COLUMNS = {
  day: plainColumn(({ day }: Day) => day),
  profit: plainColumn(({ profit }: Day) => profit),
  return: plainColumn((day: Day) => day.return),
  drawdown: plainColumn(({ drawdown }: Day) => drawdown),
  equity: plainColumn(({ equity }: Day) => equity),
  positions: plainColumn(({ positions }: Day) => positions),
  ...TRADE_COLUMNS,
};

const MARKET_COLUMNS = {
  market: textColumn(({ id }: MarketResult) => id),
  question: textColumn(({ question }: MarketResult) => question),
  profit: plainColumn(({ profit }: MarketResult) => profit),
  drawdown: plainColumn(({ drawdown }: MarketResult) => drawdown),
  sharpe: plainColumn(({ sharpe }: MarketResult) => sharpe),
  sortino: plainColumn(({ sortino }: MarketResult) => sortino),
  inventory: plainColumn(({ inventory }: MarketResult) => inventory.at(-1)),
  inventory_max: plainColumn(({ inventoryMax }: MarketResult) => inventoryMax),
  payout: plainColumn(({ payout }: MarketResult) => payout?.[0]),
  ...TRADE_COLUMNS,
};

export function daysCsv({ days }: BacktestResult): string {
  return csvOf(DAY_COLUMNS, days);
}

export function marketsCsv({ markets }: BacktestResult): string {
  return csvOf(MARKET_COLUMNS, markets);
}

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
