/**
 * Matching: price, then arrival, at the resting order's price. Every refusal was decided before the first row
 * changes. The matching core pairs the orders; self-trade and settlement are here and in settle-fill.ts. Rules:
 * docs/protocol.md#price-time-priority
 */

import * as matching from '../book/matching.ts';
import type { EngineContext } from '../context.ts';
import * as core from '../context.ts';
import * as events from '../events.ts';
import * as codes from '../tables/codes.ts';
import * as layout from '../tables/layout.ts';
import type { Tables } from '../tables/tables.ts';
import type { AccountRow, BookRow, MicroShares, OrderRow, Ticks } from '../tables/units.ts';
import { closeOrder, closeRested } from './orders.ts';
import { settleFill } from './settle-fill.ts';

// A module's own constants are folded into machine code; imported ones are loaded at each use.
const { EndReason } = codes;
const { BOOK_I, Book, Flag, ORDER_F, ORDER_I, Order, State } = layout;
const { EventKind } = events;
const { SelfTrade } = core;
const { NO_LEVEL, Side } = matching;

/** No row of an account. */
export const NEW_AGENT = -1;

/** True when a resting level is within the limit of a taker on the other side. */
export function crosses(side: matching.Side, level: number, limit: Ticks): boolean {
  return level !== NO_LEVEL && (side === Side.bid ? level <= limit : level >= limit);
}

/**
 * Counts the quantity that a taker could match inside its limit, up to `wanted`, into context.probedQuantity.
 * context.probeStopped is true when an order of its own account stops it first. Changes nothing. `agent`: as of
 * mayEnd().
 */
export function probeLiquidity(
  context: EngineContext,
  book: BookRow,
  side: matching.Side,
  limit: Ticks,
  account: AccountRow | 0,
  agent: number,
  wanted: MicroShares,
): void {
  const { t } = context;
  const policy = context.selfTrade();
  context.probeStopped = false;
  if (policy === SelfTrade.allow || account === 0) {
    context.probedQuantity = t.matching.available(book, side, limit, wanted) as MicroShares;
    return;
  }
  const skips = policy === SelfTrade.cancelMaker;
  const own = findOwn(context, book, side, limit, account, agent, wanted, skips);
  context.probeStopped = own !== 0;
}

/**
 * First order of an account that a taker would meet within its limit before `wanted` is filled; 0 = none. Leaves
 * the quantity of others before it, up to `wanted`, in context.probedQuantity. With `skips` the account's own
 * orders are passed over where the taker may end them.
 */
function findOwn(
  context: EngineContext,
  book: BookRow,
  side: matching.Side,
  limit: Ticks,
  account: AccountRow,
  agent: number,
  wanted: number,
  skips: boolean,
): OrderRow | 0 {
  const { t } = context;
  const { matching: m } = t;
  const facing = (1 - side) as matching.Side;
  let quantity = 0;
  let own = 0 as OrderRow | 0;
  for (let level = m.best(book, facing); crosses(side, level, limit) && own === 0; ) {
    for (
      let restingSlot = m.first(book, level);
      restingSlot !== 0 && quantity < wanted;
      restingSlot = m.next(restingSlot)
    ) {
      const maker = m.userData(restingSlot) as OrderRow;
      if (t.orderI[(maker << ORDER_I) | Order.maker] !== account)
        quantity += m.remaining(restingSlot);
      else if (!skips || !mayEnd(t, maker, agent)) {
        own = maker;
        break;
      }
    }
    if (quantity >= wanted) break;
    level = m.worse(book, facing, level);
  }
  context.probedQuantity = Math.min(quantity, wanted) as MicroShares;
  return own;
}

/**
 * True for an order of the taker's account that self-trade may end: an agent ends those that it signed alone. `agent`:
 * account of the agent that signed the taker; 0 = no agent did, NEW_AGENT = an agent that has no account yet.
 */
export function mayEnd(
  { orderI }: Pick<Tables, 'orderI'>,
  order: OrderRow,
  agent: number,
): boolean {
  return agent === 0 || orderI[(order << ORDER_I) | Order.owner] === agent;
}

/** Agent of an order in the meaning of mayEnd(). */
export function agentOf({ orderI }: Pick<Tables, 'orderI'>, order: OrderRow): number {
  const offset = order << ORDER_I;
  return (orderI[offset | Order.flags]! & Flag.agent) === 0 ? 0 : orderI[offset | Order.owner]!;
}

/**
 * Fills a crossing taker until it is full, its limit is reached, or an order of its own account stops it. Returns
 * true when it was stopped.
 */
export function matchTaker(
  context: EngineContext,
  taker: OrderRow,
  book: BookRow,
  limit: Ticks,
): boolean {
  const { t } = context;
  const offset = taker << ORDER_I;
  const side = (t.orderI[offset | Order.flags]! & Flag.ask) as matching.Side;
  const policy = context.selfTrade();
  context.firstFill = t.state[State.fills]!;
  context.touch(book);
  if (policy === SelfTrade.allow) {
    fillUpTo(context, taker, book, side, limit, t.orderF[(taker << ORDER_F) | Order.remaining]!);
    return false;
  }
  const account = t.orderI[offset | Order.maker]! as AccountRow;
  const agent = agentOf(t, taker);
  for (;;) {
    const remaining = t.orderF[(taker << ORDER_F) | Order.remaining]!;
    const own = findOwn(context, book, side, limit, account, agent, remaining, false);
    const others = context.probedQuantity;
    if (others > 0) fillUpTo(context, taker, book, side, limit, others);
    if (own === 0) return false;
    if (policy === SelfTrade.cancelTaker || !mayEnd(t, own, agent)) return true;
    closeOrder(context, own, EndReason.selfTrade);
    if (policy !== SelfTrade.cancelMaker) return true;
  }
}

function fillUpTo(
  context: EngineContext,
  taker: OrderRow,
  book: BookRow,
  side: matching.Side,
  limit: Ticks,
  quantity: number,
): void {
  const { events, t } = context;
  const { matching: m } = t;
  const grid = t.bookI[(book << BOOK_I) | Book.ticksPerUnit]!;
  const fills = m.match(book, side, limit, quantity);
  for (let i = 0; i < fills; i++) {
    const restingSlot = m.makers[i]!;
    const maker = m.userData(restingSlot) as OrderRow;
    const tick = m.level(restingSlot) as Ticks;
    settleFill(context, taker, maker, book, tick, i);
    const total = m.totals[i]! as MicroShares;
    if (t.orderF[(maker << ORDER_F) | Order.remaining] === 0) {
      closeRested(context, maker, book, tick, total, EndReason.filled);
    } else if ((t.orderI[(maker << ORDER_I) | Order.flags]! & Flag.source) !== 0) {
      const facing = (1 - side) as matching.Side;
      events.level(EventKind.levelSource, book, tick, grid, total, facing);
    } else {
      events.partly(t.orderI, maker << ORDER_I);
      events.level(EventKind.levelFill, book, tick, grid, total, t.state[State.fills]! - 1);
    }
  }
}
