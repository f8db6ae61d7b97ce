/**
 * The fields of every kind of catalog object as they are served, in their order (SPEC 2): one table
 * per kind drives both its JSON and the columns it can be sorted by. Missing texts are "", dates
 * null, booleans false (GAPS 11); fields that SPEC does not name are dropped, they are figures of
 * another venue. Figures of this node's own books and fills follow the fields of markets and events.
 *
 * Pure; runs on the catalog thread, names of columns and figures are read anywhere. Non-goals:
 * nesting.
 */
import { type JsonObject, text } from '../../storage/catalog-json.ts';
import type { TradingTerms } from '../../storage/catalog-market.ts';

/** How a field compares and what its JSON is; only dates can be null. */
type FieldKind = 'id' | 'text' | 'date' | 'boolean' | 'number';
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
  /** Its effective creator wallet in lower case, "" when there is none (GAPS 10). */
  readonly creator: string;
}

/** A JSON array as a text (SPEC 2), and whether all its items are texts. */
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

const id: Field<JsonObject> = { name: 'id', kind: 'id', read: (raw) => String(raw.id) };

function words(name: string): Field<JsonObject> {
  return { name, kind: 'text', read: (raw) => text(raw[name]) };
}

function date(name: string): Field<JsonObject> {
  return { name, kind: 'date', read: (raw) => dateOf(raw[name]) };
}

function flag(name: string): Field<JsonObject> {
  return { name, kind: 'boolean', read: (raw) => raw[name] === true };
}

function ofMarket({ name, kind, read }: Field<JsonObject>): Field<MarketSource> {
  return { name, kind, read: (market) => read(market.raw) };
}

export const MARKET_FIELDS: readonly Field<MarketSource>[] = [
  ...[
    id,
    words('question'),
    words('conditionId'),
    words('slug'),
    words('resolutionSource'),
    date('startDate'),
    date('endDate'),
    words('image'),
    words('icon'),
    words('description'),
  ].map(ofMarket),
  { name: 'outcomes', kind: 'text', read: (market) => market.outcomes.text },
  { name: 'clobTokenIds', kind: 'text', read: (market) => market.tokenIds.text },
  ...[
    flag('active'),
    flag('closed'),
    flag('archived'),
    date('createdAt'),
    date('updatedAt'),
    words('questionID'),
  ].map(ofMarket),
  // Behind SPEC's fields: what a client needs to trade, and a mirror to trade alike.
  { name: 'negRisk', kind: 'boolean', read: ({ terms }) => terms.negRisk },
  {
    name: 'orderPriceMinTickSize',
    kind: 'number',
    read: ({ terms }) => (terms.ticksPerUnit === undefined ? 0 : 1 / terms.ticksPerUnit),
  },
  {
    name: 'orderMinSize',
    kind: 'number',
    read: ({ terms }) => (terms.minSizeMicro === undefined ? -1 : terms.minSizeMicro / MICRO),
  },
  { name: 'acceptingOrders', kind: 'boolean', read: ({ terms }) => terms.acceptingOrders },
  { name: 'enableOrderBook', kind: 'boolean', read: ({ terms }) => terms.enableOrderBook },
  { name: 'creator', kind: 'text', read: (market) => market.creator },
];

/** The event summary: an event without tags, markets, series, eventMetadata (SPEC 2). */
export const EVENT_FIELDS: readonly Field<JsonObject>[] = [
  id,
  words('ticker'),
  words('slug'),
  words('title'),
  words('description'),
  words('resolutionSource'),
  date('startDate'),
  date('creationDate'),
  date('endDate'),
  words('image'),
  words('icon'),
  flag('active'),
  flag('closed'),
  flag('archived'),
  date('createdAt'),
  date('updatedAt'),
];

export const TAG_FIELDS: readonly Field<JsonObject>[] = [
  id,
  words('label'),
  words('slug'),
  date('createdAt'),
  date('updatedAt'),
  flag('requiresTranslation'),
];

/** A series without its events. */
export const SERIES_FIELDS: readonly Field<JsonObject>[] = [
  id,
  words('ticker'),
  words('slug'),
  words('title'),
  words('seriesType'),
  words('recurrence'),
  words('image'),
  words('icon'),
  flag('active'),
  flag('closed'),
  flag('archived'),
  date('createdAt'),
  date('updatedAt'),
];

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

export const MARKET_FIGURES: readonly Figure<MarketFigures>[] = [
  { name: 'volume', form: 'text', range: 'amount', read: ({ volume }) => volume },
  { name: 'volumeNum', form: 'number', range: 'amount', read: ({ volume }) => volume },
  { name: 'volume24hr', form: 'number', range: 'amount', read: ({ volumeDay }) => volumeDay },
  { name: 'liquidity', form: 'text', range: 'amount', read: ({ liquidity }) => liquidity },
  { name: 'liquidityNum', form: 'number', range: 'amount', read: ({ liquidity }) => liquidity },
  {
    name: 'outcomePrices',
    form: 'prices',
    range: 'price',
    read: ({ prices }) => prices[0] ?? PRICE_UNKNOWN,
  },
  { name: 'bestBid', form: 'number', range: 'price', read: ({ bestBid }) => bestBid },
  { name: 'bestAsk', form: 'number', range: 'price', read: ({ bestAsk }) => bestAsk },
  {
    name: 'spread',
    form: 'number',
    range: 'price',
    read: ({ bestAsk, bestBid }) => bestAsk - bestBid,
  },
  { name: 'lastTradePrice', form: 'number', range: 'price', read: ({ lastTrade }) => lastTrade },
];

/** Sums over the markets of an event. */
export type EventFigures = Pick<MarketFigures, 'volume' | 'volumeDay' | 'liquidity'>;

export const EVENT_FIGURES: readonly Figure<EventFigures>[] = [
  { name: 'volume', form: 'number', range: 'amount', read: ({ volume }) => volume },
  { name: 'volume24hr', form: 'number', range: 'amount', read: ({ volumeDay }) => volumeDay },
  { name: 'liquidity', form: 'number', range: 'amount', read: ({ liquidity }) => liquidity },
];

/** What lists can be sorted by: every scalar field, and every figure. */
export const MARKET_COLUMNS = [...MARKET_FIELDS, ...MARKET_FIGURES].map(({ name }) => name);
export const EVENT_COLUMNS = [...EVENT_FIELDS, ...EVENT_FIGURES].map(({ name }) => name);

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
  let list = value;
  if (typeof value === 'string') {
    try {
      list = JSON.parse(value);
    } catch {
      return EMPTY_LIST;
    }
  }
  if (!Array.isArray(list)) return EMPTY_LIST;
  const isTexts = list.every((item) => typeof item === 'string');
  const text = typeof value === 'string' ? value : JSON.stringify(list);
  return { text, isTexts, count: list.length };
}

/** A date-time as ISO 8601 in UTC (SPEC 2): the text found if it is that, else null or rewritten. */
function dateOf(value: unknown): string | null {
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
