/**
 * The fields of every kind of catalog object as they are served, in their order. One table per kind
 * defines both its JSON and its sort columns. Missing texts are "", dates null, booleans false.
 * Other fields are dropped, because they are statistics of the source. Statistics of this node's own
 * books and fills follow the fields of markets and events. Rules: docs/protocol.md#catalog-objects
 *
 * Pure; runs on the catalog thread; names of columns and statistics are read on any thread. Non-goals:
 * nesting.
 */
import { type JsonObject, listOf, text } from '../../storage/catalog/catalog-json.ts';
import type { TradingTerms } from '../../storage/catalog/catalog-market.ts';

/** Kind of a field: its order and its JSON; only dates can be null. */
export type FieldKind = 'id' | 'text' | 'date' | 'boolean' | 'number';
export type FieldValue = string | number | boolean | null;

export interface Field<Source> {
  readonly name: string;
  readonly kind: FieldKind;
  readonly read: (source: Source) => FieldValue;
}

/** A raw market, with values computed from it and its event. */
export interface MarketSource {
  readonly raw: JsonObject;
  readonly outcomes: ListText;
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

function fields(kind: FieldKind, read: (value: unknown) => FieldValue) {
  return (...names: readonly string[]): readonly Field<JsonObject>[] =>
    names.map((name) => ({ name, kind, read: (raw) => read(raw[name]) }));
}

const ids = fields('id', String);
const texts = fields('text', text);
const dates = fields('date', dateOf);
const flags = fields('boolean', (value) => value === true);

function ofMarket<V extends FieldValue>(
  name: string,
  kind: FieldKind,
  read: (market: MarketSource) => V,
): Field<MarketSource> {
  return { name, kind, read };
}

function ofRaw(list: readonly Field<JsonObject>[]): readonly Field<MarketSource>[] {
  return list.map(({ name, kind, read }) => ofMarket(name, kind, ({ raw }) => read(raw)));
}

const MARKET_FIELDS: readonly Field<MarketSource>[] = [
  ...ofRaw(ids('id')),
  ...ofRaw(texts('question', 'conditionId', 'slug', 'resolutionSource')),
  ...ofRaw(dates('startDate', 'endDate')),
  ...ofRaw(texts('image', 'icon', 'description')),
  ofMarket('outcomes', 'text', ({ outcomes }) => outcomes.text),
  ofMarket('clobTokenIds', 'text', ({ tokenIds }) => tokenIds.text),
  ...ofRaw(flags('active', 'closed', 'archived')),
  ...ofRaw(dates('createdAt', 'updatedAt')),
  ...ofRaw(texts('questionID')),
  // After the usual fields: what a client needs to trade, and a catalog sync needs to trade in the same
  // way.
  ofMarket('negRisk', 'boolean', ({ terms }) => terms.negRisk),
  ofMarket('orderPriceMinTickSize', 'number', ({ terms: { ticksPerUnit } }) =>
    ticksPerUnit === undefined ? 0 : 1 / ticksPerUnit,
  ),
  ofMarket('orderMinSize', 'number', ({ terms: { minSizeMicro } }) =>
    minSizeMicro === undefined ? -1 : minSizeMicro / MICRO,
  ),
  ofMarket('acceptingOrders', 'boolean', ({ terms }) => terms.acceptingOrders),
  ofMarket('enableOrderBook', 'boolean', ({ terms }) => terms.enableOrderBook),
  ofMarket('creator', 'text', ({ creator }) => creator),
];

/**
 * Event summary: without tags, markets, series and eventMetadata
 * (docs/protocol.md#catalog-objects).
 */
const EVENT_FIELDS: readonly Field<JsonObject>[] = [
  ...ids('id'),
  ...texts('ticker', 'slug', 'title', 'description', 'resolutionSource'),
  ...dates('startDate', 'creationDate', 'endDate'),
  ...texts('image', 'icon'),
  ...flags('active', 'closed', 'archived'),
  ...dates('createdAt', 'updatedAt'),
];

const TAG_FIELDS: readonly Field<JsonObject>[] = [
  ...ids('id'),
  ...texts('label', 'slug'),
  ...dates('createdAt', 'updatedAt'),
  ...flags('requiresTranslation'),
];

const SERIES_FIELDS: readonly Field<JsonObject>[] = [
  ...ids('id'),
  ...texts('ticker', 'slug', 'title', 'seriesType', 'recurrence', 'image', 'icon'),
  ...flags('active', 'closed', 'archived'),
  ...dates('createdAt', 'updatedAt'),
];

/** A member that some clients require in every market (CATALOG_OBJECTS). */
export const CLIENT_MEMBER = 'marketMakerAddress';

/** Columns by which objects are found, and the comparison of their texts (text-index.ts). */
export const KEY_COLUMNS = {
  slug: 'exact',
  conditionId: 'number',
  questionID: 'number',
  clobTokenIds: 'numbers',
} as const;

/**
 * Statistics of a market from this node's books and fills, in whole micro-units of collateral, or
 * of collateral a share. An empty side of a book has the bound as its price: 0 for bids, one unit
 * for asks.
 */
export interface MarketStatistics {
  /** Volume of all fills, and of those of the last 24 hours. */
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

/** Form of a statistic: a decimal text, a JSON number, or the JSON text of a list of texts. */
export type StatisticForm = 'text' | 'number' | 'prices';

export interface Statistic<Source> {
  readonly name: string;
  readonly form: StatisticForm;
  readonly range: 'amount' | 'price';
  /** Sort value in micro-units: the statistic, or that of the first outcome. */
  readonly read: (source: Source) => number;
}

function statistic<Source>(
  name: string,
  form: StatisticForm,
  range: Statistic<Source>['range'],
  read: (source: Source) => number,
): Statistic<Source> {
  return { name, form, range, read };
}

export const MARKET_STATISTICS: readonly Statistic<MarketStatistics>[] = [
  statistic('volume', 'text', 'amount', ({ volume }) => volume),
  statistic('volumeNum', 'number', 'amount', ({ volume }) => volume),
  statistic('volume24hr', 'number', 'amount', ({ volumeDay }) => volumeDay),
  statistic('liquidity', 'text', 'amount', ({ liquidity }) => liquidity),
  statistic('liquidityNum', 'number', 'amount', ({ liquidity }) => liquidity),
  statistic('outcomePrices', 'prices', 'price', ({ prices }) => prices[0] ?? PRICE_UNKNOWN),
  statistic('bestBid', 'number', 'price', ({ bestBid }) => bestBid),
  statistic('bestAsk', 'number', 'price', ({ bestAsk }) => bestAsk),
  statistic('spread', 'number', 'price', ({ bestAsk, bestBid }) => bestAsk - bestBid),
  statistic('lastTradePrice', 'number', 'price', ({ lastTrade }) => lastTrade),
];

export type EventStatistics = Pick<MarketStatistics, 'volume' | 'volumeDay' | 'liquidity'>;

export const EVENT_STATISTICS: readonly Statistic<EventStatistics>[] = [
  statistic('volume', 'number', 'amount', ({ volume }) => volume),
  statistic('volume24hr', 'number', 'amount', ({ volumeDay }) => volumeDay),
  statistic('liquidity', 'number', 'amount', ({ liquidity }) => liquidity),
];

/** Fields of each kind that lists show of an object itself and by which it can be sorted. */
export const SHAPES = {
  markets: { fields: MARKET_FIELDS, statistics: MARKET_STATISTICS },
  events: { fields: EVENT_FIELDS, statistics: EVENT_STATISTICS },
  series: { fields: SERIES_FIELDS, statistics: [] },
  tags: { fields: TAG_FIELDS, statistics: [] },
} as const satisfies Record<string, { fields: readonly Field<never>[]; statistics: unknown }>;

export type Kind = keyof typeof SHAPES;

/** Boolean fields of a kind: bit b of its `flags` is the b-th of them. */
export function flagColumns(kind: Kind): readonly string[] {
  const list: readonly Field<never>[] = SHAPES[kind].fields;
  return list.filter((field) => field.kind === 'boolean').map(({ name }) => name);
}

/** Values of every field: `columns[f][row]`. */
export function columnsOf<Source>(
  fields: readonly Field<Source>[],
  sources: readonly Source[],
): FieldValue[][] {
  const columns = fields.map(() => new Array<FieldValue>(sources.length));
  // Row by row, because an object is then in the cache.
  for (const [row, source] of sources.entries()) {
    for (let place = 0; place < fields.length; place++) {
      columns[place]![row] = fields[place]!.read(source);
    }
  }
  return columns;
}

/** JSON members of fields [from, to) of a row, each after its comma, the first after `{`. */
export function membersOf(
  fields: readonly Field<never>[],
  columns: readonly (readonly FieldValue[])[],
  row: number,
  from = 0,
  to = fields.length,
): string {
  let members = '';
  for (let place = from; place < to; place++) {
    const { name, kind } = fields[place]!;
    members += `${place === 0 ? '{"' : ',"'}${name}":${jsonOf(kind, columns[place]![row]!)}`;
  }
  return members;
}

function jsonOf(kind: FieldKind, value: FieldValue): string {
  if (typeof value !== 'string') return String(value);
  // Ids and dates were checked: they contain nothing that needs escaping.
  return kind === 'text' ? quoted(value) : `"${value}"`;
}

function quoted(text: string): string {
  return text.length < QUICK_TEST_MAX && PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** JSON of an array of texts, for members that must contain only texts. */
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
