/** Decisions of an operator and their effects on traders: orders, bans, the pause, rate limits. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { TRADING_PAUSED } from '../../server/common/error-bodies.ts';
import { get, temporaryDirectory, until, withMarkets } from '../common/node-harness.ts';
import { SocketClient } from '../common/socket-client.ts';
import { bodyOf, Trader } from '../common/traders.ts';
import { OperatorNode } from './operator-node.ts';

const dataDir = temporaryDirectory();
const [market] = await withMarkets(dataDir, [{ id: 1 }]);
assert(market);
const RATES = { RATE_LIMITS: 'on', RATE_LIMITS_OVERRIDES: 'health=off' };
let operator = await OperatorNode.start(dataDir, RATES);
const alice = await Trader.join(operator.node, 'alice');
const bob = await Trader.join(operator.node, 'bob');
const carol = await Trader.join(operator.node, 'carol');

const buy = (ticks: number) => ({ market, side: 'BUY' as const, ticks, shares: 10 });
const openOf = async (trader: Trader): Promise<string[]> => {
  const json = await operator.done('GET /admin/orders', undefined, `?wallet=${trader.address}`);
  return (json.orders as { id: string }[]).map(({ id }) => id);
};
async function restart(): Promise<void> {
  await operator.node.stop();
  operator = await OperatorNode.start(dataDir, RATES);
}

test('the open orders of a wallet are listed and cancelled, one or all, and no other', async () => {
  const placed: string[] = [];
  for (const ticks of [10, 11, 12])
    placed.push((await alice.place(operator.node, buy(ticks))).orderID);
  const other = (await bob.place(operator.node, buy(13))).orderID;
  // A wallet that pays and does not sign: its orders are its own too.
  const paid = alice.sign({ ...buy(14), signed: { maker: carol.address, signatureType: 2 } });
  const [result] = await alice.post(operator.node, [paid]);
  assert.equal(result?.errorMsg, '');
  assert.deepEqual((await openOf(alice)).sort(), [...placed, paid.id].sort());
  assert.deepEqual(await openOf(carol), [paid.id]);
  const page = await operator.done(
    'GET /admin/orders',
    undefined,
    `?wallet=${alice.address}&limit=1&offset=1`,
  );
  assert.deepEqual([page.total, (page.orders as object[]).length], [4, 1]);

  const wallet = alice.address;
  const foreign = await operator.call('POST /admin/orders/cancel', { wallet, id: other });
  assert.deepEqual([foreign.status, foreign.json.error], [404, 'order not found']);
  const one = await operator.done('POST /admin/orders/cancel', { wallet, id: placed[1] });
  assert.deepEqual(one, { canceled: 1 });
  assert.deepEqual(await operator.done('POST /admin/orders/cancel', { wallet }), { canceled: 3 });
  assert.deepEqual(await openOf(alice), []);
  assert.deepEqual(await openOf(bob), [other]);
});

test('a banned wallet is answered 403, its orders end and new ones are refused, also after a restart', async () => {
  const wallet = bob.address;
  await bob.place(operator.node, buy(20));
  const paid = alice.sign({ ...buy(21), signed: { maker: wallet, signatureType: 2 } });
  await alice.post(operator.node, [paid]);
  const stream = await SocketClient.open(operator.node, '/ws/user');
  stream.send({ type: 'user', auth: bob.trio, markets: [] });
  await stream.upToNow();
  const before = (await openOf(bob)).length;
  assert(before >= 2);
  const banned = await operator.done('POST /admin/bans', { wallet, reason: 'wash trades' });
  assert.deepEqual(banned, { wallet, changed: true, canceled: before });
  await until(() => stream.closed !== undefined);
  const statesOf = async ({ address }: Trader) => {
    const { keys } = await operator.done('GET /admin/keys', undefined, `?wallet=${address}`);
    return (keys as { state: string }[]).map(({ state }) => state);
  };
  assert.deepEqual([await statesOf(bob), await statesOf(alice)], [['banned'], ['active']]);

  const isBarred = async () => {
    assert.deepEqual(await openOf(bob), []);
    for (const [method, path] of [
      ['POST', '/orders'],
      ['DELETE', '/cancel-all'],
      ['GET', '/data/orders'],
      ['GET', '/auth/api-keys'],
    ] as const) {
      const { json, status } = await bob.ask(
        operator.node,
        method,
        path,
        method === 'POST' ? '[]' : '',
      );
      assert.deepEqual(
        [status, json],
        [403, { error: 'address banned', code: 'ADDRESS_BANNED' }],
        path,
      );
    }
    await assert.rejects(Trader.join(operator.node, 'bob'), /address banned/);
    const forBob = { ...buy(22), signed: { maker: wallet, signatureType: 2 } };
    const [result] = await alice.post(operator.node, [alice.sign(forBob)]);
    assert.equal(result?.errorMsg, 'address banned');
    // Nobody else is.
    assert.equal((await alice.ask(operator.node, 'GET', '/data/orders')).status, 200);
  };
  await isBarred();
  await restart();
  await isBarred();
  const { bans } = (await operator.done('GET /admin/bans')) as {
    bans: { wallet: string; reason: string }[];
  };
  assert.deepEqual(
    bans.map(({ reason, wallet: of }) => [of, reason]),
    [[wallet, 'wash trades']],
  );
  const again = await operator.done('POST /admin/bans', { wallet });
  assert.deepEqual([again.changed, again.canceled], [false, 0]);

  assert.equal((await operator.done('POST /admin/bans/lift', { wallet })).changed, true);
  assert.equal((await operator.done('POST /admin/bans/lift', { wallet })).changed, false);
  assert.deepEqual(await statesOf(bob), ['active']);
  await bob.place(operator.node, buy(23));
});

test('orders are refused and cancels accepted while the venue is paused, also after a restart', async () => {
  const { orderID } = await alice.place(operator.node, buy(30));
  assert.deepEqual(await operator.done('POST /admin/pause', { reason: 'maintenance' }), {
    paused: true,
    changed: true,
  });
  const isPaused = async () => {
    const { json, status } = await alice.postText(operator.node, bodyOf([alice.sign(buy(31))]));
    assert.deepEqual([status, JSON.stringify(json)], [503, TRADING_PAUSED]);
    const { json: shown } = await get(operator.node, '/status');
    const { paused, status: state } = shown as { paused: { reason: string }[]; status: string };
    assert.deepEqual([state, paused.map(({ reason }) => reason)], ['read-only', ['operator']]);
  };
  await isPaused();
  await restart();
  await isPaused();
  assert.equal((await operator.done('GET /admin/pause')).reason, 'maintenance');
  const ready = await fetch(`${operator.base}/ready`);
  assert.deepEqual(await ready.json(), { status: 'read-only', reason: 'operator: maintenance' });
  const canceled = await alice.cancel(operator.node, '/order', { orderID });
  assert.deepEqual(canceled.canceled, [orderID]);

  assert.equal((await operator.done('POST /admin/resume')).changed, true);
  assert.equal((await operator.done('POST /admin/resume')).changed, false);
  await alice.place(operator.node, buy(32));
  assert.deepEqual(await operator.done('GET /admin/pause'), { paused: false });
});

test('a rate limit changes while the node runs, and a restart resets it', async () => {
  const limitOf = (json: Record<string, unknown>, name: string) =>
    (json.limits as { name: string; limit: string }[]).find((row) => row.name === name)?.limit;
  const ask = async () => (await get(operator.node, '/')).status;
  for (let i = 0; i < 60; i++) assert.equal(await ask(), 200);
  const changed = await operator.done('POST /admin/rate-limits', {
    name: 'health',
    limit: '2/600',
  });
  assert.equal(limitOf(changed, 'health'), '2/600');
  assert.match(String(changed.setting), /^RATE_LIMITS_OVERRIDES=health=2\/600$/);
  assert.deepEqual([await ask(), await ask(), await ask()], [200, 200, 429]);
  const { json } = await get(operator.node, '/rate-limits');
  const [row] = (json as { limits: { name: string; requests: number }[] }).limits.filter(
    ({ name }) => name === 'health',
  );
  assert.equal(row?.requests, 2);
  await operator.done('POST /admin/rate-limits', { name: 'health', limit: 'off' });
  assert.equal(await ask(), 200);
  for (const body of [
    { name: 'nothing', limit: '1/1' },
    { name: 'health', limit: 'many' },
    { name: 'health', limit: '0/1' },
  ]) {
    const { json: told, status } = await operator.call('POST /admin/rate-limits', body);
    assert.deepEqual([status, told.error], [400, 'invalid limit']);
  }
  const unknown = await operator.call('POST /admin/rate-limits', { name: 'helth', limit: '1/1' });
  const names = (changed.limits as { name: string }[]).map((limit) => limit.name).join(', ');
  assert.equal(unknown.json.detail, `"helth=1/1" names no rate limit; there are ${names}`);
  await operator.done('POST /admin/rate-limits', { name: 'book', limit: '1/10' });
  await restart();
  assert.equal(limitOf(await operator.done('GET /admin/rate-limits'), 'book'), '200/10');
  await operator.node.stop();
});
