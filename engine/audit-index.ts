/**
 * Check of the index of order ids: it holds exactly the orders in memory, and a search finds each. The searches go
 * from region to region of the index, because in the order of the rows each would wait for memory. They read rows only
 * where two tags are the same.
 */
import { assert } from './book/matching.ts';
import { orderEntries } from './orders/rebuild.ts';
import { isLevel } from './orders/source-rows.ts';
import { byRegion, home, next } from './tables/hash-index.ts';
import { ORDER_I, Order } from './tables/layout.ts';
import type { Tables } from './tables/tables.ts';
import type { OrderRow } from './tables/units.ts';
import { sameId } from './tables/words.ts';

export function auditOrderIndex(t: Tables): void {
  const { orderIndex } = t;
  const entries = byRegion(orderIndex, orderEntries(t));
  for (let i = 0; i < entries.length; i += 2) {
    auditEntry(t, entries[i]!, entries[i + 1]! as OrderRow);
  }
  let used = 0;
  for (let at = 1; at < orderIndex.length; at += 2) if (orderIndex[at] !== 0) used += 1;
  assert(
    2 * used === entries.length,
    'an index has an entry for each id that is known, and no other',
  );
}

function auditEntry(t: Tables, tag: number, row: OrderRow): void {
  const { orderI, orderIndex } = t;
  const id = (row << ORDER_I) + Order.id;
  for (let at = home(orderIndex, tag); ; at = next(orderIndex, at)) {
    const found = orderIndex[2 * at + 1]!;
    assert(found !== 0, 'an order is known by its id');
    if (orderIndex[2 * at] !== tag) continue;
    if (found === row) return;
    // Levels have no id; audit.ts searches them by their price.
    const isSame = sameId(orderI, (found << ORDER_I) + Order.id, orderI, id);
    assert(!isSame || isLevel(t, row), 'an order has one id');
  }
}
