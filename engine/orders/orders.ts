/**
 * The life of an order: it gets a row when it is taken in, and keeps it when it ends; then the queue
 * of finished orders has it, until its final state is known to be on disk and the queue has enough
 * younger ones. Only then is its id forgotten and its row used again, oldest first.
 */

import type * as matching from '../book/matching.ts';
import { assert } from '../book/matching.ts';
import type { Core } from '../context.ts';
import { home, indexRemove, next } from '../tables/hash-index.ts';
import type { EndReasonCode } from '../tables/layout.ts';
import * as layout from '../tables/layout.ts';
import type { Tables } from '../tables/tables.ts';
import type { AccountSlot, BookSlot, MicroShares, OrderSlot, Ticks } from '../tables/units.ts';
import * as units from '../tables/units.ts';
import { sameId } from '../tables/words.ts';
import { linkOwner, unlinkOwner } from './accounts.ts';
import { rest } from './books.ts';
import { scheduleExpiry, unscheduleExpiry } from './expiry.ts';

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
 * Entry of the order with this id (8 words from `at`) in the index, or the empty one where it would
 * be entered.
 */
export function findEntry(t: Tables, tag: number, key: Int32Array, at: number): number {
  const { orderI, orderIndex } = t;
  for (let entry = home(orderIndex, tag); ; entry = next(orderIndex, entry)) {
    const slot = orderIndex[2 * entry + 1]! as OrderSlot | 0;
    if (slot === 0) return entry;
    if (orderIndex[2 * entry] !== tag) continue;
    if (sameId(orderI, (slot << ORDER_I) | Order.id, key, at)) return entry;
  }
}

/**
 * Row of the order with this id (8 words from `at`): its slot while it is open, the negative of its
 * slot when it is finished, 0 when it is not in memory.
 */
export function findOrder(t: Tables, key: Int32Array, at: number): number {
  const slot = t.orderIndex[2 * findEntry(t, orderTag(key, at), key, at) + 1]! as OrderSlot | 0;
  return slot === 0 || orderStatus(t, slot) === Status.live ? slot : -slot;
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
export function rowRoom(core: Core): boolean {
  const { flushedFinished, t } = core;
  const { state } = t;
  const first = state[State.finishedFirst]!;
  if (state[State.finishedFree]! < first) return true;
  return mayUseNewRow(t) ? state[State.orderRows]! < t.orderRows : first < flushedFinished;
}

/**
 * Whether the next row is one that was never used. By what was configured when the command came, not by how
 * large the table is now: a replay in a larger one takes the same rows, by which orders expire that expire
 * together, and by which a cancel of everything goes on.
 */
function mayUseNewRow({ orderRows, state }: Tables): boolean {
  return state[State.orderRows]! < (state[State.orderRowsMax] || orderRows);
}

/** Takes a row; the caller made sure of the room, and fills the columns. */
export function takeOrder(core: Core): OrderSlot {
  const { finishedI, state } = core.t;
  const free = state[State.finishedFree]!;
  if (free === state[State.finishedFirst]!) return takeOther(core);
  state[State.finishedFree] = free + 1;
  return finishedI[finishedAt(core.t, free) | Finished.row]! as OrderSlot;
}

/** No row of a finished order is free: one that was never used, or that of the oldest. */
function takeOther(core: Core): OrderSlot {
  const { t } = core;
  if (mayUseNewRow(t)) {
    const slot = (t.state[State.orderRows]! + 1) as OrderSlot;
    assert(slot <= t.orderRows, 'order rows lie in their table');
    t.state[State.orderRows] = slot;
    return slot;
  }
  const first = t.state[State.finishedFirst]!;
  assert(first < core.flushedFinished, 'an order row is reserved before it is taken');
  forgetFinished(core, first + 1);
  core.hasForgotten = true;
  t.state[State.finishedFree] = first + 1;
  return finishedOrder(t, first);
}

/** Lets an order rest: its level, its owner's list, its expiry. */
export type Opener = (
  slot: OrderSlot,
  book: BookSlot,
  side: matching.Side,
  tick: Ticks,
  owner: AccountSlot,
) => void;

/** Closes over the tables as placing() does; for orders that are not open and know all of themselves but their place. */
export function opening(core: Core): Opener {
  const { t } = core;
  const { orderF, orderI, state } = t;
  return (slot, book, side, tick, owner) => {
    const row = slot << ORDER_I;
    // Its status was 0 until now.
    orderI[row | Order.flags]! |= Status.live << Flag.statusShift;
    state[State.openOrders]! += 1;
    const place = rest(core, slot, book, side, tick);
    orderI[row | Order.slot] = place;
    linkOwner(t, owner, place);
    if (orderF[(slot << ORDER_F) | Order.expiry] !== 0) scheduleExpiry(t, slot);
  };
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
  const { matching: m } = t;
  const place = t.orderI[(slot << ORDER_I) | Order.slot]!;
  const book = m.book(place) as BookSlot;
  core.touch(book);
  m.cancel(place);
  leave(core, slot, book, m.level(place) as Ticks, m.total as MicroShares, reason);
}

/** Ends an open order that has left its book. `total`: what still rests at its level. */
export function leave(
  core: Core,
  slot: OrderSlot,
  book: BookSlot,
  tick: Ticks,
  total: MicroShares,
  reason: EndReasonCode,
): void {
  const { t } = core;
  const { orderI, state } = t;
  const row = slot << ORDER_I;
  unlinkOwner(t, orderI[row | Order.owner]! as AccountSlot, orderI[row | Order.slot]!);
  orderI[row | Order.slot] = 0;
  if (orderI[row | Order.heap] !== 0) unscheduleExpiry(t, slot);
  state[State.openOrders]! -= 1;
  const grid = t.bookI[(book << BOOK_I) | Book.ticksPerUnit]!;
  core.events.ended(book, tick, grid, total, state[State.finished]!);
  enqueue(core, slot, grid, tick, reason);
}

/** Ends an order that never rested. */
export function finish(
  core: Core,
  slot: OrderSlot,
  book: BookSlot,
  tick: Ticks,
  reason: EndReasonCode,
): void {
  const { t } = core;
  core.events.finished(t.state[State.finished]!);
  enqueue(core, slot, t.bookI[(book << BOOK_I) | Book.ticksPerUnit]!, tick, reason);
}

/**
 * Puts an order into the queue of finished ones, with the reason: its price becomes pips of its own
 * token.
 */
function enqueue(
  core: Core,
  slot: OrderSlot,
  grid: number,
  tick: Ticks,
  reason: EndReasonCode,
): void {
  const { t } = core;
  const { finishedI, orderI, state } = t;
  const row = slot << ORDER_I;
  orderI[row | Order.flags] =
    (orderI[row | Order.flags]! & END_MASK) |
    (endStatus(reason) << Flag.statusShift) |
    (reason << Flag.reasonShift);
  const mirrored = t.tokenI[(orderI[row | Order.token]! << TOKEN_I) | Token.mirrored]!;
  // `grid - tick` in a mirrored token, without a branch that nobody can guess.
  const own = (tick ^ -mirrored) + (-mirrored & (grid + 1));
  orderI[row | Order.price] = own * ((PIPS_PER_UNIT / grid) | 0);
  t.orderF[(slot << ORDER_F) | Order.finishedAt] = core.time;
  const sequence = state[State.finished]!;
  const at = finishedAt(t, sequence);
  finishedI[at | Finished.row] = slot;
  finishedI[at | Finished.tag] = orderTag(orderI, row | Order.id);
  state[State.finished] = sequence + 1;
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
