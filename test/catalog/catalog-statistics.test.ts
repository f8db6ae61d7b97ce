/**
 * Live statistics in answers while they change: shown, sorted by and cached, compared with the
 * naive catalog over real sockets.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { AMOUNT_MAX } from '../../engine/tables/capacities.ts';
import { prepareCatalog } from '../../server/catalog/build.ts';
import { CatalogStatistics } from '../../server/catalog/market-statistics.ts';
import { NumberSorter } from '../../server/catalog/sort-orders.ts';
import { type Random, rounds, SHORT, withSeed } from '../common/random.ts';
import { oddCatalog } from './catalog-fixture.ts';
import { askAll, judgeAnswer, seeded } from './catalog-judge.ts';
import { readWhole } from './catalog-odd.ts';
import { event, market, SAMPLES } from './catalog-samples.ts';
import { type CatalogServer, foundRows, serveCatalog, textOf } from './catalog-server.ts';
import { SURVEY } from './catalog-survey.ts';
import { CatalogTargets } from './catalog-targets.ts';
import { type NaiveCatalog, readNaive } from './naive-catalog.ts';
import {
  drawStatistics,
  EVENT_STATISTICS,
  giveStatistics,
  MARKET_STATISTICS,
  type StatisticsById,
} from './naive-statistics.ts';

const GZIP = 'Accept-Encoding: gzip';

function targetsOf(random: Random, catalog: NaiveCatalog): string[] {
  const targets = new CatalogTargets(random, catalog);
  const sorted = [
    ...MARKET_STATISTICS.map((column) => `/markets?order=${column}`),
    ...EVENT_STATISTICS.map((column) => `/events?order=${column}`),
  ].flatMap((target) =>
    ['true', 'false'].map(
      (ascending) => `${target}&ascending=${ascending}&limit=40&offset=${random.below(60)}`,
    ),
  );
  const single = catalog.events.slice(0, 20).map(({ id }) => `/events/${id}`);
  const others = Array.from({ length: rounds(200) }, () => targets.next());
  return [...sorted, ...single, '/series?limit=20', ...others];
}

test('lists show statistics and sort by them as a plain sort does, after any changes', (t) =>
  seeded(async (random, seed) => {
    const json = oddCatalog(seed, 250);
    const server = await serveCatalog(json, t);
    let statistics: StatisticsById = new Map();
    for (let round = 0; round < (SHORT ? 2 : 4); round++) {
      statistics = drawStatistics(random, readNaive(json), statistics);
      const naive = readNaive(json, statistics);
      giveStatistics(server.statistics(), naive, statistics);
      await askAll(server.port, targetsOf(random, naive), (target, answer) =>
        judgeAnswer(naive, target, answer),
      );
    }
  }));

test('every column of a catalog with statistics sorts completely, and every object shows its own statistics', (t) =>
  seeded(async (random, seed) => {
    const json = oddCatalog(seed, 100);
    const statistics = drawStatistics(random, readNaive(json), new Map());
    const naive = readNaive(json, statistics);
    const server = await serveCatalog(json, t);
    giveStatistics(server.statistics(), naive, statistics);
    const names = ['every object', 'every column'];
    const targets = Object.entries(SURVEY).flatMap(([name, targetsOf]) =>
      names.some((start) => name.startsWith(start)) ? targetsOf(naive) : [],
    );
    await askAll(server.port, targets, (target, answer) => judgeAnswer(naive, target, answer));
  }));

function trade(server: CatalogServer, row: number, volume: number): void {
  const statistics = { volume, volumeDay: 0, liquidity: 0, bestBid: 0, bestAsk: 1e6, lastTrade: 0 };
  server.statistics().setMarket(row, { ...statistics, prices: [250_000, 750_000] });
  server.statistics().publish();
}

test('an entity tag changes with the statistics that an answer shows, and with no others', async (t) => {
  const server = await serveCatalog(SAMPLES, t);
  const live = [
    '/markets',
    '/markets/101',
    '/events',
    '/events/10',
    '/series',
    '/public-search?q=x',
  ];
  const still = ['/tags', '/tags/1', '/sampling-markets', '/sampling-simplified-markets'];
  const tagOf = async (path: string) => (await server.ask(path)).headers.get('etag')!;
  const before = new Map<string, string>();
  for (const path of [...live, ...still]) before.set(path, await tagOf(path));
  trade(server, 0, 5_000_000);
  for (const path of live) {
    const stale = await server.ask(path, `If-None-Match: ${before.get(path)}`);
    assert.equal(stale.status, 200, path);
    const tag = stale.headers.get('etag')!;
    assert.notEqual(tag, before.get(path), path);
    assert.equal((await server.ask(path, `If-None-Match: ${tag}`)).status, 304, path);
  }
  for (const path of still) {
    assert.equal((await server.ask(path, `If-None-Match: ${before.get(path)}`)).status, 304, path);
  }
  const tag = await tagOf('/markets');
  trade(server, 0, 5_000_000);
  assert.equal(await tagOf('/markets'), tag, 'the same again is no change');
  server.replace(SAMPLES);
  assert.notEqual(await tagOf('/markets'), before.get('/markets'), 'nor that of another start');
  assert.equal(await tagOf('/tags'), before.get('/tags'));
});

test('compressed answers show the statistics of their entity tag', async (t) => {
  const markets = Array.from({ length: 20 }, (_, i) => market(i + 1));
  const server = await serveCatalog({ events: [event(1, { markets })] }, t);
  const paths = ['/markets?order=volume', '/events/1', '/tags'];
  for (let volume = 1; volume < 6; volume++) {
    trade(server, volume, volume * 1_000_000);
    for (const path of paths) {
      const plain = await server.ask(path);
      // The second is remembered.
      for (let time = 0; time < 2; time++) {
        const answer = await server.ask(path, GZIP);
        assert.equal(textOf(answer), String(plain.body), path);
        assert.equal(answer.headers.get('etag'), plain.headers.get('etag'), path);
      }
    }
    const [first] = (await server.json('/markets?order=volume', GZIP)) as { volume: string }[];
    assert.equal(first?.volume, String(volume));
  }
});

test('one entity tag means one answer after any changes, compressed or not', (t) =>
  seeded(async (random, seed) => {
    const json = oddCatalog(seed, 60);
    const catalog = readNaive(json);
    const server = await serveCatalog(json, t);
    const columns = ['volume', 'liquidity', 'bestBid', 'outcomePrices', 'endDate'];
    const paths = [
      ...columns.map((column) => `/markets?limit=30&order=${column}`),
      ...['/events?order=volume', '/series', '/tags', '/sampling-markets', '/events?limit=20'],
      `/events/${random.pick(catalog.events).id}`,
    ];
    const answers = new Map<string, string>();
    let fresh = 0;
    for (let step = 0; step < rounds(400); step++) {
      if (random.chance(15)) {
        giveStatistics(server.statistics(), catalog, drawStatistics(random, catalog, new Map()));
      }
      const path = random.pick(paths);
      const answer = await server.ask(path, random.chance(50) ? GZIP : 'Accept: */*');
      const key = `${path} ${answer.headers.get('etag')}`;
      const text = textOf(answer);
      if (!answers.has(key)) fresh += 1;
      else assert(answers.get(key) === text, `${path} changed under its tag`);
      answers.set(key, text);
    }
    assert(fresh < rounds(400), 'some requests were repeated');
  }));

test('an answer has no tag when statistics change while rows are sorted by several columns', async (t) => {
  const server = await serveCatalog(SAMPLES, t, async () => {
    return foundRows([0, 1]);
  });
  for (const [path, kind] of [
    ['/markets?order=volume,liquidity,question', 'markets'],
    ['/events/keyset?order=volume,liquidity,title', 'events'],
    ['/public-search?q=wheat&sort=volume,liquidity,title', 'events'],
  ] as const) {
    const early = await server.ask(path);
    assert(early.headers.get('etag') !== null, path);
    const statistics = server.statistics();
    const columnOf = statistics.column.bind(statistics);
    const volume = 7_000_000 + columnOf(kind, 'volume').values[0]!;
    // The first column is read by the sort, which then gives way.
    statistics.column = (of, name) => {
      statistics.column = columnOf;
      setImmediate(() => trade(server, 0, volume));
      return columnOf(of, name);
    };
    const answer = await server.ask(path);
    assert.deepEqual([answer.status, answer.headers.get('etag') ?? null], [200, null], path);
    assert(textOf(answer).includes(`"volume":"${volume / 1e6}"`) || kind === 'events', path);
    const late = await server.ask(path);
    assert.notEqual(late.headers.get('etag'), early.headers.get('etag'), path);
    assert.equal(textOf(await server.ask(path)), textOf(late), path);
  }
});

test('a search that waited shows the statistics of the tag that it carries', async (t) => {
  let find = (): void => undefined;
  const found = new Promise<void>((resolve) => {
    find = resolve;
  });
  const server = await serveCatalog(SAMPLES, t, async () => {
    await found;
    return foundRows([0]);
  });
  const early = await server.ask('/markets?limit=1');
  const pending = server.ask('/public-search?q=wheat');
  await server.ask('/time-passes');
  trade(server, 0, 7_000_000);
  find();
  const answer = await pending;
  const late = await server.ask('/markets?limit=1');
  assert.equal(JSON.parse(String(answer.body)).events[0].volume, 7);
  assert.equal(answer.headers.get('etag'), late.headers.get('etag'));
  assert.notEqual(answer.headers.get('etag'), early.headers.get('etag'));
});

test('the largest and the finest statistics fit into their fields', () => {
  for (const outcomes of [0, 1, 2, 7, 64, 65]) {
    const labels = Array.from({ length: outcomes }, (_, i) => `outcome ${i}`);
    const markets = [market(1, { outcomes: labels }), market(2)];
    const prepared = prepareCatalog(readWhole({ events: [event(1, { markets })] }));
    const statistics = new CatalogStatistics(prepared);
    const shown = outcomes > 64 ? 0 : outcomes;
    assert.equal(prepared.markets.outcomes[0], shown);
    const prices = new Array<number>(shown).fill(999_950);
    const most = { volume: AMOUNT_MAX, volumeDay: AMOUNT_MAX, liquidity: AMOUNT_MAX };
    statistics.setMarket(0, {
      ...most,
      bestBid: 123_400,
      bestAsk: 999_900,
      lastTrade: 99_900,
      prices,
    });
    statistics.setMarket(1, {
      ...most,
      bestBid: 1_000,
      bestAsk: 2_000,
      lastTrade: 0,
      prices: [1, 2],
    });
    statistics.publish();
    const { bytes } = prepared;
    const object = (objects: { coreStart: Uint32Array; coreEnd: Uint32Array }) =>
      `${Buffer.from(bytes).toString('utf8', objects.coreStart[0]!, objects.coreEnd[0]!)}}`;
    const served = JSON.parse(object(prepared.markets));
    assert.equal(served.volume, '9007199254.740991');
    assert.equal(served.lastTradePrice, 0.0999);
    assert.deepEqual(
      JSON.parse(served.outcomePrices),
      prices.map(() => '0.99995'),
    );
    const { volume, liquidity } = JSON.parse(object(prepared.events));
    assert.deepEqual([volume, liquidity], [AMOUNT_MAX / 1e6, AMOUNT_MAX / 1e6], 'no sum is more');
  }
});

test('rows are sorted by whole numbers of any size, equal ones in order of row', () => {
  withSeed((random) => {
    const total = random.between(0, 2_000);
    const sorter = new NumberSorter(total);
    for (let round = 0; round < 6; round++) {
      const bits = random.pick([1, 10, 11, 12, 22, 32, 33, 43, 53]);
      const numbers = Float64Array.from({ length: total }, () =>
        random.chance(20) ? 0 : Math.floor((random.next() / 2 ** 32) * 2 ** bits),
      );
      const order = {
        rows: new Uint32Array(total),
        places: new Uint32Array(total),
        firsts: new Uint8Array(total),
        values: numbers,
        present: total,
      };
      sorter.sort(numbers, order);
      const expected = [...numbers.keys()].sort((a, b) => numbers[a]! - numbers[b]! || a - b);
      assert.deepEqual([...order.rows], expected);
      for (const [place, row] of expected.entries()) {
        assert.equal(order.places[row], place);
        const isFirst = place === 0 || numbers[row] !== numbers[expected[place - 1]!];
        assert.equal(order.firsts[place], isFirst ? 1 : 0);
      }
    }
  });
});
