/**
 * Matching: price, then arrival, at the resting order's price. Everything that
 * can refuse an order has been asked before the first row moves. Who trades with whom is the matching
 * core's; whose orders may not meet, and what a fill means, is settled here and in settle.ts.
 * Rules: docs/protocol.md#price-time-priority
 */

import * as matching from '../book/matching.ts';
import type { Core } from '../context.ts';
import * as core from '../context.ts';
import * as events from '../events.ts';
import * as layout from '../tables/layout.ts';
import type { AccountSlot, BookSlot, MicroShares, OrderSlot, Ticks } from '../tables/units.ts';
import { closeOrder, leave } from './orders.ts';
import { settleFill } from './settle-fill.ts';

// A module's own constants are folded into machine code; imported ones are loaded at each use.
const { BOOK_I, Book, EndReason, Flag, ORDER_F, ORDER_I, Order, State } = layout;
const { EventKind } = events;
const { SelfTrade } = core;
const { NO_LEVEL, Side } = matching;

/** True when a resting level is within the limit of a taker on the other side. */
export function crosses(side: matching.Side, level: number, limit: Ticks): boolean {
  return level !== NO_LEVEL && (side === Side.bid ? level <= limit : level >= limit);
}

/**
 * How much a taker could match inside its limit, counted up to `wanted`, into
 * core.surveyedQuantity; core.surveyStopped tells whether an order of its own account stops it
 * first. Changes nothing.
 */
export function survey(
  core: Core,
  book: BookSlot,
  side: matching.Side,
  limit: Ticks,
  account: AccountSlot | 0,
  wanted: MicroShares,
): void {
  const { t } = core;
  const policy = core.selfTrade();
  core.surveyStopped = false;
  if (policy === SelfTrade.allow || account === 0) {
    core.surveyedQuantity = t.matching.available(book, side, limit, wanted) as MicroShares;
    return;
  }
  const skips = policy === SelfTrade.cancelMaker;
  const own = findOwn(core, book, side, limit, account, wanted, skips);
  core.surveyStopped = own !== 0;
}

/**
 * The first order of an account that a taker would meet within its limit before `wanted` is filled;
 * 0 = none. Leaves in core.surveyedQuantity what others have before it, up to `wanted`. With `skips`
 * the account's own orders are passed over, and none is found.
 */
function findOwn(
  core: Core,
  book: BookSlot,
  side: matching.Side,
  limit: Ticks,
  account: AccountSlot,
  wanted: number,
  skips: boolean,
): OrderSlot | 0 {
  const { t } = core;
  const { matching: m } = t;
  const facing = (1 - side) as matching.Side;
  let quantity = 0;
  let own = 0 as OrderSlot | 0;
  for (let level = m.best(book, facing); crosses(side, level, limit) && own === 0; ) {
    for (let slot = m.first(book, level); slot !== 0 && quantity < wanted; slot = m.next(slot)) {
      const maker = m.word(slot) as OrderSlot;
      if (t.orderI[(maker << ORDER_I) | Order.maker] !== account) quantity += m.remaining(slot);
      else if (!skips) {
        own = maker;
        break;
      }
    }
    if (quantity >= wanted) break;
    level = m.worse(book, facing, level);
  }
  core.surveyedQuantity = Math.min(quantity, wanted) as MicroShares;
  return own;
}

/**
 * Fills a taker that crosses against the book until it is full, nothing is left inside its limit, or an order of
 * its own account stops it. Returns true when it was stopped.
 */
export function sweep(core: Core, taker: OrderSlot, book: BookSlot, limit: Ticks): boolean {
  const { t } = core;
  const row = taker << ORDER_I;
  const side = (t.orderI[row | Order.flags]! & Flag.ask) as matching.Side;
  const policy = core.selfTrade();
  core.firstFill = t.state[State.fills]!;
  core.touch(book);
  if (policy === SelfTrade.allow) {
    fillUpTo(core, taker, book, side, limit, t.orderF[(taker << ORDER_F) | Order.remaining]!);
    return false;
  }
  const account = t.orderI[row | Order.maker]! as AccountSlot;
  for (;;) {
    const remaining = t.orderF[(taker << ORDER_F) | Order.remaining]!;
    const own = findOwn(core, book, side, limit, account, remaining, false);
    const others = core.surveyedQuantity;
    if (others > 0) fillUpTo(core, taker, book, side, limit, others);
    if (own === 0) return false;
    if (policy !== SelfTrade.cancelTaker) closeOrder(core, own, EndReason.selfTrade);
    if (policy !== SelfTrade.cancelMaker) return true;
  }
}

/** Matches a quantity, and settles each of its fills in turn. */
function fillUpTo(
  core: Core,
  taker: OrderSlot,
  book: BookSlot,
  side: matching.Side,
  limit: Ticks,
  quantity: number,
): void {
  const { events, t } = core;
  const { matching: m } = t;
  const grid = t.bookI[(book << BOOK_I) | Book.ticksPerUnit]!;
  const fills = m.match(book, side, limit, quantity);
  for (let i = 0; i < fills; i++) {
    const slot = m.makers[i]!;
    const maker = m.word(slot) as OrderSlot;
    const tick = m.level(slot) as Ticks;
    settleFill(core, taker, maker, book, tick, i);
    const total = m.totals[i]! as MicroShares;
    if (t.orderF[(maker << ORDER_F) | Order.remaining] === 0) {
      leave(core, maker, book, tick, total, EndReason.filled);
    } else {
      events.partly(t.orderI, maker << ORDER_I);
      events.level(EventKind.levelFill, book, tick, grid, total, t.state[State.fills]! - 1);
    }
  }
}
