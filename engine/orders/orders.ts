/**
 * Life of an order: it gets a row when it is accepted and keeps it when it closes. Then it waits in the queue of
 * closed orders until its final state is on disk and enough younger ones follow. Only then is its id forgotten and
 * its row used again, oldest first.
 */

import type * as matching from '../book/matching.ts';
import { assert } from '../book/matching.ts';
import type { EngineContext } from '../context.ts';
import { listAgentOrder, unlistAgentOrder } from '../ledger/agents.ts';
import { releasePosition, reserve, unreserve } from '../ledger/reservations.ts';
import type { EndReasonCode } from '../tables/codes.ts';
import * as codes from '../tables/codes.ts';
import { home, indexRemove, next } from '../tables/hash-index.ts';
import * as layout from '../tables/layout.ts';
import type { Tables } from '../tables/tables.ts';
import type { AccountRow, BookRow, MicroShares, OrderRow, Ticks } from '../tables/units.ts';
import * as units from '../tables/units.ts';
import { sameId } from '../tables/words.ts';
import { linkOwner, unlinkOwner } from './accounts.ts';
import { rest } from './books.ts';
import { stopDelay } from './delayed.ts';
import { endLevel } from './source-rows.ts';

// A module's own constants are folded into machine code; imported ones are loaded at each use.
const { EndReason, Status } = codes;
const { BOOK_I, Book, CLOSED_I, Closed, Flag, ORDER_F, ORDER_I, Order, State, TOKEN_I, Token } =
  layout;
const { PIPS_PER_UNIT } = units;

const END_MASK = ~((7 << Flag.statusShift) | (15 << Flag.reasonShift));
const GOLDEN = 0x9e3779b1;

const EVICTED_MAX = 64;

/** Tag of an order id. Ids are hashes already, so mixing three of their words is enough. */
export function orderTag(key: Int32Array, at: number): number {
  return Math.imul(key[at]! ^ Math.imul(key[at + 1]!, GOLDEN), GOLDEN) ^ key[at + 7]!;
}

/** Index entry of the order with this id (8 words from `at`), or the empty entry where it would be inserted. */
export function findEntry(t: Tables, tag: number, key: Int32Array, at: number): number {
  const { orderI, orderIndex } = t;
  for (let entry = home(orderIndex, tag); ; entry = next(orderIndex, entry)) {
    const row = orderIndex[2 * entry + 1]! as OrderRow | 0;
    if (row === 0) return entry;
    if (orderIndex[2 * entry] !== tag) continue;
    if (sameId(orderI, (row << ORDER_I) | Order.id, key, at)) return entry;
  }
}

/**
 * Row of the order with this id (8 words from `at`): positive while open, negated once closed, 0 when not in
 * memory.
 */
export function findOrder(t: Tables, key: Int32Array, at: number): number {
  const row = t.orderIndex[2 * findEntry(t, orderTag(key, at), key, at) + 1]! as OrderRow | 0;
  return row === 0 || orderStatus(t, row) === Status.live ? row : -row;
}

export function orderStatus(t: Tables, row: OrderRow): number {
  return (t.orderI[(row << ORDER_I) | Order.flags]! >>> Flag.statusShift) & 7;
}

function closedAt(t: Tables, sequence: number): number {
  return (sequence & (t.closedRows - 1)) << CLOSED_I;
}

/** Row of a closed order by its sequence, while its id is in memory. */
export function closedOrder(t: Tables, sequence: number): OrderRow {
  return t.closedI[closedAt(t, sequence) | Closed.row]! as OrderRow;
}

export function closedInMemory(t: Tables): number {
  return t.state[State.closed]! - t.state[State.firstKeptClosed]!;
}

/**
 * True when one more order can have a row: a free one, or that of the oldest closed order whose final state is on
 * disk. So an order that will not rest always finds room.
 */
export function rowRoom(context: EngineContext): boolean {
  const { persistedClosedSequence, t } = context;
  const { state } = t;
  const first = state[State.firstKeptClosed]!;
  if (state[State.nextReusableClosed]! < first) return true;
  return mayUseNewRow(t) ? state[State.orderRows]! < t.orderRows : first < persistedClosedSequence;
}

/**
 * True when the next row may be one that was never used. Decided by the configured number of rows, not by the size
 * of the table: a replay in a larger table must take the same rows, because they order simultaneous expiries and
 * the cancels of an owner.
 */
function mayUseNewRow({ orderRows, state }: Tables): boolean {
  return state[State.orderRows]! < (state[State.orderRowsMax] || orderRows);
}

/** Takes a row. The caller checked the room and fills the columns. */
export function takeOrder(context: EngineContext): OrderRow {
  const { closedI, state } = context.t;
  const free = state[State.nextReusableClosed]!;
  if (free === state[State.firstKeptClosed]!) return growOrEvict(context);
  state[State.nextReusableClosed] = free + 1;
  return closedI[closedAt(context.t, free) | Closed.row]! as OrderRow;
}

function growOrEvict(context: EngineContext): OrderRow {
  const { t } = context;
  if (mayUseNewRow(t)) {
    const row = (t.state[State.orderRows]! + 1) as OrderRow;
    assert(row <= t.orderRows, 'order rows lie in their table');
    t.state[State.orderRows] = row;
    return row;
  }
  const first = t.state[State.firstKeptClosed]!;
  assert(first < context.persistedClosedSequence, 'an order row is reserved before it is taken');
  forgetClosed(context, first + 1);
  context.hasForgotten = true;
  t.state[State.nextReusableClosed] = first + 1;
  return closedOrder(t, first);
}

/** Makes an order rest: price level, owner's list, expiry. */
export type Opener = (
  row: OrderRow,
  book: BookRow,
  side: matching.Side,
  tick: Ticks,
  owner: AccountRow,
) => void;

/**
 * Captures the tables once, as placing() does. For orders that are not open and whose row is filled except its
 * slot.
 */
export function opening(context: EngineContext): Opener {
  const { t } = context;
  const { orderF, orderI, state, walletOrders } = t;
  return (row, book, side, tick, owner) => {
    const offset = row << ORDER_I;
    // Its status was 0 until now.
    orderI[offset | Order.flags]! |= Status.live << Flag.statusShift;
    state[State.openOrders]! += 1;
    const restingSlot = rest(context, row, book, side, tick);
    orderI[offset | Order.restingSlot] = restingSlot;
    linkOwner(t, owner, restingSlot);
    walletOrders[orderI[offset | Order.maker]!]! += 1;
    if ((orderI[offset | Order.flags]! & Flag.agent) !== 0) listAgentOrder(t, row);
    if (orderF[(row << ORDER_F) | Order.expiry] !== 0) t.expiring.add(row);
    if (state[State.ledger] !== 0) reserve(context, row);
  };
}

export function endStatus(reason: EndReasonCode): number {
  switch (reason) {
    case EndReason.filled:
    case EndReason.fakRemainder:
      return Status.matched;
    case EndReason.expired:
      return Status.expired;
    default:
      return Status.canceled;
  }
}

export function closeOrder(context: EngineContext, row: OrderRow, reason: EndReasonCode): void {
  const { t } = context;
  const { matching: m } = t;
  const restingSlot = t.orderI[(row << ORDER_I) | Order.restingSlot]!;
  if (restingSlot < 0) {
    closeDelayed(context, row, reason);
    return;
  }
  const book = m.book(restingSlot) as BookRow;
  context.touch(book);
  m.cancel(restingSlot);
  closeRested(context, row, book, m.level(restingSlot) as Ticks, m.total as MicroShares, reason);
}

function closeDelayed(context: EngineContext, row: OrderRow, reason: EndReasonCode): void {
  const { orderI, tokenI } = context.t;
  const offset = row << ORDER_I;
  stopDelay(context, row);
  const book = tokenI[(orderI[offset | Order.token]! << TOKEN_I) | Token.book]! as BookRow;
  closeUnrested(context, row, book, orderI[offset | Order.price]! as Ticks, reason);
}

/**
 * Closes an open order, or a source level, that has left its book. `total`: remaining quantity of its price level.
 */
export function closeRested(
  context: EngineContext,
  row: OrderRow,
  book: BookRow,
  tick: Ticks,
  total: MicroShares,
  reason: EndReasonCode,
): void {
  const { t } = context;
  const { orderI, state } = t;
  const offset = row << ORDER_I;
  if ((orderI[offset | Order.flags]! & Flag.source) !== 0) {
    endLevel(context, row, book, tick, total);
    return;
  }
  unlinkOwner(t, orderI[offset | Order.owner]! as AccountRow, orderI[offset | Order.restingSlot]!);
  t.walletOrders[orderI[offset | Order.maker]!]! -= 1;
  if ((orderI[offset | Order.flags]! & Flag.agent) !== 0) unlistAgentOrder(t, row);
  orderI[offset | Order.restingSlot] = 0;
  if (orderI[offset | Order.heap] !== 0) t.expiring.remove(row);
  if (state[State.ledger] !== 0) unreserve(context, row);
  state[State.openOrders]! -= 1;
  const grid = t.bookI[(book << BOOK_I) | Book.ticksPerUnit]!;
  context.events.ended(book, tick, grid, total, state[State.closed]!);
  appendClosed(context, row, grid, tick, reason);
}

export function closeUnrested(
  context: EngineContext,
  row: OrderRow,
  book: BookRow,
  tick: Ticks,
  reason: EndReasonCode,
): void {
  const { t } = context;
  context.events.closed(t.state[State.closed]!);
  appendClosed(context, row, t.bookI[(book << BOOK_I) | Book.ticksPerUnit]!, tick, reason);
}

/** Appends an order to the queue of closed orders: its price becomes pips of its own token. */
function appendClosed(
  context: EngineContext,
  row: OrderRow,
  grid: number,
  tick: Ticks,
  reason: EndReasonCode,
): void {
  const { t } = context;
  const { closedI, orderI, state } = t;
  const offset = row << ORDER_I;
  if (state[State.ledger] !== 0) releasePosition(t, row);
  orderI[offset | Order.flags] =
    (orderI[offset | Order.flags]! & END_MASK) |
    (endStatus(reason) << Flag.statusShift) |
    (reason << Flag.reasonShift);
  const mirrored = t.tokenI[(orderI[offset | Order.token]! << TOKEN_I) | Token.mirrored]!;
  // `grid - tick` in a mirrored token, without a branch that nobody can guess.
  const own = (tick ^ -mirrored) + (-mirrored & (grid + 1));
  orderI[offset | Order.price] = own * ((PIPS_PER_UNIT / grid) | 0);
  t.orderF[(row << ORDER_F) | Order.closedAt] = context.time;
  const sequence = state[State.closed]!;
  const at = closedAt(t, sequence);
  closedI[at | Closed.row] = row;
  closedI[at | Closed.tag] = orderTag(orderI, offset | Order.id);
  state[State.closed] = sequence + 1;
  context.mixWord(orderI[offset | Order.id]!);
  context.mixWord(reason);
}

/**
 * Forgets the oldest closed orders beyond the configured history, up to the sequence whose final states are on
 * disk. Their ids are found in LMDB afterwards.
 */
export function evictClosed(context: EngineContext, persistedClosedSequence: number): void {
  const { t } = context;
  const keepFrom = t.state[State.closed]! - t.state[State.history]!;
  forgetClosed(context, Math.min(keepFrom, persistedClosedSequence));
}

function forgetClosed(context: EngineContext, end: number): void {
  const { t } = context;
  let first = t.state[State.firstKeptClosed]!;
  if (first >= end) return;
  context.changes += 1;
  const { closedI, orderIndex } = t;
  while (first < end) {
    const stop = Math.min(end, first + EVICTED_MAX);
    // All that they need is fetched before the first one waits for it.
    let fetched = 0;
    for (let n = first; n < stop; n++) {
      const tag = closedI[closedAt(t, n) | Closed.tag]!;
      fetched ^= orderIndex[2 * home(orderIndex, tag)]!;
    }
    context.fetched = fetched;
    for (; first < stop; first++) {
      const at = closedAt(t, first);
      const row = closedI[at | Closed.row]!;
      const isThere = indexRemove(orderIndex, closedI[at | Closed.tag]!, row);
      assert(isThere, 'a closed order is found by its id');
    }
  }
  t.state[State.firstKeptClosed] = end;
}
