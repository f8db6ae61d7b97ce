import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import test, { type TestContext } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Ajv } from 'ajv';
import { operationsDocument } from '../../server/admin/operation-document.ts';
import { readConfig } from '../../server/config/config.ts';
import { handlersOf, type RouteRow } from '../../server/http/route.ts';
import { DOCUMENT_ROUTES } from '../../server/routes/document-routes.ts';
import { documentsOf } from '../../server/routes/documented.ts';
import { ROUTE_TABLE } from '../../server/routes/route-table.ts';
import { STREAM_TABLE } from '../../server/streams/messages.ts';
import { documentCheck } from '../common/document-check.ts';
import { serve } from '../common/http-client.ts';
import { SHORT } from '../common/random.ts';

const require = createRequire(import.meta.url);

function documents(settings: Readonly<Record<string, string>> = {}) {
  const read = readConfig(settings, [], 1);
  assert(read.ok);
  return documentsOf(read.config);
}

async function lint(document: object): Promise<string[]> {
  const isRoutes = 'openapi' in document;
  const config = await createConfig({
    extends: ['recommended'],
    // What is spelled out goes before what may be anything: the HTTP server's rule, and that of the document.
    // Who a stream's reader is stands in its first message.
    rules: { 'no-ambiguous-paths': 'off', 'security-defined': isRoutes ? 'error' : 'off' },
  });
  const source = JSON.stringify(document);
  const problems = await lintFromString({ source, absoluteRef: '/document.json', config });
  return problems.map(({ location, message }) => `${location[0]?.pointer} ${message}`);
}

test('a linter finds nothing in the OpenAPI document', async () => {
  assert.deepEqual(await lint(await documents().openApi()), []);
});

test('a linter finds nothing in the document of the admin operations', async () => {
  assert.deepEqual(await lint(operationsDocument()), []);
});

test('a linter finds nothing in the document of the other profile and in the AsyncAPI document', {
  skip: SHORT,
}, async () => {
  const other = documents({ CLIENT_PROFILE: 'polymarket' });
  assert.deepEqual(await lint(await other.openApi()), []);
  assert.deepEqual(await lint(await other.asyncApi()), []);
});

test('the AsyncAPI document is valid by the official schema', { skip: SHORT }, async () => {
  const schema = require('@asyncapi/specs/schemas/3.0.0-without-$id.json') as object;
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
  assert(validate(await documents().asyncApi()), JSON.stringify(validate.errors));
});

interface Operation {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly parameters?: readonly { readonly name?: string; readonly description?: string }[];
}

test('the OpenAPI document has every route of the table but the pages, and no other', async () => {
  const { paths } = (await documents({
    APP: 'on',
    FAULTS: 'on',
    MCP: 'on',
    RELAYER: 'on',
  }).openApi()) as {
    paths: Record<string, Record<string, Operation>>;
  };
  const listed = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const routes = Object.entries<RouteRow>(ROUTE_TABLE)
    .filter(([, { isPage }]) => isPage !== true)
    .map(([key]) => key.replaceAll(/:(\w+)/g, '{$1}'));
  assert.deepEqual(listed.toSorted(), routes.toSorted());
  const book = paths['/book/{token_id}']!.get!;
  assert.equal(book.operationId, 'getBookByTokenId');
  assert.deepEqual(book.security, [{}]);
  const slug = paths['/markets']!.get!.parameters!.find(({ name }) => name === 'slug');
  assert.match(slug?.description ?? '', /exact, case counts; also `slug\[\]`$/);
});

test('the OpenAPI document begins with orders and books, and ends with the node itself', async () => {
  const { paths, tags } = (await documents().openApi()) as {
    paths: Record<string, Record<string, { readonly tags: readonly string[] }>>;
    tags: readonly { readonly name: string }[];
  };
  const names = tags.map(({ name }) => name);
  assert.deepEqual([names[0], names[1], names.at(-1)], ['orders', 'books', 'node']);
  const shown = Object.values(paths).flatMap((path) =>
    Object.values(path).flatMap((operation) => operation.tags),
  );
  // The page shows groups in the order of tags; other readers go by the order of paths.
  assert.deepEqual([...new Set(shown)], names);
  const places = shown.map((name) => names.indexOf(name));
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
  );
  assert.equal(Object.keys(paths)[0], '/order');
  const ofNode = Object.entries(paths).filter(([, path]) => path.get?.tags[0] === 'node');
  const expected = '/ /ok /health /healthz /ready /status /gamma/status /time /version';
  const others = '/exchange-info /rate-limits /openapi.json /asyncapi.json /docs /docs/{file}';
  assert.deepEqual(
    ofNode.map(([path]) => path).toSorted(),
    `${expected} ${others}`.split(' ').toSorted(),
  );
});

test('the document names credentials as the node names them', async () => {
  const document = await documents({ CLIENT_PROFILE: 'polymarket' }).openApi();
  const { components } = document as {
    components: { securitySchemes: Record<string, { name: string }> };
  };
  assert.equal(components.securitySchemes.ReadOnlyKey?.name, 'POLY_READONLY_API_KEY');
});

test('the AsyncAPI document has every stream and every message', async () => {
  const { channels } = (await documents().asyncApi()) as {
    channels: Record<string, { address: string; messages: object }>;
  };
  const listed = Object.values(channels).map(({ address, messages }) => [
    address,
    Object.keys(messages),
  ]);
  const expected = Object.entries(STREAM_TABLE).map(([path, { events, requests }]) => [
    path,
    ['subscribe', ...Object.keys(requests).map((name) => `${name}Request`), ...Object.keys(events)],
  ]);
  assert.deepEqual(listed, expected);
});

test('an answer that the document lacks is reported with its difference', async () => {
  const check = await documentCheck({});
  const headers = { 'content-type': 'application/json' };
  const answer = { method: 'GET', path: '/midpoint?token_id=1', status: 200, headers, json: {} };
  check.check({ ...answer, json: { mid: '0.5' } });
  check.check({ ...answer, path: '/clob/midpoint/1', json: { mid: '0.5' } });
  check.check({ ...answer, path: '/nothing', status: 404 });
  assert.throws(() => check.check(answer), /must have required property 'mid'/);
  assert.throws(
    () => check.check({ ...answer, status: 418 }),
    /answers 418, of which the document/,
  );
  assert.throws(() => check.check({ ...answer, path: '/nothing' }), /has no such route/);
  assert.throws(() => check.check({ ...answer, path: '/gamma/midpoint' }), /has no such route/);
  const html = { 'content-type': 'text/html' };
  assert.throws(
    () => check.check({ ...answer, headers: html }),
    /as text\/html, which the document/,
  );
});

/** The documents and the page alone, without a node. */
function place(context: TestContext) {
  const routes = Object.entries(handlersOf(DOCUMENT_ROUTES, documents())).map(([key, handler]) => ({
    ...handler,
    method: 'GET' as const,
    path: key.slice('GET '.length),
    bodyBytesMax: 0,
  }));
  return serve(context, routes);
}

test('documents and files are answered whole, compressed or as 304', async (t) => {
  const { ask } = await place(t);
  const paths = ['/openapi.json', '/asyncapi.json', '/docs', '/docs/swagger-ui.css'];
  for (const path of paths) {
    const plain = await ask(`GET ${path} HTTP/1.1`);
    assert.equal(plain.status, 200, path);
    const etag = plain.headers.get('etag')!;
    const packed = await ask(`GET ${path} HTTP/1.1\r\nAccept-Encoding: gzip, br;q=0`);
    assert.equal(packed.headers.get('content-encoding'), 'gzip');
    assert.deepEqual(gunzipSync(packed.body), plain.body);
    const shortest = await ask(`GET ${path} HTTP/1.1\r\nAccept-Encoding: gzip, br`);
    assert.equal(shortest.headers.get('content-encoding'), 'br');
    assert.deepEqual(brotliDecompressSync(shortest.body), plain.body);
    const refusal = path === '/docs' ? 'gzip ; q=0.0' : 'gzip;q=0';
    const unpacked = await ask(`GET ${path} HTTP/1.1\r\nAccept-Encoding: ${refusal}`);
    assert.deepEqual(unpacked.body, plain.body);
    const known = await ask(`GET ${path} HTTP/1.1\r\nIf-None-Match: "other", W/${etag}`);
    assert.equal(known.status, 304);
    assert.equal(known.body.length, 0);
  }
  const missing = await ask('GET /docs/..%2Fpackage.json HTTP/1.1');
  assert.equal(missing.status, 404);
  assert.equal(String(missing.body), '{"error":"not found","code":"NOT_FOUND"}');
  const page = await ask('GET /docs HTTP/1.1');
  assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
  assert.match(
    page.headers.get('content-security-policy')!,
    /^default-src 'none'; script-src 'self';/,
  );
});

const CHROMIUM = '/usr/bin/chromium';
const noBrowser = existsSync(CHROMIUM) ? SHORT : 'there is no Chromium here';

test('the page shows every route, and sends no request elsewhere', {
  skip: noBrowser,
}, async (t) => {
  const { server } = await place(t);
  // Loaded for this test only, as it takes a quarter of a second.
  const { default: puppeteer } = await import('puppeteer-core');
  const browser = await puppeteer.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  });
  try {
    const page = await browser.newPage();
    const asked: string[] = [];
    const problems: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text());
    });
    page.on('pageerror', (error) => problems.push(String(error)));
    const home = `http://127.0.0.1:${server.port}/`;
    await page.goto(`${home}docs`);
    await page.waitForSelector('#operations-trading-getBookByTokenId');
    const shown = await page.$$eval('.opblock', (blocks) => blocks.length);
    const { paths } = (await documents().openApi()) as { paths: Record<string, object> };
    assert.equal(shown, Object.values(paths).flatMap((path) => Object.keys(path)).length);
    // One of them opened, with its parameters and the shape of its answer.
    await page.click('#operations-trading-getBookByTokenId .opblock-summary-control');
    await page.waitForSelector('#operations-trading-getBookByTokenId .responses-table');
    assert.deepEqual(problems, []);
    const elsewhere = asked.filter((url) => !url.startsWith(home) && !url.startsWith('data:'));
    assert.deepEqual(elsewhere, []);
    assert(asked.includes(`${home}openapi.json`));
  } finally {
    await browser.close();
  }
});
