/** Long and many requests of one wallet beside others: who goes first, and what each is answered. */
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  book,
  levels,
  send,
  TestNode,
  temporaryDirectory,
  withMarkets,
} from '../common/node-harness.ts';
import { bodyOf, type Result, type Signed, Trader } from '../common/traders.ts';

const LONG = 500;
const dataDir = temporaryDirectory();
const [coin, dime] = await withMarkets(dataDir, [{ id: 1 }, { id: 2 }]);
assert(coin && dime);
const node = await TestNode.start(dataDir, { WORKERS: '1' });
const alice = await Trader.join(node, 'alice');
const bob = await Trader.join(node, 'bob');

const bids = (trader: Trader, count: number): Signed[] =>
  Array.from({ length: count }, (_, i) =>
    trader.sign({ market: coin, side: 'BUY', ticks: 1 + (i % 40), shares: 10 }),
  );

test('an order of another wallet passes long batches that came before it', async () => {
  const one = alice.sign({
    market: coin,
    side: 'BUY',
    ticks: 1,
    shares: 10,
    sent: { signature: `0x${'11'.repeat(64)}1b` },
  });
  const body = bodyOf(Array.from({ length: LONG }, () => one));
  const ended: string[] = [];
  const batches = Array.from({ length: 3 }, async () => {
    const reply = await alice.postText(node, body);
    ended.push('long');
    assert.equal(reply.status, 200, reply.text);
    const errors = new Set((reply.json as Result[]).map(({ errorMsg }) => errorMsg));
    assert.deepEqual([...errors], ['invalid order signature']);
  });
  const order = JSON.stringify(bob.sign({ market: dime, side: 'BUY', ticks: 1, shares: 10 }).item);
  // Until the first batch is in a worker.
  await send(node, 'GET', '/ok');
  const reply = await bob.ask(node, 'POST', '/order', order);
  ended.push('short');
  assert.equal(reply.status, 200, reply.text);
  await Promise.all(batches);
  assert.deepEqual(ended, ['short', 'long', 'long', 'long']);
});

test('a long batch is answered order by order, with blanks between them, too', async () => {
  const orders = bids(alice, LONG);
  const text = JSON.stringify(
    orders.map(({ item }) => item),
    undefined,
    1,
  );
  const { json, status } = await alice.postText(node, text);
  assert.equal(status, 200);
  assert.deepEqual(
    (json as Result[]).map(({ orderID }) => orderID),
    orders.map(({ id }) => id),
  );
  const again = await alice.postText(node, bodyOf(orders));
  assert.deepEqual(
    new Set((again.json as Result[]).map(({ success }) => success)),
    new Set([false]),
  );
  const canceled = await alice.cancel(node, '/cancel-all');
  assert.equal(canceled.canceled.length, LONG);
});

test('a fault in the last order of a long batch places none of it', async () => {
  const items = bids(alice, LONG).map(({ item }) => item);
  const body = JSON.stringify([...items.slice(1), { ...items[0], orderType: 'NEVER' }]);
  const { json, status } = await alice.postText(node, body);
  assert.equal(status, 400);
  assert.equal((json as { error: string }).error, 'Invalid order payload');
  assert.deepEqual(levels((await book(node, coin.tokenIds[0]!)).bids), []);
});

test('a cancel stays behind the long batch that came before it', async () => {
  const placing = alice.postText(node, bodyOf(bids(alice, LONG)));
  await send(node, 'GET', '/ok');
  const canceling = alice.cancel(node, '/cancel-all');
  assert.equal((await placing).status, 200);
  assert.equal((await canceling).canceled.length, LONG);
});

test('many short batches of one wallet do not make others wait for all of them', async () => {
  const body = bodyOf(bids(alice, 40));
  const ended: string[] = [];
  const batches = Array.from({ length: 20 }, async () => {
    assert.equal((await alice.postText(node, body)).status, 200);
    ended.push('many');
  });
  const order = JSON.stringify(bob.sign({ market: dime, side: 'BUY', ticks: 1, shares: 10 }).item);
  await send(node, 'GET', '/ok');
  assert.equal((await bob.ask(node, 'POST', '/order', order)).status, 200);
  const before = ended.length;
  await Promise.all(batches);
  assert(before < 15, `${before} of 20 batches were answered first`);
});

test('nothing is left open', async () => {
  await alice.cancel(node, '/cancel-all');
  await node.stop();
});
