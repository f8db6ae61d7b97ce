/**
 * The DELETE routes of orders and POST /order of a whole node: answers, reasons, shapes, owners,
 * and acknowledged cancels after a kill (docs/protocol.md#cancels).
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { CANCEL_ORDERS_MAX } from '../../engine/tables/capacities.ts';
import { useCompiledNodes } from '../common/forms.ts';
import { book, levels, TestNode, temporaryDirectory, withMarkets } from '../common/node-harness.ts';
import { plainRefusal } from '../common/refused.ts';
import { type Result, type Signed, type Terms, Trader } from '../common/traders.ts';

useCompiledNodes();
const dataDir = temporaryDirectory();
const [coin, cup, many] = await withMarkets(dataDir, [
  { id: 1 },
  { id: 2, outcomes: ['Home', 'Draw', 'Away'] },
  { id: 3, tick: 0.001 },
]);
assert(coin && cup && many);
let node = await TestNode.start(dataDir);
const alice = await Trader.join(node, 'alice');
const bob = await Trader.join(node, 'bob');
const carol = await Trader.join(node, 'carol');

const GONE = "order can't be found - already canceled or matched";
const DUPLICATE =
  "order is invalid. Duplicated. Same order has already been placed, can't be placed again";
const UNKNOWN = `0x${'ab'.repeat(32)}`;
const NOTHING = { canceled: [], not_canceled: {}, filled: {} };

async function resting(trader: Trader, terms: Partial<Terms> = {}): Promise<Signed> {
  const order = trader.sign({ market: coin!, side: 'BUY', ticks: 20, shares: 5, ...terms });
  assert.equal((await trader.post(node, [order]))[0]?.status, 'live');
  return order;
}

async function refusal(path: string, body: string): Promise<unknown> {
  const reply = await alice.ask(node, 'DELETE', path, body);
  assert.equal(reply.status, 400, reply.text);
  return reply.json;
}

function misshapen(detail: string): object {
  return { error: 'Invalid order payload', detail, code: 'INVALID_ORDER_PAYLOAD' };
}

async function statusOf(trader: Trader, order: Signed): Promise<string | undefined> {
  const [again] = await trader.post(node, [order]);
  assert.equal(again?.errorMsg, DUPLICATE);
  assert.equal(again.orderID, order.id);
  return again.status;
}

test('a cancel answers the id and the filled size, and a second one gives the reason why not', async () => {
  const order = await resting(alice, { shares: 10 });
  const part = { market: coin, side: 'SELL', ticks: 20, shares: 7.25, type: 'FAK' } as const;
  await bob.place(node, part);
  assert.deepEqual(await alice.cancel(node, '/order', { orderID: order.id }), {
    canceled: [order.id],
    not_canceled: {},
    filled: { [order.id]: '7.25' },
  });
  assert.deepEqual((await book(node, coin.tokenIds[0] ?? '')).bids, []);
  const again = { ...NOTHING, not_canceled: { [order.id]: GONE } };
  assert.deepEqual(await alice.cancel(node, '/order', { orderId: order.id }), again);
  assert.equal(await statusOf(alice, order), 'canceled');
});

test('unknown ids, orders of others and filled ones have the same reason', async () => {
  const foreign = await resting(bob);
  const filled = await resting(alice, { side: 'SELL', ticks: 80 });
  await bob.place(node, { market: coin, side: 'BUY', ticks: 80, shares: 5, type: 'FOK' });
  for (const id of [foreign.id, filled.id, UNKNOWN, 'not an "id"']) {
    const answer = await alice.cancel(node, '/order', { orderID: id });
    assert.deepEqual(answer, { ...NOTHING, not_canceled: { [id]: GONE } });
  }
  assert.equal(await statusOf(alice, filled), 'matched');
  assert.deepEqual((await bob.cancel(node, '/cancel-all')).canceled, [foreign.id]);
});

test('a list is answered order by order, duplicates once, in one answer', async () => {
  const mine = [await resting(alice), await resting(alice, { ticks: 21 })].map(({ id }) => id);
  const foreign = (await resting(bob)).id;
  const [first = '', second = ''] = mine;
  const upper = `0x${second.slice(2).toUpperCase()}`;
  const body = [first, UNKNOWN, first, 'ulid', second, upper, foreign, 'ulid'];
  assert.deepEqual(await alice.cancel(node, '/orders', body), {
    canceled: [first, second],
    not_canceled: { [UNKNOWN]: GONE, [foreign]: GONE, ulid: GONE },
    filled: { [first]: '0', [second]: '0' },
  });
  assert.deepEqual(await alice.cancel(node, '/orders', []), NOTHING);
  await bob.cancel(node, '/order', { orderID: foreign });
});

test('a thousand ids fit into a list, one more does not', async () => {
  const ids = Array.from({ length: 1_001 }, (_, i) => `0x${String(i).padStart(64, '0')}`);
  const answer = await alice.cancel(node, '/orders', ids.slice(1));
  assert.equal(Object.keys(answer.not_canceled).length, 1_000);
  const odd = Array.from({ length: 1_000 }, (_, i) => String(i));
  assert.equal(Object.keys((await alice.cancel(node, '/orders', odd)).not_canceled).length, 1_000);
  assert.deepEqual(plainRefusal(await refusal('/orders', JSON.stringify(ids))), {
    error: 'Too many orders in payload, max allowed: 1000',
    code: 'TOO_MANY_ORDERS',
  });
  const long = 'x'.repeat(1_000_000);
  assert.deepEqual((await alice.cancel(node, '/orders', [long])).not_canceled, { [long]: GONE });
});

test('cancel-all ends every order of the caller and no other', async () => {
  const orders = [
    await resting(alice),
    await resting(alice, { market: cup, outcome: 2 }),
    await resting(alice, { outcome: 1 }),
  ];
  const other = await resting(bob);
  const { canceled, filled } = await alice.cancel(node, '/cancel-all');
  assert.deepEqual(canceled.toSorted(), orders.map(({ id }) => id).toSorted());
  assert(Object.values(filled).every((size) => size === '0'));
  assert.deepEqual(await alice.cancel(node, '/cancel-all', {}), NOTHING);
  assert.deepEqual(await carol.cancel(node, '/cancel-all'), NOTHING, 'who never had an account');
  assert.equal(await statusOf(bob, other), 'live');
  await bob.cancel(node, '/cancel-all');
});

test('cancel-market-orders accepts a market, a token, or both', async () => {
  const [yes = '', no = ''] = coin.tokenIds;
  const onYes = await resting(alice);
  const onNo = await resting(alice, { outcome: 1 });
  const [home, away] = [
    await resting(alice, { market: cup }),
    await resting(alice, { market: cup, outcome: 2 }),
  ];
  const cancel = async (body: object) =>
    (await alice.cancel(node, '/cancel-market-orders', body)).canceled;
  assert.deepEqual(await cancel({ market: cup.conditionId, asset_id: no }), []);
  assert.deepEqual(await cancel({ market: UNKNOWN }), []);
  assert.deepEqual(await cancel({ asset_id: '77' }), []);
  assert.deepEqual(await cancel({ market: '', asset_id: no }), [onNo.id]);
  assert.deepEqual(await cancel({ market: cup.conditionId.toUpperCase().replace('X', 'x') }), [
    away.id,
    home.id,
  ]);
  assert.deepEqual(await cancel({ market: coin.conditionId, assetId: yes, asset_id: null }), [
    onYes.id,
  ]);
});

test('a body of the wrong shape is refused with the place of the fault', async () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['/order', '', 'body must be JSON'],
    ['/order', '[]', 'body must be an object'],
    ['/order', '{}', 'orderID is required'],
    ['/order', '{"orderID":""}', 'orderID is required'],
    ['/order', '{"orderID":7}', 'orderID must be a string'],
    ['/order', '{"orderID":"0x1","orderId":"0x2"}', 'orderID and orderId differ'],
    ['/orders', '{}', 'body must be an array'],
    ['/orders', '["0x1",2]', '[1] must be a string'],
    ['/cancel-market-orders', '', 'body must be JSON'],
    ['/cancel-market-orders', '{}', 'market or asset_id is required'],
    ['/cancel-market-orders', '{"market":"","assetId":null}', 'market or asset_id is required'],
    ['/cancel-market-orders', '{"market":"coin"}', 'market must be a condition id'],
    ['/cancel-market-orders', '{"asset_id":"0x1"}', 'asset_id must be a decimal string'],
    ['/cancel-market-orders', '{"asset_id":1}', 'asset_id must be a string'],
    ['/cancel-market-orders', '{"asset_id":"1","assetId":"2"}', 'asset_id and assetId differ'],
  ];
  for (const [path, body, detail] of cases) {
    assert.deepEqual(await refusal(path, body), misshapen(detail), `${path} ${body}`);
  }
});

test('a single order takes the path of a batch, and is answered by one result', async () => {
  const post = async (item: unknown): Promise<Result> => {
    const reply = await alice.ask(node, 'POST', '/order', JSON.stringify(item));
    assert.equal(reply.status, 200, reply.text);
    return reply.json as Result;
  };
  const order = alice.sign({ market: coin, side: 'BUY', ticks: 20, shares: 5 });
  const live = { success: true, errorMsg: '', orderID: order.id, status: 'live' };
  const nothing = { takingAmount: '', makingAmount: '' };
  assert.deepEqual(await post({ ...order.item, deferExec: false }), { ...live, ...nothing });
  assert.deepEqual(await post(order.item), {
    ...live,
    ...nothing,
    success: false,
    errorMsg: DUPLICATE,
  });
  const fok = alice.sign({ market: coin, side: 'SELL', ticks: 20, shares: 6, type: 'FOK' });
  const killed = await post(fok.item);
  assert.deepEqual([killed.success, killed.orderID, killed.status], [false, '', 'error']);
  const { salt: _, ...unsalted } = order.item.order;
  const cases: readonly (readonly [unknown, string])[] = [
    [[order.item], 'body must be an object'],
    [7, 'body must be an object'],
    [{ ...order.item, order: unsalted }, 'order.salt is required'],
    [{ ...order.item, order: { ...unsalted, salt: 'x' } }, 'order.salt must be a decimal string'],
    [{ ...order.item, orderType: 'IOC' }, 'orderType must be GTC, GTD, FOK or FAK'],
  ];
  for (const [body, detail] of cases) {
    const reply = await alice.ask(node, 'POST', '/order', JSON.stringify(body));
    assert.deepEqual([reply.status, reply.json], [400, misshapen(detail)]);
  }
  const { json } = await alice.ask(node, 'POST', '/order', '{');
  assert.deepEqual(json, misshapen('body must be JSON'));
  await alice.cancel(node, '/cancel-all');
});

test('an acknowledged cancel is not undone by a kill', async () => {
  const one = await resting(alice);
  const others = [await resting(alice, { ticks: 21 }), await resting(alice, { ticks: 22 })];
  const kept = await resting(bob, { ticks: 23 });
  await alice.cancel(node, '/order', { orderID: one.id });
  await alice.cancel(node, '/cancel-all');
  await node.end('SIGKILL');
  node = await TestNode.start(dataDir, {
    RESOLVE_CONDITION_ID: 'on',
    VERIFY_SIGNATURES: 'off',
  });
  for (const order of [one, ...others]) assert.equal(await statusOf(alice, order), 'canceled');
  assert.equal(await statusOf(bob, kept), 'live');
  const ids = [one, ...others].map(({ id }) => id);
  const { canceled, not_canceled } = await alice.cancel(node, '/orders', ids);
  assert.deepEqual([canceled, Object.keys(not_canceled)], [[], ids]);
  const bids = levels((await book(node, coin.tokenIds[0] ?? '')).bids);
  assert.deepEqual(bids, ['5@0.23']);
});

test('RESOLVE_CONDITION_ID=on finds the market of an order by its token', async () => {
  const without = (terms: Partial<Terms>) => {
    const order = alice.sign({ market: cup, side: 'BUY', ticks: 20, shares: 5, ...terms });
    const { conditionId: _, ...rest } = order.item.order;
    return { ...order, item: { ...order.item, order: rest } };
  };
  const good = without({});
  const unknown = without({ signed: { tokenId: '12345' } });
  const wrong = alice.sign({
    market: cup,
    side: 'BUY',
    ticks: 20,
    shares: 5,
    sent: { conditionId: coin.conditionId },
  });
  const results = await alice.post(node, [good, unknown, wrong]);
  assert.deepEqual(
    results.map(({ errorMsg, orderID }) => errorMsg || orderID),
    [good.id, 'token is not registered', 'tokenId not found for conditionId lookup'],
  );
  const single = without({ ticks: 21 });
  const reply = await alice.ask(node, 'POST', '/order', JSON.stringify(single.item));
  assert.equal((reply.json as Result).orderID, single.id);
});

test('more orders than one turn cancels are cancelled by one request, while others trade', async () => {
  const shares = 5;
  const { item } = carol.sign({ market: many, side: 'BUY', ticks: 149, shares });
  const unsigned = Array.from({ length: CANCEL_ORDERS_MAX + 700 }, (_, salt) => ({
    item: { ...item, order: { ...item.order, salt } },
    id: '',
  }));
  const ids: string[] = [];
  for (let at = 0; at < unsigned.length; at += 500) {
    const results = await carol.post(node, unsigned.slice(at, at + 500));
    assert(results.every(({ status }) => status === 'live'));
    ids.push(...results.map(({ orderID }) => orderID));
  }
  const keep = await resting(carol);
  const terms: Terms = { market: many, side: 'SELL', ticks: 149, shares: 2, type: 'FAK' };
  const sells = Array.from({ length: 6 }, () => bob.sign(terms));
  const [{ canceled, filled, not_canceled }, ...sold] = await Promise.all([
    carol.cancel(node, '/cancel-market-orders', { market: many.conditionId }),
    ...sells.map((sell) => bob.post(node, [sell])),
  ]);
  assert.deepEqual(not_canceled, {});
  const gone = new Set(canceled);
  const matched = ids.filter((id) => !gone.has(id));
  assert.equal(canceled.length, gone.size);
  assert.equal(gone.size + matched.length, ids.length, 'each ended in one way');
  const sum = Object.values(filled).reduce((total, size) => total + Number(size), 0);
  const takings = sold.flat().filter(({ status }) => status === 'matched').length;
  assert.equal(shares * matched.length + sum, 2 * takings, 'what was sold was bought');
  assert.deepEqual((await book(node, many.tokenIds[0] ?? '')).bids, []);
  assert.equal(await statusOf(carol, keep), 'live');
  await node.stop();
});
