/**
 * The rows of the route table that the catalog answers (route-table.ts).
 *
 * Thread: any.
 */
import {
  EVENT_PARAMETERS,
  MARKET_PARAMETERS,
  PAGED_PARAMETERS,
  querySpec,
  SAMPLING_PARAMETERS,
  SEARCH_PARAMETERS,
  SINGLE_PARAMETERS,
} from './catalog/query.ts';
import {
  EventAnswer,
  MarketAnswer,
  SamplingAnswer,
  SearchAnswer,
  SeriesAnswer,
  SimplifiedSamplingAnswer,
  TagAnswer,
  WholeEventAnswer,
} from './catalog/schemas.ts';
import { Type } from './common/schema.ts';
import type { RouteRow } from './route-row.ts';

const catalog = { api: 'catalog', access: 'none', bodyMax: 'none', body: undefined } as const;
const single = { ...catalog, limits: ['catalog'], query: querySpec(SINGLE_PARAMETERS) } as const;
const sampling = {
  ...catalog,
  api: 'trading',
  limits: ['trading'],
  query: querySpec(SAMPLING_PARAMETERS),
} as const;

export const CATALOG_ROUTES = {
  'GET /markets': {
    ...catalog,
    limits: ['markets', 'listing', 'catalog'],
    query: querySpec(MARKET_PARAMETERS),
    answer: Type.Array(MarketAnswer),
    does: 'markets, newest first: the parameters are below',
  },
  'GET /markets/:id': {
    ...single,
    answer: MarketAnswer,
    does: 'one market, by its number or its condition id',
  },
  'GET /markets/slug/:slug': { ...single, answer: MarketAnswer, does: 'one market' },
  'GET /events': {
    ...catalog,
    limits: ['events', 'listing', 'catalog'],
    query: querySpec(EVENT_PARAMETERS),
    answer: Type.Array(EventAnswer),
    does: 'events with their tags',
  },
  'GET /events/:id': {
    ...single,
    answer: WholeEventAnswer,
    does: 'one event with tags, markets, series and `eventMetadata`',
  },
  'GET /events/slug/:slug': { ...single, answer: WholeEventAnswer, does: 'the same' },
  'GET /series': {
    ...catalog,
    limits: ['catalog'],
    query: querySpec(PAGED_PARAMETERS),
    answer: Type.Array(SeriesAnswer),
    does: 'series with the summaries of their events',
  },
  'GET /tags': {
    ...catalog,
    limits: ['tags', 'catalog'],
    query: querySpec(PAGED_PARAMETERS),
    answer: Type.Array(TagAnswer),
    does: 'tags',
  },
  'GET /tags/:id': { ...single, answer: TagAnswer, does: 'one tag' },
  'GET /tags/slug/:slug': { ...single, answer: TagAnswer, does: 'one tag' },
  'GET /public-search': {
    ...catalog,
    limits: ['search', 'catalog'],
    query: querySpec(SEARCH_PARAMETERS),
    answer: SearchAnswer,
    does: 'events and tags: `q limit_per_type page search_tags creator`',
  },
  'GET /sampling-markets': {
    ...sampling,
    answer: SamplingAnswer,
    does: 'open markets by cursor: `next_cursor`, 1000 a page, `LTE=` at the end',
  },
  'GET /sampling-simplified-markets': {
    ...sampling,
    answer: SimplifiedSamplingAnswer,
    does: 'the same, in short',
  },
} as const satisfies Readonly<Record<string, RouteRow>>;
