/**
 * Trades whose settlement fails or is confirmed later, over real sockets: what answers, reads, streams and the ledger say
 * meanwhile and afterwards (docs/protocol.md#unsettled-trades).
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { OperatorNode } from '../admin/operator-node.ts';
import { get, temporaryDirectory, until, withMarkets } from '../common/node-harness.ts';
import { SocketClient } from '../common/socket-client.ts';
import { type Terms, Trader } from '../common/traders.ts';

type Json = Readonly<Record<string, unknown>>;

const SETTINGS = { FAULTS: 'operator', LEDGER: 'on', FAUCET: '1000' };
/** A decision that no test waits for. */
const LATE = 600_000;

const dataDir = temporaryDirectory();
const markets = await withMarkets(dataDir, [{ id: 1 }, { id: 2 }]);
const [market, other] = markets;
assert(market && other);
let operator = await OperatorNode.start(dataDir, SETTINGS);
after(() => operator.node.stop());
const alice = await Trader.join(operator.node, 'alice');
const bob = await Trader.join(operator.node, 'bob');
for (const its of markets) await alice.split(operator.node, its, 200);

const priced = (side: 'BUY' | 'SELL', ticks: number, more: Partial<Terms> = {}): Terms => ({
  market,
  side,
  ticks,
  shares: 10,
  ...more,
});

async function fail(more: Json): Promise<string> {
  const input = { kind: 'settlement-failed', ms: LATE, ...more };
  return (await operator.done('POST /admin/faults', input)).id as string;
}

async function clear(id?: string): Promise<void> {
  await operator.done('POST /admin/faults/clear', id === undefined ? {} : { id });
}

/** Trades a sale of alice with a purchase of bob, and returns the order of bob. */
async function trade(ticks: number, more: Partial<Terms> = {}): Promise<string> {
  await alice.place(operator.node, priced('SELL', ticks, more));
  const taken = await bob.place(operator.node, priced('BUY', ticks, more));
  assert.equal(taken.status, 'matched');
  return taken.orderID;
}

async function balance(trader: Trader): Promise<{ cash: Json; token: Json | undefined }> {
  const { json } = await trader.ask(operator.node, 'GET', '/ledger/balance');
  const { cash, positions } = json as { cash: Json; positions: readonly Json[] };
  return { cash, token: positions.find(({ token_id }) => token_id === market!.tokenIds[0]) };
}

/** The own trade of an order. */
async function tradeOf(trader: Trader, order: string): Promise<Json> {
  const { json } = await trader.ask(operator.node, 'GET', '/data/trades');
  const { data } = json as { data: readonly Json[] };
  return data.find(({ taker_order_id }) => taker_order_id === order)!;
}

const rowsOf = async (path: string): Promise<readonly Json[]> =>
  (await get(operator.node, path)).json as readonly Json[];

const causes = async (trader: Trader): Promise<unknown[]> => {
  const { json } = await trader.ask(operator.node, 'GET', '/ledger/statement');
  return (json as { data: readonly Json[] }).data.map(({ cause }) => cause);
};

async function userStream(trader: Trader): Promise<SocketClient> {
  const client = await SocketClient.open(operator.node, '/ws/user');
  client.send({ type: 'user', auth: trader.trio, markets: [] });
  await client.upToNow();
  return client;
}

/** Waits for as many messages about the trade of an order, and returns their status and whether they have a hash. */
async function told(client: SocketClient, order: string, count: number): Promise<string[]> {
  const seen: string[] = [];
  await until(async () => {
    for (const event of await client.upToNow()) {
      if (event.event_type !== 'trade' || event.taker_order_id !== order) continue;
      seen.push(`${String(event.status)} ${event.transaction_hash === '' ? 'none' : 'hash'}`);
    }
    return seen.length >= count;
  });
  return seen;
}

const price = async (): Promise<unknown> =>
  ((await get(operator.node, `/last-trade-price?token_id=${market.tokenIds[0]}`)).json as Json)
    .price;

test('a trade that fails is retried first, and then everything is as if it had never been', async () => {
  const stands = await trade(40);
  const before = [await balance(alice), await balance(bob)];
  const id = await fail({ count: 1 });
  const streams = [await userStream(alice), await userStream(bob)];
  const order = await trade(60);
  const { status, transaction_hash } = await tradeOf(bob, order);
  assert.deepEqual([status, transaction_hash], ['RETRYING', '']);
  assert.equal((await tradeOf(alice, order)).status, 'RETRYING');
  assert.equal((await balance(alice)).cash.free, before[0]!.cash.free);
  assert.equal((await balance(bob)).token!.free, before[1]!.token!.free);
  assert.equal(await price(), '0.6');
  const listed = (await operator.done('GET /admin/faults')).faults as readonly Json[];
  assert.deepEqual(listed, [], 'its use is made');
  await clear(id);
  assert.equal((await tradeOf(bob, order)).status, 'FAILED');
  assert.equal((await tradeOf(bob, stands)).status, 'CONFIRMED');
  assert.deepEqual([await balance(alice), await balance(bob)], before);
  assert.equal(await price(), '0.4');
  for (const stream of streams) {
    assert.deepEqual(await told(stream, order, 3), [
      'MATCHED none',
      'RETRYING none',
      'FAILED none',
    ]);
    stream.cut();
  }
  const { json } = await bob.ask(operator.node, 'GET', `/data/order/${order}`);
  assert.equal((json as Json).status, 'matched', 'its orders stay as they are');
});

test('volume, positions, activity and public trades leave out what failed, and the statement has it', async () => {
  await until(async () => (await causes(bob)).includes('TRADE_FAILED'));
  assert.deepEqual((await causes(bob)).slice(0, 3), ['TRADE_FAILED', 'TRADE', 'TRADE']);
  const positions = `/positions?user=${bob.address}`;
  await until(async () => (await rowsOf(positions)).length === 1);
  const [{ avgPrice, size }] = (await rowsOf(positions)) as [Json];
  assert.deepEqual([size, avgPrice], [10, 0.4]);
  for (const user of [alice, bob]) {
    for (const path of ['/trades?takerOnly=false&', '/activity?type=TRADE&']) {
      const rows = await rowsOf(`${path}user=${user.address}`);
      assert.deepEqual(
        rows.map(({ price: at }) => at),
        [0.4],
        path,
      );
    }
  }
  assert.equal((await rowsOf('/trades')).length, 1);
  const [volume] = await rowsOf(`/live-volume?id=1`);
  assert.equal(volume!.total, 4);
  const history = await get(
    operator.node,
    `/prices-history?market=${market.tokenIds[0]}&interval=1h`,
  );
  const points = (history.json as { history: readonly { p: number }[] }).history;
  assert.equal(points.at(-1)!.p, 0.4);
});

test('with a probability a seed decides which trades fail, and the others are confirmed', async () => {
  const id = await fail({ ms: 1, probability: 0.5, seed: 7, wallet: bob.address });
  const statuses: unknown[] = [];
  for (let i = 0; i < 12; i++) {
    const order = await trade(50, { shares: 5 });
    await until(async () => (await tradeOf(bob, order)).status !== 'RETRYING');
    const { status, transaction_hash } = await tradeOf(bob, order);
    assert.equal(transaction_hash === '', status === 'FAILED');
    statuses.push(status);
  }
  assert.deepEqual(new Set(statuses), new Set(['CONFIRMED', 'FAILED']));
  await clear(id);
  const order = await trade(50, { shares: 5 });
  assert.equal((await tradeOf(bob, order)).status, 'CONFIRMED');
});

test('a fault of a market strikes its trades alone, and ends with their decision when it is cleared', async () => {
  const id = await fail({ market: market.conditionId });
  const struck = await trade(55, { shares: 5 });
  const free = await trade(55, { shares: 5, market: other });
  assert.equal((await tradeOf(bob, struck)).status, 'RETRYING');
  assert.equal((await tradeOf(bob, free)).status, 'CONFIRMED');
  await clear(id);
  assert.equal((await tradeOf(bob, struck)).status, 'FAILED');
  const again = await operator.call('POST /admin/faults/clear', { id });
  assert.equal(again.status, 404);
});

test('a trade that is not decided survives a kill, and a resolution decides it first', async () => {
  await fail({ probability: 0 });
  const order = await trade(30, { market: other, shares: 5 });
  await operator.node.end('SIGKILL');
  operator = await OperatorNode.start(dataDir, SETTINGS);
  assert.equal((await tradeOf(bob, order)).status, 'RETRYING');
  const earlier = await trade(31, { market: other });
  assert.equal((await tradeOf(bob, earlier)).status, 'CONFIRMED');
  const { conditionId: condition } = other;
  await operator.done('POST /admin/markets/resolve', { condition, payout: [1, 0], id: 'end' });
  await until(async () => (await tradeOf(bob, order)).status === 'CONFIRMED');
  await until(async () => (await operator.done('GET /admin/ledger')).resolving === 0);
  assert.equal((await operator.done('GET /admin/ledger')).imbalance, '0');
});

test('a key cannot make it, and without a ledger nobody can', async () => {
  const [bare] = [temporaryDirectory()];
  await withMarkets(bare, [{ id: 1 }]);
  const plain = await OperatorNode.start(bare, { FAULTS: 'on' });
  try {
    const refused = await plain.call('POST /admin/faults', { kind: 'settlement-failed' });
    assert.deepEqual([refused.status, refused.json.code], [409, 'LEDGER_OFF']);
    const carol = await Trader.join(plain.node, 'carol');
    const body = JSON.stringify({ kind: 'settlement-failed', count: 1 });
    assert.equal((await carol.ask(plain.node, 'POST', '/faults', body)).status, 400);
  } finally {
    await plain.node.stop();
  }
});
