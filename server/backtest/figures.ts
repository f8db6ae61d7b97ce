/** The figures of a run. Formulas: docs/guides/paper-and-backtests.md#figures-of-a-backtest */
import { MICRO } from '../../engine/tables/units.ts';
import { type EquityCurve, sharpeOf } from './equity.ts';
import { MID_PARTS, type TradedMarket } from './markets.ts';
import type { EquityRows, Figures, FillRow, MarketResult } from './result.ts';
import type { NotedFill, StrategyVenue } from './venue.ts';

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
    sharpe: sharpeOf(
      curve.days.map((day) => day.return),
      curve.quietDays,
    ),
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
