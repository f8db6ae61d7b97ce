/**
 * Expected answers of the catalog routes, from plain loops over the raw objects of a catalog file.
 * It shares no code with the server.
 *
 * Non-goals: query strings and routes (naive-answers.ts), speed, and books.
 */
import {
  type NaiveStatistics,
  type StatisticsById,
  showEventStatistics,
  showMarketStatistics,
} from './naive-statistics.ts';

export type Raw = Readonly<Record<string, unknown>>;

export interface NaiveTag {
  readonly id: number;
  readonly shown: Raw;
  /** Ascending by id, like all lists here. */
  readonly events: NaiveEvent[];
}

export interface NaiveSeries {
  readonly id: number;
  readonly shown: Raw;
  readonly events: NaiveEvent[];
}

export interface NaiveEvent {
  readonly id: number;
  /** The event summary (docs/protocol.md#catalog-objects). */
  readonly shown: Raw;
  readonly metadata: unknown;
  readonly tags: NaiveTag[];
  readonly series: NaiveSeries[];
  readonly markets: NaiveMarket[];
}

export interface NaiveMarket {
  readonly id: number;
  readonly shown: Raw;
  readonly event: NaiveEvent;
  readonly creator: string;
  readonly outcomes: readonly string[];
  readonly tokenIds: readonly string[];
  readonly metadata: unknown;
}

export interface NaiveCatalog {
  readonly events: NaiveEvent[];
  readonly markets: NaiveMarket[];
  readonly tags: NaiveTag[];
  readonly series: NaiveSeries[];
  /** Site id -> wallets, all in lower case. */
  readonly sites: ReadonlyMap<string, ReadonlySet<string>>;
}

/** @param statistics live ones by market id; empty = those of markets without a book */
export function readNaive(file: Raw, statistics: StatisticsById = new Map()): NaiveCatalog {
  const json = printable(file);
  const rawEvents = latest(objects(json.events));
  const rawMarkets = latest(rawEvents.flatMap((event) => objects(event.markets)));
  const shared = (kind: 'tags' | 'series') => {
    const nested = latest(rawEvents.flatMap((event) => objects(event[kind])));
    const own = latest(objects(json[kind]));
    const ownIds = new Set(own.map(idOf));
    return [...own, ...nested.filter((raw) => !ownIds.has(idOf(raw)))];
  };
  const tags: NaiveTag[] = shared('tags')
    .map((raw) => ({ id: Number(idOf(raw)), shown: showTag(raw), events: [] }))
    .sort(byId);
  const series: NaiveSeries[] = shared('series')
    .map((raw) => ({ id: Number(idOf(raw)), shown: showSeries(raw), events: [] }))
    .sort(byId);
  const events = rawEvents
    .map((raw): NaiveEvent => {
      const tagIds = new Set(objects(raw.tags).map(idOf));
      const seriesIds = new Set(objects(raw.series).map(idOf));
      const own = objects(raw.markets).filter((market) => rawMarkets.includes(market));
      const ofMarkets = own.map((market) => statistics.get(idOf(market)!));
      const event: NaiveEvent = {
        id: Number(idOf(raw)),
        shown: { ...showEvent(raw), ...showEventStatistics(ofMarkets) },
        metadata: isObject(raw.eventMetadata) ? raw.eventMetadata : {},
        tags: tags.filter((tag) => tagIds.has(String(tag.id))),
        series: series.filter((one) => seriesIds.has(String(one.id))),
        markets: [],
      };
      for (const [place, market] of own.entries()) {
        event.markets.push(readMarket(market, raw, event, ofMarkets[place]));
      }
      event.markets.sort(byId);
      return event;
    })
    .sort(byId);
  for (const event of events) {
    for (const group of [...event.tags, ...event.series]) group.events.push(event);
  }
  const markets = events.flatMap((event) => event.markets).sort(byId);
  return { events, markets, tags, series, sites: readSites(json.sites) };
}

/**
 * Cleans texts from other services (docs/protocol.md#texts), as far as invented catalogs need it.
 */
function printable(object: Raw): Raw {
  const clean = (name: string, value: unknown): unknown => {
    if (Array.isArray(value) && name !== 'outcomes') {
      return value.map((item) => (isObject(item) ? printable(item) : item));
    }
    if (typeof value !== 'string') return value;
    const isProse = name === 'description' || name === 'resolutionSource';
    let text = '';
    for (const character of isProse ? value : value.replace(/\s*[\n\r\t]\s*/g, ' ')) {
      const code = character.codePointAt(0)!;
      const isBreak = code === 9 || code === 10 || code === 13;
      if (code >= 0xd800 && code < 0xe000) text += '\ufffd';
      else if (((code >= 32 && code !== 127) || isBreak) && code < 0xfffe) text += character;
      else if (code > 0xffff) text += character;
    }
    const isName = /^(?:title|question|slug|ticker|label)$/.test(name);
    return isName && text === '' && value !== '' ? '\ufffd' : text;
  };
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [name, clean(name, value)]),
  );
}

const byId = (a: { readonly id: number }, b: { readonly id: number }) => a.id - b.id;

/** One object per id: the one updated last; of equals, the last one. */
function latest(list: readonly Raw[]): Raw[] {
  const found = new Map<string, Raw>();
  for (const raw of list) {
    const id = idOf(raw);
    if (id === undefined) continue;
    const known = found.get(id);
    if (known === undefined || updated(raw) >= updated(known)) found.set(id, raw);
  }
  return [...found.values()];
}

function updated(raw: Raw): number {
  const ms = Date.parse(text(raw.updatedAt));
  return Number.isNaN(ms) ? -Infinity : ms;
}

function readSites(value: unknown): Map<string, Set<string>> {
  const sites = new Map<string, Set<string>>();
  for (const site of objects(value)) {
    const wallets = Array.isArray(site.creators) ? site.creators.filter(isWallet) : [];
    const id = siteId(text(site.id));
    if (id === '') continue;
    const known = sites.get(id) ?? new Set();
    sites.set(id, new Set([...known, ...wallets.map((wallet) => wallet.toLowerCase())]));
  }
  return sites;
}

/**
 * A host name without scheme, path and trailing dot, in lower case
 * (docs/protocol.md#creator-filter).
 */
export function siteId(value: string): string {
  const lower = value.trim().toLowerCase();
  const bare = lower.startsWith('http://')
    ? lower.slice(7)
    : lower.startsWith('https://')
      ? lower.slice(8)
      : lower;
  const host = bare.split('/')[0]!;
  return host.endsWith('.') ? host.slice(0, -1) : host;
}

function readMarket(
  raw: Raw,
  rawEvent: Raw,
  event: NaiveEvent,
  statistics: NaiveStatistics | undefined,
): NaiveMarket {
  const wallets = [raw.creator, raw.submitted_by, rawEvent.creator, rawEvent.submitted_by];
  const creator = wallets.find(isWallet)?.toLowerCase() ?? '';
  const outcomes = list(raw.outcomes);
  const tokenIds = list(raw.clobTokenIds);
  const shown = {
    id: idOf(raw),
    question: text(raw.question),
    conditionId: text(raw.conditionId),
    slug: text(raw.slug),
    resolutionSource: text(raw.resolutionSource),
    startDate: date(raw.startDate),
    endDate: date(raw.endDate),
    image: text(raw.image),
    icon: text(raw.icon),
    description: text(raw.description),
    outcomes: listText(raw.outcomes),
    clobTokenIds: listText(raw.clobTokenIds),
    active: raw.active === true,
    closed: raw.closed === true,
    archived: raw.archived === true,
    createdAt: date(raw.createdAt),
    updatedAt: date(raw.updatedAt),
    questionID: text(raw.questionID),
    negRisk: typeof raw.negRisk === 'boolean' ? raw.negRisk : rawEvent.negRisk === true,
    orderPriceMinTickSize: tickSize(raw.orderPriceMinTickSize),
    orderMinSize: minSize(raw.orderMinSize),
    acceptingOrders: raw.acceptingOrders !== false,
    enableOrderBook: raw.enableOrderBook !== false,
    creator,
    ...showMarketStatistics(outcomes.length, statistics),
  };
  const metadata = isObject(raw.raw_metadata) ? raw.raw_metadata : {};
  return { id: Number(idOf(raw)), shown, event, creator, outcomes, tokenIds, metadata };
}

function showEvent(raw: Raw): Raw {
  return {
    id: idOf(raw),
    ticker: text(raw.ticker),
    slug: text(raw.slug),
    title: text(raw.title),
    description: text(raw.description),
    resolutionSource: text(raw.resolutionSource),
    startDate: date(raw.startDate),
    creationDate: date(raw.creationDate),
    endDate: date(raw.endDate),
    image: text(raw.image),
    icon: text(raw.icon),
    active: raw.active === true,
    closed: raw.closed === true,
    archived: raw.archived === true,
    createdAt: date(raw.createdAt),
    updatedAt: date(raw.updatedAt),
  };
}

function showTag(raw: Raw): Raw {
  return {
    id: idOf(raw),
    label: text(raw.label),
    slug: text(raw.slug),
    createdAt: date(raw.createdAt),
    updatedAt: date(raw.updatedAt),
    requiresTranslation: raw.requiresTranslation === true,
  };
}

function showSeries(raw: Raw): Raw {
  return {
    id: idOf(raw),
    ticker: text(raw.ticker),
    slug: text(raw.slug),
    title: text(raw.title),
    seriesType: text(raw.seriesType),
    recurrence: text(raw.recurrence),
    image: text(raw.image),
    icon: text(raw.icon),
    active: raw.active === true,
    closed: raw.closed === true,
    archived: raw.archived === true,
    createdAt: date(raw.createdAt),
    updatedAt: date(raw.updatedAt),
  };
}

function objects(value: unknown): Raw[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function isObject(value: unknown): value is Raw {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function idOf(raw: Raw): string | undefined {
  const id = String(raw.id);
  const isUsable = typeof raw.id === 'string' || typeof raw.id === 'number';
  return isUsable && /^(0|[1-9][0-9]{0,14})$/.test(id) ? id : undefined;
}

function isWallet(value: unknown): value is string {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

const DATE = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d(?::?\d\d)?)$/;

/**
 * A valid ISO 8601 date-time in UTC, unchanged; other spellings in that form
 * (docs/protocol.md#catalog-objects).
 */
function date(value: unknown): string | null {
  const match = DATE.exec(text(value));
  if (match === null || nanoseconds(text(value)) === undefined) return null;
  const [found, day, time, fraction = '', zone = ''] = match;
  if (found === `${day}T${time}${fraction && `.${fraction}`}Z`) return found;
  const padded = zone.length === 3 ? `${zone}:00` : zone;
  return new Date(`${day}T${time}${fraction && `.${fraction}`}${padded}`).toISOString();
}

/** Nanoseconds of a date-time, exact to its last decimal; `undefined` when it is none. */
export function nanoseconds(value: string): bigint | undefined {
  const match = DATE.exec(value);
  if (match === null) return undefined;
  const [, day, time, fraction = '', zone = ''] = match;
  const seconds = Date.parse(`${day}T${time}${zone.length === 3 ? `${zone}:00` : zone}`);
  if (Number.isNaN(seconds)) return undefined;
  return BigInt(seconds) * 1_000_000n + BigInt(fraction.padEnd(9, '0'));
}

function parsedList(value: unknown): readonly string[] | undefined {
  let parsed = value;
  try {
    if (typeof value === 'string') parsed = JSON.parse(value);
  } catch {
    return undefined;
  }
  const isList = Array.isArray(parsed) && parsed.every((item) => typeof item === 'string');
  return isList ? (parsed as string[]) : undefined;
}

function list(value: unknown): readonly string[] {
  return parsedList(value) ?? [];
}

/** Text of a JSON array; a text that is one already stays unchanged. */
function listText(value: unknown): string {
  const parsed = parsedList(value);
  if (parsed === undefined) return '[]';
  return typeof value === 'string' ? value : JSON.stringify(parsed);
}

const TICK_SIZES = [0.1, 0.01, 0.001, 0.0001];

function tickSize(value: unknown): number {
  if (value === undefined || value === null || value === '') return 0.01;
  const size = typeof value === 'string' ? Number(value) : value;
  return TICK_SIZES.find((known) => known === size) ?? 0;
}

/**
 * Smallest order in shares. An order of nothing is none, so an absent minimum is the smallest order
 * there is.
 */
function minSize(value: unknown): number {
  if (value === undefined || value === null || value === '') return 5;
  if (typeof value !== 'string' && typeof value !== 'number') return -1;
  const size = Number(value);
  if (!(size >= 0)) return -1;
  const micro = Math.round(size * 1_000_000);
  if (micro / 1_000_000 !== size || !Number.isSafeInteger(micro)) return -1;
  return Math.max(micro, 1) / 1_000_000;
}
