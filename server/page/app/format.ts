/** Numbers and times as texts. Pure; one Intl object of each kind, because making one is slow. */
const WHOLE = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const HUNDREDTHS = new Intl.NumberFormat('en', { maximumFractionDigits: 2 });
const MONEY = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const SHORT = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
const CLOCK = new Intl.DateTimeFormat('en', { timeStyle: 'medium', hourCycle: 'h23' });
const MINUTE = new Intl.DateTimeFormat('en', { timeStyle: 'short', hourCycle: 'h23' });
const DATE = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' });
const MOMENT = new Intl.DateTimeFormat('en', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});

/** Text in place of a value that is absent. */
export const NONE = '–';

export function priceText(price: number | undefined, decimals: number): string {
  return price === undefined ? NONE : price.toFixed(decimals);
}

/** @param tick such as 0.01 */
export function decimalsOf(tick: number): number {
  return Math.max(2, (String(tick).split('.')[1] ?? '').length);
}

export function sharesText(shares: number): string {
  return shares >= 100_000 ? SHORT.format(shares) : HUNDREDTHS.format(shares);
}

export function moneyText(amount: number): string {
  return MONEY.format(amount === 0 ? 0 : amount);
}

export function signedMoneyText(amount: number): string {
  const text = MONEY.format(Math.abs(amount));
  if (text === '0.00') return text;
  return `${amount < 0 ? '−' : '+'}${text}`;
}

export function volumeText(amount: number): string {
  return amount >= 10_000 ? SHORT.format(amount) : WHOLE.format(amount);
}

/** @param price 0 to 1 */
export function chanceText(price: number | undefined): string {
  if (price === undefined) return NONE;
  const percent = price * 100;
  if (percent > 0 && percent < 1) return '<1%';
  if (percent > 99 && percent < 100) return '>99%';
  return `${WHOLE.format(percent)}%`;
}

export function countText(count: number): string {
  return WHOLE.format(count);
}

/** @param ms a length of time, in milliseconds */
export function lengthText(ms: number): string {
  if (ms < 1) return `${WHOLE.format(ms * 1_000)} µs`;
  if (ms < 10) return `${HUNDREDTHS.format(ms)} ms`;
  if (ms < 1_000) return `${WHOLE.format(ms)} ms`;
  const seconds = ms / 1_000;
  if (seconds < 60) return `${HUNDREDTHS.format(seconds)} s`;
  if (seconds < 3_600) return `${WHOLE.format(Math.floor(seconds / 60))} min`;
  if (seconds < 172_800) return `${WHOLE.format(Math.floor(seconds / 3_600))} h`;
  return `${WHOLE.format(Math.floor(seconds / 86_400))} days`;
}

export function bytesText(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let size = bytes;
  let unit = 0;
  while (size >= 1_000 && unit < units.length - 1) {
    size /= 1_000;
    unit += 1;
  }
  return `${size < 10 && unit > 0 ? size.toFixed(1) : WHOLE.format(size)} ${units[unit]}`;
}

/** @param ms unix milliseconds */
export function clockText(ms: number): string {
  return CLOCK.format(ms);
}

/** @param t unix seconds @param step seconds between two marks of the axis */
export function timeText(t: number, step: number): string {
  const format = step < 60 ? CLOCK : step < 86_400 ? MINUTE : DATE;
  return format.format(t * 1_000);
}

/** @param at a date-time, '', or unix milliseconds */
export function momentText(at: string | number): string {
  const ms = typeof at === 'number' ? at : Date.parse(at);
  return Number.isNaN(ms) ? NONE : MOMENT.format(ms);
}

/** @param address 0x and 40 digits */
export function addressText(address: string): string {
  return `${address.slice(0, 6)}…${address.slice(-4)}`;
}
