/** GET /ready of the public port: codes without texts, and READY_ROUTE. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { get, send, TestNode, temporaryDirectory } from '../common/node-harness.ts';
import { OperatorNode } from './operator-node.ts';

const operator = await OperatorNode.start(temporaryDirectory());

test('a node that accepts orders is ready, a paused one gives only the reason, and health stays OK', async () => {
  const { node } = operator;
  for (const path of ['/ready', '/clob/ready']) {
    const { json, status } = await get(node, path);
    assert.deepEqual([status, json], [200, { status: 'ready' }], path);
  }
  const head = () => fetch(`http://127.0.0.1:${node.port}/ready`, { method: 'HEAD' });
  const answered = await head();
  assert.deepEqual([answered.status, await answered.text()], [200, '']);
  assert.equal((await operator.call('POST /admin/pause', { reason: '/etc/secret' })).status, 200);
  const paused = await get(node, '/ready');
  assert.deepEqual(
    [paused.status, paused.json],
    [503, { status: 'unready', reasons: ['operator'] }],
  );
  assert.equal((await head()).status, 503);
  for (const path of ['/', '/health', '/healthz']) {
    assert.deepEqual([(await get(node, path)).text], ['"OK"'], path);
  }
  assert.equal((await operator.call('POST /admin/resume', {})).status, 200);
  assert.equal((await get(node, '/ready')).status, 200);
  assert.equal((await send(node, 'POST', '/ready')).status, 405);
});

test('the route counts in the general rate row, and READY_ROUTE=off removes it', async (t) => {
  const settings = { READY_ROUTE: 'off', RATE_LIMITS: 'on' };
  const without = await TestNode.start(temporaryDirectory(), settings);
  t.after(() => without.end('SIGKILL'));
  // Its document is not the one that answers of other nodes are held to.
  const place = { port: without.port };
  assert.equal((await get(place, '/ready')).status, 404);
  const document = (await get(place, '/openapi.json')).json as { readonly paths: object };
  assert(!('/ready' in document.paths) && '/health' in document.paths);
  const limited = await TestNode.start(temporaryDirectory(), { RATE_LIMITS: 'on' });
  t.after(() => limited.end('SIGKILL'));
  const [ready, time] = [await get(limited, '/ready'), await get(limited, '/time')];
  assert.equal(ready.headers['x-ratelimit-limit'], time.headers['x-ratelimit-limit']);
});
