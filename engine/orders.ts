/**
 * The life of an order row: taken when an order is accepted, live or at once finished, kept as a
 * finished order while its id must be recognised, given back when the id has left memory.
 */
import { linkOwner, unlinkOwner } from './accounts.ts';
import { assert } from './assert.ts';
import { rest, unrest } from './books.ts';
import type { Core } from './core.ts';
import { scheduleExpiry, unscheduleExpiry } from './expiries.ts';
import { indexFind, indexInsert, indexRemove, tagOf } from './hash-index.ts';
import {
  BOOK_I,
  Book,
  Flag,
  ID_WORDS,
  ORDER_F,
  ORDER_I,
  Order,
  State,
  Status,
  TOKEN_I,
  Token,
} from './layout.ts';
import type { Tables } from './tables.ts';
import { PIPS_PER_UNIT } from './units.ts';

const STATUS_MASK = ~(7 << Flag.statusShift);

/** Slot of the order with this id (8 words from `offset`), open or finished; 0 = not in memory. */
export function findOrder(t: Tables, key: Int32Array, offset: number): number {
  const tag = tagOf(key, offset, ID_WORDS);
  return indexFind(t.orderIndex, t.orderI, ORDER_I, Order.id, key, offset, ID_WORDS, tag);
}

export function orderStatus(t: Tables, slot: number): number {
  return (t.orderI[(slot << ORDER_I) + Order.flags]! >>> Flag.statusShift) & 7;
}

function setStatus(t: Tables, slot: number, status: number): void {
  const at = (slot << ORDER_I) + Order.flags;
  t.orderI[at] = (t.orderI[at]! & STATUS_MASK) | (status << Flag.statusShift);
}

/** Finished orders whose ids are still in memory. */
export function keptFinished(t: Tables): number {
  return t.state[State.finished]! - t.state[State.finishedFirst]!;
}

/** True when one more order can be taken in: an open place, and a row for its id afterwards. */
export function orderRoom(t: Tables): boolean {
  const open = t.state[State.openOrders]!;
  return open < t.capacities.orders && open + keptFinished(t) < t.orderRows;
}

/** Takes a row; the caller made sure of the room, and fills the columns. */
export function takeOrder(t: Tables): number {
  const free = t.state[State.orderFree]!;
  if (free !== 0) {
    t.state[State.orderFree] = t.orderI[(free << ORDER_I) + Order.next]!;
    return free;
  }
  const slot = t.state[State.orderRows]! + 1;
  assert(slot <= t.orderRows, 'an order row is reserved before it is taken');
  t.state[State.orderRows] = slot;
  return slot;
}

/** Makes an accepted order known by its id. */
export function register(t: Tables, slot: number): void {
  const id = (slot << ORDER_I) + Order.id;
  indexInsert(t.orderIndex, tagOf(t.orderI, id, ID_WORDS), slot);
}

/** Lets an order rest: level, owner's list, expiry. */
export function openOrder(core: Core, slot: number, book: number): void {
  const { t } = core;
  setStatus(t, slot, Status.live);
  t.state[State.openOrders]! += 1;
  rest(core, slot, book);
  linkOwner(t, slot, t.orderI[(slot << ORDER_I) + Order.owner]!);
  if (t.orderF[(slot << ORDER_F) + Order.expiry] !== 0) scheduleExpiry(t, slot);
}

/** Ends an order that rests, for whatever reason. */
export function closeOrder(core: Core, slot: number, status: number): void {
  const { t } = core;
  unrest(core, slot);
  unlinkOwner(t, slot);
  if (t.orderI[(slot << ORDER_I) + Order.heap] !== 0) unscheduleExpiry(t, slot);
  t.state[State.openOrders]! -= 1;
  finish(core, slot, status);
}

/** Appends an order to the finished ones: its price becomes pips of its own token. */
export function finish(core: Core, slot: number, status: number): void {
  const { t } = core;
  const order = slot << ORDER_I;
  setStatus(t, slot, status);
  const token = t.orderI[order + Order.token]! << TOKEN_I;
  const grid = t.bookI[(t.tokenI[token + Token.book]! << BOOK_I) + Book.ticksPerUnit]!;
  const ticks = t.orderI[order + Order.price]!;
  const own = t.tokenI[token + Token.mirrored] === 1 ? grid - ticks : ticks;
  t.orderI[order + Order.price] = own * (PIPS_PER_UNIT / grid);
  t.orderF[(slot << ORDER_F) + Order.finishedAt] = core.time;
  const sequence = t.state[State.finished]!;
  t.finished[sequence % t.orderRows] = slot;
  t.state[State.finished] = sequence + 1;
  core.note(slot);
  core.note(status);
}

/**
 * Forgets the oldest finished orders beyond the history that is kept, up to the sequence whose
 * final states are known to be flushed: after that, their ids are found in LMDB.
 */
export function evictFinished(core: Core, flushedFinished: number): void {
  const { t } = core;
  const keepFrom = t.state[State.finished]! - t.capacities.history;
  const end = Math.min(keepFrom, flushedFinished);
  let first = t.state[State.finishedFirst]!;
  if (first >= end) return;
  core.changes += 1;
  for (; first < end; first++) {
    const slot = t.finished[first % t.orderRows]!;
    const order = slot << ORDER_I;
    const removed = indexRemove(t.orderIndex, tagOf(t.orderI, order + Order.id, ID_WORDS), slot);
    assert(removed, 'a finished order is known by its id');
    setStatus(t, slot, Status.free);
    t.orderI[order + Order.next] = t.state[State.orderFree]!;
    t.state[State.orderFree] = slot;
  }
  t.state[State.finishedFirst] = end;
}
