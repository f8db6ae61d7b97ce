/**
 * The routes of the catalog API (docs/protocol.md#catalog-queries).
 *
 * A request is answered from the generation with which it began. First its query is checked, then
 * whether the caller already has the answer; only then are rows selected and fragments joined.
 *
 * Thread: the I/O thread. Non-goals: which generation is current, rate limits.
 */

import { CONDITION_PATTERN } from '../../storage/catalog/condition-ids.ts';
import { typedErrorBody } from '../common/error-bodies.ts';
import { Type } from '../common/schema.ts';
import { RETRY_SOON } from '../common/unavailable.ts';
import { type RawHandler, type RouteDefinition, rawRoute, SAME } from '../http/route.ts';
import {
  CatalogAnswers,
  type CheckedRequest,
  type Rendered,
  refuseUnknown,
  type Shown,
} from './catalog-answers.ts';
import type { CatalogGeneration } from './catalog-generation.ts';
import { badRequest, type CatalogErrors, PARAMETERS, type Parameters } from './parameters.ts';
import type { PreparedCatalog } from './prepared.ts';
import type { CatalogQuery } from './query.ts';
import { isSortedFor, type Ranked, type Ranking, Rankings, rankingOf } from './rankings.ts';
import { type FoundPage, Renderer } from './render.ts';
import {
  EventAnswer,
  EventsKeysetAnswer,
  MarketAnswer,
  MarketsKeysetAnswer,
  RelatedTagsAnswer,
  SearchAnswer,
  SeriesAnswer,
  TagAnswer,
  WholeEventAnswer,
} from './schemas.ts';
import type { SearchRows } from './search-index.ts';
import {
  type CreatorScope,
  type RankCursor,
  RowFilter,
  relatedTags,
  rowsOf,
  select,
} from './select.ts';
import { CLIENT_MEMBER, type Kind } from './shape.ts';
import { keyOf, NO_ROWS } from './text-index.ts';
import { TradingMarketAnswer, TradingMarketsAnswer } from './trading-schemas.ts';

export const CATALOG_FAILURE = typedErrorBody(
  'internal error',
  'INTERNAL_ERROR',
  '',
  'internal error',
);
const SEARCH_BUSY = typedErrorBody(
  'unavailable',
  'TOO_MANY_IN_FLIGHT',
  '',
  'too many searches are waiting',
);

/** Rows of a kind that a search ranks: four pages of the usual size, or the largest page. */
const RANKED = [100, 500];

const DIGITS = /^[0-9]+$/;
const PLACE = /^(\d{1,15})\.(\d{1,10})$/;
/** Always empty: the node has no market makers apart from its traders. */
const CLIENT_MEMBERS = Buffer.from(`,"${CLIENT_MEMBER}":""`);

const SHOWN = {
  markets: 'statistics',
  events: 'statistics',
  series: 'statistics',
  tags: 'texts',
} as const;

export interface CatalogParts {
  readonly generation: () => CatalogGeneration;
  /**
   * True: events in lists and searches contain their markets, and markets the members that some
   * clients require.
   */
  readonly forClients?: boolean;
  /** First words of a 400; a search without `q` always has the literal. */
  readonly errors?: CatalogErrors;
}

type CatalogDefinition = Omit<RouteDefinition, 'api' | 'tagged'>;

export const CATALOG_ROUTES = [
  catalogRoute(
    'GET /markets',
    {
      query: PARAMETERS.markets,
      answer: Type.Array(MarketAnswer),
      limits: ['markets', 'listing', 'catalog'],
      configured: ({ marketRoutes }) =>
        marketRoutes === 'catalog'
          ? {}
          : { answer: Type.Union([Type.Array(MarketAnswer), TradingMarketsAnswer]) },
      does: 'markets, newest first',
    },
    (answers) => answers.list('markets', PARAMETERS.markets),
  ),
  catalogRoute(
    'GET /markets/keyset',
    {
      query: PARAMETERS.marketsKeyset,
      answer: MarketsKeysetAnswer,
      limits: ['markets', 'listing', 'catalog'],
      repeats: true,
      does: 'the same by cursor: `{"markets": [..], "next_cursor": ".."}`',
    },
    (answers) => answers.keyset('markets'),
  ),
  catalogRoute(
    'GET /markets/:id',
    {
      query: PARAMETERS.market,
      answer: MarketAnswer,
      configured: ({ marketRoutes }) =>
        marketRoutes === 'catalog'
          ? {}
          : { answer: Type.Union([MarketAnswer, TradingMarketAnswer]) },
      does: 'one market, by its number or its condition id',
    },
    (answers) => answers.single('markets', 'id', PARAMETERS.market),
  ),
  catalogRoute(
    'GET /markets/slug/:slug',
    { query: PARAMETERS.market, answer: MarketAnswer, does: 'one market' },
    (answers) => answers.single('markets', 'slug', PARAMETERS.market),
  ),
  catalogRoute(
    'GET /markets/:id/tags',
    { query: PARAMETERS.single, answer: Type.Array(TagAnswer), does: 'its tags' },
    (answers) => answers.tagsOf('markets'),
  ),
  catalogRoute(
    'GET /events',
    {
      query: PARAMETERS.events,
      answer: Type.Array(EventAnswer),
      limits: ['events', 'listing', 'catalog'],
      does: 'events with their tags',
    },
    (answers) => answers.list('events', PARAMETERS.events),
  ),
  catalogRoute(
    'GET /events/keyset',
    {
      query: PARAMETERS.eventsKeyset,
      answer: EventsKeysetAnswer,
      limits: ['events', 'listing', 'catalog'],
      repeats: true,
      does: 'the same by cursor, with their markets: `{"events": [..], "next_cursor": ".."}`',
    },
    (answers) => answers.keyset('events'),
  ),
  catalogRoute(
    'GET /events/:id',
    {
      query: PARAMETERS.single,
      answer: WholeEventAnswer,
      does: 'one event with tags, markets, series and `eventMetadata`',
    },
    (answers) => answers.single('events', 'id', PARAMETERS.single),
  ),
  catalogRoute(
    'GET /events/slug/:slug',
    { query: PARAMETERS.single, answer: WholeEventAnswer, repeats: true, does: SAME },
    (answers) => answers.single('events', 'slug', PARAMETERS.single),
  ),
  catalogRoute(
    'GET /events/:id/tags',
    { query: PARAMETERS.single, answer: Type.Array(TagAnswer), does: 'its tags' },
    (answers) => answers.tagsOf('events'),
  ),
  catalogRoute(
    'GET /series',
    {
      query: PARAMETERS.paged,
      answer: Type.Array(SeriesAnswer),
      does: 'series with the summaries of their events',
    },
    (answers) => answers.list('series', PARAMETERS.paged),
  ),
  catalogRoute(
    'GET /series/:id',
    { query: PARAMETERS.single, answer: SeriesAnswer, does: 'one series' },
    (answers) => answers.single('series', 'id', PARAMETERS.single),
  ),
  catalogRoute(
    'GET /tags',
    {
      query: PARAMETERS.paged,
      answer: Type.Array(TagAnswer),
      limits: ['tags', 'catalog'],
      does: 'tags',
    },
    (answers) => answers.list('tags', PARAMETERS.paged),
  ),
  catalogRoute(
    'GET /tags/:id',
    { query: PARAMETERS.single, answer: TagAnswer, does: 'one tag' },
    (answers) => answers.single('tags', 'id', PARAMETERS.single),
  ),
  catalogRoute(
    'GET /tags/slug/:slug',
    { query: PARAMETERS.single, answer: TagAnswer, does: 'one tag' },
    (answers) => answers.single('tags', 'slug', PARAMETERS.single),
  ),
  catalogRoute(
    'GET /tags/:id/related-tags',
    {
      query: PARAMETERS.single,
      answer: RelatedTagsAnswer,
      does: 'the tags of which at least half of the events carry it too: how they are related',
    },
    (answers) => answers.relations('id'),
  ),
  catalogRoute(
    'GET /tags/:id/related-tags/tags',
    { query: PARAMETERS.single, answer: Type.Array(TagAnswer), does: 'these tags themselves' },
    (answers) => answers.related('id'),
  ),
  catalogRoute(
    'GET /tags/slug/:slug/related-tags',
    { query: PARAMETERS.single, answer: RelatedTagsAnswer, repeats: true, does: SAME },
    (answers) => answers.relations('slug'),
  ),
  catalogRoute(
    'GET /tags/slug/:slug/related-tags/tags',
    { query: PARAMETERS.single, answer: Type.Array(TagAnswer), repeats: true, does: SAME },
    (answers) => answers.related('slug'),
  ),
  catalogRoute(
    'GET /public-search',
    {
      query: PARAMETERS.search,
      answer: SearchAnswer,
      limits: ['search', 'catalog'],
      does: 'events and tags',
    },
    (answers) => answers.search(),
  ),
];

function catalogRoute<const Key extends `GET /${string}`>(
  key: Key,
  definition: CatalogDefinition,
  handler: (answers: CatalogHandlers) => RawHandler,
) {
  return rawRoute(key, { ...definition, api: 'catalog', tagged: true }, handler);
}

export class CatalogHandlers {
  readonly answers: CatalogAnswers;
  private readonly forClients: boolean;
  private readonly rankings = new Rankings();

  constructor({ errors, forClients = false, generation }: CatalogParts) {
    this.answers = new CatalogAnswers(generation, errors);
    this.forClients = forClients;
  }

  private render({ query, served }: CheckedRequest, withMarkets = this.forClients): Renderer {
    const { prepared } = served.generation;
    const members = this.forClients ? CLIENT_MEMBERS : undefined;
    return new Renderer(this.answers.writer, prepared, query, members, withMarkets);
  }

  list(kind: Kind, parameters: Parameters): RawHandler {
    const answer = (request: CheckedRequest) => {
      const { query, served } = request;
      return this.ranked(kind, request, (ranking) => {
        return this.render(request).list(kind, select(kind, served.generation, query, ranking));
      });
    };
    return this.answers.handler({ parameters, answer, shown: SHOWN[kind] });
  }

  keyset(kind: 'markets' | 'events'): RawHandler {
    const answer = (request: CheckedRequest) => {
      const { context, query, served } = request;
      const behind = placeOf(query.cursor);
      if (behind === null)
        return this.answers.refuse(context, 'after_cursor must be a next_cursor');
      const { prepared } = served.generation;
      return this.ranked(kind, request, (ranking) => {
        // One row more than is shown: if it exists, there is a next page.
        const limit = query.limit + 1;
        const rows = select(kind, served.generation, { ...query, limit }, ranking, behind);
        const nextOf = (shown: number): string | undefined => {
          if (shown === rows.length) return undefined;
          const row = rows[shown - 1]!;
          return cursorOf({ id: prepared[kind].ids[row]!, rank: ranking.rankOf(row) });
        };
        const most = rows.subarray(0, query.limit);
        return this.render(request, true).keyset(kind, most, nextOf);
      });
    };
    return this.answers.handler({ parameters: PARAMETERS[`${kind}Keyset`], answer });
  }

  private ranked(
    kind: Kind,
    request: CheckedRequest,
    render: (ranking: Ranking) => Rendered,
  ): (() => Rendered) | undefined | Promise<void> {
    const { context, query } = request;
    const { generation } = request.served;
    if (!isSortedFor(query)) return () => render(rankingOf(kind, generation, query));
    if (this.answers.confirm(request)) return undefined;
    return this.rankings
      .sort(kind, generation, query, () => context.aborted)
      .then(
        (ranked) => ranked && this.answers.respond(request, render(ranked.ranking), ranked.etag),
      );
  }

  single(kind: Kind, by: PathKey, parameters: Parameters): RawHandler {
    return this.found(kind, by, (renderer, row) => renderer.single(kind, row), parameters);
  }

  tagsOf(kind: 'markets' | 'events'): RawHandler {
    const answer: Answer = (renderer, row, { markets }) =>
      renderer.tagsOf(kind === 'events' ? row : markets.event[row]!);
    return this.found(kind, 'id', answer, PARAMETERS.single, 'texts');
  }

  related(by: PathKey): RawHandler {
    return this.found('tags', by, (renderer, row, catalog) =>
      renderer.list('tags', Uint32Array.from(relatedTags(catalog, Uint32Array.of(row)))),
    );
  }

  relations(by: PathKey): RawHandler {
    return this.found('tags', by, (_renderer, row, catalog) => {
      const { ids } = catalog.tags;
      const rows = relatedTags(catalog, Uint32Array.of(row));
      const relations = rows.map((related, place) => {
        const [tagID, relatedTagID] = [ids[row]!, ids[related]!];
        return { id: `${tagID}-${relatedTagID}`, tagID, relatedTagID, rank: place + 1 };
      });
      return Buffer.from(JSON.stringify(relations));
    });
  }

  search(): RawHandler {
    const answer = (request: CheckedRequest) => {
      const { context, query, served } = request;
      if (query.q.trim() === '') return context.reply(400, badRequest('q must not be blank'));
      if (this.answers.confirm(request)) return undefined;
      const found = served.generation.search(query.q, rankedFor(query));
      if (found === undefined) return context.reply(503, SEARCH_BUSY, RETRY_SOON);
      if (found instanceof Promise) return found.then((rows) => this.respondFound(request, rows));
      return this.respondFound(request, found);
    };
    return this.answers.handler({ parameters: PARAMETERS.search, answer });
  }

  private respondFound(request: CheckedRequest, found: SearchRows): void | Promise<void> {
    const { context, query, served } = request;
    const { generation } = served;
    const respond = ({ etag, ranking }: Ranked): void | Promise<void> => {
      const renderer = this.render(request);
      const page = foundPage(generation, found, query, ranking, renderer.scope);
      return this.answers.respond(request, renderer.found(page), etag);
    };
    if (!isSortedFor(query)) {
      const { etag } = generation.statistics;
      return respond({ ranking: rankingOf('events', generation, query), etag });
    }
    return this.rankings
      .sort('events', generation, query, () => context.aborted)
      .then((ranked) => ranked && respond(ranked));
  }

  /** The routes for one object; if several share a slug, the newest is returned. */
  private found(
    kind: Kind,
    key: PathKey,
    bytesOf: Answer,
    parameters = PARAMETERS.single,
    shown: Shown = SHOWN[kind],
  ): RawHandler {
    const answer = (request: CheckedRequest) => {
      const { context, served } = request;
      const catalog = served.generation.prepared;
      const part = decodePath(context.parameters[0]!) ?? '';
      const rows = rowsUnder(catalog, kind, key, part);
      if (rows === undefined) return this.answers.refuse(context, `${key} must be a whole number`);
      const renderer = this.render(request);
      const row = rows.findLast((each) => renderer.scope?.has(kind, each) !== false);
      if (row === undefined) return refuseUnknown(context, key);
      return () => bytesOf(renderer, row, catalog);
    };
    return this.answers.handler({ parameters, answer, shown });
  }
}

type PathKey = 'id' | 'slug';
type Answer = (renderer: Renderer, row: number, catalog: PreparedCatalog) => Rendered;

/**
 * Rows for a part of a path, ascending; `undefined` for an invalid key
 * (docs/protocol.md#catalog-queries).
 */
function rowsUnder(
  catalog: PreparedCatalog,
  kind: Kind,
  key: PathKey,
  part: string,
): Uint32Array | undefined {
  if (key === 'slug') return rowsOf(catalog, kind, key, [part]);
  if (DIGITS.test(part)) return rowsOf(catalog, kind, key, [Number(part)]);
  if (kind !== 'markets') return undefined;
  const isCondition = CONDITION_PATTERN.test(part);
  return isCondition ? rowsOf(catalog, kind, 'conditionId', [keyOf('condition', part)]) : NO_ROWS;
}

/** Number of rows to rank for a search: all where a page shows others than the best ones. */
function rankedFor({
  ascending,
  creator,
  flagMask,
  keys,
  limit,
  order,
  page,
  ranges,
}: CatalogQuery): number {
  const isPlain = order.length === 0 && ascending === 0;
  const isOpen = flagMask === 0 && ranges.length === 0 && keys.length === 0 && creator === '';
  const enough = RANKED.find((most) => page * limit <= most);
  return (isPlain && isOpen ? enough : undefined) ?? Number.POSITIVE_INFINITY;
}

function foundPage(
  generation: CatalogGeneration,
  found: SearchRows,
  query: CatalogQuery,
  ranking: Ranking,
  scope: CreatorScope | undefined,
): FoundPage {
  const start = (query.page - 1) * query.limit;
  const end = start + query.limit;
  let foundTags: Uint32Array = query.searchTags === 1 ? found.tags : NO_ROWS;
  if (scope !== undefined) {
    foundTags = foundTags.filter((row) => scope.has('tags', row));
  }
  const filter = new RowFilter('events', generation, query, Number.POSITIVE_INFINITY);
  let events: Uint32Array = found.events;
  let totalResults = found.eventCount;
  if (!filter.isOpen) {
    events = events.filter((row) => filter.matches(row));
    totalResults = events.length;
  }
  if (query.order.length > 0) {
    events = events.map((row) => ranking.rankOf(row)).sort();
    events = events.map((rank) => ranking.rowAt(rank));
  } else if (query.ascending === 1) events = events.toReversed();
  return {
    events: events.slice(start, end),
    tags: foundTags.slice(start, end),
    totalResults,
    hasMore: end < totalResults,
  };
}

function cursorOf({ id, rank }: RankCursor): string {
  return Buffer.from(`${id}.${rank}`).toString('base64url');
}

/** Returns `undefined` for the first page, null when the text is not a cursor. */
function placeOf(cursor: string): RankCursor | undefined | null {
  if (cursor === '') return undefined;
  const match = PLACE.exec(Buffer.from(cursor, 'base64url').toString('latin1'));
  return match === null ? null : { id: Number(match[1]), rank: Number(match[2]) };
}

/**
 * Decodes a part of a path, where `+` is itself; `undefined` for what is not percent-encoded UTF-8.
 */
function decodePath(part: string): string | undefined {
  if (!part.includes('%')) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
