/**
 * Every oddity of real catalog files on small invented ones, one test each; then the recorded file,
 * where it is there.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import {
  type Catalog,
  type CatalogReport,
  type JsonObject,
  readCatalog,
} from '../../storage/catalog/catalog-file.ts';
import { tradingTerms } from '../../storage/catalog/catalog-market.ts';
import { ROOT } from '../common/root.ts';

const REAL_FILE = join(ROOT, '../shared/data/catalog-shared.json');

const condition = (n: number) => `0x${n.toString(16).padStart(64, '0')}`;
const token = (n: number, index: number) => `${8}${String(n * 10 + index).padStart(76, '0')}`;

function market(n: number, fields: JsonObject = {}): JsonObject {
  return {
    id: String(n),
    question: `Will kite ${n} fly?`,
    conditionId: condition(n),
    slug: `kite-${n}`,
    outcomes: '["Yes", "No"]',
    clobTokenIds: JSON.stringify([token(n, 0), token(n, 1)]),
    active: true,
    closed: false,
    archived: false,
    ...fields,
  };
}

function event(n: number, markets: unknown, fields: JsonObject = {}): JsonObject {
  return { id: String(n), slug: `kites-${n}`, markets, ...fields };
}

function read(json: unknown): { catalog: Catalog; report: CatalogReport } {
  const result = readCatalog(json);
  assert.ok(result.ok, result.ok ? '' : result.error);
  return result;
}

/** Reads markets of one event; they are stored as they came, with or without books. */
function readMarkets(markets: readonly JsonObject[], eventFields: JsonObject = {}) {
  const { catalog, report } = read({ events: [event(1, markets, eventFields)] });
  assert.deepEqual(catalog.events[0]?.markets, markets, 'raw markets stay as they were found');
  return { books: catalog.markets, report };
}

/** Reads markets like `readMarkets`, from a file that must cause no warning. */
function readPlain(markets: readonly JsonObject[], eventFields: JsonObject = {}) {
  const { books, report } = readMarkets(markets, eventFields);
  assert.deepEqual(report.skipped, []);
  return books;
}

test('1: a market without token ids, or without a condition id too, is stored without a book', () => {
  const { clobTokenIds: _, ...tokenless } = market(1);
  const { books, report } = readMarkets([
    tokenless,
    { ...tokenless, id: '2', conditionId: '', slug: 'kite-2' },
    { ...tokenless, id: '3', conditionId: '', slug: '' },
    market(4),
  ]);
  assert.deepEqual(
    books.map((one) => one.id),
    ['4'],
  );
  assert.deepEqual(report.skipped, [
    {
      reason: 'markets without token ids: no book',
      count: 3,
      first: ['1', '2', '3'],
      field: 'clobTokenIds',
      names: ['1', '2', '3'],
    },
  ]);
});

test('2, 3: three to seven outcomes, and lists that are arrays, have books', () => {
  const markets = [3, 4, 5, 6, 7].map((count) => {
    const outcomes = Array.from({ length: count }, (_, index) => `結果 ${index}`);
    const clobTokenIds = outcomes.map((_, index) => token(count, index));
    return market(count, { outcomes, clobTokenIds, outcomePrices: outcomes.map(() => '0.2') });
  });
  const books = readPlain(markets);
  assert.deepEqual(
    books.map((one) => one.outcomes.length),
    [3, 4, 5, 6, 7],
  );
  assert.deepEqual(books[0]?.outcomes, ['結果 0', '結果 1', '結果 2']);
});

test('4: an old market without tick, minimum, switches and question id trades by the defaults', () => {
  const old = market(1);
  assert.deepEqual(tradingTerms(old, event(1, [])), {
    negRisk: false,
    ticksPerUnit: 100,
    minSizeMicro: 5_000_000,
    acceptingOrders: true,
    enableOrderBook: true,
  });
  assert.equal(readPlain([old])[0]?.tradable, true);
  const switched = market(2, { acceptingOrders: false, enableOrderBook: false });
  const terms = tradingTerms(switched, event(1, []));
  assert.deepEqual([terms.acceptingOrders, terms.enableOrderBook], [false, false]);
  const unreadable = tradingTerms({ orderPriceMinTickSize: 0.05, orderMinSize: 'few' }, {});
  assert.deepEqual([unreadable.ticksPerUnit, unreadable.minSizeMicro], [undefined, undefined]);
});

test('5: dates that are null, absent, reversed, past or of another form do no harm', () => {
  const books = readPlain(
    [
      market(1, { endDate: null }),
      market(2, { startDate: '2026-03-01T00:00:00Z', endDate: '2025-03-01T00:00:00.123456Z' }),
      market(3, { closedTime: '2025-06-24 22:40:00+00', gameStartTime: 'soon' }),
    ],
    { endDate: undefined, startDate: '2026-01-01T00:00:00.5Z' },
  );
  assert.deepEqual(
    books.map((one) => one.tradable),
    [true, true, true],
  );
});

test('5, 9: versions are ordered by the instant, whatever form its text has', () => {
  const versions = [
    ['2025-06-24T22:40:00Z', '2025-06-24 23:40:00+00'],
    ['2025-06-24 22:40:00+00', '2025-06-24T22:40:00.001Z'],
    ['never', '2025-06-24'],
    ['2025-06-24T23:00:00+02:00', '2025-06-24T22:00:00.000000Z'],
  ] as const;
  for (const [older, newer] of versions) {
    const first = { id: '1', label: 'newer', updatedAt: newer };
    const second = { id: '1', label: 'older', updatedAt: older };
    const { catalog } = read({ events: [], tags: [first, second] });
    assert.equal(catalog.tags[0]?.label, 'newer', `${older} before ${newer}`);
  }
});

test('6, 7: empty or absent texts and statistics in either type are left as they are', () => {
  const { icon: _, ...bare } = market(1, { image: '', resolutionSource: '' });
  const statistics = market(2, { volume: '1234.5', liquidity: 7, groupItemThreshold: '0' });
  const books = readPlain([bare, statistics], { volume: 1234.5, description: undefined });
  assert.deepEqual(
    books.map((one) => one.icon),
    ['', ''],
  );
});

test('8: absent tags and series are no oddity, and a series slug may disagree', () => {
  const series = [{ id: '5', slug: 'kites-weekly' }];
  const { catalog, report } = read({
    events: [event(1, []), event(2, [], { series, seriesSlug: 'kites-monthly' })],
  });
  assert.deepEqual(catalog.series, series);
  assert.equal(catalog.events[1]?.seriesSlug, 'kites-monthly');
  assert.deepEqual(report.skipped, []);
});

test('8: lists that are something else are counted, and the rest of the event is stored', () => {
  const { catalog, report } = read({
    events: [event(1, { 0: market(1) }, { tags: 'kites', series: 7 }), event(2, 'none')],
  });
  assert.deepEqual(
    catalog.events.map((one) => one.markets),
    [[], []],
  );
  assert.deepEqual(
    report.skipped.map(({ reason, count, first }) => [reason, count, first.join()]),
    [
      ['events whose markets are no list: kept without', 2, '1,2'],
      ['events whose tags are no list: kept without', 1, '1'],
      ['events whose series are no list: kept without', 1, '1'],
    ],
  );
});

test('9: the version of the own list stays for a tag of many days and languages', () => {
  const own = { id: '9', label: 'Kites ', slug: 'KITES-1H', updatedAt: '2025-01-01T00:00:00Z' };
  const copies = [
    { id: '9', label: '風箏', updatedAt: '2026-01-01T00:00:00Z' },
    { id: '9', label: 'Kite' },
  ];
  const { catalog, report } = read({
    tags: [own],
    events: copies.map((tag, index) => event(index + 1, [], { tags: [tag] })),
  });
  assert.deepEqual(catalog.tags, [own], 'blanks and capitals stay too');
  assert.deepEqual(catalog.events[0]?.tags, [copies[0]], 'raw events stay as they were found');
  assert.deepEqual(report.skipped, []);
});

test('10: flags of events and markets that disagree are each taken at their word', () => {
  const books = readPlain(
    [market(1), market(2, { closed: true }), market(3, { negRisk: false, archived: true })],
    { closed: true, negRisk: true },
  );
  assert.deepEqual(
    books.map((one) => one.tradable),
    [true, false, false],
  );
  assert.deepEqual(
    books.map((one) => one.ended),
    [false, true, true],
  );
  assert.deepEqual(
    books.map((one) => one.negRisk),
    [true, true, false],
  );
});

test('11: long slugs with capitals stay; one slug for event and market is no duplicate', () => {
  const slug = `A-2031-Kite-cup-${'x'.repeat(239)}`;
  const books = readPlain([market(1, { slug })], { slug });
  assert.deepEqual([books[0]?.slug, books[0]?.eventSlug], [slug, slug]);
});

test('11: a slug used twice within a kind is allowed and counted; no slug is no slug', () => {
  const same = { slug: 'kite' };
  const none = { slug: '' };
  const { catalog, report } = read({
    tags: [
      { id: 1, ...same },
      { id: 2, ...same },
      { id: 3, ...none },
      { id: 4, ...none },
    ],
    series: [
      { id: 1, ...same },
      { id: 2, slug: 'Kite' },
    ],
    events: [event(1, [market(1, same), market(2, same)], same), event(2, [market(3, same)], same)],
  });
  assert.equal(catalog.markets.length, 3);
  assert.deepEqual(
    report.skipped.map(({ reason, count, first }) => [reason, count, first.join()]),
    [
      ['events with a slug used twice: kept', 1, '2'],
      ['markets with a slug used twice: kept', 2, '2,3'],
      ['tags with a slug used twice: kept', 1, '2'],
    ],
  );
});

test('12: accents, curly quotes, CJK, emoji and blanks at the end stay as they are', () => {
  const question = 'Will “Señor Wind” fly in 風箏 town? 🪁 ';
  const [book] = readPlain([market(1, { question, outcomes: '["Sí ", "不"]' })]);
  assert.equal(book?.question, question);
  assert.deepEqual(book?.outcomes, ['Sí ', '不']);
});

test('13: token ids of 74 to 78 digits stay texts, digit for digit', () => {
  const ids = [74, 75, 76, 77, 78].map(
    (length) => `1${'0123456789'.repeat(8).slice(0, length - 1)}`,
  );
  const markets = ids.map((id, n) =>
    market(n + 1, { clobTokenIds: JSON.stringify([id, `2${n}`]) }),
  );
  assert.deepEqual(
    readPlain(markets).map((one) => one.tokenIds[0]),
    ids,
  );
});

const realMissing = existsSync(REAL_FILE) ? false : 'the shared data is not here';
test('the real catalog reads with the counts of its raw JSON', { skip: realMissing }, () => {
  const json = JSON.parse(readFileSync(REAL_FILE, 'utf8'));
  const raw: JsonObject[] = json.events.flatMap((one: JsonObject) => one.markets ?? []);
  const withBooks = raw.filter((one) => one.clobTokenIds && one.conditionId);
  const open = withBooks.filter(
    (one) =>
      one.active &&
      !one.closed &&
      !one.archived &&
      one.acceptingOrders !== false &&
      one.enableOrderBook !== false,
  );
  const idsOf = (kind: 'tags' | 'series') =>
    new Set(
      [json, ...json.events].flatMap((one) => (one[kind] ?? []).map((item: JsonObject) => item.id)),
    );
  const { catalog, report } = read(json);
  assert.equal(report.events, json.events.length);
  assert.equal(report.markets, raw.length);
  assert.equal(report.marketsWithBooks, withBooks.length);
  assert.equal(report.marketsTradable, open.length);
  assert.equal(report.tags, idsOf('tags').size);
  assert.equal(report.series, idsOf('series').size);
  const bookless = report.skipped.filter(({ reason }) => reason.endsWith(': no book'));
  const left = bookless.reduce((sum, group) => sum + group.count, 0);
  assert.equal(left, raw.length - withBooks.length);

  const byId = new Map(raw.map((one) => [one.id, one]));
  for (const found of catalog.markets) {
    const one = byId.get(found.id);
    const tokens = one?.clobTokenIds;
    assert.deepEqual(found.tokenIds, typeof tokens === 'string' ? JSON.parse(tokens) : tokens);
    assert.equal(1 / found.ticksPerUnit, one?.orderPriceMinTickSize ?? 0.01);
    assert.equal(found.minSizeMicro, Number(one?.orderMinSize ?? 5) * 1e6);
  }
  assert.equal(new Set(catalog.markets.flatMap((found) => found.tokenIds)).size, count(catalog));
});

function count(catalog: Catalog): number {
  return catalog.markets.reduce((sum, one) => sum + one.tokenIds.length, 0);
}
