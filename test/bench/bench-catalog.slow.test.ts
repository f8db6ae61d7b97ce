/** The suite `catalog` on tiny inputs, so that it keeps running; it measures nothing here. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import test from 'node:test';
import { generateCatalog, revise, revisionOf } from '../../bench/catalog/catalog-generator.ts';
import { loadProblem, runLoad } from '../../bench/common/http-load.ts';
import { readCatalog } from '../../storage/catalog/catalog-file.ts';
import { useCompiledNodes, withoutPreloads } from '../common/forms.ts';
import { SHORT } from '../common/random.ts';

const { catalogSuite } = (await import(
  join(useCompiledNodes(), 'bench/catalog/catalog.bench.js')
)) as typeof import('../../bench/catalog/catalog.bench.ts');

const noLoad = loadProblem() ?? false;

const TINY = {
  throughput: { markets: 150, warmUps: 0, rounds: 1, seconds: 5, only: ['markets slug'] },
  search: { markets: 60, warmUps: 0, rounds: 1, seconds: 2 },
  size: { markets: 60, rounds: 1 },
  switching: { markets: 60, rounds: 1, windowMs: 200 },
};

test('a generated catalog is equal for equal seeds, and differs for others', () => {
  const text = (seed: string): string => JSON.stringify(generateCatalog(300, seed));
  assert.equal(text('one'), text('one'));
  assert.notEqual(text('one'), text('two'));
});

test('a generated catalog has the markets asked for, each with a book, and nothing is skipped', () => {
  for (const count of [1, 2, 777]) {
    const read = readCatalog(generateCatalog(count, 'exact'));
    assert(read.ok);
    assert.equal(read.report.markets, count);
    assert.equal(read.report.marketsWithBooks, count);
    assert.deepEqual(read.report.skipped, []);
  }
});

test('a generated catalog has the shape of a real one', () => {
  const { events, tags } = generateCatalog(5_000, 'shape');
  const markets = events.flatMap((event) => event.markets);
  const lengths = (field: string): number =>
    markets.reduce((sum, market) => sum + String(market[field]).length, 0) / markets.length;
  const open = markets.filter((market) => market.active === true && market.closed === false);
  const isNear = (value: number, low: number, high: number): void =>
    assert(low <= value && value <= high, `${value} is not from ${low} to ${high}`);
  isNear(markets.length / events.length, 3, 4);
  isNear(lengths('question'), 45, 60);
  isNear(lengths('description'), 750, 900);
  isNear(open.length / markets.length, 0.7, 0.8);
  assert.equal(tags.length, 1_000);
  assert(
    events.some((event) => event.markets.length === 118),
    'one of the largest events',
  );
});

test('a revision changes every market and says so in each', () => {
  const first = generateCatalog(100, 'revision');
  const second = revise(first, 2);
  const questions = second.events.flatMap((event) => event.markets.map((m) => m.question));
  assert.equal(questions.length, 100);
  assert(questions.every((question) => revisionOf(question) === 2));
  assert.equal(revisionOf(first.events[0]!.markets[0]!.question), 0);
});

test('the load sends every target with its headers, and counts failures', {
  skip: noLoad,
}, async (t) => {
  const seen = new Set<string>();
  const server = createServer((request, response) => {
    seen.add(`${request.url} ${request.headers['x-kind']}`);
    response.statusCode = request.url === '/b?c=%20d' ? 500 : 200;
    response.end('answer');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const load = (seconds: number) =>
    runLoad({
      port,
      requests: [{ target: '/a' }, { target: '/b?c=%20d' }],
      headers: { 'X-Kind': 'test load' },
      seconds,
      connections: 2,
    });
  let figures = await load(1);
  // A machine that stood still all the while has answered nothing.
  if (figures.requests < 2) figures = await load(10);
  assert.deepEqual([...seen].sort(), ['/a test load', '/b?c=%20d test load']);
  assert(figures.requests > 0);
  // The two targets take turns on each connection, and one may be under way at the end.
  assert(Math.abs(figures.failed - figures.requests / 2) <= 2);
});

test('the catalog suite runs all of its parts', { skip: SHORT }, async () => {
  // Side by side, as nothing is measured here.
  const [{ throughput }, { search }, { size }, { switching }] = await withoutPreloads(() =>
    Promise.all([
      catalogSuite(TINY, ['throughput']),
      catalogSuite(TINY, ['search']),
      catalogSuite(TINY, ['size']),
      catalogSuite(TINY, ['switching']),
    ]),
  );
  if (noLoad === false) {
    assert.equal(throughput?.length, 1);
    assert.equal(throughput[0]?.failed, 0);
    assert(throughput[0].productPerSecond > 0 && throughput[0].barePerSecond > 0);
    assert.deepEqual(
      search?.cases.map(({ failed }) => failed),
      [0, 0],
    );
    assert.equal(search.letters.failed, 0);
  }
  assert.equal(size?.loads.length, 1);
  assert(size.loads.every((load) => load.preparedBytes > load.fragmentBytes));
  assert.equal(switching?.servedMs.length, 1);
  assert(switching.requests > 0);
  assert.equal(switching.failed, 0);
});
