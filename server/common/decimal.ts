/**
 * Whole numbers of micro-units and pips as plain decimal text, and back: no exponent, no trailing
 * zeros, never through floating-point fractions (docs/protocol.md#decimal-texts).
 *
 * The writers put ASCII digits into the caller's bytes at `at` and return the position after them,
 * so read routes build answers without a string for each number.
 *
 * Thread: any. Non-goals: negative amounts; amounts of 2^53 and above.
 */
import { assert } from '../../engine/book/matching.ts';
import {
  MICRO,
  PIPS_PER_UNIT,
  type Pips,
  pipsOf,
  type Ticks,
  type TicksPerUnit,
} from '../../engine/tables/units.ts';

/** Digits of the largest amount: `9007199254.740991`. */
export const DECIMAL_BYTES_MAX = 17;

/** More than any amount in the engine. parseMicroUp returns it for anything larger. */
const ABOVE_ALL = 2 ** 53;
const SAFE_DIGITS = 16;
const MICRO_DECIMALS = 6;
const DIGIT_0 = 0x30;
const POINT = 0x2e;
const LOW_DIGITS = 9;
const LOW = 10 ** LOW_DIGITS;
const MICRO_PER_PIP = MICRO / PIPS_PER_UNIT;
/** For a remainder below this, the remainder times 1000 is exact. */
const THOUSANDFOLD_MAX = Number.MAX_SAFE_INTEGER / 1_000;

const NUMBER_TEXT = /^(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,4}))?$/;

export function writeInteger(value: number, out: Uint8Array, at: number): number {
  if (value < LOW) {
    let digits = 1;
    for (let bound = 10; bound <= value; bound *= 10) digits += 1;
    return writeDigits(value, digits, out, at);
  }
  assert(value <= Number.MAX_SAFE_INTEGER, 'a printed number is exact');
  const low = value % LOW;
  const after = writeInteger((value - low) / LOW, out, at);
  return writeDigits(low, LOW_DIGITS, out, after);
}

/** An amount in micro-units: 420500000 is `420.5`. */
export function writeMicro(micro: number, out: Uint8Array, at: number): number {
  let rest = micro % MICRO;
  const after = writeInteger((micro - rest) / MICRO, out, at);
  if (rest === 0) return after;
  let digits = MICRO_DECIMALS;
  while (rest % 10 === 0) {
    rest /= 10;
    digits -= 1;
  }
  out[after] = POINT;
  return writeDigits(rest, digits, out, after + 1);
}

/** A price in pips: 4800 is `0.48`. */
export function writePips(pips: Pips, out: Uint8Array, at: number): number {
  return writeMicro(pips * MICRO_PER_PIP, out, at);
}

export function writeTicks(
  ticks: Ticks,
  ticksPerUnit: TicksPerUnit,
  out: Uint8Array,
  at: number,
): number {
  return writePips(pipsOf(ticks, ticksPerUnit), out, at);
}

const scratch = Buffer.alloc(DECIMAL_BYTES_MAX);

export function microText(micro: number): string {
  return scratch.toString('latin1', 0, writeMicro(micro, scratch, 0));
}

export function pipsText(pips: Pips): string {
  return microText(pips * MICRO_PER_PIP);
}

/**
 * Reads a non-negative number in JSON's grammar (leading zeros allowed) as micro-units, rounded UP
 * when it has more than six decimals. So `amount >= parseMicroUp(text)` gives the same result as a
 * comparison with the exact number.
 * @returns -1 when the text is not such a number; 2^53 for every number of 2^53 micro-units or more
 */
export function parseMicroUp(text: string): number {
  const match = NUMBER_TEXT.exec(text);
  if (match === null) return -1;
  const fraction = match[2] ?? '';
  const written = match[1]! + fraction;
  const digits = written.replace(/^0+/, '');
  if (digits === '') return 0;
  // How many of the digits stand before the decimal point when the number counts micro-units.
  const whole = digits.length - fraction.length + Number(match[3] ?? 0) + MICRO_DECIMALS;
  if (whole > SAFE_DIGITS) return ABOVE_ALL;
  if (whole <= 0) return 1;
  const value = Number(digits.slice(0, whole).padEnd(whole, '0'));
  const isExact = /^0*$/.test(digits.slice(whole));
  return Math.min(ABOVE_ALL, isExact ? value : value + 1);
}

/** `part / whole` (part <= whole, whole > 0) in millionths, rounded to the nearest, halves up. */
export function ratioMicro(part: number, whole: number): number {
  assert(part <= whole, 'a price is at most one');
  if (whole > THOUSANDFOLD_MAX) {
    const doubled = 2n * BigInt(whole);
    return Number((2n * BigInt(part) * BigInt(MICRO) + BigInt(whole)) / doubled);
  }
  if (part === whole) return MICRO;
  const thousandths = part * 1_000;
  const rest = thousandths % whole;
  const last = rest * 1_000;
  const half = last % whole;
  const down = ((thousandths - rest) / whole) * 1_000 + (last - half) / whole;
  return 2 * half >= whole ? down + 1 : down;
}

function writeDigits(value: number, digits: number, out: Uint8Array, at: number): number {
  let rest = value | 0;
  for (let i = at + digits - 1; i >= at; i--) {
    const tenth = (rest / 10) | 0;
    out[i] = DIGIT_0 + (rest - tenth * 10);
    rest = tenth;
  }
  return at + digits;
}
