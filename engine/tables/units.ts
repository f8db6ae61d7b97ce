/**
 * Units as types, and the whole-number arithmetic of money. Nothing here rounds in secret: each
 * function that can drop a part says which way.
 *
 * A number earns its unit by a cast where it enters: read from a column or a command, or computed
 * from other units. The casts leave no trace in the compiled code.
 *
 * Collateral and shares both have six decimals, so 1 unit = 1,000,000 micro-units.
 * Rules: docs/protocol.md#units
 */
import { assert } from '../book/matching.ts';

declare const unit: unique symbol;
type Unit<Name extends string> = number & { readonly [unit]: Name };

/** A price as a whole number of ticks of its market's grid; strictly between 0 and 1 unit. */
export type Ticks = Unit<'Ticks'>;
/** Ticks in one unit of collateral: one of TICK_GRIDS. */
export type TicksPerUnit = (typeof GRIDS)[number]['ticksPerUnit'];
/** Price in ten-thousandths of a unit: the finest grid, into which every other one divides. */
export type Pips = Unit<'Pips'>;
export type MicroShares = Unit<'MicroShares'>;
export type MicroCollateral = Unit<'MicroCollateral'>;
/**
 * Row of an order in the order table; it does not identify the order. Rows count from 1. A column in which 0 means
 * "none" is `OrderRow | 0`, so that the compiler demands the check.
 */
export type OrderRow = Unit<'OrderRow'>;
/** Row of a market, token, book or account, from 1. */
export type MarketRow = Unit<'MarketRow'>;
export type TokenRow = Unit<'TokenRow'>;
export type BookRow = Unit<'BookRow'>;
export type AccountRow = Unit<'AccountRow'>;
export type PositionRow = Unit<'PositionRow'>;
export type ResolutionRow = Unit<'ResolutionRow'>;
export type FillRow = Unit<'FillRow'>;

export const MICRO = 1_000_000;
export const PIPS_PER_UNIT = 10_000;

/**
 * Tick grids, from ticks of 0.1 to 0.0001. Clients round an amount to the decimals of a price and two more. Another
 * grid changes nothing that is stored: a market stores its ticks, and a book has as many levels. Rules:
 * docs/protocol.md#client-rounding
 */
const GRIDS = [
  { ticksPerUnit: 10, amountDecimals: 3 },
  { ticksPerUnit: 100, amountDecimals: 4 },
  { ticksPerUnit: 200, amountDecimals: 5 },
  { ticksPerUnit: 400, amountDecimals: 6 },
  { ticksPerUnit: 1_000, amountDecimals: 5 },
  { ticksPerUnit: 10_000, amountDecimals: 6 },
] as const;

export const TICK_GRIDS: readonly TicksPerUnit[] = GRIDS.map((grid) => grid.ticksPerUnit);

/** Micro-units to which clients round an amount, in the order of TICK_GRIDS. */
export const ROUNDING_STEPS: readonly number[] = GRIDS.map(
  (grid) => 10 ** (6 - grid.amountDecimals),
);

const GRID_INDEX = new Int8Array(PIPS_PER_UNIT + 1).fill(-1);
for (const [index, grid] of TICK_GRIDS.entries()) {
  assert(PIPS_PER_UNIT % grid === 0, 'every grid divides the finest one');
  GRID_INDEX[grid] = index;
}

export function gridIndex(ticksPerUnit: TicksPerUnit): number {
  return GRID_INDEX[ticksPerUnit]!;
}

export function isTickGrid(value: number): value is TicksPerUnit {
  return (GRID_INDEX[value] ?? -1) >= 0;
}

/**
 * Computes floor(quantity x numerator / denominator), exact below 2^53, as long as numerator <= denominator and
 * numerator x denominator stays below 2^53. The quantity is split by the denominator first, because the plain
 * product would leave the exact range.
 */
export function mulDivFloor(quantity: number, numerator: number, denominator: number): number {
  // Below 2^53 a quotient is never rounded up to the next whole number, so `rest` is not negative.
  const whole = Math.floor(quantity / denominator);
  const rest = quantity - whole * denominator;
  return whole * numerator + Math.floor((rest * numerator) / denominator);
}

/** Cost of `shares` at a price in micro-units, rounded down (docs/protocol.md#settlement). */
export function collateralOf(
  shares: MicroShares,
  ticks: Ticks,
  ticksPerUnit: TicksPerUnit,
): MicroCollateral {
  return mulDivFloor(shares, ticks, ticksPerUnit) as MicroCollateral;
}

/**
 * Taker's fee on one fill, rounded down (docs/protocol.md#fees): `bps / 10000 x min(p, 1 - p) x shares`, in
 * collateral for a seller; divided by p, in shares, for a buyer.
 */
export function feeOf(
  isBuy: boolean,
  shares: MicroShares,
  ticks: Ticks,
  ticksPerUnit: TicksPerUnit,
  bps: number,
): number {
  if (bps === 0) return 0;
  const smaller = Math.min(ticks, ticksPerUnit - ticks);
  return mulDivFloor(shares, bps * smaller, 10_000 * (isBuy ? ticks : ticksPerUnit));
}

/** Pips of ticks of a grid; exact, because every grid divides the finest one. */
export function pipsOf(ticks: Ticks, ticksPerUnit: TicksPerUnit): Pips {
  assert(isTickGrid(ticksPerUnit), 'a price is on one of the grids');
  return (ticks * (PIPS_PER_UNIT / ticksPerUnit)) as Pips;
}
