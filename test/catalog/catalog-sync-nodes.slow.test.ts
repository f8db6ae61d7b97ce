/**
 * One node pulls the catalog of another, each in a process of its own. Every route of the catalog
 * answers equal bytes, but for live statistics once the source trades. A killed source costs the
 * pulling node only time.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { openCatalog } from '../../storage/catalog/catalog.ts';
import { type Catalog, type JsonObject, readCatalog } from '../../storage/catalog/catalog-file.ts';
import { useCompiledNodes } from '../common/forms.ts';
import {
  catalogFile,
  get,
  send,
  TestNode,
  temporaryDirectory,
  until,
} from '../common/node-harness.ts';
import { freshSeed, SHORT } from '../common/random.ts';
import { ROOT } from '../common/root.ts';
import { Trader } from '../common/traders.ts';
import { oddCatalog } from './catalog-fixture.ts';
import { EVENT_STATISTICS, MARKET_STATISTICS } from './naive-statistics.ts';

const REAL = join(ROOT, '../shared/data/catalog-shared.json');
const ROOMY = { MARKETS_MAX: '8192', TOKENS_MAX: '16384', LEVELS_MAX: '16777216' };

useCompiledNodes();

function read(json: unknown): Catalog {
  const result = readCatalog(json);
  assert(result.ok);
  return result.catalog;
}

/** Stores a catalog in a directory as the import command does, also while a node runs. */
async function put(dataDir: string, catalog: Catalog): Promise<void> {
  const store = openCatalog(dataDir, { durability: 'flushed' });
  await store.replace(catalog);
  await store.close();
}

function startPuller(source: { readonly port: number }): Promise<TestNode> {
  const url = `http://127.0.0.1:${source.port}`;
  const settings = { CATALOG_SYNC_URL: url, CATALOG_SYNC_SECONDS: '1', LOG_LEVEL: 'debug' };
  return TestNode.start(temporaryDirectory(), { ...ROOMY, ...settings });
}

/** Requests that show all of a catalog, in every form that has a route. */
function pathsOf(catalog: Catalog): string[] {
  const { events, tags, series } = catalog;
  const markets = events.flatMap((event) => event.markets as readonly JsonObject[]);
  const paths = ['/sampling-markets', '/sampling-simplified-markets'];
  const lists = { '/events': events, '/markets': markets, '/tags': tags, '/series': series };
  for (const [path, list] of Object.entries(lists)) {
    for (let offset = 0; offset <= list.length; offset += 500) {
      paths.push(`${path}?limit=500&offset=${offset}`);
    }
  }
  paths.push('/events?order=endDate&limit=500', '/markets?order=orderMinSize&limit=500');
  for (const word of ['orchard', 'lantern', 'will', 'election', 'a', '17']) {
    paths.push(`/public-search?q=${word}&limit_per_type=500`);
  }
  // Every one of a small catalog, some of a large one.
  for (const [index, { id, slug }] of events.entries()) {
    if (index % Math.ceil(events.length / 150) !== 0) continue;
    paths.push(`/events/${id}`);
    if (typeof slug === 'string' && slug !== '') {
      paths.push(`/events/slug/${encodeURIComponent(slug.toWellFormed())}`);
    }
  }
  for (const [index, { id, slug, creator }] of markets.entries()) {
    if (index % Math.ceil(markets.length / 150) !== 0) continue;
    paths.push(`/markets/${id}`);
    if (typeof slug === 'string')
      paths.push(`/markets?slug=${encodeURIComponent(slug.toWellFormed())}`);
    if (typeof creator === 'string') paths.push(`/events?creator=${encodeURIComponent(creator)}`);
  }
  return paths;
}

async function answersOf(
  node: { readonly port: number },
  paths: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const connection = new Agent({ keepAlive: true, maxSockets: 1 });
  const answers = new Map<string, string>();
  for (const path of paths) {
    const { status, text } = await send(node, 'GET', path, {}, '', connection);
    answers.set(path, `${status} ${text}`);
  }
  connection.destroy();
  return answers;
}

function assertSame(got: ReadonlyMap<string, string>, expected: ReadonlyMap<string, string>): void {
  for (const [path, answer] of expected) assert.equal(got.get(path), answer, path);
}

function pulledGeneration(node: TestNode): number {
  return Number(
    [...node.log.matchAll(/catalog sync from .*: generation (\d+):/g)].at(-1)?.[1] ?? 0,
  );
}

async function untilServed(node: TestNode, path: string, answer: string): Promise<void> {
  await until(async () => (await answersOf(node, [path])).get(path) === answer);
}

/**
 * Waits until the pulling node serves catalog generation `number`, and compares all of it with the
 * source.
 */
async function assertPulled(
  puller: TestNode,
  number: number,
  source: { readonly port: number },
  catalog: Catalog,
): Promise<void> {
  const paths = pathsOf(catalog);
  const expected = await answersOf(source, paths);
  await until(() => pulledGeneration(puller) === number);
  const newest = '/markets?limit=500&offset=0';
  await untilServed(puller, newest, expected.get(newest)!);
  assertSame(await answersOf(puller, paths), expected);
}

/** Checks that the next pulls are one request each and find nothing new. */
async function assertQuiet(puller: TestNode, number: number): Promise<void> {
  await until(() => puller.log.includes('nothing changed'));
  assert.equal(pulledGeneration(puller), number);
}

/** A proxy to the node that `node` returns, which counts lookups of events. */
async function proxy(t: TestContext, node: () => TestNode, onLookup: (count: number) => void) {
  let lookups = 0;
  const server = createServer((incoming, outgoing) => {
    if (/^\/events\/\d/.test(incoming.url ?? '')) onLookup(++lookups);
    const { url: path, headers } = incoming;
    const options = { host: '127.0.0.1', port: node().port, path, headers, agent: false };
    const passed = request(options, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
      answer.on('error', () => outgoing.destroy());
    });
    passed.on('error', () => outgoing.destroy());
    passed.end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port };
}

test('one node pulls the catalog of another, which is killed half way through a pull', {
  skip: SHORT,
}, async (t) => {
  const seed = freshSeed();
  const whole = oddCatalog(seed, 300);
  // Every event is another one, and one is gone: a sync removes few markets by itself.
  const again = whole.events.slice(0, -1).map((event) => ({ ...event, description: 'again' }));
  const [fresh] = (catalogFile([{ id: 999 }]) as { readonly events: typeof again }).events;
  const [first, second] = [whole, { ...whole, events: [...again, fresh!] }].map(read);
  try {
    await pullerOutlivesSource(t, first!, second!);
  } catch (error) {
    console.error(`replay with: SEED=${seed} npm test`);
    throw error;
  }
});

async function pullerOutlivesSource(t: TestContext, first: Catalog, second: Catalog) {
  const dataDir = temporaryDirectory();
  await put(dataDir, first);
  let source = await TestNode.start(dataDir, ROOMY);
  let killAt = Number.POSITIVE_INFINITY;
  const between = await proxy(
    t,
    () => source,
    (lookups) => {
      if (lookups === killAt) void source.end('SIGKILL');
    },
  );
  const puller = await startPuller(between);

  await t.test('a pulling node answers every route with the bytes of its source', async () => {
    await assertPulled(puller, 1, source, first);
    await assertQuiet(puller, 1);
  });

  await t.test(
    'while the source is dead the pulling node keeps its catalog, then catches up',
    async () => {
      const paths = pathsOf(first);
      const before = await answersOf(source, paths);
      killAt = first.events.length + Math.floor(second.events.length / 2);
      await put(dataDir, second);
      await until(() => source.hasEnded);
      assertSame(await answersOf(puller, paths), before);
      assert.equal(pulledGeneration(puller), 1);
      source = await TestNode.start(dataDir, ROOMY);
      await assertPulled(puller, 2, source, second);
    },
  );

  await t.test('statistics of the source are not pulled, and everything else stays equal', () =>
    assertOwnStatistics(source, puller, first, second),
  );
  await puller.stop();
  await source.stop();
}

async function assertOwnStatistics(
  source: TestNode,
  puller: TestNode,
  replaced: Catalog,
  catalog: Catalog,
) {
  // One that the engine has as this catalog says: some terms of a market never change.
  const known = new Set(replaced.markets.map(({ conditionId }) => conditionId));
  const market = catalog.markets.find((one) => one.tradable && !known.has(one.conditionId));
  assert(market !== undefined);
  const before = await answersOf(puller, pathsOf(catalog));
  const maker = await Trader.join(source, 'maker');
  await maker.place(source, { market, side: 'BUY', ticks: 1, shares: 5_000 });
  await until(async () => {
    const [newest] = (await get(source, '/markets?order=bestBid&limit=1')).json as JsonObject[];
    return newest?.id === market.id && newest.bestBid === 1 / market.ticksPerUnit;
  });
  const pulls = puller.log.length;
  await until(() => puller.log.slice(pulls).includes('nothing changed'));
  assert.equal(pulledGeneration(puller), 2);
  assertSame(await answersOf(puller, pathsOf(catalog)), before);
  for (const [path, answer] of await answersOf(source, pathsOf(catalog))) {
    const text = answer.slice('200 '.length);
    assert.equal(
      withoutStatistics(text),
      withoutStatistics(before.get(path)!.slice('200 '.length)),
      path,
    );
  }
}

function withoutStatistics(text: string): string {
  const names = new Set([...MARKET_STATISTICS, ...EVENT_STATISTICS]);
  return JSON.stringify(JSON.parse(text), (name, value) => (names.has(name) ? undefined : value));
}

const skip = SHORT || (!existsSync(REAL) && 'no ../shared/data');
test('a pulling node of a real catalog answers with the bytes of its source', {
  skip,
}, async () => {
  const catalog = read(JSON.parse(readFileSync(REAL, 'utf8')));
  const dataDir = temporaryDirectory();
  await put(dataDir, catalog);
  const source = await TestNode.start(dataDir, ROOMY);
  const puller = await startPuller(source);
  await assertPulled(puller, 1, source, catalog);
  await assertQuiet(puller, 1);
  await puller.stop();
  await source.stop();
});
