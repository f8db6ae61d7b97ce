/**
 * Bounds of one caller in an event-loop iteration, over real sockets: floods end, and other callers
 * do not wait.
 */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestContext, Route } from '../../server/http/http.ts';
import { RateLimiter } from '../../server/http/limits/rate-limiter.ts';
import { effectiveCaps } from '../../server/http/limits/rate-limits.ts';
import { type Client, get, post, route, serve } from '../common/http-client.ts';

const FLOOD = 20_000;
/** More than a caller may have of one iteration, and less than the library reads at once. */
const DEEP = 3_000;
const FLOODER = '127.0.0.2';
/** Time of the clock of the rate limits: it stands still, so no row of refusals ends by itself. */
const NOW = 1_700_000_000_000;

const ok = (context: RequestContext) => context.reply(200, '"OK"');
const NO_ROUTE = get('/none');

async function limited(t: TestContext, routes: readonly Route[], trustProxy = 0) {
  const caps = effectiveCaps({ book: { requests: 3, seconds: 10 } });
  const limiter = new RateLimiter({ caps, seed: 7, callersMax: 64 });
  return serve(t, routes, { limiter, now: () => NOW, trustProxy });
}

async function answersUntilEnd({ closed, socket }: Client): Promise<string> {
  const parts: string[] = [];
  socket.on('data', (data) => parts.push(String(data)));
  await closed;
  return parts.join('');
}

test('a flood of pipelined requests on one connection ends it long before all are answered', async (t) => {
  let runs = 0;
  const run = (context: RequestContext) => {
    runs += 1;
    ok(context);
  };
  const { client } = await limited(t, [route({ run })]);
  // Others are there, so that the flooder is not the only caller.
  const other = client();
  await other.send(get()).answer();
  const flooder = client(FLOODER);
  flooder.send(get().repeat(DEEP));
  await flooder.closed;
  assert(runs < DEEP / 4, `${runs} were answered`);
  assert.equal((await other.send(get()).answer()).status, 200);
});

test('a flood of unknown paths ends its connection', async (t) => {
  const { client } = await limited(t, [route({ run: ok })]);
  const flooder = client(FLOODER);
  const answers = answersUntilEnd(flooder);
  flooder.send(NO_ROUTE.repeat(FLOOD));
  const answered = (await answers).split('HTTP/1.1 404').length - 1;
  assert(answered > 0 && answered < FLOOD / 4, `${answered} were answered`);
});

test('a flood of requests to upgrade ends its connection', async (t) => {
  const { client } = await serve(t, [route({ run: ok })], {}, [
    {
      path: '/ws',
      messageBytesMax: 100,
      waitingBytesMax: 2 ** 20,
      cutSeconds: 60,
      refusal: () => '{"error":"none"}',
      open: () => assert.fail('never upgraded'),
    },
  ]);
  for (const headers of [
    '',
    'Upgrade: websocket\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n',
  ]) {
    const flooder = client(FLOODER);
    flooder.send(`GET /ws HTTP/1.1\r\nHost: node\r\n${headers}\r\n`.repeat(FLOOD));
    await flooder.closed;
  }
});

test('any number of connections with one request at a time are all answered', async (t) => {
  const run = (context: RequestContext) => context.reply(200, context.body);
  const echo = route({ method: 'POST', bodyBytesMax: 9, limits: ['trading'], run });
  const path = route({
    path: '/of/:id',
    run: (context) => context.reply(200, `${context.path}?${context.query}`),
  });
  const { client, server } = await limited(t, [echo, path]);
  const all = Array.from({ length: 600 }, () => client());
  await Promise.all(all.map((each) => each.send(`${post(1)}0`).answer()));
  // All arrive within one turn: this thread sends them before the server reads any.
  for (const [i, each] of all.entries()) {
    each.send(i % 2 === 0 ? post(3) + String(100 + i) : get(`/of/${i}?q=${i}`));
  }
  for (const [i, each] of all.entries()) {
    const expected = i % 2 === 0 ? String(100 + i) : `/of/${i}?q=${i}`;
    assert.equal(String((await each.answer()).body), expected);
  }
  assert(server.facts().putOff > 0, 'some have waited for another turn');
});

test('clients that pipeline 32 deep are answered, eight connections of one address at once', async (t) => {
  const { client } = await limited(t, [route({ run: ok })]);
  const all = Array.from({ length: 8 }, () => client());
  for (let round = 0; round < 20; round++) {
    for (const each of all) each.send(get().repeat(32));
    for (const each of all) {
      for (let i = 0; i < 32; i++) assert.equal((await each.answer()).status, 200);
    }
  }
});

test('long requests are bounded by their time', async (t) => {
  let runs = 0;
  const run = (context: RequestContext) => {
    runs += 1;
    const before = process.cpuUsage();
    while (process.cpuUsage(before).user < 5_000);
    ok(context);
  };
  const { client } = await limited(t, [route({ run })]);
  const flooder = client(FLOODER);
  flooder.send(get().repeat(100));
  await flooder.closed;
  assert(runs < 25, `${runs} were answered`);
});

test('a client that continues after a hundred 429s in a row loses its connection, with a last answer that says so', async (t) => {
  const { client } = await limited(t, [route({ limits: ['book'], run: ok })]);
  const asking = client();
  const statuses: number[] = [];
  for (let i = 0; i < 103; i++) statuses.push((await asking.send(get()).answer()).status);
  assert.deepEqual(statuses.slice(0, 4), [200, 200, 200, 429]);
  const last = await asking.send(get()).answer();
  assert.equal(last.status, 429);
  assert.equal(last.headers.get('connection'), 'close');
  await asking.closed;
  const again = client();
  assert.equal((await again.send(get()).answer()).headers.get('connection'), 'close');
  await again.closed;
});

test('a client that pipelines beyond those 429s gets no further row of answers, on any number of connections', async (t) => {
  const { client } = await limited(t, [route({ limits: ['book'], run: ok })]);
  const asking = client();
  for (let i = 0; i < 104; i++) await asking.send(get()).answer();
  let refused = 0;
  const floods = Array.from({ length: 8 }, async () => {
    const flooder = client();
    const answers = answersUntilEnd(flooder);
    flooder.send(get().repeat(DEEP));
    refused += (await answers).split('HTTP/1.1 429').length - 1;
  });
  await Promise.all(floods);
  assert(refused <= 8, `${refused} were answered`);
});

test('an allowed request resets the row of 429s, and 404s do not count', async (t) => {
  const routes = [
    route({ limits: ['book'], run: ok }),
    route({ path: '/free', limits: ['trading'], run: ok }),
  ];
  const { client } = await limited(t, routes);
  const asking = client();
  for (let i = 0; i < 250; i++) {
    const { status } = await asking.send(get()).answer();
    assert.equal(status, i < 3 ? 200 : 429);
    assert.equal((await asking.send(get('/none')).answer()).status, 404);
    if (i % 50 === 0) assert.equal((await asking.send(get('/free')).answer()).status, 200);
  }
});

test('the connection of a trusted proxy stays after any number of refusals of its callers', async (t) => {
  const { client } = await limited(t, [route({ limits: ['book'], run: ok })], 1);
  const proxy = client();
  const ask = async (address: string) => {
    const request = `GET / HTTP/1.1\r\nHost: node\r\nX-Forwarded-For: ${address}\r\n\r\n`;
    return (await proxy.send(request).answer()).status;
  };
  for (let i = 0; i < 150; i++) assert.equal(await ask('192.0.2.1'), i < 3 ? 200 : 429);
  assert.equal(await ask('192.0.2.2'), 200);
});

test('others are answered while a flooder connects again and again', async (t) => {
  const { client } = await limited(t, [route({ run: ok })]);
  let isOver = false;
  const flood = async () => {
    while (!isOver) {
      const flooder = client(FLOODER);
      flooder.send(NO_ROUTE.repeat(DEEP));
      await Promise.race([flooder.closed, sleep(1_000)]);
      flooder.socket.destroy();
    }
  };
  const floods = Array.from({ length: 4 }, flood);
  const other = client();
  for (let i = 0; i < 200; i++) assert.equal((await other.send(get()).answer()).status, 200);
  isOver = true;
  await Promise.all(floods);
});
