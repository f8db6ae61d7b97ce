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
export type MarketRow = Unit<'MarketRow'>;
export type TokenRow = Unit<'TokenRow'>;
export type BookRow = Unit<'BookRow'>;
export type AccountRow = Unit<'AccountRow'>;
export type PositionRow = Unit<'PositionRow'>;
export type ResolutionRow = Unit<'ResolutionRow'>;
export type AgentRow = Unit<'AgentRow'>;
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

/**
 * Row of a fill in a ring of so many rows: the remainder, without the call that `%` is for numbers of more than 32
 * bits. `| 0` makes it a whole number for the machine, too, at each of the row's words.
 */
export function fillRowAt(sequence: number, rows: number): FillRow {
  return ((sequence - Math.floor(sequence / rows) * rows) | 0) as FillRow;
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

/**
 * Step in micro-units to which the fee of a schedule is rounded down: 0.00001 of collateral. The rounding is not
 * verified (docs/protocol.md#fees).
 */
const SCHEDULE_FEE_STEP = 10;
export const SCHEDULE_EXPONENT_MAX = 4;

/** Base of the digits in which the product of a fee is held: the square of PIPS_PER_UNIT. */
const DIGIT = PIPS_PER_UNIT * PIPS_PER_UNIT;
const STEPS_PER_DIGIT = DIGIT / (MICRO * SCHEDULE_FEE_STEP);
/** Digits of the product, lowest first: two of the shares, one for each factor. */
const product = new Float64Array(2 + 1 + SCHEDULE_EXPONENT_MAX);

/**
 * Taker's fee of a schedule on one fill, in collateral, rounded down to SCHEDULE_FEE_STEP:
 * `shares x rate x (p x (1 - p))^exponent` (docs/protocol.md#fees).
 * @param rate millionths, 0 to MICRO
 */
export function scheduleFeeOf(
  shares: MicroShares,
  ticks: Ticks,
  ticksPerUnit: TicksPerUnit,
  rate: number,
  exponent: number,
): number {
  if (rate === 0) return 0;
  const pips = ticks * (PIPS_PER_UNIT / ticksPerUnit);
  const spread = pips * (PIPS_PER_UNIT - pips);
  const high = Math.floor(shares / DIGIT);
  product[0] = shares - high * DIGIT;
  product[1] = high;
  multiply(2, rate);
  for (let i = 0; i < exponent; i++) multiply(3 + i, spread);
  // Each factor is in units of a digit, so as many digits are dropped.
  const whole = product[exponent + 2]! * DIGIT + product[exponent + 1]!;
  const rest = Math.floor(product[exponent]! / (MICRO * SCHEDULE_FEE_STEP));
  return SCHEDULE_FEE_STEP * (whole * STEPS_PER_DIGIT + rest);
}

/** Multiplies the lowest `digits` of the product by a factor below DIGIT; the carry is the next digit. */
function multiply(digits: number, factor: number): void {
  let carry = 0;
  for (let i = 0; i < digits; i++) {
    const value = product[i]! * factor + carry;
    carry = Math.floor(value / DIGIT);
    product[i] = value - carry * DIGIT;
  }
  product[digits] = carry;
}

/**
 * Most that a schedule can take of a BUY, over all prices up to its limit and all ways to fill it: p x (1 - p) is
 * largest at one half.
 */
export function largestScheduleFee(
  shares: MicroShares,
  limit: Ticks,
  ticksPerUnit: TicksPerUnit,
  rate: number,
  exponent: number,
): number {
  const dearest = Math.min(limit, ticksPerUnit / 2) as Ticks;
  return scheduleFeeOf(shares, dearest, ticksPerUnit, rate, exponent);
}

/**
 * True when no sale can owe more than its proceeds at any price of the grid. With an exponent p x (1 - p) is below
 * p, so only a fee that ignores the price can.
 */
export function isSchedule(
  ticksPerUnit: TicksPerUnit,
  rate: number,
  exponent: number,
  rebate: number,
): boolean {
  const isPart = (value: number): boolean =>
    Number.isInteger(value) && value >= 0 && value <= MICRO;
  const isExponent =
    Number.isInteger(exponent) && exponent >= 0 && exponent <= SCHEDULE_EXPONENT_MAX;
  if (!isPart(rate) || !isPart(rebate) || !isExponent) return false;
  return exponent > 0 || rate * ticksPerUnit <= MICRO;
}

/** Pips of ticks of a grid; exact, because every grid divides the finest one. */
export function pipsOf(ticks: Ticks, ticksPerUnit: TicksPerUnit): Pips {
  assert(isTickGrid(ticksPerUnit), 'a price is on one of the grids');
  return (ticks * (PIPS_PER_UNIT / ticksPerUnit)) as Pips;
}
