/**
 * Small readers of raw catalog values. The values are JSON from any source. Each reader returns the
 * value, or says that it has another type; none throws.
 *
 * Pure; any thread.
 */

export const WALLET_PATTERN = /^0[xX][0-9a-fA-F]{40}$/;

export type JsonObject = { readonly [key: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function present<T extends object>(object: T) {
  const members = Object.entries(object).filter(([, value]) => value !== undefined);
  return Object.fromEntries(members) as { [Name in keyof T]?: Exclude<T[Name], undefined> };
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Raw markets of an event that readCatalog has read. */
export function marketsOf(event: JsonObject): readonly JsonObject[] {
  return event.markets as readonly JsonObject[];
}

/** Reads a list, given as an array or as the JSON text of one; `undefined` otherwise. */
export function listOf(value: unknown): readonly unknown[] | undefined {
  let list = value;
  if (typeof value === 'string') {
    try {
      list = JSON.parse(value);
    } catch {
      return undefined;
    }
  }
  return Array.isArray(list) ? list : undefined;
}

export function textList(value: unknown): readonly string[] | undefined {
  const list = listOf(value);
  return list?.every((item) => typeof item === 'string') ? list : undefined;
}

export function walletOf(value: unknown): string | undefined {
  const wallet = text(value);
  return WALLET_PATTERN.test(wallet) ? wallet.toLowerCase() : undefined;
}

/**
 * Reads a decimal text or JSON number as a whole number of 10^-decimals units; `undefined` when it
 * is not exact. Works on digits, because arithmetic on the binary value could be off by one.
 */
export function scaledDecimal(value: unknown, decimals: number): number | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const match = /^([0-9]*)\.?([0-9]*)(?:e([+-]?[0-9]{1,3}))?$/i.exec(String(value).trim());
  if (match === null) return undefined;
  const [, whole = '', fraction = '', exponent = '0'] = match;
  if (whole === '' && fraction === '') return undefined;
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  if (digits === '') return 0;
  const significant = digits.replace(/0+$/, '');
  const zeros = digits.length - significant.length + Number(exponent) - fraction.length + decimals;
  if (zeros < 0 || significant.length + zeros > 16) return undefined;
  const scaled = Number(`${significant}${'0'.repeat(zeros)}`);
  return Number.isSafeInteger(scaled) ? scaled : undefined;
}
