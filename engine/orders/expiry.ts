/**
 * The expiry heap: open good-till-date orders, earliest first; equal times by slot, so that the
 * order of leaving is a function of the tables. Each order knows its place, so a cancel is O(log n).
 */
import { assert } from '../book/matching.ts';
import * as layout from '../tables/layout.ts';
import type { Tables } from '../tables/tables.ts';
import type { OrderSlot } from '../tables/units.ts';

// A module's own constants are folded into machine code; imported ones are loaded at each use.
const { ORDER_F, ORDER_I, Order, State } = layout;

function slotAt(t: Tables, at: number): OrderSlot {
  return t.expiries[at]! as OrderSlot;
}

function before(t: Tables, a: OrderSlot, b: OrderSlot): boolean {
  const left = t.orderF[(a << ORDER_F) | Order.expiry]!;
  const right = t.orderF[(b << ORDER_F) | Order.expiry]!;
  return left < right || (left === right && a < b);
}

function put(t: Tables, at: number, slot: OrderSlot): void {
  t.expiries[at] = slot;
  t.orderI[(slot << ORDER_I) | Order.heap] = at;
}

function siftUp(t: Tables, from: number, slot: OrderSlot): void {
  let at = from;
  while (at > 1) {
    const parent = slotAt(t, at >>> 1);
    if (!before(t, slot, parent)) break;
    put(t, at, parent);
    at >>>= 1;
  }
  put(t, at, slot);
}

function siftDown(t: Tables, from: number, slot: OrderSlot, size: number): void {
  let at = from;
  for (;;) {
    let child = at * 2;
    if (child > size) break;
    if (child < size && before(t, slotAt(t, child + 1), slotAt(t, child))) child += 1;
    if (!before(t, slotAt(t, child), slot)) break;
    put(t, at, slotAt(t, child));
    at = child;
  }
  put(t, at, slot);
}

export function scheduleExpiry(t: Tables, slot: OrderSlot): void {
  const size = t.state[State.expiries]! + 1;
  t.state[State.expiries] = size;
  siftUp(t, size, slot);
}

export function unscheduleExpiry(t: Tables, slot: OrderSlot): void {
  const at = t.orderI[(slot << ORDER_I) | Order.heap]!;
  assert(t.expiries[at] === slot, 'an order knows its place in the expiry heap');
  const size = t.state[State.expiries]!;
  const last = slotAt(t, size);
  t.expiries[size] = 0;
  t.state[State.expiries] = size - 1;
  t.orderI[(slot << ORDER_I) | Order.heap] = 0;
  if (last === slot) return;
  siftDown(t, at, last, size - 1);
  siftUp(t, t.orderI[(last << ORDER_I) | Order.heap]!, last);
}

/** Slot of the order that expires first; 0 = none. */
export function nextExpiring(t: Tables): OrderSlot | 0 {
  return t.state[State.expiries] === 0 ? 0 : slotAt(t, 1);
}

/** Unix seconds of the earliest expiry; 0 = none. */
export function earliestExpiry(t: Tables): number {
  const slot = nextExpiring(t);
  return slot === 0 ? 0 : t.orderF[(slot << ORDER_F) | Order.expiry]!;
}
