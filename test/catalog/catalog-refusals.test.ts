import assert from 'node:assert/strict';
import test from 'node:test';
import { event, market, SAMPLES } from './catalog-samples.ts';
import {
  badRequest,
  expectRefusal,
  ID_UNKNOWN,
  SLUG_UNKNOWN,
  serveCatalog,
} from './catalog-server.ts';

test('an unknown id or slug is not found', async (t) => {
  const server = await serveCatalog(SAMPLES, t);
  const missing = ['999', '99999999999999999999999999', 'abc', '0x12', `0x${'0'.repeat(64)}`, '-1'];
  for (const id of [...missing, '101%00', '%', '1e2', 'slug']) {
    await expectRefusal(server, `/markets/${id}`, 404, ID_UNKNOWN);
  }
  for (const kind of ['events', 'tags']) {
    for (const id of ['999', '99999999999999999999999999']) {
      await expectRefusal(server, `/${kind}/${id}`, 404, ID_UNKNOWN);
    }
  }
  for (const kind of ['markets', 'events', 'tags']) {
    for (const slug of ['nothing', 'wheat', 'HARVEST', 'world', 'rail+yard', '%', '%20']) {
      await expectRefusal(server, `/${kind}/slug/${slug}`, 404, SLUG_UNKNOWN);
    }
  }
  // An object without a slug isn't found by what is no text.
  server.replace({ events: [event(1, { slug: '', markets: [market(2, { slug: null })] })] });
  await expectRefusal(server, '/markets/slug/%', 404, SLUG_UNKNOWN);
  await expectRefusal(server, '/events/slug/%ff', 404, SLUG_UNKNOWN);
});

test('an id of an event or a tag that is no whole number is a bad request', async (t) => {
  const server = await serveCatalog(SAMPLES, t);
  for (const kind of ['events', 'tags']) {
    for (const id of ['abc', '1.0', '-1', '0x10', '10a', '%', 'slug', '%20']) {
      await expectRefusal(server, `/${kind}/${id}`, 400, badRequest('id must be a whole number'));
    }
  }
});

test('bad parameters are refused on every route, with the parameter and its rule', async (t) => {
  const server = await serveCatalog(SAMPLES, t);
  const limit = badRequest('limit must be a whole number from 1 to 500');
  const offset = badRequest('offset must be a whole number from 0 to 9007199254740991');
  for (const path of ['/markets', '/events', '/series', '/tags']) {
    for (const value of ['0', '501', '-1', 'x', '']) {
      await expectRefusal(server, `${path}?limit=${value}`, 400, limit);
    }
    await expectRefusal(server, `${path}?offset=-1`, 400, offset);
  }
  const creator = badRequest('creator is given more than once, with different values');
  for (const path of ['/markets/101', '/events/slug/harvest', '/tags/1', '/series']) {
    await expectRefusal(server, `${path}?creator=a&creator=b`, 400, creator);
  }
  const column = JSON.parse(String((await server.ask('/events?order=nothing')).body));
  assert.match(column.detail, /^order must be up to 3 of id, ticker, slug, title, .*, liquidity$/);
});

test('a caller that has the answer gets 304 until the catalog changes', async (t) => {
  const server = await serveCatalog(SAMPLES, t);
  const paths = ['/markets?limit=1', '/markets/101', '/events/10', '/tags', '/sampling-markets'];
  for (const path of [...paths, '/public-search?q=x']) {
    const etag = (await server.ask(path)).headers.get('etag')!;
    assert.match(etag, /^W\/"[^",]+"$/);
    const strong = etag.slice(2);
    const fresh = await server.ask(path, 'If-None-Match: W/"other", "old"');
    assert.equal(fresh.status, 200);
    assert.equal(fresh.headers.get('vary'), 'Accept-Encoding');
    for (const known of [etag, strong, '*', `W/"other" , ${etag}`, `"x",${strong}`]) {
      const same = await server.ask(path, `If-None-Match: ${known}`);
      assert.equal(same.status, 304, `${path} ${known}`);
      assert.equal(same.body.length, 0);
      assert.equal(same.headers.get('etag'), etag);
      assert.equal(same.headers.get('vary'), 'Accept-Encoding');
    }
  }
  const etag = (await server.ask('/markets')).headers.get('etag')!;
  // What would not be answered with 200 is not unchanged.
  assert.equal((await server.ask('/markets?limit=0', 'If-None-Match: *')).status, 400);
  assert.equal((await server.ask('/markets/999', `If-None-Match: ${etag}`)).status, 404);

  server.replace({ tags: [], series: [], events: [event(1, { markets: [market(7)] })] });
  const changed = await server.ask('/markets', `If-None-Match: ${etag}`);
  assert.equal(changed.status, 200);
  assert.equal(JSON.parse(String(changed.body))[0].id, '7');
  assert.notEqual(changed.headers.get('etag'), etag);
});
