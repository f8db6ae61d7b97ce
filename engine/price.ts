/**
 * The limit price of a signed order, from its two amounts by cross-multiplication, never by a
 * division in floating point (GAPS 1.4, 12). A price is collateral / shares.
 */
import * as limits from './limits.ts';
import type { MicroCollateral, MicroShares, Ticks, TicksPerUnit } from './units.ts';
import * as units from './units.ts';

// A module's own constants are folded into machine code; imported ones are loaded at each use.
const { AMOUNT_MAX } = limits;
const { MICRO, ROUNDING_STEPS } = units;

/**
 * Ticks of a resting order's price: collateral x ticksPerUnit must be a whole multiple of shares.
 * 0 when it breaks the tick rule. Both amounts are positive.
 */
export function exactTicks(
  collateral: MicroCollateral,
  shares: MicroShares,
  ticksPerUnit: TicksPerUnit,
): Ticks | 0 {
  if (collateral >= shares) return 0;
  if (collateral > AMOUNT_MAX / ticksPerUnit) {
    const product = BigInt(collateral) * BigInt(ticksPerUnit);
    return product % BigInt(shares) === 0n ? (Number(product / BigInt(shares)) as Ticks) : 0;
  }
  const product = collateral * ticksPerUnit;
  // Exact: the quotient is below 2^14, so its product with `shares` is the only way to `product`.
  const ticks = Math.round(product / shares) as Ticks;
  return ticks * shares === product ? ticks : 0;
}

/**
 * Ticks of an immediate order's price: client rounding makes the quotient inexact, so the nearest
 * tick within 2 % of a tick is taken (below one share: within one rounding step, if that is more),
 * then the next one in the signer's favour where the nearest would cross the signed limit. 0 when
 * it breaks the tick rule.
 */
export function nearestTicks(
  isBuy: boolean,
  collateral: MicroCollateral,
  shares: MicroShares,
  ticksPerUnit: TicksPerUnit,
): Ticks | 0 {
  if (collateral >= shares) return 0;
  // Rare and off the hot path for ordinary sizes: whole-number arithmetic without a bound.
  const c = BigInt(collateral);
  const s = BigInt(shares);
  const grid = BigInt(ticksPerUnit);
  const nearest = (2n * c * grid + s) / (2n * s);
  const signed = c * grid - nearest * s;
  const distance = signed < 0n ? -signed : signed;
  const step = BigInt(ROUNDING_STEPS[units.gridIndex(ticksPerUnit)]!);
  const close = distance * 50n <= s || (shares < MICRO && distance <= nearest * step);
  if (!close || nearest < 1n || nearest >= grid) return 0;
  // Cost of all shares at the nearest tick, rounded down, against the signed amount.
  const cost = (s * nearest) / grid;
  let ticks = Number(nearest);
  if (isBuy && cost > c) ticks -= 1;
  if (!isBuy && cost < c) ticks += 1;
  return ticks >= 1 && ticks < ticksPerUnit ? (ticks as Ticks) : 0;
}
