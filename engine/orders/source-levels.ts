/**
 * Size of a source level: it is added, changes in place, trades with orders that it crosses, or ends. Rules:
 * docs/guides/paper-and-backtests.md#levels
 */
import type * as matching from '../book/matching.ts';
import type { EngineContext } from '../context.ts';
import { EventKind } from '../events.ts';
import {
  freeCash,
  lookUpPosition,
  reserve,
  reserveAgain,
  reservedCash,
} from '../ledger/reservations.ts';
import { AMOUNT_MAX } from '../tables/capacities.ts';
import { EndReason, SOURCE_ADDRESS, Status } from '../tables/codes.ts';
import { Flag, ORDER_F, ORDER_I, Order } from '../tables/layout.ts';
import type { Tables } from '../tables/tables.ts';
import type { AccountRow, MicroShares, OrderRow, Pips, Ticks } from '../tables/units.ts';
import { PIPS_PER_UNIT } from '../tables/units.ts';
import { findAccount } from './accounts.ts';
import { hasPlace } from './books.ts';
import { crosses, matchTaker } from './match.ts';
import { closeOrder } from './orders.ts';
import { RejectReason, type RejectReasonCode } from './reject-reasons.ts';
import {
  costOf,
  hasRoom,
  isEnded,
  isTrading,
  largestFeeOf,
  note,
  type Place,
  setAmounts,
  takeRow,
} from './source-purchase.ts';
import { enterLevel, findLevel, freeLevel } from './source-rows.ts';

export function setLevel(context: EngineContext, p: Place): RejectReasonCode {
  const { t } = context;
  const row = findLevel(t, p.book, p.side, p.pips);
  if (p.size === 0) {
    if (row === 0) return RejectReason.accepted;
    note(context, p);
    closeOrder(context, row, EndReason.canceled);
    return RejectReason.accepted;
  }
  if (isEnded(t, p.market)) return RejectReason.marketNotReady;
  if (p.tick === 0) return RejectReason.tick;
  return row === 0 ? addLevel(context, p, p.tick) : resizeLevel(context, row, p, p.tick);
}

function resizeLevel(
  context: EngineContext,
  row: OrderRow,
  p: Place,
  tick: Ticks,
): RejectReasonCode {
  const { events, t } = context;
  const { matching: m, orderI } = t;
  const offset = row << ORDER_I;
  const restingSlot = orderI[offset + Order.restingSlot]!;
  const before = m.remaining(restingSlot);
  if (before === p.size) return RejectReason.accepted;
  if (m.quantityAt(p.book, tick) - before + p.size > AMOUNT_MAX)
    return RejectReason.sizeAboveMaximum;
  const cost = costOf(p, tick, p.size);
  const reserved = reservedCash(t, row);
  const free = freeCash(t, orderI[offset + Order.maker]! as AccountRow);
  if (free + reserved < cost) return RejectReason.notEnough;
  note(context, p);
  context.touch(p.book);
  setAmounts(t, row, p.size, cost);
  reserveAgain(context, row, reserved);
  m.resize(restingSlot, p.size);
  events.level(EventKind.levelSource, p.book, tick, p.grid, m.total as MicroShares, p.side);
  return RejectReason.accepted;
}

function addLevel(context: EngineContext, p: Place, tick: Ticks): RejectReasonCode {
  const { t } = context;
  const { matching: m } = t;
  const account = findAccount(t, SOURCE_ADDRESS, 0);
  const cost = costOf(p, tick, p.size);
  if (account === 0 || freeCash(t, account) < cost) return RejectReason.notEnough;
  const facing = (1 - p.side) as matching.Side;
  const isCrossing = crosses(p.side, m.best(p.book, facing), tick);
  if (isCrossing && meetsItself(t, p, tick)) return RejectReason.sourceCrossed;
  if (isCrossing && !isTrading(t, p.market)) return RejectReason.marketNotReady;
  if (isCrossing && freeCash(t, account) < cost + largestFeeOf(t, p, tick, p.size))
    return RejectReason.notEnough;
  lookUpPosition(context, account, p.token);
  if (!hasRoom(context) || !hasPlace(t, p.book)) return RejectReason.tableFull;
  // What lies at the price of a level that crosses is of the other side, and goes before it rests.
  if (!isCrossing && m.quantityAt(p.book, tick) + p.size > AMOUNT_MAX)
    return RejectReason.sizeAboveMaximum;
  note(context, p);
  const row = takeRow(context, account, p, tick, cost);
  if (isCrossing) matchTaker(context, row, p.book, tick);
  if (t.orderF[(row << ORDER_F) + Order.remaining] === 0) freeLevel(context, row);
  else standLevel(context, row, p, tick);
  return RejectReason.accepted;
}

/** True when a source level of the other side is within the limit of a new one. */
function meetsItself(t: Tables, { book, grid, side }: Place, limit: Ticks): boolean {
  const { matching: m } = t;
  const facing = (1 - side) as matching.Side;
  for (let tick = m.best(book, facing); crosses(side, tick, limit); ) {
    const pips = (tick * (PIPS_PER_UNIT / grid)) as Pips;
    if (findLevel(t, book, facing, pips) !== 0) return true;
    tick = m.worse(book, facing, tick);
  }
  return false;
}

/** Puts the remainder of a source level at the end of the queue of its price. */
function standLevel(context: EngineContext, row: OrderRow, p: Place, tick: Ticks): void {
  const { events, t } = context;
  const { matching: m, orderI } = t;
  const offset = row << ORDER_I;
  context.touch(p.book);
  orderI[offset + Order.flags]! |= Status.live << Flag.statusShift;
  const remaining = t.orderF[(row << ORDER_F) + Order.remaining]!;
  orderI[offset + Order.restingSlot] = m.rest(p.book, p.side, tick, remaining, row);
  const total = m.total as MicroShares;
  events.level(EventKind.levelSource, p.book, tick, p.grid, total, p.side);
  enterLevel(t, row);
  reserve(context, row);
}
