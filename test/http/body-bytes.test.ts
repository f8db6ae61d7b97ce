/** Bodies on their way: how much of them is held, of a caller and of all, and who is refused beyond it. */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { RequestContext } from '../../server/http/http.ts';
import { RateLimiter } from '../../server/http/rate-limiter.ts';
import { effectiveCaps } from '../../server/http/rate-limits.ts';
import { Client, post, route, serve } from '../common/http-client.ts';
import { send, TestNode, temporaryDirectory, until } from '../common/node-harness.ts';

const MIB = 2 ** 20;
/** Of one caller, before its long bodies are refused. */
const BODIES_HASHED = 16;
const BODY = 100_000;
const BODIES_OF_CALLER = 2;
const BODIES_OF_ALL = 3;
const bodyBytesMax = { all: BODIES_OF_ALL * BODY, perCaller: BODIES_OF_CALLER * BODY };
const run = (context: RequestContext): void => context.reply(200, String(context.body.length));
const ROUTE = route({ method: 'POST', bodyBytesMax: BODY, run });
const HALF = Buffer.alloc(BODY / 2, 'x');

const begin = (client: Client): Client => client.send(post(BODY), HALF);

test('bodies of all callers are bounded in sum, and room comes back when one ends or is cut', async (t) => {
  const { client, server } = await serve(t, [ROUTE], { bodyBytesMax });
  const held = (bodies: number) =>
    until(() => Promise.resolve(server.facts().bodyBytes === bodies * BODY));
  const [first, second, third] = [begin(client()), begin(client()), begin(client())];
  await held(BODIES_OF_ALL);
  const refused = begin(client());
  const answer = await refused.answer();
  assert.equal(answer.status, 503);
  assert.equal(
    String(answer.body),
    '{"error":"too many bodies in flight","code":"TOO_MANY_IN_FLIGHT"}',
  );
  assert.equal(answer.headers.get('retry-after'), '1');
  assert.equal(answer.headers.get('connection'), 'close');
  await refused.closed;
  first.send(HALF);
  assert.equal(String((await first.answer()).body), String(BODY));
  second.socket.destroy();
  await held(1);
  third.send(HALF);
  assert.equal((await third.answer()).status, 200);
  await held(0);
});

test('one caller has its own bound, and another is served meanwhile', async (t) => {
  const limiter = new RateLimiter({ caps: effectiveCaps({}), seed: 7 });
  const { client, server } = await serve(t, [ROUTE], { bodyBytesMax, limiter });
  for (let i = 0; i < BODIES_OF_CALLER; i++) begin(client('127.0.0.2'));
  await until(() => Promise.resolve(server.facts().bodyBytes === BODIES_OF_CALLER * BODY));
  const refused = begin(client('127.0.0.2'));
  assert.equal((await refused.answer()).status, 429);
  await refused.closed;
  const other = begin(client('127.0.0.3')).send(HALF);
  assert.equal((await other.answer()).status, 200);
});

test('who sent long bodies under wrong credentials is refused before the next one is sent', async (t) => {
  const node = await TestNode.start(temporaryDirectory(), { RATE_LIMITS: 'on' });
  t.after(() => node.stop());
  const headers = {
    SERVICE_ADDRESS: `0x${'12'.repeat(20)}`,
    SERVICE_API_KEY: '00000000-0000-4000-8000-000000000000',
    SERVICE_PASSPHRASE: '0'.repeat(64),
    SERVICE_SIGNATURE: '0'.repeat(64),
    SERVICE_TIMESTAMP: String(Math.floor(Date.now() / 1_000)),
  };
  const body = `[${' '.repeat(MIB - 2)}]`;
  for (let i = 0; i < BODIES_HASHED; i++) {
    assert.equal((await send(node, 'POST', '/orders', headers, body)).status, 401);
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `POST /orders HTTP/1.1\r\nHost: node\r\n${lines.join('')}`;
  const refused = new Client(node.port).send(`${head}Content-Length: ${MIB}\r\n\r\n`);
  const answer = await refused.answer();
  assert.deepEqual([answer.status, answer.headers.get('connection')], [429, 'close']);
  await refused.closed;
});

test('a long body is refused before it is sent where its caller may send none', async (t) => {
  const longRefused = (): [string, string][] => [['Retry-After', '7']];
  const { client } = await serve(t, [{ ...ROUTE, longRefused }]);
  const refused = client().send(post(BODY));
  const { headers, status } = await refused.answer();
  assert.deepEqual([status, headers.get('retry-after')], [429, '7']);
  await refused.closed;
  assert.equal((await client().send(post(5), 'hello').answer()).status, 200);
});
