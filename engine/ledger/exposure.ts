/**
 * Exposure of a wallet: its reserved cash and what its positions cost. Costs are kept from the first limit on.
 * Rules: docs/protocol.md#limits-of-a-wallet
 */
import { assert } from '../book/matching.ts';
import * as layout from '../tables/layout.ts';
import type { Tables } from '../tables/tables.ts';
import type { AccountRow, PositionRow } from '../tables/units.ts';
import { isHouse } from './house.ts';

// A module's own constants are folded into machine code; imported ones are loaded at each use.
const { CASH_F, Cash, Ledger, POSITION_F, POSITION_I, Position } = layout;

/** Micro-units by which the exposure of a wallet may still grow; infinite without a limit, and for the house. */
export function exposureLeft(t: Tables, wallet: AccountRow | 0): number {
  const { cashF, ledger, walletCosts } = t;
  const most = ledger[Ledger.exposurePerWallet]!;
  if (most === 0 || isHouse(t, wallet)) return Number.POSITIVE_INFINITY;
  return most - cashF[(wallet << CASH_F) | Cash.reserved]! - walletCosts[wallet]!;
}

/** Adds to what a position cost, after its shares have changed. `paid`: below 0 = received. */
export function addCost(t: Tables, wallet: AccountRow, position: PositionRow, paid: number): void {
  if (t.ledger[Ledger.exposurePerWallet] === 0) return;
  const { positionCosts, positionF, walletCosts } = t;
  const before = positionCosts[position]!;
  const isEmpty = positionF[(position << POSITION_F) | Position.total] === 0;
  const after = isEmpty ? 0 : Math.max(0, before + paid);
  positionCosts[position] = after;
  walletCosts[wallet]! += after - before;
}

/** Part of the cash of complete sets that counts for an outcome: equal parts, and what is left for the first. */
export function partOfSets(sets: number, outcome: number, outcomes: number): number {
  const part = Math.floor(Math.abs(sets) / outcomes);
  const own = outcome === 0 ? Math.abs(sets) - part * (outcomes - 1) : part;
  return sets < 0 ? -own : own;
}

/** Sums of freshly loaded tables, which snapshots leave out. */
export function sumCosts({ ledger, positionCosts, positionI }: Tables, sums: Float64Array): void {
  if (ledger[Ledger.exposurePerWallet] === 0) return;
  for (let row = 1; row <= ledger[Ledger.positionRows]!; row++) {
    sums[positionI[(row << POSITION_I) | Position.account]!]! += positionCosts[row]!;
  }
}

export function auditCosts(t: Tables): void {
  const { ledger, positionCosts, positionF, walletCosts } = t;
  // Without a limit ever the tables of costs are not touched, and take no memory.
  if (ledger[Ledger.exposurePerWallet] === 0) return;
  const sums = new Float64Array(walletCosts.length);
  sumCosts(t, sums);
  for (let row = 1; row <= ledger[Ledger.positionRows]!; row++) {
    const cost = positionCosts[row]!;
    assert(Number.isInteger(cost) && cost >= 0, 'a position cost whole micro-units');
    const isEmpty = positionF[(row << POSITION_F) | Position.total] === 0;
    assert(!isEmpty || cost === 0, 'a position without shares costs nothing');
  }
  sums.forEach((sum, wallet) => {
    assert(walletCosts[wallet] === sum, 'a wallet sums what its positions cost');
  });
}
