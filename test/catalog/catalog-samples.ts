/**
 * A small invented catalog for the tests of the catalog routes: every object has a name, and
 * each filter selects some objects and leaves some out.
 */

export const WALLET_A = `0x${'aA'.repeat(20)}`;
export const WALLET_B = `0x${'b'.repeat(40)}`;
export const WALLET_NOBODY = `0x${'c'.repeat(40)}`;

type Raw = Readonly<Record<string, unknown>>;

export function conditionOf(id: number): string {
  return `0xab${id.toString(16).padStart(62, '0')}`;
}

export function market(id: number, fields: Raw = {}): Raw {
  return {
    id: String(id),
    question: `Question ${id}?`,
    conditionId: conditionOf(id),
    slug: `market-${id}`,
    resolutionSource: '',
    startDate: '2026-01-01T00:00:00Z',
    endDate: '2026-06-01T00:00:00Z',
    image: '',
    icon: '',
    description: `What market ${id} is about.`,
    outcomes: '["Yes","No"]',
    clobTokenIds: JSON.stringify([`${id}1`, `${id}2`]),
    active: true,
    closed: false,
    archived: false,
    createdAt: '2026-01-01T00:00:00Z',
    updatedAt: '2026-01-02T00:00:00Z',
    questionID: '',
    volume: '12.5',
    ...fields,
  };
}

export function event(id: number, fields: Raw = {}): Raw {
  return {
    id: String(id),
    ticker: `ticker-${id}`,
    slug: `event-${id}`,
    title: `Event ${id}`,
    description: `What event ${id} is about.`,
    resolutionSource: 'https://source.example',
    startDate: '2026-01-01T00:00:00Z',
    creationDate: '2026-01-01T00:00:00Z',
    endDate: '2026-06-01T00:00:00Z',
    image: '',
    icon: '',
    active: true,
    closed: false,
    archived: false,
    createdAt: '2026-01-01T00:00:00Z',
    updatedAt: '2026-01-02T00:00:00Z',
    markets: [],
    ...fields,
  };
}

function tag(id: number, slug: string): Raw {
  return {
    id: String(id),
    label: `Tag ${id}`,
    slug,
    createdAt: '2026-01-01T00:00:00Z',
    updatedAt: null,
    requiresTranslation: false,
  };
}

const FARMING = tag(1, 'farming');
const WORLD = tag(2, 'World');
const WORLD_AGAIN = tag(3, 'World');
const UNUSED = tag(4, 'unused');

const CROPS = { id: '1', ticker: 'crops', slug: 'crops', title: 'Crops', seriesType: 'single' };
const RACES = { id: '2', ticker: 'races', slug: 'races', title: 'Races', recurrence: 'weekly' };

/**
 * event 10 (farming, World; crops): market 101 of A, 102 of B, closed, 103 without a creator
 * event 20 (the second World; crops), A's own: market 201 without an end, 202 of B, not active
 * event 30 (no tag; races), closed: market 301 of B, archived, without a condition
 * event 40 (no tag, no series): no market; has the slug of event 20
 */
export const SAMPLES: Raw = {
  tags: [FARMING, WORLD, WORLD_AGAIN, UNUSED],
  series: [CROPS, RACES],
  sites: [
    { id: 'https://Market.example/', creators: [WALLET_A, WALLET_B] },
    { id: 'b.example', creators: [WALLET_B] },
    { id: 'empty.example', creators: [] },
  ],
  events: [
    event(10, {
      slug: 'harvest',
      title: 'Wheat & "rye"',
      tags: [FARMING, WORLD],
      series: [CROPS],
      eventMetadata: { context_description: 'rain' },
      markets: [
        market(103, { question: 'a', endDate: '2026-03-01T00:00:00.5Z' }),
        market(101, { question: 'b', slug: 'Wheat', creator: WALLET_A }),
        market(102, { question: 'B', submitted_by: WALLET_B, closed: true, active: false }),
      ],
    }),
    event(20, {
      slug: 'snow',
      tags: [WORLD_AGAIN],
      series: [CROPS],
      creator: '',
      submitted_by: WALLET_A,
      negRisk: true,
      endDate: undefined,
      markets: [
        market(201, { question: 'é', endDate: null }),
        market(202, { question: '', slug: 'rail yard', creator: WALLET_B, active: false }),
      ],
    }),
    event(30, {
      slug: 'regatta',
      series: [RACES],
      closed: true,
      markets: [market(301, { conditionId: '', creator: WALLET_B, archived: true })],
    }),
    event(40, { slug: 'snow', title: 'Later snow', archived: true, active: false }),
  ],
};
