/** Calls of the polymarket class of ccxt 4.5.84, its streams included; it signs orders of version 2. */
import assert from 'node:assert/strict';
import type { Call } from './calls.ts';
import type { MoneyPackage } from './money.ts';
import type { Loader, Venue } from './venue.ts';

type Json = Readonly<Record<string, unknown>>;
interface Exchange {
  readonly [method: string]: (...parts: readonly unknown[]) => Promise<Json>;
}
interface Package {
  readonly default: {
    readonly prediction: { readonly polymarket: new (options: object) => object };
  };
}
interface EthersPackage {
  readonly Wallet: new (key: string) => { readonly address: string };
}

const NO_ENVELOPE =
  'it reads a member `data`; the answer is a list, which the official client insists on';

async function open(
  load: Loader,
  host: string,
  privateKey: string,
  signatureType: number,
  funder: string,
): Promise<Exchange> {
  const { default: ccxt } = await load.import<Package>('ccxt/js/ccxt.js');
  const streams = host.replace('http', 'ws');
  return new ccxt.prediction.polymarket({
    privateKey,
    walletAddress: funder,
    options: { signatureType, funder },
    urls: {
      api: {
        clob: host,
        gamma: `${host}/gamma`,
        data: `${host}/data`,
        ws: `${streams}/ws/market`,
        wsUser: `${streams}/ws/user`,
      },
    },
  }) as Exchange;
}

export async function ccxtCalls({
  eventSlug,
  host,
  load,
  market,
}: Venue): Promise<readonly Call[]> {
  const { Wallet } = load.require<EthersPackage>('@ethersproject/wallet');
  const privateKey = `0x${'cc'.repeat(32)}`;
  const { address } = new Wallet(privateKey);
  const context = await open(load, host, privateKey, 0, address);
  // For streams without TLS, as the package says.
  await context.loadHttpProxyAgent!();
  const [token, other] = market.tokens;
  const call = (name: string, ...parts: readonly unknown[]) => context[name]!(...parts);
  const some = async (asked: Promise<unknown>, least = 1) => {
    const answer = (await asked) as readonly Json[];
    assert(Array.isArray(answer) && answer.length >= least, `rows, not ${JSON.stringify(answer)}`);
    return answer;
  };
  const place = async (price = 0.02): Promise<string> => {
    const { id, status } = await call('createOrder', token, 'limit', 'buy', 10, price);
    assert.equal(status, 'open');
    return String(id);
  };
  return [
    { name: 'fetchMarkets', run: () => some(call('fetchMarkets')) },
    { name: 'fetchEvents', run: () => some(call('fetchEvents', { slug: eventSlug })) },
    {
      name: 'fetchEvents, by words',
      run: () => some(call('fetchEvents', { query: 'port alder' })),
    },
    { name: 'fetchEvent', run: async () => assert((await call('fetchEvent', eventSlug)).markets) },
    {
      name: 'fetchOutcome',
      run: async () => assert.equal((await call('fetchOutcome', token)).outcomeId, token),
    },
    {
      name: 'fetchTicker',
      run: async () => assert(Number((await call('fetchTicker', token)).bid) > 0),
    },
    {
      name: 'fetchTickers',
      run: async () =>
        assert.equal(Object.keys(await call('fetchTickers', [token, other])).length, 2),
    },
    {
      name: 'fetchOrderBook',
      run: async () => assert(((await call('fetchOrderBook', token)).bids as unknown[]).length > 0),
    },
    { name: 'fetchOHLCV', run: () => some(call('fetchOHLCV', token, '1m')) },
    { name: 'fetchTime', run: async () => assert(Number(await call('fetchTime')) > 1e12) },
    {
      name: 'fetchStatus',
      run: async () => assert.equal((await call('fetchStatus')).status, 'ok'),
    },
    {
      name: 'fetchOpenInterest',
      run: async () =>
        assert(Number((await call('fetchOpenInterest', token)).openInterestValue) >= 0),
    },
    {
      name: 'fetchTradingFee',
      run: async () => assert.equal((await call('fetchTradingFee', token)).taker, 0),
    },
    { name: 'fetchTrades', run: () => some(call('fetchTrades', token)) },
    { name: 'createApiKey', run: async () => assert((await call('createApiKey')).secret) },
    { name: 'deriveApiKey', run: async () => assert((await call('deriveApiKey')).secret) },
    {
      name: 'createOrDeriveApiKey',
      run: async () => assert((await call('createOrDeriveApiKey')).secret),
    },
    { name: 'createOrder', run: () => place() },
    {
      name: 'createOrder, market',
      run: async () => {
        const { ask } = await call('fetchTicker', token);
        const { status } = await call('createOrder', token, 'market', 'buy', 10, ask);
        assert.equal(status, 'closed');
      },
    },
    {
      name: 'createMarketBuyOrderWithCost',
      run: async () => {
        // Its limit is the price of the catalog, which is between the best bid and the best ask.
        const price = Number((await call('fetchOutcome', token)).price).toFixed(2);
        await call('createOrder', token, 'limit', 'sell', 50, Number(price));
        const { status } = await call('createMarketBuyOrderWithCost', token, 6);
        assert.equal(status, 'closed');
      },
    },
    {
      name: 'createOrders',
      run: async () => {
        const order = { outcome: token, type: 'limit', side: 'buy', amount: 10, price: 0.02 };
        for (const { status } of await some(call('createOrders', [order, order]), 2)) {
          assert.equal(status, 'open');
        }
      },
    },
    {
      name: 'fetchOrder',
      run: async () => assert.equal((await call('fetchOrder', await place())).status, 'open'),
    },
    { name: 'fetchOpenOrders', run: () => some(call('fetchOpenOrders', token), 2) },
    { name: 'fetchMyTrades', run: () => some(call('fetchMyTrades', token)) },
    {
      name: 'fetchOrderTrades',
      run: async () => {
        const [{ order } = { order: '' }] = await some(call('fetchMyTrades', token));
        await some(call('fetchOrderTrades', order, token));
      },
    },
    {
      name: 'fetchBalance',
      run: async () => assert(Number(((await call('fetchBalance')).USDC as Json).total) > 0),
    },
    {
      name: 'fetchPositions',
      run: () => some(call('fetchPositions')),
      cannot: NO_ENVELOPE,
    },
    {
      name: 'fetchPosition',
      run: async () => assert((await call('fetchPosition', token)).contracts),
      cannot: NO_ENVELOPE,
    },
    {
      name: 'cancelOrder',
      run: async () => assert.equal((await call('cancelOrder', await place())).status, 'canceled'),
    },
    {
      name: 'cancelOrders',
      run: async () => some(call('cancelOrders', [await place(), await place()]), 2),
    },
    {
      name: 'watchOrderBook',
      run: async () => assert(((await call('watchOrderBook', token)).bids as unknown[]).length > 0),
    },
    ...['watchTicker', 'watchTrades', 'watchOrders', 'watchMyTrades'].map((name) => ({
      name,
      run: async () => {
        const heard = call(name, token);
        // A match, and a price change, for whoever has subscribed by then.
        const trade = setInterval(() => {
          const taken = call('createOrder', token, 'market', 'buy', 5, 0.99);
          taken.then(() => place(0.03)).catch(() => undefined);
        }, 300);
        await heard.finally(() => clearInterval(trade));
      },
    })),
    {
      name: 'cancelAllOrders',
      run: async () => {
        await place();
        await call('cancelAllOrders');
        assert.deepEqual(await call('fetchOpenOrders', token), []);
        await call('close');
      },
    },
  ];
}

/** Calls with money. Its only call for the balance of a token is named after the route. */
export function ccxtMoney(load: Loader): MoneyPackage {
  const { Wallet } = load.require<EthersPackage>('@ethersproject/wallet');
  return {
    names: {
      balance: 'fetchBalance',
      order: 'createOrder',
      cancel: 'cancelOrder',
      openOrders: 'fetchOpenOrders',
      fills: 'fetchMyTrades',
    },
    statuses: { rests: 'open', filled: 'closed' },
    address: (key) => new Wallet(key).address,
    join: async (host, key, signature_type, funder) => {
      const context = await open(load, host, key, signature_type, funder);
      await context.createOrDeriveApiKey!();
      return {
        balance: async (token_id) => {
          if (token_id === undefined) {
            const { total } = (await context.fetchBalance!()).USDC as Json;
            return String(Number(total) * 1e6);
          }
          const of = { asset_type: 'CONDITIONAL', token_id, signature_type };
          return String((await context.clobPrivateGetBalanceAllowance!(of)).balance);
        },
        order: async ({ price, side, size, token }) => {
          const way = side.toLowerCase();
          const { id, status } = await context.createOrder!(token, 'limit', way, size, price);
          return { id: String(id), status: String(status) };
        },
        cancel: async (id) => assert.equal((await context.cancelOrder!(id)).status, 'canceled'),
        openOrders: async (token) =>
          (await context.fetchOpenOrders!(token)) as unknown as readonly unknown[],
        fills: async (token) => {
          const trades = (await context.fetchMyTrades!(token)) as unknown as readonly Json[];
          return trades.map(({ amount, price }) => [Number(price), Number(amount)]);
        },
      };
    },
  };
}
