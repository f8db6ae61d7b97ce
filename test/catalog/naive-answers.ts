/**
 * Expected answer of each catalog route to a request target, from a naive catalog: a filter is
 * Array.filter and an order is Array.sort. Names of parameters and columns come from the server's
 * tables, their meaning does not.
 *
 * Non-goals: headers, the wording of `detail` beyond the names in it, and search (naive-search.ts).
 */
import { PARAMETERS } from '../../server/catalog/parameters.ts';
import {
  type NaiveCatalog,
  type NaiveEvent,
  type NaiveMarket,
  type NaiveSeries,
  type NaiveTag,
  type Raw,
  siteId,
} from './naive-catalog.ts';
import { listed, lower, type Row, relatedTo } from './naive-lists.ts';
import { NaiveQuery } from './naive-query.ts';
import { type SearchAnswer, searchAnswer } from './naive-search.ts';

export type Expected =
  | { readonly kind: 'body'; readonly status: number; readonly text: string }
  /** 400; `detail` contains every text of one of these faults. */
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
  if (kind === 'public-search') {
    return searchAnswer(seen, query, (events) =>
      listed(query, events, PARAMETERS.search, 'events', []),
    );
  }
  const show = showing(query);
  if (rest.at(-1) === 'keyset') return keysetPage(query, catalog, seen, kind as 'events', show);
  const page = first === undefined ? query.page() : undefined;
  if (rest.includes('related-tags')) return relations(query, catalog, seen, name, rest);
  if (kind === 'markets') {
    if (page !== undefined) {
      const rows = listed(query, seen.markets, PARAMETERS.markets, kind, catalog.tags);
      return listOf(query, page, rows, show.market);
    }
    if (rest[1] === 'tags') {
      const found = marketNamed(seen, 'id', first);
      return single(query, name, found, ({ event }) => event.tags.map((tag) => tag.shown));
    }
    const found = marketNamed(seen, name, rest.at(-1));
    const tagged = query.flag(['include_tag']) === true;
    return single(query, name, found, (market) => ({
      ...market.shown,
      events: [market.event.shown],
      ...(tagged ? tagsOf(market.event) : {}),
    }));
  }
  if (kind === 'events') {
    if (page !== undefined) {
      const rows = listed(query, seen.events, PARAMETERS.events, kind, catalog.tags);
      return listOf(query, page, rows, eventEntry);
    }
    const isTags = name === 'id' && rest[1] === 'tags';
    const found = byIdOrSlug(query, seen.events, name, isTags ? first : rest.at(-1));
    return single(query, name, found, (event) => (isTags ? tagsOf(event).tags : fullEvent(event)));
  }
  if (kind === 'tags' || kind === 'series') {
    const entry = (row: NaiveTag | NaiveSeries) => (kind === 'tags' ? row.shown : seriesEntry(row));
    if (page !== undefined) return listOf<NaiveTag | NaiveSeries>(query, page, seen[kind], entry);
    const found = byIdOrSlug<NaiveTag | NaiveSeries>(query, seen[kind], name, rest.at(-1));
    return single(query, name, found, entry);
  }
  throw new Error(`no route ${path}`);
}

function showing(query: NaiveQuery) {
  const isTagged = query.flag(['include_tag']) === true;
  return {
    market: (market: NaiveMarket): Raw => {
      const { id, ticker, slug, title } = market.event.shown;
      const tags = isTagged ? tagsOf(market.event) : {};
      return { ...market.shown, events: [{ id, ticker, slug, title }], ...tags };
    },
  };
}

function tagsOf(event: NaiveEvent) {
  return { tags: event.tags.map((tag) => tag.shown) };
}

/** The first page of a list by cursor; `next_cursor` stands for any. */
function keysetPage(
  query: NaiveQuery,
  catalog: NaiveCatalog,
  seen: NaiveCatalog,
  kind: 'markets' | 'events',
  show: ReturnType<typeof showing>,
): Expected {
  const limit = query.integer('limit', 100, 1, 500);
  const parameters = PARAMETERS[`${kind}Keyset`];
  const rows: readonly Row[] =
    kind === 'markets'
      ? listed(query, seen.markets, parameters, kind, catalog.tags)
      : listed(query, seen.events, parameters, kind, catalog.tags);
  if (query.faults.length > 0) return { kind: 'bad request', faults: query.faults };
  const shown = rows.slice(0, limit).map((row) => {
    if ('event' in row) return show.market(row);
    return { ...eventEntry(row), markets: row.markets.map((market) => market.shown) };
  });
  return body(200, { [kind]: shown, ...(rows.length > limit ? { next_cursor: 'any' } : {}) });
}

function relations(
  query: NaiveQuery,
  catalog: NaiveCatalog,
  seen: NaiveCatalog,
  name: 'id' | 'slug',
  rest: readonly (string | undefined)[],
): Expected {
  const by = rest[0] === 'slug' ? 'slug' : name;
  const tag = byIdOrSlug(query, seen.tags, by, by === 'slug' ? rest[1] : rest[0]);
  return single(query, by, tag, ({ id: tagID }) => {
    const whole = catalog.tags.filter(({ id }) => id === tagID);
    const related = relatedTo(catalog.tags, whole);
    if (rest.at(-1) === 'tags') return related.map(({ shown }) => shown);
    return related.map(({ id }, place) => {
      return { id: `${tagID}-${id}`, tagID, relatedTagID: id, rank: place + 1 };
    });
  });
}

function decodedSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

/** Reads a creator; a text that is no wallet and no host name is an unknown site. */
function creatorName(value: string): string {
  return siteId(value) || 'unknown';
}

/** The catalog behind a creator filter (docs/protocol.md#creator-filter). */
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

/** The object of a path; of several with one slug, the one that is listed first. */
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
  show: (row: T) => unknown,
): Expected {
  if (query.faults.length > 0) return { kind: 'bad request', faults: query.faults };
  if (found !== undefined) return body(200, show(found));
  return body(404, {
    type: 'not found error',
    error: `${name} not found`,
    code: `UNKNOWN_${name.toUpperCase()}`,
  });
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

export function eventEntry(event: NaiveEvent): Raw {
  return { ...event.shown, ...tagsOf(event) };
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
    return body(400, { error: 'invalid next_cursor', code: 'INVALID_CURSOR' });
  }
  const listed = catalog.markets.filter(isSampled);
  const end = offset + SAMPLING_PAGE;
  return body(200, {
    data: listed.slice(offset, end).map((market) => samplingMarket(market, isFull)),
    next_cursor: end < listed.length ? btoa(String(end)) : 'LTE=',
  });
}

/**
 * Base64, of either alphabet and with or without padding, of an unsigned integer
 * (docs/protocol.md#cursors).
 */
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

export function isSampled({ shown }: NaiveMarket): boolean {
  return shown.active === true && shown.closed === false && shown.archived === false;
}

export function samplingMarket(market: NaiveMarket, isFull: boolean): Raw {
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
