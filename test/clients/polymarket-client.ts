/**
 * Calls of @polymarket/client 0.2.0, which checks every answer against a schema of its own: those of
 * an exchange, its catalog and its trades, and its streams. Not here: chain transactions, perpetual
 * futures, comments, sports.
 */
import assert from 'node:assert/strict';
import type { Call } from './calls.ts';
import { rows } from './client-answers.ts';
import type { Venue } from './venue.ts';

type Method = (request?: unknown) => unknown;
type Client = Readonly<Partial<Record<string, Method>>>;
type Json = Readonly<Record<string, unknown>>;

interface Package {
  readonly forkEnvironmentConfig: (fork: object) => object;
  readonly createPublicClient: (options: object) => Client;
  readonly createSecureClient: (options: object) => Promise<Client>;
}
interface ViemPackage {
  readonly privateKey: (key: string) => { getAddress(): Promise<string> };
}
interface Paginated {
  firstPage(): Promise<{ readonly items: readonly Json[] }>;
}
interface Handle extends AsyncIterable<Json> {
  close(): Promise<void>;
}

const NOT_HERE = 'no such figures are kept here';

export async function polymarketClientCalls(venue: Venue): Promise<readonly Call[]> {
  const { host, load, port } = venue;
  // The package asks for a version of Node that has it.
  globalThis.WebSocket ??= load.require<typeof WebSocket>('ws');
  const sdk = await load.import<Package>('@polymarket/client/dist/index.js');
  const { privateKey } = await load.import<ViemPackage>('@polymarket/client/dist/viem.js');
  const socket = (name: string) => ({ ws: `ws://127.0.0.1:${port}/ws/${name}` });
  const environment = sdk.forkEnvironmentConfig({
    name: 'venue',
    clob: { rest: `${host}/clob`, market: socket('market'), user: socket('user') },
    gamma: { rest: `${host}/gamma` },
    data: { rest: `${host}/data` },
  });
  const open = sdk.createPublicClient({ environment });
  const signer = privateKey(`0x${'5a'.repeat(32)}`);
  const wallet = await signer.getAddress();
  const own = await sdk.createSecureClient({ environment, signer, wallet });
  return [
    ...bookCalls(open, venue),
    ...catalogCalls(open, venue),
    ...tradingCalls(own, venue),
    ...dataCalls(open, venue, wallet),
    ...streamCalls(own, venue),
  ];
}

function ask(client: Client, name: string, request?: unknown): Promise<Json> {
  return client[name]!(request) as Promise<Json>;
}

/** The first page of a list, which has at least so many items. */
async function list(client: Client, name: string, request: unknown, least = 1) {
  const page = await (client[name]!(request) as Paginated).firstPage();
  return rows(Promise.resolve(page.items), least);
}

function decimal(asked: Promise<unknown>): Promise<void> {
  return asked.then((answer) => assert.match(String(answer), /^\d+(?:\.\d+)?$/));
}

function bookCalls(client: Client, { market }: Venue): readonly Call[] {
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

function catalogCalls(
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

function tradingCalls(client: Client, { market, risky }: Venue): readonly Call[] {
  const [tokenId] = market.tokens;
  const bid = { tokenId, price: 0.02, size: 10, side: 'BUY' };
  const taken = { tokenId, amount: 5, side: 'BUY' };
  const place = async (terms: object = bid): Promise<string> => {
    const { ok, orderId, status } = await ask(client, 'placeLimitOrder', terms);
    assert.deepEqual([ok, String(status).toLowerCase()], [true, 'live']);
    return String(orderId);
  };
  const canceled = async (name: string, request?: object) => {
    assert(((await ask(client, name, request)).canceled as unknown[]).length > 0);
  };
  return [
    {
      name: 'createLimitOrder',
      run: async () => assert((await ask(client, 'createLimitOrder', bid)).signature),
    },
    {
      name: 'createMarketOrder',
      run: async () => assert((await ask(client, 'createMarketOrder', taken)).signature),
    },
    { name: 'placeLimitOrder', run: () => place() },
    { name: 'placeLimitOrder, neg risk', run: () => place({ ...bid, tokenId: risky.tokens[0] }) },
    {
      name: 'placeMarketOrder',
      run: async () => {
        const { ok, status } = await ask(client, 'placeMarketOrder', taken);
        assert.deepEqual([ok, String(status).toLowerCase()], [true, 'matched']);
      },
    },
    {
      name: 'postOrder',
      run: async () => {
        const order = await ask(client, 'createLimitOrder', bid);
        assert.equal((await ask(client, 'postOrder', order)).ok, true);
      },
    },
    {
      name: 'postOrders',
      run: async () => {
        const orders = [
          await ask(client, 'createLimitOrder', bid),
          await ask(client, 'createLimitOrder', bid),
        ];
        await rows(ask(client, 'postOrders', orders), 2);
      },
    },
    { name: 'listOpenOrders', run: () => list(client, 'listOpenOrders', {}, 2) },
    {
      name: 'fetchOrder',
      run: async () => {
        const orderId = await place();
        assert.equal((await ask(client, 'fetchOrder', { orderId })).id, orderId);
      },
    },
    { name: 'listAccountTrades', run: () => list(client, 'listAccountTrades', {}) },
    { name: 'cancelOrder', run: async () => canceled('cancelOrder', { orderId: await place() }) },
    {
      name: 'cancelOrders',
      run: async () => canceled('cancelOrders', { orderIds: [await place(), await place()] }),
    },
    {
      name: 'cancelMarketOrders',
      run: async () => {
        await place();
        await canceled('cancelMarketOrders', { market: market.conditionId });
      },
    },
    {
      name: 'cancelAll',
      run: async () => {
        await place();
        await canceled('cancelAll');
      },
    },
    { name: 'fetchClosedOnlyMode', run: () => ask(client, 'fetchClosedOnlyMode') },
    { name: 'fetchNotifications', run: () => rows(ask(client, 'fetchNotifications'), 0) },
    {
      name: 'fetchOrderScoring',
      run: async () =>
        assert.equal(await ask(client, 'fetchOrderScoring', { orderId: await place() }), false),
    },
  ];
}

function dataCalls(client: Client, { eventId, market }: Venue, user: string): readonly Call[] {
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
      name: 'listMarketPositions',
      run: () => list(client, 'listMarketPositions', { market: market.conditionId }),
      cannot: NOT_HERE,
    },
    {
      name: 'listTraderLeaderboard',
      run: () => list(client, 'listTraderLeaderboard', {}),
      cannot: NOT_HERE,
    },
    {
      name: 'listBuilderLeaderboard',
      run: () => list(client, 'listBuilderLeaderboard', {}),
      cannot: NOT_HERE,
    },
  ];
}

function streamCalls(client: Client, { market }: Venue): readonly Call[] {
  const [tokenId] = market.tokens;
  /** The first event of a topic that comes after an order has been placed. */
  const heard = async (spec: object): Promise<Json> => {
    const handle = (await client.subscribe!([spec])) as Handle;
    try {
      await ask(client, 'placeLimitOrder', { tokenId, price: 0.03, size: 10, side: 'BUY' });
      for await (const event of handle) return event;
      throw new Error('the stream ended');
    } finally {
      await handle.close();
    }
  };
  return [
    { name: 'subscribe, market', run: () => heard({ topic: 'market', tokenIds: [tokenId] }) },
    { name: 'subscribe, user', run: () => heard({ topic: 'user' }) },
  ];
}
