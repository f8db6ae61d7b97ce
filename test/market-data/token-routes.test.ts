/**
 * The routes of one token and of many on a whole node: each agrees with the book, in the query and
 * in the path, and refuses in the documented words. Rules: docs/protocol.md#prices-of-a-token
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { level2 } from '../../client/credentials.ts';
import {
  type BookJson,
  get,
  type Reply,
  send,
  statusOf,
  TestNode,
  temporaryDirectory,
  withMarkets,
} from '../common/node-harness.ts';
import { plainRefusal } from '../common/refused.ts';
import { seconds, Trader } from '../common/traders.ts';

const dataDir = temporaryDirectory();
const [pair, cup, empty] = await withMarkets(dataDir, [
  { id: 1 },
  { id: 2, outcomes: ['Home', 'Draw', 'Away'], tick: 0.001, minSize: 1 },
  { id: 3, tick: 0.0001, negRisk: true },
]);
assert(pair && cup && empty);
const node = await TestNode.start(dataDir);
const alice = await Trader.join(node, 'alice');
const [yes = '', no = ''] = pair.tokenIds;
const [home = '', draw = ''] = cup.tokenIds;
const [blank = ''] = empty.tokenIds;
for (const terms of [
  { market: pair, side: 'BUY', ticks: 48, shares: 30 },
  { market: pair, side: 'SELL', ticks: 53, shares: 25 },
  { market: pair, side: 'SELL', ticks: 55, shares: 25 },
  { market: pair, outcome: 1, side: 'BUY', ticks: 45, shares: 10 },
  { market: cup, side: 'BUY', ticks: 333, shares: 7 },
  { market: cup, outcome: 1, side: 'SELL', ticks: 400, shares: 7 },
  { market: cup, outcome: 1, side: 'BUY', ticks: 400, shares: 2 },
] as const) {
  await alice.place(node, terms);
}

const NO_BOOK = { error: 'No orderbook exists for the requested token id', code: 'UNKNOWN_BOOK' };
const NO_MARKET = { error: 'market not found', code: 'UNKNOWN_MARKET' };

function answered({ json, status }: Reply): readonly [number, unknown] {
  return [status, status === 400 ? plainRefusal(json) : json];
}

/** Answer of a route of one token, which is equal with the token in the query and in the path. */
async function ofToken(
  route: string,
  token: string,
  more = '',
): Promise<readonly [number, unknown]> {
  const inQuery = answered(await get(node, `/${route}?token_id=${token}${more && `&${more}`}`));
  const inPath = answered(await get(node, `/${route}/${token}${more && `?${more}`}`));
  assert.deepEqual(inPath, inQuery);
  return inQuery;
}

async function ofMany(
  route: string,
  items: readonly object[],
): Promise<readonly [number, unknown]> {
  return answered(await send(node, 'POST', `/${route}`, {}, JSON.stringify(items)));
}

test('the book of one token equals that of POST /books', async () => {
  for (const token of [yes, no, home, blank]) {
    const [, many] = await ofMany('books', [{ token_id: token }]);
    assert.deepEqual(await ofToken('book', token), [200, (many as BookJson[])[0]]);
  }
});

test('a buyer pays the best ask and a seller gets the best bid, in the prices of the token', async () => {
  assert.deepEqual(await ofToken('price', yes, 'side=BUY'), [200, { price: '0.53' }]);
  assert.deepEqual(await ofToken('price', yes, 'side=SELL'), [200, { price: '0.48' }]);
  assert.deepEqual(await ofToken('price', no, 'side=BUY'), [200, { price: '0.52' }]);
  assert.deepEqual(await ofToken('price', no, 'side=SELL'), [200, { price: '0.47' }]);
  const none = { error: 'No liquidity for the requested side', code: 'NO_LIQUIDITY' };
  assert.deepEqual(await ofToken('price', home, 'side=BUY'), [404, none]);
});

test('midpoint and spread are exact, and missing where a side is empty', async () => {
  assert.deepEqual(await ofToken('midpoint', yes), [200, { mid: '0.505' }]);
  assert.deepEqual(await ofToken('midpoint', no), [200, { mid: '0.495' }]);
  assert.deepEqual(await ofToken('spread', yes), [200, { spread: '0.05' }]);
  const noMidpoint = { error: 'No midpoint for the requested token id', code: 'NO_MIDPOINT' };
  assert.deepEqual(await ofToken('midpoint', home), [404, noMidpoint]);
  const noSpread = { error: 'No spread for the requested token id', code: 'NO_SPREAD' };
  assert.deepEqual(await ofToken('spread', blank), [404, noSpread]);
});

test('the last trade has the side of its taker, and a token that never traded says so', async () => {
  assert.deepEqual(await ofToken('last-trade-price', draw), [200, { price: '0.4', side: 'BUY' }]);
  const none = { error: 'No trades found for the requested token id', code: 'NO_TRADES' };
  assert.deepEqual(await ofToken('last-trade-price', home), [404, none]);
});

test('the rules of a market equal those in its books', async () => {
  assert.deepEqual(await ofToken('tick-size', yes), [200, { minimum_tick_size: 0.01 }]);
  assert.deepEqual(await ofToken('tick-size', home), [200, { minimum_tick_size: 0.001 }]);
  assert.deepEqual(await ofToken('tick-size', blank), [200, { minimum_tick_size: 0.0001 }]);
  assert.deepEqual(await ofToken('neg-risk', yes), [200, { neg_risk: false }]);
  assert.deepEqual(await ofToken('neg-risk', blank), [200, { neg_risk: true }]);
  assert.deepEqual(await ofToken('fee-rate', yes), [200, { base_fee: 0 }]);
});

test('an unknown token is answered 404, a missing one 400, and a bad side is named', async () => {
  for (const token of ['1', 'yes', '007', '0x1f']) {
    for (const route of ['book', 'midpoint', 'spread', 'last-trade-price']) {
      assert.deepEqual(await ofToken(route, token), [404, NO_BOOK], route);
    }
    for (const route of ['tick-size', 'neg-risk', 'fee-rate']) {
      assert.deepEqual(await ofToken(route, token), [404, NO_MARKET], route);
    }
  }
  for (const route of ['book', 'price', 'midpoint', 'spread', 'last-trade-price', 'tick-size']) {
    for (const query of ['', '?token_id=', '?token=1']) {
      const { json, status } = await get(node, `/${route}${query}`);
      assert.equal(status, 400, route);
      assert.equal((json as { error: string }).error, 'Invalid token id');
    }
  }
  for (const side of ['', '&side=', '&side=buy', '&side=BUY&side=SELL']) {
    const { json, status } = await get(node, `/price?token_id=${yes}${side}`);
    assert.equal(status, 400, side);
    assert.equal((json as { error: string }).error, 'Invalid side');
  }
});

test('a list of prices joins items of one token, has both sides by default, and leaves out empty ones', async () => {
  const items = [
    { token_id: no, side: 'SELL' },
    { token_id: yes, side: 'BUY' },
    { token_id: '5' },
    { token_id: yes, side: 'SELL' },
    { token_id: home },
    { token_id: blank },
    { token_id: draw, side: '' },
  ];
  assert.deepEqual(await ofMany('prices', items), [
    200,
    {
      [no]: { SELL: '0.47' },
      [yes]: { BUY: '0.53', SELL: '0.48' },
      [home]: { SELL: '0.333' },
      [blank]: {},
      [draw]: { BUY: '0.4' },
    },
  ]);
  assert.deepEqual(await ofMany('midpoints', items), [200, { [no]: '0.495', [yes]: '0.505' }]);
  assert.deepEqual(await ofMany('spreads', items), [200, { [no]: '0.05', [yes]: '0.05' }]);
  assert.deepEqual(await ofMany('prices', []), [200, {}]);
});

test('bodies of another shape are refused like those of POST /books', async () => {
  for (const route of ['prices', 'midpoints', 'spreads']) {
    assert.deepEqual(await ofMany(route, [{}]), [
      400,
      { error: 'Invalid payload', code: 'INVALID_PAYLOAD' },
    ]);
    const side = [{ token_id: yes, side: 'buy' }];
    assert.deepEqual(await ofMany(route, side), [
      400,
      { error: 'Invalid side', code: 'INVALID_SIDE' },
    ]);
    const long = Array.from({ length: 501 }, () => ({ token_id: yes }));
    assert.deepEqual(await ofMany(route, long), [
      400,
      { error: 'Payload exceeds the limit', code: 'PAYLOAD_EXCEEDS_LIMIT' },
    ]);
  }
});

test('health, time and the signing rules are answered', async () => {
  for (const path of ['/', '/ok']) assert.deepEqual(answered(await get(node, path)), [200, 'OK']);
  assert.equal(await statusOf(node), 'ok');
  const { json } = await get(node, '/exchange-info');
  const info = json as Record<string, unknown>;
  assert.equal(info.chain_id, 137);
  assert.deepEqual(info.domain, { name: 'CTF Exchange', version: '1' });
  assert.equal(info.credential_prefix, 'SERVICE');
  assert.equal(info.max_batch_orders, 500);
  assert.equal(info.durability, 'flushed');
  assert(Math.abs(Number(info.server_time) - Date.now() / 1000) < 60);
  assert.match(String(info.version), /^\d+\.\d+\.\d+$/);
});

test('the balance without a ledger is the largest amount of an order', async () => {
  const path = '/balance-allowance';
  const ask = async (query: string) =>
    answered(
      await get(
        node,
        `${path}?${query}`,
        level2('SERVICE', alice.address, alice.trio, 'GET', path, '', seconds()),
      ),
    );
  const [status, body] = await ask('asset_type=COLLATERAL&signature_type=0');
  assert.equal(status, 200);
  const { allowances, balance } = body as { balance: string; allowances: Record<string, string> };
  assert.equal(balance, String(Number.MAX_SAFE_INTEGER));
  assert.deepEqual(Object.values(allowances), [balance, balance]);
  assert.deepEqual(await ask(`asset_type=CONDITIONAL&token_id=${yes}`), [200, body]);
  assert.deepEqual(await ask('asset_type=CONDITIONAL&token_id=5'), [404, NO_BOOK]);
  assert.equal((await ask('asset_type=CONDITIONAL'))[0], 400);
  assert.equal((await ask('asset_type=GOLD'))[0], 400);
  assert.equal((await get(node, `${path}?asset_type=COLLATERAL`)).status, 401);
});
