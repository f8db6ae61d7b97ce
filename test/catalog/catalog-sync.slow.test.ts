/**
 * Pulls of another catalog API, over real sockets and real LMDB: stored objects, the moment of
 * storing, unchanged sources, and the loop of pulls.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { CatalogSync } from '../../server/catalog/sync.ts';
import { SYNC_LIMITS } from '../../server/catalog/sync-client.ts';
import { sourceUrlProblem } from '../../server/common/source-url.ts';
import { type JsonObject, readCatalog } from '../../storage/catalog/catalog-file.ts';
import { catalogEtag, sourceFile } from './catalog-source.ts';
import {
  atFirst,
  FOR_EVER,
  isLookup,
  stage,
  stored,
  titles,
  titlesOf,
} from './catalog-sync-stage.ts';

const SITES = [{ id: 'market.example', creators: [`0x${'a'.repeat(40)}`] }];

test('a pull stores every object of the source with all its fields', async (t) => {
  const { source, store, sync } = await stage(t, sourceFile(23));
  source.rowsMax = 7;
  const result = await sync();
  assert.equal(result.kind, 'replaced');
  assert.deepEqual(
    result.kind === 'replaced' && [result.generation, result.report.events, result.report.markets],
    [1, 23, 46],
  );
  const read = readCatalog(source.file);
  assert(read.ok);
  assert.deepEqual(store.load(), read.catalog);
});

test('the metadata of markets, which only the sampling list shows, is stored with them', async (t) => {
  const { source, store, sync } = await stage(t);
  const [first, ...others] = sourceFile(5).events;
  const [market, other] = first!.markets as readonly JsonObject[];
  const marked = { ...other, raw_metadata: { version: 1, outcomes: ['ß'] } };
  source.file = { ...source.file, events: [{ ...first, markets: [market, marked] }, ...others] };
  source.etag = catalogEtag('a');
  await sync();
  const read = readCatalog(source.file);
  assert(read.ok);
  assert.deepEqual(store.load(), read.catalog);
});

test('sites stay in the store, since a source does not serve them', async (t) => {
  const { source, store, sync } = await stage(t);
  const read = readCatalog({ ...sourceFile(1, 'own'), sites: SITES });
  assert(read.ok);
  await store.replace(read.catalog);
  await sync();
  assert.deepEqual(store.load().sites, SITES);
  assert.deepEqual(titles(store), titlesOf(source.file));
});

test('unchanged objects are not written again, and changed ones are', async (t) => {
  const { source, store, sync } = await stage(t);
  await sync();
  assert.deepEqual(await sync(), { kind: 'unchanged' });
  assert.equal(store.current(), 1);
  source.file = sourceFile(4, 'second');
  assert.equal((await sync()).kind, 'replaced');
  assert.deepEqual(titles(store), titlesOf(source.file));
});

test('a catalog sync that starts anew finds its stored catalog equal', async (t) => {
  const { source, store, sync } = await stage(t);
  await sync();
  const ownConditions = new Set<string>();
  const again = new CatalogSync({
    url: `${source.url}/`,
    store,
    limits: SYNC_LIMITS,
    ownConditions,
  });
  assert.deepEqual(await again.pull(FOR_EVER), { kind: 'unchanged' });
  assert.equal(store.current(), 1);
});

test('a source that names its catalog generation gets one request while it stays', async (t) => {
  const { source, sync } = await stage(t);
  source.etag = catalogEtag('a');
  await sync();
  source.requests.length = 0;
  assert.deepEqual(await sync(), { kind: 'unchanged' });
  assert.deepEqual(source.requests, ['/tags?limit=1&offset=0&ascending=true']);
});

test('live statistics of a source are not taken, and change nothing by themselves', async (t) => {
  const { source, store, sync } = await stage(t);
  const before = source.file;
  const trade = (volume: number): void => {
    const withStatistics = before.events.map((event) => ({
      ...event,
      volume,
      markets: (event.markets as readonly JsonObject[]).map((market) => ({
        ...market,
        volume: String(volume),
        outcomePrices: '["0.1","0.9"]',
      })),
    }));
    source.file = { ...before, events: withStatistics };
  };
  trade(1);
  await sync();
  const texts = [...store.objects()].map(({ json }) => json.toString());
  assert(texts.length > 0 && texts.every((text) => !/"volume|"outcomePrices/.test(text)));
  source.etag = `${catalogEtag('a').slice(0, -1)}-1"`;
  trade(2);
  assert.deepEqual(await sync(), { kind: 'unchanged' });
  source.etag = `${catalogEtag('a').slice(0, -1)}-2"`;
  trade(3);
  assert.deepEqual(await sync(), { kind: 'unchanged' });
});

test('the ETag of a source of another kind is not used for its other pages', async (t) => {
  const { source, store, sync } = await stage(t);
  source.etag = 'W/"5f2-first-page"';
  await sync();
  source.file = { ...source.file, tags: [{ id: '9', label: 'new' }] };
  assert.equal((await sync()).kind, 'replaced');
  assert.deepEqual(store.load().tags.at(-1), { id: '9', label: 'new' });
});

test('an import while the catalog sync runs is replaced by the next pull', async (t) => {
  const { source, store, sync } = await stage(t);
  source.etag = catalogEtag('a');
  await sync();
  const read = readCatalog({ ...sourceFile(1, 'own'), sites: SITES });
  assert(read.ok);
  await store.replace(read.catalog);
  assert.equal((await sync()).kind, 'replaced');
  assert.deepEqual(titles(store), titlesOf(source.file));
  assert.deepEqual(store.load().sites, SITES);
});

test('a catalog that changes while it is read is read anew as a whole', async (t) => {
  const { source, store, sync } = await stage(t, sourceFile(20));
  source.etag = catalogEtag('a');
  let lookups = 0;
  source.fault = (path) => {
    if (isLookup(path) && ++lookups === 10) {
      source.etag = catalogEtag('b');
      source.file = sourceFile(15, 'second');
    }
    return false;
  };
  assert.equal((await sync()).kind, 'replaced');
  assert.deepEqual(titles(store), titlesOf(source.file));
  assert.deepEqual(await sync(), { kind: 'unchanged' });
});

test('an event that the source removed meanwhile is left out', async (t) => {
  const { source, store, sync } = await stored(t);
  source.fault = (path, response) => {
    if (path === '/events/3') response.writeHead(404).end('{"error":"id not found"}');
    return path === '/events/3';
  };
  assert.equal((await sync()).kind, 'replaced');
  assert.equal(store.load().events.length, 11);
});

test('events that move up in a list that another source shortens meanwhile are all read', async (t) => {
  const { source, store, sync } = await stored(t);
  const whole = sourceFile(25, 'third');
  // No more markets go than a pull may remove.
  for (const gone of [1, 2, 5]) {
    source.rowsMax = 6;
    source.file = whole;
    source.fault = (path) => {
      const isSecond = /^\/events\?.*offset=(?:5|6)\b/.test(path) && source.file === whole;
      if (isSecond) source.file = { ...whole, events: whole.events.slice(gone) };
      return false;
    };
    assert.equal((await sync()).kind, 'replaced');
    assert.deepEqual(titles(store), titlesOf(source.file));
  }
});

test('an event without a usable id is left out and reported', async (t) => {
  const { source, sync } = await stage(t);
  source.file = { ...source.file, events: [...source.file.events, { id: 'x/../y' }, { id: '' }] };
  const result = await sync();
  assert(result.kind === 'replaced');
  assert.equal(result.report.events, 5);
  assert.match(JSON.stringify(result.report.skipped), /events without a usable id/);
});

test('an empty source creates no first catalog generation, and empties no catalog', async (t) => {
  const { store, sync } = await stage(t, { events: [], tags: [], series: [] });
  assert.equal((await sync()).kind, 'unchanged');
  assert.equal(store.current(), undefined);
});

test('a stop in the middle of a pull ends it and writes nothing', async (t) => {
  const { source, store, catalogSync } = await stored(t);
  const stop = new AbortController();
  source.fault = (path) => {
    if (isLookup(path)) stop.abort();
    return isLookup(path);
  };
  assert.deepEqual(await catalogSync.pull(stop.signal), { kind: 'failed', reason: 'stopped' });
  assert.equal(store.current(), 1);
});

test('the loop logs failures and writes, and continues', async (t) => {
  const { source, catalogSync } = await stage(t);
  source.fault = atFirst(
    2,
    () => true,
    (response) => response.writeHead(403).end(),
  );
  const stop = new AbortController();
  const lines: string[] = [];
  const log = (level: string, line: string): void => {
    lines.push(`${level} ${line}`);
    if (level === 'info') source.file = sourceFile(2, 'second');
    if (level === 'debug') stop.abort();
  };
  await catalogSync.run({ seconds: 0.01, log, signal: stop.signal });
  assert.match(lines[0] ?? '', /^warn .*failed \(1 in a row\).*status 403.*next try in 0.01 s/);
  assert.match(lines[1] ?? '', /^warn .*failed \(2 in a row\).*next try in 0.02 s/);
  assert.match(lines[2] ?? '', /^info .*generation 1: 5 events, 10 markets/);
  assert.match(lines[3] ?? '', /^info .*generation 2: 2 events, 4 markets/);
  assert.match(lines[4] ?? '', /^debug .*nothing changed/);
  assert.equal(lines.length, 5);
});

test('the address of a source is an http URL without secrets or a query', () => {
  for (const good of ['http://a.example', 'https://a.example:8443/catalog/']) {
    assert.equal(sourceUrlProblem(good), undefined);
  }
  for (const bad of ['', 'a.example', 'ftp://a.example', 'http://u:p@a.example', 'http://a/?b=c']) {
    assert.notEqual(sourceUrlProblem(bad), undefined, bad);
  }
});
