/**
 * Accounts: row of a 20-byte address with its binding and the list of its open orders. A row is made when an order
 * of the address is accepted, and is never removed.
 */
import { assert } from '../book/matching.ts';
import { ADDRESS_WORDS } from '../tables/codes.ts';
import { home, indexInsert, next } from '../tables/hash-index.ts';
import { ACCOUNT_I, Account, LINK_I, Link, ORDER_I, Order, State } from '../tables/layout.ts';
import type { Tables } from '../tables/tables.ts';
import type { AccountRow, OrderRow } from '../tables/units.ts';
import { sameAddress } from '../tables/words.ts';

const GOLDEN = 0x9e3779b1;

/** Tag of an address. An address is a hash already, so mixing three of its words is enough. */
export function accountTag(key: Int32Array, at: number): number {
  return Math.imul(key[at]! ^ Math.imul(key[at + 1]!, GOLDEN), GOLDEN) ^ key[at + 4]!;
}

export function findAccount(t: Tables, key: Int32Array, at: number): AccountRow | 0 {
  const tag = accountTag(key, at);
  const { accountI, accountIndex } = t;
  for (let entry = home(accountIndex, tag); ; entry = next(accountIndex, entry)) {
    const row = accountIndex[2 * entry + 1]! as AccountRow | 0;
    if (row === 0) return 0;
    if (accountIndex[2 * entry] !== tag) continue;
    if (sameAddress(accountI, row << ACCOUNT_I, key, at)) return row;
  }
}

/** Makes the account of an address. The caller checked the room. */
export function makeAccount(t: Tables, key: Int32Array, at: number): AccountRow {
  const row = (t.state[State.accounts]! + 1) as AccountRow;
  assert(row <= t.capacities.accounts, 'an account row is reserved before it is taken');
  t.state[State.accounts] = row;
  const offset = row << ACCOUNT_I;
  for (let i = 0; i < ADDRESS_WORDS; i++) t.accountI[offset + i] = key[at + i]!;
  indexInsert(t.accountIndex, accountTag(key, at), row);
  return row;
}

/**
 * Puts an order at the head of its owner's list. The list uses slots of the matching core, because those lie close
 * together and the rows of orders do not.
 */
export function linkOwner(t: Tables, owner: AccountRow, restingSlot: number): void {
  const { accountI, linkI } = t;
  const account = owner << ACCOUNT_I;
  const head = accountI[account | Account.openHead]!;
  linkI[(restingSlot << LINK_I) | Link.ownerNext] = head;
  linkI[(restingSlot << LINK_I) | Link.ownerPrev] = 0;
  if (head !== 0) linkI[(head << LINK_I) | Link.ownerPrev] = restingSlot;
  accountI[account | Account.openHead] = restingSlot;
  accountI[account | Account.openCount]! += 1;
}

/** Takes an order out of its owner's list. Its own links stay until its slot is used again. */
export function unlinkOwner(t: Tables, owner: AccountRow, restingSlot: number): void {
  const { accountI, linkI } = t;
  const link = restingSlot << LINK_I;
  const account = owner << ACCOUNT_I;
  const after = linkI[link | Link.ownerNext]!;
  const before = linkI[link | Link.ownerPrev]!;
  if (before === 0) accountI[account | Account.openHead] = after;
  else linkI[(before << LINK_I) | Link.ownerNext] = after;
  if (after !== 0) linkI[(after << LINK_I) | Link.ownerPrev] = before;
  accountI[account | Account.openCount]! -= 1;
}

export function newestOwned(t: Tables, owner: AccountRow): OrderRow | 0 {
  const restingSlot = t.accountI[(owner << ACCOUNT_I) | Account.openHead]!;
  return restingSlot === 0 ? 0 : (t.matching.userData(restingSlot) as OrderRow);
}

export function nextOwned(t: Tables, order: OrderRow): OrderRow | 0 {
  const link = t.orderI[(order << ORDER_I) | Order.restingSlot]! << LINK_I;
  const restingSlot = t.linkI[link | Link.ownerNext]!;
  return restingSlot === 0 ? 0 : (t.matching.userData(restingSlot) as OrderRow);
}
