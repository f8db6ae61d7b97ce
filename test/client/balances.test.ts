/** Balances in the client's user stream: each once and in order over gaps, and what is lost is told as lost. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { NodeClient, Wallet } from '../../client/client.ts';
import { TestNode, temporaryDirectory, until, withMarkets } from '../common/node-harness.ts';
import { FaultyProxy } from './proxy.ts';

test('balances are told once each, over a gap and over a restart of the node', async () => {
  const dataDir = temporaryDirectory();
  const [market] = await withMarkets(dataDir, [{ id: 1 }]);
  const settings = { LEDGER: 'on', FAUCET: '1000' };
  let node = await TestNode.start(dataDir, settings);
  const target = { port: node.port };
  const proxy = await FaultyProxy.start(target);
  const wallet = Wallet.fromSeed('client test/balances');
  const client = await NodeClient.connect(proxy.url, { wallet, connections: 1 });
  const reserved: string[] = [];
  let [missed, reconciled] = [0, 0];
  const orders: string[] = [];
  const stream = await client.followUser({
    order: ({ type }) => orders.push(type),
    balance: (event) => reserved.push(`${event.asset_type} ${event.reserved} of ${event.total}`),
    missedBalances: () => {
      missed += 1;
    },
    reconciled: () => {
      reconciled += 1;
    },
  });
  const [tokenId = ''] = market!.tokenIds;
  const place = () => client.orders.post({ tokenId, side: 'BUY', price: '0.3', size: '20' });
  const expected = (count: number): string[] =>
    Array.from({ length: count }, (_, i) => `COLLATERAL ${6 * (i + 1)} of 1000`);
  await place();
  await until(() => reserved.length === 1);
  let dropped = 0;
  proxy.drops = (text) => text.includes('"balance"') && dropped++ === 0;
  await place();
  await place();
  await until(() => reserved.length === 3 && orders.length === 3);
  assert.deepEqual([reserved, missed, orders.length], [expected(3), 0, 3]);

  await node.stop();
  node = await TestNode.start(dataDir, settings);
  target.port = node.port;
  proxy.cutStreams();
  await place();
  await until(() => reserved.length === 4 && orders.length === 4);
  assert.deepEqual([reserved, missed, reconciled, orders.length], [expected(4), 0, 0, 4]);
  stream.close();
  await node.stop();
  proxy.stop();
});
