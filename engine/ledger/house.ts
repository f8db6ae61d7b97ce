/**
 * Accounts of the house: a list over the rows of cash. Limits of wallets do not bind them, and a season ends only once
 * they have no cash. Rules: docs/ledger.md#accounts-of-the-house
 */
import { assert } from '../book/matching.ts';
import * as layout from '../tables/layout.ts';
import type { Tables } from '../tables/tables.ts';
import type { AccountRow } from '../tables/units.ts';

// A module's own constants are folded into machine code; imported ones are loaded at each use.
const { CASH_F, CASH_I, Cash, Ledger, State } = layout;

const LAST = -1;

export function isHouse({ cashI, state }: Tables, account: AccountRow | 0): boolean {
  return state[State.ledger] !== 0 && cashI[(account << CASH_I) | Cash.nextHouse] !== 0;
}

/** Adds an account that is not in the list. */
export function listHouse({ cashI, ledger }: Tables, account: AccountRow): void {
  const newest = ledger[Ledger.newestHouse]!;
  cashI[(account << CASH_I) | Cash.nextHouse] = newest === 0 ? LAST : newest;
  ledger[Ledger.newestHouse] = account;
}

/** Number of accounts of the house that have cash. */
export function fundedHouses({ cashF, cashI, ledger }: Tables): number {
  let funded = 0;
  for (let row = ledger[Ledger.newestHouse]!; row > 0; ) {
    if (cashF[(row << CASH_F) | Cash.total]! > 0) funded += 1;
    row = cashI[(row << CASH_I) | Cash.nextHouse]!;
  }
  return funded;
}

export function auditHouses({ cashI, ledger, state }: Tables): void {
  const accounts = state[State.accounts]!;
  let marked = 0;
  for (let row = 1; row <= accounts; row++)
    if (cashI[(row << CASH_I) | Cash.nextHouse] !== 0) marked += 1;
  for (let row = ledger[Ledger.newestHouse]!; row > 0; marked--) {
    assert(row <= accounts && marked > 0, 'the list of accounts of the house ends');
    row = cashI[(row << CASH_I) | Cash.nextHouse]!;
  }
  assert(marked === 0, 'every account of the house is in their list');
}
