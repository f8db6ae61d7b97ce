/** Every call of @polymarket/clob-client-v2 1.1.0; it signs orders of three versions. */
import assert from 'node:assert/strict';
import { freePort } from '../../bench/common/free-port.ts';
import { TestNode, temporaryDirectory, withMarkets } from '../common/node-harness.ts';
import type { Call } from './calls.ts';
import { answered, type Client, rows } from './client-answers.ts';
import { clobCalls, readOnlyCalls } from './clob-calls.ts';
import { CLOB_MONEY, clobMoneyClient } from './clob-money.ts';
import type { MoneyPackage } from './money.ts';
import { CHAIN_ID, type Loader, type Venue } from './venue.ts';

interface Package {
  readonly ClobClient: new (parts: object) => Client;
}
interface WalletPackage {
  readonly Wallet: new (key: string) => { readonly address: string };
}

const BUILDER = `0x${'1'.repeat(64)}`;

async function join({ host, load }: Pick<Venue, 'host' | 'load'>, digits: string): Promise<Client> {
  const { ClobClient } = load.require<Package>('@polymarket/clob-client-v2');
  const { Wallet } = load.require<WalletPackage>('@ethersproject/wallet');
  const parts = { host, chain: CHAIN_ID, signer: new Wallet(`0x${digits.repeat(32)}`) };
  const creds = await new ClobClient(parts).createOrDeriveApiKey!();
  return new ClobClient({ ...parts, creds });
}

/** A client that has learnt the accepted version goes on when it changes. */
export async function throughVersions(load: Venue['load']): Promise<void> {
  const dataDir = temporaryDirectory();
  const [market] = await withMarkets(dataDir, [{ id: 1 }]);
  const PORT = String(await freePort());
  const bid = { tokenID: market!.tokenIds[0], side: 'BUY', price: 0.02, size: 10 };
  let client: Client | undefined;
  for (const ORDER_VERSION of ['1', '2', '1']) {
    const settings = { CLIENT_PROFILE: 'polymarket', ORDER_VERSION, PORT };
    const node = await TestNode.start(dataDir, settings);
    client ??= await join({ host: `http://127.0.0.1:${PORT}`, load }, '23');
    const { errorMsg, status } = await answered(client.createAndPostOrder!(bid));
    assert.deepEqual([errorMsg, status], ['', 'live'], ORDER_VERSION);
    await node.stop();
  }
}

export async function clobClientV2Calls(venue: Venue): Promise<readonly Call[]> {
  const { later, market, risky } = venue;
  const client = await join(venue, '21');
  const call = (name: string, ...parts: readonly unknown[]) => answered(client[name]!(...parts));
  const [token] = market.tokens;
  const bid = { tokenID: token, side: 'BUY', price: 0.02, size: 10 };
  const trade = async (): Promise<string> => {
    const terms = { tokenID: token, side: 'BUY', amount: 5 };
    const { errorMsg, status } = await call('createAndPostMarketOrder', terms, {}, 'FOK');
    assert.deepEqual([errorMsg, status], ['', 'matched']);
    return String((await rows(call('getTrades'), 1))[0]!.id);
  };
  const own: Call[] = [
    {
      name: 'getVersion',
      run: async () => assert.equal(await client.getVersion!(), 1),
    },
    {
      name: 'createOrder, version 2',
      run: async () => {
        for (const tokenID of [token, risky.tokens[0]]) {
          const order = await call('createOrder', { ...bid, tokenID }, { version: 2 });
          assert('timestamp' in order && !('nonce' in order));
          const { errorMsg, status } = await call('postOrder', order, 'GTC');
          assert.deepEqual([errorMsg, status], ['', 'live']);
        }
      },
    },
    {
      name: 'createMarketOrder, version 2',
      run: async () => {
        const terms = { tokenID: token, side: 'BUY', amount: 5 };
        const order = await call('createMarketOrder', terms, { version: 2 });
        const { errorMsg, status } = await call('postOrder', order, 'FOK');
        assert.deepEqual([errorMsg, status], ['', 'matched']);
      },
    },
    {
      name: 'getClobMarketInfo',
      run: async () => {
        const { c, mts, t } = await call('getClobMarketInfo', market.conditionId);
        assert.equal(c, market.conditionId);
        assert(Number(mts) > 0 && (t as unknown[]).length === 2);
      },
    },
    {
      name: 'getFeeExponent',
      run: async () => assert.equal(await client.getFeeExponent!(token), 0),
    },
    { name: 'getPreMigrationOrders', run: () => rows(call('getPreMigrationOrders'), 0) },
    {
      name: 'getBuilderTrades',
      run: async () => {
        const { trades } = await call('getBuilderTrades', { builder_code: BUILDER });
        assert.deepEqual(trades, []);
      },
    },
    {
      name: 'waitForResolvedTrades',
      run: async () => {
        const [found] = await rows(call('waitForResolvedTrades', [await trade()]), 1);
        assert.match(String(found!.transaction_hash), /^0x[0-9a-f]{64}$/);
      },
    },
    {
      name: 'createExchangeV3OrderFromAmounts',
      run: async () => {
        for (const { conditionId, tokens } of later) {
          const amounts = { makerAmount: '200000', takerAmount: '10000000' };
          const terms = { tokenID: tokens[0], side: 'BUY', ...amounts };
          const order = await call('createExchangeV3OrderFromAmounts', terms);
          const { errorMsg, orderID, status } = await call('postOrder', order, 'GTC');
          assert.deepEqual([errorMsg, status], ['', 'live']);
          const [open] = await rows(call('getOpenOrders', { market: conditionId }), 1);
          const { asset_id, id, original_size, price } = open!;
          assert.deepEqual(
            [id, asset_id, original_size, price],
            [orderID, tokens[0], '10', '0.02'],
          );
        }
      },
    },
  ];
  const shared = clobCalls(venue, { client, leaver: await join(venue, '22') });
  return [...own, ...shared, ...readOnlyCalls(client)];
}

/** Calls with money; orders of the version that the node accepts. */
export function clobClientV2Money(load: Loader): MoneyPackage {
  const { ClobClient } = load.require<Package>('@polymarket/clob-client-v2');
  const { Wallet } = load.require<WalletPackage>('@ethersproject/wallet');
  return {
    ...CLOB_MONEY,
    address: (key) => new Wallet(key).address,
    join: async (host, key, signatureType, funderAddress) => {
      const parts = { host, chain: CHAIN_ID, signer: new Wallet(key) };
      const creds = await new ClobClient(parts).createOrDeriveApiKey!();
      return clobMoneyClient(new ClobClient({ ...parts, creds, signatureType, funderAddress }));
    },
  };
}
