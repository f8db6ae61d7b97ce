/**
 * GET /public-search over real sockets: parameters and the shape of answers. The search returns
 * rows that the test sets.
 */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { gate } from '../common/http-client.ts';
import { event, SAMPLES, WALLET_A, WALLET_B } from './catalog-samples.ts';
import { foundRows, serveCatalog } from './catalog-server.ts';

type Json = Record<string, unknown>;

interface Found {
  readonly events: Json[];
  readonly tags: Json[];
  readonly pagination: Json;
}

/**
 * Serves found rows, which are in ascending order of id: events 10, 20, 30, 40 and tags 1, 2, 3, 4.
 */
async function serveFound(context: TestContext, events: number[], tags: number[]) {
  const queries: string[] = [];
  const server = await serveCatalog(SAMPLES, context, async (q) => {
    queries.push(q);
    return foundRows(events, tags);
  });
  const found = async (query: string) => (await server.json(`/public-search?${query}`)) as Found;
  return { server, queries, found };
}

function idsOf(objects: readonly Json[]): string {
  return objects.map(({ id }) => id).join(' ');
}

test('a search answers events with tags and tags with counts, as they were ranked', async (t) => {
  const { server, queries, found } = await serveFound(t, [1, 3, 0], [1, 3]);
  const answer = await found('q=Snow+in+%C3%85lesund%20');
  assert.deepEqual(queries, ['Snow in Ålesund ']);
  assert.deepEqual(Object.keys(answer), ['events', 'tags', 'pagination']);
  assert.equal(idsOf(answer.events), '20 40 10');
  const listed = (await server.json('/events')) as Json[];
  assert.deepEqual(answer.events[1], listed[0]);
  assert.deepEqual(answer.tags, [
    { id: '2', label: 'Tag 2', slug: 'World', event_count: 1 },
    { id: '4', label: 'Tag 4', slug: 'unused', event_count: 0 },
  ]);
  assert.deepEqual(answer.pagination, { hasMore: false, totalResults: 3 });
});

test('a search without a match answers empty lists', async (t) => {
  const { server } = await serveFound(t, [], []);
  assert.equal(
    String((await server.ask('/public-search?q=nothing')).body),
    '{"events":[],"tags":[],"pagination":{"hasMore":false,"totalResults":0}}',
  );
});

test('a search without words is refused', async (t) => {
  const { server, queries } = await serveFound(t, [0], [0]);
  for (const query of ['', 'q', 'q=', 'q=+', 'q=%20%09', 'Q=a', 'q=&limit_per_type=3']) {
    const answer = await server.ask(`/public-search?${query}`);
    assert.equal(answer.status, 400);
    assert.equal(
      String(answer.body),
      '{"type":"bad request","error":"q is required","detail":"q must not be blank","code":"BAD_REQUEST"}',
    );
  }
  const bad = {
    'q=%': 'q must be percent-encoded UTF-8',
    'q=a&q=b': 'q is given more than once, with different values',
    'q=a&page=0': 'page must be a whole number from 1 to 9007199254740991',
    'q=a&limit_per_type=0': 'limit_per_type must be a whole number from 1 to 500',
    'q=a&search_tags=maybe': 'search_tags must be true, false, 1 or 0',
    'q=a&search_profiles=': 'search_profiles must be true, false, 1 or 0',
  };
  for (const [query, detail] of Object.entries(bad)) {
    const answer = await server.ask(`/public-search?${query}`);
    assert.equal(answer.status, 400);
    assert.equal(JSON.parse(String(answer.body)).detail, detail);
  }
  assert.deepEqual(queries, []);
});

test('pages of a search have the requested number of each type, and say whether more follow', async (t) => {
  const { found } = await serveFound(t, [3, 2, 1, 0], [2, 0, 1]);
  const page = async (query: string) => {
    const { events, tags, pagination } = await found(`q=a&${query}`);
    assert.equal(pagination.totalResults, 4);
    return [idsOf(events), idsOf(tags), pagination.hasMore];
  };
  assert.deepEqual(await page(''), ['40 30 20 10', '3 1 2', false]);
  assert.deepEqual(await page('limit_per_type=3'), ['40 30 20', '3 1 2', true]);
  assert.deepEqual(await page('limit_per_type=2&page=1'), ['40 30', '3 1', true]);
  assert.deepEqual(await page('limit_per_type=2&page=2'), ['20 10', '2', false]);
  assert.deepEqual(await page('limit_per_type=4'), ['40 30 20 10', '3 1 2', false]);
  assert.deepEqual(await page('page=2'), ['', '', false]);
  assert.deepEqual(await page('page=9007199254740991&limit_per_type=500'), ['', '', false]);
  assert.deepEqual(await page('search_tags=false'), ['40 30 20 10', '', false]);
  assert.deepEqual(await page('search_profiles=true'), ['40 30 20 10', '3 1 2', false]);
});

test('a creator scopes a search, its total and its counts', async (t) => {
  const { found } = await serveFound(t, [3, 2, 1, 0], [3, 2, 1, 0]);
  const scoped = async (creator: string) => {
    const { events, tags, pagination } = await found(`q=a&creator=${creator}&limit_per_type=2`);
    const counts = tags.map((tag) => `${tag.id}:${tag.event_count}`).join(' ');
    return [idsOf(events), counts, pagination.totalResults, pagination.hasMore];
  };
  assert.deepEqual(await scoped(WALLET_A), ['20 10', '3:1 2:1', 2, false]);
  assert.deepEqual(await scoped(WALLET_B), ['30 20', '3:1 2:1', 3, true]);
  assert.deepEqual(await scoped('b.example'), ['30 20', '3:1 2:1', 3, true]);
  assert.deepEqual(await scoped('unknown.example'), ['', '', 0, false]);
});

test('a search is answered from the catalog it began with', async (t) => {
  const { open, opened } = gate();
  const search = gate();
  const server = await serveCatalog(SAMPLES, t, async () => {
    search.open();
    await opened;
    return foundRows([2], [3]);
  });
  const before = (await server.ask('/events')).headers.get('etag');
  const waiting = server.ask('/public-search?q=a');
  await search.opened;
  server.replace({ events: [event(99)] });
  assert.equal((((await server.json('/events')) as Json[])[0] as Json).id, '99');
  open();
  const answer = await waiting;
  assert.equal(answer.headers.get('etag'), before);
  assert.equal(idsOf(JSON.parse(String(answer.body)).events), '30');
});

test('answers of searches that end together do not mix', async (t) => {
  const server = await serveCatalog(SAMPLES, t, async (q) => {
    await Promise.resolve();
    return foundRows([Number(q)]);
  });
  const rows = Array.from({ length: 40 }, (_, i) => i % 4);
  const answers = await Promise.all(
    rows.map((row) => server.json(`/public-search?q=${row}`) as Promise<Found>),
  );
  assert.deepEqual(
    answers.map(({ events }) => idsOf(events)),
    rows.map((row) => String(10 * (row + 1))),
  );
});

test('a search that fails is an internal error, and is logged', async (t) => {
  const server = await serveCatalog(SAMPLES, t, async () => {
    throw new Error('the thread is gone');
  });
  const answer = await server.ask('/public-search?q=a');
  assert.equal(answer.status, 500);
  assert.equal(
    String(answer.body),
    '{"type":"internal error","error":"internal error","code":"INTERNAL_ERROR"}',
  );
  assert.deepEqual(server.log, ['GET /public-search failed: the thread is gone']);
});

test('the members that some clients require are present when configured, and only then', async (t) => {
  const search = async () => foundRows([0]);
  const server = await serveCatalog(SAMPLES, t, search, true);
  const nested = async (path: string) => {
    const answer = (await server.json(path)) as Json;
    const [found] = (answer.events ?? answer) as Json[];
    return (found?.markets ?? []) as Json[];
  };
  const lastOf = (object: unknown) => Object.keys(object as Json).at(-1);
  const [market] = (await server.json('/markets?id=101')) as Json[];
  assert.equal(lastOf(market), 'marketMakerAddress');
  assert.equal(lastOf((await nested('/events?id=10'))[0]), 'marketMakerAddress');
  assert.equal(idsOf(await nested(`/events?id=10&creator=${WALLET_A}`)), '101');
  assert.equal(idsOf(await nested('/public-search?q=a')), '101 102 103');
  assert.equal(idsOf(await nested('/public-search?q=a&keep_closed_markets=0')), '101 103');
  assert.deepEqual(await nested('/public-search?q=a&events_status=closed'), []);
  const whole = (await server.json('/events/10')) as Json;
  assert.equal(lastOf((whole.markets as Json[])[0]), 'marketMakerAddress');
});
