import assert from 'node:assert/strict';
import test from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gunzipSync } from 'node:zlib';
import { acceptsGzip, CompressedAnswers } from '../../server/catalog/compressed.ts';
import { until } from '../common/node-harness.ts';
import { event, market, SAMPLES } from './catalog-samples.ts';
import { foundRows, serveCatalog, textOf } from './catalog-server.ts';

const GZIP = 'Accept-Encoding: gzip, deflate, br';
const LARGE = Buffer.from('{"text":"'.padEnd(4096, 'large ').concat('"}'));

/** Bytes that gzip cannot make smaller, so that sizes are known. */
function noise(seed: number, length: number): Buffer {
  let state = seed;
  return Buffer.from(
    Uint8Array.from({ length }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state >>> 24;
    }),
  );
}

test('gzip is sent to a caller that gives it a weight above 0 and not below plain bytes', () => {
  const taken = [
    'gzip',
    'GZip',
    'x-gzip',
    'deflate, gzip',
    'br;q=1.0, gzip;q=0.8, *;q=0.1',
    'gzip;q=0.001',
    'gzip ; q=1',
    'gzip; Q=0.5',
    '*',
    '*;q=0.5, br',
    'gzip, identity',
    'gzip;q=0.5, identity;q=0.5',
    'identity;q=0, gzip;q=0.1',
    'gzip;q=0, x-gzip',
    ',gzip,',
  ];
  const refused = [
    '',
    ' ',
    'identity',
    'br, deflate',
    'gzip;q=0',
    'gzip;q=0.0',
    'gzip;q=0, *',
    '*;q=0',
    'gzipped',
    'gzip;q=x',
    'gzip;q=',
    'gzip;q=-1',
    'gzip;q=2',
    'gzip;q=0.5, identity',
    'identity;q=1, *;q=0.5',
  ];
  for (const value of taken) assert(acceptsGzip(value), value);
  for (const value of refused) assert(!acceptsGzip(value), value);
});

test('a compressed answer says so and is the same answer', async (t) => {
  const series = [{ id: '1', slug: 'all' }];
  const events = Array.from({ length: 9 }, (_, i) =>
    event(i + 1, { series, markets: [market(2 * i), market(2 * i + 1), market(100 + i)] }),
  );
  const server = await serveCatalog({ events }, t);
  const paths = ['/markets', '/events', '/events/7', '/series', '/sampling-markets'];
  for (const path of [...paths, '/markets?order=question&limit=5']) {
    const plain = await server.ask(path, 'Accept-Encoding: identity');
    assert.equal(plain.headers.get('content-encoding'), undefined);
    assert(plain.body.length >= 2048, `${path} is large enough`);
    // The first is made for this request, the second remembered.
    for (let time = 0; time < 2; time++) {
      const answer = await server.ask(path, GZIP);
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get('content-encoding'), 'gzip', path);
      assert.equal(answer.headers.get('vary'), 'Accept-Encoding');
      assert.equal(answer.headers.get('etag'), plain.headers.get('etag'));
      assert.equal(answer.headers.get('content-type'), 'application/json');
      assert(answer.body.length < plain.body.length);
      assert.deepEqual(gunzipSync(answer.body), plain.body);
    }
    assert.deepEqual((await server.ask(path)).body, plain.body);
  }
});

test('small answers and refusals are not compressed', async (t) => {
  const server = await serveCatalog(SAMPLES, t);
  for (const path of ['/tags/1', '/markets?slug=none', '/markets?limit=0', '/markets/999']) {
    for (let time = 0; time < 2; time++) {
      const answer = await server.ask(path, GZIP);
      assert.equal(answer.headers.get('content-encoding'), undefined);
      JSON.parse(String(answer.body));
    }
  }
});

test('a caller that has a compressed answer gets 304 while it is unchanged', async (t) => {
  const server = await serveCatalog(SAMPLES, t);
  const etag = (await server.ask('/markets', GZIP)).headers.get('etag')!;
  const same = await server.ask('/markets', GZIP, `If-None-Match: ${etag}`);
  assert.equal(same.status, 304);
  assert.equal(same.body.length, 0);
});

test('concurrent callers each get the whole answer, compressed or not', async (t) => {
  const markets = Array.from({ length: 600 }, (_, i) => market(i + 1));
  const server = await serveCatalog({ events: [event(1, { markets })] }, t);
  const whole = JSON.parse(textOf(await server.ask('/markets?limit=500'))) as { id: string }[];
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, i) => server.ask(`/markets?limit=${440 + (i % 20)}`, GZIP)),
  );
  for (const [i, answer] of answers.entries()) {
    assert.deepEqual(JSON.parse(textOf(answer)), whole.slice(0, 440 + (i % 20)));
  }
  assert(answers.some((answer) => answer.headers.get('content-encoding') === 'gzip'));
});

test('no answer of an earlier catalog is sent after a change', async (t) => {
  const server = await serveCatalog(SAMPLES, t);
  const before = await server.ask('/markets', GZIP);
  const markets = Array.from({ length: 9 }, (_, i) => market(i + 1));
  server.replace({ events: [event(1, { markets })] });
  const after = await server.ask('/markets', GZIP);
  assert.equal(after.headers.get('content-encoding'), 'gzip');
  assert.notEqual(after.headers.get('etag'), before.headers.get('etag'));
  assert.equal(JSON.parse(textOf(after)).length, 9);
});

test('a search is compressed too', async (t) => {
  const events = [event(1, { description: 'long '.repeat(500) })];
  const server = await serveCatalog({ events }, t, async () => foundRows([0]));
  const plain = await server.ask('/public-search?q=a');
  assert(plain.body.length >= 2048);
  for (let time = 0; time < 2; time++) {
    const answer = await server.ask('/public-search?q=a', GZIP);
    assert.equal(answer.headers.get('content-encoding'), 'gzip');
    assert.deepEqual(gunzipSync(answer.body), plain.body);
  }
});

test('one answer is compressed at a time, from a copy of its bytes', async () => {
  const answers = new CompressedAnswers();
  const bytes = Buffer.from(LARGE);
  const first = answers.add('/a', bytes);
  bytes.fill(0);
  assert.notEqual(first, undefined);
  assert.equal(answers.add('/b', LARGE), undefined);
  assert.equal(answers.get('/a'), undefined);
  assert.deepEqual(gunzipSync((await first)!), LARGE);
  assert.equal(answers.get('/a'), await first);
  assert.notEqual(answers.add('/b', LARGE), undefined);
});

test('an answer below two kibibytes is not compressed', async () => {
  const answers = new CompressedAnswers();
  assert.equal(answers.add('/a', LARGE.subarray(0, 2047)), undefined);
  assert.notEqual(await answers.add('/a', LARGE.subarray(0, 2048)), undefined);
});

test('the least recently used answers leave the cache first when it is full', async () => {
  const answers = new CompressedAnswers(10_000);
  for (const url of ['/a', '/b', '/c']) await answers.add(url, noise(url.charCodeAt(1), 3_000));
  assert.notEqual(answers.get('/a'), undefined);
  await answers.add('/d', noise(4, 3_000));
  const known = ['/a', '/b', '/c', '/d'].filter((url) => answers.get(url) !== undefined);
  assert.deepEqual(known, ['/a', '/c', '/d']);
  // What would not fit alone is not remembered, and drives nothing out.
  const large = await answers.add('/e', noise(5, 12_000));
  assert.equal(gunzipSync(large!).length, 12_000);
  assert.equal(answers.get('/e'), undefined);
  assert.notEqual(answers.get('/d'), undefined);
});

test('an answer that was begun for a replaced catalog is not cached', async () => {
  const answers = new CompressedAnswers();
  await answers.add('/a', LARGE);
  const begun = answers.add('/b', LARGE);
  answers.clear();
  assert.equal(answers.get('/a'), undefined);
  assert.deepEqual(gunzipSync((await begun)!), LARGE);
  assert.equal(answers.get('/b'), undefined);
});

test('no answer of a replaced catalog stays in the cache, even if its route gets no more requests', async (t) => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const server = await serveCatalog(SAMPLES, t);
  await server.ask('/tags', GZIP);
  const before = new WeakRef(server.prepared());
  server.replace({ events: [] });
  await server.ask('/events', GZIP);
  await until(() => {
    collect();
    return before.deref() === undefined;
  });
});
