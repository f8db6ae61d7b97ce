/** The figures of a run. Formulas: docs/guides/paper-and-backtests.md#figures-of-a-backtest */
import { MICRO } from '../../engine/tables/units.ts';
import { type EquityCurve, type EquityDay, sharpeOf, sortinoOf } from './equity.ts';
import type { TradedMarket } from './markets.ts';
import type { Day, EquityRows, Figures, FillRow, MarketResult } from './result.ts';
import type { Tallies } from './tallies.ts';
import { MID_PARTS, type TradeTally } from './tally.ts';
import type { NotedFill, StrategyVenue } from './venue.ts';

export interface Counted {
  readonly tally: TradeTally;
  readonly inventoryMax: number;
  readonly curve: EquityCurve;
}

export function figuresOf(venue: StrategyVenue, cash: number, counted: Counted): Figures {
  const { curve, tally } = counted;
  const returns = curve.days.map((day) => day.return);
  const holdings = venue.markets.map(({ holding }) => holding);
  const closings = holdings.reduce((sum, holding) => sum + holding.closings, 0);
  const hits = holdings.reduce((sum, holding) => sum + holding.hits, 0);
  const { amount, share, time } = curve.drawdown;
  return {
    profit: (curve.equity - cash * MICRO) / MICRO,
    return: cash === 0 ? 0 : curve.equity / (cash * MICRO) - 1,
    equity: curve.equity / MICRO,
    drawdown: { amount: amount / MICRO, share, time },
    sharpe: sharpeOf(returns, curve.quietDays),
    sortino: sortinoOf(returns, curve.quietDays),
    ...venue.counts,
    ...tally.figures(),
    closings,
    hitRate: closings === 0 ? undefined : hits / closings,
    inventoryMax: counted.inventoryMax / MICRO,
  };
}

export function dayOf(day: EquityDay, tallies: Tallies): Day {
  return {
    ...day,
    equity: day.equity / MICRO,
    positions: day.positions / MICRO,
    profit: day.profit / MICRO,
    drawdown: day.drawdown / MICRO,
    ...tallies.ofDay(day.day).figures(),
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

/** @param days of the whole run */
export function marketOf(market: TradedMarket, days: number): MarketResult {
  const [mids, nets] = market.series.columns;
  const { equity } = market;
  const profits = equity.days.map(({ profit }) => profit);
  const quiet = days - profits.length;
  return {
    id: market.id,
    question: market.question,
    outcomes: market.outcomes,
    tokens: market.tokens,
    ...market.tally.figures(),
    profit: (market.flow + market.value) / MICRO,
    drawdown: equity.drawdown.amount / MICRO,
    sharpe: sharpeOf(profits, quiet),
    sortino: sortinoOf(profits, quiet),
    sharesMax: market.sharesMax / MICRO,
    shares: [market.shares[0] / MICRO, market.shares[1] / MICRO],
    payout: market.payout,
    times: market.series.times,
    mid: mids!.map((mid) => (Number.isNaN(mid) ? null : mid / MID_PARTS)),
    inventory: nets!.map((net) => net / MICRO),
  };
}
