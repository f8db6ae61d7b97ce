/** Calls that @polymarket/clob-client and its successor share, by name. */
import assert from 'node:assert/strict';
import type { Call } from './calls.ts';
import { answered, type Client, page, rows, texts } from './client-answers.ts';
import type { Venue } from './venue.ts';

interface Creds {
  readonly key: string;
  readonly secret: string;
  readonly passphrase: string;
}

export interface Joined {
  readonly client: Client;
  readonly leaver: Client;
}

/**
 * Reason for calls of a builder's programme: it has keys of its own, which this venue does not
 * issue.
 */
const NO_BUILDERS = 'there is no builder programme here';

export function clobCalls({ market, risky }: Venue, { client, leaver }: Joined): readonly Call[] {
  const [token, other] = market.tokens;
  const both = [
    { token_id: token, side: 'BUY' },
    { token_id: other, side: 'SELL' },
  ];
  const day = '2026-11-21';
  const call = (name: string, ...parts: readonly unknown[]) => answered(client[name]!(...parts));
  const bid = { tokenID: token, side: 'BUY', price: 0.02, size: 10 };
  const place = async (terms: object = bid): Promise<string> => {
    const result = await call('createAndPostOrder', terms, {}, 'GTC');
    assert.deepEqual([result.errorMsg, result.status], ['', 'live']);
    return String(result.orderID);
  };

  return [
    { name: 'getOk', run: async () => assert.equal(await client.getOk!(), 'OK') },
    { name: 'getServerTime', run: async () => assert(Number(await client.getServerTime!()) > 1e9) },
    { name: 'getSamplingSimplifiedMarkets', run: () => page(call('getSamplingSimplifiedMarkets')) },
    { name: 'getSamplingMarkets', run: () => page(call('getSamplingMarkets')) },
    { name: 'getSimplifiedMarkets', run: () => page(call('getSimplifiedMarkets')) },
    { name: 'getMarkets', run: () => page(call('getMarkets'), 'tokens') },
    {
      name: 'getMarket',
      run: async () => {
        const { condition_id, tokens } = await call('getMarket', market.conditionId);
        assert.equal(condition_id, market.conditionId);
        assert.equal((tokens as unknown[]).length, 2);
      },
    },
    { name: 'getOrderBook', run: () => texts(call('getOrderBook', token), 'hash', 'tick_size') },
    {
      name: 'getOrderBooks',
      run: async () => {
        const books = await rows(call('getOrderBooks', both), 2);
        for (const { asks, bids } of books) assert(Array.isArray(bids) && Array.isArray(asks));
        assert((books[0]!.asks as unknown[]).length > 0, 'side is ignored');
      },
    },
    {
      name: 'getOrderBookHash',
      run: async () => {
        const book = await call('getOrderBook', token);
        assert.equal(await client.getOrderBookHash!({ ...book }), book.hash);
      },
    },
    { name: 'getTickSize', run: async () => assert(Number(await client.getTickSize!(token)) > 0) },
    {
      name: 'getNegRisk',
      run: async () => {
        assert.equal(await client.getNegRisk!(token), false);
        assert.equal(await client.getNegRisk!(risky.tokens[0]), true);
      },
    },
    { name: 'getFeeRateBps', run: async () => assert.equal(await client.getFeeRateBps!(token), 0) },
    { name: 'getMidpoint', run: () => texts(call('getMidpoint', token), 'mid') },
    { name: 'getMidpoints', run: () => texts(call('getMidpoints', both), token, other) },
    {
      name: 'getPrice',
      run: async () => {
        const [buy, sell] = [
          await call('getPrice', token, 'BUY'),
          await call('getPrice', token, 'SELL'),
        ];
        assert(Number(buy.price) < Number(sell.price), 'BUY is the best bid');
      },
    },
    {
      name: 'getPrices',
      run: async () => assert.deepEqual(Object.keys(await call('getPrices', both)).length, 2),
    },
    { name: 'getSpread', run: () => texts(call('getSpread', token), 'spread') },
    { name: 'getSpreads', run: () => texts(call('getSpreads', both), token, other) },
    { name: 'getLastTradePrice', run: () => texts(call('getLastTradePrice', token), 'price') },
    { name: 'getLastTradesPrices', run: () => rows(call('getLastTradesPrices', both), 1) },
    {
      name: 'getPricesHistory',
      run: async () => {
        const terms = { market: token, interval: '1h', fidelity: 1 };
        const { history } = await call('getPricesHistory', terms);
        assert((history as unknown[]).length > 0);
      },
    },
    {
      name: 'calculateMarketPrice',
      run: async () => {
        const price = await client.calculateMarketPrice!(token, 'BUY', 2, 'FOK');
        assert(Number(price) > 0 && Number(price) < 1);
      },
    },
    {
      name: 'getMarketTradesEvents',
      run: () => rows(call('getMarketTradesEvents', market.conditionId), 1),
    },
    { name: 'createApiKey', run: () => creds(client.createApiKey!()) },
    { name: 'deriveApiKey', run: () => creds(client.deriveApiKey!()) },
    { name: 'createOrDeriveApiKey', run: () => creds(client.createOrDeriveApiKey!()) },
    {
      name: 'getApiKeys',
      run: async () => assert(((await call('getApiKeys')).apiKeys as unknown[]).length === 1),
    },
    {
      name: 'getClosedOnlyMode',
      run: async () => assert.equal((await call('getClosedOnlyMode')).closed_only, false),
    },
    {
      name: 'getBalanceAllowance',
      run: () => texts(call('getBalanceAllowance', { asset_type: 'COLLATERAL' }), 'balance'),
    },
    {
      name: 'updateBalanceAllowance',
      run: () => call('updateBalanceAllowance', { asset_type: 'CONDITIONAL', token_id: token }),
    },
    { name: 'createOrder', run: () => texts(call('createOrder', bid), 'signature') },
    {
      name: 'createMarketOrder',
      run: () =>
        texts(call('createMarketOrder', { tokenID: token, side: 'BUY', amount: 2 }), 'signature'),
    },
    {
      name: 'postOrder',
      run: async () => {
        const order = await client.createOrder!({ ...bid, tokenID: risky.tokens[0] });
        const { errorMsg, status } = await call('postOrder', order, 'GTC');
        assert.deepEqual([errorMsg, status], ['', 'live']);
      },
    },
    {
      name: 'postOrders',
      run: async () => {
        const order = async () => ({ order: await client.createOrder!(bid), orderType: 'GTC' });
        const results = await rows(call('postOrders', [await order(), await order()]), 2);
        for (const { errorMsg } of results) assert.equal(errorMsg, '');
      },
    },
    { name: 'createAndPostOrder', run: () => place() },
    {
      name: 'createAndPostMarketOrder',
      run: async () => {
        const terms = { tokenID: token, side: 'BUY', amount: 5 };
        const { errorMsg, status } = await call('createAndPostMarketOrder', terms, {}, 'FOK');
        assert.deepEqual([errorMsg, status], ['', 'matched']);
        const { errorMsg: killed } = await call(
          'createAndPostMarketOrder',
          { ...terms, amount: 1e6, price: 0.99 },
          {},
          'FOK',
        );
        assert.equal(
          killed,
          "order couldn't be fully filled. FOK orders are fully filled or killed.",
        );
      },
    },
    {
      name: 'getOrder',
      run: async () => assert.equal((await call('getOrder', await place())).status, 'LIVE'),
    },
    {
      name: 'getOpenOrders',
      run: () => rows(call('getOpenOrders', { market: market.conditionId }), 1),
    },
    { name: 'getTrades', run: () => rows(call('getTrades', { asset_id: token }), 1) },
    {
      name: 'getTradesPaginated',
      run: async () => assert(((await call('getTradesPaginated')).trades as unknown[]).length > 0),
    },
    {
      name: 'cancelOrder',
      run: async () => {
        const orderID = await place();
        assert.deepEqual((await call('cancelOrder', { orderID })).canceled, [orderID]);
        const again = await call('cancelOrder', { orderID });
        assert.match(JSON.stringify(again.not_canceled), /already canceled or matched/);
      },
    },
    {
      name: 'cancelOrders',
      run: async () => {
        const ids = [await place(), await place()];
        assert.equal(((await call('cancelOrders', ids)).canceled as unknown[]).length, 2);
      },
    },
    {
      name: 'cancelMarketOrders',
      run: async () => {
        await place();
        const { canceled } = await call('cancelMarketOrders', { market: market.conditionId });
        assert((canceled as unknown[]).length > 0);
      },
    },
    {
      name: 'cancelAll',
      run: async () => {
        await place();
        assert(((await call('cancelAll')).canceled as unknown[]).length > 0);
        await rows(call('getOpenOrders'), 0);
      },
    },
    {
      name: 'isOrderScoring',
      run: async () =>
        assert.equal((await call('isOrderScoring', { order_id: '0x1' })).scoring, false),
    },
    {
      name: 'areOrdersScoring',
      run: async () =>
        assert.deepEqual(await call('areOrdersScoring', { orderIds: ['0x1'] }), { '0x1': false }),
    },
    { name: 'getNotifications', run: () => rows(call('getNotifications'), 0) },
    {
      name: 'dropNotifications',
      run: async () => assert.equal(await client.dropNotifications!({ ids: ['1'] }), 'OK'),
    },
    { name: 'getEarningsForUserForDay', run: () => rows(call('getEarningsForUserForDay', day), 0) },
    {
      name: 'getTotalEarningsForUserForDay',
      run: () => rows(call('getTotalEarningsForUserForDay', day), 0),
    },
    {
      name: 'getUserEarningsAndMarketsConfig',
      run: () => rows(call('getUserEarningsAndMarketsConfig', day), 0),
    },
    { name: 'getRewardPercentages', run: () => call('getRewardPercentages') },
    { name: 'getCurrentRewards', run: () => rows(call('getCurrentRewards'), 0) },
    {
      name: 'getRawRewardsForMarket',
      run: () => rows(call('getRawRewardsForMarket', market.conditionId), 0),
    },
    { name: 'getBuilderApiKeys', run: () => rows(call('getBuilderApiKeys'), 0) },
    {
      name: 'createBuilderApiKey',
      run: () => creds(call('createBuilderApiKey')),
      cannot: NO_BUILDERS,
    },
    { name: 'revokeBuilderApiKey', run: () => call('revokeBuilderApiKey'), cannot: NO_BUILDERS },
    {
      name: 'deleteApiKey',
      run: async () => {
        await answered(leaver.deleteApiKey!());
        const refused = (await leaver.getApiKeys!()) as { error?: unknown };
        assert(refused.error !== undefined, 'the key is dead');
      },
    },
  ];
}

async function creds(asked: Promise<unknown>): Promise<void> {
  const { key, passphrase, secret } = (await asked) as Creds;
  assert(key && secret && passphrase, 'a key, its secret and its passphrase');
}

/** Heartbeats and read-only keys, which are newer than 4.22.8. */
export function readOnlyCalls(client: Client): readonly Call[] {
  const call = (name: string, ...parts: readonly unknown[]) => answered(client[name]!(...parts));
  let key = '';
  return [
    {
      name: 'postHeartbeat',
      run: async () => {
        const { heartbeat_id: id } = await call('postHeartbeat', '');
        await texts(call('postHeartbeat', id), 'heartbeat_id');
      },
    },
    {
      name: 'createReadonlyApiKey',
      run: async () => {
        key = String((await call('createReadonlyApiKey')).apiKey);
        assert.match(key, /^[0-9a-f-]{36}$/);
      },
    },
    {
      name: 'getReadonlyApiKeys',
      run: async () => {
        assert.deepEqual((await call('getReadonlyApiKeys')).readonlyApiKeys, [key]);
      },
    },
    {
      name: 'deleteReadonlyApiKey',
      run: async () => assert.equal(await client.deleteReadonlyApiKey!(key), 'OK'),
    },
  ];
}
