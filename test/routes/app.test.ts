/** The trading page on the public port: its index for every view, its files, and who is sent there. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { readConfig } from '../../server/config/config.ts';
import { appIsOn } from '../../server/routes/app-routes.ts';
import { useCompiledNodes } from '../common/forms.ts';
import { type Settings, send, TestNode, temporaryDirectory } from '../common/node-harness.ts';

useCompiledNodes();
const node = await TestNode.start(temporaryDirectory(), { APP: 'on' });

const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
/** First load, with everything that the index names. */
const BYTES_MAX = 150_000;

const headers: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

interface Part {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

async function get(path: string, asked: Readonly<Record<string, string>> = {}): Promise<Part> {
  const answer = await fetch(`http://127.0.0.1:${node.port}${path}`, {
    headers: asked,
    redirect: 'manual',
  });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

/** Addresses that a page names, as a browser at this address resolves them. */
function linksOf(html: string, address: string): URL[] {
  const base = new URL(/<base href="([^"]+)">/.exec(html)![1]!, address);
  const links = [...html.matchAll(/<(?:link|script)\b[^>]* (?:href|src)="([^"]+)"/g)];
  return links.map(([, link]) => new URL(link!, base));
}

const VIEWS = [
  '/app',
  '/app/',
  '/app/portfolio',
  '/app/market/some-slug',
  '/app/a/b/c/d',
  '/app/x/',
];

test('every view is answered with the index, whose links lead to the files below /app/assets', async () => {
  for (const view of VIEWS) {
    const { headers: got, status, text } = await get(view);
    assert.equal(status, 200, view);
    assert.equal(got.get('content-type'), 'text/html; charset=utf-8');
    assert.equal(got.get('cache-control'), 'no-cache');
    // A proxy that serves the node below /venue/ takes that away.
    for (const prefix of ['', '/venue']) {
      const links = linksOf(text, `http://host${prefix}${view}`);
      assert(links.length >= 3, text);
      for (const { host, pathname } of links) {
        assert.equal(host, 'host');
        assert(pathname.startsWith(`${prefix}/app/assets/`), `${view}: ${pathname}`);
        assert.equal((await get(pathname.slice(prefix.length))).status, 200, pathname);
      }
    }
  }
});

test('every answer of the page has the policy, and nothing of it is inline or from elsewhere', async () => {
  const { text } = await get('/app');
  assert.doesNotMatch(text, /<style|\sstyle=|\son\w+=|<script(?![^>]* src=)/);
  assert.doesNotMatch(text, /\b(?:href|src)="(?:https?:)?\/\//);
  const files = linksOf(text, `http://127.0.0.1:${node.port}/app`).map(({ pathname }) => pathname);
  for (const path of ['/app', '/app/market/x', ...files]) {
    const { headers: got } = await get(path);
    const policy = got.get('content-security-policy')!.split('; ');
    assert(policy.includes("default-src 'self'"), path);
    assert(policy.includes("frame-ancestors 'none'"), path);
    assert(!policy.join().includes('unsafe'), path);
    for (const [name, value] of Object.entries(headers)) assert.equal(got.get(name), value, path);
    assert.equal(got.get('set-cookie'), null);
  }
});

test('files of the page may be kept for ever, are compressed, and known ones are not sent again', async () => {
  const { text } = await get('/app');
  for (const { pathname } of linksOf(text, `http://127.0.0.1:${node.port}/app`)) {
    const plain = await get(pathname, { 'accept-encoding': 'identity' });
    assert.equal(plain.headers.get('cache-control'), 'public, max-age=31536000, immutable');
    const etag = plain.headers.get('etag')!;
    assert.equal((await get(pathname, { 'if-none-match': etag })).status, 304);
    for (const coding of ['gzip', 'br']) {
      // The client unpacks it.
      const packed = await get(pathname, { 'accept-encoding': coding });
      assert.equal(packed.headers.get('content-encoding'), coding);
      assert.equal(packed.headers.get('vary'), 'Accept-Encoding');
      assert.equal(packed.text, plain.text);
    }
  }
  const index = await get('/app');
  const tag = index.headers.get('etag')!;
  assert.equal((await get('/app', { 'if-none-match': tag })).status, 304);
});

test('the first load is below 150 KB compressed', async () => {
  const index = await get('/app');
  const links = linksOf(index.text, `http://127.0.0.1:${node.port}/app`);
  const texts = [index.text];
  for (const { pathname } of links) texts.push((await get(pathname)).text);
  const bytes = texts.map((text) => gzipSync(text).length);
  const all = bytes.reduce((sum, each) => sum + each, 0);
  assert(all > 1_000 && all < BYTES_MAX, `${bytes.join(' + ')} bytes`);
});

test('unknown files, deep paths and other methods are refused below /app as elsewhere', async () => {
  const missing = '{"error":"not found","code":"NOT_FOUND"}';
  const paths = ['assets/', 'assets/none.js', 'assets/..%2findex.html', 'assets/a/b', 'a/b/c/d/e'];
  for (const path of paths) {
    const { status, text } = await get(`/app/${path}`);
    assert.deepEqual([status, text], [404, missing], path);
  }
  for (const path of ['/apple', '/clob/app', '/gamma/app/', '/data/app'])
    assert.equal((await get(path)).status, 404, path);
  assert.equal((await send(node, 'POST', '/app')).status, 405);
  assert.equal((await send(node, 'DELETE', '/app/market/x')).status, 405);
});

test('HEAD answers the headers of GET without a body', async () => {
  for (const path of ['/app', '/app/market/x']) {
    const plain = await send(node, 'GET', path);
    const { headers: got, status, text } = await send(node, 'HEAD', path);
    assert.deepEqual([status, text], [200, '']);
    assert.equal(got['content-length'], String(Buffer.byteLength(plain.text)));
    assert.equal(got.etag, plain.headers.etag);
  }
});

test('a browser that asks for / is sent to the page by a relative address, every other client gets the literal', async () => {
  const sent = await get('/', HTML);
  assert.deepEqual([sent.status, sent.headers.get('location'), sent.text], [302, 'app', '']);
  assert.match(sent.headers.get('vary')!, /^Accept$/);
  const head = { method: 'HEAD', headers: HTML, redirect: 'manual' } as const;
  assert.equal((await fetch(`http://127.0.0.1:${node.port}/`, head)).status, 302);
  for (const accept of ['*/*', 'application/json', 'text/plain', 'text/htmlx']) {
    const { headers: got, status, text } = await get('/', { accept });
    assert.deepEqual([status, text], [200, '"OK"'], accept);
    assert.equal(got.get('content-type'), 'application/json');
    assert.match(got.get('vary')!, /^Accept$/);
  }
  for (const path of ['/clob', '/clob/', '/gamma/', '/data', '/ok', '/health'])
    assert.equal((await get(path, HTML)).text, '"OK"', path);
});

test('the page is served by default where the demo is, and APP has the last word', () => {
  const cases: readonly (readonly [Settings, boolean])[] = [
    [{}, true],
    [{ DEMO: 'off' }, false],
    [{ DEMO: 'off', APP: 'demo' }, false],
    [{ DEMO: 'off', APP: 'on' }, true],
    [{ APP: 'off' }, false],
    // Its markets are those of another node.
    [{ CATALOG_SYNC_URL: 'http://127.0.0.1:1' }, false],
    [{ CATALOG_SYNC_URL: 'http://127.0.0.1:1', APP: 'on' }, true],
  ];
  for (const [settings, isServed] of cases) {
    const read = readConfig(settings, [], 1);
    assert(read.ok);
    assert.equal(appIsOn(read.config), isServed, JSON.stringify(settings));
  }
});

test('a node with the demo serves the page and prints its address first, one without serves none', async () => {
  for (const isServed of [true, false]) {
    const settings = { DEMO: isServed ? 'on' : 'off' };
    const other = await TestNode.start(temporaryDirectory(), settings);
    const url = `http://127.0.0.1:${other.port}`;
    assert.equal((await fetch(`${url}/app`)).status, isServed ? 200 : 404);
    const root = await fetch(`${url}/`, { headers: HTML, redirect: 'manual' });
    assert.equal(root.status, isServed ? 302 : 200);
    assert.equal(root.headers.get('vary'), isServed ? 'Accept' : null);
    const lines = other.log.slice(other.log.indexOf('prediction-market-node ')).split('\n');
    assert.equal(lines[1]?.trim() === `app=${url}/app`, isServed, other.log);
    await other.stop();
  }
});
