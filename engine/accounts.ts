/**
 * Accounts: a 20-byte address to a row with its binding and the list of the open orders that it
 * owns. Rows are made only when an order of that address is accepted, and are never removed.
 */
import { assert } from './assert.ts';
import { indexFind, indexInsert, tagOf } from './hash-index.ts';
import { ACCOUNT_I, Account, ADDRESS_WORDS, ORDER_I, Order, State } from './layout.ts';
import type { Tables } from './tables.ts';

/** Account slot of an address (five words from `offset`), or 0. */
export function findAccount(t: Tables, key: Int32Array, offset: number): number {
  const tag = tagOf(key, offset, ADDRESS_WORDS);
  const { accountIndex, accountI } = t;
  return indexFind(
    accountIndex,
    accountI,
    ACCOUNT_I,
    Account.address,
    key,
    offset,
    ADDRESS_WORDS,
    tag,
  );
}

/** Account slot of an address, made if need be; the caller made sure of the room. */
export function takeAccount(t: Tables, key: Int32Array, offset: number): number {
  const found = findAccount(t, key, offset);
  if (found !== 0) return found;
  const slot = t.state[State.accounts]! + 1;
  assert(slot <= t.capacities.accounts, 'an account row is reserved before it is taken');
  t.state[State.accounts] = slot;
  const row = slot << ACCOUNT_I;
  for (let i = 0; i < ADDRESS_WORDS; i++) t.accountI[row + i] = key[offset + i]!;
  indexInsert(t.accountIndex, tagOf(key, offset, ADDRESS_WORDS), slot);
  return slot;
}

/** Appends an order to the head of its owner's list of open orders. */
export function linkOwner(t: Tables, slot: number, owner: number): void {
  const account = owner << ACCOUNT_I;
  const head = t.accountI[account + Account.openHead]!;
  const order = slot << ORDER_I;
  t.orderI[order + Order.ownerNext] = head;
  t.orderI[order + Order.ownerPrev] = 0;
  if (head !== 0) t.orderI[(head << ORDER_I) + Order.ownerPrev] = slot;
  t.accountI[account + Account.openHead] = slot;
  t.accountI[account + Account.openCount]! += 1;
}

export function unlinkOwner(t: Tables, slot: number): void {
  const order = slot << ORDER_I;
  const account = t.orderI[order + Order.owner]! << ACCOUNT_I;
  const after = t.orderI[order + Order.ownerNext]!;
  const before = t.orderI[order + Order.ownerPrev]!;
  if (before === 0) t.accountI[account + Account.openHead] = after;
  else t.orderI[(before << ORDER_I) + Order.ownerNext] = after;
  if (after !== 0) t.orderI[(after << ORDER_I) + Order.ownerPrev] = before;
  t.orderI[order + Order.ownerNext] = 0;
  t.orderI[order + Order.ownerPrev] = 0;
  t.accountI[account + Account.openCount]! -= 1;
}
