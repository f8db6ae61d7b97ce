// @ts-check
/** Numbers and times as texts. Pure; one Intl object of each kind, because making one is slow. */

const WHOLE = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const HUNDREDTHS = new Intl.NumberFormat('en', { maximumFractionDigits: 2 });
const SHORT = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
const CLOCK = new Intl.DateTimeFormat('en', { timeStyle: 'medium', hourCycle: 'h23' });
const MINUTE = new Intl.DateTimeFormat('en', { timeStyle: 'short', hourCycle: 'h23' });
const DATE = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' });

/** Text in place of a value that is absent. */
export const NONE = '–';

/** @param {number} shares */
export function sizeText(shares) {
  return shares >= 100_000 ? SHORT.format(shares) : HUNDREDTHS.format(shares);
}

/** @param {number} count */
export function countText(count) {
  return WHOLE.format(count);
}

/** @param {number} ms unix milliseconds */
export function clockText(ms) {
  return CLOCK.format(ms);
}

/** @param {number} t unix seconds @param {number} step seconds between two marks of the axis */
export function timeText(t, step) {
  const format = step < 60 ? CLOCK : step < 86_400 ? MINUTE : DATE;
  return format.format(t * 1_000);
}
