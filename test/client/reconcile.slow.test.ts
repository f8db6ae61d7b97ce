import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { NodeClient, type OrderEvent, type TradeEvent, Wallet } from '../../client/client.ts';
import { TestNode, temporaryDirectory, until, withMarkets } from '../common/node-harness.ts';
import { FaultyProxy } from './proxy.ts';

const dataDir = temporaryDirectory();
const [market] = await withMarkets(dataDir, [{ id: 1 }]);
assert(market);
const [tokenId = ''] = market.tokenIds;
let node = await TestNode.start(dataDir);
const target = { port: node.port };
const proxy = await FaultyProxy.start(target);
const wallet = Wallet.fromSeed('reconcile test/owner');

const connect = (name: string): Promise<NodeClient> =>
  NodeClient.connect(`http://127.0.0.1:${node.port}`, {
    wallet: Wallet.fromSeed(`reconcile test/${name}`),
  });

/** A port without a listener. */
const NOWHERE = 1;

test('own orders and trades arrive once each as messages after a gap', async () => {
  let owner = await connect('owner');
  const sell = (price: string) => ({ tokenId, side: 'SELL', price, size: '10' }) as const;
  const buy = (price: string) => ({ tokenId, side: 'BUY', price, size: '5', type: 'FOK' }) as const;
  const early = await owner.orders.post(sell('0.9'));
  const follower = await NodeClient.connect(proxy.url, { wallet });
  const orders: OrderEvent[] = [];
  const trades: TradeEvent[] = [];
  let missed = 0;
  let reconciled = 0;
  const stream = await follower.followUser({
    order: (event) => orders.push(event),
    trade: (event) => trades.push(event),
    missed: () => {
      missed += 1;
    },
    reconciled: () => {
      reconciled += 1;
    },
  });
  const kept = await owner.orders.post(sell('0.8'));
  await until(() => orders.length === 1);

  target.port = NOWHERE;
  proxy.cutStreams();
  await node.stop();
  rmSync(join(dataDir, 'recent-batches'));
  node = await TestNode.start(dataDir);
  owner = await connect('owner');
  const rival = await connect('rival');
  const fresh = await owner.orders.post(sell('0.7'));
  const gone = await owner.orders.post(sell('0.6'));
  await rival.orders.post({ ...buy('0.6'), size: '10' });
  await rival.orders.post(buy('0.7'));
  await owner.orders.cancel(early.id);
  assert.deepEqual([missed, orders.length, trades.length], [0, 1, 0]);
  target.port = node.port;
  await until(() => reconciled === 1);

  const told = orders.slice(1).map(({ id, size_matched, type }) => [id, type, size_matched]);
  assert.deepEqual(
    new Map(told.map(([id, ...rest]) => [id, rest])),
    new Map([
      [fresh.id, ['PLACEMENT', '5']],
      [gone.id, ['UPDATE', '10']],
      [early.id, ['CANCELLATION', '0']],
    ]),
  );
  assert.equal(told.length, 3);
  assert.deepEqual(
    trades.map(({ price, size, status }) => [price, size, status]),
    [
      ['0.6', '10', 'MATCHED'],
      ['0.6', '10', 'CONFIRMED'],
      ['0.7', '5', 'MATCHED'],
      ['0.7', '5', 'CONFIRMED'],
    ],
  );
  assert(missed >= 1);

  await stream.reconcile();
  assert.deepEqual([orders.length, trades.length, reconciled], [4, 4, 2]);
  await owner.orders.cancel(kept.id);
  await until(() => orders.length === 5);
  assert.deepEqual([orders[4]?.id, orders[4]?.type], [kept.id, 'CANCELLATION']);
  assert.notEqual(orders[4]?.sequence, '');
  stream.close();
  proxy.stop();
  await node.stop();
});
