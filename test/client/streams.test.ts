import assert from 'node:assert/strict';
import test from 'node:test';
import { NoAnswerError, NodeClient, UnknownTokenError, Wallet } from '../../client/client.ts';
import { until } from '../common/node-harness.ts';
import { all } from './all-rows.ts';
import { join, joinProxy, nodeUrl, plain, proxy, quiet, risky } from './stage.ts';

const maker = await join('stream maker');
const taker = await join('stream taker');

let moves = 0;
async function move(tokenId: string): Promise<void> {
  moves += 1;
  const size = String(20 + moves);
  await maker.orders.postAll([
    { tokenId, side: 'SELL', price: '0.6', size },
    { tokenId, side: 'BUY', price: '0.3', size },
  ]);
  const taking = { tokenId, side: 'BUY', price: '0.6', size: '5', type: 'FAK' } as const;
  assert.equal((await taker.orders.post(taking)).status, 'matched');
}

test('books equal POST /books, and a missed message is noticed and requested again', async () => {
  const client = await joinProxy('follower');
  const gaps: string[] = [];
  let synced = 0;
  const stream = await client.followMarket([plain, risky], {
    gap: (reason) => gaps.push(reason),
    synced: () => {
      synced += 1;
    },
  });
  const isSame = async (): Promise<boolean> => {
    const books = await maker.marketData.books([plain, risky]);
    return books.every(({ asset_id, hash }) => stream.book(asset_id)?.answer.hash === hash);
  };
  await move(plain);
  await move(risky);
  await until(isSame);
  await until(() => stream.confirmed >= 2);
  assert.deepEqual([gaps, synced], [[], 1]);
  assert.equal(stream.book(plain)?.bestAsk, '0.6');

  let dropped = 0;
  proxy.drops = (text) => text.includes('"price_change"') && dropped++ === 0;
  await move(plain);
  await until(() => synced === 2);
  await until(isSame);
  assert.equal(gaps.length, 1);

  proxy.cutStreams();
  await until(() => gaps.length === 2);
  assert.equal(stream.book(plain), undefined);
  await until(() => synced === 3);
  await move(risky);
  await until(isSame);
  assert.equal(gaps.length, 2);
  stream.close();
  await maker.orders.cancelAll();
});

test('own orders and trades arrive once each, over gaps and lost connections', async () => {
  const client = await joinProxy('stream maker');
  const orders: string[] = [];
  const trades: string[] = [];
  let missed = 0;
  const stream = await client.followUser({
    order: ({ id, type }) => orders.push(`${type} ${id}`),
    trade: ({ id, status }) => trades.push(`${status} ${id}`),
    missed: () => {
      missed += 1;
    },
  });
  const before = (await all(maker.orders.trades())).length;
  await move(quiet);
  proxy.cutStreams();
  await move(quiet);
  let dropped = 0;
  proxy.drops = (text) => text.includes('"PLACEMENT"') && dropped++ === 0;
  await move(quiet);
  const made = (await all(maker.orders.trades())).length - before;
  await until(() => trades.length === 2 * made);
  assert.equal(missed, 0);
  assert.equal(new Set(trades).size, 2 * made);
  const placed = orders.filter((text) => text.startsWith('PLACEMENT'));
  assert.equal(placed.length, 6);
  assert.equal(new Set(placed).size, 6);
  stream.close();
});

test('orders of a stream are placed, replaced and cancelled over it, and each once over lost answers and connections', async () => {
  const client = await joinProxy('stream trader', { timeoutMs: 300 });
  const stream = await client.followUser({});
  const terms = { tokenId: quiet, side: 'BUY', price: '0.11', size: '5' } as const;
  await stream.orders.sign(terms); // reads the terms of the market
  const isOfOrders = (line: string): boolean => / \/(order|replace)$/.test(line);
  const overHttp = (): number => proxy.forwarded.filter(isOfOrders).length;
  const before = overHttp();
  const sequence = client.sequence;
  const first = await stream.orders.post(terms);
  assert.deepEqual([first.status, first.isFinal], ['live', true]);
  assert(client.sequence > sequence);
  const { canceled, placed } = await stream.orders.replace(first.id, { ...terms, price: '0.12' });
  assert.deepEqual([canceled, placed?.status], [true, 'live']);
  assert.deepEqual((await stream.orders.cancel(placed!.id)).canceled, [placed!.id]);
  const refused = await stream.orders.post({ ...terms, size: '1' });
  assert.deepEqual([refused.status, refused.code], ['refused', 'SIZE_BELOW_MINIMUM']);
  assert.equal(overHttp(), before);

  // The answer of the first try is lost; the second one is a duplicate.
  let dropped = 0;
  proxy.drops = (text) => text.includes('"answer"') && dropped++ === 0;
  const known = await stream.orders.post(terms);
  assert.deepEqual([known.status, known.known?.id, dropped >= 2], ['live', known.id, true]);
  assert.equal(overHttp(), before);

  // The connection is lost with the request under way, which goes on over HTTP.
  proxy.drops = (text) => {
    if (!text.includes('"answer"')) return false;
    proxy.cutStreams();
    return true;
  };
  const moved = await stream.orders.post(terms);
  assert.equal(moved.known?.id, moved.id);
  assert.equal(overHttp(), before + 1);
  proxy.drops = () => false;
  const open = await all(client.orders.open());
  assert.deepEqual(new Set(open.map(({ id }) => id)), new Set([known.id, moved.id]));
  assert.equal(open.length, 2);
  stream.close();
  assert.deepEqual((await stream.orders.cancel(moved.id)).canceled, [moved.id]);
  await client.orders.cancelAll();
});

test('a key that is wrong or revoked ends the stream for good', async () => {
  const wallet = Wallet.fromSeed('client test/stream key');
  const client = await NodeClient.connect(nodeUrl, { wallet });
  const reasons: string[] = [];
  await client.followUser({ refused: (reason) => reasons.push(reason) });
  await client.keys.revoke();
  await until(() => reasons.length === 1);
  await assert.rejects(client.followUser({}), /invalid_auth/);
});

test('a refused market stream reports it, also after a reconnect', async () => {
  const reasons: string[] = [];
  const noTexts = [7] as unknown as string[];
  const handlers = { refused: (reason: string) => reasons.push(reason) };
  await assert.rejects(maker.followMarket(noTexts, handlers), /invalid_message/);
  assert.match(reasons.join(), /^invalid_message: [^,]+$/);
});

test('an unknown token ends the first subscription at once, and is named', async () => {
  const reasons: string[] = [];
  const handlers = { refused: (reason: string) => reasons.push(reason) };
  const began = performance.now();
  await assert.rejects(maker.followMarket([plain, '123'], handlers), (error) => {
    assert(error instanceof UnknownTokenError);
    assert.equal(error.tokenId, '123');
    return true;
  });
  assert(performance.now() - began < 5_000, 'it did not wait for patience');
  assert.deepEqual(reasons, ['unknown token 123']);
});

test('a stream that cannot be opened fails after the retry limit', async () => {
  const client = await joinProxy('patient', { patienceMs: 100 });
  proxy.drops = () => true;
  await assert.rejects(client.followMarket([plain]), NoAnswerError);
  proxy.drops = () => false;
});
