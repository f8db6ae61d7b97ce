// @ts-check
/** Numbers and times as texts. Pure; one Intl object of each kind, because making one is slow. */

const WHOLE = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const HUNDREDTHS = new Intl.NumberFormat('en', { maximumFractionDigits: 2 });
const SHORT = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
const CLOCK = new Intl.DateTimeFormat('en', { timeStyle: 'medium', hourCycle: 'h23' });
const DAY = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric' });
const MOMENT = new Intl.DateTimeFormat('en', {
  ...{ day: 'numeric', month: 'short', year: 'numeric' },
  ...{ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
});
const MINUTE = new Intl.DateTimeFormat('en', { timeStyle: 'short', hourCycle: 'h23' });
const DATE = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' });

/** @import { Market } from './api.js' */

/** What stands where there is no value. */
export const NONE = '–';

/** @type {Readonly<Record<Market['state'], string>>} */
const STATES = { open: '', paused: 'Paused', ended: 'End date past', closed: 'Closed' };

/** The badge of a market; '' of one that is open. @param {Market} market */
export function stateText({ resolution, state }) {
  if (resolution === undefined) return STATES[state];
  return isVoid(resolution.payouts) ? 'Void' : 'Resolved';
}

/**
 * The payout of a market that has resolved: "Resolved to Yes, 3 Mar 2027, 12:00"; '' of others.
 * @param {Market} market
 */
export function resolutionText({ outcomes, resolution }) {
  if (resolution === undefined) return '';
  const { at, payouts } = resolution;
  const time = momentText(at);
  if (isVoid(payouts)) return `Void, each outcome pays ${payouts[0]}, ${time}`;
  const paying = payouts.flatMap((pays, i) => (pays > 0 ? [`${outcomes[i]} ${pays}`] : []));
  const winner = outcomes[payouts.indexOf(1)];
  return `Resolved to ${winner ?? paying.join(', ')}, ${time}`;
}

/** @param {readonly number[]} payouts */
function isVoid([first, ...others]) {
  return first !== 1 && others.every((pays) => pays === first);
}

/** @param {number | undefined} price 0 to 1 @param {number} decimals of its market's tick */
export function priceText(price, decimals) {
  return price === undefined ? NONE : price.toFixed(decimals);
}

/** @param {number} tick such as 0.01 */
export function decimalsOf(tick) {
  return Math.max(2, (String(tick).split('.')[1] ?? '').length);
}

/** @param {number} shares */
export function sizeText(shares) {
  return shares >= 100_000 ? SHORT.format(shares) : HUNDREDTHS.format(shares);
}

/** @param {number} amount */
export function amountText(amount) {
  return amount >= 10_000 ? SHORT.format(amount) : WHOLE.format(amount);
}

/** @param {number} count */
export function countText(count) {
  return WHOLE.format(count);
}

/** @param {number | undefined} price 0 to 1 */
export function chanceText(price) {
  if (price === undefined) return NONE;
  const percent = price * 100;
  if (percent > 0 && percent < 1) return '<1 %';
  if (percent > 99 && percent < 100) return '>99 %';
  return `${WHOLE.format(percent)} %`;
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

/** @param {string} iso a date-time, or '' */
export function dayText(iso) {
  const ms = Date.parse(iso);
  return Number.isNaN(ms) ? NONE : DAY.format(ms);
}

/** A day and a time of the reader's clock. @param {string} iso a date-time, or '' */
function momentText(iso) {
  const ms = Date.parse(iso);
  return Number.isNaN(ms) ? NONE : MOMENT.format(ms);
}

/** @param {number} ms a length of time, in milliseconds */
export function lengthText(ms) {
  if (ms < 1) return `${WHOLE.format(ms * 1_000)} µs`;
  if (ms < 10) return `${HUNDREDTHS.format(ms)} ms`;
  if (ms < 1_000) return `${WHOLE.format(ms)} ms`;
  const seconds = ms / 1_000;
  if (seconds < 60) return `${HUNDREDTHS.format(seconds)} s`;
  if (seconds < 3_600) return `${WHOLE.format(Math.floor(seconds / 60))} min`;
  if (seconds < 172_800) return `${WHOLE.format(Math.floor(seconds / 3_600))} h`;
  return `${WHOLE.format(Math.floor(seconds / 86_400))} days`;
}

/** @param {number} bytes */
export function bytesText(bytes) {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let size = bytes;
  let unit = 0;
  while (size >= 1_000 && unit < units.length - 1) {
    size /= 1_000;
    unit += 1;
  }
  return `${size < 10 && unit > 0 ? size.toFixed(1) : WHOLE.format(size)} ${units[unit]}`;
}
