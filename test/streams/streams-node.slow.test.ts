import assert from 'node:assert/strict';
import test from 'node:test';
import { openCatalog } from '../../storage/catalog/catalog.ts';
import { readCatalog } from '../../storage/catalog/catalog-file.ts';
import { book, catalogFile, until } from '../common/node-harness.ts';
import { SocketClient } from '../common/socket-client.ts';
import { Trader } from '../common/traders.ts';
import { BookFollower } from './book-follower.ts';
import {
  assertFits,
  followMarket,
  followUser,
  type Json,
  ofType,
  startNode,
} from './stream-node.ts';

const TERMS = [{ id: 1 }, { id: 2, outcomes: ['A', 'B', 'C'] }, { id: 3, tick: 0.001 }];

const node = await startNode(TERMS);
const alice = await Trader.join(node, 'alice');
const bob = await Trader.join(node, 'bob');

function tokens(market: number): readonly string[] {
  return node.markets[market]!.tokenIds;
}

test('a subscription is answered with the book of each known token, equal to POST /books', async () => {
  const [yes, no] = tokens(0);
  await alice.place(node, { market: node.markets[0]!, side: 'BUY', ticks: 40, shares: 50 });
  const client = await followMarket(node, [yes!, '123', no!]);
  const events = await client.upToNow();
  assert.deepEqual(
    events.map(({ event_type, asset_id }) => [event_type, asset_id]),
    [
      ['book', yes],
      ['book', no],
    ],
  );
  for (const event of events) {
    assertFits(event);
    const { event_type: _, previous, sequence, server_ts_ms, stream_id, ...rest } = event;
    assert.deepEqual(rest, await book(node, String(event.asset_id)));
    assert.match(String(stream_id), new RegExp(`^asset:${event.asset_id}:`));
    assert(Math.abs(Number(server_ts_ms) - Date.now()) < 60_000);
    assert.match(String(sequence), /^[0-9]{12}9999999$/, 'the end of a batch');
    assert.equal(previous, sequence);
  }
  client.cut();
});

test('a message that requests an answer gets it before its books, with the unknown names', async () => {
  const [yes = '', no = ''] = tokens(0);
  const [a = ''] = tokens(1);
  const client = await SocketClient.open(node, '/ws/market');
  const answered = async (message: Json): Promise<readonly [unknown, Json]> => {
    client.send({ ...message, ack: true });
    const [answer, ...books] = await client.upToNow();
    assertFits(answer!);
    const { event_type, server_ts_ms, ...rest } = answer!;
    assert.equal(event_type, 'subscription');
    assert(Math.abs(Number(server_ts_ms) - Date.now()) < 60_000);
    return [books.map(({ asset_id }) => asset_id), rest];
  };
  const wrong = ['123', 'no number', `0x${'9'.repeat(200)}`];
  assert.deepEqual(await answered({ type: 'market', assets_ids: [yes, ...wrong] }), [
    [yes],
    {
      operation: 'subscribe',
      known: '1',
      unknown: ['123', 'no number', `0x${'9'.repeat(98)}`],
      unknown_count: '3',
      following: '1',
    },
  ]);
  const { conditionId } = node.markets[1]!;
  const unknown = `0x${'7'.repeat(64)}`;
  const markets = { type: 'market', markets: [conditionId, unknown], initial_dump: false };
  assert.deepEqual(await answered(markets), [
    [],
    { operation: 'subscribe', known: '1', unknown: [unknown], unknown_count: '1', following: '4' },
  ]);
  const off = { operation: 'unsubscribe', assets_ids: [yes, a, '5'] };
  assert.deepEqual(await answered(off), [
    [],
    { operation: 'unsubscribe', known: '2', unknown: ['5'], unknown_count: '1', following: '2' },
  ]);
  const many = Array.from({ length: 150 }, (_, i) => String(1_000 + i));
  const [, listed] = await answered({ type: 'market', assets_ids: many });
  assert.deepEqual([(listed.unknown as Json[]).length, listed.unknown_count], [100, '150']);
  client.send({ type: 'market', assets_ids: [no], ack: false });
  assert.deepEqual(ofType(await client.upToNow(), 'subscription'), []);
  client.send({ type: 'market', assets_ids: 7, ack: true });
  const [refused, ...none] = await client.upToNow();
  assert.deepEqual([refused!.error, none], ['invalid_message', []]);
  client.cut();
});

test('a message is answered with STREAM_ACKS=on unless it says otherwise, on both paths', async () => {
  const own = await startNode(TERMS, { STREAM_ACKS: 'on' });
  const trader = await Trader.join(own, 'acknowledged');
  const client = await SocketClient.open(own, '/ws/market');
  client.send({ type: 'market', assets_ids: ['1'] });
  assert.deepEqual((await client.upToNow())[0]!.unknown, ['1']);
  client.send({ type: 'market', assets_ids: ['1'], ack: false });
  assert.deepEqual(await client.upToNow(), []);
  const { apiKey, passphrase, secret } = trader.trio;
  const user = await SocketClient.open(own, '/ws/user');
  const auth = { apiKey, passphrase, secret };
  const { conditionId } = own.markets[0]!;
  const answer = async (message: Json): Promise<unknown[]> => {
    user.send(message);
    return (await user.upToNow()).map((event) => {
      assertFits(event);
      return [event.operation, event.known, event.unknown, event.following];
    });
  };
  assert.deepEqual(await answer({ type: 'user', auth, markets: [conditionId, '0x1'] }), [
    ['subscribe', '1', ['0x1'], '1'],
  ]);
  assert.deepEqual(await answer({ type: 'user' }), [['subscribe', '0', [], 'all']]);
  assert.deepEqual(await answer({ operation: 'unsubscribe' }), [['unsubscribe', '0', [], '0']]);
  user.send({ type: 'user', auth: { ...auth, secret: 'wrong' } });
  assert.equal((await user.json()).error, 'invalid_auth');
  for (const each of [client, user]) each.cut();
  await own.stop();
});

test('every known form of subscribing works, and the later ones add to the first', async () => {
  const [yes, no] = tokens(0);
  const [a, b, c] = tokens(1);
  const client = await SocketClient.open(node, '/ws/market');
  const firstBooks = async (message: Json): Promise<unknown[]> => {
    client.send(message);
    return (await client.upToNow()).map(({ asset_id }) => asset_id);
  };
  assert.deepEqual(await firstBooks({ assets_ids: [yes], type: 'market' }), [yes]);
  assert.deepEqual(await firstBooks({ assets_ids: [no], type: 'MARKET', markets: null }), [no]);
  assert.deepEqual(
    await firstBooks({ assets_ids: [a], operation: 'subscribe', initial_dump: true }),
    [a],
  );
  assert.deepEqual(await firstBooks({ type: 'market', assets_ids: [b], initial_dump: false }), []);
  assert.deepEqual(
    await firstBooks({
      type: 'market',
      operation: 'subscribe',
      markets: [node.markets[1]!.conditionId.toUpperCase().replace('0X', '0x')],
      assets_ids: [],
    }),
    [a, b, c],
  );
  assert.deepEqual(
    await firstBooks({ type: 'market', assets_ids: [], custom_feature_enabled: true }),
    [],
  );
  assert.deepEqual(await firstBooks({ operation: 'unsubscribe', assets_ids: [yes, b] }), []);
  const market = node.markets[1]!;
  for (const outcome of [0, 1, 2]) {
    await alice.place(node, { market, outcome, side: 'BUY', ticks: 30, shares: 10 });
  }
  const changed = ofType(await client.upToNow(), 'price_change').flatMap(({ price_changes }) =>
    (price_changes as Json[]).map(({ asset_id }) => asset_id),
  );
  assert.deepEqual(changed, [a, c]);
  client.cut();
});

test('placements, matches and cancels by a new tick are published with totals, for both tokens', async () => {
  const [yes, no] = tokens(0);
  const client = await followMarket(node, [yes!, no!], { custom_feature_enabled: true });
  const follower = new BookFollower();
  for (const event of await client.upToNow()) follower.take(JSON.stringify(event));
  const market = node.markets[0]!;
  const placed = await alice.place(node, { market, side: 'BUY', ticks: 45, shares: 20 });
  const [change, ...rest] = await client.upToNow();
  assertFits(change!);
  const entry = { size: '20', hash: placed.orderID };
  assert.deepEqual(change!.price_changes, [
    { asset_id: yes, price: '0.45', side: 'BUY', ...entry, best_bid: '0.45', best_ask: '1' },
    { asset_id: no, price: '0.55', side: 'SELL', ...entry, best_bid: '0', best_ask: '0.55' },
  ]);
  assert.deepEqual(
    rest.map(({ asset_id, best_ask, best_bid, event_type, spread }) => {
      return [event_type, asset_id, best_bid, best_ask, spread];
    }),
    [
      ['best_bid_ask', yes, '0.45', '1', '0.55'],
      ['best_bid_ask', no, '0', '0.55', '0.55'],
    ],
  );
  // Bob buys the other outcome: a mint, which is a trade of both.
  await bob.place(node, { market, outcome: 1, side: 'BUY', ticks: 60, shares: 30 });
  const events = [change!, ...rest, ...(await client.upToNow())];
  for (const event of events) {
    assertFits(event);
    follower.take(JSON.stringify(event));
  }
  assert.deepEqual(
    ofType(events, 'last_trade_price').map(({ asset_id, price, side, size }) => {
      return [asset_id, price, side, size];
    }),
    [
      [yes, '0.45', 'BUY', '20'],
      [yes, '0.4', 'BUY', '10'],
      [no, '0.55', 'BUY', '20'],
      [no, '0.6', 'BUY', '10'],
    ],
  );
  assert.equal(ofType(events, 'book').length, 2);
  for (const token of [yes!, no!])
    assert.equal(follower.hash(token), (await book(node, token)).hash);
  client.cut();
});

test('a new tick and a new market are published when the catalog brings them', async () => {
  const market = node.markets[2]!;
  const [yes, no] = market.tokenIds;
  await alice.place(node, { market, side: 'BUY', ticks: 400, shares: 10 });
  const off = await alice.place(node, { market, side: 'BUY', ticks: 395, shares: 10 });
  const client = await followMarket(node, [yes!, no!]);
  const scout = await followMarket(node, [], { custom_feature_enabled: true });
  const follower = new BookFollower();
  for (const event of await client.upToNow()) follower.take(JSON.stringify(event));
  const terms = [TERMS[0]!, TERMS[1]!, { id: 3, tick: 0.01, minSize: 7 }, { id: 4 }];
  const read = readCatalog(catalogFile(terms));
  assert(read.ok);
  const store = openCatalog(node.dataDir, { durability: 'flushed' });
  await store.replace(read.catalog);
  await store.close();
  await until(() => scout.texts.length > 0);
  const [story] = await scout.upToNow();
  assertFits(story!);
  const listed = read.catalog.markets.at(-1)!;
  assert.equal(story!.event_type, 'new_market');
  assert.deepEqual([story!.id, story!.assets_ids], [listed.conditionId, listed.tokenIds]);
  assert.deepEqual([story!.question, story!.outcomes], ['Question 4?', ['Yes', 'No']]);
  const events = await client.upToNow();
  for (const event of events) {
    assertFits(event);
    follower.take(JSON.stringify(event));
  }
  const [gone] = ofType(events, 'price_change')[0]!.price_changes as Json[];
  assert.deepEqual(gone, {
    asset_id: yes,
    price: '0.395',
    size: '0',
    side: 'BUY',
    hash: off.orderID,
    best_bid: '0.4',
    best_ask: '1',
  });
  assert.deepEqual(
    ofType(events, 'tick_size_change').map(({ asset_id, new_tick_size, old_tick_size }) => {
      return [asset_id, old_tick_size, new_tick_size];
    }),
    [
      [yes, '0.001', '0.01'],
      [no, '0.001', '0.01'],
    ],
  );
  for (const token of [yes!, no!])
    assert.equal(follower.hash(token), (await book(node, token)).hash);
  client.cut();
  scout.cut();
});

test('the user channel has a message for each answer: an order, its trade, its cancel', async () => {
  const market = node.markets[0]!;
  const client = await followUser(node, alice);
  const sold = await alice.place(node, { market, side: 'SELL', ticks: 70, shares: 30 });
  await bob.place(node, { market, side: 'BUY', ticks: 70, shares: 12 });
  const { canceled } = await alice.cancel(node, '/order', { orderID: sold.orderID });
  assert.deepEqual(canceled, [sold.orderID]);
  const events = await client.upToNow();
  for (const event of events) assertFits(event);
  assert.deepEqual(
    events.map(({ event_type, reason, size_matched, status, type }) => {
      return [event_type, type, status, size_matched, reason];
    }),
    [
      ['order', 'PLACEMENT', 'LIVE', '0', undefined],
      ['trade', 'TRADE', 'MATCHED', undefined, undefined],
      ['trade', 'TRADE', 'CONFIRMED', undefined, undefined],
      ['order', 'UPDATE', 'LIVE', '12', undefined],
      ['order', 'CANCELLATION', 'CANCELED', '12', 'canceled'],
    ],
  );
  const [placed] = events;
  assert.deepEqual(
    [placed!.owner, placed!.maker_address, placed!.outcome, placed!.price],
    [alice.trio.apiKey, alice.address, 'Yes', '0.7'],
  );
  client.cut();
});
