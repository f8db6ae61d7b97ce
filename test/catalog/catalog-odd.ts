import assert from 'node:assert/strict';
import { type Catalog, readCatalog } from '../../storage/catalog/catalog-file.ts';

/** Creators, in the order of their lower-case forms. */
export const WALLETS = ['0xAAAA', '0xbbbb', '0xcccc'].map((start) => start.padEnd(42, '0'));

const condition = (n: number) => `0x${n.toString(16).padStart(64, '0')}`;
export const tokens = (n: number) => [
  `1${String(n).padStart(70, '0')}`,
  `2${String(n).padStart(70, '0')}`,
];

/** Two tags, two series, four events, seven markets; ids in no order, every member odd somewhere. */
export function oddCatalog() {
  return {
    tags: [
      { id: '20', label: 'Politics ', slug: 'EPL', createdAt: '2024-01-01T00:00:00Z' },
      { id: '3', label: '🎉 伊朗', slug: 'x', requiresTranslation: true, forceShow: true },
      { id: '100', label: 'lonely', slug: 'x', updatedAt: 'never' },
    ],
    series: [
      { id: '7', ticker: 's', slug: 'series', title: 'S "1"', recurrence: 'daily', active: true },
      { id: '12', slug: 'nobody', seriesType: 'single', icon: 'i', image: 'm', closed: true },
    ],
    sites: [
      { id: 'a.example', creators: [WALLETS[0], WALLETS[1]] },
      { id: 'b.example', creators: [WALLETS[2], WALLETS[1]] },
      { id: 'c.example', creators: [`0x${'9'.repeat(40)}`] },
    ],
    events: [
      {
        id: '9',
        slug: 'nine',
        title: 'Nine "quoted" \\ back\nline \ud800 lone',
        description: 'd'.repeat(300) + String.fromCharCode(0xdc00),
        startDate: '2024-05-01 10:00:00+00',
        endDate: 'soon',
        active: true,
        tags: [{ id: 'odd' }, null, { id: 20, label: 'a stale copy' }, { id: '3' }, { id: '20' }],
        series: [{ id: '7', title: 'a stale copy' }],
        eventMetadata: { priceToBeat: 1.5, nested: { a: ['ü'] } },
        creator: WALLETS[2],
        negRisk: true,
        markets: [
          {
            id: '1000',
            question: 'Will it?',
            conditionId: condition(1000).toUpperCase().replace('X', 'x'),
            slug: 'nine',
            outcomes: '["Yes", "No"]',
            clobTokenIds: JSON.stringify(tokens(1000)),
            active: true,
            orderPriceMinTickSize: 0.001,
            orderMinSize: '15.5',
            volume: '12.5',
            createdAt: '2024-05-01T10:00:00.123456Z',
          },
          {
            id: '99',
            question: 'Curly ‘quotes’ and a trailing blank ',
            conditionId: condition(99),
            slug: 'q-99',
            description: 'line\n"quoted"\ttab',
            outcomes: ['Sí', 'No'],
            clobTokenIds: tokens(99),
            active: true,
            acceptingOrders: false,
            submitted_by: WALLETS[0],
            raw_metadata: { version: 2, list: [1] },
            createdAt: '2024-05-01T10:00:00.123457Z',
          },
          { id: '100', active: true, closed: true, outcomes: 'broken', negRisk: false },
        ],
      },
      { id: '10', slug: 'nine', active: true, closed: true, tags: {}, series: null, markets: [] },
      {
        id: '2',
        slug: 'Two',
        ticker: 'TWO',
        description: 'short',
        icon: 'icons/é.png',
        archived: true,
        tags: [{ id: '3' }],
        series: [{ id: '7' }],
        markets: [
          { id: '5', conditionId: '', slug: '', active: true, orderPriceMinTickSize: 0.3 },
          { id: '61', conditionId: 'odd', slug: 'q-99', active: true, creator: WALLETS[1] },
          { id: '7', archived: true, active: true, orderMinSize: 'many', enableOrderBook: false },
        ],
      },
      {
        id: '77',
        eventMetadata: 'none',
        markets: [{ id: '8', active: true, enableOrderBook: false, orderMinSize: 0 }],
      },
    ],
  };
}

export function readWhole(json: unknown): Catalog {
  const result = readCatalog(json);
  assert.ok(result.ok, result.ok ? '' : result.error);
  return result.catalog;
}
