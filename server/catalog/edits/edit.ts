/**
 * Edits of a catalog by an operator, each a function from one catalog to the next: new events and markets,
 * and changes of existing ones. The same edit twice changes nothing.
 *
 * Pure; any thread. Non-goals: the engine, which follows the catalog, and resolves.
 */
import { isDeepStrictEqual } from 'node:util';
import type { FeeSchedule } from '../../../engine/commands.ts';
import { isSchedule } from '../../../engine/tables/units.ts';
import {
  type Catalog,
  type JsonObject,
  readCatalog,
} from '../../../storage/catalog/catalog-file.ts';
import {
  isObject,
  marketsOf,
  present,
  text,
  textList,
} from '../../../storage/catalog/catalog-json.ts';
import { conditionIdOf, hasEnded, tradingTerms } from '../../../storage/catalog/catalog-market.ts';
import { NO_FEES, readSchedule, shownSchedule } from '../../../storage/catalog/fee-schedules.ts';
import { tradedTokens } from '../../../storage/catalog/market-form.ts';
import {
  type CatalogProposal,
  isResolved,
  MADE,
  NOTE,
  noteIn,
  operatorDelay,
  operatorEnd,
  operatorFee,
  operatorSchedule,
  proposalIn,
  RESOLVED_STATUS,
  withoutNote,
  withProposal,
} from '../../../storage/catalog/operator-marks.ts';
import { changedBy } from '../../../storage/catalog/operator-objects.ts';
import { POSITIONS_VERSION } from '../../../storage/catalog/protocol-version.ts';
import { bytesToHex } from '../../common/uint256.ts';
import {
  GROUP_ARITY,
  type MarketIds,
  marketIds,
  numberOf,
  positionIds,
  positionsQuestion,
} from './edit-ids.ts';

export interface NewEvent {
  readonly title: string;
  readonly description?: string;
  readonly startDate?: string;
  readonly endDate?: string;
  readonly tags?: readonly string[];
  readonly negRisk?: boolean;
  /** Key that distinguishes events of one title; stored under this name. */
  readonly id?: string;
}

/** Parts of a fee schedule: decimal texts, and the exponent. */
export interface FeeParts {
  readonly feeRate?: string;
  readonly feeExponent?: number;
  readonly feeRebate?: string;
}

export interface NewMarket extends FeeParts {
  readonly question: string;
  readonly outcomes: readonly string[];
  /** An event that an operator made; without it the market gets one of its own. */
  readonly event?: string;
  readonly description?: string;
  readonly startDate?: string;
  readonly endDate?: string;
  readonly tick?: string;
  readonly minimum?: string;
  readonly fee?: number;
  /** Seconds. */
  readonly takerDelay?: number;
  readonly negRisk?: boolean;
  readonly keepOpen?: true;
  /** 2: its tokens are positions; 1 when absent. */
  readonly protocol?: 2;
  readonly id?: string;
}

/** `at` is the time, ISO 8601. */
export type Edit =
  | { readonly kind: 'event'; readonly fields: NewEvent; readonly at: string }
  | { readonly kind: 'market'; readonly fields: NewMarket; readonly at: string }
  | {
      readonly kind: 'change';
      readonly condition: string;
      readonly changes: JsonObject;
      readonly fees?: FeeParts;
      readonly fixed?: FixedMembers;
      readonly at: string;
    }
  | {
      readonly kind: 'change event';
      readonly event: string;
      readonly changes: Partial<Omit<NewEvent, 'id'>>;
      readonly at: string;
    }
  /**
   * States resolutions and proposals of the engine. Markets that the catalog does not list are left
   * out.
   */
  | {
      readonly kind: 'resolutions';
      readonly conditions: readonly string[];
      /** The operator's note; absent: that of before stays. */
      readonly note?: string;
      readonly at: string;
    }
  /** Ends that have come, by condition id: unix milliseconds. */
  | { readonly kind: 'ended'; readonly ends: ReadonlyMap<string, number>; readonly at: string }
  /** Only what every edit does too: markets become as they are registered. */
  | { readonly kind: 'aligned' };

export type ResolutionState = typeof RESOLVED_STATUS | CatalogProposal | undefined;

type StateOf = (condition: string) => ResolutionState;

/** Members that cannot change; those that are given must be as they are. */
export interface FixedMembers {
  readonly outcomes?: readonly string[];
  readonly event?: string;
  readonly negRisk?: boolean;
}

export interface Edited {
  readonly catalog?: Catalog;
  readonly event: string;
  readonly slug: string;
  readonly condition: string;
  /** Time at which the market ends; null = none, and for an event. */
  readonly end: string | null;
  readonly tokens: readonly string[];
  readonly outcomes: readonly string[];
}

export interface EditRefused {
  readonly status: 400 | 404 | 409;
  readonly error: string;
  readonly detail: string;
}

/**
 * @param isNew true: `before` is not stored as it is given here
 * @param stateOf state of a market in the engine
 */
export function edited(
  before: Catalog,
  edit: Edit,
  isNew = false,
  stateOf: StateOf = () => undefined,
): Edited | EditRefused {
  if (edit.kind === 'aligned') return { ...shown({ id: '' }), ...(isNew && { catalog: before }) };
  if (edit.kind === 'event') return withEvent(before, edit.fields, edit.at);
  if (edit.kind === 'market') return withMarket(before, edit.fields, edit.at);
  if (edit.kind === 'change event') return withEventChange(before, edit);
  if (edit.kind === 'resolutions') return withResolutions(before, edit, stateOf);
  if (edit.kind === 'ended') return withEnded(before, edit);
  return withChange(before, edit);
}

function withEvent(before: Catalog, fields: NewEvent, at: string): Edited | EditRefused {
  const id = numberOf('event', fields.id ?? fields.title);
  const known = before.events.find((event) => event.id === id);
  if (known !== undefined) {
    return isAsMade(known, fields) ? shown(known) : conflict('an event', 'title');
  }
  const event = eventOf(id, fields, at);
  return datesFault(fields) ?? next(before, [...before.events, event], event);
}

function withMarket(before: Catalog, fields: NewMarket, at: string): Edited | EditRefused {
  const { event: wanted, id: key = '', outcomes, question } = fields;
  const eventId = wanted ?? numberOf('event', key === '' ? question : key);
  const known = before.events.find(({ id }) => id === eventId);
  if (known === undefined && wanted !== undefined) {
    return { status: 404, error: 'event not found', detail: `there is no event ${wanted}` };
  }
  if (known !== undefined && !(MADE in known)) {
    const detail = 'an import could remove the market: make an event of your own for it';
    return { status: 409, error: 'the event comes from an import', detail };
  }
  const event = known ?? eventOf(eventId, eventFieldsOf(fields), at);
  const negRisk = fields.negRisk ?? event.negRisk === true;
  const ids =
    fields.protocol === undefined
      ? marketIds(eventId, question, outcomes.length, key)
      : idsOfPositions(event, fields, negRisk);
  if ('error' in ids) return ids;
  const same = marketsOf(event).find(({ conditionId }) => conditionId === ids.conditionId);
  if (same !== undefined) {
    return isAsMade(same, fields) ? shown(event, same) : conflict('a market', 'question');
  }
  const { endDate, keepOpen } = fields;
  const dated = {
    id: ids.id,
    question,
    conditionId: ids.conditionId,
    slug: slugOf(question),
    resolutionSource: '',
    startDate: fields.startDate ?? at,
    endDate: fields.endDate ?? event.endDate ?? null,
    image: '',
    icon: '',
    description: fields.description ?? text(event.description),
    outcomes: JSON.stringify(outcomes),
    ...(fields.protocol === undefined
      ? { clobTokenIds: JSON.stringify(ids.tokenIds) }
      : { version: POSITIONS_VERSION, positionIds: ids.tokenIds }),
    ...OPEN,
    createdAt: at,
    updatedAt: at,
    questionID: ids.questionId,
    negRisk,
    orderPriceMinTickSize: fields.tick ?? '0.01',
    orderMinSize: fields.minimum ?? '5',
    acceptingOrders: true,
    enableOrderBook: true,
    [MADE]: fields,
  };
  const ends = endDate !== undefined && keepOpen !== true ? { tradingEnd: endDate } : undefined;
  const fees = feesOf(fields, NO_FEES, dated);
  if ('error' in fees) return fees;
  const changes = { ...ends, ...fees.members };
  const market = Object.keys(changes).length === 0 ? dated : changedBy(dated, changes);
  const markets = [...marketsOf(event), market];
  const changed = { ...event, closed: false, updatedAt: at, markets };
  const others = before.events.filter(({ id }) => id !== eventId);
  return (
    datesFault(fields) ?? endFault(ends, at) ?? next(before, [...others, changed], changed, market)
  );
}

/** Ids of a market of the second protocol. A neg-risk event numbers its markets, in the order in which they are made. */
function idsOfPositions(
  event: JsonObject,
  { id: key = '', outcomes, question }: NewMarket,
  negRisk: boolean,
): MarketIds | EditRefused {
  if (outcomes.length !== 2) {
    const detail = 'outcomes must be two names for a market of protocol 2';
    return { status: 400, error: 'invalid_field: outcomes', detail };
  }
  const eventId = String(event.id);
  if (!negRisk) return positionIds(eventId, question, 0, key);
  const asked = positionsQuestion(eventId, question, key);
  const name = bytesToHex(asked, 0, asked.length);
  const group = marketsOf(event).filter(
    (market) => market.negRisk === true && market.version === POSITIONS_VERSION,
  );
  const known = group.findIndex(({ questionID }) => questionID === name);
  const place = (known === -1 ? group.length : known) + 1;
  if (place <= GROUP_ARITY) return positionIds(eventId, question, place, key);
  const detail = `a neg-risk event has at most ${GROUP_ARITY} markets of protocol 2`;
  return { status: 409, error: 'the event is full', detail };
}

function withChange(
  before: Catalog,
  {
    at,
    changes,
    condition,
    fees: parts = {},
    fixed = {},
  }: Extract<Edit, { readonly kind: 'change' }>,
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
  const own = operatorSchedule(market);
  const fees = feesOf(
    parts,
    own ?? readSchedule(market.feeSchedule) ?? NO_FEES,
    { ...market, ...changes },
    own,
  );
  if ('error' in fees) return fees;
  // What the catalog states is no operator's.
  const marks = {
    feeBps: operatorFee(market) ?? 0,
    secondsDelay: operatorDelay(market) ?? 0,
    tradingEnd: endTextOf(market),
    ...(own === undefined ? { feeSchedule: undefined, feesEnabled: undefined } : {}),
  };
  return withMembers(
    before,
    { ...market, ...marks },
    { ...changes, ...fees.members },
    at,
    event,
    market,
  );
}

const FEES_TOO_HIGH: EditRefused = {
  status: 400,
  error: 'invalid_field: feeRate',
  detail: 'with the exponent 0 feeRate must be at most one tick, so that every sale can pay it',
};
const NO_RATE: EditRefused = {
  status: 400,
  error: 'invalid_field: feeRate',
  detail: 'feeRate must be given: the market has no fee schedule that the other parts could change',
};

/**
 * Members that show a changed fee schedule, none where no part is given.
 * @param now schedule whose other parts stay
 * @param own schedule of an operator that must suit a new tick
 */
function feesOf(
  { feeExponent, feeRate, feeRebate }: FeeParts,
  now: FeeSchedule,
  market: JsonObject,
  own?: FeeSchedule,
): { readonly members: JsonObject } | EditRefused {
  const parts = present({ rate: feeRate, exponent: feeExponent, rebateRate: feeRebate });
  const isGiven = Object.keys(parts).length > 0;
  if (isGiven && feeRate === undefined && now.rate === 0) return NO_RATE;
  const { ticksPerUnit } = tradingTerms(market, {});
  const shownNow = now.rate === 0 ? {} : { exponent: now.exponent, rebateRate: now.rebate / 1e6 };
  const after = isGiven ? readSchedule({ rate: now.rate / 1e6, ...shownNow, ...parts }) : own;
  // A tick that cannot be read is refused elsewhere.
  if (after === undefined || ticksPerUnit === undefined) return { members: {} };
  if (!isSchedule(ticksPerUnit, after.rate, after.exponent, after.rebate)) return FEES_TOO_HIGH;
  return { members: isGiven ? shownSchedule(after) : {} };
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
  const members = present({ ...texts, tags: tags && tagsOf(tags) });
  return withMembers(before, event, members, at, event);
}

/**
 * Returns the catalog with other members of an event, or of one of its markets.
 * @param shownNow members as they are, with those that operators see under other names
 */
function withMembers(
  before: Catalog,
  shownNow: JsonObject,
  members: JsonObject,
  at: string,
  event: JsonObject,
  market?: JsonObject,
): Edited | EditRefused {
  const isSame = Object.entries(members).every(([name, value]) =>
    isDeepStrictEqual(shownNow[name], value),
  );
  if (isSame) return shown(event, market);
  const changed = changedBy(market ?? event, { ...members, updatedAt: at });
  const after = market ? withMarkets(event, (one) => (one === market ? changed : one)) : changed;
  const events = before.events.map((one) => (one === event ? after : one));
  const fault = datesFault(changed, members) ?? endFault(members, at);
  return fault ?? next(before, events, after, market && changed);
}

function withResolutions(
  before: Catalog,
  { at, conditions, note }: Extract<Edit, { readonly kind: 'resolutions' }>,
  stateOf: StateOf,
): Edited | EditRefused {
  const named = new Set(conditions);
  return withEach(before, (market) => {
    const condition = conditionIdOf(market) ?? '';
    if (!named.has(condition)) return market;
    const state = stateOf(condition);
    const shown = isResolved(market) ? market : withResolution(market, state, at);
    if (note === undefined || note === noteIn(market) || state === undefined) return shown;
    return changedBy(shown, { [NOTE]: note, updatedAt: at });
  });
}

function withResolution(market: JsonObject, state: ResolutionState, at: string): JsonObject {
  const stated = proposalIn(market);
  if (state === RESOLVED_STATUS) {
    const changes = {
      closed: true,
      acceptingOrders: false,
      umaResolutionStatus: RESOLVED_STATUS,
      closedTime: at,
      updatedAt: at,
    };
    return changedBy(stated === undefined ? market : withProposal(market, undefined), changes);
  }
  if (isDeepStrictEqual(stated, state)) return market;
  const shown = withProposal({ ...market, updatedAt: at }, state);
  return state === undefined ? withoutNote(shown) : shown;
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

/** Returns the catalog with each market changed; the result names the first changed event. */
function withEach(
  before: Catalog,
  change: (market: JsonObject) => JsonObject,
): Edited | EditRefused {
  const events = before.events.map((event) => withMarkets(event, change));
  const first = events.find((event, i) => event !== before.events[i]);
  return first === undefined ? shown({ id: '' }) : next(before, events, first);
}

function withMarkets(event: JsonObject, change: (market: JsonObject) => JsonObject): JsonObject {
  const before = marketsOf(event);
  const markets = before.map(change);
  if (markets.every((market, i) => market === before[i])) return event;
  return { ...event, closed: MADE in event ? markets.every(hasEnded) : event.closed, markets };
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

/** Refuses an end that has passed: closing the market is another operation. */
function endFault(
  { tradingEnd }: { readonly tradingEnd?: unknown } = {},
  at: string,
): EditRefused | undefined {
  if (typeof tradingEnd !== 'string' || Date.parse(tradingEnd) > Date.parse(at)) return undefined;
  const detail = 'endDate must be a time that is to come, unless keepOpen is true';
  return { status: 400, error: 'invalid_field: endDate', detail };
}

function endTextOf(market: JsonObject): string | null {
  return (operatorEnd(market) ?? 0) === 0 ? null : text(market.tradingEnd);
}

function marketOf(event: JsonObject, condition: string): JsonObject | undefined {
  return marketsOf(event).find((market) => conditionIdOf(market) === condition);
}

/** Reads the changed catalog again, as a node will load it. */
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
    tokens: textList(tradedTokens(market)) ?? [],
    outcomes: textList(market.outcomes) ?? [],
  };
}

function isAsMade(made: JsonObject, fields: object): boolean {
  // What was stored has been JSON.
  return isObject(made[MADE]) && isDeepStrictEqual(made[MADE], JSON.parse(JSON.stringify(fields)));
}

function conflict(what: string, name: string): EditRefused {
  const detail = `it differs from this wish: \`key\` tells those of one ${name} apart`;
  return { status: 409, error: `there is ${what} of this ${name}`, detail };
}

function eventOf(id: string, fields: NewEvent, at: string): JsonObject {
  const slug = slugOf(fields.title);
  return {
    id,
    ticker: slug,
    slug,
    title: fields.title,
    description: fields.description ?? '',
    resolutionSource: '',
    startDate: fields.startDate ?? at,
    creationDate: at,
    endDate: fields.endDate ?? null,
    image: '',
    icon: '',
    ...OPEN,
    createdAt: at,
    updatedAt: at,
    negRisk: fields.negRisk ?? false,
    tags: tagsOf(fields.tags ?? []),
    series: [],
    markets: [],
    [MADE]: fields,
  };
}

function tagsOf(labels: readonly string[]): readonly JsonObject[] {
  return labels.map((label) => {
    const slug = slugOf(label);
    return { id: numberOf('tag', slug), label, slug };
  });
}

function eventFieldsOf({ description, endDate, question, startDate }: NewMarket): NewEvent {
  return { title: question, ...present({ description, startDate, endDate }) };
}

const OPEN = { active: true, closed: false, archived: false };

function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}
