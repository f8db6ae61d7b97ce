/**
 * Fills the hash indexes of freshly loaded tables from their rows. Images leave the indexes out:
 * they are a third of the memory and say nothing that the rows do not.
 */
import { accountTag } from './accounts.ts';
import { assert } from './assert.ts';
import { indexInsert, tagOf } from './hash-index.ts';
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
} from './layout.ts';
import { finishedOrder, orderStatus, orderTag } from './orders.ts';
import type { Tables } from './tables.ts';
import type { OrderSlot } from './units.ts';

export function rebuildIndexes(t: Tables): void {
  assert(
    t.orderIndex.every((word) => word === 0) || t.state[State.orderRows] === 0,
    'fresh tables',
  );
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
  }
  for (let slot = 1 as OrderSlot; slot <= t.state[State.orderRows]!; slot++) {
    if (orderStatus(t, slot) !== Status.live) continue;
    indexInsert(t.orderIndex, orderTag(t.orderI, (slot << ORDER_I) + Order.id), slot);
  }
  const end = t.state[State.finished]!;
  for (let sequence = t.state[State.finishedFirst]!; sequence < end; sequence++) {
    const slot = finishedOrder(t, sequence);
    indexInsert(t.orderIndex, orderTag(t.orderI, (slot << ORDER_I) + Order.id), slot);
  }
}
