/**
 * One data directory through three starts with other settings: knowledge about orders outlives
 * memory and process, and new settings take effect.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { openClosedOrdersReader } from '../../storage/projection/closed-orders.ts';
import { useCompiledNodes } from '../common/forms.ts';
import {
  book,
  levels,
  type Settings,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { SHORT } from '../common/random.ts';
import { type Signed, type Terms, Trader } from '../common/traders.ts';

useCompiledNodes();
const DUPLICATE =
  "order is invalid. Duplicated. Same order has already been placed, can't be placed again";
/** The smallest tables: 16 open orders, and ids of 16 closed ones. */
const TINY: Settings = { ORDERS_MAX: '16', ORDER_HISTORY: '16' };

const dataDir = temporaryDirectory();
const [busy, own, other] = await withMarkets(dataDir, [{ id: 1 }, { id: 2 }, { id: 3 }]);
assert(busy && own && other);
let node = await TestNode.start(dataDir, { ...TINY, SELF_TRADE: 'cancel-taker' });
const alice = await Trader.join(node, 'alice');
const bob = await Trader.join(node, 'bob');
const ownToken = own.tokenIds[0] ?? '';
const otherToken = other.tokenIds[0] ?? '';
const closedOrders = openClosedOrdersReader(dataDir);
const finished: Signed[] = [];

async function restart(settings: Settings): Promise<void> {
  await node.stop();
  node = await TestNode.start(dataDir, { ...TINY, ...settings });
}

async function trade(): Promise<void> {
  const sell = alice.sign({ market: busy as Terms['market'], side: 'SELL', ticks: 50, shares: 5 });
  const buy = bob.sign({
    market: busy as Terms['market'],
    side: 'BUY',
    ticks: 50,
    shares: 5,
    type: 'FOK',
  });
  assert.equal((await alice.post(node, [sell]))[0]?.status, 'live');
  assert.equal((await bob.post(node, [buy]))[0]?.status, 'matched');
  finished.push(sell, buy);
}

async function assertAllKnown(): Promise<void> {
  for (const trader of [alice, bob]) {
    const orders = finished.filter(({ item }) => item.owner === trader.trio.apiKey);
    const results = await trader.post(node, orders);
    results.forEach(({ errorMsg, orderID, status }, i) => {
      assert.deepEqual([errorMsg, orderID, status], [DUPLICATE, orders[i]?.id, 'matched']);
    });
  }
}

test('ids that have left memory are still duplicates, and named with their status', async () => {
  // Several times what memory remembers, each time with their final states on disk first.
  for (let round = 0; round < 4; round++) {
    for (let i = 0; i < 10; i++) await trade();
    await until(() => {
      closedOrders.refresh(Number.POSITIVE_INFINITY);
      return finished.every(
        ({ id }) => closedOrders.statusOf(Buffer.from(id.slice(2), 'hex')) !== 0,
      );
    });
    await trade();
    await assertAllKnown();
  }
});

test('cancel-taker refuses an order that would meet its own maker first', async () => {
  await alice.place(node, { market: own, side: 'SELL', ticks: 40, shares: 5 });
  const before = await book(node, ownToken);
  const buy: Terms = { market: own, side: 'BUY', ticks: 45, shares: 5 };
  for (const type of ['GTC', 'FAK', 'FOK'] as const) {
    assert.equal((await alice.order(node, { ...buy, type })).errorMsg, 'self trade prevented');
  }
  assert.deepEqual(await book(node, ownToken), before);
  await bob.place(node, { ...buy, type: 'FOK' });
});

test('a full order table refuses each order that might rest, and accepts those that cannot', async () => {
  const terms: Terms = { market: other, side: 'BUY', ticks: 20, shares: 5 };
  const orders = Array.from({ length: 18 }, () => alice.sign(terms));
  const results = await alice.post(node, orders);
  const texts = results.map(({ errorMsg }) => errorMsg);
  assert.deepEqual(texts, [...Array(16).fill(''), ...Array(2).fill('could not insert order')]);
  const sell: Terms = { market: other, side: 'SELL', ticks: 20, shares: 5 };
  assert.equal((await bob.order(node, sell)).errorMsg, 'could not insert order');
  await bob.place(node, { ...sell, type: 'FOK' });
});

test('ids stay known, open orders stay open, and a larger table has room after a restart', async () => {
  const before = await book(node, otherToken);
  const settings = { SELF_TRADE: 'cancel-maker', ORDERS_MAX: '64', OPEN_ORDERS_PER_ACCOUNT: '15' };
  await restart(settings);
  assert.deepEqual(await book(node, otherToken), before);
  await assertAllKnown();
  const one: Terms = { market: other, side: 'BUY', ticks: 20, shares: 5 };
  assert.equal((await alice.order(node, one)).errorMsg, 'too many open orders');
  await bob.place(node, { market: other, side: 'SELL', ticks: 20, shares: 75, type: 'FOK' });
});

test('ids that left a smaller memory are still known to a larger one', {
  skip: SHORT,
}, async () => {
  await restart({ SELF_TRADE: 'cancel-maker', ORDERS_MAX: '64', ORDER_HISTORY: '1048576' });
  await assertAllKnown();
});

test('cancel-maker lets the taker through to the next order', async () => {
  await alice.place(node, { market: own, side: 'SELL', ticks: 40, shares: 10 });
  await bob.place(node, { market: own, side: 'SELL', ticks: 41, shares: 10 });
  const buy: Terms = { market: own, side: 'BUY', ticks: 41, shares: 10, type: 'FOK' };
  const result = await alice.place(node, buy);
  assert.equal(result.makingAmount, '4.1');
  assert.deepEqual((await book(node, ownToken)).asks, []);
});

test('cancel-both ends both orders, and any signature is accepted without signature checks', {
  skip: SHORT,
}, async () => {
  await restart({ SELF_TRADE: 'cancel-both', ORDERS_MAX: '64', VERIFY_SIGNATURES: 'off' });
  assert.match(node.log, /warn VERIFY_SIGNATURES=off/);
  const unsigned = { signature: `0x${'0'.repeat(130)}` };
  await alice.place(node, { market: own, side: 'SELL', ticks: 40, shares: 10, sent: unsigned });
  assert.deepEqual(levels((await book(node, ownToken)).asks), ['10@0.4']);
  const buy: Terms = { market: own, side: 'BUY', ticks: 40, shares: 10, sent: unsigned };
  assert.equal((await alice.order(node, buy)).errorMsg, 'self trade prevented');
  const { asks, bids } = await book(node, ownToken);
  assert.deepEqual([asks, bids], [[], []]);
  const foreign: Terms = { ...buy, owner: bob.trio.apiKey };
  assert.equal((await alice.order(node, foreign)).errorMsg, 'owner_address_mismatch');
  await node.stop();
});
