/**
 * The limit price of a signed order, from its two amounts by cross-multiplication, never by a
 * division in floating point (docs/protocol.md#limit-price). A price is collateral / shares.
 */
import { AMOUNT_MAX } from './capacities.ts';
import type { MicroCollateral, MicroShares, Ticks, TicksPerUnit } from './units.ts';
import { gridIndex, MICRO, PIPS_PER_UNIT, ROUNDING_STEPS } from './units.ts';

/** Bound up to which every product of nearestTicks is exact: 225,000 shares. */
const EXACT_SHARES_MAX = AMOUNT_MAX / (4 * PIPS_PER_UNIT);

/**
 * Ticks of a resting order's price: collateral x ticksPerUnit must be a whole multiple of shares. Returns 0 when it
 * breaks the tick rule. Both amounts are positive.
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
 * Ticks of an immediate order's price. Client rounding makes the quotient inexact, so the nearest tick within 2 %
 * of a tick is taken; below one share within one rounding step, if that is more. Where it would cross the signed
 * limit, the next one in the signer's favour is taken. Returns 0 when it breaks the tick rule.
 */
export function nearestTicks(
  isBuy: boolean,
  collateral: MicroCollateral,
  shares: MicroShares,
  ticksPerUnit: TicksPerUnit,
): Ticks | 0 {
  if (collateral >= shares) return 0;
  if (shares > EXACT_SHARES_MAX) return nearestOfLarge(isBuy, collateral, shares, ticksPerUnit);
  const scaled = collateral * ticksPerUnit;
  const nearest = Math.floor((2 * scaled + shares) / (2 * shares));
  const distance = Math.abs(scaled - nearest * shares);
  const step = ROUNDING_STEPS[gridIndex(ticksPerUnit)]!;
  const close = distance * 50 <= shares || (shares < MICRO && distance <= nearest * step);
  if (!close || nearest < 1 || nearest >= ticksPerUnit) return 0;
  // Cost of all shares at the nearest tick, rounded down, against the signed amount.
  const cost = Math.floor((shares * nearest) / ticksPerUnit);
  return inFavour(isBuy, nearest, cost - collateral, ticksPerUnit);
}

function nearestOfLarge(
  isBuy: boolean,
  collateral: MicroCollateral,
  shares: MicroShares,
  ticksPerUnit: TicksPerUnit,
): Ticks | 0 {
  const c = BigInt(collateral);
  const s = BigInt(shares);
  const grid = BigInt(ticksPerUnit);
  const nearest = (2n * c * grid + s) / (2n * s);
  const signed = c * grid - nearest * s;
  const distance = signed < 0n ? -signed : signed;
  if (distance * 50n > s || nearest < 1n || nearest >= grid) return 0;
  return inFavour(isBuy, Number(nearest), Number((s * nearest) / grid - c), ticksPerUnit);
}

/** The nearest tick, or the next one in the signer's favour. `over`: its cost less the signed one. */
function inFavour(isBuy: boolean, nearest: number, over: number, ticksPerUnit: number): Ticks | 0 {
  let ticks = nearest;
  if (isBuy && over > 0) ticks -= 1;
  if (!isBuy && over < 0) ticks += 1;
  return ticks >= 1 && ticks < ticksPerUnit ? (ticks as Ticks) : 0;
}
