import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestContext } from '../../server/http/http.ts';
import { RateLimiter } from '../../server/http/limits/rate-limiter.ts';
import { effectiveCaps } from '../../server/http/limits/rate-limits.ts';
import { RequestBody } from '../../server/http/request-body.ts';
import { Client, post, route, serve } from '../common/http-client.ts';
import { type Reply, send, TestNode, temporaryDirectory, until } from '../common/node-harness.ts';
import { seconds, Trader } from '../common/traders.ts';

const MIB = 2 ** 20;
/** Long bodies of one caller that are hashed before further ones are refused. */
const BODIES_HASHED = 16;
const REFUSED_MS_MAX = 120_000;
/** Time in which a stalled machine answers, shorter than a window. */
const ANSWER_MS_MAX = 5_000;
const BODY = 100_000;
const BODIES_OF_CALLER = 2;
const BODIES_OF_ALL = 3;
const bodyBytesMax = { all: BODIES_OF_ALL * BODY, perCaller: BODIES_OF_CALLER * BODY };
const run = (context: RequestContext): void => context.reply(200, String(context.body.length));
const ROUTE = route({ method: 'POST', bodyBytesMax: BODY, run });
type Added = Parameters<RequestBody['add']>;
const HALF = Buffer.alloc(BODY / 2, 'x');

const begin = (client: Client): Client => client.send(post(BODY), HALF);

test('bodies of all callers have a bound in sum, and room returns when one ends or is cut', async (t) => {
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

test('a caller of long bodies with wrong credentials is refused before the next one is sent', async (t) => {
  const node = await TestNode.start(temporaryDirectory(), { RATE_LIMITS: 'on' });
  t.after(() => node.stop());
  const headers = () => ({
    SERVICE_ADDRESS: `0x${'12'.repeat(20)}`,
    SERVICE_API_KEY: '00000000-0000-4000-8000-000000000000',
    SERVICE_PASSPHRASE: '0'.repeat(64),
    SERVICE_SIGNATURE: '0'.repeat(64),
    SERVICE_TIMESTAMP: seconds(),
  });
  const body = `[${' '.repeat(MIB - 2)}]`;
  const waste = () => send(node, 'POST', '/orders', headers(), body);
  const wasted = await Promise.all(Array.from({ length: BODIES_HASHED }, waste));
  for (const { status } of wasted) assert.equal(status, 401);
  await refusesHead(node, headers, waste);
});

test('a caller of long batches beyond the orders of its key is refused before the next one is sent', async (t) => {
  const node = await TestNode.start(temporaryDirectory(), {
    RATE_LIMITS: 'on',
    ORDERS_PER_10S: '1',
  });
  t.after(() => node.stop());
  const trader = await Trader.join(node, 'alice');
  const two = '[{},{}';
  const body = `${two}${' '.repeat(MIB - two.length - 1)}]`;
  for (let i = 0; i < BODIES_HASHED; i++) {
    const { headers, status } = await trader.postText(node, body);
    assert.deepEqual([status, headers['x-ratelimit-limit']], [429, '1']);
  }
  await refusesHead(
    node,
    () => trader.headers(body),
    () => trader.postText(node, body),
  );
  assert.equal((await trader.postText(node, '[{}]')).status, 400, 'a short batch is taken');
});

/**
 * Checks that a long body is answered 429 before any of it was sent.
 * @param waste sends one more in vain: on a slow machine the window of ten seconds may have ended
 */
async function refusesHead(
  node: TestNode,
  headers: () => Readonly<Record<string, string>>,
  waste: () => Promise<Reply>,
): Promise<void> {
  await until(async () => {
    const lines = Object.entries(headers()).map(([name, value]) => `${name}: ${value}\r\n`);
    const head = `POST /orders HTTP/1.1\r\nHost: node\r\n${lines.join('')}`;
    const asking = new Client(node.port).send(`${head}Content-Length: ${MIB}\r\n\r\n`);
    // It is cut where it does not come: then the node waits for the body.
    const answer = await Promise.race([
      asking.answer().catch(() => undefined),
      sleep(ANSWER_MS_MAX, undefined, { ref: false }),
    ]);
    if (answer === undefined) {
      asking.socket.destroy();
      await Promise.all(Array.from({ length: BODIES_HASHED }, waste));
      return false;
    }
    assert.deepEqual([answer.status, answer.headers.get('connection')], [429, 'close']);
    await asking.closed;
    return true;
  }, REFUSED_MS_MAX);
}

test('a bounded number of bytes of simultaneous bodies is received in an event-loop iteration', async (t) => {
  const LONG = 900_000;
  const BODIES = 40;
  const { client, server } = await serve(t, [{ ...ROUTE, bodyBytesMax: LONG }]);
  const clients = Array.from({ length: BODIES }, () => client().send(post(LONG), 'x'));
  await until(() => Promise.resolve(server.facts().bodyBytes === BODIES * LONG));
  const { add } = RequestBody.prototype;
  let bytes = 0;
  let most = 0;
  t.mock.method(RequestBody.prototype, 'add', function (this: RequestBody, ...given: Added) {
    if (bytes === 0) setImmediate(() => (bytes = 0));
    bytes += given[0].byteLength;
    most = Math.max(most, bytes);
    return add.apply(this, given);
  });
  const rest = Buffer.alloc(LONG - 1, 'x');
  clients[0]!.send(rest.subarray(1)).socket.destroy();
  for (const each of clients.slice(1)) each.send(rest);
  for (const each of clients.slice(1)) {
    const { body, status } = await each.answer();
    assert.deepEqual([status, String(body)], [200, String(LONG)]);
    // The connection is read on.
    assert.equal((await each.send(post(5), 'hello').answer()).status, 200);
  }
  // A mebibyte, and what the connection at hand brings beyond it; 28 without a bound.
  assert(most <= 4 * MIB, `${most} bytes in a turn`);
  await until(() => Promise.resolve(server.facts().bodyBytes === 0));
});

test('a body in many small chunks ends although it is paused between them', async (t) => {
  const { client } = await serve(t, [{ ...ROUTE, bodyBytesMax: 4 * MIB }]);
  const chunk = `400\r\n${'x'.repeat(0x400)}\r\n`;
  const head = 'POST / HTTP/1.1\r\nHost: node\r\nTransfer-Encoding: chunked\r\n\r\n';
  const senders = Array.from({ length: 8 }, () => client().send(head));
  for (const sender of senders) sender.send(`${chunk.repeat(3_000)}0\r\n\r\n`);
  for (const sender of senders) {
    const { body, status } = await sender.answer();
    assert.deepEqual([status, String(body)], [200, String(3_000 * 0x400)]);
    assert.equal((await sender.send(post(5), 'hello').answer()).status, 200);
  }
});

test('a long body is refused before it is sent when its caller may send none', async (t) => {
  const longRefused = (): [string, string][] => [['Retry-After', '7']];
  const { client } = await serve(t, [{ ...ROUTE, longRefused }]);
  const refused = client().send(post(BODY));
  const { headers, status } = await refused.answer();
  assert.deepEqual([status, headers.get('retry-after')], [429, '7']);
  await refused.closed;
  assert.equal((await client().send(post(5), 'hello').answer()).status, 200);
});
