/**
 * POST /orders of a whole node, to the letter: results, texts, order of checks, bodies
 * (docs/protocol.md#order-of-checks).
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  book,
  books,
  levels,
  send,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { plainRefusal } from '../common/refused.ts';
import { FOK_KILLED, refusedOrders } from '../common/refused-orders.ts';
import {
  bodyOf,
  MICRO,
  NEG_RISK,
  type Result,
  type Signed,
  seconds,
  type Terms,
  Trader,
} from '../common/traders.ts';

const dataDir = temporaryDirectory();
const [coin, cup, slow, neg, closed, texts, expiring, dime] = await withMarkets(dataDir, [
  { id: 1 },
  { id: 2, outcomes: ['Home', 'Draw', 'Away'] },
  { id: 3, tick: 0.001, minSize: 1 },
  { id: 4, negRisk: true },
  { id: 5, closed: true },
  { id: 6 },
  { id: 7 },
  { id: 8, tick: 0.1 },
]);
assert(coin && cup && slow && neg && closed && texts && expiring && dime);
const node = await TestNode.start(dataDir);
const alice = await Trader.join(node, 'alice');
const bob = await Trader.join(node, 'bob');

const DUPLICATE =
  "order is invalid. Duplicated. Same order has already been placed, can't be placed again";
const LIVE = { success: true, errorMsg: '', takingAmount: '', makingAmount: '', status: 'live' };

function refused(errorMsg: string): Result {
  return {
    success: false,
    errorMsg,
    orderID: '',
    takingAmount: '',
    makingAmount: '',
    status: 'error',
  };
}

test('an order rests, another takes part of it, and both answers say so in decimal units', async () => {
  const resting = alice.sign({ market: coin, side: 'SELL', ticks: 57, shares: 20 });
  assert.deepEqual(await alice.post(node, [resting]), [{ ...LIVE, orderID: resting.id }]);
  const taker = bob.sign({ market: coin, side: 'BUY', ticks: 60, shares: 7.5, type: 'FOK' });
  assert.deepEqual(await bob.post(node, [taker]), [
    {
      success: true,
      errorMsg: '',
      orderID: taker.id,
      takingAmount: '7.5',
      makingAmount: '4.275',
      status: 'matched',
    },
  ]);
  // A GTC whose rest stays in the book is matched too (docs/protocol.md#order-results).
  const rest = bob.sign({ market: coin, side: 'BUY', ticks: 57, shares: 20 });
  const [partly] = await bob.post(node, [rest]);
  assert.equal(partly?.status, 'matched');
  assert.equal(partly?.takingAmount, '12.5');
  assert.equal(partly?.makingAmount, '7.125');
  assert.deepEqual(levels((await book(node, coin.tokenIds[0] ?? '')).bids), ['7.5@0.57']);
});

/** The refusal of a repeated order, with the status of the first one. */
function known(order: Signed, status: 'live' | 'matched' | 'canceled'): Result {
  return { ...refused(DUPLICATE), orderID: order.id, status };
}

test('results are in request order and one bad item never affects its neighbours', async () => {
  const good = [10, 11, 12, 13, 14, 15].map((ticks) =>
    alice.sign({ market: cup, side: 'BUY', ticks, shares: 5 }),
  );
  const bad = [
    alice.sign({ market: cup, side: 'BUY', ticks: 20, shares: 5, owner: bob.trio.apiKey }),
    alice.sign({ market: cup, side: 'BUY', ticks: 20, shares: 4 }),
    alice.sign({ market: cup, side: 'BUY', ticks: 20, shares: 5, sent: { signature: '0x' } }),
    alice.sign({ market: cup, side: 'SELL', ticks: 16, shares: 5, type: 'FOK' }),
  ];
  const mixed = [
    good[0],
    bad[0],
    good[1],
    bad[1],
    good[2],
    good[3],
    bad[2],
    good[4],
    bad[3],
    good[5],
  ];
  const results = await alice.post(
    node,
    mixed.filter((order) => order !== undefined),
  );
  assert.deepEqual(
    results.map(({ orderID }) => orderID),
    [good[0]?.id, '', good[1]?.id, '', good[2]?.id, good[3]?.id, '', good[4]?.id, '', good[5]?.id],
  );
  assert.deepEqual(
    results.filter(({ success }) => !success),
    [
      refused('owner_address_mismatch'),
      refused('order is invalid. Size lower than the minimum'),
      refused('invalid order signature'),
      refused(FOK_KILLED),
    ],
  );
  const { asks, bids } = await book(node, cup.tokenIds[0] ?? '');
  assert.deepEqual(levels(bids), ['5@0.1', '5@0.11', '5@0.12', '5@0.13', '5@0.14', '5@0.15']);
  assert.deepEqual(asks, []);
});

const past = seconds(-5);
const other = `0x${'9'.repeat(40)}`;
const plain: Terms = { market: texts, side: 'BUY', ticks: 40, shares: 10 };

const REFUSALS = refusedOrders({ closed, cup, neg });

test('every refusal has its exact text, and leaves the book unchanged', async () => {
  const token = texts.tokenIds[0] ?? '';
  await alice.place(node, { market: texts, side: 'SELL', ticks: 60, shares: 50 });
  await alice.place(node, { market: texts, side: 'BUY', ticks: 30, shares: 50 });
  const before = await book(node, token);
  const orders = REFUSALS.map(([, change]) => bob.sign({ ...plain, ...change }));
  const results = await bob.post(node, orders);
  assert.deepEqual(
    results,
    REFUSALS.map(([text]) => refused(text)),
  );
  assert.deepEqual(await book(node, token), before);
});

test('the first failing check is the one that is named', async () => {
  // Each order fails its own check and the next one of the list above, where both can fail at once.
  const signed = { signer: other, maker: other };
  const pairs: readonly (readonly [string, Partial<Terms>])[] = [
    ['owner_address_mismatch', { signed, type: 'FOK', postOnly: true }],
    ['postOnly requires GTC or GTD', { type: 'FAK', postOnly: true, sent: { conditionId: '' } }],
    ['condition is not registered', { sent: { conditionId: 'none', tokenId: '7' } }],
    ['token is not registered', { sent: { tokenId: '7', makerAmount: '0' } }],
    [
      'tokenId not found for conditionId lookup',
      { market: closed, sent: { conditionId: cup.conditionId } },
    ],
    [
      'the market is not yet ready to process new orders',
      { market: closed, signed: { makerAmount: '0' } },
    ],
    [
      'makerAmount and takerAmount must be positive',
      { signed: { makerAmount: '0', expiration: past } },
    ],
    ['invalid expiration', { signed: { expiration: past }, sent: { feeRateBps: '-2' } }],
    ['feeRateBps must be <= 1000', { signed: { feeRateBps: '2000', makerAmount: '4010000' } }],
    [
      'order is invalid. Price breaks minimum tick size rules',
      { signed: { makerAmount: '10000', takerAmount: '4000000' } },
    ],
    ['order is invalid. Size lower than the minimum', { shares: 1, domain: NEG_RISK }],
    ['invalid order signature', { domain: NEG_RISK, type: 'FOK' }],
  ];
  const results = await bob.post(
    node,
    pairs.map(([, change]) => bob.sign({ ...plain, ...change })),
  );
  assert.deepEqual(
    results.map(({ errorMsg }) => errorMsg),
    pairs.map(([text]) => text),
  );
});

test('an accepted order stays a duplicate, with any other fault since', async () => {
  const resting = alice.sign({ market: dime, side: 'SELL', ticks: 6, shares: 10 });
  const [first, second] = await alice.post(node, [resting, resting]);
  assert.equal(first?.orderID, resting.id);
  assert.deepEqual(second, known(resting, 'live'));
  assert.deepEqual(await alice.post(node, [resting]), [known(resting, 'live')]);
  await bob.place(node, { market: dime, side: 'BUY', ticks: 6, shares: 10, type: 'FOK' });
  assert.deepEqual(await alice.post(node, [resting]), [known(resting, 'matched')]);
  // The duplicate is checked right behind the token: an unsigned member cannot get past it.
  const postOnly = { ...resting, item: { ...resting.item, postOnly: true, orderType: 'GTD' } };
  assert.deepEqual(await alice.post(node, [postOnly]), [known(resting, 'matched')]);
});

test('an order that was killed or refused may be sent again', async () => {
  const fok = bob.sign({ market: dime, side: 'BUY', ticks: 5, shares: 10, type: 'FOK' });
  assert.deepEqual(await bob.post(node, [fok]), [refused(FOK_KILLED)]);
  assert.deepEqual(await bob.post(node, [fok]), [refused(FOK_KILLED)]);
  await alice.place(node, { market: dime, side: 'SELL', ticks: 5, shares: 10 });
  assert.equal((await bob.post(node, [fok]))[0]?.orderID, fok.id);
  assert.deepEqual(await bob.post(node, [fok]), [known(fok, 'matched')]);
});

test('a neg-risk market accepts orders signed for its own exchange address', async () => {
  const order = alice.sign({ market: neg, side: 'BUY', ticks: 30, shares: 5 });
  assert.deepEqual(await alice.post(node, [order]), [{ ...LIVE, orderID: order.id }]);
});

test('numbers are accepted where clients send them, and unknown members are ignored', async () => {
  const order = alice.sign({
    market: slow,
    side: 'BUY',
    ticks: 301,
    shares: 5,
    signed: { salt: '77' },
  });
  const sent = { ...order.item.order, salt: 77, nonce: 0, feeRateBps: 0, metadata: '0x' };
  const item = { ...order.item, order: sent, deferExec: false };
  assert.equal((await alice.post(node, [{ ...order, item }]))[0]?.orderID, order.id);
  const { expiration: _, ...rest } = alice.sign({
    market: slow,
    side: 'BUY',
    ticks: 302,
    shares: 5,
  }).item.order;
  const withoutExpiration = { item: { ...order.item, order: rest }, id: '' };
  assert.equal((await alice.post(node, [withoutExpiration]))[0]?.status, 'live');
});

test('a body of the wrong shape fails as a whole, and names the place', async () => {
  const good = alice.sign({ market: slow, side: 'BUY', ticks: 100, shares: 5 });
  const sent = (change: object) => ({ ...good.item, order: { ...good.item.order, ...change } });
  const { signature: _, ...unsigned } = good.item.order;
  const cases: readonly (readonly [unknown, string])[] = [
    [{}, 'body must be an array'],
    [[], 'body must hold at least one order'],
    [[good.item, 7], '[1] must be an object'],
    [[sent({ salt: '0x1' })], '[0].order.salt must be a decimal string'],
    [[sent({ salt: -1 })], '[0].order.salt must be a decimal string'],
    [[sent({ tokenId: 5 })], '[0].order.tokenId must be a decimal string'],
    [[sent({ side: 'buy' })], '[0].order.side must be BUY or SELL'],
    [[sent({ maker: 'me' })], '[0].order.maker must be a 20-byte hex address'],
    [[sent({ signatureType: 4 })], '[0].order.signatureType must be an integer from 0 to 3'],
    [[{ ...good.item, order: unsigned }], '[0].order.signature is required'],
    [[good.item, { ...good.item, orderType: 'IOC' }], '[1].orderType must be GTC, GTD, FOK or FAK'],
    [[{ ...good.item, postOnly: 'yes' }], '[0].postOnly must be a boolean'],
  ];
  for (const [body, detail] of cases) {
    const { json, status } = await alice.postText(node, JSON.stringify(body));
    assert.deepEqual(
      [status, json],
      [400, { error: 'Invalid order payload', detail, code: 'INVALID_ORDER_PAYLOAD' }],
    );
  }
  const { json, status } = await alice.postText(node, '[{');
  assert.deepEqual(
    [status, json],
    [
      400,
      {
        error: 'Invalid order payload',
        detail: 'body must be JSON',
        code: 'INVALID_ORDER_PAYLOAD',
      },
    ],
  );
  const [{ bids } = { bids: [] }] = await books(node, [slow.tokenIds[0] ?? '']);
  assert(!levels(bids).some((level) => level.endsWith('@0.1')), 'no neighbour was taken');
});

test('five hundred orders fit into a request, one more does not', async () => {
  const order = alice.sign({ market: slow, side: 'BUY', ticks: 50, shares: 5 });
  const many = Array.from({ length: 500 }, () => order);
  const results = await alice.post(node, many);
  assert.equal(results.filter(({ success }) => success).length, 1);
  assert.equal(results[0]?.orderID, order.id);
  const { json, status } = await alice.postText(node, bodyOf([...many, order]));
  assert.deepEqual(
    [status, plainRefusal(json)],
    [400, { error: 'Too many orders in payload: 501, max allowed: 500', code: 'TOO_MANY_ORDERS' }],
  );
});

test('a body above the limit is refused before it is read', async () => {
  const body = Buffer.alloc((1 << 20) + 1, 0x20);
  const { json, status } = await send(node, 'POST', '/orders', {}, body);
  assert.deepEqual(
    [status, json],
    [413, { error: 'payload too large', code: 'PAYLOAD_TOO_LARGE' }],
  );
  const most = `[${' '.repeat((1 << 20) - 2)}]`;
  assert.equal((await alice.postText(node, most)).status, 400);
});

test('a GTD order leaves the book at its expiry without any trade', async () => {
  const token = expiring.tokenIds[0] ?? '';
  const terms: Terms = { market: expiring, side: 'BUY', ticks: 40, shares: 10, type: 'GTD' };
  // More time each time: a slow machine may take the order, or look at its book, when it has expired.
  for (let ahead = 2; ; ahead *= 2) {
    const expiration = seconds(ahead);
    const order = alice.sign({ ...terms, signed: { expiration } });
    const answers = await alice.post(node, [order]);
    const { bids } = await book(node, token);
    if (bids.length === 0) {
      assert(Date.now() >= Number(expiration) * 1000, 'not before its time');
      continue;
    }
    assert.deepEqual(answers, [{ ...LIVE, orderID: order.id }]);
    assert.deepEqual(levels(bids), ['10@0.4']);
    await until(async () => (await book(node, token)).bids.length === 0);
    assert(Date.now() >= Number(expiration) * 1000, 'not before its time');
    assert.deepEqual(await alice.post(node, [order]), [known(order, 'canceled')]);
    return;
  }
});

test('immediate orders tolerate the rounding of clients and never pay more than signed', async () => {
  await alice.place(node, { market: coin, side: 'SELL', ticks: 34, shares: 1000, outcome: 1 });
  const signed = { makerAmount: '100000000', takerAmount: '294117600' };
  const terms = { market: coin, outcome: 1, side: 'BUY', ticks: 34, shares: 1 } as const;
  const result = await bob.place(node, { ...terms, type: 'FOK', signed });
  assert.equal(result.takingAmount, '294.1176');
  assert(Number(result.makingAmount) * MICRO <= 100_000_000);
});

test('the node ends well after all of these tests', () => node.stop());
