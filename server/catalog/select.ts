/**
 * Which objects of a prepared catalog a checked query asks for, and in which order (SPEC 4.2,
 * GAPS 4.4, 5 and 10).
 *
 * Filters on what many markets share, such as a tag, become a set of events first. A set that
 * leaves few rows is gone through itself and sorted; otherwise all rows are gone through in the
 * order asked for, until the page is full.
 *
 * Thread: the I/O thread. Non-goals: JSON.
 */
import type { Figures } from './figures.ts';
import {
  CatalogFlag,
  type PreparedCatalog,
  type PreparedEvents,
  type PreparedMarkets,
  type Relation,
  type TextIndex,
} from './prepared.ts';
import { ANY, type CatalogQuery } from './query.ts';
import { CreatorScope } from './select-creator.ts';
import { type Filter, type Page, pickFromAll, pickFromFew, Ranking } from './select-page.ts';
import { findKey, rowsOfKey } from './text-index.ts';

/** No row. */
export const NONE = -1;

const NO_ROWS = new Uint32Array(0);

/** Sorting a row costs about as much as going through so many. */
const SORT_COST = 16;

/** The filter of a query's creator; undefined = everything. */
export function scopeOf(catalog: PreparedCatalog, query: CatalogQuery): CreatorScope | undefined {
  return query.creator === '' ? undefined : new CreatorScope(catalog, query.creator);
}

/** Row of the object with an id, or NONE. */
export function rowOfId(ids: Float64Array, id: number): number {
  let low = 0;
  let high = ids.length - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const found = ids[middle]!;
    if (found === id) return middle;
    if (found < id) low = middle + 1;
    else high = middle - 1;
  }
  return NONE;
}

/** Rows under a text, ascending. */
export function rowsNamed(index: TextIndex, text: string): Uint32Array {
  const key = findKey(index, text);
  return key === -1 ? NO_ROWS : rowsOfKey(index, key);
}

/** What is listed from: a generation. */
interface Listed {
  readonly prepared: PreparedCatalog;
  readonly figures: Figures;
}

/** The page of GET /markets. */
export function selectMarkets(
  { figures, prepared: catalog }: Listed,
  query: CatalogQuery,
  page: Page,
): void {
  const { markets } = catalog;
  const total = markets.ids.length;
  const events = eventsOfMarkets(catalog, query);
  let few: Uint32Array | undefined;
  if (query.slug !== '') few = rowsNamed(markets.slugs, query.slug);
  if (query.conditionId !== '') {
    few = intersection(few, rowsNamed(markets.conditions, query.conditionId));
  }
  let marks: Uint8Array | undefined;
  if (events !== undefined) {
    if (few !== undefined) few = few.filter((row) => includes(events, markets.event[row]!));
    else if (countOf(catalog.events.markets, events) * SORT_COST > total) {
      marks = marked(events, catalog.events.ids.length);
    } else few = valuesOf(catalog.events.markets, events);
  }
  const filter = new MarketFilter(markets, query, marks, scopeOf(catalog, query));
  const order = figures.markets.orderBy(query.order) ?? markets.orders[query.order];
  const ranking = new Ranking(total, order, query.ascending === 1);
  if (few === undefined) pickFromAll(page, query, filter, ranking, total);
  else pickFromFew(page, query, filter, ranking, few);
}

/** The page of GET /events. */
export function selectEvents(
  { figures, prepared: catalog }: Listed,
  query: CatalogQuery,
  page: Page,
): void {
  const { events, series } = catalog;
  const total = events.ids.length;
  let few = eventsOfTags(catalog, query);
  if (query.slug !== '') few = intersection(few, rowsNamed(events.slugs, query.slug));
  if (query.seriesSlug !== '') {
    const rows = rowsNamed(series.slugs, query.seriesSlug);
    few = intersection(few, union(series.events, rows));
  }
  let marks: Uint8Array | undefined;
  if (few !== undefined && few.length * SORT_COST > total) {
    marks = marked(few, total);
    few = undefined;
  }
  const filter = new EventFilter(events, query, marks, scopeOf(catalog, query));
  const order = figures.events.orderBy(query.order) ?? events.orders[query.order];
  const ranking = new Ranking(total, order, query.ascending === 1);
  if (few === undefined) pickFromAll(page, query, filter, ranking, total);
  else pickFromFew(page, query, filter, ranking, few);
}

/** The page of GET /series or GET /tags, ascending by id (GAPS 4.4). */
export function selectOwners(
  owners: { readonly ids: Float64Array; readonly events: Relation },
  scope: CreatorScope | undefined,
  query: CatalogQuery,
  page: Page,
): void {
  const filter: Filter = {
    isOpen: scope === undefined,
    matches: (row) => scope === undefined || scope.hasEventOf(owners.events, row),
  };
  const total = owners.ids.length;
  pickFromAll(page, query, filter, new Ranking(total, undefined, true), total);
}

/** The newest of the rows that the test keeps, or NONE. */
export function newestOf(rows: Uint32Array, keeps: (row: number) => boolean): number {
  for (let i = rows.length - 1; i >= 0; i--) {
    if (keeps(rows[i]!)) return rows[i]!;
  }
  return NONE;
}

class MarketFilter implements Filter {
  readonly isOpen: boolean;
  private readonly markets: PreparedMarkets;
  private readonly asked: number;
  private readonly wanted: number;
  private readonly events: Uint8Array | undefined;
  private readonly scope: CreatorScope | undefined;

  /** @param events 1 = an event whose markets are asked for; undefined = any event */
  constructor(
    markets: PreparedMarkets,
    query: CatalogQuery,
    events: Uint8Array | undefined,
    scope: CreatorScope | undefined,
  ) {
    this.markets = markets;
    this.asked = flagsAsked(query);
    this.wanted = flagsWanted(query);
    this.events = events;
    this.scope = scope;
    this.isOpen = this.asked === 0 && events === undefined && scope === undefined;
  }

  matches(row: number): boolean {
    const { markets, events, scope } = this;
    if ((markets.flags[row]! & this.asked) !== this.wanted) return false;
    if (events !== undefined && events[markets.event[row]!] === 0) return false;
    return scope === undefined || scope.hasMarket(row);
  }
}

class EventFilter implements Filter {
  readonly isOpen: boolean;
  private readonly events: PreparedEvents;
  private readonly asked: number;
  private readonly wanted: number;
  private readonly marks: Uint8Array | undefined;
  private readonly scope: CreatorScope | undefined;

  /** @param marks 1 = an event that is asked for; undefined = any */
  constructor(
    events: PreparedEvents,
    query: CatalogQuery,
    marks: Uint8Array | undefined,
    scope: CreatorScope | undefined,
  ) {
    this.events = events;
    this.asked = flagsAsked(query);
    this.wanted = flagsWanted(query);
    this.marks = marks;
    this.scope = scope;
    this.isOpen = this.asked === 0 && marks === undefined && scope === undefined;
  }

  matches(row: number): boolean {
    const { events, marks, scope } = this;
    if ((events.flags[row]! & this.asked) !== this.wanted) return false;
    if (marks !== undefined && marks[row] === 0) return false;
    return scope === undefined || scope.hasEvent(row);
  }
}

/** Bits of the flags that a query filters on. */
function flagsAsked(query: CatalogQuery): number {
  return (
    (query.active === ANY ? 0 : CatalogFlag.active) |
    (query.closed === ANY ? 0 : CatalogFlag.closed) |
    (query.archived === ANY ? 0 : CatalogFlag.archived)
  );
}

/** Those of them that have to be set. */
function flagsWanted(query: CatalogQuery): number {
  return (
    (query.active === 1 ? CatalogFlag.active : 0) |
    (query.closed === 1 ? CatalogFlag.closed : 0) |
    (query.archived === 1 ? CatalogFlag.archived : 0)
  );
}

/** The events whose markets are asked for, ascending; undefined = any. */
function eventsOfMarkets(catalog: PreparedCatalog, query: CatalogQuery): Uint32Array | undefined {
  let events = eventsOfTags(catalog, query);
  if (query.eventId !== ANY) {
    const row = rowOfId(catalog.events.ids, query.eventId);
    events = intersection(events, row === NONE ? NO_ROWS : Uint32Array.of(row));
  }
  if (query.eventSlug !== '') {
    events = intersection(events, rowsNamed(catalog.events.slugs, query.eventSlug));
  }
  return events;
}

/** The events with the tags that are asked for, ascending; undefined = any. */
function eventsOfTags(catalog: PreparedCatalog, query: CatalogQuery): Uint32Array | undefined {
  const { tags } = catalog;
  let events: Uint32Array | undefined;
  if (query.tag !== '') events = union(tags.events, rowsNamed(tags.slugs, query.tag));
  if (query.tagId !== ANY) {
    const row = rowOfId(tags.ids, query.tagId);
    const tagged = row === NONE ? NO_ROWS : relatedTo(tags.events, row);
    events = intersection(events, tagged);
  }
  return events;
}

/** Rows related to one row, ascending. */
function relatedTo(relation: Relation, row: number): Uint32Array {
  return relation.values.subarray(relation.ends[row]!, relation.ends[row + 1]!);
}

/** Rows related to any of some, ascending; mostly there is one, as slugs are mostly unique. */
function union(relation: Relation, rows: Uint32Array): Uint32Array {
  if (rows.length === 0) return NO_ROWS;
  if (rows.length === 1) return relatedTo(relation, rows[0]!);
  return Uint32Array.from(new Set(valuesOf(relation, rows))).sort();
}

/** Both ascending; undefined = all rows. */
function intersection(a: Uint32Array | undefined, b: Uint32Array): Uint32Array {
  if (a === undefined) return b;
  const [few, many] = a.length < b.length ? [a, b] : [b, a];
  return few.filter((row) => includes(many, row));
}

/** Whether ascending rows include one. */
function includes(rows: Uint32Array, row: number): boolean {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (rows[middle]! < row) low = middle + 1;
    else high = middle;
  }
  return rows[low] === row;
}

function marked(rows: Uint32Array, total: number): Uint8Array {
  const marks = new Uint8Array(total);
  for (const row of rows) marks[row] = 1;
  return marks;
}

/** How many rows are related to some rows. */
function countOf({ ends }: Relation, rows: Uint32Array): number {
  let count = 0;
  for (let i = 0; i < rows.length; i++) count += ends[rows[i]! + 1]! - ends[rows[i]!]!;
  return count;
}

/** The rows related to some rows, one after the other. */
function valuesOf(relation: Relation, rows: Uint32Array): Uint32Array {
  const { ends, values } = relation;
  const related = new Uint32Array(countOf(relation, rows));
  let at = 0;
  for (let i = 0; i < rows.length; i++) {
    for (let j = ends[rows[i]!]!; j < ends[rows[i]! + 1]!; j++) related[at++] = values[j]!;
  }
  return related;
}
