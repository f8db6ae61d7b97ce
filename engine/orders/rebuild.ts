/**
 * Hash indexes, counts of wallets and of delayed orders, and lists of agents' orders of freshly loaded tables, filled
 * from their rows. Snapshots leave them out: they are a third of the memory and follow from the rows.
 */

import { assert } from '../book/matching.ts';
import { inviteEntries } from '../invites.ts';
import { agentEntries, listAgentOrders } from '../ledger/agents.ts';
import { sumCosts } from '../ledger/exposure.ts';
import { positionEntries } from '../ledger/positions.ts';
import { requestEntries, textIdEntries } from '../ledger/requests.ts';
import { ID_WORDS, Status } from '../tables/codes.ts';
import { indexFill, indexInsert, tagOf } from '../tables/hash-index.ts';
import {
  ACCOUNT_I,
  Account,
  MARKET_I,
  Market,
  ORDER_I,
  Order,
  State,
  TOKEN_I,
  Token,
} from '../tables/layout.ts';
import type { Tables } from '../tables/tables.ts';
import type { OrderRow } from '../tables/units.ts';
import { accountTag } from './accounts.ts';
import { placesTaken } from './books.ts';
import { isDelayed } from './delayed.ts';
import { closedInMemory, closedOrder, orderStatus, orderTag } from './orders.ts';
import { isLevel, levelTag } from './source-rows.ts';

export function rebuildIndexes(t: Tables): void {
  rebuildOrderIndex(t);
  rebuildOthers(t);
}

/** Fills the index of order ids: about half of the work. */
export function rebuildOrderIndex(t: Tables): void {
  indexFill(t.orderIndex, orderEntries(t));
}

/** Fills all that rebuildIndexes() fills, but for the index of order ids. It neither reads nor writes that one. */
export function rebuildOthers(t: Tables): void {
  for (let row = 1; row <= t.state[State.markets]!; row++) {
    const at = (row << MARKET_I) + Market.condition;
    indexInsert(t.marketIndex, tagOf(t.marketI, at, ID_WORDS), row);
  }
  for (let row = 1; row <= t.state[State.tokens]!; row++) {
    const at = (row << TOKEN_I) + Token.id;
    indexInsert(t.tokenIndex, tagOf(t.tokenI, at, ID_WORDS), row);
  }
  for (let row = 1; row <= t.state[State.accounts]!; row++) {
    const at = (row << ACCOUNT_I) + Account.address;
    indexInsert(t.accountIndex, accountTag(t.accountI, at), row);
    const owner = t.accountI[at - Account.address + Account.binding]!;
    if (owner !== 0 && owner !== row) t.wallets[owner]! += 1;
  }
  countDelayed(t);
  countWalletOrders(t, t.walletOrders);
  indexFill(t.inviteIndex, inviteEntries(t));
  if (t.state[State.ledger] === 0) return;
  sumCosts(t, t.walletCosts);
  indexFill(t.agentIndex, agentEntries(t));
  listAgentOrders(t);
  indexFill(t.positionIndex, positionEntries(t));
  indexFill(t.requestIndex, requestEntries(t));
  indexFill(t.operatorIdIndex, textIdEntries(t));
}

function countDelayed({ delayCounts, delayed, orderI }: Tables): void {
  const rows = new Int32Array(delayed.size);
  delayed.copy(rows);
  for (const row of rows) delayCounts[orderI[(row << ORDER_I) + Order.owner]!]! += 1;
}

/** Counts resting orders by their wallets. */
function countWalletOrders(t: Tables, counts: Int32Array): void {
  for (let row = 1 as OrderRow; row <= t.state[State.orderRows]!; row++) {
    const isResting = orderStatus(t, row) === Status.live && !isDelayed(t, row);
    if (isResting && !isLevel(t, row)) counts[t.orderI[(row << ORDER_I) + Order.maker]!]! += 1;
  }
}

/**
 * Entries of the index of orders, tag and slot by turns: open and delayed orders, source levels, closed orders in
 * memory.
 */
export function orderEntries(t: Tables): Int32Array {
  const entries = new Int32Array(2 * (placesTaken(t) + closedInMemory(t)));
  let at = 0;
  const enter = (row: OrderRow): void => {
    assert(at < entries.length, 'orders are counted');
    entries[at] = isLevel(t, row)
      ? levelTag(t, row)
      : orderTag(t.orderI, (row << ORDER_I) + Order.id);
    entries[at + 1] = row;
    at += 2;
  };
  for (let row = 1 as OrderRow; row <= t.state[State.orderRows]!; row++) {
    if (orderStatus(t, row) === Status.live) enter(row);
  }
  const end = t.state[State.closed]!;
  for (let sequence = t.state[State.firstKeptClosed]!; sequence < end; sequence++) {
    enter(closedOrder(t, sequence));
  }
  assert(at === entries.length, 'orders are counted');
  return entries;
}
