import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../bench/common/free-port.ts';
import { listen, type RequestContext } from '../../server/http/http.ts';
import { Client, gate, get, post, route, serve } from '../common/http-client.ts';
import { until } from '../common/node-harness.ts';

const MB = 1024 * 1024;
const LOCAL = { host: '127.0.0.1', trustProxy: 0, log: () => undefined };

test('a caller that disconnects in the middle of its body leaves nothing behind', async (t) => {
  let runs = 0;
  const run = (context: RequestContext) => {
    runs += 1;
    context.reply(200, context.body);
  };
  const { client, log, server } = await serve(t, [
    route({ method: 'POST', bodyBytesMax: 1000, run }),
  ]);
  const leaver = client().send(post(100), 'x'.repeat(50));
  await sleep(20);
  leaver.socket.destroy();
  assert.equal((await client().send(post(2), 'ok').answer()).status, 200);
  await server.close(); // would wait for an exchange that nobody ended
  assert.equal(runs, 1);
  assert.deepEqual(log, []);
});

test('an answer to a disconnected caller is dropped without an error', async (t) => {
  const { opened, open } = gate();
  const exchanges: RequestContext[] = [];
  const run = async (context: RequestContext) => {
    exchanges.push(context);
    await opened;
    context.reply(200, 'x'.repeat(200_000));
    context.reply(200, ''); // still nothing: there is no caller to answer twice
  };
  const { client, log, server } = await serve(t, [route({ run })]);
  const leaver = client().send(get('/?a'));
  await until(() => exchanges.length === 1);
  const [context] = exchanges;
  assert.equal(context!.aborted, false);
  leaver.socket.destroy();
  await until(() => context!.aborted);
  assert.equal(context!.address, '', 'first asked for when it was over');
  assert.equal(context!.query, 'a');
  open();
  await server.close();
  assert.deepEqual(log, []);
});

test('a slow reader gets a large answer byte by byte', async (t) => {
  const body = randomBytes(12 * MB);
  const { client } = await serve(t, [route({ run: (context) => context.reply(200, body) })]);
  const reader = client().send(get());
  const slow = setInterval(() => {
    reader.socket.pause();
    setTimeout(() => reader.socket.resume(), 1);
  }, 3);
  const answer = await reader.answer();
  clearInterval(slow);
  reader.socket.resume();
  assert(answer.body.equals(body));
  assert.equal((await reader.send(get()).answer()).status, 200, 'the connection goes on');
});

test('transient bytes may be overwritten as soon as they are answered, for any slow reader', async (t) => {
  const expected = randomBytes(12 * MB);
  const shared = Buffer.from(expected);
  const run = async (context: RequestContext) => {
    if (context.query === 'later') await sleep(1);
    expected.copy(shared);
    context.replyTransient(200, shared, [['ETag', '"1"']]);
    shared.fill(0);
  };
  const { client } = await serve(t, [route({ run })]);
  for (const path of ['/', '/?later']) {
    const reader = client().send(get(path));
    reader.socket.pause();
    setTimeout(() => reader.socket.resume(), 30);
    const answer = await reader.answer();
    assert(answer.body.equals(expected), path);
    assert.equal(answer.headers.get('etag'), '"1"');
  }
});

test('an answer 304 has headers and no body, and the connection continues', async (t) => {
  const run = (context: RequestContext) =>
    context.query === '' ? context.reply(304, '', [['ETag', '"1"']]) : context.reply(200, '1');
  const { client } = await serve(t, [route({ run })]);
  const asking = client();
  const answer = await asking.send(get()).answer();
  assert.equal(answer.status, 304);
  assert.equal(answer.headers.get('etag'), '"1"');
  assert.equal(answer.headers.has('transfer-encoding'), false);
  // A body would be taken for the beginning of the next answer.
  assert.equal(String((await asking.send(get('/?again')).answer()).body), '1');
});

test('a large text is sent as its UTF-8 bytes', async (t) => {
  const text = '€µ'.repeat(3 * MB);
  const { ask } = await serve(t, [route({ run: (context) => context.reply(200, text) })]);
  assert((await ask('GET / HTTP/1.1')).body.equals(Buffer.from(text)));
});

test('answers beyond the bytes in flight are refused until readers catch up', async (t) => {
  const body = Buffer.alloc(12 * MB, '7');
  const run = (context: RequestContext) => context.reply(200, body);
  const small = route({ path: '/small', run: (context) => context.reply(200, '"small"') });
  const { client, ask } = await serve(t, [route({ run }), small], { bytesInFlightMax: 20 * MB });

  const stalled = client();
  stalled.socket.pause();
  stalled.send(get());
  let refused = await ask('GET / HTTP/1.1');
  while (refused.status === 200) refused = await ask('GET / HTTP/1.1'); // not stalled yet
  assert.equal(refused.status, 503);
  assert.equal(
    String(refused.body),
    '{"error":"too many answers in flight","code":"TOO_MANY_IN_FLIGHT"}',
  );
  assert.equal(refused.headers.get('retry-after'), '1');
  assert.equal((await ask('GET /small HTTP/1.1')).status, 200, 'small answers go on');

  stalled.socket.resume();
  assert((await stalled.answer()).body.equals(body), 'the stalled answer is whole');
  assert.equal((await ask('GET / HTTP/1.1')).status, 200);

  const leaver = client();
  leaver.socket.pause();
  leaver.send(get());
  while ((await ask('GET / HTTP/1.1')).status !== 503);
  leaver.socket.destroy();
  let again = await ask('GET / HTTP/1.1');
  while (again.status !== 200) again = await ask('GET / HTTP/1.1');
  assert.equal(again.body.length, body.length, 'what a leaver held is free again');
});

test('an answer larger than the bytes in flight is sent when nothing else is', async (t) => {
  const body = Buffer.alloc(12 * MB, '7');
  const run = (context: RequestContext) => context.reply(200, body);
  const { ask } = await serve(t, [route({ run })], { bytesInFlightMax: 1 });
  assert.equal((await ask('GET / HTTP/1.1')).body.length, body.length);
});

test('a client that pipelines without reading is cut off before answers pile up', async (t) => {
  let runs = 0;
  const text = 'x'.repeat(50_000);
  const run = (context: RequestContext) => {
    runs += 1;
    context.reply(200, text);
  };
  const { client } = await serve(t, [route({ run })]);
  const pusher = client();
  pusher.socket.pause();
  const requests = 4000; // 200 MB of answers
  pusher.send(get().repeat(requests));
  await until(() => runs > 0);
  pusher.socket.resume();
  await pusher.closed;
  assert(runs < requests / 4, `${runs} answers were made`);
});

test('a second server on the same port is refused with a clear error', async (t) => {
  const routes = [route({ run: (context) => context.reply(200, '"first"') })];
  const { server, ask } = await serve(t, routes, { port: await freePort() });
  const options = { ...LOCAL, port: server.port };
  await assert.rejects(listen(routes, options), (error: Error) => {
    assert(error.message.includes(`cannot listen on 127.0.0.1:${server.port}`), error.message);
    return true;
  });
  await assert.rejects(listen(routes, { ...options, host: '203.0.113.77', port: 0 }));
  assert.equal(String((await ask('GET / HTTP/1.1')).body), '"first"');
});

test('close finishes what is in flight, refuses the rest, and frees the port', async (t) => {
  const { opened, open } = gate();
  let started = 0;
  const run = async (context: RequestContext) => {
    started += 1;
    await opened;
    context.reply(200, context.body);
  };
  const routes = [route({ method: 'POST', bodyBytesMax: 100, run }), route({ run })];
  const { server, client } = await serve(t, routes, { port: await freePort() });
  const [waiting, halfway, idle] = [client(), client(), client()];
  waiting.send(post(4), 'done');
  halfway.send(post(4), 'do');
  idle.send('GET /none HTTP/1.1\r\nHost: node\r\n\r\n');
  assert.equal((await idle.answer()).status, 404);
  // Of the second one half of the body is there.
  await until(() => started === 1 && server.facts().bodyBytes > 0);

  let closed = false;
  const closing = server.close().then(() => {
    closed = true;
  });
  assert.equal(server.close() instanceof Promise, true, 'a second call is harmless');
  const late = new Client(server.port);
  await late.closed;
  assert.equal(late.socket.bytesRead, 0, 'nobody new is let in');
  const refused = await idle.send(get()).answer();
  assert.deepEqual(
    [refused.status, String(refused.body)],
    [503, '{"error":"shutting down","code":"SHUTTING_DOWN"}'],
  );
  assert.equal(closed, false);

  halfway.send('ne');
  await until(() => started === 2);
  open();
  for (const sender of [waiting, halfway]) {
    const { status, headers, body } = await sender.answer();
    assert.deepEqual([status, String(body)], [200, 'done']);
    assert.equal(headers.get('connection'), 'close');
  }
  await closing;
  await Promise.all([waiting.closed, halfway.closed, idle.closed]);
  const next = await listen(routes, { ...LOCAL, port: server.port });
  await next.close();
});

test('close waits for the reader of a large answer', async (t) => {
  const body = randomBytes(12 * MB);
  let answered = false;
  const run = (context: RequestContext) => {
    context.reply(200, body);
    answered = true;
  };
  const { server, client } = await serve(t, [route({ run })]);
  const reader = client();
  reader.socket.pause();
  reader.send(get());
  await until(() => answered);
  const closing = server.close();
  await sleep(30);
  reader.socket.resume();
  assert((await reader.answer()).body.equals(body));
  await closing;
});

test('close cuts off slow senders and readers', async (t) => {
  let ran = 0;
  const run = (context: RequestContext) => {
    ran += 1;
    context.reply(200, randomBytes(12 * MB));
  };
  const routes = [route({ method: 'POST', bodyBytesMax: 100, run }), route({ run })];
  const { server, client } = await serve(t, routes, { drainMsMax: 60 });
  const [sender, reader] = [client(), client()];
  sender.send(post(4), 'ha');
  reader.socket.pause();
  reader.send(get());
  await until(() => ran === 1 && server.facts().bodyBytes > 0);
  await server.close();
  reader.socket.resume();
  await Promise.all([sender.closed, reader.closed]);
  assert.equal(sender.socket.bytesRead, 0);
  assert(reader.socket.bytesRead < 12 * MB);
  assert.equal(ran, 1);
});

test('close with nothing in flight closes at once', async (t) => {
  const { server, client } = await serve(t, [route({ run: (context) => context.reply(200, '') })]);
  const idle = client();
  assert.equal((await idle.send(get()).answer()).status, 200);
  await server.close();
  await idle.closed;
});

test('a route that closes the server itself is still answered', async (t) => {
  let closing: Promise<void> | undefined;
  const { server, ask } = await serve(t, [
    route({
      run: (context) => {
        closing = server.close();
        context.reply(200, '"bye"');
      },
    }),
  ]);
  assert.equal(String((await ask('GET / HTTP/1.1')).body), '"bye"');
  await closing;
});
