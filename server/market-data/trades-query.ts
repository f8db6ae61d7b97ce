/**
 * The query string of GET /trades to a checked value (SPEC 4.1, GAPS 8).
 *
 * Decided here: a parameter may stand once, only `market` may be repeated; `+` is a space; a name
 * that is not valid percent-encoding is an unknown field, such a value an invalid one; empty
 * entries of `market` are ignored, and without any entry there is no market filter.
 *
 * Thread: any; pure. Non-goals: whether the wallet or the markets exist.
 */
import { parseMicroUp } from '../common/decimal.ts';

export interface TradesQuery {
  readonly limit: number;
  readonly offset: number;
  readonly takerOnly: boolean;
  /** What filterAmount is compared with: usdcSize or size; '' = no comparison. */
  readonly filterType: '' | 'CASH' | 'TOKENS';
  /** Micro-units, rounded up; rows with at least as much are kept. */
  readonly filterAmount: number;
  /** Condition ids in lower case, or any other text, which names no market; null = no filter. */
  readonly markets: readonly string[] | null;
  /** `0x` + 40 hex digits in lower case; '' = no filter. */
  readonly user: string;
  readonly side: '' | 'BUY' | 'SELL';
}

export type ParsedTradesQuery =
  | { readonly ok: true; readonly query: TradesQuery }
  /** Text for the member `error` of a 400: `unknown_field: <name>` or `invalid_field: <name>`. */
  | { readonly ok: false; readonly error: string };

/** SPEC 8: the bound of limit and of offset. */
export const PAGE_MAX = 10_000;
const LIMIT_DEFAULT = 100;

const INTEGER = /^(?:0|[1-9]\d{0,4})$/;
const ADDRESS = /^0x[0-9a-f]{40}$/;

type Draft = { -readonly [Name in keyof TradesQuery]: TradesQuery[Name] };

/** Each sets its field and says whether the value is a valid one. */
const fields: Readonly<Record<string, (draft: Draft, value: string) => boolean>> = {
  limit: (draft, value) => {
    draft.limit = pageNumber(value);
    return draft.limit >= 0;
  },
  offset: (draft, value) => {
    draft.offset = pageNumber(value);
    return draft.offset >= 0;
  },
  takerOnly: (draft, value) => {
    draft.takerOnly = value === 'true' || value === '1';
    return draft.takerOnly || value === 'false' || value === '0';
  },
  filterType: (draft, value) => {
    if (value !== 'CASH' && value !== 'TOKENS') return false;
    draft.filterType = value;
    return true;
  },
  filterAmount: (draft, value) => {
    draft.filterAmount = parseMicroUp(value);
    return draft.filterAmount >= 0;
  },
  market: (draft, value) => {
    const ids = value.toLowerCase().split(',');
    const named = ids.filter((id) => id !== '');
    if (named.length > 0) draft.markets = [...(draft.markets ?? []), ...named];
    return true;
  },
  user: (draft, value) => {
    draft.user = value.toLowerCase();
    return value.startsWith('0x') && ADDRESS.test(draft.user);
  },
  side: (draft, value) => {
    if (value !== 'BUY' && value !== 'SELL') return false;
    draft.side = value;
    return true;
  },
};

/** By name, with a bit each that says that it was there. */
const FIELDS = new Map(
  Object.entries(fields).map(([name, set], i) => [name, { set, bit: 1 << i }] as const),
);
const MARKET = FIELDS.get('market')!.bit;
const FILTER_AMOUNT = FIELDS.get('filterAmount')!.bit;

/**
 * @param text the raw query string, without its `?`
 * @param ignored takes the names that are unknown; without it they are refused
 */
export function parseTradesQuery(text: string, ignored?: string[]): ParsedTradesQuery {
  const draft: Draft = {
    limit: LIMIT_DEFAULT,
    offset: 0,
    takerOnly: true,
    filterType: '',
    filterAmount: 0,
    markets: null,
    user: '',
    side: '',
  };
  let seen = 0;
  // An unknown name is told before any bad value (GAPS 6.1).
  let invalid = '';
  for (let start = 0, end = 0; start < text.length; start = end + 1) {
    end = text.indexOf('&', start);
    if (end === -1) end = text.length;
    if (end === start) continue;
    const equals = text.indexOf('=', start);
    const nameEnd = equals === -1 || equals > end ? end : equals;
    const rawName = text.slice(start, nameEnd);
    const name = decode(rawName);
    const field = name === undefined ? undefined : FIELDS.get(name);
    if (field === undefined) {
      if (ignored === undefined) {
        return { ok: false, error: `unknown_field: ${name ?? rawName}` };
      }
      ignored.push(name ?? rawName);
      continue;
    }
    if (invalid !== '') continue;
    const isRepeated = (seen & field.bit) !== 0 && field.bit !== MARKET;
    seen |= field.bit;
    const value = decode(text.slice(nameEnd + 1, end));
    if (isRepeated || value === undefined || !field.set(draft, value)) {
      invalid = `invalid_field: ${name}`;
    }
  }
  if (invalid !== '') return { ok: false, error: invalid };
  if (draft.filterType !== '' && (seen & FILTER_AMOUNT) === 0) {
    return { ok: false, error: 'invalid_field: filterAmount' };
  }
  return { ok: true, query: draft };
}

/** -1 for what is no whole number from 0 to PAGE_MAX. */
function pageNumber(value: string): number {
  if (!INTEGER.test(value)) return -1;
  const number = Number(value);
  return number <= PAGE_MAX ? number : -1;
}

/** Undefined for what is not valid percent-encoding of UTF-8. */
function decode(text: string): string | undefined {
  if (!text.includes('%') && !text.includes('+')) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
