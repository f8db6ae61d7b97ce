/**
 * Reservations of open orders: a resting BUY reserves the collateral that it can still cost, a resting SELL its
 * shares. An order holds its position from acceptance to its end, so a match always finds the row. Rules:
 * docs/ledger.md#orders
 */
import type { EngineContext } from '../context.ts';
import * as layout from '../tables/layout.ts';
import type { Tables } from '../tables/tables.ts';
import type {
  AccountRow,
  MicroShares,
  OrderRow,
  PositionRow,
  Ticks,
  TicksPerUnit,
  TokenRow,
} from '../tables/units.ts';
import { largestScheduleFee, mulDivFloor } from '../tables/units.ts';
import { dropPosition, findPosition, positionRoom, takePosition } from './positions.ts';

// A module's own constants are folded into machine code; imported ones are loaded at each use.
const {
  BOOK_I,
  Book,
  CASH_F,
  Cash,
  Flag,
  MARKET_I,
  Market,
  ORDER_F,
  ORDER_I,
  Order,
  POSITION_F,
  POSITION_I,
  Position,
  TOKEN_I,
  Token,
} = layout;

/** Free cash of a wallet; 0 without an account. */
export function freeCash({ cashF }: Tables, account: AccountRow | 0): number {
  const d = account << CASH_F;
  return account === 0 ? 0 : cashF[d | Cash.total]! - cashF[d | Cash.reserved]!;
}

export function lacksFunds(
  t: Tables,
  account: AccountRow | 0,
  position: PositionRow | 0,
  sells: number,
  shares: number,
  collateral: number,
): boolean {
  if (account === 0) return true;
  if (sells === 0) return freeCash(t, account) < collateral;
  const d = position << POSITION_F;
  return t.positionF[d | Position.total]! - t.positionF[d | Position.reserved]! < shares;
}

/** Looks up the position that an order would trade; context.position is 0 when there is none. */
export function lookUpPosition(
  context: EngineContext,
  account: AccountRow | 0,
  token: TokenRow,
): void {
  context.position = account === 0 ? 0 : findPosition(context.t, account, token);
}

export function hasPositionRoom({ position, t }: EngineContext): boolean {
  return position !== 0 || positionRoom(t, 1);
}

export function holdPosition(
  context: EngineContext,
  order: OrderRow,
  account: AccountRow,
  token: TokenRow,
): void {
  const { t } = context;
  const position = context.position === 0 ? takePosition(t, account, token) : context.position;
  t.positionI[(position << POSITION_I) | Position.holds]! += 1;
  t.orderI[(order << ORDER_I) | Order.position] = position;
}

export function releasePosition(t: Tables, order: OrderRow): void {
  const at = (order << ORDER_I) | Order.position;
  const position = t.orderI[at]! as PositionRow;
  t.positionI[(position << POSITION_I) | Position.holds]! -= 1;
  t.orderI[at] = 0;
  dropPosition(t, position);
}

/**
 * Cash that a resting BUY reserves: its remaining cost, at most its budget. It is the signed amount, because an
 * order rests only at an exact price.
 */
export function reservedCash(t: Tables, order: OrderRow): number {
  const d = order << ORDER_F;
  const rest = t.orderF[d | Order.remaining]!;
  const budget = t.orderF[d | Order.budget]!;
  if (rest === t.orderF[d | Order.original]) return budget;
  const w = order << ORDER_I;
  const token = t.orderI[w | Order.token]! << TOKEN_I;
  const grid = t.bookI[(t.tokenI[token | Token.book]! << BOOK_I) | Book.ticksPerUnit]!;
  const price = t.orderI[w | Order.price]!;
  const isMirrored = t.tokenI[token | Token.mirrored] === 1;
  // Rounded up: the size less what the other side of the price is worth, rounded down.
  const cost = rest - mulDivFloor(rest, isMirrored ? price : grid - price, grid);
  return Math.min(cost, budget);
}

export function reserve(context: EngineContext, order: OrderRow): void {
  changeReserved(context, order, 1);
}

export function unreserve(context: EngineContext, order: OrderRow): void {
  if (context.t.orderF[(order << ORDER_F) | Order.remaining] !== 0)
    changeReserved(context, order, -1);
}

/** Updates the reservation of a resting BUY whose amounts changed. `before`: cash reserved until then. */
export function reserveAgain({ events, t }: EngineContext, order: OrderRow, before: number): void {
  const account = t.orderI[(order << ORDER_I) | Order.maker]! as AccountRow;
  t.cashF[(account << CASH_F) | Cash.reserved]! += reservedCash(t, order) - before;
  if (events.isOn) events.reserved(t, account, 0, 0);
}

/** Cash of a delayed BUY: what it can cost, with the largest fee of a schedule. */
export function delayedCash(t: Tables, order: OrderRow): number {
  const d = order << ORDER_F;
  const w = order << ORDER_I;
  const budget = t.orderF[d | Order.budget]!;
  const token = t.orderI[w | Order.token]! << TOKEN_I;
  const market = t.tokenI[token | Token.market]! << MARKET_I;
  const rate = t.marketI[market | Market.feeRate]!;
  if (rate === 0) return budget;
  const grid = t.marketI[market | Market.ticksPerUnit]! as TicksPerUnit;
  const price = t.orderI[w | Order.price]!;
  const limit = (t.tokenI[token | Token.mirrored] === 1 ? grid - price : price) as Ticks;
  const shares = t.orderF[d | Order.remaining]! as MicroShares;
  const exponent = t.marketI[market | Market.feeExponent]!;
  return budget + largestScheduleFee(shares, limit, grid, rate, exponent);
}

export function reserveDelayed({ events, t }: EngineContext, order: OrderRow, sign: 1 | -1): void {
  const { cashF, orderI, positionF } = t;
  const w = order << ORDER_I;
  const account = orderI[w | Order.maker]! as AccountRow;
  if ((orderI[w | Order.flags]! & Flag.sell) === 0) {
    cashF[(account << CASH_F) | Cash.reserved]! += sign * delayedCash(t, order);
    if (events.isOn) events.reserved(t, account, 0, 0);
    return;
  }
  const position = orderI[w | Order.position]! as PositionRow;
  const shares = t.orderF[(order << ORDER_F) | Order.remaining]!;
  positionF[(position << POSITION_F) | Position.reserved]! += sign * shares;
  if (events.isOn) events.reserved(t, account, position, orderI[w | Order.token]! as TokenRow);
}

function changeReserved({ events, t }: EngineContext, order: OrderRow, sign: 1 | -1): void {
  const { cashF, orderI, positionF } = t;
  const w = order << ORDER_I;
  const account = orderI[w | Order.maker]! as AccountRow;
  if ((orderI[w | Order.flags]! & Flag.sell) === 0) {
    const d = account << CASH_F;
    cashF[d | Cash.reserved]! += sign * reservedCash(t, order);
    if (events.isOn) events.reserved(t, account, 0, 0);
    return;
  }
  const position = orderI[w | Order.position]! as PositionRow;
  const rest = t.orderF[(order << ORDER_F) | Order.remaining]!;
  positionF[(position << POSITION_F) | Position.reserved]! += sign * rest;
  if (events.isOn) events.reserved(t, account, position, orderI[w | Order.token]! as TokenRow);
}
