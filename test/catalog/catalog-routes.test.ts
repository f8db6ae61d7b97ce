import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import {
  conditionOf,
  event,
  market,
  SAMPLES,
  WALLET_A,
  WALLET_B,
  WALLET_NOBODY,
} from './catalog-samples.ts';
import {
  type CatalogServer,
  expectRefusal,
  ID_UNKNOWN,
  SLUG_UNKNOWN,
  serveCatalog,
} from './catalog-server.ts';

type Json = Record<string, unknown>;

const MARKET_KEYS = [
  'id question conditionId slug resolutionSource startDate endDate image icon description',
  'outcomes clobTokenIds active closed archived createdAt updatedAt questionID',
  'negRisk orderPriceMinTickSize orderMinSize acceptingOrders enableOrderBook creator',
  'volume volumeNum volume24hr liquidity liquidityNum outcomePrices',
  'bestBid bestAsk spread lastTradePrice',
].flatMap((line) => line.split(' '));
const SUMMARY_KEYS = [
  'id ticker slug title description resolutionSource startDate creationDate endDate image icon',
  'active closed archived createdAt updatedAt volume volume24hr liquidity',
].flatMap((line) => line.split(' '));
const SERIES_KEYS =
  'id ticker slug title seriesType recurrence image icon active closed archived createdAt updatedAt';

const serveSamples = (context: TestContext) => serveCatalog(SAMPLES, context);

async function listOf(server: CatalogServer, path: string): Promise<Json[]> {
  return (await server.json(path)) as Json[];
}

async function ids(server: CatalogServer, path: string): Promise<string> {
  return idsOf(await listOf(server, path));
}

function idsOf(objects: unknown): string {
  return (objects as Json[]).map(({ id }) => id).join(' ');
}

async function expectIds(server: CatalogServer, expected: Readonly<Record<string, string>>) {
  for (const [path, wanted] of Object.entries(expected)) {
    assert.equal(await ids(server, path), wanted, path);
  }
}

test('objects have the fields of the protocol, in its order', async (t) => {
  const server = await serveSamples(t);
  const marketInList = (await listOf(server, '/markets'))[0]!;
  assert.deepEqual(Object.keys(marketInList), [...MARKET_KEYS, 'events']);
  assert.deepEqual(marketInList.events, [
    { id: '30', ticker: 'ticker-30', slug: 'regatta', title: 'Event 30' },
  ]);

  const single = (await server.json('/markets/201')) as Json;
  assert.deepEqual(Object.keys(single), [...MARKET_KEYS, 'events']);
  const [summary, ...others] = single.events as Json[];
  assert.deepEqual(Object.keys(summary!), SUMMARY_KEYS);
  assert.deepEqual([summary!.id, others.length], ['20', 0]);
  assert.deepEqual(
    [single.endDate, single.negRisk, single.creator, single.questionID, summary!.endDate],
    [null, true, WALLET_A.toLowerCase(), '', null],
  );

  const eventInList = (await listOf(server, '/events?slug=harvest'))[0]!;
  assert.deepEqual(Object.keys(eventInList), [...SUMMARY_KEYS, 'tags']);
  assert.equal(idsOf(eventInList.tags), '1 2');

  const whole = (await server.json('/events/10')) as Json;
  const nested = ['tags', 'markets', 'series', 'eventMetadata'];
  assert.deepEqual(Object.keys(whole), [...SUMMARY_KEYS, ...nested]);
  assert.equal(idsOf(whole.markets), '101 102 103');
  assert.deepEqual(Object.keys((whole.markets as Json[])[0]!), MARKET_KEYS);
  assert.deepEqual(Object.keys((whole.series as Json[])[0]!), SERIES_KEYS.split(' '));
  assert.deepEqual(whole.eventMetadata, { context_description: 'rain' });

  const bare = (await server.json('/events/40')) as Json;
  const lists = { tags: [], markets: [], series: [], eventMetadata: {} };
  assert.deepEqual({ ...bare, ...lists }, bare);

  const series = await listOf(server, '/series');
  assert.deepEqual(Object.keys(series[0]!), [...SERIES_KEYS.split(' '), 'events']);
  assert.equal(idsOf(series[0]!.events), '10 20');
  assert.deepEqual(Object.keys((series[0]!.events as Json[])[1]!), SUMMARY_KEYS);

  const tagKeys = ['id', 'label', 'slug', 'createdAt', 'updatedAt', 'requiresTranslation'];
  assert.deepEqual(Object.keys((await listOf(server, '/tags'))[0]!), tagKeys);
  assert.deepEqual(await server.json('/tags/1'), (eventInList.tags as Json[])[0]);
});

test('single objects are found by id, condition id in any case, and slug', async (t) => {
  const server = await serveSamples(t);
  const id = async (path: string) => ((await server.json(path)) as Json).id;
  const condition = conditionOf(102);
  assert.equal(await id('/markets/102'), '102');
  assert.equal(await id(`/markets/${condition}`), '102');
  assert.equal(await id(`/markets/0x${condition.slice(2).toUpperCase()}`), '102');
  assert.equal(await id('/markets/slug/Wheat'), '101');
  assert.equal(await id('/markets/slug/rail%20yard'), '202');
  assert.equal(await id('/events/30'), '30');
  assert.equal(await id('/events/slug/harvest'), '10');
  assert.equal(await id('/tags/4'), '4');
  assert.equal(await id('/tags/slug/farming'), '1');
  // Two with one slug: the newest, which is the first of the list too.
  assert.equal(await id('/events/slug/snow'), '40');
  assert.equal(await id('/tags/slug/World'), '3');
});

test('each filter of the market list selects what matches', async (t) => {
  const server = await serveSamples(t);
  await expectIds(server, {
    '/markets': '301 202 201 103 102 101',
    '/markets?active=true': '301 201 103 101',
    '/markets?active=0': '202 102',
    '/markets?closed=1': '102',
    '/markets?closed=false': '301 202 201 103 101',
    '/markets?archived=true': '301',
    '/markets?archived=false': '202 201 103 102 101',
    '/markets?active=true&closed=false&archived=false': '201 103 101',
    '/markets?tag=farming': '103 102 101',
    '/markets?tag_slug=farming': '103 102 101',
    '/markets?tag=World': '202 201 103 102 101',
    '/markets?tag=world': '',
    '/markets?tag_id=2': '103 102 101',
    '/markets?tag_id=3': '202 201',
    '/markets?tag_id=4': '',
    '/markets?tag_id=99': '',
    '/markets?tag_id=3&tag=World': '202 201',
    '/markets?tag_id=3&tag=farming': '',
    '/markets?event_id=20': '202 201',
    '/markets?event_id=40': '',
    '/markets?event_id=99': '',
    '/markets?event_slug=harvest': '103 102 101',
    '/markets?eventSlug=snow': '202 201',
    '/markets?event_slug=nothing': '',
    '/markets?event_slug=harvest&event_id=20': '',
    '/markets?slug=Wheat': '101',
    '/markets?slug=wheat': '',
    '/markets?slug=rail+yard': '202',
    '/markets?slug=Wheat&event_id=10&tag=farming&active=true': '101',
    '/markets?slug=Wheat&event_id=20': '',
    '/markets?slug=Wheat&closed=true': '',
    [`/markets?conditionId=${conditionOf(202).toUpperCase()}`]: '202',
    [`/markets?condition_id=${conditionOf(202)}&slug=Wheat`]: '',
    '/markets?conditionId=0x': '',
    '/markets?conditionId=101': '',
    [`/markets?condition_ids=${conditionOf(202)},${conditionOf(101).toUpperCase()}`]: '202 101',
    '/markets?clob_token_ids=1022&clob_token_ids=2011,7': '201 102',
    '/markets?id=103&id=101&id=99': '103 101',
    '/markets?slug=Wheat&slug=rail+yard': '202 101',
    '/markets?tag_id=1&tag_id=3&active=false': '202 102',
    '/markets?series_id=2&series_id=1&closed=true': '102',
    '/markets?end_date_max=2026-03-01T00:00:00.5Z': '103',
    '/markets?neg_risk=true&volume_num_min=0&order_min_size_max=5': '202 201',
    '/markets?volume_min=0.000001': '',
    '/markets?order=closed,+question&ascending=1': '202 301 103 101 201 102',
  });
});

test('each filter of the event list selects what matches', async (t) => {
  const server = await serveSamples(t);
  await expectIds(server, {
    '/events': '40 30 20 10',
    '/events?active=false': '40',
    '/events?closed=true': '30',
    '/events?archived=0&closed=0': '20 10',
    '/events?tag=farming': '10',
    '/events?tag_slug=World': '20 10',
    '/events?tag_id=1': '10',
    '/events?tag_id=1&tag=World': '10',
    '/events?tag_id=1&tag_slug=unused': '',
    '/events?series_slug=crops': '20 10',
    '/events?series_slug=crops&tag_id=3': '20',
    '/events?series_slug=Crops': '',
    '/events?slug=snow': '40 20',
    '/events?slug=snow&series_slug=crops': '20',
    '/events?slug=snow&archived=true': '40',
    '/events?event_id=10': '40 30 20 10',
    '/events?id=10,40&id=30': '40 30 10',
    '/events?slug[]=harvest&slug[]=snow': '40 20 10',
    '/events?exclude_tag_id=3': '40 30 10',
    '/events?exclude_tag_id[]=3&exclude_tag_id[]=1': '40 30',
    '/events?series_id=2': '30',
    '/events?end_date_min=2026-06-01': '40 30 10',
    '/events?end_date_max=2026-05-31T23:59:59Z': '',
  });
});

test('a tag of most events filters like a tag of few', async (t) => {
  // Enough rows that the few are sorted and the many are gone through.
  const tagged = (id: number) => id % 40 === 0;
  const tags = [
    { id: '1', slug: 'many' },
    { id: '2', slug: 'few' },
  ];
  const events = Array.from({ length: 400 }, (_, i) =>
    event(i + 1, {
      slug: i % 2 === 0 ? 'even' : 'odd',
      tags: tagged(i) ? tags : tags.slice(0, i % 3 === 0 ? 0 : 1),
      markets: [market(1000 - i, { active: i % 5 !== 0 })],
    }),
  );
  const server = await serveCatalog({ tags, series: [], events }, t);
  const numbers = Array.from({ length: 400 }, (_, i) => i);
  const many = numbers.filter((i) => tagged(i) || i % 3 !== 0);
  const few = numbers.filter(tagged);
  const join = (list: readonly number[]) => list.join(' ');
  await expectIds(server, {
    '/events?tag=many&limit=500': join(many.map((i) => i + 1).reverse()),
    '/events?tag=many&limit=3&offset=100&ascending=1': join(many.map((i) => i + 1).slice(100, 103)),
    '/events?tag=few': join(few.map((i) => i + 1).reverse()),
    '/events?tag=few&tag_id=1': join(few.map((i) => i + 1).reverse()),
    '/markets?tag=many&limit=500': join(many.map((i) => 1000 - i)),
    '/markets?tag=many&ascending=true&limit=5': join(
      many
        .map((i) => 1000 - i)
        .reverse()
        .slice(0, 5),
    ),
    '/markets?tag=few': join(few.map((i) => 1000 - i)),
    '/markets?tag=few&active=true': '',
    '/markets?tag=few&offset=2&limit=2': join(few.slice(2, 4).map((i) => 1000 - i)),
    '/markets?event_slug=odd&active=0': join(
      numbers.filter((i) => i % 2 === 1 && i % 5 === 0).map((i) => 1000 - i),
    ),
  });
});

test('lists are sorted by any scalar, absent values last, ties by id in the same direction', async (t) => {
  const server = await serveSamples(t);
  await expectIds(server, {
    '/markets?ascending=true': '101 102 103 201 202 301',
    '/markets?order=id': '301 202 201 103 102 101',
    // Upper case first, then lower case, then beyond ASCII; an empty text is the least value.
    '/markets?order=question&ascending=1': '202 102 301 103 101 201',
    '/markets?order=question': '201 101 103 301 102 202',
    '/markets?order=endDate&ascending=1': '103 101 102 202 301 201',
    '/markets?order=end_date': '301 202 102 101 103 201',
    '/markets?order=active&ascending=true': '102 202 101 103 201 301',
    '/markets?order=active': '301 201 103 101 202 102',
    '/markets?order=negRisk&limit=2': '202 201',
    '/markets?order=creator&ascending=1': '103 101 201 102 202 301',
    '/markets?order=endDate&ascending=1&tag=World&active=true': '103 101 201',
    '/markets?order=endDate&tag_id=3': '202 201',
    '/events?order=title&ascending=1': '20 30 40 10',
    '/events?order=endDate': '40 30 10 20',
    '/events?order=endDate&ascending=1': '10 30 40 20',
    '/events?order=creation_date': '40 30 20 10',
    '/events?slug=snow&order=title': '40 20',
    '/events?slug=snow&order=title&ascending=1': '20 40',
  });
});

test('pages are adjacent, and a page past the end is empty', async (t) => {
  const server = await serveSamples(t);
  for (const path of ['/markets?order=question&', '/events?active=true&', '/series?', '/tags?']) {
    const whole = await ids(server, path);
    for (const limit of [1, 2, 4]) {
      const pages: string[] = [];
      for (let offset = 0; offset < 8; offset += limit) {
        pages.push(await ids(server, `${path}limit=${limit}&offset=${offset}`));
      }
      assert.equal(pages.filter((page) => page !== '').join(' '), whole, path);
    }
    for (const offset of ['1000', '4294967296', '9007199254740991']) {
      assert.equal(await ids(server, `${path}offset=${offset}`), '', path);
    }
  }
});

test('series and tags are listed by ascending id', async (t) => {
  const server = await serveSamples(t);
  await expectIds(server, {
    '/series': '1 2',
    '/tags': '1 2 3 4',
    '/tags?limit=2&offset=1': '2 3',
    '/tags?ascending=false&order=label': '1 2 3 4',
  });
});

test('a creator scopes lists, nested objects and single objects alike', async (t) => {
  const server = await serveSamples(t);
  const a = `creator=${WALLET_A}`;
  const b = `creator=${WALLET_B.toUpperCase().replace('0X', '0x')}`;
  await expectIds(server, {
    [`/markets?${a}`]: '201 101',
    [`/markets?${b}`]: '301 202 102',
    '/markets?creator=b.example': '301 202 102',
    '/markets?creator=%20HTTP%3A%2F%2FMarket.example.%2Fpath': '301 202 201 102 101',
    [`/markets?${b}&tag=World&ascending=true`]: '102 202',
    [`/markets?${b}&offset=1&limit=1`]: '202',
    [`/markets?slug=Wheat&${b}`]: '',
    '/markets?creator=': '301 202 201 103 102 101',
    [`/events?${a}`]: '20 10',
    [`/events?${b}`]: '30 20 10',
    [`/events?slug=snow&${a}`]: '20',
    [`/series?${a}`]: '1',
    [`/series?${b}`]: '1 2',
    [`/tags?${a}`]: '1 2 3',
    '/tags?creator=b.example&offset=2': '3',
  });
  const harvest = (await server.json(`/events/10?${b}`)) as Json;
  assert.equal(idsOf(harvest.markets), '102');
  assert.equal(idsOf(harvest.tags), '1 2');
  const [crops] = await listOf(server, '/series?creator=market.example');
  assert.equal(idsOf(crops!.events), '10 20');
  assert.equal(((await server.json(`/markets/101?${a}`)) as Json).id, '101');
  // Of two with one slug, the one that the creator has.
  assert.equal(((await server.json(`/events/slug/snow?${a}`)) as Json).id, '20');
  assert.equal(((await server.json(`/tags/slug/World?${a}`)) as Json).id, '3');
  for (const path of ['/markets/101', `/markets/${conditionOf(101)}`, '/events/40', '/tags/4']) {
    await expectRefusal(server, `${path}?${b}`, 404, ID_UNKNOWN);
  }
  for (const path of ['/markets/slug/Wheat', '/events/slug/nothing', '/tags/slug/unused']) {
    await expectRefusal(server, `${path}?${b}`, 404, SLUG_UNKNOWN);
  }
});

test('an unknown creator has no objects, also one with an invalid name', async (t) => {
  const server = await serveSamples(t);
  for (const creator of [WALLET_NOBODY, 'other.example', 'empty.example', '0x', '%20', '/', '.']) {
    for (const path of ['/markets', '/events', '/series', '/tags']) {
      assert.equal(await ids(server, `${path}?creator=${creator}`), '', creator);
    }
    await expectRefusal(server, `/markets/101?creator=${creator}`, 404, ID_UNKNOWN);
    await expectRefusal(server, `/events/10?creator=${creator}`, 404, ID_UNKNOWN);
    await expectRefusal(server, `/tags/slug/farming?creator=${creator}`, 404, SLUG_UNKNOWN);
  }
});

test('a catalog without objects answers empty lists', async (t) => {
  const server = await serveCatalog({ tags: [], series: [], events: [] }, t);
  const filters = ['', '?tag=a', '?order=id', '?creator=a', '?slug=a&tag_id=1&event_id=2'];
  for (const path of ['/markets', '/events', '/series', '/tags']) {
    for (const filter of filters) assert.deepEqual(await server.json(`${path}${filter}`), []);
  }
  await expectRefusal(server, '/markets/1', 404, ID_UNKNOWN);
});

test('markets and events have a route for their tags', async (t) => {
  const server = await serveSamples(t);
  await expectIds(server, {
    '/markets/101/tags': '1 2',
    '/events/20/tags': '3',
    '/events/40/tags': '',
  });
  const [first] = await listOf(server, '/markets?include_tag=true&id=101');
  assert.deepEqual(Object.keys(first!), [...MARKET_KEYS, 'events', 'tags']);
  assert.equal(idsOf(((await server.json('/markets/101?include_tag=1')) as Json).tags), '1 2');
  await expectRefusal(server, '/events/99/tags', 404, ID_UNKNOWN);
  assert.equal(idsOf(((await server.json('/series/1')) as Json).events), '10 20');
});

test('a tag is related to those that it shares most of its events with', async (t) => {
  const server = await serveSamples(t);
  // Of the events of World half, of those of farming all are one.
  const related = [{ id: '1-2', tagID: 1, relatedTagID: 2, rank: 1 }];
  assert.deepEqual(await server.json('/tags/1/related-tags'), related);
  assert.deepEqual(await server.json('/tags/slug/farming/related-tags'), related);
  await expectIds(server, {
    '/tags/1/related-tags/tags': '2',
    '/tags/slug/unused/related-tags/tags': '',
    '/events?tag_id=1&related_tags=true': '10',
    '/events?tag_id=3&related_tags=true': '20',
  });
});

test('ignored parameters are named in a header, also when the answer is compressed', async (t) => {
  const server = await serveSamples(t);
  const ignoredHeader = async (path: string, ...headers: string[]) => {
    return (await server.ask(path, ...headers)).headers.get('x-ignored-parameters');
  };
  assert.equal(await ignoredHeader('/markets?id=101&limit=2'), undefined);
  assert.equal(await ignoredHeader('/markets?featured=true&cyom=1&id=101'), 'featured, cyom');
  assert.equal(await ignoredHeader('/tags/1?locale=de'), 'locale');
  assert.equal(await ignoredHeader('/sampling-markets?limit=5'), 'limit');
  assert.equal(await ignoredHeader('/public-search?q=a&cache=1'), 'cache');
  const gzip = 'Accept-Encoding: gzip';
  for (let round = 0; round < 3; round++)
    assert.equal(await ignoredHeader('/markets?x=1', gzip), 'x');
  const { headers } = await server.ask('/markets');
  assert.equal(await ignoredHeader('/markets?x=1', `If-None-Match: ${headers.get('etag')}`), 'x');
});
