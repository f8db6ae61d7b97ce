/**
 * Own orders and trades of a whole node, over real sockets. Every accepted order stays queryable:
 * while it is open, after it has ended, after it has left memory, and after a kill.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  get,
  type Reply,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { SHORT } from '../common/random.ts';
import { seconds, type Terms, Trader } from '../common/traders.ts';

interface OrderJson {
  readonly id: string;
  readonly status: string;
  readonly reason: string;
  readonly market: string;
  readonly asset_id: string;
  readonly size_matched: string;
  readonly associate_trades: readonly string[];
}

interface TradeJson {
  readonly id: string;
  readonly asset_id: string;
  readonly owner: string;
  readonly trader_side: string;
  readonly transaction_hash: string;
  readonly taker_order_id: string;
  readonly maker_orders: readonly { readonly order_id: string; readonly owner: string }[];
}

interface PageJson<Row> {
  readonly data: readonly Row[];
  readonly next_cursor: string;
  readonly limit: number;
  readonly count: number;
}

const NIL = '00000000-0000-0000-0000-000000000000';
/** The smallest history: closed orders are soon on disk alone. */
const settings = { ORDER_HISTORY: '16' };
const dataDir = temporaryDirectory();
const [pair, other] = await withMarkets(dataDir, [{ id: 1 }, { id: 2, tick: 0.0025 }]);
assert(pair && other);
let node = await TestNode.start(dataDir, settings);
const alice = await Trader.join(node, 'alice');
const bob = await Trader.join(node, 'bob');

async function orderOf(trader: Trader, id: string): Promise<OrderJson> {
  const { json, status, text } = await trader.call(node, 'GET', `/data/order/${id}`);
  assert.equal(status, 200, text);
  return json as OrderJson;
}

async function page<Row>(trader: Trader, path: string, query = ''): Promise<PageJson<Row>> {
  const { json, status, text } = await trader.call(node, 'GET', path, query);
  assert.equal(status, 200, text);
  const found = json as PageJson<Row>;
  assert.deepEqual([found.limit, found.count], [100, found.data.length]);
  return found;
}

const ordersOf = (trader: Trader, query = '') => page<OrderJson>(trader, '/data/orders', query);
const tradesOf = (trader: Trader, query = '') => page<TradeJson>(trader, '/data/trades', query);

async function placed(trader: Trader, terms: Terms): Promise<string> {
  return (await trader.place(node, terms)).orderID;
}

function refuses(reply: Reply, status: number, error: string): void {
  assert.deepEqual([reply.status, (reply.json as { error: string }).error], [status, error]);
}

function expiring(inSeconds: number): Terms {
  const signed = { expiration: seconds(inSeconds) };
  return { market: pair!, side: 'BUY', ticks: 2, shares: 5, type: 'GTD', signed };
}

const ids = {
  open: await placed(alice, { market: pair, side: 'BUY', ticks: 40, shares: 100 }),
  part: await placed(alice, { market: pair, side: 'SELL', ticks: 60, shares: 20 }),
  filled: await placed(alice, { market: pair, outcome: 1, side: 'BUY', ticks: 35, shares: 5 }),
  taker: '',
  killed: '',
  dated: await placed(alice, expiring(600)),
  fine: await placed(alice, { market: other, side: 'BUY', ticks: 133, shares: 12.5 }),
};
ids.taker = await placed(bob, { market: pair, side: 'BUY', ticks: 65, shares: 15 });
ids.killed = await placed(bob, { market: pair, side: 'BUY', ticks: 65, shares: 50, type: 'FAK' });

test('an order has its state and the reason of its end, for its owner alone', async () => {
  const open = await orderOf(alice, ids.open);
  assert.deepEqual(open, {
    id: ids.open,
    status: 'live',
    reason: '',
    market: pair.conditionId,
    asset_id: pair.tokenIds[0],
    outcome: 'Yes',
    owner: alice.trio.apiKey,
    maker_address: alice.address,
    side: 'BUY',
    original_size: '100',
    size_matched: '0',
    price: '0.4',
    order_type: 'GTC',
    expiration: '0',
    associate_trades: [],
    created_at: (open as unknown as { created_at: number }).created_at,
  });
  const states = async (trader: Trader, id: string) => {
    const { associate_trades, reason, size_matched, status } = await orderOf(trader, id);
    return [status, reason, size_matched, associate_trades.length];
  };
  assert.deepEqual(await states(alice, ids.filled), ['matched', 'filled', '5', 1]);
  assert.deepEqual(await states(alice, ids.part), ['matched', 'filled', '20', 2]);
  assert.deepEqual(await states(bob, ids.taker), ['matched', 'filled', '15', 1]);
  assert.deepEqual(await states(bob, ids.killed), ['matched', 'fakRemainder', '10', 1]);
  const fine = (await orderOf(alice, ids.fine)) as unknown as { price: string };
  assert.equal(fine.price, '0.3325');
  for (const [trader, id] of [
    [bob, ids.open],
    [bob, ids.filled],
    [alice, `0x${'0'.repeat(64)}`],
    [alice, 'x'],
  ] as const) {
    refuses(await trader.call(node, 'GET', `/data/order/${id}`), 404, 'order not found');
  }
  assert.equal(
    (await orderOf(alice, ids.open.replace('0x', '0X').toUpperCase().replace('X', 'x'))).id,
    ids.open,
  );
});

test('open orders come in pages, newest first, by market, token, wallet and id', async () => {
  const all = await ordersOf(alice);
  assert.deepEqual(
    all.data.map(({ id }) => id),
    [ids.fine, ids.dated, ids.open],
  );
  assert.equal(all.next_cursor, 'LTE=');
  const found = async (query: string) => (await ordersOf(alice, query)).data.map(({ id }) => id);
  assert.deepEqual(await found(`?market=${other.conditionId.toUpperCase().replace('X', 'x')}`), [
    ids.fine,
  ]);
  assert.deepEqual(await found(`?asset_id=${pair.tokenIds[0]}&market=`), [ids.dated, ids.open]);
  assert.deepEqual(await found(`?asset_id=${pair.tokenIds[1]}`), []);
  assert.deepEqual(await found(`?asset_id=1&market=0x${'1'.repeat(64)}`), []);
  assert.deepEqual(await found(`?maker=${alice.address}&id=${ids.open}`), [ids.open]);
  assert.deepEqual(await found(`?maker_address=${bob.address}`), []);
  assert.deepEqual(await found(`?maker=${alice.address}&maker_address=${bob.address}`), []);
  assert.deepEqual(await found(`?id=${ids.filled}`), [], 'it is not open');
  assert.deepEqual(await found(`?id=${ids.open}&market=${other.conditionId}`), []);
  assert.deepEqual(await ordersOf(await Trader.join(node, 'carol')), {
    data: [],
    next_cursor: 'LTE=',
    limit: 100,
    count: 0,
  });

  const many = Array.from({ length: 130 }, () =>
    bob.sign({ market: pair, side: 'BUY', ticks: 1, shares: 5 }),
  );
  await bob.post(node, many);
  const first = await ordersOf(bob, '?next_cursor=MA==');
  const second = await ordersOf(bob, `?next_cursor=${first.next_cursor}`);
  assert.deepEqual([first.next_cursor, second.next_cursor], ['MTAw', 'LTE=']);
  assert.deepEqual(
    [first, second].flatMap(({ data }) => data.map(({ id }) => id)),
    many.map(({ id }) => id).reverse(),
  );
  assert.equal((await ordersOf(bob, '?next_cursor=OTk5')).count, 0, 'past the end');
});

test('both sides see a trade, each with its own API key and no other', async () => {
  const [killed, taken] = (await tradesOf(bob)).data;
  const [last, first] = (await tradesOf(alice)).data;
  assert(killed && taken && first && last);
  assert.deepEqual([taken.taker_order_id, killed.taker_order_id], [ids.taker, ids.killed]);
  assert.deepEqual([first.id, last.id], [taken.id, killed.id]);
  assert.deepEqual([taken.trader_side, first.trader_side], ['TAKER', 'MAKER']);
  assert.deepEqual([taken.owner, first.owner], [bob.trio.apiKey, NIL]);
  const makers = (trade: TradeJson) => trade.maker_orders.map(({ order_id }) => order_id);
  const owners = (trade: TradeJson) => trade.maker_orders.map(({ owner }) => owner);
  assert.deepEqual(makers(killed), [ids.part, ids.filled]);
  assert.deepEqual(
    [owners(killed), owners(last)],
    [
      [NIL, NIL],
      [alice.trio.apiKey, alice.trio.apiKey],
    ],
  );
  assert.deepEqual((await orderOf(alice, ids.part)).associate_trades, [taken.id, killed.id]);

  const found = async (query: string) => (await tradesOf(alice, query)).data.map(({ id }) => id);
  assert.deepEqual(await found(`?id=${taken.id}`), [taken.id]);
  assert.deepEqual(await found('?id=nothing'), []);
  assert.deepEqual(await found(`?market=${other.conditionId}`), []);
  assert.deepEqual(await found(`?asset_id=${pair.tokenIds[1]}`), [killed.id], 'of an own order');
  assert.deepEqual(await found(`?maker_address=${alice.address}&taker=${bob.address}`), [
    killed.id,
    taken.id,
  ]);
  assert.deepEqual(await found(`?taker=${alice.address}`), []);
  assert.deepEqual(await found(`?after=${seconds(60)}`), []);
  assert.deepEqual(await found(`?before=${seconds(60)}&after=${seconds(-60)}`), [
    killed.id,
    taken.id,
  ]);
  const shown = (await get(node, '/trades')).json as { transactionHash: string }[];
  assert.deepEqual(
    shown.map(({ transactionHash }) => transactionHash),
    [killed.transaction_hash, taken.transaction_hash],
  );
});

test('malformed queries are refused and named', async () => {
  const ask = (path: string, query: string) => alice.call(node, 'GET', path, query);
  refuses(await ask('/data/orders', '?next_cursor=LTE='), 400, 'invalid next_cursor');
  refuses(await ask('/data/trades', '?next_cursor=x'), 400, 'invalid next_cursor');
  refuses(await ask('/data/orders', '?market=1'), 400, 'invalid market');
  refuses(await ask('/data/orders', '?maker=0x1'), 400, 'invalid maker');
  refuses(await ask('/data/trades', '?before=-1'), 400, 'invalid before');
  refuses(await ask('/data/trades', '?asset_id=yes'), 400, 'invalid asset_id');
  const { status } = await get(node, '/data/orders');
  assert.equal(status, 401);
});

test('orders stay queryable after they have left memory, and after a kill', {
  skip: SHORT,
}, async () => {
  const expires = await placed(alice, expiring(5));
  await until(async () => (await orderOf(alice, expires)).status !== 'live');
  const before = new Map<string, OrderJson>();
  for (const id of [ids.open, ids.part, ids.filled, ids.fine, expires]) {
    before.set(id, await orderOf(alice, id));
  }
  const { reason, status } = before.get(expires)!;
  assert.deepEqual([status, reason], ['canceled', 'expired']);
  assert(!(await ordersOf(alice)).data.some(({ id }) => id === expires));

  // Ends of other orders push these out of memory, once their final states are on disk.
  const asks = Array.from({ length: 20 }, () =>
    bob.sign({ market: pair, side: 'SELL', ticks: 90, shares: 5 }),
  );
  await bob.post(node, asks);
  await bob.place(node, { market: pair, side: 'BUY', ticks: 90, shares: 100, type: 'FOK' });
  await sleep(100);
  await bob.place(node, { market: pair, side: 'BUY', ticks: 1, shares: 5 });
  const check = async (): Promise<void> => {
    for (const [id, order] of before) assert.deepEqual(await orderOf(alice, id), order);
    refuses(await bob.call(node, 'GET', `/data/order/${ids.filled}`), 404, 'order not found');
  };
  await check();
  const trades = await tradesOf(alice);
  await node.end('SIGKILL');
  node = await TestNode.start(dataDir, settings);
  await check();
  assert.deepEqual(await tradesOf(alice), trades);
  const answer = await bob.call(node, 'GET', '/data/orders');
  assert.equal((answer.json as PageJson<OrderJson>).count, 100);
});
