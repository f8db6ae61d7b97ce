/**
 * What a backtest gives: data alone. Amounts are units of collateral, sizes shares, times unix milliseconds. Every
 * amount is a whole number of micro-units that was divided by a million at the end.
 * Formulas: docs/paper.md#figures
 */
import { MICRO } from '../../engine/tables/units.ts';
import { type Day, type Drawdown, type EquityCurve, sharpeOf } from './equity.ts';
import { MID_PARTS, type TradedMarket } from './markets.ts';
import type { Side } from './strategy.ts';
import type { NotedFill, StrategyVenue } from './venue.ts';

/** What a run was made with. */
export interface RunSettings {
  readonly cash: number;
  readonly latencyMs: number;
  readonly impact: 'keep' | 'restore';
  readonly queue: 'pessimistic' | 'proportional';
  /** Of takers, in all markets. */
  readonly feeBps: number;
}

export interface BacktestResult {
  readonly name: string;
  /** When the strategy began, and the last line. */
  readonly from: number;
  readonly to: number;
  /** Lines of the recording in that time. */
  readonly messages: number;
  readonly settings: RunSettings;
  readonly figures: Figures;
  readonly equity: EquityRows;
  readonly days: readonly Day[];
  readonly fills: readonly FillRow[];
  /** Those that the strategy traded. */
  readonly markets: readonly MarketResult[];
  /** All of the recording. */
  readonly marketsSeen: number;
  /** Levels of the source that the engine refused; their books lacked them until their next change. */
  readonly levelsRefused: number;
}

export interface Figures {
  readonly profit: number;
  /** Profit to the cash at the beginning. */
  readonly return: number;
  readonly equity: number;
  readonly drawdown: Drawdown;
  /** Undefined = fewer than two days, or days without a difference. */
  readonly sharpe: number | undefined;
  readonly orders: number;
  readonly refused: number;
  readonly cancels: number;
  readonly fills: number;
  readonly makerFills: number;
  /** Sum of price x size. */
  readonly turnover: number;
  readonly fees: number;
  /** Fills and payouts that closed something. */
  readonly closings: number;
  /** Of those, the share that brought something; undefined = there were none. */
  readonly hitRate: number | undefined;
  /** The most that the positions were worth. */
  readonly inventoryMax: number;
}

/** Columns of the same length; a row for each stretch of time (series.ts). */
export interface EquityRows {
  readonly times: readonly number[];
  readonly equity: readonly number[];
  readonly cash: readonly number[];
  readonly positions: readonly number[];
  /** The largest of its stretch. */
  readonly drawdown: readonly number[];
}

export interface FillRow {
  readonly time: number;
  readonly market: string;
  readonly outcome: string;
  readonly token: string;
  readonly side: Side;
  readonly price: number;
  readonly size: number;
  readonly fee: number;
  readonly role: 'maker' | 'taker';
  readonly order: number;
  readonly cash: number;
  readonly position: number;
  /** What it brought by closing. */
  readonly brought: number | undefined;
}

export interface MarketResult {
  readonly id: string;
  readonly question: string;
  readonly outcomes: readonly string[];
  readonly tokens: readonly string[];
  readonly fills: number;
  readonly profit: number;
  /** Shares of each outcome at the end. */
  readonly shares: readonly [number, number];
  readonly payout: readonly number[] | undefined;
  /** Of the first outcome: the middle of the source's prices, and its shares less those of the second. */
  readonly times: readonly number[];
  readonly mid: readonly (number | null)[];
  readonly inventory: readonly number[];
}

/** What was counted while the strategy ran. */
export interface Counted {
  readonly fills: readonly NotedFill[];
  readonly turnover: number;
  readonly fees: number;
  readonly inventoryMax: number;
  readonly curve: EquityCurve;
}

export function figuresOf(venue: StrategyVenue, cash: number, counted: Counted): Figures {
  const { curve, fills } = counted;
  const holdings = venue.markets.map(({ holding }) => holding);
  const closings = holdings.reduce((sum, holding) => sum + holding.closings, 0);
  const hits = holdings.reduce((sum, holding) => sum + holding.hits, 0);
  const { amount, share, time } = curve.drawdown;
  return {
    profit: (curve.equity - cash * MICRO) / MICRO,
    return: cash === 0 ? 0 : curve.equity / (cash * MICRO) - 1,
    equity: curve.equity / MICRO,
    drawdown: { amount: amount / MICRO, share, time },
    sharpe: sharpeOf(curve.days.map((day) => day.return)),
    ...venue.counts,
    fills: fills.length,
    makerFills: fills.filter(({ role }) => role === 'maker').length,
    turnover: counted.turnover / MICRO,
    fees: counted.fees / MICRO,
    closings,
    hitRate: closings === 0 ? undefined : hits / closings,
    inventoryMax: counted.inventoryMax / MICRO,
  };
}

export function equityOf({ series }: EquityCurve): EquityRows {
  const [equity, cash, positions, drawdown] = series.columns.map((column) =>
    column.map((micro) => micro / MICRO),
  );
  return {
    times: series.times,
    equity: equity!,
    cash: cash!,
    positions: positions!,
    drawdown: drawdown!,
  };
}

export function fillOf(fill: NotedFill): FillRow {
  const { market, order, token } = fill;
  return {
    time: fill.time,
    market: market.id,
    outcome: market.outcomes[market.tokens.indexOf(token)] ?? '',
    token,
    side: fill.side,
    price: fill.price,
    size: fill.size,
    fee: fill.fee,
    role: fill.role,
    order: order.id,
    cash: fill.cash,
    position: fill.position,
    brought: fill.brought,
  };
}

export function marketOf(market: TradedMarket): MarketResult {
  const [mids, nets] = market.series.columns;
  return {
    id: market.id,
    question: market.question,
    outcomes: market.outcomes,
    tokens: market.tokens,
    fills: market.fills,
    profit: (market.flow + market.value) / MICRO,
    shares: [market.shares[0] / MICRO, market.shares[1] / MICRO],
    payout: market.payout,
    times: market.series.times,
    mid: mids!.map((mid) => (Number.isNaN(mid) ? null : mid / MID_PARTS)),
    inventory: nets!.map((net) => net / MICRO),
  };
}
