/**
 * What an operator can do to a catalog, each as a function from one catalog to the next: a new event or market, and
 * changes of those that are there. The same wish twice changes nothing.
 *
 * Pure; any thread. Not here: the engine, which follows the catalog, and resolves.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Catalog, type JsonObject, readCatalog } from '../../storage/catalog/catalog-file.ts';
import { isObject, text, textList } from '../../storage/catalog/catalog-json.ts';
import { conditionIdOf, hasEnded, tradingTerms } from '../../storage/catalog/catalog-market.ts';
import {
  isResolved,
  MADE,
  operatorEnd,
  operatorFee,
  proposalIn,
  RESOLVED_STATUS,
  withProposal,
} from '../../storage/catalog/operator-marks.ts';
import { changedBy, marketsOf } from '../../storage/catalog/operator-objects.ts';
import type { ResolutionState } from '../catalog/resolution-state.ts';
import { marketIds, numberOf } from './venue-ids.ts';

export interface EventWish {
  readonly title: string;
  readonly description?: string;
  readonly startDate?: string;
  readonly endDate?: string;
  readonly tags?: readonly string[];
  readonly negRisk?: boolean;
  /** The key, which tells events of one title apart; older catalogs store it under this name. */
  readonly id?: string;
}

export interface MarketWish {
  readonly question: string;
  readonly outcomes: readonly string[];
  /** An event that an operator made; without it the market gets one of its own. */
  readonly event?: string;
  readonly description?: string;
  readonly startDate?: string;
  readonly endDate?: string;
  readonly tick?: string;
  readonly minimum?: string;
  /** Base fee of takers in basis points. */
  readonly fee?: number;
  readonly negRisk?: boolean;
  /** The market trades on after `endDate`. */
  readonly keepOpen?: true;
  readonly id?: string;
}

/** `at`: the time, ISO 8601. */
export type Edit =
  | { readonly kind: 'event'; readonly wish: EventWish; readonly at: string }
  | { readonly kind: 'market'; readonly wish: MarketWish; readonly at: string }
  | {
      readonly kind: 'change';
      readonly condition: string;
      readonly changes: JsonObject;
      readonly fixed?: FixedMembers;
      readonly at: string;
    }
  | {
      readonly kind: 'change event';
      readonly event: string;
      readonly changes: Partial<Omit<EventWish, 'id'>>;
      readonly at: string;
    }
  /** Says what the engine does of these markets. Those that the catalog does not list are left out. */
  | { readonly kind: 'resolutions'; readonly conditions: readonly string[]; readonly at: string }
  /** The ends of these markets have come, by condition id: unix milliseconds. */
  | { readonly kind: 'ended'; readonly ends: ReadonlyMap<string, number>; readonly at: string }
  /** Nothing but what every edit brings: markets as they are registered. */
  | { readonly kind: 'aligned' };

type StateOf = (condition: string) => ResolutionState;

/** What is said of them must be as it is. */
export interface FixedMembers {
  readonly outcomes?: readonly string[];
  readonly event?: string;
  readonly negRisk?: boolean;
}

export interface Edited {
  /** Undefined: nothing is to be changed. */
  readonly catalog?: Catalog;
  readonly event: string;
  readonly slug: string;
  readonly condition: string;
  /** The time at which the market ends; null = none, and of an event. */
  readonly end: string | null;
  readonly tokens: readonly string[];
  /** Names, in the same order. */
  readonly outcomes: readonly string[];
}

export interface EditRefused {
  readonly status: 400 | 404 | 409;
  readonly error: string;
  readonly detail: string;
}

/**
 * @param isNew whether the catalog before is not stored as it is given here
 * @param stateOf what the engine says of a market
 */
export function edited(
  before: Catalog,
  edit: Edit,
  isNew = false,
  stateOf: StateOf = () => undefined,
): Edited | EditRefused {
  if (edit.kind === 'aligned')
    return { ...shown({ id: '' }), ...(isNew ? { catalog: before } : {}) };
  if (edit.kind === 'event') return withEvent(before, edit.wish, edit.at);
  if (edit.kind === 'market') return withMarket(before, edit.wish, edit.at);
  if (edit.kind === 'change event') return withEventChange(before, edit);
  if (edit.kind === 'resolutions') return withResolutions(before, edit, stateOf);
  if (edit.kind === 'ended') return withEnded(before, edit);
  return withChange(before, edit);
}

function withEvent(before: Catalog, wish: EventWish, at: string): Edited | EditRefused {
  const id = numberOf('event', wish.id ?? wish.title);
  const known = before.events.find((event) => event.id === id);
  if (known !== undefined) {
    return sameWish(known, wish) ? shown(known) : conflict('an event', 'title');
  }
  const event = eventOf(id, wish, at);
  return datesFault(wish) ?? next(before, [...before.events, event], event);
}

function withMarket(before: Catalog, wish: MarketWish, at: string): Edited | EditRefused {
  const { event: wanted, id: key = '', outcomes, question } = wish;
  const eventId = wanted ?? numberOf('event', key === '' ? question : key);
  const known = before.events.find(({ id }) => id === eventId);
  if (known === undefined && wanted !== undefined) {
    return { status: 404, error: 'event not found', detail: `there is no event ${wanted}` };
  }
  if (known !== undefined && !(MADE in known)) {
    const detail = 'an import could remove the market: make an event of your own for it';
    return { status: 409, error: 'the event comes from an import', detail };
  }
  const ids = marketIds(eventId, question, outcomes.length, key);
  const event = known ?? eventOf(eventId, eventWishOf(wish), at);
  const same = marketsOf(event).find(({ conditionId }) => conditionId === ids.conditionId);
  if (same !== undefined) {
    return sameWish(same, wish) ? shown(event, same) : conflict('a market', 'question');
  }
  const { endDate, keepOpen } = wish;
  const dated = {
    id: ids.id,
    question,
    conditionId: ids.conditionId,
    slug: slugOf(question),
    resolutionSource: '',
    startDate: wish.startDate ?? at,
    endDate: wish.endDate ?? event.endDate ?? null,
    image: '',
    icon: '',
    description: wish.description ?? text(event.description),
    outcomes: JSON.stringify(outcomes),
    clobTokenIds: JSON.stringify(ids.tokenIds),
    ...OPEN,
    createdAt: at,
    updatedAt: at,
    questionID: ids.questionId,
    negRisk: wish.negRisk ?? event.negRisk === true,
    orderPriceMinTickSize: wish.tick ?? '0.01',
    orderMinSize: wish.minimum ?? '5',
    acceptingOrders: true,
    enableOrderBook: true,
    [MADE]: wish,
  };
  const ends = endDate !== undefined && keepOpen !== true ? { tradingEnd: endDate } : undefined;
  const market = ends === undefined ? dated : changedBy(dated, ends);
  const markets = [...marketsOf(event), market];
  const changed = { ...event, closed: false, updatedAt: at, markets };
  const others = before.events.filter(({ id }) => id !== eventId);
  return (
    datesFault(wish) ?? endFault(ends, at) ?? next(before, [...others, changed], changed, market)
  );
}

function withChange(
  before: Catalog,
  { at, changes, condition, fixed = {} }: Extract<Edit, { readonly kind: 'change' }>,
): Edited | EditRefused {
  const event = before.events.find((one) => marketOf(one, condition) !== undefined);
  const market = event && marketOf(event, condition);
  if (event === undefined || market === undefined) {
    return { status: 404, error: 'market not found', detail: `there is no market ${condition}` };
  }
  const fixedRefused = fixedFault(event, market, fixed);
  if (fixedRefused !== undefined) return fixedRefused;
  if (hasEnded(market) && changes.closed !== true) {
    return { status: 409, error: 'the market is closed', detail: 'it never changes again' };
  }
  const marks = { feeBps: operatorFee(market) ?? 0, tradingEnd: endTextOf(market) };
  if (isSame({ ...market, ...marks }, changes)) return shown(event, market);
  const changed = changedBy(market, { ...changes, updatedAt: at });
  const after = withMarkets(event, (one) => (one === market ? changed : one));
  const events = before.events.map((one) => (one === event ? after : one));
  const fault = datesFault(changed, changes) ?? endFault(changes, at);
  return fault ?? next(before, events, after, changed);
}

function withEventChange(
  before: Catalog,
  { at, changes, event: id }: Extract<Edit, { readonly kind: 'change event' }>,
): Edited | EditRefused {
  const event = before.events.find((one) => one.id === id);
  if (event === undefined) {
    return { status: 404, error: 'event not found', detail: `there is no event ${id}` };
  }
  const { negRisk, tags, ...texts } = changes;
  const fault = fixedFault(event, undefined, negRisk === undefined ? {} : { negRisk });
  if (fault !== undefined) return fault;
  const members = { ...texts, ...(tags === undefined ? {} : { tags: tagsOf(tags) }) };
  if (isSame(event, members)) return shown(event);
  const changed = changedBy(event, { ...members, updatedAt: at });
  const events = before.events.map((one) => (one === event ? changed : one));
  return datesFault(changed, changes) ?? next(before, events, changed);
}

/** What clients read in a market that has resolved, or is to; prices and winners follow from the engine. */
function withResolutions(
  before: Catalog,
  { at, conditions }: Extract<Edit, { readonly kind: 'resolutions' }>,
  stateOf: StateOf,
): Edited | EditRefused {
  const named = new Set(conditions);
  return withEach(before, (market) => {
    const condition = conditionIdOf(market) ?? '';
    return isResolved(market) || !named.has(condition)
      ? market
      : withResolution(market, stateOf(condition), at);
  });
}

function withResolution(market: JsonObject, state: ResolutionState, at: string): JsonObject {
  const said = proposalIn(market);
  if (state === RESOLVED_STATUS) {
    const changes = {
      ...{ closed: true, acceptingOrders: false, umaResolutionStatus: RESOLVED_STATUS },
      ...{ closedTime: at, updatedAt: at },
    };
    return changedBy(said === undefined ? market : withProposal(market, undefined), changes);
  }
  if (isDeepStrictEqual(said, state)) return market;
  return withProposal({ ...market, updatedAt: at }, state);
}

/** Closes the markets whose end has come; the date that clients read is the end that came. */
function withEnded(
  before: Catalog,
  { at, ends }: Extract<Edit, { readonly kind: 'ended' }>,
): Edited | EditRefused {
  return withEach(before, (market) => {
    const end = ends.get(conditionIdOf(market) ?? '');
    if (end === undefined || hasEnded(market)) return market;
    const isSaid = Date.parse(text(market.endDate)) === end;
    const date = isSaid ? {} : { endDate: new Date(end).toISOString() };
    return changedBy(market, { closed: true, acceptingOrders: false, ...date, updatedAt: at });
  });
}

/** The catalog with each market changed; the result names the first event of which one is another. */
function withEach(
  before: Catalog,
  change: (market: JsonObject) => JsonObject,
): Edited | EditRefused {
  const events = before.events.map((event) => withMarkets(event, change));
  const first = events.find((event, i) => event !== before.events[i]);
  return first === undefined ? shown({ id: '' }) : next(before, events, first);
}

/** The same event where no market is another one. */
function withMarkets(event: JsonObject, change: (market: JsonObject) => JsonObject): JsonObject {
  const before = marketsOf(event);
  const markets = before.map(change);
  if (markets.every((market, i) => market === before[i])) return event;
  return { ...event, closed: MADE in event ? markets.every(hasEnded) : event.closed, markets };
}

function isSame(object: JsonObject, changes: JsonObject): boolean {
  return Object.entries(changes).every(([name, value]) => isDeepStrictEqual(object[name], value));
}

function fixedFault(
  event: JsonObject,
  market: JsonObject | undefined,
  { event: id, negRisk, outcomes }: FixedMembers,
): EditRefused | undefined {
  const isNegRisk = market ? tradingTerms(market, event).negRisk : event.negRisk === true;
  const faults = {
    outcomes: outcomes !== undefined && !isDeepStrictEqual(textList(market?.outcomes), outcomes),
    event: id !== undefined && id !== event.id,
    negRisk: negRisk !== undefined && negRisk !== isNegRisk,
  };
  for (const [name, isFault] of Object.entries(faults)) {
    if (!isFault) continue;
    const detail = `${name} must be as it was made`;
    return { status: 409, error: `${name} cannot be changed`, detail };
  }
  return undefined;
}

/** @param changes without them all of it is new */
function datesFault(
  { endDate, startDate }: { readonly endDate?: unknown; readonly startDate?: unknown },
  changes: object = { endDate },
): EditRefused | undefined {
  const isTold = 'endDate' in changes || 'startDate' in changes;
  const [start, end] = [startDate, endDate].map((date) => Date.parse(text(date)));
  const isNoTime = text(endDate) !== '' && Number.isNaN(end);
  if (!isTold || (!isNoTime && !(end! < start!))) return undefined;
  const detail = 'endDate must be a time that is not before startDate';
  return { status: 400, error: 'invalid_field: endDate', detail };
}

/** An end that has passed ends nothing: whoever means it closes the market. */
function endFault(
  { tradingEnd }: { readonly tradingEnd?: unknown } = {},
  at: string,
): EditRefused | undefined {
  if (typeof tradingEnd !== 'string' || Date.parse(tradingEnd) > Date.parse(at)) return undefined;
  const detail = 'endDate must be a time that is to come, unless keepOpen is true';
  return { status: 400, error: 'invalid_field: endDate', detail };
}

/** The end that an operator has given a market, as it was given; null = none. */
function endTextOf(market: JsonObject): string | null {
  return (operatorEnd(market) ?? 0) === 0 ? null : text(market.tradingEnd);
}

function marketOf(event: JsonObject, condition: string): JsonObject | undefined {
  return marketsOf(event).find((market) => conditionIdOf(market) === condition);
}

/** What is read again is what a node will load. */
function next(
  before: Catalog,
  events: readonly JsonObject[],
  event: JsonObject,
  market?: JsonObject,
): Edited | EditRefused {
  const read = readCatalog({ ...before, events });
  if (!read.ok) return { status: 409, error: 'the catalog refuses it', detail: read.error };
  const { conditionId } = market ?? {};
  const hasBook =
    market === undefined ||
    [...before.markets, ...read.catalog.markets].some((one) => one.conditionId === conditionId);
  if (!hasBook) {
    return { status: 400, error: 'the market would have no book', detail: 'its tick or minimum' };
  }
  return { ...shown(event, market), catalog: read.catalog };
}

function shown(event: JsonObject, market: JsonObject = {}): Edited {
  return {
    end: endTextOf(market),
    event: String(event.id),
    slug: text(market.slug ?? event.slug),
    condition: conditionIdOf(market) ?? '',
    tokens: typeof market.clobTokenIds === 'string' ? JSON.parse(market.clobTokenIds) : [],
    outcomes: textList(market.outcomes) ?? [],
  };
}

function sameWish(made: JsonObject, wish: object): boolean {
  // What was stored has been JSON.
  return isObject(made[MADE]) && isDeepStrictEqual(made[MADE], JSON.parse(JSON.stringify(wish)));
}

function conflict(what: string, name: string): EditRefused {
  const detail = `it differs from this wish: \`key\` tells those of one ${name} apart`;
  return { status: 409, error: `there is ${what} of this ${name}`, detail };
}

function eventOf(id: string, wish: EventWish, at: string): JsonObject {
  const slug = slugOf(wish.title);
  return {
    id,
    ticker: slug,
    slug,
    title: wish.title,
    description: wish.description ?? '',
    resolutionSource: '',
    startDate: wish.startDate ?? at,
    creationDate: at,
    endDate: wish.endDate ?? null,
    image: '',
    icon: '',
    ...OPEN,
    createdAt: at,
    updatedAt: at,
    negRisk: wish.negRisk ?? false,
    tags: tagsOf(wish.tags ?? []),
    series: [],
    markets: [],
    [MADE]: wish,
  };
}

function tagsOf(labels: readonly string[]): readonly JsonObject[] {
  return labels.map((label) => {
    const slug = slugOf(label);
    return { id: numberOf('tag', slug), label, slug };
  });
}

function eventWishOf({ description, endDate, question, startDate }: MarketWish): EventWish {
  return {
    title: question,
    ...(description === undefined ? {} : { description }),
    ...(startDate === undefined ? {} : { startDate }),
    ...(endDate === undefined ? {} : { endDate }),
  };
}

const OPEN = { active: true, closed: false, archived: false };

function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}
