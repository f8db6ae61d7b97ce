/**
 * The fields of every kind of catalog object as they are served, in their order: one table
 * per kind drives both its JSON and the columns it can be sorted by. Missing texts are "", dates
 * null, booleans false; other fields are dropped, they are figures of
 * another venue. Figures of this node's own books and fills follow the fields of markets and events.
 * Rules: docs/protocol.md#catalog-objects
 *
 * Pure; runs on the catalog thread, names of columns and figures are read anywhere. Non-goals:
 * nesting.
 */
import { type JsonObject, listOf, text } from '../../storage/catalog/catalog-json.ts';
import type { TradingTerms } from '../../storage/catalog/catalog-market.ts';

/** How a field compares and what its JSON is; only dates can be null. */
export type FieldKind = 'id' | 'text' | 'date' | 'boolean' | 'number';
export type FieldValue = string | number | boolean | null;

export interface Field<Source> {
  readonly name: string;
  readonly kind: FieldKind;
  readonly read: (source: Source) => FieldValue;
}

/** A raw market with what follows from it and its event. */
export interface MarketSource {
  readonly raw: JsonObject;
  readonly outcomes: ListText;
  readonly tokenIds: ListText;
  readonly terms: TradingTerms;
  /**
   * Its effective creator wallet in lower case, "" when there is none
   * (docs/protocol.md#creator-filter).
   */
  readonly creator: string;
}

/** A JSON array as a text, and whether all its items are texts. */
interface ListText {
  readonly text: string;
  readonly isTexts: boolean;
  readonly count: number;
}

const MICRO = 1_000_000;
/** Of an outcome of which nothing is known: the middle between nothing and a unit. */
export const PRICE_UNKNOWN = MICRO / 2;
const EMPTY_LIST: ListText = { text: '[]', isTexts: true, count: 0 };
/** A date-time that is served as it was found; whatever matches, Date.parse understands. */
const ISO_UTC =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?Z$/;
/** Other forms of dates; without a zone they are UTC. */
const DATE_TIME =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(?:Z|([+-]\d\d):?(\d\d)?)?)?$/i;
/** A text without anything that JSON escapes: quotes, backslashes, controls, lone surrogates. */
const PLAIN = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/;
/** Looking first is quicker only for texts that are short and seldom need escaping. */
const QUICK_TEST_MAX = 200;
/** Where the microseconds begin in `2024-01-01T00:00:00.000000Z`. */
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
  // Behind the usual fields: what a client needs to trade, and a mirror to trade alike.
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
 * The event summary: an event without tags, markets, series, eventMetadata
 * (docs/protocol.md#catalog-objects).
 */
export const EVENT_FIELDS: readonly Field<JsonObject>[] = [
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

/** A series without its events. */
const SERIES_FIELDS: readonly Field<JsonObject>[] = [
  ...ids('id'),
  ...texts('ticker', 'slug', 'title', 'seriesType', 'recurrence', 'image', 'icon'),
  ...flags('active', 'closed', 'archived'),
  ...dates('createdAt', 'updatedAt'),
];

/** What some clients insist on in every market, though no text asks for it (CATALOG_OBJECTS). */
export const CLIENT_MEMBER = 'marketMakerAddress';

/** Columns that objects are looked up by, and how their texts are compared (text-index.ts). */
export const KEY_COLUMNS = {
  slug: 'exact',
  conditionId: 'number',
  questionID: 'number',
  clobTokenIds: 'numbers',
} as const;

/**
 * What this node's books and fills say of a market, in whole micro-units: of collateral, or of
 * collateral a share. An empty side of a book stands at its bound: nobody gives less than nothing
 * for a share, and a pair of shares never costs more than one unit.
 */
export interface MarketFigures {
  /** Of all fills, and of those of the last 24 hours. */
  volume: number;
  volumeDay: number;
  /** Price times size of all that rests in the books, each as its own outcome shows it. */
  liquidity: number;
  /** Of the first outcome; 0 without a bid, a unit without an ask, 0 before the first trade. */
  bestBid: number;
  bestAsk: number;
  lastTrade: number;
  /** By outcome. */
  prices: readonly number[];
}

/** How a figure is written: a decimal text, a JSON number, or the JSON text of a list of texts. */
export type FigureForm = 'text' | 'number' | 'prices';

export interface Figure<Source> {
  readonly name: string;
  readonly form: FigureForm;
  /** Amounts reach 2^53 - 1, prices one unit. */
  readonly range: 'amount' | 'price';
  /** What it is sorted by, in micro-units: its value, or that of the first outcome. */
  readonly read: (source: Source) => number;
}

function figure<Source>(
  name: string,
  form: FigureForm,
  range: Figure<Source>['range'],
  read: (source: Source) => number,
): Figure<Source> {
  return { name, form, range, read };
}

export const MARKET_FIGURES: readonly Figure<MarketFigures>[] = [
  figure('volume', 'text', 'amount', ({ volume }) => volume),
  figure('volumeNum', 'number', 'amount', ({ volume }) => volume),
  figure('volume24hr', 'number', 'amount', ({ volumeDay }) => volumeDay),
  figure('liquidity', 'text', 'amount', ({ liquidity }) => liquidity),
  figure('liquidityNum', 'number', 'amount', ({ liquidity }) => liquidity),
  figure('outcomePrices', 'prices', 'price', ({ prices }) => prices[0] ?? PRICE_UNKNOWN),
  figure('bestBid', 'number', 'price', ({ bestBid }) => bestBid),
  figure('bestAsk', 'number', 'price', ({ bestAsk }) => bestAsk),
  figure('spread', 'number', 'price', ({ bestAsk, bestBid }) => bestAsk - bestBid),
  figure('lastTradePrice', 'number', 'price', ({ lastTrade }) => lastTrade),
];

/** Sums over the markets of an event. */
export type EventFigures = Pick<MarketFigures, 'volume' | 'volumeDay' | 'liquidity'>;

export const EVENT_FIGURES: readonly Figure<EventFigures>[] = [
  figure('volume', 'number', 'amount', ({ volume }) => volume),
  figure('volume24hr', 'number', 'amount', ({ volumeDay }) => volumeDay),
  figure('liquidity', 'number', 'amount', ({ liquidity }) => liquidity),
];

/** Everything that a list of each kind shows of an object by itself, and can be sorted by. */
export const SHAPES = {
  markets: { fields: MARKET_FIELDS, figures: MARKET_FIGURES },
  events: { fields: EVENT_FIELDS, figures: EVENT_FIGURES },
  series: { fields: SERIES_FIELDS, figures: [] },
  tags: { fields: TAG_FIELDS, figures: [] },
} as const satisfies Record<string, { fields: readonly Field<never>[]; figures: unknown }>;

export type Kind = keyof typeof SHAPES;

/** The fields of a kind that are booleans: bit b of its `flags` is the b-th of them. */
export function flagColumns(kind: Kind): readonly string[] {
  const list: readonly Field<never>[] = SHAPES[kind].fields;
  return list.filter((field) => field.kind === 'boolean').map(({ name }) => name);
}

/** The values of every field: `columns[f][row]`. */
export function columnsOf<Source>(
  fields: readonly Field<Source>[],
  sources: readonly Source[],
): FieldValue[][] {
  const columns = fields.map(() => new Array<FieldValue>(sources.length));
  // Row by row: an object is read while it is at hand.
  for (const [row, source] of sources.entries()) {
    for (let place = 0; place < fields.length; place++) {
      columns[place]![row] = fields[place]!.read(source);
    }
  }
  return columns;
}

/** The JSON members of fields [from, to) of a row, each behind its comma, the first behind `{`. */
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
  // Ids and dates were checked to hold nothing that needs escaping.
  return kind === 'text' ? quoted(value) : `"${value}"`;
}

/** The JSON of a text. */
export function quoted(text: string): string {
  return text.length < QUICK_TEST_MAX && PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** The JSON of an array of texts, for members that hold nothing else. */
export function textsOf({ text, isTexts }: ListText): string {
  return isTexts ? text : EMPTY_LIST.text;
}

/** An array, or the JSON text of one, which is kept as it was written. */
export function listTextOf(value: unknown): ListText {
  const list = listOf(value);
  if (list === undefined) return EMPTY_LIST;
  const isTexts = list.every((item) => typeof item === 'string');
  const text = typeof value === 'string' ? value : JSON.stringify(list);
  return { text, isTexts, count: list.length };
}

/**
 * A date-time as ISO 8601 in UTC: the text found if it is that, else null or rewritten.
 * Rules: docs/protocol.md#catalog-objects
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

/** Microseconds since 1970 of a served date-time: several real ones differ in these only. */
export function instantOf(date: string): number {
  const micros = date.length > MICROSECONDS_AT + 1 ? date.slice(MICROSECONDS_AT, -1) : '';
  return Date.parse(date) * 1000 + Number(micros.padEnd(3, '0').slice(0, 3));
}
