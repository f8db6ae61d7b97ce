/**
 * The life of an order: it gets a row when it is taken in, and keeps it when it ends; then the queue
 * of finished orders has it, until its final state is known to be on disk and the queue has enough
 * younger ones. Only then is its id forgotten and its row used again, oldest first.
 */
import { linkOwner, unlinkOwner } from './accounts.ts';
import { assert } from './assert.ts';
import { rest, unrest } from './books.ts';
import type { Core } from './core.ts';
import { scheduleExpiry, unscheduleExpiry } from './expiries.ts';
import { home, indexInsert, indexRemove, next } from './hash-index.ts';
import type { EndReasonCode } from './layout.ts';
import * as layout from './layout.ts';
import type { Tables } from './tables.ts';
import type { BookSlot, OrderSlot } from './units.ts';
import * as units from './units.ts';
import { sameId } from './words.ts';

// A module's own constants are folded into machine code; imported ones are loaded at each use.
const {
  BOOK_I,
  Book,
  EndReason,
  FINISHED_I,
  Finished,
  Flag,
  ORDER_F,
  ORDER_I,
  Order,
  State,
  Status,
  TOKEN_I,
  Token,
} = layout;
const { PIPS_PER_UNIT } = units;

const END_MASK = ~((7 << Flag.statusShift) | (15 << Flag.reasonShift));
const GOLDEN = 0x9e3779b1;

/** Orders that evictFinished forgets at a time. */
const EVICTED_MAX = 64;

/** Tag of an order id: ids are hashes already, so three of their words are mixed enough. */
export function orderTag(key: Int32Array, at: number): number {
  return Math.imul(key[at]! ^ Math.imul(key[at + 1]!, GOLDEN), GOLDEN) ^ key[at + 7]!;
}

/**
 * Row of the order with this id (8 words from `at`): its slot while it is open, the negative of its
 * slot when it is finished, 0 when it is not in memory.
 */
export function findOrder(t: Tables, key: Int32Array, at: number): number {
  const tag = orderTag(key, at);
  const { orderI, orderIndex } = t;
  for (let entry = home(orderIndex, tag); ; entry = next(orderIndex, entry)) {
    const slot = orderIndex[2 * entry + 1]! as OrderSlot | 0;
    if (slot === 0) return 0;
    if (orderIndex[2 * entry] !== tag) continue;
    if (!sameId(orderI, (slot << ORDER_I) | Order.id, key, at)) continue;
    return orderStatus(t, slot) === Status.live ? slot : -slot;
  }
}

/** Status of the order in a row. */
export function orderStatus(t: Tables, slot: OrderSlot): number {
  return (t.orderI[(slot << ORDER_I) | Order.flags]! >>> Flag.statusShift) & 7;
}

function finishedAt(t: Tables, sequence: number): number {
  return (sequence & (t.finishedRows - 1)) << FINISHED_I;
}

/** Row of a finished order by its sequence, as long as its id is kept. */
export function finishedOrder(t: Tables, sequence: number): OrderSlot {
  return t.finishedI[finishedAt(t, sequence) | Finished.row]! as OrderSlot;
}

/** Finished orders whose ids are still in memory. */
export function keptFinished(t: Tables): number {
  return t.state[State.finished]! - t.state[State.finishedFirst]!;
}

/**
 * True when one more order can have a row: one that nobody has, or that of the oldest finished order,
 * if its final state is on disk. So an order that will not rest finds room however many do.
 */
export function rowRoom({ flushedFinished, t }: Core): boolean {
  const { history, orders } = t.capacities;
  if (t.state[State.openOrders]! + keptFinished(t) < orders + history) return true;
  return t.state[State.finishedFirst]! < flushedFinished;
}

/** Takes a row; the caller made sure of the room, and fills the columns. */
export function takeOrder(core: Core): OrderSlot {
  const { t } = core;
  const isFull = t.state[State.finishedFree]! === t.state[State.finishedFirst]!;
  if (isFull && t.state[State.orderRows]! === t.orderRows) {
    forgetFinished(core, t.state[State.finishedFirst]! + 1);
  }
  const free = t.state[State.finishedFree]!;
  if (free < t.state[State.finishedFirst]!) {
    t.state[State.finishedFree] = free + 1;
    return finishedOrder(t, free);
  }
  const slot = (t.state[State.orderRows]! + 1) as OrderSlot;
  assert(slot <= t.orderRows, 'an order row is reserved before it is taken');
  t.state[State.orderRows] = slot;
  return slot;
}

/** Makes an accepted order known by its id. */
export function register(t: Tables, slot: OrderSlot): void {
  indexInsert(t.orderIndex, orderTag(t.orderI, (slot << ORDER_I) | Order.id), slot);
}

/** Lets an order rest: level, owner's list, expiry. */
export function openOrder(core: Core, slot: OrderSlot, book: BookSlot): void {
  const { t } = core;
  // Its status was 0 until now.
  t.orderI[(slot << ORDER_I) | Order.flags]! |= Status.live << Flag.statusShift;
  t.state[State.openOrders]! += 1;
  rest(core, slot, book);
  linkOwner(t, slot);
  if (t.orderF[(slot << ORDER_F) | Order.expiry] !== 0) scheduleExpiry(t, slot);
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
  unrest(core, slot);
  leave(core, slot, reason);
}

/** Ends an open order that has left its book. */
export function leave(core: Core, slot: OrderSlot, reason: EndReasonCode): void {
  const { t } = core;
  const row = slot << ORDER_I;
  unlinkOwner(t, slot);
  t.orderI[row | Order.slot] = 0;
  if (t.orderI[row | Order.heap] !== 0) unscheduleExpiry(t, slot);
  t.state[State.openOrders]! -= 1;
  finish(core, slot, reason);
}

/**
 * Puts an order into the queue of finished ones, with the reason: its price becomes pips of its own
 * token.
 */
export function finish(core: Core, slot: OrderSlot, reason: EndReasonCode): void {
  const { t } = core;
  const { orderI } = t;
  const row = slot << ORDER_I;
  orderI[row | Order.flags] =
    (orderI[row | Order.flags]! & END_MASK) |
    (endStatus(reason) << Flag.statusShift) |
    (reason << Flag.reasonShift);
  const token = orderI[row | Order.token]! << TOKEN_I;
  const grid = t.bookI[(t.tokenI[token | Token.book]! << BOOK_I) | Book.ticksPerUnit]!;
  const ticks = orderI[row | Order.price]!;
  const own = t.tokenI[token | Token.mirrored] === 1 ? grid - ticks : ticks;
  orderI[row | Order.price] = own * (PIPS_PER_UNIT / grid);
  t.orderF[(slot << ORDER_F) | Order.finishedAt] = core.time;
  const sequence = t.state[State.finished]!;
  const at = finishedAt(t, sequence);
  t.finishedI[at | Finished.row] = slot;
  t.finishedI[at | Finished.tag] = orderTag(orderI, row | Order.id);
  t.state[State.finished] = sequence + 1;
  core.events.finished(sequence);
  core.noteWord(orderI[row | Order.id]!);
  core.noteWord(reason);
}

/**
 * Forgets the oldest finished orders beyond the history that is kept, up to the sequence whose
 * final states are known to be flushed: after that, their ids are found in LMDB.
 */
export function evictFinished(core: Core, flushedFinished: number): void {
  const { t } = core;
  const keepFrom = t.state[State.finished]! - t.state[State.history]!;
  forgetFinished(core, Math.min(keepFrom, flushedFinished));
}

/** Forgets the finished orders before sequence `end`. */
function forgetFinished(core: Core, end: number): void {
  const { t } = core;
  let first = t.state[State.finishedFirst]!;
  if (first >= end) return;
  core.changes += 1;
  const { finishedI, orderIndex } = t;
  while (first < end) {
    const stop = Math.min(end, first + EVICTED_MAX);
    // All that they need is fetched before the first one waits for it.
    let fetched = 0;
    for (let n = first; n < stop; n++) {
      const tag = finishedI[finishedAt(t, n) | Finished.tag]!;
      fetched ^= orderIndex[2 * home(orderIndex, tag)]!;
    }
    core.fetched = fetched;
    for (; first < stop; first++) {
      const at = finishedAt(t, first);
      const row = finishedI[at | Finished.row]!;
      const isThere = indexRemove(orderIndex, finishedI[at | Finished.tag]!, row);
      assert(isThere, 'a finished order is known by its id');
    }
  }
  t.state[State.finishedFirst] = end;
}
