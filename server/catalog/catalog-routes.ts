/**
 * The routes of the catalog API (SPEC 4.2 and 7, GAPS 4.4 and 6.2), and beside them the sampling
 * lists of the trading API, which are served from the same catalog.
 *
 * A request is answered from the generation it began with. What it asks for is checked first, then
 * whether the caller has the answer already, and only then are rows selected and fragments joined.
 *
 * Thread: the I/O thread. Non-goals: which generation is current, rate limits.
 */
import type { Route } from '../http/http.ts';
import {
  type Answerer,
  CatalogAnswers,
  refuseBadRequest,
  refuseUnknown,
  type Shown,
} from './catalog-answers.ts';
import type { Generation } from './generation.ts';
import type { PreparedCatalog, TextIndex } from './prepared.ts';
import {
  type CatalogQuery,
  decodePath,
  EVENT_PARAMETERS,
  MARKET_PARAMETERS,
  PAGED_PARAMETERS,
  type Parameters,
  parseQuery,
  SEARCH_PARAMETERS,
  SINGLE_PARAMETERS,
} from './query.ts';
import {
  type FoundPage,
  renderEvent,
  renderEvents,
  renderFound,
  renderMarket,
  renderMarkets,
  renderSeries,
  renderTag,
  renderTags,
} from './render.ts';
import { samplingRoutes } from './sampling-routes.ts';
import {
  NONE,
  newestOf,
  rowOfId,
  rowsNamed,
  scopeOf,
  selectEvents,
  selectMarkets,
  selectOwners,
} from './select.ts';
import type { CreatorScope } from './select-creator.ts';

/** Body of a 500 of the catalog API (GAPS 6.2). */
export const CATALOG_FAILURE = '{"type":"internal error","error":"internal error"}';
const SEARCH_BUSY = '{"type":"unavailable","error":"too many searches are waiting"}';
const RETRY_SOON = [['Retry-After', '1']] as const;

const DIGITS = /^[0-9]+$/;
const CONDITION_ID = /^0x[0-9a-f]{64}$/i;

/** Every route that is answered from the catalog. */
export function catalogRoutes(parts: { readonly generation: () => Generation }): Route[] {
  const answers = new CatalogAnswers(parts.generation);
  const routes = [
    ...marketRoutes(answers),
    ...eventRoutes(answers),
    ...seriesRoutes(answers),
    ...tagRoutes(answers),
    searchRoute(answers),
  ];
  return [
    ...routes.map((route) => ({ ...route, failure: () => CATALOG_FAILURE })),
    ...samplingRoutes(answers),
  ];
}

function marketRoutes(answers: CatalogAnswers): Route[] {
  const { writer, page } = answers;
  const render: Single['render'] = (catalog, row) => renderMarket(writer, catalog, row);
  const isKept: IsKept = (_, row, scope) => scope.hasMarket(row);
  return [
    list(answers, '/markets', MARKET_PARAMETERS, (generation, query) => {
      selectMarkets(generation, query, page);
      return renderMarkets(writer, generation.prepared, page);
    }),
    single(answers, '/markets/:id', {
      key: 'id',
      find: ({ markets }, id) => {
        if (DIGITS.test(id)) return numbered(rowOfId(markets.ids, Number(id)));
        return CONDITION_ID.test(id) ? rowsNamed(markets.conditions, id.toLowerCase()) : NO_ROWS;
      },
      isKept,
      render,
    }),
    single(answers, '/markets/slug/:slug', {
      key: 'slug',
      find: ({ markets }, slug) => rowsWithSlug(markets, slug),
      isKept,
      render,
    }),
  ];
}

function eventRoutes(answers: CatalogAnswers): Route[] {
  const { writer, page } = answers;
  const render: Single['render'] = (catalog, row, scope) =>
    renderEvent(writer, catalog, row, scope);
  const isKept: IsKept = (_, row, scope) => scope.hasEvent(row);
  return [
    list(answers, '/events', EVENT_PARAMETERS, (generation, query) => {
      selectEvents(generation, query, page);
      return renderEvents(writer, generation.prepared, page);
    }),
    single(answers, '/events/:id', {
      key: 'id',
      find: ({ events }, id) => rowsWithId(events, id),
      isKept,
      render,
    }),
    single(answers, '/events/slug/:slug', {
      key: 'slug',
      find: ({ events }, slug) => rowsWithSlug(events, slug),
      isKept,
      render,
    }),
  ];
}

function seriesRoutes(answers: CatalogAnswers): Route[] {
  const { writer, page } = answers;
  return [
    list(answers, '/series', PAGED_PARAMETERS, ({ prepared: catalog }, query) => {
      const scope = scopeOf(catalog, query);
      selectOwners(catalog.series, scope, query, page);
      return renderSeries(writer, catalog, page, scope);
    }),
  ];
}

function tagRoutes(answers: CatalogAnswers): Route[] {
  const { writer, page } = answers;
  const render: Single['render'] = (catalog, row) => renderTag(writer, catalog, row);
  const isKept: IsKept = ({ tags }, row, scope) => scope.hasEventOf(tags.events, row);
  return [
    list(
      answers,
      '/tags',
      PAGED_PARAMETERS,
      ({ prepared: catalog }, query) => {
        selectOwners(catalog.tags, scopeOf(catalog, query), query, page);
        return renderTags(writer, catalog, page);
      },
      'texts',
    ),
    single(answers, '/tags/:id', {
      key: 'id',
      find: ({ tags }, id) => rowsWithId(tags, id),
      isKept,
      render,
      shown: 'texts',
    }),
    single(answers, '/tags/slug/:slug', {
      key: 'slug',
      find: ({ tags }, slug) => rowsWithSlug(tags, slug),
      isKept,
      render,
      shown: 'texts',
    }),
  ];
}

function searchRoute(answers: CatalogAnswers): Route {
  return answers.route('/public-search', async (exchange, served) => {
    const query = parseQuery(exchange.query, SEARCH_PARAMETERS);
    if (typeof query === 'string') return refuseBadRequest(exchange, query);
    if (query.q.trim() === '') return refuseBadRequest(exchange, 'q must not be blank');
    if (answers.confirm(exchange, served)) return;
    const { prepared } = served.generation;
    const searching = served.generation.search(query.q);
    if (searching === undefined) return exchange.reply(503, SEARCH_BUSY, RETRY_SOON);
    const found = await searching;
    const scope = scopeOf(prepared, query);
    const page = foundPage(prepared, found, query, scope);
    const answer = renderFound(answers.writer, prepared, page, scope);
    return answers.send(exchange, answers.renewed(served), answer);
  });
}

/** The page of what a search found that a query asks for; tags are paged as events are. */
function foundPage(
  { tags }: PreparedCatalog,
  found: { readonly events: Uint32Array; readonly tags: Uint32Array },
  query: CatalogQuery,
  scope: CreatorScope | undefined,
): FoundPage {
  const start = (query.page - 1) * query.limit;
  const end = start + query.limit;
  let foundTags = query.searchTags === 1 ? found.tags : NO_ROWS;
  let events = found.events;
  if (scope !== undefined) {
    events = events.filter((row) => scope.hasEvent(row));
    foundTags = foundTags.filter((row) => scope.hasEventOf(tags.events, row));
  }
  return {
    events: events.slice(start, end),
    tags: foundTags.slice(start, end),
    totalResults: events.length,
    hasMore: end < events.length,
  };
}

/** A list route: its parameters, and the joined answer to a checked query. */
function list(
  answers: CatalogAnswers,
  path: string,
  parameters: Parameters,
  answer: (generation: Generation, query: CatalogQuery) => Uint8Array,
  shown?: Shown,
): Route {
  const run: Answerer = (exchange, served) => {
    const query = parseQuery(exchange.query, parameters);
    if (typeof query === 'string') return refuseBadRequest(exchange, query);
    if (answers.confirm(exchange, served)) return;
    return answers.send(exchange, served, answer(served.generation, query));
  };
  return answers.route(path, run, shown);
}

type IsKept = (catalog: PreparedCatalog, row: number, scope: CreatorScope) => boolean;

/** What a route of single objects looks up. */
interface Single {
  readonly key: 'id' | 'slug';
  /** The rows under a part of the path, ascending; undefined where it is no key at all. */
  readonly find: (catalog: PreparedCatalog, part: string) => Uint32Array | undefined;
  readonly isKept: IsKept;
  readonly render: (
    catalog: PreparedCatalog,
    row: number,
    scope: CreatorScope | undefined,
  ) => Uint8Array;
  readonly shown?: Shown;
}

/** A route of single objects; of several under one slug the newest is answered. */
function single(answers: CatalogAnswers, path: string, wanted: Single): Route {
  const { key, find, isKept, render, shown } = wanted;
  const run: Answerer = (exchange, served) => {
    const query = parseQuery(exchange.query, SINGLE_PARAMETERS);
    if (typeof query === 'string') return refuseBadRequest(exchange, query);
    const catalog = served.generation.prepared;
    const rows = find(catalog, decodePath(exchange.parameters[0]!) ?? '');
    if (rows === undefined) return refuseBadRequest(exchange, `${key} must be a whole number`);
    const scope = scopeOf(catalog, query);
    const row = newestOf(rows, (found) => scope === undefined || isKept(catalog, found, scope));
    if (row === NONE) return refuseUnknown(exchange, key);
    if (answers.confirm(exchange, served)) return;
    return answers.send(exchange, served, render(catalog, row, scope));
  };
  return answers.route(path, run, shown);
}

const NO_ROWS = new Uint32Array(0);

function numbered(row: number): Uint32Array {
  return row === NONE ? NO_ROWS : Uint32Array.of(row);
}

/** Undefined where the part is no whole number (SPEC 4.2: the id of an event is an integer). */
function rowsWithId(objects: { readonly ids: Float64Array }, id: string): Uint32Array | undefined {
  return DIGITS.test(id) ? numbered(rowOfId(objects.ids, Number(id))) : undefined;
}

/** Objects without a slug cannot be looked up by it. */
function rowsWithSlug(objects: { readonly slugs: TextIndex }, slug: string): Uint32Array {
  return slug === '' ? NO_ROWS : rowsNamed(objects.slugs, slug);
}
