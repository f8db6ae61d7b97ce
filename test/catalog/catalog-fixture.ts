/**
 * Catalog files for tests: the recorded one, and an invented one with every oddity of real ones.
 * Oddities are absent fields, lists as arrays, dates in other forms, copies of several days, shared
 * slugs, creators at every level.
 *
 * Non-goals: faults that make a whole file unreadable (catalog-file.test.ts).
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Random } from '../common/random.ts';
import { ROOT } from '../common/root.ts';

type Fields = Record<string, unknown>;

export interface OddCatalog {
  readonly [key: string]: unknown;
  readonly events: Fields[];
  readonly tags: Fields[];
  readonly series: Fields[];
  readonly sites: Fields[];
}

const REAL_FILE = join(ROOT, '../shared/data/catalog-shared.json');
export const NO_REAL_FILE = '../shared/data/catalog-shared.json is not there';

/** The recorded catalog with two sites added, for it lists none; undefined where it is not there. */
export function realCatalog(): OddCatalog | undefined {
  if (!existsSync(REAL_FILE)) return undefined;
  const file: OddCatalog = JSON.parse(readFileSync(REAL_FILE, 'utf8'));
  const markets = file.events.flatMap((event) => event.markets as Fields[]);
  const wallets = [...new Set(markets.map((market) => market.submitted_by))].filter(Boolean);
  const sites = [
    { id: 'first.example', creators: wallets.slice(0, 1) },
    { id: 'rest.example', creators: wallets.slice(1) },
  ];
  return { ...file, sites };
}

const WORDS = [
  ...['harbour', 'lantern', 'Orchard', 'glacier', 'meadow', 'copper', 'Violin', 'compass', 'ferry'],
  ...['Éclair', 'naïve', 'Müller', 'čaj', 'Año', 'señal', 'crème', 'Zürich', 'İzmir'],
  ...['harbours', 'lanterns', 'orch', 'glac', 'co', 'v2', '2031', '17', 'ferryman'],
];
const TAILS = [
  '',
  '',
  '',
  ' ',
  '?',
  ' “quoted”',
  ' — dash',
  ' \u0000',
  ' \ud83d',
  ' 🎻',
  ' </b>\\"',
];
const LETTERS = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];

/** A catalog of about `size` markets, most of them listed for trading. */
export function oddCatalog(seed: number, size: number): OddCatalog {
  const random = new Random(seed);
  const wallets = Array.from({ length: 6 }, () => hex(random, 40));
  const tags = Array.from({ length: 25 }, (_, n) => oddTag(random, n));
  const series = Array.from({ length: 9 }, (_, n) => oddSeries(random, n));
  const events: Fields[] = [];
  let made = 0;
  while (made < size) {
    const count = random.chance(5) ? 0 : random.chance(60) ? 1 : random.between(2, 12);
    const markets = Array.from({ length: count }, (_, n) => oddMarket(random, made + n, wallets));
    made += count;
    events.push(oddEvent(random, events.length, { markets, tags, series, wallets }));
  }
  addCopies(random, events, tags, series);
  return { events: shuffled(random, events), tags, series, sites: sitesOf(wallets) };
}

/** Ids with gaps, of several lengths, so that their order as texts differs. */
const idAt = (n: number) => String(3 + n * 7);

function oddTag(random: Random, n: number): Fields {
  return {
    id: random.chance(80) ? idAt(n) : Number(idAt(n)),
    label: sentence(random, 2),
    // Two tags may share a slug; case makes a difference.
    slug: random.pick([`tag-${n}`, `Tag-${n}`, `tag-${n % 5}`, `tag ${n}+&=%`, `тег-${n}`]),
    ...dates(random, ['createdAt', 'updatedAt']),
    ...maybe(random, 80, 'requiresTranslation', random.chance(30)),
    forceShow: true,
  };
}

function oddSeries(random: Random, n: number): Fields {
  return {
    id: idAt(n),
    ticker: `series-${n}`,
    slug: random.pick([`series-${n}`, `series-${n % 4}`, `Series-${n}`]),
    title: sentence(random, 3),
    seriesType: 'single',
    recurrence: random.pick(['daily', 'weekly', 'annual']),
    ...maybe(random, 60, 'image', random.pick(['', `images/${n}.png`])),
    ...maybe(random, 60, 'icon', `icons/${n}.png`),
    ...flags(random),
    ...dates(random, ['createdAt', 'updatedAt']),
    volume: 12.5,
  };
}

interface EventParts {
  readonly markets: Fields[];
  readonly tags: readonly Fields[];
  readonly series: readonly Fields[];
  readonly wallets: readonly string[];
}

function oddEvent(random: Random, n: number, parts: EventParts): Fields {
  const some = (list: readonly Fields[], max: number) =>
    Array.from({ length: random.below(max + 1) }, () => olderCopy(random, random.pick(list)));
  const series = some(parts.series, 2);
  return {
    id: random.chance(90) ? idAt(n) : Number(idAt(n)),
    ticker: `event-${n}`,
    slug: slugOf(random, 'event', n),
    ...maybe(random, 95, 'title', sentence(random, 6)),
    ...maybe(random, 90, 'description', sentence(random, 25)),
    ...maybe(
      random,
      70,
      'resolutionSource',
      random.pick(['', '\u0000', 'https://results.example/']),
    ),
    ...dates(random, ['startDate', 'creationDate', 'endDate', 'createdAt', 'updatedAt']),
    ...maybe(random, 90, 'image', random.pick(['', `images/e${n}.png`])),
    ...maybe(random, 90, 'icon', random.pick(['', `icons/e${n}.png`])),
    ...flags(random),
    ...maybe(random, 60, 'negRisk', random.chance(50)),
    ...maybe(random, 20, 'creator', oddWallet(random, parts.wallets)),
    ...maybe(random, 30, 'submitted_by', oddWallet(random, parts.wallets)),
    ...maybe(
      random,
      30,
      'eventMetadata',
      random.pick([null, {}, { note: 'ü', deep: [1, { a: 2 }] }]),
    ),
    ...maybe(random, 80, 'tags', some(parts.tags, 4)),
    ...(series.length > 0 || random.chance(50) ? { series } : {}),
    ...maybe(random, 30, 'seriesSlug', 'series-of-another-name'),
    // As served elsewhere, a market knows its events; ours has its own.
    markets: parts.markets,
    volume: 1234.5,
    liquidity: 0,
  };
}

function oddMarket(random: Random, n: number, wallets: readonly string[]): Fields {
  const outcomes = random.chance(90) ? ['Yes', 'No'] : LETTERS.slice(0, random.between(3, 7));
  const tokens = outcomes.map(
    (_, index) => `${7 + (index % 3)}${String(n * 10 + index).padStart(75, '0')}`,
  );
  const isNative = random.chance(10);
  const shown = (list: readonly string[]) =>
    isNative ? list : random.chance(50) ? JSON.stringify(list) : `["${list.join('", "')}"]`;
  const letter = random.chance(6) ? 'A' : 'a';
  const condition = `0x${String(n + 1)
    .padStart(10, 'c0ffee')
    .padStart(64, `${letter}1`)}`;
  return {
    id: random.chance(95) ? idAt(n) : Number(idAt(n)),
    ...maybe(random, 98, 'question', sentence(random, 5)),
    conditionId: random.chance(92) ? condition : random.pick(['', null, '0x12', 'none']),
    slug: slugOf(random, 'market', n),
    ...maybe(
      random,
      80,
      'resolutionSource',
      random.pick(['', '\u0000', 'https://results.example/a?b=c']),
    ),
    ...dates(random, ['startDate', 'endDate', 'createdAt', 'updatedAt']),
    ...maybe(random, 95, 'image', random.pick(['', `images/${n}.png`])),
    ...maybe(random, 95, 'icon', random.pick(['', null, `icons/${n}.png`])),
    ...maybe(random, 95, 'description', sentence(random, 30)),
    outcomes: shown(outcomes),
    ...maybe(random, 92, 'clobTokenIds', random.chance(3) ? 'not a list' : shown(tokens)),
    ...flags(random),
    ...maybe(random, 70, 'questionID', hex(random, 64)),
    ...maybe(random, 60, 'negRisk', random.chance(50)),
    ...maybe(
      random,
      80,
      'orderPriceMinTickSize',
      random.pick([0.01, 0.001, '0.1', 0.0001, 0.02, '']),
    ),
    ...maybe(random, 80, 'orderMinSize', random.pick([5, 15, '1', 0.5, 0, null, -4, 'many'])),
    ...maybe(random, 70, 'acceptingOrders', random.chance(80)),
    ...maybe(random, 70, 'enableOrderBook', random.chance(80)),
    ...maybe(random, 20, 'creator', oddWallet(random, wallets)),
    ...maybe(random, 50, 'submitted_by', oddWallet(random, wallets)),
    ...maybe(random, 20, 'raw_metadata', random.pick([null, {}, { version: 1, outcomes: ['ß'] }])),
    volume: '17.25',
    outcomePrices: '["0.5", "0.5"]',
    groupItemThreshold: '0',
  };
}

function slugOf(random: Random, kind: string, n: number): string {
  const plain = `${kind}-${n}`;
  if (random.chance(70)) return plain;
  return random.pick([
    `${kind}-${n % 6}`, // shared by many
    `event-${n % 20}`, // of the other kind too: separate name spaces
    plain.toUpperCase(),
    `${plain}-ü-事-${'x'.repeat(200)}`,
    `${plain} a+b&c=d%2F`,
    '',
  ]);
}

function oddWallet(random: Random, wallets: readonly string[]): string {
  if (random.chance(20)) return random.pick(['', 'nobody', '0x12']);
  const wallet = random.pick(wallets);
  return random.chance(50) ? wallet : `0x${wallet.slice(2).toUpperCase()}`;
}

function flags(random: Random): Fields {
  return {
    ...maybe(random, 97, 'active', random.chance(92)),
    ...maybe(random, 97, 'closed', random.chance(12)),
    ...maybe(random, 97, 'archived', random.chance(5)),
  };
}

function dates(random: Random, names: readonly string[]): Fields {
  return Object.assign({}, ...names.map((name) => maybe(random, 90, name, oddDate(random))));
}

/** Few different instants, so that many tie; some differ in the last decimals only. */
function oddDate(random: Random): unknown {
  const day = `2031-0${random.between(1, 3)}-1${random.below(3)}`;
  const hour = `0${random.below(3)}`;
  if (random.chance(6)) return random.pick([null, '', 'soon', 'test 1', '2031-13-45T00:00:00Z']);
  if (random.chance(5)) return `${day} ${hour}:00:00+00`;
  return `${day}T${hour}:00:00${random.pick(['', '', '.5', '.500', '.123456', '.123457'])}Z`;
}

function sentence(random: Random, length: number): string {
  const words = Array.from({ length: random.between(1, length) }, () => random.pick(WORDS));
  return `${words.join(' ')}${random.chance(20) ? random.pick(TAILS) : ''}`;
}

/** A shared object as an event contains it: often of another day and in another language. */
function olderCopy(random: Random, shared: Fields): Fields {
  if (random.chance(60)) return shared;
  return {
    ...shared,
    label: '事件',
    slug: `${shared.slug}-alt`,
    updatedAt: '2032-01-01T00:00:00Z',
  };
}

function addCopies(random: Random, events: Fields[], tags: Fields[], series: Fields[]): void {
  const copied = events.slice(0, 3);
  for (const event of copied) {
    event.updatedAt = '2031-05-01T00:00:00Z';
    const title = 'the newest version of this event';
    const updatedAt = random.pick(['2031-04-01T00:00:00Z', '2031-06-01T00:00:00Z']);
    events.push({ ...event, title, updatedAt });
  }
  events.push({ id: 'none', title: 'without a usable id', markets: [] }, { title: 'no id at all' });
  tags.push({ ...tags[0], label: 'the last of two', updatedAt: '2032-02-02T00:00:00Z' });
  tags.push({ id: '-1', label: 'without a usable id' });
  // Two tags of one slug on the same few events, which are to be listed once each.
  const twins = ['900002', '900003'].map((id) => ({ id, label: 'twin', slug: 'twin-tag' }));
  for (const event of events.slice(9, 13))
    event.tags = [...twins, ...((event.tags ?? []) as Fields[])];
  const lonely = { id: '900001', label: 'only nested', slug: 'only-nested' };
  for (const event of events.slice(4, 8))
    event.tags = [lonely, ...((event.tags ?? []) as Fields[])];
  // A market that moved: it belongs to the event that has its newest version.
  const [moved] = events.flatMap((event) => event.markets as Fields[]);
  const target = events[4]?.markets as Fields[];
  if (moved !== undefined) target.push({ ...moved, updatedAt: '2033-01-01T00:00:00Z' });
  const last = series.pop();
  if (last !== undefined) for (const event of events.slice(5, 7)) event.series = [last];
}

function sitesOf(wallets: readonly string[]): Fields[] {
  return [
    { id: 'one.example', creators: wallets.slice(0, 1) },
    {
      id: 'several.example',
      creators: wallets.slice(0, 4).map((w) => `0x${w.slice(2).toUpperCase()}`),
    },
    { id: ' HTTPS://Spelled.Example./markets', creators: wallets.slice(3) },
    { id: 'One.Example.', creators: wallets.slice(5) }, // the first one again
    { id: 'empty.example', creators: [] },
    { id: 'unknown-wallet.example', creators: [`0x${'9'.repeat(40)}`] },
  ];
}

function maybe(random: Random, percent: number, name: string, value: unknown): Fields {
  return random.chance(percent) ? { [name]: value } : {};
}

function hex(random: Random, digits: number): string {
  return `0x${Array.from({ length: digits }, () => random.below(16).toString(16)).join('')}`;
}

function shuffled<T>(random: Random, list: readonly T[]): T[] {
  const out = [...list];
  for (let i = out.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [out[i], out[j]] = [out[j]!, out[i]!];
  }
  return out;
}
