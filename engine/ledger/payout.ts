/** Payout of an outcome: its weight divided by the sum of all (docs/ledger.md#resolution). */
import { RESOLUTION_I, Resolution } from '../tables/layout.ts';
import type { Tables } from '../tables/tables.ts';
import { mulDivFloor, type ResolutionRow } from '../tables/units.ts';

/** Bits of a weight, which is at most 10,000: two lie in a word. */
const WEIGHT_BITS = 16;
const WEIGHT_MASK = (1 << WEIGHT_BITS) - 1;

export function weightOf({ resolutionI }: Tables, row: ResolutionRow, outcome: number): number {
  const word = resolutionI[(row << RESOLUTION_I) + Resolution.weights + (outcome >>> 1)]!;
  return (outcome & 1) === 0 ? word & WEIGHT_MASK : word >>> WEIGHT_BITS;
}

/** Sets a weight in a row whose weights are zero. */
export function setWeight(t: Tables, row: ResolutionRow, outcome: number, weight: number): void {
  const at = (row << RESOLUTION_I) + Resolution.weights + (outcome >>> 1);
  t.resolutionI[at]! |= weight << (WEIGHT_BITS * (outcome & 1));
}

/** Micro-units paid for shares of an outcome, rounded down. */
export function payoutOf(t: Tables, row: ResolutionRow, outcome: number, shares: number): number {
  const sum = t.resolutionI[(row << RESOLUTION_I) + Resolution.sum]!;
  return payoutByWeight(shares, weightOf(t, row, outcome), sum);
}

/** @param sum of the weights of all outcomes, not 0 */
export function payoutByWeight(shares: number, weight: number, sum: number): number {
  return mulDivFloor(shares, weight, sum);
}
