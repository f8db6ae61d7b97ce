/** Markets as the page shows them, read from the catalog. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { tokenIdsOf } from '../../../../client/client.ts';
import type { MarketAnswer, WholeEventAnswer } from '../../../../client/types.ts';
import { publicClient } from './api.ts';

/** A market of a list, or of an event. */
type Row = Omit<MarketAnswer, 'events'> & Partial<Pick<MarketAnswer, 'events'>>;

/** `ended`: the end date is past, and orders are taken until the market is closed. */
export type MarketState = 'open' | 'paused' | 'ended' | 'closed';

export interface Resolution {
  /** Pay of a share of each outcome, 0 to 1; all are equal where the market is void. */
  readonly payouts: readonly number[];
  /** Date-time, or ''. */
  readonly at: string;
  /** Note of the operator; '' = there is none. */
  readonly note: string;
}

export interface Market {
  readonly id: string;
  readonly question: string;
  readonly conditionId: string;
  readonly eventId: string;
  readonly eventTitle: string;
  readonly endDate: string;
  readonly rules: string;
  readonly outcomes: readonly string[];
  /** One for each outcome. */
  readonly tokens: readonly string[];
  /** Chances of the catalog, one for each outcome; undefined without a trade and without a book of two sides. */
  readonly chances: readonly (number | undefined)[];
  readonly state: MarketState;
  readonly resolution: Resolution | undefined;
  /** Payout that is proposed, and when it becomes final; undefined without one. */
  readonly proposed: Resolution | undefined;
  readonly tick: number;
  readonly sizeMin: number;
  readonly volume: number;
  readonly volumeDay: number;
  readonly startDate: string;
  readonly negRisk: boolean;
}

export interface MarketEvent {
  readonly id: string;
  readonly title: string;
  readonly rules: string;
  readonly endDate: string;
  readonly tags: readonly string[];
  readonly markets: readonly Market[];
}

/** Markets of the list; a venue with more of them is searched. */
const LISTED_MAX = 300;
const EVENTS_SEARCHED = 20;

/** Markets of rows of the wallet. */
const known = signal<ReadonlyMap<string, Market>>(new Map());

/**
 * Markets that are not closed, or those that are; those with most volume of a day first.
 * @param tag slug of the only tag to list; '' = all
 */
export function listMarkets(isClosed: boolean, tag: string): Promise<Market[]> {
  return busiestMarkets({ closed: isClosed, ...filterOf(tag) }, LISTED_MAX);
}

/** Markets of a condition, those with most volume of a day first. */
export async function busiestMarkets(condition: object, limit: number): Promise<Market[]> {
  const client = await publicClient();
  const order = { order: 'volume24hr,volume', ascending: false, limit };
  const rows = await client.call('GET /markets', { query: { ...condition, ...order } });
  return rows.map(marketOf);
}

export interface Tag {
  readonly slug: string;
  readonly label: string;
}

/** Tags of the catalog, by label. */
export async function listTags(): Promise<Tag[]> {
  const client = await publicClient();
  const rows = await client.call('GET /tags', { query: { limit: LISTED_MAX } });
  return rows
    .map(({ label, slug }) => ({ slug, label }))
    .sort((a, b) => a.label.localeCompare(b.label));
}

function filterOf(tag: string): { readonly tag_slug?: string } {
  return tag === '' ? {} : { tag_slug: tag };
}

export async function readMarket(id: string): Promise<Market> {
  const client = await publicClient();
  return marketOf(await client.call('GET /markets/:id', { path: { id } }));
}

/** Markets by their condition ids, as far as they are read; reads those that are missing. */
export function useMarkets(ids: readonly string[]): ReadonlyMap<string, Market> {
  const missing = [...new Set(ids)].filter((id) => !known.value.has(id));
  const names = missing.slice(0, LISTED_MAX).join();
  useEffect(() => {
    if (names === '') return;
    readMarkets(names).then(
      (rows) => {
        known.value = new Map([...known.peek(), ...rows]);
      },
      () => undefined,
    );
  }, [names]);
  return known.value;
}

/** @param ids of conditions, with commas; also of markets that have ended */
export async function readMarkets(ids: string): Promise<readonly (readonly [string, Market])[]> {
  const client = await publicClient();
  const query = { condition_ids: ids, limit: LISTED_MAX };
  const rows = await client.call('GET /markets', { query });
  return rows.map((row) => [row.conditionId, marketOf(row)] as const);
}

export async function readEvent(id: string): Promise<MarketEvent> {
  const client = await publicClient();
  return eventOf(await client.call('GET /events/:id', { path: { id } }));
}

/**
 * Markets of the events that a text finds, those whose question has all of its words first.
 * @param tag slug of the only tag to search; '' = all
 */
export async function searchMarkets(text: string, tag: string): Promise<Market[]> {
  const client = await publicClient();
  const only = tag === '' ? {} : { events_tag: tag };
  const query = { q: text, search_tags: false, limit_per_type: EVENTS_SEARCHED, ...only };
  const found = await client.call('GET /public-search', { query });
  const ids = found.events.map(({ id }) => id);
  if (ids.length === 0) return [];
  const page = await client.call('GET /events/keyset', {
    query: { id: ids.map(Number), limit: EVENTS_SEARCHED },
  });
  const markets = page.events.flatMap(({ id, markets: rows, title }) =>
    rows.map((row) => ({ ...marketOf(row), eventId: id, eventTitle: title })),
  );
  const words = text.toLowerCase().split(/\s+/);
  const hasAll = ({ question }: Market): number =>
    Number(words.every((word) => question.toLowerCase().includes(word)));
  return markets.sort((a, b) => hasAll(b) - hasAll(a) || b.volumeDay - a.volumeDay);
}

function eventOf(row: WholeEventAnswer): MarketEvent {
  const event = { id: row.id, title: row.title };
  return {
    ...event,
    rules: row.description,
    endDate: row.endDate ?? '',
    tags: row.tags.map(({ label }) => label),
    markets: row.markets.map((market) => ({
      ...marketOf(market),
      eventId: event.id,
      eventTitle: event.title,
    })),
  };
}

function marketOf(row: Row): Market {
  const event = row.events?.[0];
  return {
    id: String(row.id),
    question: row.question ?? '',
    conditionId: row.conditionId,
    eventId: String(event?.id ?? ''),
    eventTitle: event?.title ?? '',
    endDate: row.endDate ?? '',
    rules: row.description ?? '',
    outcomes: listOf(row.outcomes),
    tokens: tokenIdsOf(row),
    chances: chancesOf(row),
    state: stateOf(row),
    resolution: resolutionOf(row),
    proposed: proposalOf(row),
    tick: Number(row.orderPriceMinTickSize ?? 0.01),
    sizeMin: Number(row.orderMinSize ?? 0),
    volume: Number(row.volumeNum ?? 0),
    volumeDay: Number(row.volume24hr ?? 0),
    startDate: row.startDate ?? '',
    negRisk: row.negRisk === true,
  };
}

/** Known of a pair, of the first of more outcomes, and of a market that has resolved. */
function chancesOf(row: Row): (number | undefined)[] {
  const { bestAsk, bestBid, lastTradePrice, outcomePrices, umaResolutionStatus } = row;
  const prices = listOf(outcomePrices).map(Number);
  const isTwoSided = Number(bestBid) > 0 && Number(bestAsk) < 1;
  const isResolved = umaResolutionStatus === 'resolved';
  const isKnown = isTwoSided || Number(lastTradePrice) > 0 || isResolved;
  // Best prices and last trade are those of the first outcome, and so of the rest of a pair.
  const isOfRow = (i: number): boolean => i === 0 || prices.length === 2 || isResolved;
  return prices.map((price, i) => (isKnown && isOfRow(i) ? price : undefined));
}

function resolutionOf(row: Row): Resolution | undefined {
  if (row.umaResolutionStatus !== 'resolved') return undefined;
  const payouts = listOf(row.outcomePrices).map(Number);
  return { payouts, at: row.closedTime ?? '', note: row.resolutionNote ?? '' };
}

function proposalOf(row: Row): Resolution | undefined {
  if (row.umaResolutionStatus !== 'proposed') return undefined;
  const payouts = listOf(row.proposedPrices).map(Number);
  return { payouts, at: row.umaEndDate ?? '', note: row.resolutionNote ?? '' };
}

function stateOf(row: Row): MarketState {
  const { acceptingOrders, active, archived, closed, enableOrderBook, endDate } = row;
  if (closed === true || archived === true) return 'closed';
  if (active === false || acceptingOrders === false || enableOrderBook === false) return 'paused';
  return Date.parse(endDate ?? '') < Date.now() ? 'ended' : 'open';
}

/** Name of the outcome that pays all; undefined where none does, as in a void market. */
export function winnerOf({ outcomes }: Market, { payouts }: Resolution): string | undefined {
  return outcomes[payouts.indexOf(1)];
}

export function isVoid({ payouts }: Resolution): boolean {
  return payouts.every((pays) => pays === payouts[0]);
}

function listOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.map(String);
  return typeof value === 'string' && value !== '' ? (JSON.parse(value) as string[]) : [];
}
