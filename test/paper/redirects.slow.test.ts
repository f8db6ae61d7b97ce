import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Server as NetServer } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import test, { type TestContext } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { CatalogSync } from '../../server/catalog/sync.ts';
import { SYNC_LIMITS } from '../../server/catalog/sync-client.ts';
import { SourceApi } from '../../server/paper/source-api.ts';
import { SourceSocket } from '../../server/paper/source-socket.ts';
import { openCatalog } from '../../storage/catalog/catalog.ts';
import { makeCertificates, NO_OPENSSL } from '../common/certificates.ts';
import { get, TestNode, temporaryDirectory, until } from '../common/node-harness.ts';
import { FakeVenue } from './fake-source.ts';

const FOR_EVER = new AbortController().signal;
const TIMES = { pingMs: 1_000, silenceMs: 30_000, againMs: 10 };

async function portOf(t: TestContext, server: NetServer): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    (server as Partial<Server>).closeAllConnections?.();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function redirecting(
  t: TestContext,
  status: number,
  to: (path: string) => string,
): Promise<string> {
  const server = createServer((request, response) => {
    response.writeHead(status, { location: to(request.url ?? '/') }).end('elsewhere');
  });
  server.on('upgrade', ({ url = '/' }: IncomingMessage, socket: Duplex) => {
    socket.end(`HTTP/1.1 ${status} Moved\r\nLocation: ${to(url)}\r\nContent-Length: 0\r\n\r\n`);
  });
  return `http://127.0.0.1:${await portOf(t, server)}`;
}

/** A proxy before a venue: redirects everything below /old to `to` of the rest of the path. */
async function fronted(
  t: TestContext,
  venue: FakeVenue,
  status: number,
  to: (path: string) => string,
) {
  const seen: string[] = [];
  const isOld = (path: string): boolean => path.startsWith('/old');
  const moved = (path: string): string => to(path.slice('/old'.length));
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? '/';
    seen.push(`${request.method} ${path}`);
    if (isOld(path)) {
      response.writeHead(status, { location: moved(path) }).end();
      return;
    }
    const onward = connect(venue.port, '127.0.0.1');
    const { 'content-length': length = '0' } = request.headers;
    onward.write(`${request.method} ${path} HTTP/1.0\r\nContent-Length: ${length}\r\n\r\n`);
    request.on('data', (bytes) => onward.write(bytes));
    onward.pipe(response.socket!);
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const path = request.url ?? '/';
    seen.push(`UPGRADE ${path}`);
    if (isOld(path)) {
      socket.end(
        `HTTP/1.1 ${status} Moved\r\nLocation: ${moved(path)}\r\nContent-Length: 0\r\n\r\n`,
      );
      return;
    }
    const onward = connect(venue.port, '127.0.0.1');
    const lines = [`GET ${path} HTTP/1.1`];
    for (let i = 0; i < request.rawHeaders.length; i += 2) {
      lines.push(`${request.rawHeaders[i]}: ${request.rawHeaders[i + 1]}`);
    }
    onward.write(`${lines.join('\r\n')}\r\n\r\n`);
    onward.write(head);
    onward.pipe(socket).pipe(onward);
    for (const side of [onward, socket]) side.on('error', () => side.destroy());
  });
  return { url: `http://127.0.0.1:${await portOf(t, server)}`, seen };
}

async function stranger(t: TestContext): Promise<{ readonly url: string; calls: () => number }> {
  let calls = 0;
  const server = createServer((_, response) => void response.end('[]'));
  server.on('connection', () => {
    calls += 1;
  });
  return { url: `http://127.0.0.1:${await portOf(t, server)}`, calls: () => calls };
}

function openedBy(t: TestContext, url: string): { readonly state: string[]; close(): void } {
  const state: string[] = [];
  const socket = new SourceSocket(
    url,
    {
      opened: () => void state.push('open'),
      text: () => undefined,
      ended: (reason, problem = '') => void state.push(problem, reason),
    },
    TIMES,
  );
  t.after(() => socket.close());
  return { state, close: () => socket.close() };
}

test('requests and streams follow a redirect to the same host, with their path and query', async (t) => {
  const venue = await FakeVenue.start(t);
  const [market] = venue.markets;
  const [token] = market!.tokenIds as [string];
  for (const status of [307, 308]) {
    const { seen, url } = await fronted(t, venue, status, (path) => path);
    const api = new SourceApi(`${url}/old`, `${url}/old`, FOR_EVER);
    const [book] = await api.snapshots([token]);
    assert.equal(book?.token, token);
    assert.deepEqual(seen, ['POST /old/books', 'POST /books']);
    const [found] = await api.marketsByVolume(1, () => true);
    assert.equal(found?.condition, market!.conditionId);
    const { state, close } = openedBy(t, `${url.replace('http', 'ws')}/old/ws/market`);
    await until(() => state.length > 0);
    assert.deepEqual(state, ['open']);
    assert.deepEqual(seen.slice(-2), ['UPGRADE /old/ws/market', 'UPGRADE /ws/market']);
    close();
  }
  const { seen, url } = await fronted(t, venue, 302, () => '/elsewhere');
  const api = new SourceApi(`${url}/old`, `${url}/old`, FOR_EVER);
  assert.deepEqual(await api.snapshots([token]), []);
  assert.deepEqual(seen, ['POST /old/books', 'GET /elsewhere'], 'by 302 a POST becomes a GET');
});

test('no request and no stream follows a redirect to another host, or to another port', async (t) => {
  const other = await stranger(t);
  const port = new URL(other.url).port;
  for (const target of [other.url, `http://localhost:${port}`, `https://localhost:${port}`]) {
    const url = await redirecting(t, 307, (path) => `${target}${path}`);
    const api = new SourceApi(url, url, FOR_EVER);
    await assert.rejects(api.snapshots(['1']), /redirects to another host/);
    await assert.rejects(
      api.marketsByVolume(1, () => true),
      /redirects to another host/,
    );
    const { state, close } = openedBy(t, url.replace('http', 'ws'));
    await until(() => state.includes('disconnected'));
    assert.match(state[0]!, /redirects to another host, https?:\/\//);
    close();
  }
  const circle = await redirecting(t, 302, (path) => path);
  await assert.rejects(
    new SourceApi(circle, circle, FOR_EVER).marketsByVolume(1, () => true),
    /without end/,
  );
  const { state, close } = openedBy(t, circle.replace('http', 'ws'));
  await until(() => state.includes('disconnected'));
  assert.match(state[0]!, /redirects without end/);
  close();
  assert.equal(other.calls(), 0, 'nobody came');
});

test('a pull follows a redirect to the same host, and fails with the reason when it leads to another one', async (t) => {
  const venue = await FakeVenue.start(t);
  const { url } = await fronted(t, venue, 301, (path) => path);
  const store = openCatalog(temporaryDirectory(), { durability: 'committed' });
  t.after(() => store.close());
  const limits = { ...SYNC_LIMITS, retryMs: 1 };
  const ownConditions = new Set<string>();
  const pull = (from: string) =>
    new CatalogSync({ url: from, store, limits, ownConditions }).pull(FOR_EVER);
  assert.equal((await pull(`${url}/old`)).kind, 'replaced');
  assert.equal(store.load().markets.length, 1);
  const other = await stranger(t);
  const away = await redirecting(t, 301, (path) => `${other.url}${path}`);
  const result = await pull(away);
  assert.match(
    result.kind === 'failed' ? result.reason : '',
    /redirects to another host, http:\/\/127/,
  );
  assert.equal(other.calls(), 0, 'nobody came, and nothing is tried again');
});

test('a mirror follows a source from http to https, with its catalog and its stream', {
  skip: NO_OPENSSL,
}, async (t) => {
  const venue = await FakeVenue.start(t);
  const directory = temporaryDirectory();
  makeCertificates(directory);
  const pem = (name: string): Buffer => readFileSync(join(directory, name));
  const secure = createTlsServer({ cert: pem('server.pem'), key: pem('server.key') }, (socket) => {
    const onward = connect(venue.port, '127.0.0.1');
    onward.pipe(socket).pipe(onward);
    for (const side of [onward, socket]) side.on('error', () => side.destroy());
    t.after(() => socket.destroy());
  });
  const port = await portOf(t, secure);
  const node = await TestNode.start(temporaryDirectory(), {
    LEDGER: 'on',
    MIRROR_URL: await redirecting(t, 308, (path) => `https://127.0.0.1:${port}${path}`),
    CATALOG_SYNC_SECONDS: '1',
    NODE_EXTRA_CA_CERTS: join(directory, 'ca.pem'),
  });
  await until(async () => {
    const { json } = await get(node, '/status');
    return (json as { mirror?: { books: { live: number } } }).mirror?.books.live === 1;
  });
  await node.stop();
});
