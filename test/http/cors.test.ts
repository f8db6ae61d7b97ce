import assert from 'node:assert/strict';
import test from 'node:test';
import { corsOriginsText, parseCorsOrigins } from '../../server/http/cors.ts';
import type { RequestContext } from '../../server/http/http.ts';
import { route, serve } from '../common/http-client.ts';

const APP = 'https://app.example';

const run = (context: RequestContext) => context.reply(200, '{"a":"€"}', [['ETag', '"1"']]);
const ROUTES = [
  route({ path: '/book', run }),
  route({ method: 'POST', path: '/order', headers: ['service_address'], bodyBytesMax: 9, run }),
  route({
    method: 'DELETE',
    path: '/order',
    headers: ['service_address', 'if-none-match', 'service_nonce'],
    run,
  }),
  route({ path: '/known', run: (context) => context.reply(304, '', [['ETag', '"1"']]) }),
  route({ path: '/bad', run: () => assert.fail('bad') }),
];

test('every page may read every answer, also a refusal, with its headers', async (t) => {
  const { ask } = await serve(t, ROUTES);
  for (const request of ['GET /book', 'POST /order', 'GET /none', 'PUT /book', 'GET /bad']) {
    const { headers } = await ask(`${request} HTTP/1.1\r\nOrigin: ${APP}`);
    assert.equal(headers.get('access-control-allow-origin'), '*', request);
    assert.equal(headers.get('vary'), undefined, 'the answer is the same for all');
    const exposed = headers.get('access-control-expose-headers')?.split(', ') ?? [];
    for (const name of [
      'ETag',
      'X-Sequence',
      'Retry-After',
      'X-RateLimit-Remaining',
      'X-RateLimit-Reset',
    ]) {
      assert(exposed.includes(name), `${request} exposes ${name}`);
    }
  }
});

test('a preflight gets the methods of the path and the headers that its routes read', async (t) => {
  const { client } = await serve(t, ROUTES);
  const asking = client();
  const preflight = (path: string) =>
    asking
      .send(`OPTIONS ${path} HTTP/1.1\r\nHost: node\r\nOrigin: ${APP}\r\n`)
      .send('Access-Control-Request-Method: DELETE\r\n\r\n')
      .answer();
  const order = await preflight('/order');
  assert.deepEqual([order.status, order.body.length], [204, 0]);
  assert.equal(order.headers.get('access-control-allow-origin'), '*');
  assert.equal(order.headers.get('access-control-allow-methods'), 'POST, DELETE');
  assert.equal(
    order.headers.get('access-control-allow-headers'),
    'Content-Type, If-None-Match, X-Min-Sequence, service_address, service_nonce, *',
  );
  assert.equal(order.headers.get('access-control-max-age'), '86400');
  assert.equal(order.headers.get('allow'), 'POST, DELETE, OPTIONS');
  // The connection goes on behind an answer without a body.
  const book = await preflight('/book');
  assert.equal(book.headers.get('access-control-allow-methods'), 'GET, HEAD');
  assert.equal((await preflight('/none')).status, 404);
});

test('only pages of listed origins may read, and caches learn of it', async (t) => {
  const { ask } = await serve(t, ROUTES, { corsOrigins: [APP, 'http://localhost:5173'] });
  for (const [origin, allowed] of [
    [APP, APP],
    ['http://localhost:5173', 'http://localhost:5173'],
    ['http://localhost', undefined],
    ['', undefined],
  ] as const) {
    for (const request of ['GET /book', 'OPTIONS /order', 'GET /none']) {
      const { headers } = await ask(`${request} HTTP/1.1${origin && `\r\nOrigin: ${origin}`}`);
      assert.equal(headers.get('access-control-allow-origin'), allowed, `${request} ${origin}`);
      assert.equal(headers.get('vary'), 'Origin');
    }
  }
});

test('answers have no origin header when no origin is listed', async (t) => {
  const { ask } = await serve(t, ROUTES, { corsOrigins: [] });
  const { headers } = await ask(`GET /book HTTP/1.1\r\nOrigin: ${APP}`);
  assert.equal(headers.get('access-control-allow-origin'), undefined);
  assert.equal(headers.get('vary'), undefined);
});

test('the list of origins is a star, none, or origins as browsers send them', () => {
  for (const text of ['*', 'none', APP, `${APP},http://[::1]:8080`, 'chrome-extension://abcd']) {
    const parsed = parseCorsOrigins(text);
    assert(parsed.ok, text);
    assert.equal(corsOriginsText(parsed.value), text);
  }
  const wrong = ['a', `${APP}/`, `${APP}, *`, 'https://APP.example', 'https://a.example:443'];
  for (const text of [...wrong, 'null', 'https://u@a.example', 'https://', `${APP},`]) {
    const parsed = parseCorsOrigins(text);
    assert(!parsed.ok, text);
    assert.match(parsed.detail, / is no origin$/);
  }
});

test('HEAD is answered as GET, with its length and without its body', async (t) => {
  const { ask, client } = await serve(t, ROUTES);
  const plain = await ask('GET /book HTTP/1.1');
  for (const [path, status] of [
    ['/book', 200],
    ['/known', 304],
    ['/order', 405],
    ['/none', 404],
    ['/bad', 500],
  ] as const) {
    const asking = client();
    let text = '';
    asking.socket.on('data', (data) => {
      text += String(data);
    });
    // A body would be taken for the beginning of the answer behind it.
    const head = `HEAD ${path} HTTP/1.1\r\nHost: node\r\n\r\n`;
    asking.send(head, `GET /book HTTP/1.1\r\nHost: node\r\n\r\n`);
    while (!text.endsWith('}')) await new Promise((done) => asking.socket.once('data', done));
    const [first = '', second = ''] = text.split('\r\n\r\n');
    assert(first.startsWith(`HTTP/1.1 ${status} `), text);
    assert(second.startsWith('HTTP/1.1 200 '), text);
    if (path !== '/book') continue;
    const lines = new Map(plain.headers);
    assert.equal(lines.get('content-length'), '11');
    for (const line of first.split('\r\n').slice(1)) {
      const [name = '', value = ''] = line.split(/: (.*)/s);
      if (name !== 'Date') assert.equal(lines.get(name.toLowerCase()), value, name);
    }
  }
});
