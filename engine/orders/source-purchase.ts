/** Source orders: place in a book, price in cash, and a row that does not rest. */
import type * as matching from '../book/matching.ts';
import { Side } from '../book/matching.ts';
import type { EngineContext } from '../context.ts';
import { positionRoom } from '../ledger/positions.ts';
import { holdPosition } from '../ledger/reservations.ts';
import { MarketFlag } from '../tables/codes.ts';
import { Flag, MARKET_I, Market, ORDER_F, ORDER_I, Order, State } from '../tables/layout.ts';
import type { Tables } from '../tables/tables.ts';
import type {
  AccountRow,
  BookRow,
  MarketRow,
  MicroShares,
  OrderRow,
  Pips,
  Ticks,
  TicksPerUnit,
  TokenRow,
} from '../tables/units.ts';
import { largestScheduleFee, mulDivFloor } from '../tables/units.ts';
import { rowRoom, takeOrder } from './orders.ts';
import { reuseLevel } from './source-rows.ts';

export interface Place {
  /** Token that the reserved account buys: the complement when the source sells. */
  readonly token: TokenRow;
  readonly market: MarketRow;
  readonly book: BookRow;
  readonly side: matching.Side;
  readonly pips: Pips;
  /** 0 = the price is off the grid. */
  readonly tick: Ticks | 0;
  readonly grid: number;
  readonly size: MicroShares;
}

export function isEnded({ marketI }: Tables, market: MarketRow): boolean {
  return (marketI[(market << MARKET_I) + Market.flags]! & MarketFlag.ended) !== 0;
}

export function isTrading({ marketI }: Tables, market: MarketRow): boolean {
  return (marketI[(market << MARKET_I) + Market.flags]! & MarketFlag.tradable) !== 0;
}

export function note(context: EngineContext, { book, size, tick }: Place): void {
  context.changes += 1;
  context.mixWord(book);
  context.mixWord(tick);
  context.mix(size);
}

/** Cost of a source order at a tick of its book, rounded up. */
export function costOf(
  { grid, side }: Pick<Place, 'grid' | 'side'>,
  tick: Ticks,
  size: number,
): number {
  // What an ask buys is the complement, at the other side of the price.
  return size - mulDivFloor(size, side === Side.ask ? tick : grid - tick, grid);
}

/** Most that a schedule takes of a source order that trades (docs/protocol.md#fees). */
export function largestFeeOf(
  { marketI }: Tables,
  { grid, market, side }: Pick<Place, 'grid' | 'market' | 'side'>,
  tick: Ticks,
  size: MicroShares,
): number {
  const offset = market << MARKET_I;
  const limit = (side === Side.ask ? grid - tick : tick) as Ticks;
  const rate = marketI[offset + Market.feeRate]!;
  const exponent = marketI[offset + Market.feeExponent]!;
  return largestScheduleFee(size, limit, grid as TicksPerUnit, rate, exponent);
}

export function hasRoom(context: EngineContext): boolean {
  const { position, t } = context;
  if (position === 0 && !positionRoom(t, 1)) return false;
  return t.state[State.freeSourceRow] !== 0 || rowRoom(context);
}

export function takeRow(
  context: EngineContext,
  account: AccountRow,
  { side, size, token }: Pick<Place, 'side' | 'size' | 'token'>,
  tick: Ticks,
  cost: number,
): OrderRow {
  const { t } = context;
  const { orderI } = t;
  const free = reuseLevel(t);
  const row = free === 0 ? takeOrder(context) : free;
  context.hasForgotten = false;
  const offset = row << ORDER_I;
  orderI.fill(0, offset, offset + (1 << ORDER_I));
  orderI[offset + Order.price] = tick;
  orderI[offset + Order.flags] = side | Flag.source;
  orderI[offset + Order.token] = token;
  orderI[offset + Order.owner] = account;
  orderI[offset + Order.maker] = account;
  t.orderF[(row << ORDER_F) + Order.created] = context.time;
  setAmounts(t, row, size, cost);
  holdPosition(context, row, account, token);
  return row;
}

export function setAmounts({ orderF }: Tables, row: OrderRow, size: number, cost: number): void {
  const d = row << ORDER_F;
  orderF[d + Order.remaining] = size;
  orderF[d + Order.original] = size;
  orderF[d + Order.budget] = cost;
}
