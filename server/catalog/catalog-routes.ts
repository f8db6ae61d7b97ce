/**
 * The routes of the catalog API (docs/protocol.md#catalog-queries), and the sampling lists of the
 * trading API, which are served from the same catalog.
 *
 * A request is answered from the generation with which it began. First its query is checked, then
 * whether the caller already has the answer; only then are rows selected and fragments joined.
 *
 * Thread: the I/O thread. Non-goals: which generation is current, rate limits.
 */

import { typedErrorBody } from '../common/error-bodies.ts';
import { RETRY_SOON } from '../common/unavailable.ts';
import type { Rendered } from './answer-writer.ts';
import {
  CatalogAnswers,
  type CatalogRoute,
  type CheckedRequest,
  type ParsedRoute,
  refuseUnknown,
} from './catalog-answers.ts';
import type { Generation } from './generation.ts';
import { badRequest, type CatalogErrors, PARAMETERS, type Parameters } from './parameters.ts';
import type { PreparedCatalog } from './prepared.ts';
import type { CatalogQuery } from './query.ts';
import { isSortedFor, type Ranked, type Ranking, Rankings, rankingOf } from './rankings.ts';
import { type FoundPage, Renderer } from './render.ts';
import { samplingRoutes } from './sampling-routes.ts';
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

/** Body of a 500 of the catalog API (docs/protocol.md#catalog-errors). */
export const CATALOG_FAILURE = typedErrorBody('internal error', 'internal error');
const SEARCH_BUSY = typedErrorBody('unavailable', 'too many searches are waiting');

const DIGITS = /^[0-9]+$/;
const CONDITION_ID = /^0x[0-9a-f]{64}$/i;
/** The cursor of a keyset list: an object and its rank. */
const PLACE = /^(\d{1,15})\.(\d{1,10})$/;
/** Always empty: the node has no market makers apart from its traders. */
const CLIENT_MEMBERS = Buffer.from(`,"${CLIENT_MEMBER}":""`);

/** Whether each kind is shown with figures. */
const SHOWN = { markets: 'figures', events: 'figures', series: 'figures', tags: 'texts' } as const;

export interface CatalogParts {
  readonly generation: () => Generation;
  /**
   * Events in lists and searches contain their markets, and markets contain members that some
   * clients require.
   */
  readonly forClients?: boolean;
  /** What a 400 says first; one without `q` in a search always says that. */
  readonly errors?: CatalogErrors;
}

/** Every route that is answered from the catalog. */
export function catalogRoutes(parts: CatalogParts): ParsedRoute[] {
  const answers = new CatalogAnswers(parts.generation, parts.errors);
  const routes = new CatalogRoutes(answers, parts);
  return [
    ...routes.all().map((each) => ({ ...answers.route(each), failure: () => CATALOG_FAILURE })),
    ...samplingRoutes(answers).map((each) => answers.route(each)),
  ];
}

class CatalogRoutes {
  private readonly answers: CatalogAnswers;
  private readonly forClients: boolean;
  private readonly rankings = new Rankings();

  constructor(answers: CatalogAnswers, { forClients = false }: CatalogParts) {
    this.answers = answers;
    this.forClients = forClients;
  }

  all(): CatalogRoute[] {
    return [
      this.list('markets', PARAMETERS.markets),
      this.keyset('markets'),
      this.single('markets', '/markets/:id', PARAMETERS.market),
      this.single('markets', '/markets/slug/:slug', PARAMETERS.market),
      this.tagsOf('markets'),
      this.list('events', PARAMETERS.events),
      this.keyset('events'),
      this.single('events', '/events/:id'),
      this.single('events', '/events/slug/:slug'),
      this.tagsOf('events'),
      this.list('series', PARAMETERS.paged),
      this.single('series', '/series/:id'),
      this.list('tags', PARAMETERS.paged),
      this.single('tags', '/tags/:id'),
      this.single('tags', '/tags/slug/:slug'),
      ...['/tags/:id', '/tags/slug/:slug'].flatMap((path) => [
        this.related(`${path}/related-tags`, false),
        this.related(`${path}/related-tags/tags`, true),
      ]),
      this.search(),
    ];
  }

  private render(
    { context, query, served }: CheckedRequest,
    withMarkets = this.forClients,
  ): Renderer {
    const { prepared } = served.generation;
    const members = this.forClients ? CLIENT_MEMBERS : undefined;
    const isGone = (): boolean => context.aborted;
    return new Renderer(this.answers.writer, prepared, query, members, withMarkets, isGone);
  }

  private list(kind: Kind, parameters: Parameters): CatalogRoute {
    const { page } = this.answers;
    const answer = (request: CheckedRequest) => {
      const { query, served } = request;
      return this.ranked(kind, request, (ranking) => {
        select(kind, served.generation, query, page, ranking);
        return this.render(request).list(kind, page.shown().slice());
      });
    };
    return { path: `/${kind}`, parameters, answer, shown: SHOWN[kind] };
  }

  /** Pages by cursor: each begins after the last object of the page before. */
  private keyset(kind: 'markets' | 'events'): CatalogRoute {
    const { page } = this.answers;
    const answer = (request: CheckedRequest) => {
      const { context, query, served } = request;
      const behind = placeOf(query.cursor);
      if (behind === null)
        return this.answers.refuse(context, 'after_cursor must be a next_cursor');
      const { prepared } = served.generation;
      return this.ranked(kind, request, (ranking) => {
        // One row more than is shown: if it exists, there is a next page.
        query.limit += 1;
        select(kind, served.generation, query, page, ranking, behind);
        const rows = page.shown().slice();
        const nextOf = (shown: number): string | undefined => {
          if (shown === rows.length) return undefined;
          const row = rows[shown - 1]!;
          return cursorOf({ id: prepared[kind].ids[row]!, rank: ranking.rankOf(row) });
        };
        const most = rows.subarray(0, query.limit - 1);
        return this.render(request, true).keyset(kind, most, nextOf);
      });
    };
    return { path: `/${kind}/keyset`, parameters: PARAMETERS[`${kind}Keyset`], answer };
  }

  /** Answers a list: at once, or after it was sorted, which takes some turns of the event loop. */
  private ranked(
    kind: Kind,
    request: CheckedRequest,
    render: (ranking: Ranking) => Rendered,
  ): (() => Rendered) | undefined | Promise<void> {
    const { query, served } = request;
    const { generation } = served;
    if (!isSortedFor(kind, generation, query)) {
      return () => render(rankingOf(kind, generation, query));
    }
    if (this.answers.confirm(request)) return undefined;
    return this.rankedLater(kind, request, render);
  }

  private async rankedLater(
    kind: Kind,
    request: CheckedRequest,
    render: (ranking: Ranking) => Rendered,
  ): Promise<void> {
    const ranked = await this.sort(kind, request);
    if (ranked === undefined) return;
    return this.answers.respond(request, render(ranked.ranking), ranked.etag);
  }

  private sort(
    kind: Kind,
    { context, query, served }: CheckedRequest,
  ): Promise<Ranked | undefined> {
    return this.rankings.sort(kind, served.generation, query, () => context.aborted);
  }

  private single(kind: Kind, path: string, parameters: Parameters = PARAMETERS.single) {
    return this.found(kind, path, parameters, (renderer, row) => renderer.single(kind, row));
  }

  private tagsOf(kind: 'markets' | 'events'): CatalogRoute {
    const answer: Answer = (renderer, row, { markets }) =>
      renderer.tagsOf(kind === 'events' ? row : markets.event[row]!);
    const route = this.found(kind, `/${kind}/:id/tags`, PARAMETERS.single, answer);
    return { ...route, shown: 'texts' };
  }

  /** @param isWhole true: the tags are shown; false: their relations */
  private related(path: string, isWhole: boolean): CatalogRoute {
    return this.found('tags', path, PARAMETERS.single, (renderer, row, catalog) => {
      const { ids } = catalog.tags;
      const rows = relatedTags(catalog, Uint32Array.of(row));
      if (isWhole) return renderer.list('tags', Uint32Array.from(rows));
      const relations = rows.map((related, place) => {
        const [tagID, relatedTagID] = [ids[row]!, ids[related]!];
        return { id: `${tagID}-${relatedTagID}`, tagID, relatedTagID, rank: place + 1 };
      });
      return Buffer.from(JSON.stringify(relations));
    });
  }

  private search(): CatalogRoute {
    const answer = async (request: CheckedRequest): Promise<void> => {
      const { context, query, served } = request;
      if (query.q.trim() === '') return context.reply(400, badRequest('q must not be blank'));
      if (this.answers.confirm(request)) return;
      const { generation } = served;
      const searching = generation.search(query.q);
      if (searching === undefined) return context.reply(503, SEARCH_BUSY, RETRY_SOON);
      const found = await searching;
      const ranked = isSortedFor('events', generation, query)
        ? await this.sort('events', request)
        : { ranking: rankingOf('events', generation, query), etag: generation.figures.etag };
      if (ranked === undefined) return;
      const renderer = this.render(request);
      const page = foundPage(generation, found, query, ranked.ranking, renderer.scope);
      const bytes = renderer.found(page);
      return this.answers.respond(request, bytes, ranked.etag);
    };
    return { path: '/public-search', parameters: PARAMETERS.search, answer };
  }

  /** The routes for one object; if several share a slug, the newest is returned. */
  private found(kind: Kind, path: string, parameters: Parameters, bytesOf: Answer): CatalogRoute {
    const key = path.includes('/:slug') ? 'slug' : 'id';
    const answer = (request: CheckedRequest) => {
      const { context, served } = request;
      const catalog = served.generation.prepared;
      const part = decodePath(context.parameters[0]!) ?? '';
      const rows = rowsUnder(catalog, kind, key, part);
      if (rows === undefined) return this.answers.refuse(context, `${key} must be a whole number`);
      const renderer = this.render(request);
      // Of several objects with one slug the newest is returned.
      const row = rows.findLast((each) => renderer.scope?.has(kind, each) !== false);
      if (row === undefined) return refuseUnknown(context, key);
      return () => bytesOf(renderer, row, catalog);
    };
    return { path, parameters, answer, shown: SHOWN[kind] };
  }
}

type Answer = (renderer: Renderer, row: number, catalog: PreparedCatalog) => Rendered;

/**
 * The rows for a part of a path, ascending; undefined when it is not a valid key: the id of an
 * event is an integer (docs/protocol.md#catalog-queries).
 */
function rowsUnder(
  catalog: PreparedCatalog,
  kind: Kind,
  key: 'id' | 'slug',
  part: string,
): Uint32Array | undefined {
  if (key === 'slug') return rowsOf(catalog, kind, key, [part]);
  if (DIGITS.test(part)) return rowsOf(catalog, kind, key, [Number(part)]);
  if (kind !== 'markets') return undefined;
  const isCondition = CONDITION_ID.test(part);
  return isCondition ? rowsOf(catalog, kind, 'conditionId', [keyOf('number', part)]) : NO_ROWS;
}

/** The requested page of search results; tags are paged like events. */
function foundPage(
  generation: Generation,
  found: { readonly events: Uint32Array; readonly tags: Uint32Array },
  query: CatalogQuery,
  ranking: Ranking,
  scope: CreatorScope | undefined,
): FoundPage {
  const start = (query.page - 1) * query.limit;
  const end = start + query.limit;
  let foundTags = query.searchTags === 1 ? found.tags : NO_ROWS;
  if (scope !== undefined) {
    foundTags = foundTags.filter((row) => scope.has('tags', row));
  }
  const filter = new RowFilter('events', generation, query, Number.POSITIVE_INFINITY);
  let { events } = found;
  if (!filter.isOpen) events = events.filter((row) => filter.matches(row));
  if (query.order.length > 0) {
    events = events.map((row) => ranking.rankOf(row)).sort();
    events = events.map((rank) => ranking.rowAt(rank));
  } else if (query.ascending === 1) events = events.toReversed();
  return {
    events: events.slice(start, end),
    tags: foundTags.slice(start, end),
    totalResults: events.length,
    hasMore: end < events.length,
  };
}

function cursorOf({ id, rank }: RankCursor): string {
  return Buffer.from(`${id}.${rank}`).toString('base64url');
}

/** Undefined for the first page, null when the text is not a cursor. */
function placeOf(cursor: string): RankCursor | undefined | null {
  if (cursor === '') return undefined;
  const match = PLACE.exec(Buffer.from(cursor, 'base64url').toString('latin1'));
  return match === null ? null : { id: Number(match[1]), rank: Number(match[2]) };
}

/** A part of a path, where `+` is itself; undefined for what is not percent-encoded UTF-8. */
function decodePath(part: string): string | undefined {
  if (!part.includes('%')) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
