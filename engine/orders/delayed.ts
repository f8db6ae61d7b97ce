/**
 * Orders that wait for a taker delay: live, in no book and in no list of an owner, with their money reserved. They are
 * placed in place-delayed.ts. Rules: docs/protocol.md#taker-delay
 */
import { assert } from '../book/matching.ts';
import { CommandKind, commandKind, OrderCommand } from '../commands.ts';
import type { EngineContext } from '../context.ts';
import { listAgentOrder, unlistAgentOrder } from '../ledger/agents.ts';
import { reserveDelayed } from '../ledger/reservations.ts';
import { DELAYED_OF_OWNER_MAX, DELAYED_ORDERS_MAX } from '../tables/capacities.ts';
import { Status } from '../tables/codes.ts';
import {
  Flag,
  MARKET_I,
  Market,
  ORDER_F,
  ORDER_I,
  Order,
  State,
  TOKEN_I,
  Token,
} from '../tables/layout.ts';
import type { Tables } from '../tables/tables.ts';
import type { AccountRow, BookRow, MarketRow, OrderRow } from '../tables/units.ts';
import { placesTaken } from './books.ts';

const MS = 1_000;
/** Turns of arrival, after which they begin again: far more than orders that wait at a time. */
const TURNS = 2 ** 30;
const LIVE = Status.live << Flag.statusShift;

/** True for a live order that waits for its delay. */
export function isDelayed({ orderI }: Pick<Tables, 'orderI'>, row: OrderRow): boolean {
  return orderI[(row << ORDER_I) | Order.restingSlot]! < 0;
}

/** True when one more order can wait: it holds a place among the open orders, whatever its type. */
export function hasDelayRoom(t: Tables): boolean {
  return t.delayed.size < DELAYED_ORDERS_MAX && placesTaken(t) < t.capacities.orders;
}

/** True when one more order of this signer can wait; row 0 has no account yet. */
export function mayDelay({ delayCounts }: Tables, owner: AccountRow | 0): boolean {
  return delayCounts[owner]! < DELAYED_OF_OWNER_MAX;
}

/** Units (EngineContext.delayUnitMs) for which the order of a command waits if it would match now; 0 = none. */
export function takerDelay(
  { marketI }: Tables,
  market: MarketRow,
  i32: Int32Array,
  at: number,
): number {
  const ofMarket = marketI[(market << MARKET_I) | Market.takerDelay]!;
  if (commandKind(i32, at) === CommandKind.order) return ofMarket;
  return Math.max(ofMarket, i32[at + OrderCommand.delay]!);
}

/** Lets an order wait whose row is filled. It is due earlier where it expires before. */
export function delayOrder(context: EngineContext, row: OrderRow, units: number): void {
  const { delayCounts, delayed, orderF, orderI, state } = context.t;
  const offset = row << ORDER_I;
  const turn = state[State.delayed]! + 1;
  const due = context.time + units * context.delayUnitMs;
  const expiry = orderF[(row << ORDER_F) | Order.expiry]! * MS;
  state[State.delayed] = turn;
  orderI[offset | Order.flags]! |= LIVE | Flag.delayed;
  orderI[offset | Order.restingSlot] = -1 - (turn % TURNS);
  orderF[(row << ORDER_F) | Order.dueAt] = expiry === 0 ? due : Math.min(due, expiry);
  delayed.add(row);
  delayCounts[orderI[offset | Order.owner]!]! += 1;
  if ((orderI[offset | Order.flags]! & Flag.agent) !== 0) listAgentOrder(context.t, row);
  if (state[State.ledger] !== 0) reserveDelayed(context, row, 1);
  context.isDelayed = true;
  context.mix(due);
}

/** Takes an order out of those that wait, and frees its money: it is placed or closed next. */
export function stopDelay(context: EngineContext, row: OrderRow): void {
  const { delayCounts, delayed, orderI, state } = context.t;
  const offset = row << ORDER_I;
  assert(orderI[offset | Order.restingSlot]! < 0, 'an order that stops to wait has waited');
  if (state[State.ledger] !== 0) reserveDelayed(context, row, -1);
  delayed.remove(row);
  delayCounts[orderI[offset | Order.owner]!]! -= 1;
  if ((orderI[offset | Order.flags]! & Flag.agent) !== 0) unlistAgentOrder(context.t, row);
  orderI[offset | Order.restingSlot] = 0;
  orderI[offset | Order.heap] = 0;
  orderI[offset | Order.flags]! &= ~LIVE;
}

/**
 * Delayed orders that `isMeant` selects, in order of arrival. The list holds until the next call.
 */
export function delayedWhere(
  context: EngineContext,
  isMeant: (row: OrderRow) => boolean,
): Int32Array {
  const { delayed, orderI } = context.t;
  const rows = context.delayedRows;
  const size = delayed.copy(rows);
  let count = 0;
  for (let i = 0; i < size; i++) {
    if (isMeant(rows[i]! as OrderRow)) rows[count++] = rows[i]!;
  }
  const turnOf = (row: number): number => orderI[(row << ORDER_I) | Order.restingSlot]!;
  return rows.subarray(0, count).sort((a, b) => turnOf(b) - turnOf(a));
}

/** Delayed orders of an owner, newest first, for a reader between two writer turns. */
export function delayedOf({ delayed, orderI }: Tables, owner: AccountRow): readonly OrderRow[] {
  if (delayed.size === 0) return [];
  const rows = new Int32Array(delayed.size);
  delayed.copy(rows);
  const turnOf = (row: number): number => orderI[(row << ORDER_I) | Order.restingSlot]!;
  return Array.from(rows)
    .filter((row) => orderI[(row << ORDER_I) | Order.owner] === owner)
    .sort((a, b) => turnOf(a) - turnOf(b)) as OrderRow[];
}

export function delayedIn(context: EngineContext, market: MarketRow): Int32Array {
  const { delayed, orderI, tokenI } = context.t;
  if (delayed.size === 0) return NONE;
  return delayedWhere(context, (row) => {
    const token = orderI[(row << ORDER_I) | Order.token]! << TOKEN_I;
    return tokenI[token | Token.market] === market;
  });
}

/** True when an order waits that is for this book. It crossed, so the book has a ladder, and keeps it meanwhile. */
export function hasDelayed(context: EngineContext, book: BookRow): boolean {
  const { delayed, orderI, tokenI } = context.t;
  if (delayed.size === 0) return false;
  const waiting = delayedWhere(context, (row) => {
    const token = orderI[(row << ORDER_I) | Order.token]! << TOKEN_I;
    return tokenI[token | Token.book] === book;
  });
  return waiting.length > 0;
}

const NONE = new Int32Array(0);
