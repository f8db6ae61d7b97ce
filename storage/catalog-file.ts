/**
 * Reads a catalog file, `{tags, series, events}` with markets nested in their events: tolerant
 * where real data is odd, strict where a wrong reading would corrupt the books.
 *
 * Pure; any thread. Non-goals: serving the catalog (its raw objects are kept for that), and
 * following a catalog as it changes.
 */
import { OUTCOMES_MAX } from '../engine/limits.ts';

export type JsonObject = { readonly [key: string]: unknown };

/** What trading needs of a market. */
export interface CatalogMarket {
  /** A whole number below 10^15 as text. */
  readonly id: string;
  readonly question: string;
  /** `0x` and 64 lower-case hex digits. */
  readonly conditionId: string;
  readonly slug: string;
  readonly icon: string;
  readonly outcomes: readonly string[];
  /** Decimal uint256 texts, one per outcome, in the order of the outcomes. */
  readonly tokenIds: readonly string[];
  /** From `orderPriceMinTickSize`; 100 when absent (GAPS 7). */
  readonly ticksPerUnit: 10 | 100 | 1000 | 10000;
  /** Micro-shares, at least 1, from `orderMinSize`; 5 shares when absent (GAPS 7). */
  readonly minSizeMicro: number;
  /** The market's own flag, else its event's, else false. */
  readonly negRisk: boolean;
  /** GAPS 12: active, and not closed, archived, or barred from taking orders. */
  readonly tradable: boolean;
  /** Closed or archived: its resting orders are cancelled (GAPS 12). */
  readonly ended: boolean;
  readonly eventId: string;
  readonly eventSlug: string;
}

/** One version of every object, raw lists ascending by id; ids are always text (SPEC 2). */
export interface Catalog {
  /** Raw events; each carries `markets`, an array of raw markets. */
  readonly events: readonly JsonObject[];
  readonly tags: readonly JsonObject[];
  readonly series: readonly JsonObject[];
  /** The markets that can have books, by event, then in the order of the file. */
  readonly markets: readonly CatalogMarket[];
}

/** Objects that were left out, or kept without an order book, for one reason. */
export interface SkippedGroup {
  readonly reason: string;
  readonly count: number;
  /** Ids (or places in the file, where there is no id) of the first few. */
  readonly first: readonly string[];
}

export interface CatalogReport {
  readonly events: number;
  /** Markets kept in the catalog, with or without books. */
  readonly markets: number;
  readonly marketsWithBooks: number;
  readonly marketsTradable: number;
  readonly tags: number;
  readonly series: number;
  readonly skipped: readonly SkippedGroup[];
}

export type ReadCatalogResult =
  | { readonly ok: true; readonly catalog: Catalog; readonly report: CatalogReport }
  | { readonly ok: false; readonly error: string };

const FIRST_NAMED_MAX = 5;
const DEFAULT_TICK_SIZE = '0.01';
const DEFAULT_MIN_SIZE = '5';
/** Ids below 10^15 are exact as JSON integers too (`market_id` of SPEC 2 is one). */
const ID_PATTERN = /^(?:0|[1-9][0-9]{0,14})$/;
const CONDITION_PATTERN = /^0x[0-9a-f]{64}$/;
const TOKEN_PATTERN = /^[1-9][0-9]{0,77}$/;
const TOKEN_END = 2n ** 256n;
const TICKS_PER_UNIT = new Map<number | undefined, CatalogMarket['ticksPerUnit']>([
  [1000, 10],
  [100, 100],
  [10, 1000],
  [1, 10000],
]);
/** Where an object stands: in its kind's own list, or as a copy inside an event. */
const OWN_LIST = 1;
const NESTED_COPY = 0;

/**
 * Reads a parsed catalog file. Fails as a whole only where keeping a part would corrupt: the
 * file is of another shape, or two markets claim one token id or one condition id.
 */
export function readCatalog(json: unknown): ReadCatalogResult {
  if (!isObject(json)) return { ok: false, error: 'a catalog file holds one JSON object' };
  if (!Array.isArray(json.events)) return { ok: false, error: '`events` must be an array' };
  for (const name of ['tags', 'series'] as const) {
    if (json[name] != null && !Array.isArray(json[name])) {
      return { ok: false, error: `\`${name}\` must be an array` };
    }
  }
  const tally = new Tally();
  const newest = new LatestById('events', tally);
  newest.addAll(json.events, 'events', OWN_LIST);
  const events = withOwnMarkets(newest.list(), tally);
  const tags = readShared('tags', json.tags, events, tally);
  const series = readShared('series', json.series, events, tally);

  const claims = new Claims();
  const markets: CatalogMarket[] = [];
  let marketCount = 0;
  for (const event of events) {
    for (const raw of marketsOf(event)) {
      marketCount++;
      const market = readMarket(raw, event, claims, tally);
      if (market !== undefined) markets.push(market);
    }
  }
  if (claims.conflict !== undefined) return { ok: false, error: claims.conflict };

  const report: CatalogReport = {
    events: events.length,
    markets: marketCount,
    marketsWithBooks: markets.length,
    marketsTradable: markets.filter((market) => market.tradable).length,
    tags: tags.length,
    series: series.length,
    skipped: tally.groups(),
  };
  return { ok: true, catalog: { events, tags, series, markets }, report };
}

/** A raw market as trading sees it, or undefined (and counted) when it cannot have a book. */
function readMarket(
  raw: JsonObject,
  event: JsonObject,
  claims: Claims,
  tally: Tally,
): CatalogMarket | undefined {
  const id = String(raw.id);
  const conditionId = text(raw.conditionId).trim().toLowerCase();
  const hasCondition = CONDITION_PATTERN.test(conditionId);
  const tokenIds = textList(raw.clobTokenIds);
  const hasTokens = tokenIds !== undefined && tokenIds.length > 0 && tokenIds.every(isTokenId);
  // A market without a book still owns its ids: nobody else may trade under them.
  if (hasCondition) claims.condition(conditionId, id);
  if (hasTokens) claims.tokens(tokenIds, id);

  const ticksPerUnit = readTicksPerUnit(raw.orderPriceMinTickSize);
  const minSizeMicro = readMinSizeMicro(raw.orderMinSize);
  const outcomes = textList(raw.outcomes);
  const without = (reason: string): undefined => tally.add(`markets ${reason}: no book`, id);
  if (raw.clobTokenIds == null || tokenIds?.length === 0) return without('without token ids');
  if (!hasTokens) return without('with unreadable token ids');
  if (!hasCondition) return without('without a 32-byte condition id');
  if (outcomes?.length !== tokenIds.length || outcomes.length < 2) {
    return without('whose outcomes and token ids do not pair up');
  }
  if (outcomes.length > OUTCOMES_MAX) return without(`with over ${OUTCOMES_MAX} outcomes`);
  if (new Set(tokenIds).size < tokenIds.length) return without('that list one token id twice');
  if (ticksPerUnit === undefined) return without('with an unknown tick size');
  if (minSizeMicro === undefined) return without('with an unreadable minimum size');
  return {
    id,
    question: text(raw.question),
    conditionId,
    slug: text(raw.slug),
    icon: text(raw.icon),
    outcomes,
    tokenIds,
    ticksPerUnit,
    minSizeMicro,
    negRisk: typeof raw.negRisk === 'boolean' ? raw.negRisk : event.negRisk === true,
    tradable: isTradable(raw),
    ended: raw.closed === true || raw.archived === true,
    eventId: String(event.id),
    eventSlug: text(event.slug),
  };
}

function isTradable(raw: JsonObject): boolean {
  return (
    raw.active === true &&
    raw.closed !== true &&
    raw.archived !== true &&
    raw.acceptingOrders !== false &&
    raw.enableOrderBook !== false
  );
}

function readTicksPerUnit(value: unknown): CatalogMarket['ticksPerUnit'] | undefined {
  return TICKS_PER_UNIT.get(scaledDecimal(orDefault(value, DEFAULT_TICK_SIZE), 4));
}

function readMinSizeMicro(value: unknown): number | undefined {
  const micro = scaledDecimal(orDefault(value, DEFAULT_MIN_SIZE), 6);
  // No minimum means the smallest order there is.
  return micro === 0 ? 1 : micro;
}

/**
 * The whole number of 10^-decimals units that a decimal text or JSON number stands for, or
 * undefined when it is none or not exact. Works on the digits: a JSON number's shortest text
 * is the decimal that was written, where arithmetic on its binary value could be off by one.
 */
function scaledDecimal(value: unknown, decimals: number): number | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const match = /^([0-9]*)\.?([0-9]*)(?:e([+-]?[0-9]{1,3}))?$/i.exec(String(value).trim());
  if (match === null) return undefined;
  const [, whole = '', fraction = '', exponent = '0'] = match;
  if (whole === '' && fraction === '') return undefined;
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  if (digits === '') return 0;
  const significant = digits.replace(/0+$/, '');
  const zeros = digits.length - significant.length + Number(exponent) - fraction.length + decimals;
  if (zeros < 0 || significant.length + zeros > 16) return undefined;
  const scaled = Number(`${significant}${'0'.repeat(zeros)}`);
  return Number.isSafeInteger(scaled) ? scaled : undefined;
}

/** Each event with a `markets` array in which every market stands once in the whole catalog. */
function withOwnMarkets(events: readonly JsonObject[], tally: Tally): JsonObject[] {
  const newest = new LatestById('markets', tally);
  const listed = events.map((event) =>
    Array.isArray(event.markets)
      ? newest.addAll(event.markets, `event ${event.id}, markets`, OWN_LIST)
      : [],
  );
  const kept = new Set(newest.list());
  return events.map((event, index) => ({
    ...event,
    markets: listed[index]?.filter((market) => kept.has(market)) ?? [],
  }));
}

/** Tags or series: the top-level list leads, events add those that only they carry. */
function readShared(
  kind: 'tags' | 'series',
  topLevel: unknown,
  events: readonly JsonObject[],
  tally: Tally,
): readonly JsonObject[] {
  const newest = new LatestById(kind, tally);
  // Copies in events are of many days and languages: no news when they repeat.
  for (const event of events) {
    const nested = event[kind];
    if (Array.isArray(nested)) newest.addAll(nested, `event ${event.id}, ${kind}`, NESTED_COPY);
  }
  newest.addAll(Array.isArray(topLevel) ? topLevel : [], kind, OWN_LIST);
  return newest.list();
}

interface Candidate {
  readonly value: JsonObject;
  readonly rank: number;
  readonly updatedMs: number;
}

/** Keeps one object per id: of the highest rank, then the latest `updatedAt`, then the last. */
class LatestById {
  readonly #kind: string;
  readonly #tally: Tally;
  readonly #byId = new Map<string, Candidate>();

  constructor(kind: string, tally: Tally) {
    this.#kind = kind;
    this.#tally = tally;
  }

  /** Takes the objects with a usable id; returns them, their ids as text. */
  addAll(list: readonly unknown[], place: string, rank: number): readonly JsonObject[] {
    const taken: JsonObject[] = [];
    for (const [index, item] of list.entries()) {
      const id = isObject(item) ? idText(item.id) : undefined;
      if (!isObject(item) || id === undefined) {
        this.#tally.add(`${this.#kind} without a usable id: left out`, `${place}[${index}]`);
        continue;
      }
      const value = item.id === id ? item : { ...item, id };
      taken.push(value);
      this.#add(id, { value, rank, updatedMs: instantMs(item.updatedAt) });
    }
    return taken;
  }

  #add(id: string, candidate: Candidate): void {
    const held = this.#byId.get(id);
    if (held === undefined) {
      this.#byId.set(id, candidate);
      return;
    }
    if (held.rank === OWN_LIST && candidate.rank === OWN_LIST) {
      this.#tally.add(`${this.#kind} listed more than once: the latest version kept`, id);
    }
    const later =
      candidate.rank !== held.rank
        ? candidate.rank > held.rank
        : candidate.updatedMs >= held.updatedMs;
    if (later) this.#byId.set(id, candidate);
  }

  list(): readonly JsonObject[] {
    return [...this.#byId.entries()]
      .sort(([a], [b]) => Number(a) - Number(b))
      .map(([, candidate]) => candidate.value);
  }
}

/** Who owns which condition and token; remembers the first conflict. */
class Claims {
  readonly #owners = new Map<string, string>();
  conflict: string | undefined;

  condition(conditionId: string, marketId: string): void {
    this.#claim('condition', conditionId, marketId);
  }

  tokens(tokenIds: readonly string[], marketId: string): void {
    for (const tokenId of tokenIds) this.#claim('token', tokenId, marketId);
  }

  #claim(kind: string, id: string, marketId: string): void {
    const owner = this.#owners.get(id);
    if (owner === undefined) this.#owners.set(id, marketId);
    else if (owner !== marketId) {
      this.conflict ??= `markets ${owner} and ${marketId} both claim ${kind} id ${id}`;
    }
  }
}

class Tally {
  readonly #groups = new Map<string, { count: number; first: string[] }>();

  add(reason: string, name: string): undefined {
    const group = this.#groups.get(reason) ?? { count: 0, first: [] };
    group.count++;
    if (group.first.length < FIRST_NAMED_MAX) group.first.push(name);
    this.#groups.set(reason, group);
  }

  groups(): SkippedGroup[] {
    return [...this.#groups].map(([reason, group]) => ({ reason, ...group }));
  }
}

function marketsOf(event: JsonObject): readonly JsonObject[] {
  return event.markets as readonly JsonObject[];
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function idText(value: unknown): string | undefined {
  const id = typeof value === 'number' ? String(value) : value;
  return typeof id === 'string' && ID_PATTERN.test(id) ? id : undefined;
}

function isTokenId(value: string): boolean {
  return TOKEN_PATTERN.test(value) && (value.length < 77 || BigInt(value) < TOKEN_END);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function orDefault(value: unknown, fallback: string): unknown {
  return value == null || value === '' ? fallback : value;
}

/** A list of texts, as an array or as the JSON text of one (SPEC 2); undefined when neither. */
function textList(value: unknown): readonly string[] | undefined {
  let list = value;
  if (typeof value === 'string') {
    try {
      list = JSON.parse(value);
    } catch {
      return undefined;
    }
  }
  if (!Array.isArray(list)) return undefined;
  return list.every((item) => typeof item === 'string') ? list : undefined;
}

function instantMs(value: unknown): number {
  const ms = Date.parse(text(value));
  return Number.isNaN(ms) ? Number.NEGATIVE_INFINITY : ms;
}
