/**
 * The expiry heap: open good-till-date orders, earliest first; equal times by slot, so that the
 * order of leaving is a function of the tables. Each order knows its place, so a cancel is O(log n).
 */
import { assert } from '../book/matching.ts';
import { ORDER_F, ORDER_I, Order, State } from '../tables/layout.ts';
import type { Tables } from '../tables/tables.ts';
import type { OrderRow } from '../tables/units.ts';

function slotAt(t: Tables, at: number): OrderRow {
  return t.expiries[at]! as OrderRow;
}

function before(t: Tables, a: OrderRow, b: OrderRow): boolean {
  const left = t.orderF[(a << ORDER_F) | Order.expiry]!;
  const right = t.orderF[(b << ORDER_F) | Order.expiry]!;
  return left < right || (left === right && a < b);
}

function put(t: Tables, at: number, row: OrderRow): void {
  t.expiries[at] = row;
  t.orderI[(row << ORDER_I) | Order.heap] = at;
}

function siftUp(t: Tables, from: number, row: OrderRow): void {
  let at = from;
  while (at > 1) {
    const parent = slotAt(t, at >>> 1);
    if (!before(t, row, parent)) break;
    put(t, at, parent);
    at >>>= 1;
  }
  put(t, at, row);
}

function siftDown(t: Tables, from: number, row: OrderRow, size: number): void {
  let at = from;
  for (;;) {
    let child = at * 2;
    if (child > size) break;
    if (child < size && before(t, slotAt(t, child + 1), slotAt(t, child))) child += 1;
    if (!before(t, slotAt(t, child), row)) break;
    put(t, at, slotAt(t, child));
    at = child;
  }
  put(t, at, row);
}

export function scheduleExpiry(t: Tables, row: OrderRow): void {
  const size = t.state[State.expiries]! + 1;
  t.state[State.expiries] = size;
  siftUp(t, size, row);
}

export function unscheduleExpiry(t: Tables, row: OrderRow): void {
  const at = t.orderI[(row << ORDER_I) | Order.heap]!;
  assert(t.expiries[at] === row, 'an order knows its place in the expiry heap');
  const size = t.state[State.expiries]!;
  const last = slotAt(t, size);
  t.expiries[size] = 0;
  t.state[State.expiries] = size - 1;
  t.orderI[(row << ORDER_I) | Order.heap] = 0;
  if (last === row) return;
  siftDown(t, at, last, size - 1);
  siftUp(t, t.orderI[(last << ORDER_I) | Order.heap]!, last);
}

/** Slot of the order that expires first; 0 = none. */
export function nextExpiring(t: Tables): OrderRow | 0 {
  return t.state[State.expiries] === 0 ? 0 : slotAt(t, 1);
}

/** Unix seconds of the earliest expiry; 0 = none. */
export function earliestExpiry(t: Tables): number {
  const row = nextExpiring(t);
  return row === 0 ? 0 : t.orderF[(row << ORDER_F) | Order.expiry]!;
}
