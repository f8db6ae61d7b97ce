import assert from 'node:assert/strict';
import test from 'node:test';
import { type ApiKey, level1, level2 } from '../../client/credentials.ts';
import {
  type Reply,
  send,
  TestNode,
  temporaryDirectory,
  withMarkets,
} from '../common/node-harness.ts';
import { bodyOf, CHAIN_ID, seconds, Trader } from '../common/traders.ts';

const dataDir = temporaryDirectory();
const [market] = await withMarkets(dataDir, [{ id: 1 }]);
assert(market);
let node = await TestNode.start(dataDir);
const alice = await Trader.join(node, 'alice');
const bob = await Trader.join(node, 'bob');

function issue(trader: Trader, nonce: string): Promise<Reply> {
  const headers = level1('SERVICE', trader.wallet, CHAIN_ID, seconds(), nonce);
  return send(node, 'POST', '/auth/api-key', headers);
}

function derive(trader: Trader, nonce: string): Promise<Reply> {
  const headers = level1('SERVICE', trader.wallet, CHAIN_ID, seconds(), nonce);
  return send(node, 'GET', '/auth/derive-api-key', headers);
}

function callWith(
  trader: Trader,
  trio: ApiKey,
  method: string,
  path: string,
  query = '',
): Promise<Reply> {
  const headers = level2('SERVICE', trader.address, trio, method, path, '', seconds());
  return send(node, method, `${path}${query}`, headers);
}

function readWith(
  key: string,
  address: string,
  path: string,
  method = 'GET',
  body = '',
): Promise<Reply> {
  const headers = { SERVICE_READONLY_API_KEY: key, SERVICE_ADDRESS: address };
  return send(node, method, path, headers, body);
}

function refuses(reply: Reply, status: number, error: string): void {
  assert.deepEqual([reply.status, (reply.json as { error: string }).error], [status, error]);
}

const UNKNOWN = 'invalid_l2: unknown key or wrong passphrase';

test('keys are listed, revoked one by one, and issued again by their wallet alone', async () => {
  const second = (await issue(alice, '7')).json as ApiKey;
  const listed = async () => (await alice.call(node, 'GET', '/auth/api-keys')).json;
  assert.deepEqual(await listed(), [alice.trio.apiKey, second.apiKey].sort());
  refuses(
    await bob.call(node, 'DELETE', '/auth/api-key', `?apiKey=${second.apiKey}`),
    404,
    'API key not found',
  );
  refuses(await alice.call(node, 'DELETE', '/auth/api-key', '?apiKey=x'), 400, 'invalid apiKey');

  const reply = await alice.call(
    node,
    'DELETE',
    '/auth/api-key',
    `?apiKey=${second.apiKey.toUpperCase()}`,
  );
  assert.deepEqual([reply.status, reply.json], [200, { revoked: true }]);
  assert.deepEqual(await listed(), [alice.trio.apiKey]);
  refuses(await callWith(alice, second, 'GET', '/auth/api-keys'), 401, UNKNOWN);
  refuses(await derive(alice, '7'), 404, 'API key not found');
  assert.deepEqual((await issue(alice, '7')).json, second, 'the same trio as before');
  assert.equal((await callWith(alice, second, 'GET', '/auth/api-keys')).status, 200);

  // Without a name it is the calling key, under both paths.
  for (const path of ['/auth/api-key', '/auth/derive-api-key']) {
    assert.equal((await callWith(alice, second, 'DELETE', path)).status, 200);
    refuses(await callWith(alice, second, 'GET', '/auth/api-keys'), 401, UNKNOWN);
    await issue(alice, '7');
  }
});

test('orders of a revoked key stay open', async () => {
  const trio = (await issue(bob, '3')).json as ApiKey;
  const order = bob.sign({ market, side: 'BUY', ticks: 10, shares: 5, owner: trio.apiKey });
  const body = bodyOf([order]);
  const headers = level2('SERVICE', bob.address, trio, 'POST', '/orders', body, seconds());
  assert.equal((await send(node, 'POST', '/orders', headers, body)).status, 200);
  await callWith(bob, trio, 'DELETE', '/auth/api-key');
  const { json, status } = await bob.call(node, 'GET', `/data/order/${order.id}`);
  assert.deepEqual([status, (json as { owner: string }).owner], [200, trio.apiKey]);
});

test('no address is closed-only, by both spellings of the route', async () => {
  const { json } = await alice.call(node, 'GET', '/auth/ban-status/closed-only');
  assert.deepEqual(json, { closed_only: false, closedOnly: false });
});

test('a read-only key reads orders and trades of its owner, and writes nothing', async () => {
  const { id } = alice.sign({ market, side: 'SELL', ticks: 90, shares: 5 });
  const order = alice.sign({ market, side: 'SELL', ticks: 91, shares: 5 });
  await alice.post(node, [order]);
  const issued = (await alice.call(node, 'POST', '/auth/readonly-api-key')).json as ApiKey;
  assert.deepEqual(Object.keys(issued), ['apiKey']);
  const key = issued.apiKey;
  const one = await readWith(key, alice.address, `/data/order/${order.id}`);
  assert.deepEqual([one.status, (one.json as { id: string }).id], [200, order.id]);
  const list = await readWith(
    key.toUpperCase(),
    alice.address.toLowerCase(),
    `/data/orders?maker_address=${alice.address}`,
  );
  assert.deepEqual(
    (list.json as { data: { id: string }[] }).data.map((row) => row.id),
    [order.id],
  );
  assert.equal((await readWith(key, alice.address, '/data/trades')).status, 200);
  refuses(await readWith(key, alice.address, `/data/order/${id}`), 404, 'order not found');

  const reason = 'invalid_l2: read-only key';
  const body = bodyOf([order]);
  refuses(await readWith(key, alice.address, '/orders', 'POST', body), 403, reason);
  refuses(await readWith(key, alice.address, '/auth/api-keys'), 403, reason);
  refuses(await readWith(key, alice.address, '/auth/api-key', 'DELETE'), 403, reason);
  refuses(await readWith(key, alice.address, '/auth/readonly-api-key', 'POST'), 403, reason);
  const unknown = 'invalid_l2: unknown read-only key';
  refuses(await readWith(key, bob.address, '/data/orders'), 401, unknown);
  refuses(await readWith(alice.trio.apiKey, alice.address, '/data/orders'), 401, unknown);
  refuses(
    await readWith('x', alice.address, '/data/orders'),
    401,
    'invalid_l2: malformed header SERVICE_READONLY_API_KEY',
  );
  refuses(
    await readWith(key, 'x', '/data/orders'),
    401,
    'invalid_l2: malformed header SERVICE_ADDRESS',
  );
  // It is no API key either.
  const trio = { ...alice.trio, apiKey: key };
  refuses(await callWith(alice, trio, 'GET', '/data/orders'), 401, UNKNOWN);
});

test('read-only keys are listed, validated, deleted for good, and survive a restart', async () => {
  const made: string[] = [];
  for (let i = 0; i < 3; i++) {
    made.push(((await bob.call(node, 'POST', '/auth/readonly-api-key')).json as ApiKey).apiKey);
  }
  const [first = '', second = '', third = ''] = made;
  const listed = async () =>
    ((await bob.call(node, 'GET', '/auth/readonly-api-keys')).json as { readonlyApiKeys: string[] })
      .readonlyApiKeys;
  const remove = (trader: Trader, key: string) =>
    trader.call(node, 'DELETE', '/auth/readonly-api-key', '', JSON.stringify({ key }));
  const validate = (key: string, address = bob.address) =>
    send(node, 'GET', `/auth/validate-readonly-api-key?address=${address}&key=${key}`);
  assert.deepEqual(await listed(), made);
  assert.equal((await validate(first)).json, 'valid');
  refuses(await validate(first, alice.address), 404, 'API key not found');
  refuses(await send(node, 'GET', '/auth/validate-readonly-api-key'), 400, 'invalid address');
  refuses(await remove(alice, second), 404, 'API key not found');
  refuses(await remove(bob, 'x'), 400, 'invalid key');
  assert.deepEqual((await remove(bob, second)).json, 'OK');
  refuses(await remove(bob, second), 404, 'API key not found');
  refuses(
    await readWith(second, bob.address, '/data/orders'),
    401,
    'invalid_l2: unknown read-only key',
  );

  await node.end('SIGKILL');
  node = await TestNode.start(dataDir);
  assert.deepEqual(await listed(), [first, third]);
  assert.equal((await validate(third)).status, 200);
  refuses(await validate(second), 404, 'API key not found');
  const next = ((await bob.call(node, 'POST', '/auth/readonly-api-key')).json as ApiKey).apiKey;
  assert(!made.includes(next), 'a deleted key never comes back');
});
