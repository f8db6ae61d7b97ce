/**
 * Sums of micro-units beyond 2^53: `whole[i]` units and `rest[i]` millionths, both exact.
 *
 * Thread: any; pure.
 */
import { MICRO } from '../../engine/tables/units.ts';

export interface Sums {
  readonly whole: Float64Array;
  readonly rest: Float64Array;
}

/** A sum from here on may not be a whole number of micro-units as a double. */
const WHOLE_MAX = Math.floor(Number.MAX_SAFE_INTEGER / MICRO);

export function newSums(entries: number): Sums {
  return { whole: new Float64Array(entries), rest: new Float64Array(entries) };
}

/** Returns true for an entry that these functions can have made. */
export function isSum({ rest, whole }: Sums, i: number): boolean {
  return Number.isSafeInteger(whole[i]) && whole[i]! >= 0 && rest[i]! < MICRO;
}

export function addTo(sums: Sums, i: number, micro: number): void {
  const rest = micro % MICRO;
  carry(sums, i, sums.whole[i]! + (micro - rest) / MICRO, sums.rest[i]! + rest);
}

/** Adds an entry of `from` to one of `to`, or with the sign -1 subtracts it. */
export function moveSum(from: Sums, i: number, to: Sums, at: number, sign: 1 | -1): void {
  const whole = to.whole[at]! + sign * from.whole[i]!;
  carry(to, at, whole, to.rest[at]! + sign * from.rest[i]!);
}

/** Micro-units, 2^53 - 1 at most. */
export function microOf({ rest, whole }: Sums, i: number): number {
  if (whole[i]! >= WHOLE_MAX) return Number.MAX_SAFE_INTEGER;
  return whole[i]! * MICRO + rest[i]!;
}

function carry(sums: Sums, i: number, whole: number, rest: number): void {
  const over = rest < 0 ? -1 : rest >= MICRO ? 1 : 0;
  sums.whole[i] = whole + over;
  sums.rest[i] = rest - over * MICRO;
}
