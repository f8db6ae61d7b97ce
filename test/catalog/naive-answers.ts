/**
 * What each catalog route has to answer to a request target, worked out over a naive catalog:
 * a filter here is Array.filter and an order is Array.sort.
 *
 * Non-goals: headers, the wording of `detail` beyond the names in it, and search (naive-search.ts).
 */
import {
  type NaiveCatalog,
  type NaiveEvent,
  type NaiveMarket,
  type NaiveSeries,
  nanoseconds,
  type Raw,
  siteId,
} from './naive-catalog.ts';
import { EVENT_FIGURES, figureKey, MARKET_FIGURES } from './naive-figures.ts';
import { NaiveQuery } from './naive-query.ts';
import { type SearchAnswer, searchAnswer } from './naive-search.ts';

export type Expected =
  | { readonly kind: 'body'; readonly status: number; readonly text: string }
  /** 400; `detail` has every text of one of these faults. */
  | { readonly kind: 'bad request'; readonly faults: readonly (readonly string[])[] }
  | SearchAnswer;

export function expectedAnswer(catalog: NaiveCatalog, target: string): Expected {
  const [path = '', ...queries] = target.split('?');
  const query = new NaiveQuery(queries.join('?'));
  const [, kind = '', ...rest] = path.split('/').map(decodedSegment);
  const [first] = rest;
  const name = rest.length === 2 && first === 'slug' ? 'slug' : 'id';
  if (kind === 'sampling-markets') return samplingPage(catalog, query, true);
  if (kind === 'sampling-simplified-markets') return samplingPage(catalog, query, false);
  const seen = scoped(catalog, query.text(['creator'], creatorName));
  if (kind === 'public-search') return searchAnswer(seen, query);
  const page = first === undefined ? query.page() : undefined;
  if (kind === 'markets') {
    if (page !== undefined) return listOf(query, page, listedMarkets(seen, query), marketEntry);
    const found = marketNamed(seen, name, rest.at(-1));
    return single(query, name, found, (market) => ({
      ...market.shown,
      events: [market.event.shown],
    }));
  }
  if (kind === 'events') {
    if (page !== undefined) return listOf(query, page, listedEvents(seen, query), eventEntry);
    return single(query, name, byIdOrSlug(query, seen.events, name, rest.at(-1)), fullEvent);
  }
  if (kind === 'tags') {
    if (page !== undefined) return listOf(query, page, seen.tags, (tag) => tag.shown);
    const found = byIdOrSlug(query, seen.tags, name, rest.at(-1));
    return single(query, name, found, (tag) => tag.shown);
  }
  if (page === undefined) throw new Error(`no route ${path}`);
  return listOf(query, page, seen.series, seriesEntry);
}

function decodedSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

/** What is no wallet and no host name is an unknown site. */
function creatorName(value: string): string {
  return siteId(value) || 'unknown';
}

/** The catalog as it is seen through a creator filter (GAPS 10). */
function scoped(catalog: NaiveCatalog, creator: string | undefined): NaiveCatalog {
  if (creator === undefined) return catalog;
  const wallets = catalog.sites.get(creator) ?? new Set([creator]);
  const isKept = (market: NaiveMarket) => market.creator !== '' && wallets.has(market.creator);
  const events = new Map<NaiveEvent, NaiveEvent>();
  for (const event of catalog.events) {
    const markets = event.markets.filter(isKept);
    if (markets.length > 0) events.set(event, { ...event, markets });
  }
  const reduced = <T extends { readonly events: NaiveEvent[] }>(groups: readonly T[]): T[] =>
    groups
      .map((group) => ({ ...group, events: group.events.filter((event) => events.has(event)) }))
      .filter((group) => group.events.length > 0);
  return {
    ...catalog,
    events: [...events.values()],
    markets: catalog.markets.filter(isKept),
    tags: reduced(catalog.tags),
    series: reduced(catalog.series),
  };
}

function marketNamed(
  { markets }: NaiveCatalog,
  name: 'id' | 'slug',
  value: string | undefined,
): NaiveMarket | undefined {
  if (value === undefined) return undefined;
  if (name === 'slug') return markets.findLast(({ shown }) => shown.slug === value);
  if (!/^0x[0-9a-f]{64}$/i.test(value)) return markets.find(({ shown }) => shown.id === value);
  return markets.findLast(({ shown }) => lower(shown.conditionId) === value.toLowerCase());
}

/** The object of a path, the one listed first where several share a slug. */
function byIdOrSlug<T extends { readonly shown: Raw }>(
  query: NaiveQuery,
  rows: readonly T[],
  name: 'id' | 'slug',
  value: string | undefined,
): T | undefined {
  if (name === 'id' && !/^[0-9]+$/.test(value ?? '')) query.faults.push(['id']);
  if (value === undefined) return undefined;
  return rows.findLast((row) => row.shown[name] === value);
}

function single<T>(
  query: NaiveQuery,
  name: 'id' | 'slug',
  found: T | undefined,
  show: (row: T) => Raw,
): Expected {
  if (query.faults.length > 0) return { kind: 'bad request', faults: query.faults };
  if (found !== undefined) return body(200, show(found));
  return body(404, { type: 'not found error', error: `${name} not found` });
}

function listOf<T>(
  query: NaiveQuery,
  page: { readonly limit: number; readonly offset: number },
  rows: readonly T[],
  show: (row: T) => Raw,
): Expected {
  if (query.faults.length > 0) return { kind: 'bad request', faults: query.faults };
  return body(200, rows.slice(page.offset, page.offset + page.limit).map(show));
}

function body(status: number, value: unknown): Expected {
  return { kind: 'body', status, text: JSON.stringify(value) };
}

function listedMarkets(catalog: NaiveCatalog, query: NaiveQuery): readonly NaiveMarket[] {
  const isWanted = flagFilter(query);
  const hasTag = tagFilter(query);
  const eventId = query.integer('event_id', undefined, 0, 1e15 - 1);
  const eventSlug = query.text(['event_slug', 'eventSlug']);
  const conditionId = query.text(['conditionId', 'condition_id'], lower);
  const slug = query.text(['slug']);
  return sorted(query, catalog.markets, MARKET_COLUMNS).filter(
    (market) =>
      isWanted(market.shown) &&
      hasTag(market.event) &&
      (eventId === undefined || market.event.id === eventId) &&
      (eventSlug === undefined || market.event.shown.slug === eventSlug) &&
      (conditionId === undefined || lower(market.shown.conditionId) === conditionId) &&
      (slug === undefined || market.shown.slug === slug),
  );
}

function listedEvents(catalog: NaiveCatalog, query: NaiveQuery): readonly NaiveEvent[] {
  const isWanted = flagFilter(query);
  const hasTag = tagFilter(query);
  const seriesSlug = query.text(['series_slug']);
  const slug = query.text(['slug']);
  return sorted(query, catalog.events, EVENT_COLUMNS).filter(
    (event) =>
      isWanted(event.shown) &&
      hasTag(event) &&
      (seriesSlug === undefined ||
        event.series.some((series) => series.shown.slug === seriesSlug)) &&
      (slug === undefined || event.shown.slug === slug),
  );
}

function lower(value: unknown): string {
  return String(value).toLowerCase();
}

function flagFilter(query: NaiveQuery): (shown: Raw) => boolean {
  const wanted = ['active', 'closed', 'archived'].map((name) => [name, query.flag(name)] as const);
  return (shown) => wanted.every(([name, value]) => value === undefined || shown[name] === value);
}

function tagFilter(query: NaiveQuery): (event: NaiveEvent) => boolean {
  const id = query.integer('tag_id', undefined, 0, 1e15 - 1);
  const slug = query.text(['tag', 'tag_slug']);
  return (event) =>
    (id === undefined || event.tags.some((tag) => tag.id === id)) &&
    (slug === undefined || event.tags.some((tag) => tag.shown.slug === slug));
}

export const MARKET_COLUMNS = [
  ...['id', 'question', 'conditionId', 'slug', 'resolutionSource', 'startDate', 'endDate'],
  ...['image', 'icon', 'description', 'outcomes', 'clobTokenIds', 'active', 'closed', 'archived'],
  ...['createdAt', 'updatedAt', 'questionID', 'negRisk', 'orderPriceMinTickSize'],
  ...['orderMinSize', 'acceptingOrders', 'enableOrderBook', 'creator'],
  ...MARKET_FIGURES,
];
export const EVENT_COLUMNS = [
  ...['id', 'ticker', 'slug', 'title', 'description', 'resolutionSource', 'startDate'],
  ...['creationDate', 'endDate', 'image', 'icon', 'active', 'closed', 'archived', 'createdAt'],
  'updatedAt',
  ...EVENT_FIGURES,
];

type Key = string | number | bigint | boolean;

/** Rows by `order` and `ascending`; absent values last, ties by id in the same direction. */
function sorted<T extends { readonly id: number; readonly shown: Raw }>(
  query: NaiveQuery,
  rows: readonly T[],
  columns: readonly string[],
): readonly T[] {
  const direction = query.flag('ascending') === true ? 1 : -1;
  const columnNamed = (text: string) =>
    columns.find((name) => name === text || snakeCase(name) === text);
  const column = query.text(['order'], (text) => columnNamed(text) ?? 'unknown') ?? 'id';
  if (column === 'unknown') {
    query.faults.push(['order', ...columns]);
    return rows;
  }
  const keyed = rows.map((row) => ({ row, key: sortKey(row, column) }));
  return keyed
    .sort((a, b) => {
      if (a.key === null || b.key === null) {
        if (a.key !== b.key) return a.key === null ? 1 : -1;
        return direction * (a.row.id - b.row.id);
      }
      const byKey = a.key < b.key ? -1 : a.key > b.key ? 1 : a.row.id - b.row.id;
      return direction * byKey;
    })
    .map(({ row }) => row);
}

const DATES = ['startDate', 'endDate', 'creationDate', 'createdAt', 'updatedAt'];

function sortKey(row: { readonly id: number; readonly shown: Raw }, column: string): Key | null {
  const value = row.shown[column];
  if (column === 'id') return row.id;
  if (value === null) return null;
  if (DATES.includes(column)) return nanoseconds(String(value)) ?? null;
  if (MARKET_FIGURES.includes(column)) return figureKey(value);
  return value as Key;
}

export function snakeCase(name: string): string {
  return name.replace('ID', 'Id').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function marketEntry(market: NaiveMarket): Raw {
  const { id, ticker, slug, title } = market.event.shown;
  return { ...market.shown, events: [{ id, ticker, slug, title }] };
}

export function eventEntry(event: NaiveEvent): Raw {
  return { ...event.shown, tags: event.tags.map((tag) => tag.shown) };
}

function fullEvent(event: NaiveEvent): Raw {
  return {
    ...eventEntry(event),
    markets: event.markets.map((market) => market.shown),
    series: event.series.map((series) => series.shown),
    eventMetadata: event.metadata,
  };
}

function seriesEntry(series: NaiveSeries): Raw {
  return { ...series.shown, events: series.events.map((event) => event.shown) };
}

const SAMPLING_PAGE = 1000;

function samplingPage(catalog: NaiveCatalog, query: NaiveQuery, isFull: boolean): Expected {
  const offset = cursorOffset(query.text(['next_cursor']));
  if (offset === undefined || query.faults.length > 0) {
    return body(400, { error: 'invalid next_cursor' });
  }
  const listed = catalog.markets.filter(
    ({ shown }) => shown.active === true && shown.closed === false && shown.archived === false,
  );
  const end = offset + SAMPLING_PAGE;
  return body(200, {
    data: listed.slice(offset, end).map((market) => samplingMarket(market, isFull)),
    next_cursor: end < listed.length ? btoa(String(end)) : 'LTE=',
  });
}

/** GAPS 5: base64, of either alphabet and with or without padding, of an unsigned integer. */
function cursorOffset(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return 0;
  let decoded: string;
  try {
    decoded = atob(cursor.replaceAll('-', '+').replaceAll('_', '/'));
  } catch {
    return undefined;
  }
  return /^[0-9]+$/.test(decoded) ? Number(decoded) : undefined;
}

function samplingMarket(market: NaiveMarket, isFull: boolean): Raw {
  const { shown, event } = market;
  const isTrading = shown.acceptingOrders && shown.enableOrderBook;
  const { id, slug, title, ticker, description } = event.shown;
  return {
    condition_id: shown.conditionId,
    status: isTrading ? 'active' : 'paused',
    neg_risk: shown.negRisk,
    market_id: market.id,
    question: shown.question,
    slug: shown.slug,
    ...(isFull ? { description: shown.description } : {}),
    assets_ids: market.tokenIds,
    outcomes: market.outcomes,
    ...(isFull
      ? { event: { id, slug, title, ticker, description }, raw_metadata: market.metadata }
      : {}),
  };
}
