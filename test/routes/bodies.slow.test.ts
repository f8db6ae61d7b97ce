/**
 * Bodies of every route that parses one, up to a mebibyte: too deep or too large ones are refused
 * like other bodies, long ones are treated like short ones, and none is parsed at once.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { level1, nonceOfBody } from '../../client/credentials.ts';
import type { JsonBounds } from '../../server/common/json-measure.ts';
import { readConfig } from '../../server/config/config.ts';
import { PROFILE_TABLE } from '../../server/config/profile.ts';
import { ROUTE_TABLE, type RouteKey, servedRows } from '../../server/routes/route-table.ts';
import {
  type Reply,
  SMALL_NODE,
  send,
  TestNode,
  temporaryDirectory,
  withMarkets,
} from '../common/node-harness.ts';
import { plainRefusal } from '../common/refused.ts';
import { CHAIN_ID, seconds, Trader } from '../common/traders.ts';

const MEBIBYTE = 2 ** 20;
/** MAX_BATCH_ORDERS. */
const ORDERS_MAX = 500;

const dataDir = temporaryDirectory();
const [market] = await withMarkets(dataDir, [{ id: 1 }]);
assert(market);
const LEDGER = {
  LEDGER: 'on',
  FAUCET: '1000',
  HEARTBEAT_SECONDS: '3600',
  FAULTS: 'on',
  MCP: 'on',
  RELAYER: 'on',
  BEACON_WALLET_FACTORY: PROFILE_TABLE.beaconWalletFactory.polymarket,
};
const node = await TestNode.start(dataDir, LEDGER, [], 'test/routes/parsing-node');
const alice = await Trader.join(node, 'alice');
const [token = ''] = market.tokenIds;
const read = readConfig({ ...SMALL_NODE, FAULTS: 'on', MCP: 'on', RELAYER: 'on' }, [], 1);
assert(read.ok);
const { config } = read;

const id = `0x${'1'.repeat(64)}`;
const items = { value: [{ token_id: token }], most: 500 };
const order = () => alice.sign({ market, side: 'BUY', ticks: 1, shares: 5 }).item;
const ids = { value: [id], most: 1_000 };
const sets = (name: string) => ({
  value: { conditionId: market.conditionId, amount: '1000000', id: `${Date.now()}-${name}` },
});

const AGENT = { agent: `0x${'a9'.repeat(20)}` };

/** A body that is answered 200: a list of things, or one thing; and how many may be listed. */
const BODIES: Readonly<Partial<Record<RouteKey, { value: unknown; most?: number }>>> = {
  'POST /books': items,
  'POST /prices': items,
  'POST /midpoints': items,
  'POST /spreads': items,
  'POST /last-trades-prices': items,
  'POST /batch-prices-history': { value: { markets: [token], interval: 'max' } },
  'POST /data/volumes': { value: { conditions: [{ condition_id: market.conditionId }] } },
  'POST /orders-scoring': ids,
  'POST /v1/heartbeats': { value: { heartbeat_id: null } },
  'POST /faults': { value: { kind: 'stream-gap', count: 1 } },
  'DELETE /faults': { value: { id: 'f1' } },
  'POST /split': sets('split'),
  'POST /merge': sets('merge'),
  'POST /submit': { value: { type: 'WALLET-CREATE', from: alice.address, to: alice.address } },
  'POST /agents': {
    value: {
      ...AGENT,
      cashPerDay: '1',
      maxOrderSize: '1',
      markets: 'all',
      end: Number(seconds()) + 3_600,
    },
  },
  'POST /agents/revoke': { value: AGENT },
  'POST /profile': { value: { hidden: false } },
  'POST /order': { value: order() },
  'POST /orders': { value: [order()], most: ORDERS_MAX },
  'POST /orders/explain': { value: order() },
  'POST /orders/preview': {
    value: { tokenId: token, side: 'BUY', orderType: 'FAK', size: '5' },
  },
  'POST /replace': { value: { orderID: id, ...order() } },
  'DELETE /order': { value: { orderID: id } },
  'DELETE /orders': ids,
  'DELETE /cancel-market-orders': { value: { market: market.conditionId } },
  'POST /mcp': { value: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} } },
};

/** Bodies that are parsed, and answered other than 200 or not twice alike. */
const OTHERS: Readonly<Partial<Record<RouteKey, unknown>>> = {
  'POST /invites/redeem': { code: '0'.repeat(32) },
  'DELETE /auth/readonly-api-key': { key: '00000000-0000-4000-8000-000000000000' },
};

function boundsOf(key: RouteKey): JsonBounds | undefined {
  return servedRows(config).get(key)?.bodyBounds;
}

const routes = (Object.keys(ROUTE_TABLE) as RouteKey[]).filter(
  (key) => boundsOf(key) !== undefined,
);

async function ask(key: RouteKey, body: string): Promise<{ reply: Reply; parsed: number[] }> {
  const [method = '', path = ''] = key.split(' ');
  const said = node.log.length;
  const { access } = ROUTE_TABLE[key];
  const nonce = key === 'POST /agents' ? nonceOfBody(body) : '0';
  const proof = level1('SERVICE', alice.wallet, CHAIN_ID, seconds(), nonce);
  const reply =
    access === 'none' || access === 'level1'
      ? await send(node, method, path, access === 'none' ? {} : proof, body)
      : await alice.ask(node, method, path, body);
  const parsed = [...node.log.slice(said).matchAll(/parsed (\d+) at once/g)];
  return { reply, parsed: parsed.map(([, length]) => Number(length)) };
}

const NEVER_JSON = {
  'a mebibyte of open brackets': '['.repeat(MEBIBYTE),
  'open objects': '{"a":'.repeat(MEBIBYTE / 5),
};
const NEVER_TAKEN = {
  'empty objects': `[${'{},'.repeat(MEBIBYTE / 3 - 2)}{}]`,
  'an object of 90,000 members': JSON.stringify(
    Object.fromEntries(Array.from({ length: 90_000 }, (_, i) => [`k${i}`, 1])),
  ),
  numbers: `[${'1,'.repeat(MEBIBYTE / 2 - 2)}1]`,
};

test('every route that parses a body has bounds, and is tested here', () => {
  assert.deepEqual([...routes].sort(), [...Object.keys(BODIES), ...Object.keys(OTHERS)].sort());
});

for (const key of routes) {
  const { depth, values } = boundsOf(key)!;
  const { value, most = 1 } = BODIES[key] ?? { value: OTHERS[key] };
  const one = Array.isArray(value) ? (value[0] as unknown) : value;

  test(`${key} refuses bodies that are too deep or too large, and parses none of them`, async () => {
    for (const [name, body] of Object.entries({ ...NEVER_JSON, ...NEVER_TAKEN })) {
      const { parsed, reply } = await ask(key, body);
      assert.equal(reply.status, 400, `${name}: ${reply.text}`);
      assert.equal(typeof (reply.json as { error: string }).error, 'string');
      assert.deepEqual(parsed, [], name);
    }
  });

  if (typeof one !== 'object') continue;
  const wrap = (each: unknown): string => JSON.stringify(Array.isArray(value) ? [each] : each);
  const withExtra = (extra: unknown): string => wrap({ ...one, extra });
  const { status: usual } = (await ask(key, wrap(one))).reply;

  test(`${key} accepts unknown fields, up to its bounds`, async () => {
    const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
    const outer = Array.isArray(value) ? 2 : 1;
    assert.equal((await ask(key, withExtra(nested(depth - outer)))).reply.status, usual);
    assert.equal((await ask(key, withExtra(nested(depth - outer + 1)))).reply.status, 400);
    const used = wrap(one).match(/[[{,]/g)!.length + 2;
    const many = (count: number) => withExtra(Array.from({ length: count }, () => 1));
    assert.equal((await ask(key, many(values - used))).reply.status, usual);
    assert.equal((await ask(key, many(values - used + 1))).reply.status, 400);
  });

  test(`${key} accepts a body of a mebibyte, and does not parse it at once`, async () => {
    const room = (text: string) => MEBIBYTE - Buffer.byteLength(text);
    const texts = {
      'a long text': withExtra('x'.repeat(room(withExtra('')))),
      'characters of three bytes': withExtra('中'.repeat(Math.floor(room(withExtra('')) / 3))),
      spaces: `${' '.repeat(room(wrap(one)))}${wrap(one)}`,
    };
    for (const [name, body] of Object.entries(texts)) {
      assert(Buffer.byteLength(body) > MEBIBYTE - 4, name);
      const { parsed, reply } = await ask(key, body);
      assert.equal(reply.status, usual, `${name}: ${reply.text}`);
      assert.deepEqual(parsed, [], name);
    }
    const over = await ask(key, `${' '.repeat(room(wrap(one)) + 1)}${wrap(one)}`);
    assert.equal(over.reply.status, 413);
  });

  if (!Array.isArray(value) || typeof one !== 'object') continue;
  test(`${key} accepts the most items with long fields, and refuses one more`, async () => {
    const note = 'n'.repeat(Math.floor(MEBIBYTE / (most + 1)) - JSON.stringify(one).length - 20);
    const listed = (count: number) =>
      JSON.stringify(Array.from({ length: count }, () => ({ ...one, note })));
    assert.equal((await ask(key, listed(most))).reply.status, usual);
    const { parsed, reply } = await ask(key, listed(most + 1));
    assert.equal(reply.status, 400);
    assert.match(reply.text, /Payload exceeds the limit|Too many orders in payload: 501/);
    assert.deepEqual(parsed, []);
  });
}

test('too many orders are refused by number before they are parsed', async () => {
  const { reply } = await ask('POST /orders', `[${'{},'.repeat(99_999)}{}]`);
  const error = `Too many orders in payload: 100000, max allowed: ${ORDERS_MAX}`;
  assert.deepEqual(plainRefusal(reply.json), { error, code: 'TOO_MANY_ORDERS' });
});

test('too many ids of a cancel are refused by number', async () => {
  for (const count of [3_000, 15_000]) {
    const { reply } = await ask('DELETE /orders', JSON.stringify(Array(count).fill(id)));
    assert.deepEqual(plainRefusal(reply.json), {
      error: 'Too many orders in payload, max allowed: 1000',
      code: 'TOO_MANY_ORDERS',
    });
  }
});

test('no body of a caller without credentials is parsed', async () => {
  for (const key of routes) {
    if (['none', 'level2-or-none'].includes(ROUTE_TABLE[key].access)) continue;
    const [method = '', path = ''] = key.split(' ');
    const { status } = await send(node, method, path, {}, NEVER_JSON['open objects']);
    assert.equal(status, 401, key);
  }
});
