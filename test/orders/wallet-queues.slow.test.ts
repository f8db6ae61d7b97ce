/**
 * Wallet queues: long and many requests of one wallet beside those of others, their order, and
 * their answers.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { orderRequest, type Request } from '../../server/orders/exchange-memory/slot-requests.ts';
import { RequestKind } from '../../server/orders/exchange-memory/slots.ts';
import { WalletQueue } from '../../server/orders/intake/wallet-queue.ts';
import {
  book,
  levels,
  send,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { bodyOf, type Canceled, type Result, type Signed, Trader } from '../common/traders.ts';

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

/** Orders of a long batch that leaves nothing behind, and keeps a worker busy. */
const refusedBatch = (): string => {
  const sent = { signature: `0x${'11'.repeat(64)}1b` };
  const one = alice.sign({ market: coin, side: 'BUY', ticks: 1, shares: 10, sent });
  return bodyOf(Array.from({ length: LONG }, () => one));
};

/** Tries to overtake others: a machine that stands still meanwhile puts the request behind them. */
const TRIES = 20;

/**
 * Order of answers of `long` long batches, and of a request that is sent once the first of them is
 * in a worker.
 */
async function race(long: number, request: () => Promise<void>): Promise<string[]> {
  const body = refusedBatch();
  const ended: string[] = [];
  const batches = Array.from({ length: long }, async () => {
    const reply = await alice.postText(node, body);
    ended.push('long');
    assert.equal(reply.status, 200, reply.text);
    const errors = new Set((reply.json as Result[]).map(({ errorMsg }) => errorMsg));
    assert.deepEqual([...errors], ['invalid order signature']);
  });
  await send(node, 'GET', '/ok');
  await request();
  ended.push('short');
  await Promise.all(batches);
  return ended;
}

test('an order of another wallet overtakes long batches that came before it', async () => {
  let ended: string[] = [];
  for (let tries = 0; tries < TRIES && ended[0] !== 'short'; tries++) {
    const { item } = bob.sign({ market: dime, side: 'BUY', ticks: 1, shares: 10 });
    ended = await race(3, async () => {
      const reply = await bob.ask(node, 'POST', '/order', JSON.stringify(item));
      assert.equal(reply.status, 200, reply.text);
    });
  }
  assert.deepEqual(ended, ['short', 'long', 'long', 'long']);
});

test('a cancel of another wallet overtakes long batches that came before it', async () => {
  let ended: string[] = [];
  for (let tries = 0; tries < TRIES && ended.at(-1) !== 'long'; tries++) {
    const { orderID } = await bob.place(node, { market: dime, side: 'BUY', ticks: 2, shares: 10 });
    ended = await race(8, async () => {
      const reply = await bob.ask(node, 'DELETE', '/order', JSON.stringify({ orderID }));
      assert.deepEqual((reply.json as Canceled).canceled, [orderID]);
    });
  }
  assert.equal(ended.at(-1), 'long');
});

test('wrong credentials are answered 401 also when there is no room for requests', async (t) => {
  const full = await TestNode.start(temporaryDirectory(), { WORKERS: '1', ENGINE_QUEUE: '1' });
  t.after(() => full.stop());
  const carol = await Trader.join(full, 'carol');
  const body = refusedBatch();
  const wrong = { SERVICE_SIGNATURE: 'a'.repeat(64) };
  await until(async () => {
    const asked = [{}, {}, {}, wrong, {}].map((change) => carol.postText(full, body, change));
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    assert.equal(statuses.splice(3, 1)[0], 401);
    return statuses.includes(503);
  });
});

test('a long batch with blanks between its orders is answered order by order', async () => {
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

test('a fault in the last order of a long batch places none of its orders', async () => {
  const items = bids(alice, LONG).map(({ item }) => item);
  const body = JSON.stringify([...items.slice(1), { ...items[0], orderType: 'NEVER' }]);
  const { json, status } = await alice.postText(node, body);
  assert.equal(status, 400);
  assert.equal((json as { error: string }).error, 'Invalid order payload');
  assert.deepEqual(levels((await book(node, coin.tokenIds[0]!)).bids), []);
});

test('requests of a wallet keep their order, and one of another wallet does not wait', () => {
  const taken: string[] = [];
  const under: Request[] = [];
  const submit = (request: Request): void => {
    taken.push(String(request.body.subarray(0, 3)));
    under.push(request);
  };
  const lines = new WalletQueue({ submit, resume: submit }, 16);
  const send = (name: string, wallet: number, bytes: number): void => {
    const owner = { address: new Uint8Array(20).fill(wallet), apiKeyBytes: new Uint8Array(16) };
    const body = Buffer.alloc(bytes, name);
    lines.submit(orderRequest(RequestKind.order, owner, body, () => undefined));
  };
  send('a-1', 1, 40_000);
  send('a-2', 1, 40_000);
  send('a-3', 1, 10);
  send('b-1', 2, 10);
  assert.deepEqual(taken, ['a-1', 'b-1']);
  assert.equal(lines.waiting, 2);
  under[0]!.answered(200, '');
  assert.deepEqual(taken, ['a-1', 'b-1', 'a-2', 'a-3']);
  assert.equal(lines.waiting, 0);
});

test('no request is left open', async () => {
  await alice.cancel(node, '/cancel-all');
  await node.stop();
});
