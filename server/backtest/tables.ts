/** Fills, equity, days and markets of a backtest as CSV, with times as ISO 8601 in UTC, and as Parquet. */
import {
  type ColumnType,
  parquetChunks,
  parquetColumns,
} from '../../storage/columns/parquet-writer.ts';
import { type CsvColumns, csvOf, plainColumn, textColumn } from '../../storage/texts/csv.ts';
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
  shares_max: plainColumn(({ sharesMax }: MarketResult) => sharesMax),
  payout: plainColumn(({ payout }: MarketResult) => payout?.[0]),
  ...TRADE_COLUMNS,
};

/** Columns that are no texts in Parquet, of all tables. Amounts and shares are whole millionths. */
const TYPES: Readonly<Record<string, ColumnType>> = {
  time: 'time',
  ...typed('integer', ['order', 'fills', 'maker_fills']),
  ...typed('decimal', ['price', 'size', 'fee', 'cash_after', 'position_after', 'equity', 'cash']),
  ...typed('decimal', ['positions', 'profit', 'drawdown', 'turnover', 'fees', 'inventory']),
  ...typed('decimal', ['shares_max']),
  ...typed('number', ['profit_of_closing', 'return', 'sharpe', 'sortino', 'payout', 'fill_rate']),
  ...typed('number', ['adverse_1s', 'adverse_10s', 'adverse_60s', 'time_at_best', 'brier']),
  ...typed('number', ['brier_advantage']),
};

export interface ResultTable {
  csv(): string;
  /** Yields the bytes of a file; rejects where the package that writes it is not installed. */
  parquet(): AsyncIterable<Uint8Array>;
}

/** Tables of a result, by the ends of the names of their files. */
export function tablesOf(result: BacktestResult) {
  const { days, equity, fills, markets } = result;
  const questions = new Map(markets.map(({ id, question }) => [id, question]));
  const question = textColumn(({ market }: FillRow) => questions.get(market));
  const equityColumns = {
    time: plainColumn((i: number) => isoOf(equity.times[i]!)),
    equity: plainColumn((i: number) => equity.equity[i]),
    cash: plainColumn((i: number) => equity.cash[i]),
    positions: plainColumn((i: number) => equity.positions[i]),
    drawdown: plainColumn((i: number) => equity.drawdown[i]),
  };
  return {
    fills: tableOf({ ...FILL_COLUMNS, question }, fills),
    equity: tableOf(equityColumns, [...equity.times.keys()]),
    days: tableOf(DAY_COLUMNS, days),
    markets: tableOf(MARKET_COLUMNS, markets),
  } as const satisfies Readonly<Record<string, ResultTable>>;
}

export function fillsCsv(result: BacktestResult): string {
  return tablesOf(result).fills.csv();
}

export function equityCsv(result: BacktestResult): string {
  return tablesOf(result).equity.csv();
}

function tableOf<Row>(columns: CsvColumns<Row>, rows: readonly Row[]): ResultTable {
  return {
    csv: () => csvOf(columns, rows),
    parquet: () => parquetChunks(parquetColumns(columns, TYPES), rows),
  };
}

function typed(type: ColumnType, names: readonly string[]): Record<string, ColumnType> {
  return Object.fromEntries(names.map((name) => [name, type]));
}

function isoOf(time: number): string {
  return new Date(time).toISOString();
}
