/**
 * Fills the hash indexes of freshly loaded tables, and the counts of wallets, which are empty, from their rows.
 * Images leave them out: they are a third of the memory and say nothing that the rows do not.
 */

import { assert } from '../book/matching.ts';
import { byRegion, indexInsert, tagOf } from '../tables/hash-index.ts';
import {
  ACCOUNT_I,
  Account,
  ID_WORDS,
  MARKET_I,
  Market,
  ORDER_I,
  Order,
  State,
  Status,
  TOKEN_I,
  Token,
} from '../tables/layout.ts';
import type { Tables } from '../tables/tables.ts';
import type { OrderSlot } from '../tables/units.ts';
import { accountTag } from './accounts.ts';
import { finishedOrder, keptFinished, orderStatus, orderTag } from './orders.ts';

export function rebuildIndexes(t: Tables): void {
  for (let slot = 1; slot <= t.state[State.markets]!; slot++) {
    const at = (slot << MARKET_I) + Market.condition;
    indexInsert(t.marketIndex, tagOf(t.marketI, at, ID_WORDS), slot);
  }
  for (let slot = 1; slot <= t.state[State.tokens]!; slot++) {
    const at = (slot << TOKEN_I) + Token.id;
    indexInsert(t.tokenIndex, tagOf(t.tokenI, at, ID_WORDS), slot);
  }
  for (let slot = 1; slot <= t.state[State.accounts]!; slot++) {
    const at = (slot << ACCOUNT_I) + Account.address;
    indexInsert(t.accountIndex, accountTag(t.accountI, at), slot);
    const owner = t.accountI[at - Account.address + Account.binding]!;
    if (owner !== 0 && owner !== slot) t.wallets[owner]! += 1;
  }
  const entries = byRegion(t.orderIndex, orderEntries(t));
  for (let i = 0; i < entries.length; i += 2) {
    indexInsert(t.orderIndex, entries[i]!, entries[i + 1]!);
  }
}

/** What the index of order ids holds, tag and slot by turns: open orders, and finished ones that are kept. */
export function orderEntries(t: Tables): Int32Array {
  const entries = new Int32Array(2 * (t.state[State.openOrders]! + keptFinished(t)));
  let at = 0;
  const enter = (slot: OrderSlot): void => {
    assert(at < entries.length, 'orders are counted');
    entries[at] = orderTag(t.orderI, (slot << ORDER_I) + Order.id);
    entries[at + 1] = slot;
    at += 2;
  };
  for (let slot = 1 as OrderSlot; slot <= t.state[State.orderRows]!; slot++) {
    if (orderStatus(t, slot) === Status.live) enter(slot);
  }
  const end = t.state[State.finished]!;
  for (let sequence = t.state[State.finishedFirst]!; sequence < end; sequence++) {
    enter(finishedOrder(t, sequence));
  }
  assert(at === entries.length, 'orders are counted');
  return entries;
}
