/**
 * Columns of rows of books and trades, in CSV and Parquet: names and rules of cells. The reader (row-reader.ts), its errors
 * and docs/guides/data.md#csv use this table.
 *
 * Pure; any thread.
 */
import { derivedId } from './derived-ids.ts';
import { isPrice, isSize } from './source-message.ts';
import { isRecordingTime } from './times.ts';

export interface CsvColumn {
  readonly name: keyof CsvRow;
  readonly aliases: readonly string[];
  readonly isRequired: boolean;
  /** Rule for a cell, as the text behind "must be". */
  readonly rule: string;
  readonly means: string;
}

export interface CsvRow {
  /** Unix milliseconds. */
  readonly time: number;
  /** Unix milliseconds of the arrival; the time where there is none. */
  readonly at: number;
  readonly type: 'book' | 'change' | 'trade';
  readonly market: string;
  /** Decimal text. */
  readonly token: string;
  readonly outcome: string | undefined;
  readonly side: 'BUY' | 'SELL';
  /** Decimal texts, unchanged. */
  readonly price: string;
  readonly size: string;
}

const TIME_RULE =
  'unix seconds, milliseconds, microseconds or nanoseconds, or a time with its zone such as 2026-11-22T12:00:00Z';
const NAME_RULE = 'a name of 1 to 200 printable characters';

export const CSV_COLUMNS: readonly CsvColumn[] = [
  {
    name: 'time',
    aliases: ['timestamp'],
    isRequired: true,
    rule: TIME_RULE,
    means:
      'when it happened; rows are in the order of their times. The number of digits tells the unit: up to 11, 14, 17 and 20',
  },
  {
    name: 'at',
    aliases: ['received'],
    isRequired: false,
    rule: TIME_RULE,
    means: 'when it arrived at the recorder; rows are in this order then',
  },
  {
    name: 'type',
    aliases: ['event_type'],
    isRequired: false,
    rule: 'book, change or trade',
    means:
      '`book`: a level of a whole book, which the rows of the same time and token make; `change`: a level has this size from now on; `trade`. Without the column all rows are trades',
  },
  {
    name: 'market',
    aliases: ['condition', 'conditionid'],
    isRequired: false,
    rule: NAME_RULE,
    means: 'condition id or name of the market; the name of the file where there is no such column',
  },
  {
    name: 'token',
    aliases: ['asset_id', 'asset', 'taker_token'],
    isRequired: true,
    rule: NAME_RULE,
    means:
      'token id, a decimal number; another text is the name of an outcome, and the id follows from it',
  },
  {
    name: 'outcome',
    aliases: [],
    isRequired: false,
    rule: NAME_RULE,
    means: 'name of the outcome of the token',
  },
  {
    name: 'side',
    aliases: ['taker_side'],
    isRequired: true,
    rule: 'BUY or SELL, or bid or ask of a level',
    means: 'of a level its side, of a trade that of its taker',
  },
  {
    name: 'price',
    aliases: ['taker_price'],
    isRequired: true,
    rule: 'a decimal from 0.0001 to 0.9999',
    means: 'digits beyond the fourth are rounded as those of messages are',
  },
  {
    name: 'size',
    aliases: [],
    isRequired: true,
    rule: 'a decimal of at most nine digits before its point, above 0 for a trade',
    means: 'shares; 0 = a `change` ends the level, and a `book` has none there',
  },
];

const TYPES: Readonly<Record<string, CsvRow['type']>> = {
  book: 'book',
  change: 'change',
  price_change: 'change',
  trade: 'trade',
  last_trade_price: 'trade',
};
const SIDES: Readonly<Record<string, CsvRow['side']>> = { buy: 'BUY', sell: 'SELL' };
const LEVEL_SIDES: typeof SIDES = { ...SIDES, bid: 'BUY', ask: 'SELL' };
const NAME_LENGTH_MAX = 200;
const TOKEN_DIGITS_MAX = 78;
const TOKEN_END = 2n ** 256n;
const ISO = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)$/;

/** Cells by the names of their columns; '' if absent. */
export type Cells = Readonly<Record<keyof CsvRow, string>>;

/** Returns a row, or the column whose cell is wrong. */
export function rowOf(cells: Cells, file: string): CsvRow | keyof CsvRow {
  const time = timeOf(cells.time);
  if (time === undefined) return 'time';
  const at = cells.at === '' ? time : timeOf(cells.at);
  if (at === undefined) return 'at';
  const type = cells.type === '' ? 'trade' : TYPES[cells.type.toLowerCase()];
  if (type === undefined) return 'type';
  const market = cells.market === '' ? file : cells.market;
  if (!isName(market)) return 'market';
  if (!isName(cells.token)) return 'token';
  if (cells.outcome !== '' && !isName(cells.outcome)) return 'outcome';
  const side = (type === 'trade' ? SIDES : LEVEL_SIDES)[cells.side.toLowerCase()];
  if (side === undefined) return 'side';
  const { price, size } = cells;
  if (!isPrice(price)) return 'price';
  if (!isSize(size) || (type === 'trade' && !/[1-9]/.test(size))) return 'size';
  const id = tokenId(cells.token);
  return {
    time,
    at,
    type,
    market,
    side,
    price,
    size,
    token: id ?? derivedId(`${market} ${cells.token}`),
    outcome: cells.outcome || (id === undefined ? cells.token : undefined),
  };
}

/** Returns undefined for a name. */
function tokenId(text: string): string | undefined {
  const isNumber = /^\d+$/.test(text) && text.length <= TOKEN_DIGITS_MAX;
  const id = isNumber ? BigInt(text) : TOKEN_END;
  return id < TOKEN_END ? String(id) : undefined;
}

function timeOf(text: string): number | undefined {
  const [, seconds, milliseconds] =
    /^(\d{1,11}(?:\.\d{1,9})?)$|^(\d{12,14}(?=(?:\d{3}){0,2}$))/.exec(text) ?? [];
  const time =
    seconds !== undefined
      ? Math.floor(Number(seconds) * 1_000)
      : milliseconds !== undefined
        ? Number(milliseconds)
        : ISO.test(text)
          ? Date.parse(text.replace(' ', 'T'))
          : Number.NaN;
  return isRecordingTime(time) ? time : undefined;
}

/** Returns true for text without control, format or surrogate characters, and without blanks at the ends. */
function isName(text: string): boolean {
  return text.length <= NAME_LENGTH_MAX && /^\S(.*\S)?$/u.test(text) && !/\p{C}/u.test(text);
}
