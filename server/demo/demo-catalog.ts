/**
 * The demo catalog of a first start: invented leagues, weather and science, in the shape of a
 * catalog file with all fields of the catalog, so that every route has something to serve.
 *
 * Pure; any thread. Ids are fixed for ever: market 1001 stands in the README. Condition,
 * question and token ids are SHA-256 of a label, so they collide with nothing deployed; those of
 * positions have the layout of the second protocol.
 */
import { createHash } from 'node:crypto';
import { POSITIONS_VERSION } from '../../storage/catalog/protocol-version.ts';
import { positionIds } from '../catalog/edits/edit-ids.ts';

interface DemoMarket {
  readonly id: number;
  readonly question: string;
  readonly tick: 0.1 | 0.01 | 0.005 | 0.0025 | 0.001 | 0.0001;
  readonly minSize: number;
  /** Yes and No when absent. */
  readonly outcomes?: readonly string[];
}

interface DemoEvent {
  readonly id: number;
  readonly title: string;
  readonly rules: string;
  readonly endDate: string;
  readonly tags: readonly number[];
  readonly series?: number;
  readonly negRisk?: true;
  /** 2: the tokens of its markets are positions. */
  readonly protocol?: 2;
  readonly markets: readonly DemoMarket[];
}

const YES_NO = ['Yes', 'No'];
const CREATED_AT = '2026-01-05T09:00:00Z';
const UPDATED_AT = '2026-02-02T12:30:00Z';
const TAGS = ['Space', 'Science', 'Weather', 'Sports', 'Oceans'] as const;
const [SPACE, SCIENCE, WEATHER, SPORTS, OCEANS] = [1, 2, 3, 4, 5] as const;
const AURORA_LEAGUE = 1;
const PORT_ALDER = 2;
const SERIES = [
  { id: AURORA_LEAGUE, title: 'Aurora League', recurrence: 'weekly' },
  { id: PORT_ALDER, title: 'Port Alder Weather', recurrence: 'monthly' },
] as const;

/** Wallets of which nobody has the key, each of a site of its own. */
const ALDER_CREATOR = `0x${'a1de'.repeat(10)}`;
const AURORA_CREATOR = `0x${'a070'.repeat(10)}`;
const SITES = [
  { id: 'alder.example', creators: [ALDER_CREATOR] },
  { id: 'aurora.example', creators: [AURORA_CREATOR] },
];

const EVENTS: readonly DemoEvent[] = [
  {
    id: 101,
    title: 'Lantern probe at Europa',
    rules: 'Yes if the mission log reports a closed orbit around Europa before the end date.',
    endDate: '2028-12-31T23:59:59Z',
    tags: [SPACE, SCIENCE],
    markets: [
      {
        id: 1001,
        question: 'Will the Lantern probe enter orbit around Europa by the end of 2028?',
        tick: 0.01,
        minSize: 5,
      },
    ],
  },
  {
    id: 102,
    title: 'Aurora League champion 2027',
    rules: 'Yes for the club that lifts the cup of the 2027 final, No for all others.',
    endDate: '2027-11-20T20:00:00Z',
    tags: [SPORTS],
    series: AURORA_LEAGUE,
    negRisk: true,
    markets: ['Harbor Comets', 'Northgate Owls', 'Saltmarsh Herons', 'Cinder Valley Foxes'].map(
      (club, index) => ({
        id: 1002 + index,
        question: `Will the ${club} win the Aurora League in 2027?`,
        tick: 0.001,
        minSize: 5,
      }),
    ),
  },
  {
    id: 103,
    title: 'Harbor Comets vs. Northgate Owls',
    rules: 'Settles on the score after regular time.',
    endDate: '2027-03-14T18:00:00Z',
    tags: [SPORTS],
    series: AURORA_LEAGUE,
    markets: [
      {
        id: 1006,
        question: 'Harbor Comets vs. Northgate Owls: result after regular time',
        tick: 0.01,
        minSize: 1,
        outcomes: ['Harbor Comets', 'Draw', 'Northgate Owls'],
      },
    ],
  },
  {
    id: 104,
    title: 'Saltmarsh Herons vs. Cinder Valley Foxes, cup tie',
    rules: 'Settles on the club that advances, extra time and shoot-out included.',
    endDate: '2027-04-03T18:00:00Z',
    tags: [SPORTS],
    series: AURORA_LEAGUE,
    markets: [
      {
        id: 1007,
        question: 'Which club advances: Saltmarsh Herons or Cinder Valley Foxes?',
        tick: 0.01,
        minSize: 5,
        outcomes: ['Saltmarsh Herons', 'Cinder Valley Foxes'],
      },
    ],
  },
  {
    id: 105,
    title: 'Rain in Port Alder, January 2028',
    rules: 'Yes if the harbour gauge collects more than 120 mm in the month.',
    endDate: '2028-01-31T23:59:59Z',
    tags: [WEATHER],
    series: PORT_ALDER,
    markets: [
      {
        id: 1008,
        question: 'Will more than 120 mm of rain fall in Port Alder in January 2028?',
        tick: 0.1,
        minSize: 1,
      },
    ],
  },
  {
    id: 106,
    title: 'First snow in Port Alder, winter 2027',
    rules: 'Yes if snow lies at the harbour station at 07:00 UTC on any day before the end date.',
    endDate: '2027-12-15T07:00:00Z',
    tags: [WEATHER],
    series: PORT_ALDER,
    markets: [
      {
        id: 1009,
        question: 'Will snow lie in Port Alder before 15 December 2027?',
        tick: 0.01,
        minSize: 5,
      },
    ],
  },
  {
    id: 107,
    title: 'Hottest day in Port Alder, 2027',
    rules: 'Yes if the harbour station measures more than the named temperature on any day.',
    endDate: '2027-12-31T23:59:59Z',
    tags: [WEATHER, SCIENCE],
    series: PORT_ALDER,
    markets: [34, 36, 38].map((degrees, index) => ({
      id: 1010 + index,
      question: `Will Port Alder be hotter than ${degrees} °C on any day of 2027?`,
      tick: 0.01,
      minSize: 5,
    })),
  },
  {
    id: 108,
    title: 'Perseid meteors, August 2027',
    rules: 'Yes if the zenithal hourly rate at the peak is above 150 in the observers’ summary.',
    endDate: '2027-09-01T00:00:00Z',
    tags: [SPACE],
    markets: [
      {
        id: 1013,
        question: 'Will the Perseids of 2027 peak above 150 meteors an hour?',
        tick: 0.1,
        minSize: 0.01,
      },
    ],
  },
  {
    id: 109,
    title: 'Two hours of plasma',
    rules: 'Yes if a fusion experiment publishes one plasma held for 120 minutes or longer.',
    endDate: '2029-12-31T23:59:59Z',
    tags: [SCIENCE],
    markets: [
      {
        id: 1014,
        question: 'Will a fusion experiment hold a plasma for two hours by the end of 2029?',
        tick: 0.001,
        minSize: 5,
      },
    ],
  },
  {
    id: 110,
    title: 'A larger known prime',
    rules: 'Yes if a prime larger than the record of 1 January 2027 is announced and checked.',
    endDate: '2028-06-30T23:59:59Z',
    tags: [SCIENCE],
    markets: [
      {
        id: 1015,
        question: 'Will a larger known prime be announced by mid-2028?',
        tick: 0.0001,
        minSize: 5,
      },
    ],
  },
  {
    id: 111,
    title: 'Dive below 10,900 metres, 2027',
    rules: 'Yes if a crewed vessel logs a depth of more than 10,900 m during the year.',
    endDate: '2027-12-31T23:59:59Z',
    tags: [OCEANS, SCIENCE],
    markets: [
      {
        id: 1016,
        question: 'Will a crewed vessel dive below 10,900 metres in 2027?',
        tick: 0.005,
        minSize: 1,
      },
    ],
  },
  {
    id: 112,
    title: 'An X10 solar flare, 2027',
    rules: 'Yes if a solar flare of class X10 or stronger peaks during the year.',
    endDate: '2027-12-31T23:59:59Z',
    tags: [SPACE, SCIENCE],
    markets: [
      {
        id: 1017,
        question: 'Will a solar flare of class X10 or stronger occur in 2027?',
        tick: 0.0025,
        minSize: 0.5,
      },
    ],
  },
  {
    id: 113,
    title: 'Storm tide at Port Alder, 2028',
    rules: 'Yes if the harbour gauge reads more than 3.20 m at any time of the year.',
    endDate: '2028-12-31T23:59:59Z',
    tags: [WEATHER, OCEANS],
    series: PORT_ALDER,
    protocol: 2,
    markets: [
      {
        id: 1018,
        question: 'Will the tide at Port Alder exceed 3.20 m in 2028?',
        tick: 0.01,
        minSize: 5,
      },
    ],
  },
  {
    id: 114,
    title: 'Harbour master of Port Alder',
    rules: 'Yes for the candidate whom the port names, No for all others.',
    endDate: '2028-05-31T23:59:59Z',
    tags: [OCEANS],
    negRisk: true,
    protocol: 2,
    markets: [
      {
        id: 1019,
        question: 'Will Ines Holm be the next harbour master of Port Alder?',
        tick: 0.01,
        minSize: 5,
      },
    ],
  },
];

/** Condition ids of its markets, by which they are known in a catalog with others. */
export const DEMO_CONDITIONS: ReadonlySet<string> = new Set(
  EVENTS.flatMap((event) => event.markets.map((market) => idsOf(market, event).conditionId)),
);

export function demoCatalog(): unknown {
  const tags = TAGS.map((label, index) => ({
    id: String(index + 1),
    label,
    slug: slugOf(label),
    ...stamps(),
    requiresTranslation: false,
  }));
  const series = SERIES.map(({ id, title, recurrence }) => ({
    id: String(id),
    ticker: slugOf(title),
    slug: slugOf(title),
    title,
    seriesType: 'single',
    recurrence,
    ...pictures(),
    ...openFlags(),
    ...stamps(),
  }));
  const events = EVENTS.map((event) => ({
    id: String(event.id),
    ticker: slugOf(event.title),
    slug: slugOf(event.title),
    title: event.title,
    description: event.rules,
    resolutionSource: '',
    startDate: CREATED_AT,
    creationDate: CREATED_AT,
    endDate: event.endDate,
    ...pictures(),
    ...openFlags(),
    ...stamps(),
    negRisk: event.negRisk ?? false,
    creator: event.series === PORT_ALDER ? ALDER_CREATOR : AURORA_CREATOR,
    tags: tags.filter((tag) => event.tags.includes(Number(tag.id))),
    markets: event.markets.map((market) => marketOf(market, event)),
    series: series.filter((one) => Number(one.id) === event.series),
    eventMetadata: {},
  }));
  return { tags, series, sites: SITES, events };
}

function marketOf(market: DemoMarket, event: DemoEvent): object {
  const { outcomes = YES_NO } = market;
  const { conditionId, ...tokens } = idsOf(market, event);
  return {
    id: String(market.id),
    question: market.question,
    conditionId,
    slug: slugOf(market.question),
    resolutionSource: '',
    startDate: CREATED_AT,
    endDate: event.endDate,
    ...pictures(),
    description: event.rules,
    outcomes: JSON.stringify(outcomes),
    ...tokens,
    ...openFlags(),
    ...stamps(),
    questionID: digestHex(`demo question ${market.id}`),
    negRisk: event.negRisk ?? false,
    orderPriceMinTickSize: market.tick,
    orderMinSize: market.minSize,
    acceptingOrders: true,
    enableOrderBook: true,
  };
}

function idsOf({ id, outcomes = YES_NO }: DemoMarket, event: DemoEvent) {
  const name = `demo condition ${id}`;
  if (event.protocol === 2) {
    const place = event.negRisk === true ? event.markets.findIndex((one) => one.id === id) + 1 : 0;
    const ids = positionIds(`demo event ${event.id}`, name, place, '');
    return {
      conditionId: ids.conditionId,
      version: POSITIONS_VERSION,
      positionIds: ids.tokenIds,
    };
  }
  const tokenIds = outcomes.map((_, index) =>
    BigInt(digestHex(`demo token ${id}/${index}`)).toString(),
  );
  return { conditionId: digestHex(name), clobTokenIds: JSON.stringify(tokenIds) };
}

const stamps = () => ({ createdAt: CREATED_AT, updatedAt: UPDATED_AT });
const pictures = () => ({ image: '', icon: '' });
const openFlags = () => ({ active: true, closed: false, archived: false });

function digestHex(label: string): string {
  return `0x${createHash('sha256').update(label).digest('hex')}`;
}

function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}
