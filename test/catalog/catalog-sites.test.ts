import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import {
  type CatalogReport,
  type JsonObject,
  readCatalog,
} from '../../storage/catalog/catalog-file.ts';
import { creatorOf } from '../../storage/catalog/catalog-market.ts';
import { normaliseSite, type Site } from '../../storage/catalog/catalog-sites.ts';
import { anyText } from '../common/any-text.ts';

const wallet = (digit: string) => `0x${digit.repeat(40)}`;

function read(json: JsonObject): { sites: readonly Site[]; report: CatalogReport } {
  const result = readCatalog({ events: [], ...json });
  assert.ok(result.ok, result.ok ? '' : result.error);
  return { sites: result.catalog.sites, report: result.report };
}

test('a site is compared by its host alone', () => {
  const cases: [string, string][] = [
    ['market.example', 'market.example'],
    ['  Market.Example\t', 'market.example'],
    ['https://market.example', 'market.example'],
    ['HTTP://MARKET.EXAMPLE/', 'market.example'],
    ['https://market.example./events?order=id', 'market.example'],
    ['market.example/a/b', 'market.example'],
    ['market.example:8080', 'market.example:8080'],
    ['market.example..', 'market.example'],
    ['bücher.example', 'bücher.example'],
    ['https:///path', ''],
    ['https://', ''],
    ['...', ''],
    ['', ''],
  ];
  for (const [text, site] of cases) assert.equal(normaliseSite(text), site, text);
});

test('a normalised site stays as it is', () => {
  const piece = fc.constantFrom(
    'http://',
    'HTTPS://',
    '/',
    '.',
    ' ',
    '\t',
    'A',
    'ß',
    'Σ',
    'İ',
    '?',
  );
  const text = fc.oneof(
    fc.array(piece).map((pieces) => pieces.join('')),
    anyText,
  );
  fc.assert(
    fc.property(text, (value) => {
      const once = normaliseSite(value);
      assert.equal(normaliseSite(once), once);
    }),
    { numRuns: 2000 },
  );
});

test('sites are read with their wallets in one case, in order, each once', () => {
  const { sites, report } = read({
    sites: [
      { id: 'https://Zebra.example/', creators: [wallet('B'), wallet('a'), wallet('b')] },
      { id: 'aurora.example', creators: [] },
      { id: 'bare.example' },
      { id: 'null.example', creators: null },
    ],
  });
  assert.deepEqual(sites, [
    { id: 'aurora.example', creators: [] },
    { id: 'bare.example', creators: [] },
    { id: 'null.example', creators: [] },
    { id: 'zebra.example', creators: [wallet('a'), wallet('b')] },
  ]);
  assert.equal(report.sites, 4);
  assert.deepEqual(report.skipped, []);
});

test('invalid entries of sites are counted, and the others are stored', () => {
  const { sites, report } = read({
    sites: [
      null,
      { id: 7, creators: [wallet('a')] },
      { id: ' https:// ', creators: [wallet('a')] },
      { id: wallet('A'), creators: [wallet('a')] },
      { id: 'good.example', creators: ['0x12', wallet('a'), null, wallet('g')] },
      { id: 'text.example', creators: wallet('a') },
    ],
  });
  assert.deepEqual(sites, [
    { id: 'good.example', creators: [wallet('a')] },
    { id: 'text.example', creators: [] },
  ]);
  assert.deepEqual(
    report.skipped.map(({ reason, count, first }) => [reason, count, first.join(' ')]),
    [
      ['sites without a usable id: left out', 4, 'sites[0] sites[1] sites[2] sites[3]'],
      [
        'site creators that are no wallet: left out',
        3,
        'good.example, creators[0] good.example, creators[2] good.example, creators[3]',
      ],
      ['sites whose creators are no list: kept without', 1, 'text.example'],
    ],
  );
});

test('a site that is listed twice, in any spelling, has the creators of both', () => {
  const { sites, report } = read({
    sites: [
      { id: 'market.example', creators: [wallet('c'), wallet('a')] },
      { id: 'https://MARKET.example', creators: [wallet('b'), wallet('a')] },
    ],
  });
  const creators = [wallet('a'), wallet('b'), wallet('c')];
  assert.deepEqual(sites, [{ id: 'market.example', creators }]);
  assert.deepEqual(report.skipped, [
    {
      reason: 'sites listed more than once: their creators joined',
      count: 1,
      first: ['market.example'],
    },
  ]);
});

test('a market belongs to the first wallet of creator, submitted_by and its event’s two', () => {
  const [a, b, c, d] = ['A', 'b', 'c', 'd'].map(wallet);
  const cases: [JsonObject, JsonObject, string | undefined][] = [
    [{ creator: a, submitted_by: b }, { creator: c, submitted_by: d }, a],
    [{ submitted_by: b }, { creator: c }, b],
    [{ creator: '', submitted_by: null }, { creator: c, submitted_by: d }, c],
    [{ creator: 'somebody', submitted_by: '0x12' }, { creator: 7, submitted_by: d }, d],
    [{ creator: wallet('g') }, {}, undefined],
    [{}, {}, undefined],
  ];
  for (const [market, event, owner] of cases) {
    assert.equal(creatorOf(market, event), owner?.toLowerCase() ?? '');
  }
});

test('the report counts each creator once, and names markets whose creator is no wallet', () => {
  const { report } = read({
    events: [
      { id: 1, creator: wallet('A'), markets: [{ id: 1 }, { id: 2, creator: wallet('a') }] },
      { id: 2, markets: [{ id: 3, submitted_by: 'somebody' }, { id: 4, creator: '' }, { id: 5 }] },
      { id: 3, submitted_by: wallet('b'), markets: [{ id: 6, creator: 'somebody' }] },
    ],
  });
  assert.equal(report.creators, 2);
  const named = report.skipped.find(({ reason }) => reason.startsWith('markets whose creator'));
  assert.deepEqual(named, {
    reason: 'markets whose creator is no wallet: kept without',
    count: 1,
    first: ['3'],
  });
});
