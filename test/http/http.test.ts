import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { leadLost } from '../../server/common/unavailable.ts';
import type { RequestContext } from '../../server/http/http.ts';
import { gate, get, post, route, serve } from '../common/http-client.ts';

const echo = (bodyBytesMax: number) =>
  route({ method: 'POST', bodyBytesMax, run: (context) => context.reply(200, context.body) });

test('a route sees path, query, parameters, headers and address as sent', async (t) => {
  let seen: unknown;
  const run = (context: RequestContext) => {
    const { method, path, query, parameters, headers, body, address } = context;
    seen = { method, path, query, parameters, headers, body: body.length, address };
    context.reply(200, '{}');
  };
  const path = '/data/:a/of/:b';
  const { ask } = await serve(t, [route({ path, headers: ['service_nonce', 'x-none'], run })]);
  const { status, headers, body } = await ask(
    'GET /data/x%20y/of/2?a=%31&&b HTTP/1.1\r\nSERVICE_NONCE: 7 8\r\nService_Nonce: 9',
  );
  assert.equal(status, 200);
  assert.equal(headers.get('content-type'), 'application/json');
  assert.equal(String(body), '{}');
  assert.deepEqual(seen, {
    method: 'GET',
    path: '/data/x%20y/of/2',
    query: 'a=%31&&b',
    parameters: ['x%20y', '2'],
    headers: ['7 8', ''],
    body: 0,
    address: '127.0.0.1',
  });
  await ask('GET /data/x/of/2 HTTP/1.1\r\nService_Nonce:\r\nSERVICE_NONCE: 7');
  assert.deepEqual(
    (seen as unknown as RequestContext).headers,
    ['', ''],
    'the first line of a name counts',
  );
});

test('the caller behind a trusted proxy is found, over several header lines', async (t) => {
  const run = (context: RequestContext) => context.reply(200, context.address);
  const { ask } = await serve(t, [route({ run })], { trustProxy: 2 });
  const lines = '\r\nX-Forwarded-For: 192.0.2.66\r\nX-Forwarded-For: 192.0.2.1, 10.0.0.1';
  assert.equal(String((await ask(`GET / HTTP/1.1${lines}`)).body), '192.0.2.1');
  assert.equal(String((await ask('GET / HTTP/1.1')).body), '127.0.0.1');
  const direct = await serve(t, [route({ run })]);
  assert.equal(String((await direct.ask(`GET / HTTP/1.1${lines}`)).body), '127.0.0.1');
});

test('unknown paths and wrong methods are answered in JSON, for any method', async (t) => {
  const run = (context: RequestContext) => context.reply(200, '{}');
  const routes = [
    route({ path: '/a/:id', run }),
    route({ method: 'DELETE', path: '/a/:id', run }),
    route({ method: 'POST', path: '/b', run }),
  ];
  const { ask } = await serve(t, routes);
  for (const method of ['GET', 'POST', 'DELETE', 'PUT', 'OPTIONS', 'BREW']) {
    const { status, body, headers } = await ask(`${method} /none HTTP/1.1`);
    assert.deepEqual(
      [status, String(body)],
      [404, '{"error":"not found","code":"NOT_FOUND"}'],
      method,
    );
    assert.equal(headers.get('content-type'), 'application/json');
  }
  for (const [request, allow] of [
    ['POST /a/1', 'GET, HEAD, DELETE, OPTIONS'],
    ['PATCH /a/1', 'GET, HEAD, DELETE, OPTIONS'],
    ['GET /b', 'POST, OPTIONS'],
  ] as const) {
    const { status, body, headers } = await ask(`${request} HTTP/1.1`);
    assert.deepEqual(
      [status, String(body)],
      [405, '{"error":"method not allowed","code":"METHOD_NOT_ALLOWED"}'],
      request,
    );
    assert.equal(headers.get('allow'), allow);
  }
});

test('a body of any size up to the limit arrives whole, in any pieces', async (t) => {
  const limit = 300_000;
  const { client } = await serve(t, [echo(limit)]);
  const seed = Number(process.env.SEED ?? randomInt(2 ** 31));
  for (const length of [0, 1, 16_384, 16_385, seed % limit, limit - 1, limit]) {
    const body = randomBytes(length);
    const pieces: Buffer[] = [];
    for (let at = 0; at < length; at += pieces.at(-1)!.length) {
      pieces.push(body.subarray(at, at + 1 + (((at + 1) * seed) % 20_000)));
    }
    const declared = client().send(post(length));
    const chunked = client().send(
      'POST / HTTP/1.1\r\nHost: node\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    for (const piece of pieces) {
      declared.send(piece);
      chunked.send(`${piece.length.toString(16)}\r\n`, piece, '\r\n');
      if (pieces.length < 50) await sleep(1); // let some of them travel alone
    }
    chunked.send('0\r\n\r\n');
    for (const sender of [declared, chunked]) {
      const answer = await sender.answer();
      assert.equal(answer.status, 200, `SEED=${seed}`);
      assert(answer.body.equals(body), `SEED=${seed} length ${length}`);
    }
  }
});

test('a POST without any body and a GET with one are answered', async (t) => {
  const ignoring = route({ path: '/get', run: (context) => context.reply(200, '"got"') });
  const { client, ask } = await serve(t, [echo(10), ignoring]);
  assert.equal((await ask('POST / HTTP/1.1')).body.length, 0);
  const one = client().send('GET /get HTTP/1.1\r\nHost: node\r\nContent-Length: 40000\r\n\r\n');
  assert.equal(String((await one.answer()).body), '"got"');
  one.send(Buffer.alloc(40_000, 'GET / HTTP/1.1\r\n\r\n'), post(2), 'ok');
  assert.equal(String((await one.answer()).body), 'ok', 'the unread body was skipped');
});

test('a request whose length can be read in two ways is refused, and its connection ends', async (t) => {
  const run = (context: RequestContext) => context.reply(200, String(context.body));
  const secret = { method: 'POST', path: '/', headers: ['secret'], bodyBytesMax: 9, run } as const;
  const open = { ...secret, path: '/open', headers: [] };
  const { client } = await serve(t, [secret, open]);
  const proxied = await serve(t, [open], { trustProxy: 1 });
  const chunked = '3\r\nabc\r\n0\r\n\r\n';
  const cases: readonly (readonly [string, string, number])[] = [
    ['Content-Length: 3\r\nContent-Length: 5', 'abcde', 400],
    ['Content-Length: 3\r\nContent-Length: 3', 'abc', 200],
    ['Transfer-Encoding: chunked', chunked, 200],
    ['Transfer-Encoding: Chunked', chunked, 200],
    ['Transfer-Encoding: gzip, chunked', chunked, 400],
    ['Transfer-Encoding: identity', chunked, 400],
    ['Transfer-Encoding: xchunked', chunked, 400],
    ['Transfer-Encoding: chunked\r\nTransfer-Encoding: identity', chunked, 400],
  ];
  for (const [lines, body, status] of cases) {
    for (const [one, path] of [[client(), '/'] as const, [proxied.client(), '/open'] as const]) {
      one.send(`POST ${path} HTTP/1.1\r\nHost: node\r\n${lines}\r\n\r\n${body}`);
      const answer = await one.answer();
      assert.equal(answer.status, status, `${path} ${lines}`);
      if (status === 200) assert.equal(String(answer.body), 'abc');
      else {
        assert.match(
          String(answer.body),
          /^\{"error":"bad request","detail":"Content-Length twice/,
        );
        await one.closed;
      }
    }
  }
});

test('a request that cannot be answered now gets 503 with Retry-After, and no log line', async (t) => {
  const { ask, log } = await serve(t, [
    route({ path: '/thrown', run: () => assert.fail(leadLost()) }),
    route({ path: '/rejected', run: () => sleep(1).then(() => Promise.reject(leadLost())) }),
  ]);
  for (const path of ['/thrown', '/rejected']) {
    const { body, headers, status } = await ask(`GET ${path} HTTP/1.1`);
    assert.equal(status, 503, path);
    assert.equal(headers.get('retry-after'), '1');
    assert.equal((JSON.parse(String(body)) as { code: string }).code, 'NOT_LEADING');
  }
  assert.deepEqual(log, []);
});

test('an error of a route becomes one 500 and one log line', async (t) => {
  const boom = new Error('disk\r\nfull');
  const routes = [
    route({ path: '/thrown', run: () => assert.fail(boom) }),
    route({ path: '/rejected', run: () => sleep(1).then(() => Promise.reject(boom)) }),
    route({
      path: '/told',
      run: () => Promise.reject(boom),
      failure: (error) => `{"error":"internal_error: ${String(error).length}"}`,
    }),
    route({ path: '/worse', run: () => assert.fail(boom), failure: () => assert.fail('twice') }),
    route({
      path: '/late',
      headers: ['secret'],
      run: (context) => {
        context.reply(200, '"fine"');
        throw boom;
      },
    }),
    route({
      path: '/twice',
      run: (context) => {
        context.reply(200, '"fine"');
        context.reply(200, '"again"');
      },
    }),
    route({ path: '/split', run: (context) => context.reply(200, '', [['X-A', 'b\r\nX-C: d']]) }),
  ];
  const { ask, log } = await serve(t, routes);
  const texts = new Map<string, string>();
  for (const { path } of routes) {
    const { status, body } = await ask(`GET ${path}?q=1 HTTP/1.1\r\nSecret: 5ecre7`);
    texts.set(path, `${status} ${body}`);
  }
  const plain = '500 {"error":"internal_error","code":"INTERNAL_ERROR"}';
  assert.deepEqual(Object.fromEntries(texts), {
    '/thrown': plain,
    '/rejected': plain,
    '/told': `500 {"error":"internal_error: ${String(boom).length}"}`,
    '/worse': plain,
    '/late': '200 "fine"',
    '/twice': '200 "fine"',
    '/split': plain,
  });
  assert.deepEqual(log, [
    'GET /thrown failed: disk full',
    'GET /rejected failed: disk full',
    'GET /told failed: disk full',
    'GET /worse failed: disk full',
    'GET /worse failed to say why: twice',
    'GET /late failed: disk full',
    'GET /twice failed: a request is answered once',
    'GET /split failed: a header value has no control characters',
  ]);
});

test('status, headers and body of a later answer arrive unchanged', async (t) => {
  const run = async (context: RequestContext) => {
    await sleep(1);
    context.reply(429, Buffer.from('{"error":"µ"}'), [
      ['Retry-After', '3'],
      ['X-Two', 'b'],
    ]);
  };
  const { ask } = await serve(t, [route({ run })]);
  const { status, headers, body } = await ask('GET / HTTP/1.1');
  assert.deepEqual([status, String(body)], [429, '{"error":"µ"}']);
  assert.deepEqual([headers.get('retry-after'), headers.get('x-two')], ['3', 'b']);
});

test('a request with headers of ten kilobytes is accepted', async (t) => {
  const run = (context: RequestContext) => context.reply(200, context.headers[0]!);
  const { ask } = await serve(t, [route({ headers: ['x-long'], run })]);
  const value = 'v'.repeat(10_000);
  assert.equal(String((await ask(`GET / HTTP/1.1\r\nX-Long: ${value}`)).body), value);
});

test('pipelined requests are answered in order', async (t) => {
  const run = (context: RequestContext) => context.reply(200, `${context.query}${context.body}`);
  const { client } = await serve(t, [
    route({ run }),
    route({ method: 'POST', bodyBytesMax: 9, run }),
  ]);
  const numbers = Array.from({ length: 200 }, (_, i) => String(i));
  const sender = client().send(
    numbers.map((n) => (Number(n) % 2 === 0 ? get(`/?${n}`) : post(n.length) + n)).join(''),
  );
  for (const number of numbers) assert.equal(String((await sender.answer()).body), number);
});

test('a request pipelined behind one that waits ends the connection', async (t) => {
  const { opened, open } = gate();
  const exchanges: RequestContext[] = [];
  const run = async (context: RequestContext) => {
    exchanges.push(context);
    await opened;
    context.reply(200, '');
  };
  const { client } = await serve(t, [route({ run })]);
  await client().send(get(), get()).closed;
  open();
  assert.deepEqual(
    exchanges.map((context) => context.aborted),
    [true],
  );
});
