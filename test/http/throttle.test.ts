import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { RequestContext, Route } from '../../server/http/http.ts';
import { callerOf } from '../../server/http/limits/callers.ts';
import { HandlerLimits } from '../../server/http/limits/handler-limits.ts';
import { familyOf, RateHeaders } from '../../server/http/limits/rate-headers.ts';
import { RateLimiter } from '../../server/http/limits/rate-limiter.ts';
import { effectiveCaps } from '../../server/http/limits/rate-limits.ts';
import { get, post, route, serve } from '../common/http-client.ts';

const START = 1_700_000_000_000;
const CALLER = callerOf('192.0.2.1');
const CAPS = effectiveCaps({
  book: { requests: 2, seconds: 10 },
  books: { requests: 1, seconds: 10 },
});

interface Options {
  readonly trustProxy?: number;
  readonly rateHeaders?: RateHeaders;
  readonly warns?: boolean;
}

async function limited(t: TestContext, routes: readonly Route[], options: Options = {}) {
  const clock = { now: START };
  const { warns = false, ...http } = options;
  const limiter = new RateLimiter({ caps: CAPS, seed: 7, callersMax: 64, warns });
  const fixture = await serve(t, routes, { ...http, limiter, now: () => clock.now });
  return { ...fixture, clock };
}

const ok = (context: RequestContext) => context.reply(200, '"OK"');
const BOOK = route({ path: '/', limits: ['book', 'trading'], run: ok });

test('answers have the remaining number, and a refusal has Retry-After', async (t) => {
  const { client, clock } = await limited(t, [BOOK]);
  const asking = client();
  const next = () => asking.send(get()).answer();
  const told = async () => {
    const { body, headers, status } = await next();
    const names = ['limit', 'remaining', 'reset'].map((name) => `x-ratelimit-${name}`);
    const values = [...names, 'retry-after'].map((name) => headers.get(name) ?? '');
    return `${status} ${values.join(' ')} ${body}`.trimEnd();
  };
  assert.equal(await told(), '200 2 1 1700000010  "OK"');
  clock.now += 3_500;
  assert.equal(await told(), '200 2 0 1700000010  "OK"');
  assert.equal(
    await told(),
    '429 2 0 1700000010 7 {"error":"Too Many Requests","code":"TOO_MANY_REQUESTS"}',
  );
  clock.now = START + 9_999;
  assert.equal(
    await told(),
    '429 2 0 1700000010 1 {"error":"Too Many Requests","code":"TOO_MANY_REQUESTS"}',
  );
  clock.now = START + 10_000;
  assert.equal(await told(), '200 2 1 1700000020  "OK"');
  const { headers } = await next();
  assert.equal(headers.get('access-control-allow-origin'), '*', 'pages may read it too');
});

test('a refused request runs no route and reads no body', async (t) => {
  let runs = 0;
  const run = (context: RequestContext) => {
    runs += 1;
    context.reply(200, context.body);
  };
  const writing = route({ method: 'POST', bodyBytesMax: 100_000, limits: ['books'], run });
  const { client } = await limited(t, [writing]);
  const sender = client();
  assert.equal((await sender.send(post(2), 'ok').answer()).status, 200);
  // The body is still on its way when the answer is there.
  assert.equal((await sender.send(post(90_000)).answer()).status, 429);
  assert.equal((await sender.send(Buffer.alloc(90_000), post(2), 'ok').answer()).status, 429);
  assert.equal(runs, 1);
});

test('a route may refuse in the words of its API', async (t) => {
  const throttled =
    '{"type":"too many requests","error":"Too Many Requests","code":"TOO_MANY_REQUESTS"}';
  const { ask } = await limited(t, [{ ...BOOK, throttled }]);
  for (let i = 0; i < 2; i += 1) await ask('GET / HTTP/1.1');
  const { body, headers, status } = await ask('GET / HTTP/1.1');
  assert.deepEqual([status, String(body)], [429, throttled]);
  assert.equal(headers.get('retry-after'), '10');
});

test('HEAD counts as GET, and preflights, unknown paths and unlimited routes count nowhere', async (t) => {
  const free = route({ path: '/free', run: ok });
  const { client } = await limited(t, [BOOK, free]);
  const asking = client();
  for (let i = 0; i < 5; i += 1) {
    for (const request of ['OPTIONS /', 'GET /none', 'GET /free', 'PUT /']) {
      const answer = await asking.send(`${request} HTTP/1.1\r\nHost: node\r\n\r\n`).answer();
      assert.notEqual(answer.status, 429, request);
      assert.equal(answer.headers.get('x-ratelimit-limit'), undefined, request);
    }
  }
  const statuses: string[] = [];
  asking.socket.on('data', (data) => statuses.push(String(data).slice(9, 12)));
  for (let i = 0; i < 3; i += 1) {
    asking.send('HEAD / HTTP/1.1\r\nHost: node\r\n\r\n');
    await new Promise((resolve) => asking.socket.once('data', resolve));
  }
  assert.deepEqual(statuses, ['200', '200', '429']);
});

test('callers behind a trusted proxy are counted apart, and never by a header of their own', async (t) => {
  const { ask } = await limited(t, [BOOK], { trustProxy: 1 });
  const statuses = async (forwarded: (i: number) => string) => {
    const found: number[] = [];
    for (let i = 0; i < 4; i += 1) {
      found.push((await ask(`GET / HTTP/1.1\r\nX-Forwarded-For: ${forwarded(i)}`)).status);
    }
    return found;
  };
  assert.deepEqual(await statuses((i) => `10.9.9.${i}, 192.0.2.1`), [200, 200, 429, 429]);
  assert.deepEqual(await statuses((i) => `192.0.2.${i + 2}`), [200, 200, 200, 200]);
  const direct = await limited(t, [BOOK]);
  const own = [];
  for (let i = 0; i < 3; i += 1) {
    own.push((await direct.ask(`GET / HTTP/1.1\r\nX-Forwarded-For: 192.0.2.${i}`)).status);
  }
  assert.deepEqual(own, [200, 200, 429]);
});

test('connections of one address are counted together, those of others apart', async (t) => {
  const { ask, client } = await limited(t, [BOOK]);
  const other = client('127.0.0.2');
  assert.equal((await other.send(get()).answer()).headers.get('x-ratelimit-remaining'), '1');
  const statuses = [];
  for (let i = 0; i < 3; i += 1) statuses.push((await ask('GET / HTTP/1.1')).status);
  assert.deepEqual(statuses, [200, 200, 429]);
  assert.equal((await other.send(get()).answer()).status, 200);
  assert.equal((await other.send(get()).answer()).status, 429);
});

test('another family of header names repeats the remaining number', async (t) => {
  assert.equal(familyOf('SERVICE', 'SERVICE'), '');
  const rateHeaders = new RateHeaders(familyOf('POLY', 'SERVICE'));
  const { ask } = await limited(t, [BOOK], { rateHeaders });
  const { headers } = await ask('GET / HTTP/1.1');
  for (const family of ['poly', 'x']) {
    assert.equal(headers.get(`${family}-ratelimit-remaining`), '1');
    assert.equal(headers.get(`${family}-ratelimit-reset`), '1700000010');
  }
  assert.equal(headers.get('poly-ratelimit-tier'), 'standard');
  assert.equal(headers.get('poly-ratelimit-warning'), undefined);
  assert.match(headers.get('access-control-expose-headers') ?? '', /Poly-RateLimit-Remaining/);
});

test('an answer beyond a cap has a warning where the limiter only warns', async (t) => {
  const rateHeaders = new RateHeaders(familyOf('POLY', 'SERVICE'));
  const { ask } = await limited(t, [BOOK], { rateHeaders, warns: true });
  const seen = [];
  for (let i = 0; i < 4; i += 1) {
    const { headers, status } = await ask('GET / HTTP/1.1');
    const names = ['remaining', 'warning'].map((name) => `poly-ratelimit-${name}`);
    seen.push([status, ...names.map((name) => headers.get(name) ?? '')].join(' ').trimEnd());
  }
  assert.deepEqual(seen, ['200 1', '200 0', '200 0 true', '200 0 true']);
});

test('a count of the handler shows in the other family where it is used up sooner', async (t) => {
  for (const family of ['', 'Poly-RateLimit']) {
    const late = new RateLimiter({ caps: { keyOrders: { requests: 5, seconds: 10 } }, seed: 7 });
    const limits = new HandlerLimits(late, () => START);
    const run = (context: RequestContext) => {
      assert.equal(limits.refusal('keyOrders', CALLER, 3, context), undefined);
      context.reply(200, '"OK"');
    };
    const orders = route({ path: '/', limits: ['trading'], run });
    const { ask } = await limited(t, [orders], { rateHeaders: new RateHeaders(family) });
    const { headers } = await ask('GET / HTTP/1.1');
    const remaining = headers.get('x-ratelimit-remaining');
    assert.equal(remaining, family === '' ? '4999' : '2');
    if (family !== '') assert.equal(headers.get('poly-ratelimit-remaining'), remaining);
  }
});
