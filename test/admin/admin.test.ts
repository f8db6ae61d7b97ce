/** The admin listener: who is answered what, and what it says at each moment of a node's life. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { freePort } from '../../bench/common/free-port.ts';
import { ADMIN_TABLE } from '../../server/admin/admin-table.ts';
import { type AdminOptions, listenAdmin } from '../../server/admin/listener.ts';
import { readPageFiles } from '../../server/admin/page-files.ts';
import type { NodeFacts } from '../../server/admin/summary.ts';
import { readConfig } from '../../server/config/config.ts';
import { NodeAdmin } from '../../server/node/node-admin.ts';
import { TestNode, temporaryDirectory, until } from '../common/node-harness.ts';

const TOKEN = 'a-token-of-some-length';
const RESOLVER = 'another-token-of-some-length';

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

function ask(
  port: number,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, path, method, headers, agent: false });
    outgoing.on('error', reject).on('response', (incoming) => {
      let text = '';
      incoming.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      incoming.on('error', reject).on('end', () => {
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text });
      });
    });
    outgoing.end();
  });
}

const answering = (body: string) => () => ({ status: 200, body });

async function listening(
  t: TestContext,
  options: Partial<AdminOptions> = {},
  metrics = answering('up 1'),
): Promise<number> {
  const server = await listenAdmin({
    host: '127.0.0.1',
    port: 0,
    tokens: { operator: '', resolver: '' },
    handlers: {
      '/live': answering('{"status":"live"}'),
      '/health': answering('{"status":"live"}'),
      '/healthz': answering('{"status":"live"}'),
      '/ready': answering('{"status":"ready"}'),
      '/metrics': metrics,
      '/page/summary': answering('{}'),
      '/clock/accept': answering('{}'),
    },
    operations: () => undefined,
    file: () => undefined,
    api: () => ({ host: '', port: 3000 }),
    log: () => undefined,
    ...options,
  });
  t.after(() => server.close());
  return server.port;
}

test('an unknown path is answered 404 in JSON, and methods other than GET and HEAD are refused', async (t) => {
  const port = await listening(t);
  for (const path of ['/', '/nothing', '/live/', '/toString', '/assets/../x']) {
    const { headers, status, text } = await ask(port, path);
    assert.deepEqual([status, text], [404, '{"error":"not found","code":"NOT_FOUND"}'], path);
    assert.equal(headers['content-type'], 'application/json');
  }
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
    const { headers, status } = await ask(port, '/live', {}, method);
    assert.deepEqual([status, headers.allow], [405, 'GET, HEAD'], method);
  }
  const head = await ask(port, '/live', {}, 'HEAD');
  assert.deepEqual([head.status, head.text, head.headers['content-length']], [200, '', '17']);
});

test('a listener with a token requires it on every route that the table says', async (t) => {
  const port = await listening(t, { tokens: { operator: TOKEN, resolver: RESOLVER } });
  for (const [path, { method, token }] of Object.entries(ADMIN_TABLE)) {
    const bearing = (text: string) => ask(port, path, { Authorization: `Bearer ${text}` }, method);
    const none = await ask(port, path, {}, method);
    assert.equal(none.status, token === 'no' ? 200 : 401, path);
    if (token !== 'no') assert.equal(none.headers['www-authenticate'], 'Bearer');
    assert.equal((await bearing(TOKEN)).status, 200, path);
    const ofResolver = token === 'no' || token.endsWith('RESOLVER_TOKEN') ? 200 : 403;
    assert.equal((await bearing(RESOLVER)).status, ofResolver, path);
    const inQuery = await ask(port, `${path}?token=${TOKEN}`, {}, method);
    assert.equal(inQuery.status, none.status, path);
  }
});

test('five wrong tokens in a minute keep an address out until its end, with the right token too', async (t) => {
  let ms = 1_000;
  const tokens = { operator: TOKEN, resolver: '' };
  const port = await listening(t, { tokens, elapsed: () => ms });
  const bearing = (token: string) =>
    ask(port, '/metrics', token === '' ? {} : { Authorization: `Bearer ${token}` });
  for (let i = 0; i < 5; i++) {
    ms += 10_000;
    assert.equal((await bearing(`${TOKEN}${i}`)).status, 401);
    if (i === 4) break;
    assert.equal((await bearing('')).status, 401);
    assert.equal((await bearing(TOKEN)).status, 200);
  }
  for (const token of [TOKEN, 'wrong', '']) {
    const { headers, status, text } = await bearing(token);
    assert.deepEqual([status, headers['retry-after']], [429, '20'], token);
    assert.match(text, /"error":"Too Many Requests","detail":"wrong tokens came from this address/);
  }
  assert.equal((await ask(port, '/live')).status, 200);
  ms += 20_000;
  assert.equal((await bearing(TOKEN)).status, 200);
  assert.equal((await bearing('wrong')).status, 401);
});

test('a change is accepted by POST only, with a token, and from no page of another site', async (t) => {
  const port = await listening(t, { tokens: { operator: TOKEN, resolver: '' } });
  const bearer = { Authorization: `Bearer ${TOKEN}` };
  const accept = (method: string, headers = {}) =>
    ask(port, '/clock/accept', { ...bearer, ...headers }, method);
  assert.equal((await accept('POST')).status, 200);
  for (const method of ['GET', 'HEAD', 'DELETE']) {
    const { headers, status } = await accept(method);
    assert.deepEqual([status, headers.allow], [405, 'POST'], method);
  }
  for (const Origin of ['http://evil.example', `https://127.0.0.1:${port}`, 'null']) {
    assert.equal((await accept('POST', { Origin })).status, 403, Origin);
  }
  assert.equal((await accept('POST', { Origin: `http://127.0.0.1:${port}` })).status, 200);
  const open = await listening(t);
  assert.equal((await ask(open, '/clock/accept', bearer, 'POST')).status, 503);
});

test('a loopback listener accepts host names of this machine only', async (t) => {
  const port = await listening(t);
  for (const host of ['localhost', '127.0.0.1:9', '[::1]:3001', 'LOCALHOST:1', '127.9.9.9']) {
    assert.equal((await ask(port, '/live', { Host: host })).status, 200, host);
  }
  for (const host of ['evil.example', 'localhost.evil.example', '10.0.0.1', '127.0.0.1.evil.io']) {
    assert.equal((await ask(port, '/live', { Host: host })).status, 421, host);
  }
  const anywhere = await listening(t, {
    host: '0.0.0.0',
    tokens: { operator: TOKEN, resolver: '' },
  });
  assert.equal((await ask(anywhere, '/live', { Host: 'node.example' })).status, 200);
  assert.equal((await ask(anywhere, '/live', { Host: "a';script-src *" })).status, 421);
});

test('a page of another site is refused, a navigation to the page is not', async (t) => {
  const files = new Map([['/', { type: 'text/html', bytes: Buffer.from('<p>') }]]);
  const port = await listening(t, { file: (path) => files.get(path) });
  const own = `http://127.0.0.1:${port}`;
  for (const path of ['/live', '/health', '/healthz', '/ready', '/metrics', '/page/summary']) {
    for (const site of ['cross-site', 'same-site']) {
      assert.equal((await ask(port, path, { 'Sec-Fetch-Site': site })).status, 403, path);
    }
    assert.equal((await ask(port, path, { Origin: 'https://evil.example' })).status, 403, path);
    assert.equal((await ask(port, path, { Origin: 'null' })).status, 403, path);
    assert.equal((await ask(port, path, { Origin: own })).status, 200, path);
    assert.equal((await ask(port, path, { 'Sec-Fetch-Site': 'same-origin' })).status, 200, path);
  }
  assert.equal((await ask(port, '/', { 'Sec-Fetch-Site': 'cross-site' })).status, 200);
});

test('endless scrapes take a bounded part of the thread, and get the last text meanwhile', async (t) => {
  let made = 0;
  let now = 0;
  const slow = (): { status: number; body: string } => {
    now += 10;
    made += 1;
    return { status: 200, body: String(made) };
  };
  const port = await listening(t, { elapsed: () => now }, slow);
  const scrape = async (): Promise<string> => {
    const { status, text } = await ask(port, '/metrics');
    assert.equal(status, 200);
    return text;
  };
  for (let i = 1; i <= 20; i++) assert.equal(await scrape(), String(i));
  // 200 ms were saved, and 50 ms of each second come in addition: half a millisecond of each text.
  for (let i = 0; i < 5; i++) await scrape();
  const last = made;
  assert(last <= 22, `${last} were made`);
  for (let i = 0; i < 100; i++) assert.equal(await scrape(), String(last));
  now += 1_000;
  for (let i = 0; i < 100; i++) await scrape();
  assert(made >= last + 4 && made <= last + 6, `${made - last} were made of 50 ms`);
});

test('a machine that stood still during a scrape does not end new texts for long', async (t) => {
  let made = 0;
  let now = 0;
  const stalled = (): { status: number; body: string } => {
    now += made === 0 ? 60_000 : 1;
    made += 1;
    return { status: 200, body: String(made) };
  };
  const port = await listening(t, { elapsed: () => now }, stalled);
  assert.equal((await ask(port, '/metrics')).text, '1');
  now += 1_000;
  assert.equal((await ask(port, '/metrics')).text, '2');
});

test('a client that pipelines without reading answers loses its connection, others do not', async (t) => {
  const port = await listening(t);
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  let answers = 0;
  socket.on('data', (chunk: Buffer) => {
    answers += chunk.toString().split('HTTP/1.1 200').length - 1;
  });
  const closed = new Promise((resolve) => {
    socket.on('close', resolve);
  });
  socket.write('GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(5_000));
  // The end may be a reset: `once` of node:events would reject with it.
  await closed;
  assert(answers <= 64, `${answers} were answered`);
  assert.equal((await ask(port, '/live')).status, 200);
});

/** Sends texts as they are and reads until the connection has been silent for a moment, or has closed. */
function exchange(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let received = '';
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString();
    });
    socket.on('error', () => undefined).on('close', () => resolve(received));
    socket.setTimeout(500, () => socket.destroy());
    socket.write(text);
  });
}

test('a few requests that are pipelined are all answered', async (t) => {
  const port = await listening(t);
  const one = 'GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n';
  const received = await exchange(port, one.repeat(20));
  assert.equal(received.split('HTTP/1.1 200').length - 1, 20);
});

test('a caller is refused before its body has come, and a body whose length is not sure always', async (t) => {
  const port = await listening(t, { tokens: { operator: TOKEN, resolver: RESOLVER } });
  const head = (lines: readonly string[]): string =>
    ['POST /admin/keys HTTP/1.1', 'Host: localhost', ...lines, '', ''].join('\r\n');
  const bearer = `Authorization: Bearer ${TOKEN}`;
  const length = 'Content-Length: 1000';
  assert.match(await exchange(port, head([length])), /^HTTP\/1\.1 401 /);
  assert.match(await exchange(port, head([length, 'Origin: null', bearer])), /^HTTP\/1\.1 403 /);
  assert.match(await exchange(port, head([length, bearer])), /^HTTP\/1\.1 503 .*not ready/s);
  assert.match(await exchange(port, head([length, 'Content-Length: 1'])), /^HTTP\/1\.1 400 /);
});

test('the page may load its own files and reach the public API, and nothing else', async (t) => {
  const folder = temporaryDirectory();
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), '<!doctype html>');
  writeFileSync(join(folder, 'assets', 'page.js'), 'export {};');
  const files = readPageFiles(folder);
  const port = await listening(t, { file: (path) => files.get(path) });
  const { headers, status, text } = await ask(port, '/', { Host: 'localhost:1' });
  assert.deepEqual([status, text], [200, '<!doctype html>']);
  assert.equal(headers['content-type'], 'text/html; charset=utf-8');
  assert.equal(headers['x-content-type-options'], 'nosniff');
  const policy = String(headers['content-security-policy']);
  assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; /);
  assert.match(policy, /connect-src 'self' http:\/\/localhost:3000 ws:\/\/localhost:3000;/);
  const script = await ask(port, '/assets/page.js');
  assert.equal(script.headers['content-type'], 'text/javascript; charset=utf-8');
  writeFileSync(join(folder, 'odd.xyz'), '');
  assert.throws(() => readPageFiles(folder), /unknown type: .*odd\.xyz/);
});

test('a start on a used port fails and names the setting to change', async (t) => {
  const port = await listening(t);
  const again = listening(t, { port });
  await assert.rejects(
    again,
    /^Error: cannot listen on 127\.0\.0\.1:\d+ \(ADMIN_HOST, ADMIN_PORT\)/,
  );
});

test('a handler that fails is answered 500 and logged', async (t) => {
  const lines: string[] = [];
  const failing = { status: 200, body: '{}' };
  const port = await listening(t, {
    handlers: {
      '/live': () => failing,
      '/health': () => failing,
      '/healthz': () => failing,
      '/ready': () => failing,
      '/metrics': () => failing,
      '/page/summary': () => Promise.reject(new Error('no such thing')),
      '/clock/accept': () => failing,
    },
    log: (line) => lines.push(line),
  });
  const { status, text } = await ask(port, '/page/summary');
  assert.deepEqual([status, text], [500, '{"error":"internal_error","code":"INTERNAL_ERROR"}']);
  assert.match(lines.join(), /^admin GET \/page\/summary failed: no such thing/);
});

test('/ready gives the reason when the node is starting, read-only or draining', async (t) => {
  const port = await freePort();
  const read = readConfig({ ADMIN_PORT: String(port) }, [], 2);
  assert(read.ok);
  const admin = new NodeAdmin(read.config, () => 0);
  await admin.open(() => undefined);
  t.after(() => admin.close());
  const ready = async () => {
    const { status, text } = await ask(port, '/ready');
    return [status, (JSON.parse(text) as { status: string }).status];
  };
  const paused = { reason: 'log', detail: 'log: no space left' } as const;
  let told = { pauses: [] as (typeof paused)[], clock: { jumpMs: 0, aheadMs: 0 } };
  const facts = (): NodeFacts => told as unknown as NodeFacts;
  const close = () => Promise.resolve();
  const node = {
    port: 1,
    writable: true,
    facts,
    source: () => Promise.resolve('unavailable' as const),
    acceptClock: () => undefined,
    operations: undefined,
    over: undefined,
    hasPage: false,
    mode: () => ({
      ledger: false,
      demo: false,
      mirror: false,
      play: false,
      invites: false,
      cluster: false,
    }),
    close,
  };
  assert.deepEqual(await ready(), [503, 'starting']);
  admin.report(node);
  assert.deepEqual(await ready(), [200, 'ready']);
  told = { ...told, pauses: [paused] };
  assert.deepEqual(await ready(), [503, 'read-only']);
  const { text } = await ask(port, '/ready');
  assert.deepEqual(JSON.parse(text), { status: 'read-only', reason: 'log: no space left' });
  admin.report(undefined);
  assert.deepEqual(await ready(), [503, 'starting']);
  admin.report(node);
  admin.draining();
  assert.deepEqual(await ready(), [503, 'draining']);
});

const STATES = ['starting', 'ready', 'draining'];

/**
 * Statements of a node about itself from its start to its end, polled without a pause, and its log.
 */
async function lived(): Promise<{ readonly seen: readonly string[]; readonly log: string }> {
  const port = await freePort();
  const seen = new Set<string>();
  let isOver = false;
  const look = async (): Promise<void> => {
    while (!isOver) {
      const answer = await ask(port, '/ready').catch(() => undefined);
      // A listener that closes answers "shutting down", as that of the API does.
      const { status } = JSON.parse(answer?.text ?? '{}') as { readonly status?: string };
      if (status !== undefined) seen.add(status);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  const looking = look();
  const node = await TestNode.start(temporaryDirectory(), {
    ADMIN_PORT: String(port),
    LOG_FORMAT: 'json',
  });
  await until(() => seen.has('ready'));
  const { text } = await ask(port, '/page/summary');
  const summary = JSON.parse(text) as {
    readonly status: string;
    readonly api: object;
    readonly node: { readonly occupancy: readonly { table: string; capacity: number }[] };
  };
  assert.equal(summary.status, 'ready');
  assert.deepEqual(summary.api, { host: '', port: node.port });
  const orders = summary.node.occupancy.find(({ table }) => table === 'orders');
  assert.equal(orders?.capacity, 4096);
  await node.stop();
  isOver = true;
  await looking;
  return { seen: [...seen], log: node.log };
}

test('a node reports its start, its state and its end, and its log is lines of JSON', async () => {
  let { log, seen } = await lived();
  // A process that stood still meanwhile has missed how a node began or ended.
  for (let lives = 1; lives < 10 && seen.length < STATES.length; lives++) {
    assert.deepEqual(
      seen,
      STATES.filter((state) => seen.includes(state)),
    );
    ({ log, seen } = await lived());
  }
  assert.deepEqual(seen, STATES);
  const lines = log
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { msg: string; settings?: Record<string, string> });
  assert.equal(lines[0]?.settings?.ORDERS_MAX, '4096');
  assert(lines.some(({ msg }) => msg.startsWith('listening on http://127.0.0.1:')));
  assert.equal(lines.at(-1)?.msg, 'stopped');
});
