/**
 * The rows of the route table that the catalog answers (route-table.ts).
 *
 * Thread: any.
 */
import { PARAMETERS } from '../catalog/parameters.ts';
import {
  EventAnswer,
  EventsKeysetAnswer,
  MarketAnswer,
  MarketsKeysetAnswer,
  RelatedTagsAnswer,
  SamplingAnswer,
  SearchAnswer,
  SeriesAnswer,
  SimplifiedSamplingAnswer,
  TagAnswer,
  WholeEventAnswer,
} from '../catalog/schemas.ts';
import { Type } from '../common/schema.ts';
import { type RouteRow, same } from './route-row.ts';

const catalog = {
  api: 'catalog',
  access: 'none',
  bodyMax: 'none',
  body: undefined,
  tagged: true,
} as const;
const single = { ...catalog, limits: ['catalog'], query: PARAMETERS.single } as const;
const market = { ...single, query: PARAMETERS.market } as const;
const sampling = {
  ...catalog,
  api: 'trading',
  limits: ['trading'],
  query: PARAMETERS.sampling,
} as const;

export const CATALOG_ROUTES = {
  'GET /markets': {
    ...catalog,
    limits: ['markets', 'listing', 'catalog'],
    query: PARAMETERS.markets,
    answer: Type.Array(MarketAnswer),
    does: 'markets, newest first',
  },
  'GET /markets/keyset': {
    ...catalog,
    limits: ['markets', 'listing', 'catalog'],
    query: PARAMETERS.marketsKeyset,
    answer: MarketsKeysetAnswer,
    repeats: true,
    does: 'the same by cursor: `{"markets": [..], "next_cursor": ".."}`',
  },
  'GET /markets/:id': {
    ...market,
    answer: MarketAnswer,
    does: 'one market, by its number or its condition id',
  },
  'GET /markets/slug/:slug': { ...market, answer: MarketAnswer, does: 'one market' },
  'GET /markets/:id/tags': { ...single, answer: Type.Array(TagAnswer), does: 'its tags' },
  'GET /events': {
    ...catalog,
    limits: ['events', 'listing', 'catalog'],
    query: PARAMETERS.events,
    answer: Type.Array(EventAnswer),
    does: 'events with their tags',
  },
  'GET /events/keyset': {
    ...catalog,
    limits: ['events', 'listing', 'catalog'],
    query: PARAMETERS.eventsKeyset,
    answer: EventsKeysetAnswer,
    repeats: true,
    does: 'the same by cursor, with their markets: `{"events": [..], "next_cursor": ".."}`',
  },
  'GET /events/:id': {
    ...single,
    answer: WholeEventAnswer,
    does: 'one event with tags, markets, series and `eventMetadata`',
  },
  'GET /events/slug/:slug': { ...single, answer: WholeEventAnswer, ...same },
  'GET /events/:id/tags': { ...single, answer: Type.Array(TagAnswer), does: 'its tags' },
  'GET /series': {
    ...catalog,
    limits: ['catalog'],
    query: PARAMETERS.paged,
    answer: Type.Array(SeriesAnswer),
    does: 'series with the summaries of their events',
  },
  'GET /series/:id': { ...single, answer: SeriesAnswer, does: 'one series' },
  'GET /tags': {
    ...catalog,
    limits: ['tags', 'catalog'],
    query: PARAMETERS.paged,
    answer: Type.Array(TagAnswer),
    does: 'tags',
  },
  'GET /tags/:id': { ...single, answer: TagAnswer, does: 'one tag' },
  'GET /tags/slug/:slug': { ...single, answer: TagAnswer, does: 'one tag' },
  'GET /tags/:id/related-tags': {
    ...single,
    answer: RelatedTagsAnswer,
    does: 'the tags of which at least half of the events carry it too: how they are related',
  },
  'GET /tags/:id/related-tags/tags': {
    ...single,
    answer: Type.Array(TagAnswer),
    does: 'these tags themselves',
  },
  'GET /tags/slug/:slug/related-tags': { ...single, answer: RelatedTagsAnswer, ...same },
  'GET /tags/slug/:slug/related-tags/tags': {
    ...single,
    answer: Type.Array(TagAnswer),
    ...same,
  },
  'GET /public-search': {
    ...catalog,
    limits: ['search', 'catalog'],
    query: PARAMETERS.search,
    answer: SearchAnswer,
    does: 'events and tags',
  },
  'GET /sampling-markets': {
    ...sampling,
    answer: SamplingAnswer,
    does: 'open markets by cursor: `next_cursor`, 1000 a page, `LTE=` at the end',
  },
  'GET /sampling-simplified-markets': {
    ...sampling,
    answer: SimplifiedSamplingAnswer,
    repeats: true,
    does: 'the same, in short',
  },
} as const satisfies Readonly<Record<string, RouteRow>>;
