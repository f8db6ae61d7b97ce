/**
 * The columns of every kind of catalog object as they are served, in their order. One table per kind
 * defines its JSON, its filters and its orders. Missing texts are "", dates null, booleans false.
 * Other members are dropped, because they are statistics of the source. Live columns, of this node's own
 * books and fills, follow those of markets and events. Rules: docs/protocol.md#catalog-objects
 *
 * Pure; runs on the catalog thread; names of columns and statistics are read on any thread. Non-goals:
 * nesting.
 */

import { type JsonObject, listOf, text } from '../../storage/catalog/catalog-json.ts';
import type { TradingTerms } from '../../storage/catalog/catalog-market.ts';
import { wholeCondition } from '../../storage/catalog/condition-ids.ts';
import { tokenMember } from '../../storage/catalog/market-form.ts';

/**
 * Kinds of columns: how they are compared and bounded. A column without `number` sorts as a text; one without
 * `bounds` has no `_min` and `_max`. Live kinds change while a generation is served (statistics-text.ts).
 */
const COLUMN_KINDS = {
  id: {},
  text: {},
  boolean: {},
  date: { bounds: 'instant', number: instantOrLast },
  number: { bounds: 'decimal', number: Number },
  'amount text': { bounds: 'decimal', isLive: true },
  amount: { bounds: 'decimal', isLive: true },
  price: { bounds: 'decimal', isLive: true },
  prices: { isLive: true },
} as const satisfies Readonly<Record<string, KindRules>>;

interface KindRules {
  readonly bounds?: 'instant' | 'decimal';
  /** Value by which rows are sorted and bounded; infinite where it is absent. */
  readonly number?: (value: FieldValue) => number;
  readonly isLive?: true;
}

export type ColumnKind = keyof typeof COLUMN_KINDS;
export type FieldValue = string | number | boolean | null;

/** A column: `read` returns its value of an object, or a live one in micro-units. Only dates can be null. */
export interface Column<Source, Value extends FieldValue = FieldValue> {
  readonly name: string;
  readonly kind: ColumnKind;
  readonly read: (source: Source) => Value;
}

export function rulesOf({ kind }: Column<never>): KindRules {
  return COLUMN_KINDS[kind];
}

export interface RawSource {
  readonly raw: JsonObject;
}

export interface MarketSource extends RawSource {
  readonly outcomes: ListText;
  /** Those that trade. */
  readonly tokenIds: ListText;
  readonly terms: TradingTerms;
  /**
   * Effective creator wallet in lower case; '' when there is none
   * (docs/protocol.md#creator-filter).
   */
  readonly creator: string;
}

/** A JSON array as a text; `isTexts` when all its items are texts. */
interface ListText {
  readonly text: string;
  readonly isTexts: boolean;
  readonly count: number;
}

const MICRO = 1_000_000;
/** Price of an outcome without orders and trades: the middle between 0 and one unit. */
export const PRICE_UNKNOWN = MICRO / 2;
const EMPTY_LIST: ListText = { text: '[]', isTexts: true, count: 0 };
/** A date-time that is served unchanged; Date.parse understands everything that matches. */
const ISO_UTC =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?Z$/;
/** Other forms of dates; without a zone they are UTC. */
const DATE_TIME =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(?:Z|([+-]\d\d):?(\d\d)?)?)?$/i;
/** A text without characters that JSON escapes: quotes, backslashes, controls, lone surrogates. */
const PLAIN = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/;
/** Testing first is faster only for short texts, which seldom need escaping. */
const QUICK_TEST_MAX = 200;
const MICROSECONDS_AT = 23;

function column<Source, Value extends FieldValue>(
  name: string,
  kind: ColumnKind,
  read: (source: Source) => Value,
): Column<Source, Value> {
  return { name, kind, read };
}

function raw(kind: ColumnKind, read: (value: unknown) => FieldValue) {
  return (...names: readonly string[]): readonly Column<RawSource>[] =>
    names.map((name) => column(name, kind, (source) => read(source.raw[name])));
}

const ids = raw('id', String);
const texts = raw('text', text);
const dates = raw('date', dateOf);
const flags = raw('boolean', (value) => value === true);

const MARKET_COLUMNS: readonly Column<MarketSource>[] = [
  ...ids('id'),
  ...texts('question'),
  column('conditionId', 'text', ({ raw }) => wholeCondition(text(raw.conditionId))),
  ...texts('slug', 'resolutionSource'),
  ...dates('startDate', 'endDate'),
  ...texts('image', 'icon', 'description'),
  column('outcomes', 'text', ({ outcomes }) => outcomes.text),
  column('clobTokenIds', 'text', ({ raw, tokenIds }) =>
    tokenMember(raw) === 'clobTokenIds' ? tokenIds.text : listTextOf(raw.clobTokenIds).text,
  ),
  ...flags('active', 'closed', 'archived'),
  ...dates('createdAt', 'updatedAt'),
  ...texts('questionID'),
  // After the usual fields: what a client needs to trade, and a catalog sync needs to trade in the same
  // way.
  column('negRisk', 'boolean', ({ terms }) => terms.negRisk),
  column('orderPriceMinTickSize', 'number', ({ terms: { ticksPerUnit } }) =>
    ticksPerUnit === undefined ? 0 : 1 / ticksPerUnit,
  ),
  column('orderMinSize', 'number', ({ terms: { minSizeMicro } }) =>
    minSizeMicro === undefined ? -1 : minSizeMicro / MICRO,
  ),
  column('acceptingOrders', 'boolean', ({ terms }) => terms.acceptingOrders),
  column('enableOrderBook', 'boolean', ({ terms }) => terms.enableOrderBook),
  column('creator', 'text', ({ creator }) => creator),
];

/**
 * Event summary: without tags, markets, series and eventMetadata
 * (docs/protocol.md#catalog-objects).
 */
const EVENT_COLUMNS = [
  ...ids('id'),
  ...texts('ticker', 'slug', 'title', 'description', 'resolutionSource'),
  ...dates('startDate', 'creationDate', 'endDate'),
  ...texts('image', 'icon'),
  ...flags('active', 'closed', 'archived'),
  ...dates('createdAt', 'updatedAt'),
];

const TAG_COLUMNS = [
  ...ids('id'),
  ...texts('label', 'slug'),
  ...dates('createdAt', 'updatedAt'),
  ...flags('requiresTranslation'),
];

const SERIES_COLUMNS = [
  ...ids('id'),
  ...texts('ticker', 'slug', 'title', 'seriesType', 'recurrence', 'image', 'icon'),
  ...flags('active', 'closed', 'archived'),
  ...dates('createdAt', 'updatedAt'),
];

/** A member that some clients require in every market (CATALOG_OBJECTS). */
export const CLIENT_MEMBER = 'marketMakerAddress';

export const KEY_COLUMNS = {
  slug: 'exact',
  conditionId: 'condition',
  questionID: 'number',
  clobTokenIds: 'numbers',
} as const;

/**
 * Statistics of a market from this node's books and fills, in whole micro-units of collateral, or
 * of collateral a share. An empty side of a book has the bound as its price: 0 for bids, one unit
 * for asks.
 */
export interface MarketStatistics {
  volume: number;
  volumeDay: number;
  /** Price times size of all resting orders, each at the price of its own outcome. */
  liquidity: number;
  /**
   * Prices of the first outcome: 0 without a bid, a unit without an ask, 0 before the first trade.
   */
  bestBid: number;
  bestAsk: number;
  lastTrade: number;
  prices: readonly number[];
}

/** A live column; its value is that of the first outcome where there is one for each. */
export type LiveColumn = Column<MarketStatistics, number>;

const VOLUMES = {
  volume: ({ volume }: MarketStatistics) => volume,
  day: ({ volumeDay }: MarketStatistics) => volumeDay,
  liquidity: ({ liquidity }: MarketStatistics) => liquidity,
};

export const MARKET_STATISTICS: readonly LiveColumn[] = [
  column('volume', 'amount text', VOLUMES.volume),
  column('volumeNum', 'amount', VOLUMES.volume),
  column('volume24hr', 'amount', VOLUMES.day),
  column('liquidity', 'amount text', VOLUMES.liquidity),
  column('liquidityNum', 'amount', VOLUMES.liquidity),
  column('outcomePrices', 'prices', ({ prices }) => prices[0] ?? PRICE_UNKNOWN),
  column('bestBid', 'price', ({ bestBid }) => bestBid),
  column('bestAsk', 'price', ({ bestAsk }) => bestAsk),
  column('spread', 'price', ({ bestAsk, bestBid }) => bestAsk - bestBid),
  column('lastTradePrice', 'price', ({ lastTrade }) => lastTrade),
];

/** Sums of the markets of an event. */
export const EVENT_STATISTICS: readonly LiveColumn[] = [
  column('volume', 'amount', VOLUMES.volume),
  column('volume24hr', 'amount', VOLUMES.day),
  column('liquidity', 'amount', VOLUMES.liquidity),
];

interface Shape<Source> {
  readonly columns: readonly Column<Source>[];
  readonly statistics: readonly LiveColumn[];
}

export const SHAPES = {
  markets: { columns: MARKET_COLUMNS, statistics: MARKET_STATISTICS },
  events: { columns: EVENT_COLUMNS, statistics: EVENT_STATISTICS },
  series: { columns: SERIES_COLUMNS, statistics: [] },
  tags: { columns: TAG_COLUMNS, statistics: [] },
} as const satisfies Record<string, Shape<never>>;

export type Kind = keyof typeof SHAPES;

export function allColumns(kind: Kind): readonly Column<never>[] {
  const { columns, statistics }: Shape<never> = SHAPES[kind];
  return [...columns, ...statistics];
}

/** Boolean columns of a kind: bit b of its `flags` is the b-th of them. */
export function flagColumns(kind: Kind): readonly string[] {
  const flagged = allColumns(kind).filter((each) => each.kind === 'boolean');
  return flagged.map(({ name }) => name);
}

export function valuesOf<Source>(
  columns: readonly Column<Source>[],
  sources: readonly Source[],
): FieldValue[][] {
  const values = columns.map(() => new Array<FieldValue>(sources.length));
  // Row by row, because an object is then in the cache.
  for (const [row, source] of sources.entries()) {
    for (let place = 0; place < columns.length; place++) {
      values[place]![row] = columns[place]!.read(source);
    }
  }
  return values;
}

/** JSON members of columns [from, to) of a row, each after its comma, the first after `{`. */
export function membersOf(
  columns: readonly Column<never>[],
  values: readonly (readonly FieldValue[])[],
  row: number,
  from = 0,
  to = columns.length,
): string {
  let members = '';
  for (let place = from; place < to; place++) {
    const { name, kind } = columns[place]!;
    members += `${place === 0 ? '{"' : ',"'}${name}":${jsonOf(kind, values[place]![row]!)}`;
  }
  return members;
}

function jsonOf(kind: ColumnKind, value: FieldValue): string {
  if (typeof value !== 'string') return String(value);
  // Ids and dates were checked: they contain nothing that needs escaping.
  return kind === 'text' ? quoted(value) : `"${value}"`;
}

function quoted(text: string): string {
  return text.length < QUICK_TEST_MAX && PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

export function textsOf({ text, isTexts }: ListText): string {
  return isTexts ? text : EMPTY_LIST.text;
}

/** Reads an array, or the JSON text of one, which is served as it was written. */
export function listTextOf(value: unknown): ListText {
  const list = listOf(value);
  if (list === undefined) return EMPTY_LIST;
  const isTexts = list.every((item) => typeof item === 'string');
  const text = typeof value === 'string' ? value : JSON.stringify(list);
  return { text, isTexts, count: list.length };
}

/**
 * Returns a date-time as ISO 8601 in UTC: the original text if it has this form, else rewritten or
 * null (docs/protocol.md#catalog-objects).
 */
export function dateOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  if (ISO_UTC.test(value)) return value;
  const match = DATE_TIME.exec(value.trim());
  if (match === null) return null;
  const [, day, time = '00:00', zoneHours = '+00', zoneMinutes = '00'] = match;
  const ms = Date.parse(`${day}T${time}${zoneHours}:${zoneMinutes}`);
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}

/**
 * Microseconds since 1970 of a served date-time: several real ones differ only in the microseconds.
 */
export function instantOf(date: string): number {
  const micros = date.length > MICROSECONDS_AT + 1 ? date.slice(MICROSECONDS_AT, -1) : '';
  return Date.parse(date) * 1000 + Number(micros.padEnd(3, '0').slice(0, 3));
}

function instantOrLast(date: FieldValue): number {
  return typeof date === 'string' ? instantOf(date) : Number.POSITIVE_INFINITY;
}
