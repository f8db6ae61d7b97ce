/**
 * Accounts: a 20-byte address to a row with its binding and the list of the open orders that it
 * owns. Rows are made only when an order of that address is accepted, and are never removed.
 */
import { assert } from './assert.ts';
import { home, indexInsert, next } from './hash-index.ts';
import * as layout from './layout.ts';
import type { Tables } from './tables.ts';
import type { AccountSlot, OrderSlot } from './units.ts';
import { sameAddress } from './words.ts';

// A module's own constants are folded into machine code; imported ones are loaded at each use.
const { ACCOUNT_I, Account, ADDRESS_WORDS, LINK_I, Link, ORDER_I, Order, State } = layout;

const GOLDEN = 0x9e3779b1;

/** Tag of an address: it is a hash already, so three of its words are mixed enough. */
export function accountTag(key: Int32Array, at: number): number {
  return Math.imul(key[at]! ^ Math.imul(key[at + 1]!, GOLDEN), GOLDEN) ^ key[at + 4]!;
}

/** Account slot of an address (five words from `at`), or 0. */
export function findAccount(t: Tables, key: Int32Array, at: number): AccountSlot | 0 {
  const tag = accountTag(key, at);
  const { accountI, accountIndex } = t;
  for (let entry = home(accountIndex, tag); ; entry = next(accountIndex, entry)) {
    const slot = accountIndex[2 * entry + 1]! as AccountSlot | 0;
    if (slot === 0) return 0;
    if (accountIndex[2 * entry] !== tag) continue;
    if (sameAddress(accountI, slot << ACCOUNT_I, key, at)) return slot;
  }
}

/** Makes the account of an address that has none; the caller made sure of the room. */
export function makeAccount(t: Tables, key: Int32Array, at: number): AccountSlot {
  const slot = (t.state[State.accounts]! + 1) as AccountSlot;
  assert(slot <= t.capacities.accounts, 'an account row is reserved before it is taken');
  t.state[State.accounts] = slot;
  const row = slot << ACCOUNT_I;
  for (let i = 0; i < ADDRESS_WORDS; i++) t.accountI[row + i] = key[at + i]!;
  indexInsert(t.accountIndex, accountTag(key, at), slot);
  return slot;
}

/** Appends an order to the head of its owner's list of open orders. */
export function linkOwner(t: Tables, slot: OrderSlot, owner: AccountSlot): void {
  const account = owner << ACCOUNT_I;
  const head = t.accountI[account + Account.openHead]!;
  t.linkI[(slot << LINK_I) + Link.ownerNext] = head;
  t.linkI[(slot << LINK_I) + Link.ownerPrev] = 0;
  if (head !== 0) t.linkI[(head << LINK_I) + Link.ownerPrev] = slot;
  t.accountI[account + Account.openHead] = slot;
  t.accountI[account + Account.openCount]! += 1;
}

export function unlinkOwner(t: Tables, slot: OrderSlot): void {
  const order = slot << ORDER_I;
  const account = t.orderI[order + Order.owner]! << ACCOUNT_I;
  const after = t.linkI[(slot << LINK_I) + Link.ownerNext]!;
  const before = t.linkI[(slot << LINK_I) + Link.ownerPrev]!;
  if (before === 0) t.accountI[account + Account.openHead] = after;
  else t.linkI[(before << LINK_I) + Link.ownerNext] = after;
  if (after !== 0) t.linkI[(after << LINK_I) + Link.ownerPrev] = before;
  t.linkI[(slot << LINK_I) + Link.ownerNext] = 0;
  t.linkI[(slot << LINK_I) + Link.ownerPrev] = 0;
  t.accountI[account + Account.openCount]! -= 1;
}
