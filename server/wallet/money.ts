/**
 * Whole micro-units of any size and sign as decimal text, and quotients of the data API. They use whole numbers,
 * rounded to the nearest millionth, halves away from zero.
 *
 * Thread: any; pure.
 */
import { MICRO, PIPS_PER_UNIT } from '../../engine/tables/units.ts';
import type { Position } from '../../storage/projection/position-rows.ts';

const MICROS = BigInt(MICRO);
const PIPS = BigInt(PIPS_PER_UNIT);
const DECIMALS = 6;

/** -1500000n is `-1.5`. */
export function microsText(micros: bigint): string {
  if (micros < 0n) return `-${microsText(-micros)}`;
  const rest = micros % MICROS;
  const whole = String(micros / MICROS);
  if (rest === 0n) return whole;
  return `${whole}.${String(rest).padStart(DECIMALS, '0').replace(/0+$/, '')}`;
}

/** `part / whole` in millionths; 0 when `whole` is 0. */
function ratio(part: bigint, whole: bigint): bigint {
  if (whole === 0n) return 0n;
  if (whole < 0n) return ratio(-part, -whole);
  if (part < 0n) return -ratio(-part, whole);
  return (2n * part * MICROS + whole) / (2n * whole);
}

function percent(part: bigint, whole: bigint): bigint {
  return ratio(100n * part, whole < 0n ? -whole : whole);
}

/** Value of the net shares at a price, rounded towards zero. */
export function worth(net: bigint, pips: number): bigint {
  return (net * BigInt(pips)) / PIPS;
}

/** Average cost of a share; for a closed position, the average over all purchases. */
export function averagePrice({ bought, cost, net, spent }: Position): bigint {
  return net === 0n ? ratio(spent, bought) : ratio(cost, net);
}

export function gain(position: Position, pips: number): bigint {
  return worth(position.net, pips) - position.cost;
}

export function percentGain(position: Position, pips: number): bigint {
  return percent(gain(position, pips), position.cost);
}

/** Realised gain in percent of the cost of all purchases. */
export function percentRealised({ realised, spent }: Position): bigint {
  return percent(realised, spent);
}
