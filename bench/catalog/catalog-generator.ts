/**
 * Generates catalog files of any size that resemble a real one: how many markets, tags and series
 * an event has, how long its texts are, how much its descriptions repeat each other, and how much
 * of it the node does not serve. Words, names and wallets are invented (catalog-prose.ts).
 *
 * Pure: the same size and seed give the same file. Non-goals: irregular data, which the tests
 * cover.
 */
import type { JsonObject } from '../../storage/catalog/catalog-file.ts';
import { Random } from '../random.ts';
import { type Prose, slugOf, titleCase, Words } from './catalog-prose.ts';

export interface GeneratedCatalog {
  readonly tags: readonly JsonObject[];
  readonly series: readonly JsonObject[];
  readonly events: readonly GeneratedEvent[];
  readonly sites: readonly { readonly id: string; readonly creators: readonly string[] }[];
}

export interface GeneratedEvent {
  readonly id: string;
  readonly slug: string;
  readonly title: string;
  readonly markets: readonly GeneratedMarket[];
  readonly [field: string]: unknown;
}

export interface GeneratedMarket {
  readonly id: string;
  readonly slug: string;
  readonly conditionId: string;
  readonly question: string;
  readonly [field: string]: unknown;
}

const TAGS = 1_000;
const SERIES = 150;
const CREATORS = 18;
const SITES = 6;
const FIRST_MARKET_ID = 500_000;
const FIRST_EVENT_ID = 10_000;
const FIRST_TAG_ID = 100;
const FIRST_SERIES_ID = 10;
const START_MS = Date.UTC(2024, 0, 1);
const DAY_MS = 86_400_000;

/**
 * Markets of an event: of each 648, up to how many it is, and the range. A real catalog had 472
 * events with one market, 124 with 2 to 10, 50 with 11 to 40, one with 65 and one with 118.
 */
const EVENT_SIZES = [
  { upTo: 472, low: 1, high: 1 },
  { upTo: 596, low: 2, high: 7 },
  { upTo: 646, low: 11, high: 33 },
  { upTo: 647, low: 65, high: 65 },
  { upTo: 648, low: 118, high: 118 },
] as const;
const EVENT_SIZES_SUM = 648;

/** The states of an event and its markets, each with its share in a hundred. */
const STATES = [
  { upTo: 76, active: true, closed: false, archived: false },
  { upTo: 94, active: true, closed: true, archived: false },
  { upTo: 98, active: false, closed: false, archived: false },
  { upTo: 100, active: false, closed: true, archived: true },
] as const;
type State = (typeof STATES)[number];

/** A catalog file with exactly so many markets. */
export function generateCatalog(markets: number, seed: string): GeneratedCatalog {
  const world = new World(new Random(`catalog ${seed}`));
  const events: GeneratedEvent[] = [];
  for (let made = 0; made < markets; ) {
    const count = Math.min(world.eventSize(), markets - made);
    events.push(world.event(FIRST_EVENT_ID + events.length, FIRST_MARKET_ID + made, count));
    made += count;
  }
  return { tags: world.tags, series: world.series, events, sites: world.sites };
}

/** The question of each market in the given revision of a file tells which revision it is. */
export function revisionOf(question: string): number {
  return Number(/ \(revision (\d+)\)$/.exec(question)?.[1] ?? 0);
}

/**
 * A revision of a catalog, with every market changed: its question says the revision; of each ten markets one
 * has another tick size and another stops or starts to take orders.
 */
export function revise(catalog: GeneratedCatalog, revision: number): GeneratedCatalog {
  const events = catalog.events.map((event) => ({
    ...event,
    markets: event.markets.map((market) => {
      const digit = Number(market.id) % 10;
      return {
        ...market,
        question: `${market.question} (revision ${revision})`,
        ...(digit === 3 ? { orderPriceMinTickSize: revision % 2 === 0 ? 0.01 : 0.001 } : {}),
        ...(digit === 7 ? { acceptingOrders: revision % 2 === 0 } : {}),
      };
    }),
  }));
  return { ...catalog, events };
}

class World {
  readonly tags: readonly JsonObject[];
  readonly series: readonly JsonObject[];
  readonly sites: GeneratedCatalog['sites'];
  readonly #random: Random;
  readonly #words: Words;
  readonly #creators: readonly string[];

  constructor(random: Random) {
    this.#random = random;
    this.#words = new Words(random);
    this.#creators = Array.from({ length: CREATORS }, () => this.#wallet());
    this.sites = Array.from({ length: SITES }, (_, index) => ({
      id: `site-${index + 1}.example`,
      creators: this.#creators.slice((index * CREATORS) / SITES, ((index + 1) * CREATORS) / SITES),
    }));
    this.tags = Array.from({ length: TAGS }, (_, index) => this.#tag(FIRST_TAG_ID + index));
    this.series = Array.from({ length: SERIES }, (_, index) =>
      this.#oneSeries(FIRST_SERIES_ID + index),
    );
  }

  eventSize(): number {
    const drawn = this.#random.below(EVENT_SIZES_SUM);
    const { low, high } = EVENT_SIZES.find(({ upTo }) => drawn < upTo)!;
    return this.#random.between(low, high);
  }

  event(id: number, firstMarketId: number, marketCount: number): GeneratedEvent {
    const random = this.#random;
    const prose = this.#words.prose();
    const title = prose.sentence(random.between(22, 68));
    const slug = `${slugOf(title)}-${id}`;
    const drawn = random.below(100);
    const state = STATES.find(({ upTo }) => drawn < upTo)!;
    const startMs = START_MS + random.below(700) * DAY_MS + random.below(DAY_MS);
    const negRisk = marketCount > 2;
    const picture = pictureOf(slug);
    const about = prose.text(random.between(350, 1_050));
    const common = { state, startMs, negRisk, picture, about, prose };
    const markets = Array.from({ length: marketCount }, (_, index) =>
      this.#market(firstMarketId + index, title, marketCount, common),
    );
    const series = random.below(3) === 0 ? [random.pick(this.series)] : [];
    return {
      id: String(id),
      ticker: slug,
      slug,
      title,
      description: about,
      resolutionSource: '',
      ...datesOf(startMs),
      creationDate: instant(startMs),
      image: picture,
      icon: picture,
      ...flagsOf(state),
      new: false,
      featured: false,
      restricted: true,
      liquidity: random.below(1e9) / 1e4,
      volume: random.below(2 ** 31) / 1e3,
      openInterest: 0,
      competitive: random.below(1e6) / 1e6,
      volume24hr: random.below(1e6) / 1e2,
      enableOrderBook: true,
      commentCount: random.below(500),
      tags: this.#eventTags(),
      ...(series.length === 0 ? {} : { series }),
      enableNegRisk: negRisk,
      negRisk,
      negRiskAugmented: false,
      ...(random.below(40) === 0 ? { eventMetadata: this.#metadata(prose, startMs) } : {}),
      markets,
    };
  }

  #market(id: number, eventTitle: string, ofMarkets: number, common: Common): GeneratedMarket {
    const random = this.#random;
    const { state, startMs, negRisk, picture, prose } = common;
    const outcome = titleCase(prose.words(random.between(1, 2)));
    const question = ofMarkets === 1 ? eventTitle : prose.question(outcome, random.between(28, 70));
    const closed = state.closed || random.below(60) === 0;
    return {
      id: String(id),
      question,
      conditionId: `0x${hex(random, 64)}`,
      slug: `${slugOf(question)}-${id}`,
      resolutionSource: random.below(4) === 0 ? `https://results.example/${id}` : '',
      ...datesOf(startMs),
      image: picture,
      icon: picture,
      // One description for the event, but for the outcome it is about.
      description: prose.about(outcome, common.about),
      outcomes: '["Yes", "No"]',
      outcomePrices: '["0.455", "0.545"]',
      clobTokenIds: `["${tokenId(random)}", "${tokenId(random)}"]`,
      volume: String(random.below(2 ** 31) / 1e3),
      ...flagsOf(state),
      closed,
      ...(closed ? { closedTime: '2025-02-11 19:43:37+00' } : {}),
      submitted_by: random.below(20) === 0 ? '' : random.pick(this.#creators),
      groupItemTitle: ofMarkets === 1 ? '' : outcome,
      groupItemThreshold: String(id % 100),
      questionID: `0x${hex(random, 64)}`,
      enableOrderBook: true,
      orderPriceMinTickSize: random.below(5) < 3 ? 0.001 : 0.01,
      orderMinSize: 5,
      volumeNum: random.below(2 ** 31) / 1e3,
      endDateIso: '2026-12-31',
      startDateIso: '2025-01-13',
      volume24hr: random.below(1e6) / 1e2,
      acceptingOrders: !closed,
      negRisk,
      negRiskMarketID: negRisk ? `0x${hex(random, 64)}` : '',
      acceptingOrdersTimestamp: instant(startMs),
      spread: 0.001,
      lastTradePrice: 0.46,
      bestBid: 0.455,
      bestAsk: 0.456,
      negRiskOther: false,
      feesEnabled: false,
      requiresTranslation: false,
    };
  }

  #eventTags(): readonly JsonObject[] {
    const chosen = new Set<JsonObject>();
    const count = this.#random.between(2, 8);
    // Few tags stand on many events, most on a handful.
    while (chosen.size < count) chosen.add(this.tags[this.#words.rank(this.tags.length)]!);
    return [...chosen];
  }

  #tag(id: number): JsonObject {
    const label = titleCase(this.#words.prose().words(this.#random.between(1, 2)));
    return {
      id: String(id),
      label,
      slug: `${slugOf(label)}-${id}`,
      forceShow: false,
      publishedAt: '2023-11-02 21:03:21.116+00',
      createdAt: instant(START_MS + id),
      updatedAt: instant(START_MS + id * DAY_MS),
      requiresTranslation: false,
    };
  }

  #oneSeries(id: number): JsonObject {
    const title = titleCase(this.#words.prose().words(this.#random.between(1, 4)));
    const slug = `${slugOf(title)}-${id}`;
    return {
      id: String(id),
      ticker: slug,
      slug,
      title,
      seriesType: 'single',
      recurrence: this.#random.pick(['daily', 'weekly', 'monthly', 'annual']),
      image: '',
      icon: '',
      active: true,
      closed: false,
      archived: false,
      new: false,
      featured: false,
      restricted: true,
      createdAt: instant(START_MS + id),
      updatedAt: instant(START_MS + id * DAY_MS),
      volume: this.#random.below(1e9),
    };
  }

  #metadata(prose: Prose, startMs: number): JsonObject {
    return {
      context_description: prose.text(this.#random.between(600, 900)),
      context_requires_regen: false,
      context_updated_at: instant(startMs),
    };
  }

  /** Letter case as signers write it: mixed. */
  #wallet(): string {
    const digits = Array.from({ length: 40 }, () =>
      this.#random.pick([...'0123456789abcdefABCDEF']),
    );
    return `0x${digits.join('')}`;
  }
}

/** The texts that the markets of an event share. */
interface Common {
  readonly state: State;
  readonly startMs: number;
  readonly negRisk: boolean;
  readonly picture: string;
  readonly about: string;
  readonly prose: Prose;
}

function flagsOf({ active, closed, archived }: State) {
  return { active, closed, archived };
}

function datesOf(startMs: number) {
  return {
    startDate: instant(startMs),
    endDate: new Date(startMs + 90 * DAY_MS).toISOString().replace('.000Z', 'Z'),
    createdAt: instant(startMs - DAY_MS),
    updatedAt: instant(startMs + 7 * DAY_MS),
  };
}

/** With microseconds, as most instants of real catalogs are. */
function instant(ms: number): string {
  return new Date(ms).toISOString().replace('Z', `${100 + (ms % 900)}Z`);
}

function pictureOf(slug: string): string {
  return `https://pictures.example/uploads/${slug.slice(0, 60)}.jpg`;
}

function hex(random: Random, digits: number): string {
  let text = '';
  while (text.length < digits) text += random.next().toString(16).padStart(8, '0');
  return text;
}

/** 77 digits, which is below 2^256 whatever they are. */
function tokenId(random: Random): string {
  let text = String(random.between(10_000, 99_999));
  while (text.length < 77) text += String(random.below(1_000_000_000)).padStart(9, '0');
  return text;
}
