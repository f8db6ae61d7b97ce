import assert from 'node:assert/strict';
import test from 'node:test';
import { openTable } from '../../storage/kv/lmdb.ts';
import { Projections } from '../../storage/projection/environment.ts';
import {
  get,
  send,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { SHORT } from '../common/random.ts';
import { plainRefusal } from '../common/refused.ts';
import { Trader } from '../common/traders.ts';

interface Point {
  readonly t: number;
  readonly p: number;
}

const dataDir = temporaryDirectory();
const [pair, quiet] = await withMarkets(dataDir, [{ id: 1 }, { id: 2 }]);
assert(pair && quiet);
const [yes = '', no = ''] = pair.tokenIds;
const [silent = ''] = quiet.tokenIds;
let node = await TestNode.start(dataDir);
const alice = await Trader.join(node, 'alice');
const bob = await Trader.join(node, 'bob');

async function post(path: string, body: unknown) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const { json, status } = await send(node, 'POST', path, {}, text);
  return { json, status } as { json: Record<string, unknown>; status: number };
}

async function history(query: string): Promise<Point[]> {
  const { json, status, text } = await get(node, `/prices-history?${query}`);
  assert.equal(status, 200, text);
  return (json as { history: Point[] }).history;
}

async function volumes() {
  const conditions = [pair, quiet].map((market) => ({
    condition_id: market!.conditionId,
    token_ids: market!.tokenIds,
  }));
  const { json, status } = await post('/data/volumes', { conditions, include_24h: true });
  assert.equal(status, 200);
  return json as unknown as readonly { readonly volume: string }[];
}

async function error(path: string, body: unknown): Promise<unknown> {
  const { json, status } = await post(path, body);
  assert.equal(status, 400);
  return json.error;
}

const before = Math.floor(Date.now() / 60_000) * 60;

async function checkPrices(...prices: readonly [number, number]): Promise<void> {
  for (const [i, expected] of prices.entries()) {
    const token = pair!.tokenIds[i]!;
    for (const fidelity of [1, 5, 30, 180, 720]) {
      const points = await history(`market=${token}&interval=1h&fidelity=${fidelity}`);
      const last = points.at(-1);
      assert(last !== undefined);
      assert.equal(last.p, expected);
      assert.equal(last.t % (fidelity * 60), 0);
      assert(points[0]!.t >= before - fidelity * 60, 'nothing from before the first trade');
    }
  }
}

test('tokens without trades, and unknown ones, have no history', async () => {
  assert.deepEqual(await history(`market=${silent}&interval=max`), []);
  assert.deepEqual(await history('market=12345&interval=1m'), []);
  assert.deepEqual(await history('market=nonsense&startTs=0'), []);
});

test('a mint is a trade of both tokens, and its volume is what the taker paid', async () => {
  await alice.place(node, { market: pair, side: 'BUY', ticks: 40, shares: 10 });
  await bob.place(node, { market: pair, outcome: 1, side: 'BUY', ticks: 60, shares: 10 });
  await checkPrices(0.4, 0.6);
  const rows = [
    { condition_id: pair.conditionId, status: 200, volume: '6', volume_24h: '6' },
    { condition_id: quiet.conditionId, status: 200, volume: '0', volume_24h: '0' },
  ];
  assert.deepEqual(await volumes(), rows);
  const conditions = [{ condition_id: pair.conditionId }, { condition_id: '0x12' }];
  assert.deepEqual((await post('/data/volumes', { conditions: conditions })).json, [
    { condition_id: pair.conditionId, status: 200, volume: '6' },
    { condition_id: '0x12', status: 404, error: 'market not found' },
  ]);
});

test('a batch gives the history of each token once, under the same rules', async () => {
  const markets = [yes, silent, yes, 'nonsense', no];
  const ways = [
    { interval: '1h' },
    { startTs: before, fidelity: 1 },
    { start_ts: before, end_ts: before + 600, fidelity: 5 },
  ];
  for (const way of ways) {
    const { json, status } = await post('/batch-prices-history', { markets, ...way });
    assert.equal(status, 200);
    const found = json.history as Record<string, Point[]>;
    assert.deepEqual(Object.keys(found).sort(), [...new Set(markets)].sort());
    assert.deepEqual(found[silent], []);
    assert.deepEqual(found.nonsense, []);
    assert.deepEqual(
      found[yes]!.map(({ t }) => t),
      found[no]!.map(({ t }) => t),
    );
    assert.equal(found[yes]!.at(-1)!.p, 0.4);
    assert.equal(found[no]!.at(-1)!.p, 0.6);
  }
});

test('a damaged stored price is not shown, and is computed again while the port is open', async () => {
  const projections = new Projections(dataDir, { durability: 'committed', readOnly: false });
  const rows = openTable(projections.root, 'prices');
  await until(() => {
    projections.root.resetReadTxn();
    return projections.position()?.end === 1;
  });
  for (const { key, value } of rows.getRange()) {
    const other = Buffer.from(value);
    other[0]! ^= 1;
    await rows.put(Buffer.from(key), other);
  }
  const path = `/prices-history?market=${yes}&interval=1h`;
  const { json, status } = await get(node, path);
  assert.equal(status, 503);
  assert.equal((json as { error: string }).error, 'price history is being made again');
  assert.equal((await volumes())[0]?.volume, '6');
  await until(async () => (await get(node, path)).status === 200);
  await checkPrices(0.4, 0.6);
  await projections.close();
});

test('bad bodies are refused with a reason', async () => {
  const path = '/batch-prices-history';
  assert.equal(await error(path, '['), 'Invalid payload');
  assert.equal(await error(path, {}), 'Invalid payload');
  assert.equal(await error(path, { markets: [], interval: '1d' }), 'Invalid payload');
  assert.equal(await error(path, { markets: [7], interval: '1d' }), 'Invalid payload');
  const many = Array.from({ length: 21 }, (_, i) => String(i));
  assert.equal(await error(path, { markets: many, interval: '1d' }), 'Invalid payload');
  assert.equal(await error(path, { markets: [yes] }), 'interval or startTs is required');
  assert.equal(await error(path, { markets: [yes], interval: 'x' }), 'Invalid payload');
  const both = { markets: [yes], interval: '1d', start_ts: 5 };
  assert.equal(await error(path, both), 'interval cannot be combined with startTs or endTs');
  const turned = { markets: [yes], startTs: 6, endTs: 5 };
  assert.equal(await error(path, turned), 'startTs must not be after endTs');
  const differing = { markets: [yes], startTs: 5, start_ts: 6 };
  assert.equal(await error(path, differing), 'Invalid payload');
  assert.equal(
    await error(path, { ...differing, start_ts: 5, endTs: 9, end_ts: 8 }),
    'Invalid payload',
  );
  const same = { markets: [yes], startTs: 5, start_ts: 5, endTs: 9, end_ts: 9 };
  assert.equal((await post(path, same)).status, 200);
  assert.equal(await error('/data/volumes', {}), 'Invalid payload');
  assert.equal(await error('/data/volumes', { conditions: [{}] }), 'Invalid payload');
  const { json, status } = await get(node, `/prices-history?market=${yes}`);
  assert.equal(status, 400);
  const error_ = { error: 'interval or startTs is required', code: 'INVALID_WINDOW' };
  assert.deepEqual(plainRefusal(json), error_);
});

test('prices and volumes survive a kill', { skip: SHORT }, async () => {
  await alice.place(node, { market: pair, side: 'SELL', ticks: 45, shares: 8 });
  await bob.place(node, { market: pair, side: 'BUY', ticks: 45, shares: 8 });
  await checkPrices(0.45, 0.6);
  const known = await volumes();
  await node.end('SIGKILL');
  node = await TestNode.start(dataDir);
  await checkPrices(0.45, 0.6);
  assert.deepEqual(await volumes(), known);
  await node.stop();
});
