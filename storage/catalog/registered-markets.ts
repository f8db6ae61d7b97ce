/**
 * Reads the markets of a catalog by their tokens. An outcome is its token: a catalog may name the outcomes of a
 * registered market in another order, and never other tokens. Rules: docs/protocol.md#outcomes-and-tokens
 *
 * Pure; any thread. Non-goals: where registered markets come from (the engine's tables).
 */

import { isDeepStrictEqual } from 'node:util';
import type { Catalog } from './catalog-file.ts';
import { isObject, type JsonObject, listOf, marketsOf, textList } from './catalog-json.ts';
import { conditionIdOf, hasEnded, isTokenId, negRiskOf } from './catalog-market.ts';
import { storedForm, tokenMember, tradedTokens } from './market-form.ts';

export interface RegisteredMarket {
  readonly count: number;
  readonly negRisk: boolean;
  placeOf(tokenId: string): number;
}

export function registeredAs(tokenIds: readonly string[], negRisk = false): RegisteredMarket {
  return { count: tokenIds.length, negRisk, placeOf: (tokenId) => tokenIds.indexOf(tokenId) };
}

export interface RegisteredMarkets {
  find(conditionId: string): RegisteredMarket | undefined;
  ownerOf(tokenId: string): string | undefined;
}

export const CONTRADICTIONS = {
  tokens: 'its token ids are not those that are registered for its condition id',
  condition: 'it lists a token id that is registered for another condition id',
  negRisk: 'its neg-risk flag is not the one that is registered',
  names: 'its outcomes have exchanged their names',
} as const;
export type ContradictionReason = keyof typeof CONTRADICTIONS;
export const CONTRADICTION_REASONS = Object.keys(CONTRADICTIONS) as ContradictionReason[];

export interface Contradiction {
  readonly id: string;
  /** Condition id in lower case; '' where the market has none that can be read. */
  readonly conditionId: string;
  readonly reason: ContradictionReason;
}

/** Outcomes of a market in a catalog; `undefined` where it does not name them. */
export interface NamedOutcomes {
  readonly tokenIds: readonly string[];
  readonly names?: readonly string[] | undefined;
  readonly negRisk?: boolean | undefined;
}

/**
 * Returns for each registered outcome its place in the catalog's lists, or the contradiction.
 * @param names of the registered outcomes so far; `undefined` = unknown
 */
export function placesOf(
  named: NamedOutcomes,
  registered: RegisteredMarket,
  names?: readonly string[],
): readonly number[] | ContradictionReason {
  const { negRisk, tokenIds } = named;
  if (tokenIds.length !== registered.count) return 'tokens';
  const places = new Array<number>(tokenIds.length).fill(-1);
  for (const [place, id] of tokenIds.entries()) {
    const outcome = registered.placeOf(id);
    if (outcome === -1) return 'tokens';
    places[outcome] = place;
  }
  // One token twice leaves another one out.
  if (places.includes(-1)) return 'tokens';
  if (negRisk !== undefined && negRisk !== registered.negRisk) return 'negRisk';
  const next = named.names && places.map((place) => named.names![place]!);
  if (names !== undefined && next !== undefined && haveExchanged(names, next)) return 'names';
  return places;
}

/** Returns true when the same names stand at other places. A new name is none of them. */
function haveExchanged(before: readonly string[], after: readonly string[]): boolean {
  const isSame = before.every((name, place) => name === after[place]);
  return !isSame && JSON.stringify(before.toSorted()) === JSON.stringify(after.toSorted());
}

export interface AlignedEvents {
  /** Events with aligned markets; objects that need no change are not copied. */
  readonly events: readonly JsonObject[];
  readonly turned: number;
  /** Markets that are not taken: they stay as the catalog before has them, or are left out. */
  readonly contradictions: readonly Contradiction[];
  /** Number of contradicting markets whose stored form replaces what the catalog says. */
  readonly kept: number;
}

/** Lists of a raw market that have an item for each outcome. */
const INDEX_COLUMNS = [
  'outcomes',
  'clobTokenIds',
  'positionIds',
  'outcomePrices',
  'shortOutcomes',
] as const;

/**
 * Returns raw events with markets in the registered order of outcomes. Items that are no events
 * stay unchanged.
 * @param before the catalog that they replace
 */
export function alignEvents(
  events: readonly JsonObject[],
  registered: RegisteredMarkets,
  before: Pick<Catalog, 'events'>,
): AlignedEvents {
  const stored = new StoredMarkets(registered, before);
  const contradictions = new Map<string, Contradiction>();
  let [turned, kept] = [0, 0];
  let listed: Set<string> | undefined;
  /** Returns the condition id of the registered market that a market lists under another one. */
  const movedFrom = (raw: JsonObject): string | undefined => {
    const condition = conditionOfTokens(raw, registered);
    listed ??= conditionsIn(events);
    if (condition === undefined || listed.has(condition)) return undefined;
    listed.add(condition);
    return condition;
  };
  const alignOne = (sent: unknown, event: JsonObject): readonly unknown[] => {
    if (!isObject(sent)) return [sent];
    const raw = storedForm(sent, event);
    const aligned = alignMarket(raw, event, registered, stored);
    if (typeof aligned !== 'string') {
      if (aligned !== raw && namesTokens(raw)) turned += 1;
      return [aligned];
    }
    const id = String(raw.id);
    const conditionId = conditionIdOf(raw) ?? '';
    contradictions.set(`${conditionId} ${id}`, { id, conditionId, reason: aligned });
    const standing = aligned === 'condition' ? movedFrom(raw) : conditionId;
    const staying = standing === undefined ? undefined : stored.find(standing);
    if (staying === undefined) return [];
    const same = { ...staying, id: raw.id };
    if (isDeepStrictEqual(same, raw)) return [raw];
    kept += 1;
    return [same];
  };
  const aligned = events.map((event) => {
    if (!isObject(event) || !Array.isArray(event.markets)) return event;
    const markets: readonly unknown[] = event.markets;
    const after = markets.flatMap((raw) => alignOne(raw, event));
    const isSame = after.length === markets.length && after.every((raw, i) => raw === markets[i]);
    return isSame ? event : { ...event, markets: after };
  });
  return { events: aligned, turned, contradictions: [...contradictions.values()], kept };
}

/** Markets of the catalog before, aligned when one is read. A market with other tokens has no known outcomes. */
class StoredMarkets {
  private readonly registered: RegisteredMarkets;
  private readonly before: Pick<Catalog, 'events'>;
  private raws: Map<string, readonly [raw: JsonObject, event: JsonObject]> | undefined;

  constructor(registered: RegisteredMarkets, before: Pick<Catalog, 'events'>) {
    this.registered = registered;
    this.before = before;
  }

  find(conditionId: string): JsonObject | undefined {
    const [raw, event] = this.rawOf(conditionId) ?? [];
    if (raw === undefined || event === undefined) return undefined;
    const negRisk = this.registered.find(conditionId)?.negRisk ?? negRiskOf(raw, event);
    // Its event may say something else from now on.
    const pinned = { ...raw, negRisk };
    const aligned = alignMarket(pinned, event, this.registered, undefined);
    return isObject(aligned) ? aligned : withoutOutcomes(pinned);
  }

  namesFor(raw: JsonObject, conditionId: string, count: number): readonly string[] | undefined {
    const before = this.rawOf(conditionId)?.[0];
    if (before === undefined || namesTheSame(before, raw)) return undefined;
    const names = textList(this.find(conditionId)?.outcomes);
    return names?.length === count ? names : undefined;
  }

  private rawOf(conditionId: string): readonly [raw: JsonObject, event: JsonObject] | undefined {
    this.raws ??= new Map(
      this.before.events.flatMap((event) =>
        marketsOf(event).flatMap((raw) => {
          const found = conditionIdOf(raw);
          return found === undefined ? [] : [[found, [raw, event]] as const];
        }),
      ),
    );
    return this.raws.get(conditionId);
  }
}

/** Returns true when both are equal texts, as in most catalogs: they name the same, whatever it is. */
function namesTheSame(one: JsonObject, other: JsonObject): boolean {
  const [tokens, { outcomes }] = [tradedTokens(other), other];
  if (typeof tokens !== 'string' || typeof outcomes !== 'string') return false;
  return tradedTokens(one) === tokens && one.outcomes === outcomes;
}

function alignMarket(
  raw: JsonObject,
  event: JsonObject,
  registered: RegisteredMarkets,
  stored: StoredMarkets | undefined,
): JsonObject | ContradictionReason {
  const conditionId = conditionIdOf(raw) ?? '';
  const known = conditionId === '' ? undefined : registered.find(conditionId);
  const tokens = listOf(tradedTokens(raw)) ?? [];
  const tokenIds = tokens.filter((id) => typeof id === 'string' && isTokenId(id)) as string[];
  if (known === undefined) {
    return tokenIds.some((id) => registered.ownerOf(id) !== undefined) ? 'condition' : raw;
  }
  const negRisk = negRiskOf(raw, event);
  if (!namesTokens(raw)) return withoutTokens(raw, negRisk, known, stored?.find(conditionId));
  // With one that cannot be read they are other ones.
  if (tokenIds.length !== tokens.length) return 'tokens';
  const names = pairedNames(raw, tokens.length);
  const namesBefore = stored?.namesFor(raw, conditionId, known.count);
  const places = placesOf({ tokenIds, names, negRisk }, known, namesBefore);
  if (typeof places === 'string') return places;
  const ordered = places.every((place, outcome) => place === outcome)
    ? raw
    : reordered(raw, places);
  const staying = names === undefined ? stored?.find(conditionId)?.outcomes : undefined;
  const isPaired = textList(staying)?.length === known.count;
  return isPaired ? { ...ordered, outcomes: staying } : ordered;
}

/** Returns the condition id of the registered market that has all tokens of a market, and no other ones. */
function conditionOfTokens(raw: JsonObject, registered: RegisteredMarkets): string | undefined {
  const tokenIds = textList(tradedTokens(raw)) ?? [];
  const owner = tokenIds[0] === undefined ? undefined : registered.ownerOf(tokenIds[0]);
  const known = owner === undefined ? undefined : registered.find(owner);
  const isSame = known !== undefined && typeof placesOf({ tokenIds }, known) !== 'string';
  return isSame ? owner : undefined;
}

function conditionsIn(events: readonly JsonObject[]): Set<string> {
  const markets = events.flatMap((event) => (isObject(event) && listOf(event.markets)) || []);
  return new Set(markets.filter(isObject).flatMap((raw) => conditionIdOf(raw) ?? []));
}

function withoutOutcomes(raw: JsonObject): JsonObject {
  const columns: ReadonlySet<string> = new Set(INDEX_COLUMNS);
  return Object.fromEntries(Object.entries(raw).filter(([name]) => !columns.has(name)));
}

function namesTokens(raw: JsonObject): boolean {
  const tokens = tradedTokens(raw);
  return tokens != null && listOf(tokens)?.length !== 0;
}

function pairedNames({ outcomes }: JsonObject, count: number): readonly string[] | undefined {
  const names = textList(outcomes);
  return names?.length === count ? names : undefined;
}

/** Returns an ended market that has lost its tokens, with those that are stored. */
function withoutTokens(
  raw: JsonObject,
  negRisk: boolean,
  known: RegisteredMarket,
  stored: JsonObject | undefined,
): JsonObject | ContradictionReason {
  if (!hasEnded(raw)) return 'tokens';
  if (negRisk !== known.negRisk) return 'negRisk';
  if (stored === undefined || !namesTokens(stored)) return raw;
  const { outcomes, version } = stored;
  const member = tokenMember(stored);
  return { ...raw, ...(version != null && { version }), outcomes, [member]: stored[member] };
}

/** Returns the market with its lists by outcome in another order, each in its own form: a list, or the JSON text of one. */
function reordered(raw: JsonObject, places: readonly number[]): JsonObject {
  const columns = INDEX_COLUMNS.flatMap((name): [string, unknown][] => {
    const list = listOf(raw[name]);
    if (list?.length !== places.length) return [];
    const ordered = places.map((place) => list[place]);
    return [[name, typeof raw[name] === 'string' ? JSON.stringify(ordered) : ordered]];
  });
  return { ...raw, ...Object.fromEntries(columns) };
}

/**
 * Returns a parsed catalog file with its events aligned. A file of another shape stays unchanged.
 */
export function alignFile(
  json: unknown,
  registered: RegisteredMarkets,
  before: Pick<Catalog, 'events'>,
): Pick<AlignedEvents, 'contradictions' | 'turned'> & { readonly json: unknown } {
  if (!isObject(json) || !Array.isArray(json.events))
    return { json, contradictions: [], turned: 0 };
  const raw: readonly JsonObject[] = json.events;
  const { events, ...counts } = alignEvents(raw, registered, before);
  const isSame = events.every((event, place) => event === raw[place]);
  return { ...counts, json: isSame ? json : { ...json, events } };
}

export function describeContradictions(contradictions: readonly Contradiction[]): string[] {
  return contradictions.map(
    ({ conditionId, id, reason }) =>
      `market ${id} (${conditionId || 'without a condition id'}): ${CONTRADICTIONS[reason]}`,
  );
}
