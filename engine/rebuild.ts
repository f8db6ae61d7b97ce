/**
 * Fills the hash indexes of freshly loaded tables from their rows. Images leave the indexes out:
 * they are a third of the memory and say nothing that the rows do not.
 */
import { assert } from './assert.ts';
import { indexInsert, tagOf } from './hash-index.ts';
import {
  ACCOUNT_I,
  Account,
  ADDRESS_WORDS,
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
import { orderStatus } from './orders.ts';
import type { Tables } from './tables.ts';

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
    indexInsert(t.accountIndex, tagOf(t.accountI, at, ADDRESS_WORDS), slot);
  }
  for (let slot = 1; slot <= t.state[State.orderRows]!; slot++) {
    if (orderStatus(t, slot) === Status.free) continue;
    const at = (slot << ORDER_I) + Order.id;
    indexInsert(t.orderIndex, tagOf(t.orderI, at, ID_WORDS), slot);
  }
}
