/**
 * Calls of @polymarket/client 0.2.0, which checks every answer against a schema of its own: an
 * exchange, its catalog, its trades and its streams. Left out: chain transactions and perpetual
 * futures, which go to other hosts.
 */
import assert from 'node:assert/strict';
import type { Call } from './calls.ts';
import { rows } from './client-answers.ts';
import {
  absentCalls,
  ask,
  bookCalls,
  type Client,
  catalogCalls,
  commentCalls,
  dataCalls,
  type Json,
  list,
} from './polymarket-open.ts';
import type { Venue } from './venue.ts';

/** Exports of the package that take one of its clients. */
type Actions = Readonly<Partial<Record<string, (client: Client, request?: object) => unknown>>>;

interface Package {
  readonly forkEnvironmentConfig: (fork: object) => object;
  readonly createPublicClient: (options: object) => Client;
  readonly createSecureClient: (options: object) => Promise<Client>;
}
interface ViemPackage {
  readonly privateKey: (key: string) => { getAddress(): Promise<string> };
}
interface Handle extends AsyncIterable<Json> {
  close(): Promise<void>;
}

export async function polymarketClientCalls(venue: Venue): Promise<readonly Call[]> {
  const { host, load, port } = venue;
  // The package asks for a version of Node that has it.
  globalThis.WebSocket ??= load.require<typeof WebSocket>('ws');
  const sdk = await load.import<Package>('@polymarket/client/dist/index.js');
  const actions = await load.import<Actions>('@polymarket/client/dist/actions/index.js');
  const { privateKey } = await load.import<ViemPackage>('@polymarket/client/dist/viem.js');
  const socket = (name: string) => ({ ws: `ws://127.0.0.1:${port}/ws/${name}` });
  const environment = sdk.forkEnvironmentConfig({
    name: 'venue',
    clob: { rest: `${host}/clob`, market: socket('market'), user: socket('user') },
    gamma: { rest: `${host}/gamma` },
    data: { rest: `${host}/data` },
  });
  const open = sdk.createPublicClient({ environment });
  const join = async (digits: string) => {
    const signer = privateKey(`0x${digits.repeat(32)}`);
    const wallet = await signer.getAddress();
    return { wallet, client: await sdk.createSecureClient({ environment, signer, wallet }) };
  };
  const { client: own, wallet } = await join('5a');
  const { client: leaver } = await join('5b');
  return [
    ...bookCalls(open, venue),
    ...actionCalls(actions, { open, own, leaver }, venue),
    ...catalogCalls(open, venue),
    ...tradingCalls(own, venue),
    ...rewardCalls(own),
    ...dataCalls(open, venue, wallet),
    ...streamCalls(own, venue),
    ...commentCalls(open, wallet),
    ...absentCalls(open, wallet),
  ];
}

function actionCalls(
  actions: Actions,
  clients: { readonly open: Client; readonly own: Client; readonly leaver: Client },
  { market }: Venue,
): readonly Call[] {
  const { leaver, open, own } = clients;
  const act = (name: string, client: Client, request?: object) =>
    actions[name]!(client, request) as Promise<Json>;
  const [tokenId] = market.tokens;
  const builderCode = `0x${'1'.repeat(64)}`;
  const balance = async (name: string) => {
    for (const request of [{ assetType: 'COLLATERAL' }, { assetType: 'CONDITIONAL', tokenId }]) {
      assert(((await act(name, own, request)).balance as bigint) > 0n);
    }
  };
  return [
    {
      name: 'fetchTickSize',
      run: async () => assert(Number(await act('fetchTickSize', open, { tokenId })) > 0),
    },
    {
      name: 'fetchNegRisk',
      run: async () => assert.equal(await act('fetchNegRisk', open, { tokenId }), false),
    },
    {
      name: 'resolveConditionByToken',
      run: async () => {
        const found = await act('resolveConditionByToken', open, { tokenId });
        assert.equal(found, market.conditionId);
      },
    },
    {
      name: 'fetchMarketInfo',
      run: async () => {
        const { conditionId } = market;
        await rows(
          Promise.resolve((await act('fetchMarketInfo', open, { conditionId })).tokens),
          2,
        );
      },
    },
    {
      name: 'fetchBuilderFeeRates',
      run: async () =>
        assert.equal((await act('fetchBuilderFeeRates', open, { builderCode })).taker, 0),
    },
    { name: 'fetchBalanceAllowance', run: () => balance('fetchBalanceAllowance') },
    { name: 'updateBalanceAllowance', run: () => balance('updateBalanceAllowance') },
    { name: 'fetchApiKeys', run: () => rows(act('fetchApiKeys', own), 1) },
    { name: 'fetchBuilderApiKeys', run: () => rows(act('fetchBuilderApiKeys', own), 0) },
    {
      name: 'createBuilderApiKey',
      run: () => act('createBuilderApiKey', own),
      cannot: 'there is no builder programme here',
    },
    {
      name: 'deleteApiKey',
      run: async () => {
        await act('deleteApiKey', leaver);
        await assert.rejects(act('fetchApiKeys', leaver));
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
    {
      name: 'waitForOrderFillSettlement',
      run: async () => {
        const filled = await ask(client, 'placeMarketOrder', taken);
        const [hash] = await rows(ask(client, 'waitForOrderFillSettlement', filled), 1);
        assert.match(String(hash), /^0x[0-9a-f]{64}$/);
      },
    },
    { name: 'fetchClosedOnlyMode', run: () => ask(client, 'fetchClosedOnlyMode') },
    { name: 'fetchNotifications', run: () => rows(ask(client, 'fetchNotifications'), 0) },
    {
      name: 'fetchOrderScoring',
      run: async () =>
        assert.equal(await ask(client, 'fetchOrderScoring', { orderId: await place() }), false),
    },
    {
      name: 'fetchOrdersScoring',
      run: async () => {
        const orderId = await place();
        const scoring = await ask(client, 'fetchOrdersScoring', { orderIds: [orderId] });
        assert.deepEqual(scoring, { [orderId]: false });
      },
    },
    { name: 'dropNotifications', run: () => ask(client, 'dropNotifications', { ids: ['1'] }) },
  ];
}

/** Calls for rewards: none exist, so every list is empty. */
function rewardCalls(client: Client): readonly Call[] {
  const date = { date: '2026-11-01' };
  return [
    {
      name: 'fetchRewardPercentages',
      run: async () => assert.deepEqual(await ask(client, 'fetchRewardPercentages'), {}),
    },
    {
      name: 'fetchTotalEarningsForUserForDay',
      run: () => rows(ask(client, 'fetchTotalEarningsForUserForDay', date), 0),
    },
    ...['listUserEarningsForDay', 'listUserEarningsAndMarketsConfig'].map((name) => ({
      name,
      run: () => list(client, name, date, 0),
    })),
  ];
}

function streamCalls(client: Client, { market }: Venue): readonly Call[] {
  const [tokenId] = market.tokens;
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
