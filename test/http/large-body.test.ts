import assert from 'node:assert/strict';
import test from 'node:test';
import type { RequestContext } from '../../server/http/http.ts';
import { get, post, route, serve } from '../common/http-client.ts';

const MB = 1024 * 1024;
const LIMIT = 1000;
const REFUSED = '{"error":"payload too large","code":"PAYLOAD_TOO_LARGE"}';

function refusing(t: Parameters<typeof serve>[0], discardMsMax: number) {
  const run = (context: RequestContext) => assert.fail(`ran with ${context.body.length} bytes`);
  const routes = [
    route({ method: 'POST', bodyBytesMax: LIMIT, run }),
    route({ path: '/get', run: (context) => context.reply(200, '"got"') }),
  ];
  return serve(t, routes, { discardMsMax });
}

test('fetch that posts five megabytes sees the 413, declared or in chunks', async (t) => {
  const { server } = await refusing(t, 60_000);
  const url = `http://127.0.0.1:${server.port}/`;
  const piece = new Uint8Array(64 * 1024);
  const streamed = () => {
    let left = (5 * MB) / piece.length;
    return new ReadableStream({
      pull: (controller) => {
        if (left === 0) controller.close();
        else controller.enqueue(piece);
        left -= 1;
      },
    });
  };
  const declared = await fetch(url, { method: 'POST', body: new Uint8Array(5 * MB) });
  assert.deepEqual([declared.status, await declared.text()], [413, REFUSED]);
  const init = { method: 'POST', body: streamed(), duplex: 'half' } as const;
  const chunked = await fetch(url, init);
  assert.deepEqual([chunked.status, await chunked.text()], [413, REFUSED]);
  assert.equal(chunked.headers.get('access-control-allow-origin'), '*');
});

test('the 413 arrives at once, and is whole when the body has been sent', async (t) => {
  const { client } = await refusing(t, 60_000);
  const sender = client().send(post(3 * MB));
  const { body, headers, status } = await sender.answer();
  assert.deepEqual([status, String(body)], [413, REFUSED]);
  assert.equal(headers.get('connection'), 'close');
  assert.equal(headers.get('content-type'), 'application/json');
  let rest = '';
  sender.socket.on('data', (data) => {
    rest += String(data);
  });
  sender.send(Buffer.alloc(3 * MB, 'x'), get('/get'));
  while (!rest.includes('"got"'))
    await new Promise((resolve) => sender.socket.once('data', resolve));
  assert.match(rest, /^\r\n0\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
});

test('a sender that does not end is cut off after a while', async (t) => {
  const { client } = await refusing(t, 50);
  const chunked = 'POST / HTTP/1.1\r\nHost: node\r\nTransfer-Encoding: chunked\r\n\r\n';
  const piece = `1f4\r\n${'x'.repeat(500)}\r\n`;
  for (const parts of [[post(LIMIT + 1)], [post(2 ** 50)], [chunked, piece, piece, piece]]) {
    const sender = client().send(...parts);
    const { body, status } = await sender.answer();
    assert.deepEqual([status, String(body)], [413, REFUSED]);
    await sender.closed;
  }
});

test('a sender of more bytes than are discarded is cut off', async (t) => {
  const { client } = await refusing(t, 60_000);
  const sender = client().send(post(2 ** 50));
  const piece = Buffer.alloc(MB);
  let sent = 0;
  for (; !sender.socket.destroyed && sent < 200; sent += 1) {
    await new Promise((resolve) => sender.socket.write(piece, resolve));
  }
  await sender.closed;
  assert(sent >= 64 && sent < 200, `${sent} MiB`);
});

test('a caller that disconnects after the 413 leaves nothing behind', async (t) => {
  const { client, server, log } = await refusing(t, 60_000);
  const sender = client().send(post(2 ** 50));
  assert.equal((await sender.answer()).status, 413);
  sender.socket.destroy();
  await server.close(); // would wait for an exchange that nobody ended
  assert.deepEqual(log, []);
});
