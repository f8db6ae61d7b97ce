/**
 * A node with a catalog of both kinds of markets: every route, filter and stream takes positions, and condition ids of
 * either length.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { NodeClient, tokenIdsOf, Wallet } from '../../client/client.ts';
import { compileShape } from '../../server/common/schema.ts';
import { STREAM_TABLE } from '../../server/streams/messages.ts';
import { openCatalog } from '../../storage/catalog/catalog.ts';
import { readCatalog } from '../../storage/catalog/catalog-file.ts';
import { OperatorNode } from '../admin/operator-node.ts';
import { send, TestNode, temporaryDirectory, until } from '../common/node-harness.ts';
import { SocketClient } from '../common/socket-client.ts';
import { NEG_RISK, NORMAL, Trader } from '../common/traders.ts';

type Json = Readonly<Record<string, unknown>>;

const BINARY = `0x01${'c5'.repeat(16)}${'00'.repeat(14)}`;
const GROUP = `0x02${'d6'.repeat(16)}000200000000000000000000${'0001'}`;
const OLD = `0x${'e7'.repeat(32)}`;
const positionsOf = (short: string): [string, string] => {
  const condition = BigInt(`${short}00`);
  return [String(condition), String(condition + 1n)];
};
const SCHEDULE = { rate: 0.07, exponent: 1, takerOnly: true, rebateRate: 0.2 };
const market = (id: number, members: object): object => ({
  id: String(id),
  question: `Question ${id}?`,
  slug: `market-${id}`,
  outcomes: '["Yes","No"]',
  active: true,
  ...members,
});
const FILE = {
  events: [
    {
      id: '1',
      slug: 'one',
      title: 'One',
      markets: [market(11, { conditionId: OLD, clobTokenIds: '["501","502"]' })],
    },
    {
      id: '2',
      slug: 'two',
      title: 'Two',
      markets: [
        market(21, {
          version: 'v2',
          conditionId: BINARY,
          positionIds: positionsOf(BINARY),
          clobTokenIds: '["601","602"]',
          feesEnabled: true,
          feeType: 'crypto_fees',
          feeSchedule: SCHEDULE,
        }),
      ],
    },
    {
      id: '3',
      slug: 'three',
      title: 'Three',
      version: 'v2',
      negRisk: true,
      markets: [
        market(31, { conditionId: `${GROUP}00`, positionIds: JSON.stringify(positionsOf(GROUP)) }),
      ],
    },
  ],
};

const dataDir = temporaryDirectory();
const read = readCatalog(FILE);
assert(read.ok);
const store = openCatalog(dataDir, { durability: 'flushed' });
await store.replace(read.catalog);
await store.close();
const operator = await OperatorNode.start(dataDir, {
  CLIENT_PROFILE: 'polymarket',
  LEDGER: 'on',
  FAUCET: '1000',
});
const { node } = operator;
const url = `http://127.0.0.1:${node.port}`;
const clients: NodeClient[] = [];
after(() => {
  for (const client of clients) client.close();
});
const trader = await Trader.join(node, 'alice', {
  prefix: 'POLY',
  normal: NORMAL,
  negRisk: NEG_RISK,
});
const alice = await NodeClient.connect(url, { wallet: trader.wallet, key: trader.trio });
const bob = await NodeClient.connect(url, { wallet: Wallet.fromSeed('both protocols') });
clients.push(alice, bob);

async function get(path: string, status = 200): Promise<Json> {
  const reply = await send(node, 'GET', path);
  assert.equal(reply.status, status, `${path}: ${reply.text}`);
  return reply.json as Json;
}
const list = async (path: string): Promise<readonly Json[]> =>
  (await get(path)) as unknown as readonly Json[];

const NEW = [
  { short: BINARY, id: '21', isNegRisk: false },
  { short: GROUP, id: '31', isNegRisk: true },
];

function ofType(events: readonly Json[], type: string): Json[] {
  return events.filter(({ event_type }) => event_type === type);
}

test('the catalog shows version and positions, and a condition id of 32 bytes in every list', async () => {
  for (const { id, isNegRisk, short } of NEW) {
    for (const path of [
      `/gamma/markets/${id}`,
      `/gamma/markets/${short}`,
      `/gamma/markets/${short}00`,
      `/gamma/markets?condition_ids=${short}`,
      `/gamma/markets?condition_ids=${OLD.replace('e7', '07')},${short.replace('0x', '0X')}00`,
      `/gamma/markets?conditionId=${short}`,
      `/gamma/markets?clob_token_ids=${positionsOf(short)[1]}`,
      `/gamma/markets?clob_token_ids=${short}00`,
    ]) {
      const answer = await get(path);
      const found = (Array.isArray(answer) ? answer : [answer]) as Json[];
      assert.equal(found.length, 1, path);
      const [shown] = found;
      assert.equal(shown!.id, id, path);
      assert.equal(shown!.conditionId, `${short}00`);
      assert.equal(shown!.version, 'v2');
      assert.deepEqual(shown!.positionIds, positionsOf(short));
      assert.equal(shown!.negRisk, isNegRisk);
    }
  }
  const old = await get('/gamma/markets/11');
  assert.deepEqual([old.version, old.positionIds], ['v1', undefined]);
  assert.deepEqual(await list('/gamma/markets?clob_token_ids=601'), [], 'it does not trade');
});

test('fees of the catalog are shown to clients of the profile as they are', async () => {
  const event = await get('/gamma/events/2');
  for (const shown of [await get('/gamma/markets/21'), (event.markets as Json[])[0]!]) {
    assert.equal(shown.clobTokenIds, '["601","602"]');
    assert.equal(shown.feesEnabled, true);
    assert.equal(shown.feeType, 'crypto_fees');
    assert.deepEqual(shown.feeSchedule, SCHEDULE);
    assert.equal(Object.keys(shown).includes('line'), false);
  }
  assert.equal((await get('/gamma/events/3')).version, 'v2');
});

test('what clients read before they sign takes positions, decimal and hex', async () => {
  for (const { isNegRisk, short } of NEW) {
    const [yes, no] = positionsOf(short);
    for (const token of [yes, `${short}00`, `0x${short.slice(3)}00`]) {
      const { condition_id, primary_token_id } = await get(`/markets-by-token/${token}`);
      assert.deepEqual([condition_id, primary_token_id], [`${short}00`, yes]);
      assert.equal((await get(`/tick-size?token_id=${token}`)).minimum_tick_size, 0.01);
      assert.equal((await get(`/neg-risk?token_id=${token}`)).neg_risk, isNegRisk);
      const book = await get(`/book?token_id=${token}`);
      assert.deepEqual([book.market, book.asset_id], [`${short}00`, yes]);
    }
    for (const condition of [short, `${short}00`]) {
      const { c, nr, t } = await get(`/clob-markets/${condition}`);
      assert.deepEqual([c, nr], [`${short}00`, isNegRisk]);
      const expected = [yes, no].map((id, i) => ({ t: id, o: ['Yes', 'No'][i] }));
      assert.deepEqual(t, expected);
      assert.equal((await get(`/clob/markets/${condition}`)).condition_id, `${short}00`);
      assert.equal((await get(`/markets/${condition}`)).condition_id, `${short}00`);
    }
  }
  await get('/book?token_id=601', 404);
  await get(`/markets-by-token/0x01${'00'.repeat(31)}`, 404);
});

test('orders trade in markets of both kinds, and filters find them by either length', async () => {
  const markets = [];
  for await (const row of alice.catalog.markets()) markets.push(row);
  assert.equal(markets.length, 3);
  const wallet = trader.address;
  for (const row of markets) {
    const [yes = '', no = ''] = tokenIdsOf(row);
    const long = row.conditionId;
    const lengths = row.version === 'v2' ? [long, long.slice(0, -2)] : [long];
    const user = await SocketClient.open(node, '/ws/user');
    user.send({ type: 'user', auth: trader.trio, markets: [lengths.at(-1)!], ack: true });
    await until(() => Promise.resolve(user.texts.length > 0));
    const placed = await alice.orders.post({ tokenId: yes, side: 'BUY', price: '0.4', size: '10' });
    assert.equal(placed.status, 'live', placed.reason);
    const taken = await bob.orders.post({ tokenId: no, side: 'BUY', price: '0.6', size: '5' });
    assert.equal(taken.status, 'matched', taken.reason);
    await until(() => Promise.resolve(user.texts.some((text) => text.includes('"trade"'))));
    for (const condition of lengths) {
      const open = [];
      for await (const order of alice.orders.open({ market: condition })) open.push(order.id);
      assert.deepEqual(open, [placed.id], condition);
      const trades = [];
      for await (const trade of alice.orders.trades({ market: condition }))
        trades.push(trade.market);
      assert.deepEqual(trades, [long]);
      await until(async () => (await list(`/trades?market=${condition}`)).length === 1);
      for (const path of ['/positions', '/activity']) {
        await until(async () => {
          const rows = await list(`${path}?user=${wallet}&market=${condition}&sizeThreshold=0`);
          return rows.length > 0 && rows.every(({ conditionId }) => conditionId === long);
        });
      }
      assert.equal((await list(`/holders?market=${condition}`)).length, 2);
      assert.equal((await list(`/oi?market=${condition}`))[0]!.market, long);
      const body = JSON.stringify({ conditions: [{ condition_id: condition }] });
      const volumes = await send(node, 'POST', '/data/volumes', {}, body);
      const [volume] = volumes.json as unknown as Json[];
      assert.deepEqual([volume!.condition_id, volume!.status], [long, 200]);
      const live = await list(`/markets/live-activity/${condition}`);
      assert.equal((live[0]!.market as Json).condition_id, long);
    }
    const short = lengths.at(-1)!;
    const split = await alice.call('POST /split', {
      body: { conditionId: short, amount: '1000000', id: `${Date.now()}-${row.id}` },
    });
    assert.equal(split.conditionId, long);
    const ended = await alice.call('DELETE /cancel-market-orders', { body: { market: short } });
    assert.deepEqual(ended.canceled, [placed.id]);
    user.cut();
  }
});

test('an order with a short condition id is one of the market', async () => {
  const [yes] = positionsOf(BINARY);
  const order = await alice.orders.sign({ tokenId: yes, side: 'BUY', price: '0.2', size: '5' });
  for (const [conditionId, status] of [
    [GROUP, 'refused'],
    [BINARY, 'live'],
  ] as const) {
    const item = JSON.parse(order.item) as { readonly order: object };
    const text = JSON.stringify({ ...item, order: { ...item.order, conditionId } });
    const placed = await alice.orders.send({ id: order.id, item: text });
    assert.equal(placed.status, status, placed.reason);
  }
});

test('an operator makes a market with positions while streams follow', async () => {
  const stream = await SocketClient.open(node, '/ws/market');
  stream.send({ type: 'market', assets_ids: [`${BINARY}00`], custom_feature_enabled: true });
  const events = (): Json[] => stream.texts.map((text) => JSON.parse(text) as Json);
  await until(() => Promise.resolve(ofType(events(), 'book').length === 1));
  assert.equal(ofType(events(), 'book')[0]!.asset_id, positionsOf(BINARY)[0]);
  const fields = { question: 'Will it snow?', outcomes: ['Yes', 'No'], protocol: 2 };
  const made = await operator.done('POST /admin/markets', fields);
  await until(() => Promise.resolve(ofType(events(), 'new_market').length === 1));
  const [event] = ofType(events(), 'new_market');
  assert(compileShape(STREAM_TABLE['/ws/market'].events.new_market.schema).matches(event));
  assert.deepEqual(event!.clob_token_ids, made.tokens);
  assert.equal(event!.condition_id, made.condition);
  assert.deepEqual([event!.active, event!.order_price_min_tick_size], [true, '0.01']);
  const condition = String(made.condition).slice(0, -2);
  const halted = await operator.done('POST /admin/markets/halt', { condition });
  assert.deepEqual([halted.condition, halted.tokens], [made.condition, made.tokens]);
  const refused = await operator.call('POST /admin/markets', {
    ...fields,
    outcomes: ['A', 'B', 'C'],
  });
  assert.equal(refused.status, 400);
  stream.cut();
});

test('a node that follows the catalog of this one has the same markets and books', async () => {
  const follower = await TestNode.start(temporaryDirectory(), {
    CATALOG_SYNC_URL: `${url}/gamma`,
    CATALOG_SYNC_SECONDS: '60',
  });
  for (const { id, short } of NEW) {
    await until(async () => {
      const { status } = await send(follower, 'GET', `/book?token_id=${positionsOf(short)[0]}`);
      return status === 200;
    });
    const { json } = await send(follower, 'GET', `/markets/${id}`);
    const { conditionId, feesEnabled, positionIds, version } = json as Json;
    assert.deepEqual(
      [conditionId, feesEnabled, positionIds, version],
      [`${short}00`, short === BINARY ? true : undefined, positionsOf(short), 'v2'],
    );
  }
  assert.equal(((await send(follower, 'GET', '/markets/11')).json as Json).version, undefined);
});
