import assert from 'node:assert/strict';
import test from 'node:test';
import { ORDER_F, ORDER_I, Order } from '../../engine/tables/layout.ts';
import { allocateEngine, Tables } from '../../engine/tables/tables.ts';
import type { OrderRow } from '../../engine/tables/units.ts';
import { withSeed } from '../common/random.ts';
import { ROOMY } from './engine-driver.ts';

function schedule(t: Tables, orderRow: OrderRow, seconds: number): void {
  t.orderF[(orderRow << ORDER_F) + Order.expiry] = seconds;
  t.expiring.add(orderRow);
}

test('the earliest order is on top after any insertions and removals', () => {
  withSeed((random) => {
    const t = new Tables(allocateEngine({ ...ROOMY, orders: 300, history: 1 }));
    const held = new Map<OrderRow, number>();
    for (let i = 0; i < 20_000; i++) {
      const orderRow = random.between(1, 300) as OrderRow;
      if (held.has(orderRow)) {
        t.expiring.remove(orderRow);
        held.delete(orderRow);
      } else {
        // Few distinct times, so that ties are common.
        const seconds = random.between(1, 40);
        schedule(t, orderRow, seconds);
        held.set(orderRow, seconds);
      }
      let first = 0 as OrderRow;
      for (const [other, seconds] of held) {
        const best = held.get(first) ?? Number.POSITIVE_INFINITY;
        if (seconds < best || (seconds === best && other < first)) first = other;
      }
      assert.equal(t.expiring.first(), first);
      assert.equal(t.expiring.firstTime(), held.get(first) ?? 0);
      assert.equal(t.expiring.size, held.size);
    }
    for (let orderRow = t.expiring.first(); orderRow !== 0; orderRow = t.expiring.first())
      t.expiring.remove(orderRow);
    assert(
      t.memory.buffers.expiries.every((byte) => byte === 0),
      'an empty heap keeps no traces',
    );
  });
});

test('orders leave by time, and by slot when times are equal', () => {
  const t = new Tables(allocateEngine({ ...ROOMY, orders: 10, history: 1 }));
  for (const [slot, seconds] of [
    [5, 9],
    [3, 7],
    [9, 7],
    [1, 8],
    [2, 7],
  ] as const) {
    schedule(t, slot as OrderRow, seconds);
  }
  const left: number[] = [];
  for (let orderRow = t.expiring.first(); orderRow !== 0; orderRow = t.expiring.first()) {
    left.push(orderRow);
    t.expiring.remove(orderRow);
  }
  assert.deepEqual(left, [2, 3, 9, 1, 5]);
});

test('an order that is not in the heap cannot be taken out of it', () => {
  const t = new Tables(allocateEngine({ ...ROOMY, orders: 10, history: 1 }));
  const [one, other] = [1 as OrderRow, 2 as OrderRow];
  schedule(t, one, 5);
  t.expiring.remove(one);
  assert.equal(t.orderI[(one << ORDER_I) + Order.heap], 0);
  schedule(t, other, 5);
  assert.throws(() => t.expiring.remove(one));
});
