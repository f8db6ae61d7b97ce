import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { allocateEngine, Tables } from '../../engine/tables/tables.ts';
import { prepareCatalog } from '../../server/catalog/build.ts';
import type { CatalogGeneration } from '../../server/catalog/catalog-generation.ts';
import { tradingMarkets } from '../../server/catalog/trading-markets.ts';
import { cursorOf, LAST_CURSOR, offsetOf } from '../../server/common/cursor.ts';
import type { RequestContext } from '../../server/http/http.ts';
import { TokenTexts } from '../../server/market-data/texts.ts';
import { readCatalog } from '../../storage/catalog/catalog-file.ts';
import { withSeed } from '../common/random.ts';
import { plainRefusal } from '../common/refused.ts';
import { turnsOf } from '../common/turns.ts';
import { TIGHT } from '../storage/stored-exchange.ts';
import { conditionOf, event, market, SAMPLES, WALLET_A } from './catalog-samples.ts';
import { type CatalogServer, serveCatalog } from './catalog-server.ts';

type Json = Record<string, unknown>;

interface Listing {
  readonly data: Json[];
  readonly next_cursor: string;
}

const FULL = '/sampling-markets';
const SIMPLIFIED = '/sampling-simplified-markets';

function serveMany(context: TestContext, count: number): Promise<CatalogServer> {
  const markets = Array.from({ length: count }, (_, i) => market(i + 1, { closed: i % 7 === 6 }));
  return serveCatalog({ events: [event(1, { markets })] }, context);
}

async function page(server: CatalogServer, path: string, cursor?: string): Promise<Listing> {
  const query = cursor === undefined ? '' : `?next_cursor=${cursor}`;
  return (await server.json(`${path}${query}`)) as Listing;
}

test('the lists have active markets that are neither closed nor archived, by ascending id', async (t) => {
  const server = await serveCatalog(SAMPLES, t);
  for (const path of [FULL, SIMPLIFIED]) {
    const listing = await page(server, path);
    assert.deepEqual(Object.keys(listing), ['data', 'next_cursor']);
    assert.deepEqual(
      listing.data.map((item) => item.market_id),
      [101, 103, 201],
    );
    assert.equal(listing.next_cursor, 'LTE=');
  }
});

test('an item has the fields of its form, in the order of the protocol', async (t) => {
  const server = await serveCatalog(SAMPLES, t);
  const simplified = (await page(server, SIMPLIFIED)).data[0]!;
  assert.equal(
    JSON.stringify(simplified),
    JSON.stringify({
      condition_id: conditionOf(101),
      status: 'active',
      neg_risk: false,
      market_id: 101,
      question: 'b',
      slug: 'Wheat',
      assets_ids: ['1011', '1012'],
      outcomes: ['Yes', 'No'],
    }),
  );
  const full = (await page(server, FULL)).data[2]!;
  assert.deepEqual(Object.keys(full), [
    'condition_id',
    'status',
    'neg_risk',
    'market_id',
    'question',
    'slug',
    'description',
    'assets_ids',
    'outcomes',
    'event',
    'raw_metadata',
  ]);
  assert.equal(full.neg_risk, true);
  assert.equal(full.description, 'What market 201 is about.');
  assert.equal(
    JSON.stringify(full.event),
    JSON.stringify({
      id: '20',
      slug: 'snow',
      title: 'Event 20',
      ticker: 'ticker-20',
      description: 'What event 20 is about.',
    }),
  );
  assert.deepEqual(full.raw_metadata, {});
});

test('a walk by cursors reaches every market once and ends with LTE=', async (t) => {
  for (const count of [0, 1166, 1167, 2400]) {
    const server = await serveMany(t, count);
    const expected = Array.from({ length: count }, (_, i) => i + 1).filter((i) => i % 7 !== 0);
    for (const path of [FULL, SIMPLIFIED]) {
      const met: unknown[] = [];
      let cursor = 'MA==';
      let pages = 0;
      while (cursor !== 'LTE=') {
        const listing = await page(server, path, cursor);
        met.push(...listing.data.map((item) => item.market_id));
        cursor = listing.next_cursor;
        pages += 1;
        if (cursor !== 'LTE=') assert.equal(cursor, cursorOf(1000 * pages));
      }
      assert.deepEqual(met, expected);
      assert.equal(pages, Math.max(1, Math.ceil(expected.length / 1000)));
    }
  }
});

test('the first page needs no cursor; one past the end is empty and the last', async (t) => {
  const server = await serveMany(t, 1300);
  for (const path of [FULL, SIMPLIFIED]) {
    const first = await page(server, path, 'MA==');
    assert.equal(first.data.length, 1000);
    assert.deepEqual(await page(server, path), first);
    assert.deepEqual(await page(server, path, ''), first);
    assert.deepEqual(await server.json(`${path}?limit=x&creator=${WALLET_A}`), first);
    const [last] = (await page(server, path, 'MTExNA')).data; // 1114
    assert.equal(last?.market_id, 1300);
    for (const offset of ['1115', '5000', '9'.repeat(400)]) {
      const cursor = Buffer.from(offset).toString('base64url');
      assert.deepEqual(await page(server, path, cursor), { data: [], next_cursor: 'LTE=' });
    }
  }
});

test('a page in the shape of the trading API is made in slices, with other requests between', async () => {
  const read = readCatalog({
    events: [event(1, { markets: Array.from({ length: 230 }, (_, i) => market(i + 1)) })],
  });
  assert(read.ok);
  const tables = new Tables(allocateEngine(TIGHT));
  const texts = new TokenTexts(tables, () => undefined);
  const generation = { prepared: prepareCatalog(read.catalog) } as CatalogGeneration;
  const catalog = () => generation;
  const { pages, sampling, shortPages, shortSampling } = tradingMarkets({ tables, texts, catalog });
  for (const handler of [pages, shortPages, sampling, shortSampling]) {
    for (const [offset, rows, next] of [
      [0, 100, cursorOf(100)],
      [200, 30, LAST_CURSOR],
    ] as const) {
      let answer = '';
      const exchange = {
        query: '',
        reply: (_: number, body: string): void => {
          answer = body;
        },
      };
      const query = { next_cursor: cursorOf(offset) };
      const { turns } = await turnsOf(handler(exchange as unknown as RequestContext, query));
      const { data, next_cursor } = JSON.parse(answer) as Listing;
      assert.deepEqual(
        data.map(({ condition_id }) => condition_id),
        Array.from({ length: rows }, (_, i) => conditionOf(offset + 1 + i)),
      );
      assert.equal(next_cursor, next);
      assert((turns + 1) * 32 >= rows, `${turns} turns for ${rows} markets`);
    }
  }
});

test('a bad cursor is a bad request', async (t) => {
  const server = await serveMany(t, 3);
  const bad = [
    'LTE=',
    'LTE',
    '0',
    'x',
    '%',
    '%ff',
    '=',
    'MA=',
    'MA===',
    'M',
    'MA==&next_cursor=MQ==',
  ];
  for (const path of [FULL, SIMPLIFIED]) {
    for (const cursor of bad) {
      const answer = await server.ask(`${path}?next_cursor=${cursor}`);
      assert.equal(answer.status, 400, cursor);
      assert.deepEqual(plainRefusal(JSON.parse(String(answer.body))), {
        error: 'invalid next_cursor',
        code: 'INVALID_CURSOR',
      });
    }
  }
});

test('a cursor is the base64 of its offset, and is read in every spelling', () => {
  assert.equal(LAST_CURSOR, Buffer.from('-1').toString('base64'));
  for (const [offset, cursor] of [
    [0, 'MA=='],
    [100, 'MTAw'],
    [500, 'NTAw'],
    [1000, 'MTAwMA=='],
  ] as const) {
    assert.equal(cursorOf(offset), cursor);
  }
  withSeed((random) => {
    for (let i = 0; i < 2_000; i++) {
      const offset = random.below(10 ** random.between(1, 9));
      const cursor = cursorOf(offset);
      assert.equal(offsetOf(cursor), offset);
      assert.equal(offsetOf(cursor.replace(/=+$/, '')), offset);
    }
  });
  assert.equal(offsetOf(''), 0);
  assert.equal(offsetOf(Buffer.from('007').toString('base64')), 7);
});

test('a text that no encoder of an offset writes is no cursor', () => {
  const texts = ['-1', '-0', '+1', '1.5', '1e3', ' 1', '1 ', '0x1', 'a', '', '٣', '1\n', '1\0'];
  for (const text of texts) {
    const cursor = Buffer.from(text).toString('base64') || '=';
    assert.equal(offsetOf(cursor), -1, JSON.stringify(text));
  }
  // Loose last bits, wrong padding, letters of no alphabet, blanks.
  for (const cursor of [
    'MB==',
    'MA=',
    'M===',
    'MTAw=',
    'M',
    'MA=A',
    'M*A=',
    'M A=',
    ' MA==',
    'MA==\n',
  ]) {
    assert.equal(offsetOf(cursor), -1, JSON.stringify(cursor));
  }
});
