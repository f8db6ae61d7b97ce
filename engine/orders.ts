/**
 * The life of an order: a row while it is open; when it ends, its row moves to the ring of finished
 * orders, where its id is recognised until it is known to be on disk and the ring has younger ones.
 *
 * Rows of open orders are used again at once, last in, first out, so that the rows in use stay few
 * and warm; the ring is written front to back.
 */
import { linkOwner, unlinkOwner } from './accounts.ts';
import { assert } from './assert.ts';
import { rest, unrest } from './books.ts';
import type { Core } from './core.ts';
import { scheduleExpiry, unscheduleExpiry } from './expiries.ts';
import { home, indexInsert, indexRemove, indexReplace, next } from './hash-index.ts';
import type { EndReasonCode } from './layout.ts';
import * as layout from './layout.ts';
import type { Tables } from './tables.ts';
import type { AccountSlot, BookSlot, OrderSlot } from './units.ts';
import * as units from './units.ts';
import { copyFour, copyId, sameId } from './words.ts';

// A module's own constants are folded into machine code; imported ones are loaded at each use.
const {
  BOOK_I,
  Book,
  EndReason,
  Flag,
  LINK_I,
  Link,
  ORDER_F,
  ORDER_I,
  Order,
  State,
  Status,
  TOKEN_I,
  Token,
} = layout;
const { PIPS_PER_UNIT } = units;

const STATUS_MASK = ~(7 << Flag.statusShift);
const END_MASK = STATUS_MASK & ~(15 << Flag.reasonShift);
const GOLDEN = 0x9e3779b1;

/** Tag of an order id: ids are hashes already, so three of their words are mixed enough. */
export function orderTag(key: Int32Array, at: number): number {
  return Math.imul(key[at]! ^ Math.imul(key[at + 1]!, GOLDEN), GOLDEN) ^ key[at + 7]!;
}

/**
 * Where the order with this id (8 words from `at`) is: its slot while it is open, the negative of
 * its ring row + 1 when it is finished, 0 when it is not in memory.
 */
export function findOrder(t: Tables, key: Int32Array, at: number): number {
  const tag = orderTag(key, at);
  const { orderIndex } = t;
  for (let entry = home(orderIndex, tag); ; entry = next(orderIndex, entry)) {
    const place = orderIndex[2 * entry + 1]!;
    if (place === 0) return 0;
    if (orderIndex[2 * entry] !== tag) continue;
    const rows = place > 0 ? t.orderI : t.historyI;
    const row = place > 0 ? place << ORDER_I : (-place - 1) << ORDER_I;
    if (sameId(rows, row + Order.id, key, at)) return place;
  }
}

/** Status of an open row. */
export function orderStatus(t: Tables, slot: OrderSlot): number {
  return (t.orderI[(slot << ORDER_I) + Order.flags]! >>> Flag.statusShift) & 7;
}

function setStatus(rows: Int32Array, row: number, status: number): void {
  const at = row + Order.flags;
  rows[at] = (rows[at]! & STATUS_MASK) | (status << Flag.statusShift);
}

/** Ring row of a finished order by its sequence. */
export function historyRow(t: Tables, sequence: number): number {
  return sequence & (t.historyRows - 1);
}

/** Finished orders whose ids are still in memory. */
export function keptFinished(t: Tables): number {
  return t.state[State.finished]! - t.state[State.finishedFirst]!;
}

/** True when one more order can be taken in: an open place, and a row for its end. */
export function orderRoom(t: Tables): boolean {
  const open = t.state[State.openOrders]!;
  const { history, orders } = t.capacities;
  return open < orders && open + keptFinished(t) < orders + history;
}

/** Takes a row; the caller made sure of the room, and fills the columns. */
export function takeOrder(t: Tables): OrderSlot {
  const free = t.state[State.orderFree]! as OrderSlot | 0;
  if (free !== 0) {
    t.state[State.orderFree] = t.linkI[(free << LINK_I) + Link.next]!;
    return free;
  }
  const slot = (t.state[State.orderRows]! + 1) as OrderSlot;
  assert(slot <= t.capacities.orders, 'an order row is reserved before it is taken');
  t.state[State.orderRows] = slot;
  return slot;
}

/** Makes an accepted order known by its id. */
export function register(t: Tables, slot: OrderSlot): void {
  indexInsert(t.orderIndex, orderTag(t.orderI, (slot << ORDER_I) + Order.id), slot);
}

/** Lets an order rest: level, owner's list, expiry. */
export function openOrder(core: Core, slot: OrderSlot, book: BookSlot): void {
  const { t } = core;
  setStatus(t.orderI, slot << ORDER_I, Status.live);
  t.state[State.openOrders]! += 1;
  rest(core, slot, book);
  linkOwner(t, slot, t.orderI[(slot << ORDER_I) + Order.owner]! as AccountSlot);
  if (t.orderF[(slot << ORDER_F) + Order.expiry] !== 0) scheduleExpiry(t, slot);
}

/** The status of an order that ended so. */
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

/** Ends an order that rests, for whatever reason. */
export function closeOrder(core: Core, slot: OrderSlot, reason: EndReasonCode): void {
  const { t } = core;
  unrest(core, slot);
  unlinkOwner(t, slot);
  if (t.orderI[(slot << ORDER_I) + Order.heap] !== 0) unscheduleExpiry(t, slot);
  t.state[State.openOrders]! -= 1;
  finish(core, slot, reason);
}

/** Copies the columns of an open order to a row of the ring. */
function copyRow(t: Tables, slot: OrderSlot, place: number): void {
  const { historyF, historyI, orderF, orderI } = t;
  const from = slot << ORDER_I;
  const to = place << ORDER_I;
  copyId(orderI, from + Order.id, historyI, to + Order.id);
  // price, flags, token, owner
  copyFour(orderI, from + Order.price, historyI, to + Order.price);
  historyI[to + Order.maker] = orderI[from + Order.maker]!;
  historyI[to + Order.heap] = orderI[from + Order.heap]!;
  copyFour(orderI, from + Order.apiKey, historyI, to + Order.apiKey);
  const fromF = slot << ORDER_F;
  const toF = place << ORDER_F;
  historyF[toF + Order.remaining] = orderF[fromF + Order.remaining]!;
  historyF[toF + Order.original] = orderF[fromF + Order.original]!;
  historyF[toF + Order.budget] = orderF[fromF + Order.budget]!;
  historyF[toF + Order.expiry] = orderF[fromF + Order.expiry]!;
  historyF[toF + Order.created] = orderF[fromF + Order.created]!;
}

/**
 * Moves an order to the finished ones, with the reason: its price becomes pips of its own token.
 */
export function finish(core: Core, slot: OrderSlot, reason: EndReasonCode): void {
  const { t } = core;
  const { historyI, orderI } = t;
  const order = slot << ORDER_I;
  const sequence = t.state[State.finished]!;
  const place = historyRow(t, sequence);
  const row = place << ORDER_I;
  copyRow(t, slot, place);
  historyI[row + Order.flags] =
    (historyI[row + Order.flags]! & END_MASK) |
    (endStatus(reason) << Flag.statusShift) |
    (reason << Flag.reasonShift);
  const token = orderI[order + Order.token]! << TOKEN_I;
  const grid = t.bookI[(t.tokenI[token + Token.book]! << BOOK_I) + Book.ticksPerUnit]!;
  const ticks = orderI[order + Order.price]!;
  const own = t.tokenI[token + Token.mirrored] === 1 ? grid - ticks : ticks;
  historyI[row + Order.price] = own * (PIPS_PER_UNIT / grid);
  t.historyF[(place << ORDER_F) + Order.finishedAt] = core.time;
  t.state[State.finished] = sequence + 1;
  core.events.finished(sequence);
  indexReplace(t.orderIndex, orderTag(orderI, order + Order.id), slot, -place - 1);
  setStatus(orderI, order, Status.free);
  t.linkI[(slot << LINK_I) + Link.next] = t.state[State.orderFree]!;
  t.state[State.orderFree] = slot;
  core.note(slot);
  core.note(reason);
}

/**
 * Forgets the oldest finished orders beyond the history that is kept, up to the sequence whose
 * final states are known to be flushed: after that, their ids are found in LMDB.
 */
export function evictFinished(core: Core, flushedFinished: number): void {
  const { t } = core;
  const keepFrom = t.state[State.finished]! - t.state[State.history]!;
  const end = Math.min(keepFrom, flushedFinished);
  let first = t.state[State.finishedFirst]!;
  if (first >= end) return;
  core.changes += 1;
  for (; first < end; first++) {
    const place = historyRow(t, first);
    const tag = orderTag(t.historyI, (place << ORDER_I) + Order.id);
    assert(indexRemove(t.orderIndex, tag, -place - 1), 'a finished order is known by its id');
  }
  t.state[State.finishedFirst] = end;
}
