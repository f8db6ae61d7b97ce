/**
 * The reader of catalog files: good markets, faulty ones, and files that would corrupt a store.
 * Oddities of real files are in catalog-oddities.test.ts.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { demoCatalog } from '../../server/demo/demo-catalog.ts';
import {
  type Catalog,
  type CatalogMarket,
  type CatalogReport,
  type JsonObject,
  readCatalog,
} from '../../storage/catalog/catalog-file.ts';

const condition = (n: number) => `0x${n.toString(16).padStart(64, '0')}`;
const token = (n: number, index: number) => `${7}${String(n * 10 + index).padStart(75, '0')}`;

function market(n: number, fields: JsonObject = {}): JsonObject {
  return {
    id: String(n),
    question: `Question ${n}?`,
    conditionId: condition(n),
    slug: `question-${n}`,
    icon: `icons/${n}.png`,
    outcomes: '["Yes", "No"]',
    clobTokenIds: JSON.stringify([token(n, 0), token(n, 1)]),
    active: true,
    closed: false,
    archived: false,
    ...fields,
  };
}

function event(n: number, markets: unknown, fields: JsonObject = {}): JsonObject {
  return { id: String(n), slug: `event-${n}`, markets, ...fields };
}

function read(json: unknown): { catalog: Catalog; report: CatalogReport } {
  const result = readCatalog(json);
  assert.ok(result.ok, result.ok ? '' : result.error);
  return result;
}

function readOne(fields: JsonObject, eventFields: JsonObject = {}): CatalogMarket | undefined {
  const { catalog, report } = read({ events: [event(1, [market(11, fields)], eventFields)] });
  assert.equal(report.markets, 1, 'kept in the catalog');
  return catalog.markets[0];
}

function errorOf(json: unknown): string {
  const result = readCatalog(json);
  assert.ok(!result.ok, 'the file is refused');
  return result.error;
}

test('a plain market is read whole, with the defaults of the family', () => {
  assert.deepEqual(readOne({}), {
    id: '11',
    question: 'Question 11?',
    conditionId: condition(11),
    slug: 'question-11',
    icon: 'icons/11.png',
    outcomes: ['Yes', 'No'],
    tokenIds: [token(11, 0), token(11, 1)],
    ticksPerUnit: 100,
    minSizeMicro: 5_000_000,
    negRisk: false,
    ended: false,
    tradable: true,
    eventId: '1',
    eventSlug: 'event-1',
  });
});

test('every way to write a tick size is read exactly', () => {
  const cases: [string, number][] = [
    ['0.1', 10],
    ['"0.1"', 10],
    ['0.01', 100],
    ['0.010', 100],
    ['"1e-2"', 100],
    ['0.005', 200],
    ['"0.0050"', 200],
    ['0.0025', 400],
    ['"25e-4"', 400],
    ['0.001', 1000],
    ['"0.001"', 1000],
    ['1e-3', 1000],
    ['".001"', 1000],
    ['0.0001', 10000],
    ['1E-4', 10000],
    ['"0.00010"', 10000],
    ['null', 100],
    ['""', 100],
  ];
  for (const [json, ticks] of cases) {
    const found = readOne({ orderPriceMinTickSize: JSON.parse(json) });
    assert.equal(found?.ticksPerUnit, ticks, json);
  }
});

test('an unsupported tick size leaves the market without a book', () => {
  for (const tick of [
    0.05,
    0.002,
    0.00125,
    0,
    1,
    '-0.01',
    'fine',
    '0.01000001',
    '1e-999',
    true,
    {},
  ]) {
    assert.equal(readOne({ orderPriceMinTickSize: tick }), undefined, String(tick));
  }
});

test('minimum sizes become micro-shares exactly, down to one', () => {
  const cases: [unknown, number][] = [
    [5, 5_000_000],
    ['5', 5_000_000],
    [0.01, 10_000],
    ['0.000001', 1],
    [1e-6, 1],
    [0.29, 290_000],
    [1.1, 1_100_000],
    [4.35, 4_350_000],
    ['1e3', 1_000_000_000],
    ['9007199254.740991', Number.MAX_SAFE_INTEGER],
    [0, 1],
    [null, 5_000_000],
  ];
  for (const [size, micro] of cases) {
    assert.equal(readOne({ orderMinSize: size })?.minSizeMicro, micro, String(size));
  }
  for (const size of [-1, '0.0000001', '9007199254.740992', '1e99', 'five', '.', true]) {
    assert.equal(readOne({ orderMinSize: size }), undefined, String(size));
  }
});

test('arrays count as well as JSON texts of arrays', () => {
  const outcomes = ['是', '否'];
  const clobTokenIds = [token(11, 0), token(11, 1)];
  const found = readOne({ outcomes, clobTokenIds });
  assert.deepEqual(found?.outcomes, outcomes);
  assert.deepEqual(found?.tokenIds, clobTokenIds);
});

test('markets with three to seven outcomes have one token per outcome', () => {
  for (let count = 3; count <= 7; count++) {
    const outcomes = Array.from({ length: count }, (_, index) => `Outcome ${index}`);
    const clobTokenIds = JSON.stringify(outcomes.map((_, index) => token(11, index)));
    const found = readOne({ outcomes: JSON.stringify(outcomes), clobTokenIds });
    assert.equal(found?.tokenIds.length, count);
    assert.deepEqual(found?.outcomes, outcomes);
  }
});

test('a market that cannot have a book stays in the catalog, counted under its reason', () => {
  const big = (2n ** 256n).toString();
  const cases: [JsonObject, RegExp][] = [
    [{ clobTokenIds: undefined }, /without token ids/],
    [{ clobTokenIds: '[]' }, /without token ids/],
    [{ clobTokenIds: '' }, /unreadable token ids/],
    [{ clobTokenIds: '[12345678901234567890, 2]' }, /unreadable token ids/],
    [{ clobTokenIds: ['0x12', '34'] }, /unreadable token ids/],
    [{ clobTokenIds: [big, '34'] }, /unreadable token ids/],
    [{ conditionId: '' }, /without a 32-byte condition id/],
    [{ conditionId: null }, /without a 32-byte condition id/],
    [{ conditionId: '0x1234' }, /without a 32-byte condition id/],
    [{ outcomes: '["Yes"]' }, /do not pair up/],
    [{ outcomes: undefined }, /do not pair up/],
    [{ outcomes: '["Only"]', clobTokenIds: [token(11, 0)] }, /do not pair up/],
    [{ clobTokenIds: [token(11, 0), token(11, 0)] }, /one token id twice/],
    [{ orderPriceMinTickSize: 0.05 }, /unknown tick size/],
    [{ orderMinSize: -5 }, /unreadable minimum size/],
  ];
  for (const [fields, reason] of cases) {
    const { catalog, report } = read({ events: [event(1, [market(11, fields), market(12)])] });
    assert.equal(report.markets, 2);
    assert.equal(report.marketsWithBooks, 1);
    assert.equal(report.marketsTradable, 1);
    assert.equal(catalog.markets[0]?.id, '12');
    assert.equal(report.skipped.length, 1, JSON.stringify(report.skipped));
    assert.match(report.skipped[0]?.reason ?? '', reason);
    assert.deepEqual(report.skipped[0]?.first, ['11']);
  }
  const largest = readOne({ clobTokenIds: [(2n ** 256n - 1n).toString(), '1'] });
  assert.equal(largest?.tokenIds[0], (2n ** 256n - 1n).toString());
});

test('closed and archived markets without a book are listed by their condition', () => {
  const bookless: JsonObject[] = [
    { clobTokenIds: undefined },
    { clobTokenIds: '[]' },
    { clobTokenIds: 'none' },
    { outcomes: undefined },
    { clobTokenIds: [token(11, 0), token(11, 0)] },
    { orderPriceMinTickSize: 0.05 },
    { orderMinSize: -5 },
  ];
  const endedOf = (fields: JsonObject) => {
    const { catalog } = read({ events: [event(1, [market(11, fields), market(12)])] });
    return catalog.endedConditions;
  };
  for (const fields of bookless) {
    const what = JSON.stringify(fields);
    assert.deepEqual(endedOf(fields), [], `open: ${what}`);
    assert.deepEqual(endedOf({ ...fields, closed: true }), [condition(11)], `closed: ${what}`);
    assert.deepEqual(endedOf({ ...fields, archived: true }), [condition(11)], `archived: ${what}`);
  }
  assert.deepEqual(endedOf({ closed: true }), [], 'with a book it says so itself');
  const mixed = ` 0x${'Ab'.repeat(32)}`;
  const ended = endedOf({ closed: true, clobTokenIds: '', conditionId: mixed });
  assert.deepEqual(ended, [mixed.trim().toLowerCase()]);
  for (const conditionId of ['', null, '0x1234']) {
    assert.deepEqual(endedOf({ closed: true, conditionId }), [], 'known by no condition');
  }
});

test('the report counts all of a kind and names the first five', () => {
  const markets = Array.from({ length: 8 }, (_, n) => market(n + 1, { clobTokenIds: undefined }));
  const { report } = read({ events: [event(1, markets)] });
  assert.equal(report.skipped[0]?.count, 8);
  assert.deepEqual(report.skipped[0]?.first, ['1', '2', '3', '4', '5']);
});

test('tradable needs active, and none of the flags against it', () => {
  const cases: [JsonObject, boolean][] = [
    [{}, true],
    [{ acceptingOrders: true, enableOrderBook: true }, true],
    [{ closed: undefined, archived: undefined }, true],
    [{ active: false }, false],
    [{ active: undefined }, false],
    [{ closed: true }, false],
    [{ archived: true }, false],
    [{ acceptingOrders: false }, false],
    [{ enableOrderBook: false }, false],
  ];
  for (const [fields, tradable] of cases) {
    assert.equal(readOne(fields)?.tradable, tradable, JSON.stringify(fields));
  }
});

test('neg-risk is the flag of the market, else of its event, else off', () => {
  const cases: [unknown, unknown, boolean][] = [
    [true, false, true],
    [false, true, false],
    [undefined, true, true],
    [null, true, true],
    [undefined, undefined, false],
    [undefined, 'true', false],
  ];
  for (const [own, events, negRisk] of cases) {
    assert.equal(readOne({ negRisk: own }, { negRisk: events })?.negRisk, negRisk);
  }
});

test('a condition id in capitals is the same condition', () => {
  const mixed = `0x${'Ab'.repeat(32)}`;
  assert.equal(readOne({ conditionId: mixed })?.conditionId, mixed.toLowerCase());
  const twice = [
    market(1, { conditionId: mixed }),
    market(2, { conditionId: mixed.toLowerCase() }),
  ];
  assert.match(errorOf({ events: [event(1, twice)] }), /^markets 1 and 2 both claim condition id/);
});

test('two markets claiming one token or one condition fail the whole file', () => {
  const stolen = { clobTokenIds: JSON.stringify([token(2, 0), token(11, 1)]) };
  const apart = { events: [event(1, [market(11)]), event(2, [market(12, stolen)])] };
  assert.equal(errorOf(apart), `markets 11 and 12 both claim token id ${token(11, 1)}`);
  const bookless = { ...stolen, conditionId: '' };
  const claimed = errorOf({ events: [event(1, [market(11), market(12, bookless)])] });
  assert.equal(claimed, `markets 11 and 12 both claim token id ${token(11, 1)}`);
  const same = { conditionId: condition(11), clobTokenIds: undefined };
  const condition11 = errorOf({ events: [event(1, [market(11), market(12, same)])] });
  assert.equal(condition11, `markets 11 and 12 both claim condition id ${condition(11)}`);
});

test('the empty condition id belongs to no market', () => {
  const markets = [market(1, { conditionId: '' }), market(2, { conditionId: '' })];
  assert.equal(read({ events: [event(1, markets)] }).report.markets, 2);
});

test('the later version of a market that is listed twice stays, in any position', () => {
  const older = market(11, { updatedAt: '2026-01-01T00:00:00Z', question: 'older' });
  const newer = market(11, { updatedAt: '2026-01-01T00:00:00.5Z', question: 'newer' });
  for (const [first, second, place] of [
    [older, newer, 1],
    [newer, older, 0],
  ] as const) {
    const { catalog, report } = read({ events: [event(1, [first]), event(2, [second])] });
    assert.deepEqual(
      catalog.markets.map((found) => [found.question, found.eventId]),
      [['newer', String(place + 1)]],
    );
    assert.deepEqual(catalog.events[1 - place]?.markets, []);
    assert.deepEqual(report.skipped, [
      { reason: 'markets listed more than once: the latest version kept', count: 1, first: ['11'] },
    ]);
  }
});

test('the later version of an event that is listed twice stays; without dates the last', () => {
  const versions = (first: JsonObject, second: JsonObject) =>
    read({ events: [event(1, [market(11)], first), event(1, [market(11)], second)] });
  const dated = versions(
    { title: 'a', updatedAt: '2026-02-01T00:00:00Z' },
    { title: 'b', updatedAt: '2026-01-01T00:00:00Z' },
  );
  assert.equal(dated.catalog.events[0]?.title, 'a');
  assert.equal(versions({ title: 'a' }, { title: 'b' }).catalog.events[0]?.title, 'b');
  assert.equal(dated.report.events, 1);
  assert.equal(dated.report.markets, 1);
});

test('top-level tags and series lead, events add what only they carry', () => {
  const nested = (label: string, updatedAt?: string) => ({ id: '7', label, updatedAt });
  const { catalog, report } = read({
    tags: [{ id: '9', label: 'Weather', updatedAt: '2025-01-01T00:00:00Z' }],
    events: [
      event(1, [], {
        tags: [{ id: '9', label: '天气', updatedAt: '2026-01-01T00:00:00Z' }, nested('old')],
        series: [{ id: 3, title: 'Only here' }],
      }),
      event(2, [], { tags: [nested('new', '2026-01-01T00:00:00Z')] }),
    ],
  });
  assert.deepEqual(
    catalog.tags.map((tag) => tag.label),
    ['new', 'Weather'],
  );
  assert.deepEqual(catalog.series, [{ id: '3', title: 'Only here' }]);
  assert.equal(report.tags, 2);
  assert.equal(report.series, 1);
  assert.deepEqual(report.skipped, []);
});

test('objects without a usable id are left out, named by their place', () => {
  const { catalog, report } = read({
    tags: [{ label: 'no id' }],
    events: [
      null,
      event(1, [market(11), 'text', market(12, { id: 'x' })]),
      event(2, [], { id: -2 }),
    ],
  });
  assert.equal(catalog.markets.length, 1);
  const named = report.skipped.map((group) => [group.count, ...group.first]);
  assert.deepEqual(named, [
    [2, 'events[0]', 'events[2]'],
    [2, 'event 1, markets[1]', 'event 1, markets[2]'],
    [1, 'tags[0]'],
  ]);
});

test('numeric ids become text', () => {
  const { catalog } = read({ events: [event(1, [market(11, { id: 11 })], { id: 1 })] });
  assert.equal(catalog.events[0]?.id, '1');
  assert.equal(catalog.markets[0]?.id, '11');
  assert.equal(catalog.markets[0]?.eventId, '1');
});

test('absent and null parts are empty, not errors', () => {
  const { catalog } = read({
    tags: null,
    events: [
      { id: '2', tags: null },
      { id: '1', markets: null },
    ],
  });
  assert.deepEqual(
    catalog.events.map((one) => [one.id, one.markets]),
    [
      ['1', []],
      ['2', []],
    ],
  );
  const bare = readOne({ question: null, slug: undefined, icon: undefined }, { slug: null });
  assert.deepEqual([bare?.question, bare?.slug, bare?.icon, bare?.eventSlug], ['', '', '', '']);
});

test('a file of another shape is refused with a reason', () => {
  for (const json of [null, [], 'text', 1]) assert.match(errorOf(json), /one JSON object/);
  assert.match(errorOf({ markets: [] }), /`events` must be an array/);
  assert.match(errorOf({ events: {} }), /`events` must be an array/);
  assert.match(errorOf({ events: [], tags: {} }), /`tags` must be an array/);
  assert.match(errorOf({ events: [], series: 'x' }), /`series` must be an array/);
  assert.match(errorOf({ events: [], sites: {} }), /`sites` must be an array/);
});

test('reading a catalog again gives the same catalog', () => {
  const { catalog } = read(demoCatalog());
  assert.deepEqual(read(catalog).catalog, catalog);
});
