/** Calls of @polymarket/client that need no wallet: books, the catalog, the data API. */
import assert from 'node:assert/strict';
import type { Call } from './calls.ts';
import { rows } from './client-answers.ts';
import type { Venue } from './venue.ts';

type Method = (request?: unknown) => unknown;
export type Client = Readonly<Partial<Record<string, Method>>>;
export type Json = Readonly<Record<string, unknown>>;

interface Paginated {
  firstPage(): Promise<{ readonly items: readonly Json[] }>;
}

const NOT_HERE = 'no such figures are kept here';
const NOTHING_OF_THE_KIND = 'there is nothing of the kind here';

export function ask(client: Client, name: string, request?: unknown): Promise<Json> {
  return client[name]!(request) as Promise<Json>;
}

export async function list(client: Client, name: string, request: unknown, least = 1) {
  const page = await (client[name]!(request) as Paginated).firstPage();
  return rows(Promise.resolve(page.items), least);
}

function decimal(asked: Promise<unknown>): Promise<void> {
  return asked.then((answer) => assert.match(String(answer), /^\d+(?:\.\d+)?$/));
}

export function bookCalls(client: Client, { market }: Venue): readonly Call[] {
  const [token, other] = market.tokens;
  const tokenId = { tokenId: token };
  const both = [tokenId, { tokenId: other }];
  const sides = both.map((item) => ({ ...item, side: 'BUY' }));
  const members = async (asked: Promise<Json>) => assert.equal(Object.keys(await asked).length, 2);
  return [
    { name: 'fetchMidpoint', run: () => decimal(ask(client, 'fetchMidpoint', tokenId)) },
    { name: 'fetchMidpoints', run: () => members(ask(client, 'fetchMidpoints', both)) },
    {
      name: 'fetchPrice',
      run: () => decimal(ask(client, 'fetchPrice', { ...tokenId, side: 'BUY' })),
    },
    { name: 'fetchPrices', run: () => members(ask(client, 'fetchPrices', sides)) },
    {
      name: 'fetchOrderBook',
      run: async () => assert((await ask(client, 'fetchOrderBook', tokenId)).hash),
    },
    { name: 'fetchOrderBooks', run: () => rows(ask(client, 'fetchOrderBooks', both), 2) },
    { name: 'fetchSpread', run: () => decimal(ask(client, 'fetchSpread', tokenId)) },
    { name: 'fetchSpreads', run: () => members(ask(client, 'fetchSpreads', both)) },
    {
      name: 'fetchLastTradePrice',
      run: () => decimal(ask(client, 'fetchLastTradePrice', tokenId).then(({ price }) => price)),
    },
    { name: 'fetchLastTradePrices', run: () => rows(ask(client, 'fetchLastTradePrices', both), 1) },
    {
      name: 'fetchPriceHistory',
      run: () => rows(ask(client, 'fetchPriceHistory', { ...tokenId, interval: '1h' }), 1),
    },
    {
      name: 'estimateMarketPrice',
      run: () =>
        decimal(ask(client, 'estimateMarketPrice', { ...tokenId, side: 'BUY', amount: 5 })),
    },
    { name: 'listCurrentRewards', run: () => list(client, 'listCurrentRewards', undefined, 0) },
    {
      name: 'listMarketRewards',
      run: () => list(client, 'listMarketRewards', { conditionId: market.conditionId }, 0),
    },
  ];
}

export function catalogCalls(
  client: Client,
  { eventId, eventSlug, market, tagId }: Venue,
): readonly Call[] {
  const named = async (asked: Promise<Json>, id: string) => assert.equal((await asked).id, id);
  return [
    {
      name: 'listMarkets',
      run: async () => {
        const request = { closed: false, clobTokenIds: [market.tokens[0]] };
        const [found, ...others] = await list(client, 'listMarkets', request);
        assert.deepEqual([found!.id, others.length], [market.id, 0]);
      },
    },
    {
      name: 'fetchMarket',
      run: () => named(ask(client, 'fetchMarket', { id: market.id }), market.id),
    },
    {
      name: 'fetchMarket, by slug',
      run: () => named(ask(client, 'fetchMarket', { slug: market.slug }), market.id),
    },
    {
      name: 'fetchMarketTags',
      run: () => rows(ask(client, 'fetchMarketTags', { id: market.id }), 1),
    },
    {
      name: 'listEvents',
      run: async () => {
        const [event] = await list(client, 'listEvents', { pageSize: 5 });
        assert((event!.markets as unknown[]).length > 0, 'markets in their event');
      },
    },
    { name: 'fetchEvent', run: () => named(ask(client, 'fetchEvent', { id: eventId }), eventId) },
    {
      name: 'fetchEvent, by slug',
      run: () => named(ask(client, 'fetchEvent', { slug: eventSlug }), eventId),
    },
    { name: 'fetchEventTags', run: () => rows(ask(client, 'fetchEventTags', { id: eventId }), 1) },
    { name: 'listSeries', run: () => list(client, 'listSeries', {}) },
    {
      name: 'fetchSeries',
      run: async () => {
        const [series] = await list(client, 'listSeries', {});
        await named(ask(client, 'fetchSeries', { id: series!.id }), String(series!.id));
      },
    },
    { name: 'listTags', run: () => list(client, 'listTags', {}) },
    { name: 'fetchTag', run: () => named(ask(client, 'fetchTag', { id: tagId }), tagId) },
    {
      name: 'fetchRelatedTags',
      run: () => rows(ask(client, 'fetchRelatedTags', { id: tagId }), 1),
    },
    {
      name: 'fetchRelatedTagResources',
      run: () => rows(ask(client, 'fetchRelatedTagResources', { id: tagId }), 1),
    },
    {
      name: 'search',
      run: async () => {
        const { items } = await (client.search!({ q: 'will' }) as Paginated).firstPage();
        assert(((items as unknown as { events: unknown[] }).events ?? []).length > 0);
      },
    },
  ];
}

export function dataCalls(
  client: Client,
  { eventId, market }: Venue,
  user: string,
): readonly Call[] {
  const markets = { market: [market.conditionId] };
  return [
    { name: 'listTrades', run: () => list(client, 'listTrades', markets) },
    { name: 'listActivity', run: () => list(client, 'listActivity', { user }) },
    { name: 'listPositions', run: () => list(client, 'listPositions', { user }) },
    { name: 'listClosedPositions', run: () => list(client, 'listClosedPositions', { user }, 0) },
    { name: 'fetchPortfolioValue', run: () => ask(client, 'fetchPortfolioValue', { user }) },
    { name: 'fetchTradedMarketCount', run: () => ask(client, 'fetchTradedMarketCount', { user }) },
    { name: 'listOpenInterest', run: () => rows(ask(client, 'listOpenInterest', markets), 1) },
    { name: 'listMarketHolders', run: () => rows(ask(client, 'listMarketHolders', markets), 1) },
    {
      name: 'fetchEventLiveVolume',
      run: () => rows(ask(client, 'fetchEventLiveVolume', { id: eventId }), 1),
    },
    {
      name: 'listBuilderTrades',
      run: () => list(client, 'listBuilderTrades', { builderCode: `0x${'1'.repeat(64)}` }, 0),
    },
    {
      name: 'listTraderLeaderboard',
      run: () => list(client, 'listTraderLeaderboard', { orderBy: 'VOL', timePeriod: 'ALL' }),
    },
    {
      name: 'fetchPublicProfile',
      run: async () => {
        const { wallet } = await ask(client, 'fetchPublicProfile', { address: user });
        assert.equal(wallet, user);
        const address = `0x${'12'.repeat(20)}`;
        assert.equal(await ask(client, 'fetchPublicProfile', { address }), null);
      },
    },
  ];
}

/** Calls for comments: nobody can write one, so every list is empty. */
export function commentCalls(client: Client, address: string): readonly Call[] {
  const event = { parentEntityType: 'Event', parentEntityId: 1 };
  return [
    { name: 'listComments', run: () => list(client, 'listComments', event, 0) },
    {
      name: 'fetchCommentsById',
      run: () => rows(ask(client, 'fetchCommentsById', { id: '1' }), 0),
    },
    {
      name: 'listCommentsByUserAddress',
      run: () => list(client, 'listCommentsByUserAddress', { address }, 0),
    },
  ];
}

export function absentCalls(client: Client, user: string): readonly Call[] {
  const page = (name: string, request: object, cannot = NOTHING_OF_THE_KIND): Call => {
    return { name, run: () => list(client, name, request), cannot };
  };
  const call = (name: string, request?: object, cannot = NOTHING_OF_THE_KIND): Call => {
    return { name, run: () => ask(client, name, request), cannot };
  };
  const market = { market: `0x${'1'.repeat(64)}` };
  return [
    page('listMarketPositions', market, NOT_HERE),
    page('listBuilderLeaderboard', {}, NOT_HERE),
    call('fetchBuilderVolume', undefined, NOT_HERE),
    call('downloadAccountingSnapshot', { user }, NOT_HERE),
    page('listMarketClarifications', { marketId: '1' }),
    page('listComboMarkets', {}),
    page('listComboPositions', { user }),
    page('listComboActivity', { user }),
    page('listTeams', {}),
    call('listSports'),
    call('fetchSportsMarketTypes'),
  ];
}
