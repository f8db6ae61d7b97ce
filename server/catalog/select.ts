/**
 * Selects the objects of a prepared catalog for a checked query
 * (docs/protocol.md#catalog-queries).
 *
 * A filter on something that many markets share, such as a tag, first becomes a set of events. If a
 * set leaves few rows, only these are checked and sorted; otherwise all rows are walked in the
 * requested order until the page is full.
 *
 * Thread: the I/O thread. Non-goals: JSON.
 */

import type { Listed } from './catalog-generation.ts';
import type { PreparedCatalog, Relation } from './prepared.ts';
import type { CatalogQuery } from './query.ts';
import type { Ranking } from './rankings.ts';
import { valuesOfRow } from './relation.ts';
import type { Kind } from './shape.ts';
import { NO_ROWS, rowsNamed } from './text-index.ts';

const NONE = -1;

/** Checks of rows that cost as much as sorting one. */
const SORT_COST = 16;

export function scopeOf(catalog: PreparedCatalog, query: CatalogQuery): CreatorScope | undefined {
  return query.creator === '' ? undefined : new CreatorScope(catalog, query.creator);
}

/** Index of a number among ascending ones, such as the row of an id; or NONE. */
export function placeAmong(numbers: Float64Array | Uint32Array, number: number): number {
  const place = countBelow(numbers, number);
  return numbers[place] === number ? place : NONE;
}

function countBelow(numbers: Float64Array | Uint32Array, number: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (numbers[middle]! < number) low = middle + 1;
    else high = middle;
  }
  return low;
}

export interface RankCursor {
  readonly id: number;
  readonly rank: number;
}

export function select(
  kind: Kind,
  listed: Listed,
  query: CatalogQuery,
  ranking: Ranking,
  behind?: RankCursor,
): Uint32Array {
  const { limit, offset } = query;
  const filter = new RowFilter(kind, listed, query);
  const from = behind === undefined ? 0 : rankBehind(kind, listed, query, ranking, behind);
  const few = filter.few && ranksOf(filter.few, filter, ranking, from);
  const total = few?.length ?? ranking.total;
  const isSelected = few !== undefined || filter.isOpen;
  let skip = isSelected ? 0 : offset;
  let at = (few === undefined ? from : 0) + (isSelected ? offset : 0);
  const rows = new Uint32Array(limit);
  let count = 0;
  for (; at < total && count < limit; at++) {
    const row = ranking.rowAt(few === undefined ? at : few[at]!);
    if (!isSelected && !filter.matches(row)) continue;
    if (skip > 0) skip -= 1;
    else rows[count++] = row;
  }
  return rows.subarray(0, count);
}

function ranksOf(
  candidates: Uint32Array,
  filter: RowFilter,
  ranking: Ranking,
  from: number,
): Uint32Array {
  const ranks = candidates.filter((row) => filter.matches(row)).map((row) => ranking.rankOf(row));
  return ranks.filter((rank) => rank >= from).sort();
}

/** First rank after a cursor, also when its object no longer exists. */
function rankBehind(
  kind: Kind,
  { statistics, prepared }: Listed,
  query: CatalogQuery,
  ranking: Ranking,
  { id, rank }: RankCursor,
): number {
  // If the order is by statistics, only the rank is a reliable position.
  if (query.order.some((name) => statistics.column(kind, name).isLive)) return rank + 1;
  const { ids } = prepared[kind];
  const row = placeAmong(ids, id);
  if (row !== NONE) return ranking.rankOf(row) + 1;
  // The next object has moved up to the rank of the missing one.
  if (query.order.length > 0) return rank;
  const below = countBelow(ids, id);
  return query.ascending === 1 ? below : ids.length - below;
}

interface BoundedColumn {
  readonly values: Float64Array;
  readonly min: number;
  readonly max: number;
  readonly unit: number;
}

export class RowFilter {
  readonly isOpen: boolean;
  /** The only rows that can match, if there are few. */
  readonly few: Uint32Array | undefined;
  private readonly kind: Kind;
  private readonly flags: Uint8Array;
  private readonly flagMask: number;
  private readonly flagValues: number;
  private readonly columns: readonly BoundedColumn[];
  private readonly eventOf: Uint32Array | undefined;
  /** Events with 1 are requested; `undefined` = any. */
  private marks: Uint8Array | undefined;
  private leftOut: Uint8Array | undefined;
  private readonly scope: CreatorScope | undefined;

  /** @param fewMax if at most one in `fewMax` rows can match, only these are checked */
  constructor(
    kind: Kind,
    { statistics, prepared }: Listed,
    query: CatalogQuery,
    fewMax = SORT_COST,
  ) {
    const objects = prepared[kind];
    this.kind = kind;
    this.flags = objects.flags;
    this.flagMask = query.flagMask;
    this.flagValues = query.flagValues;
    this.columns = query.ranges.map(({ column, min, max }) => {
      const { unit, values } = statistics.column(kind, column);
      return { values, unit, min, max };
    });
    this.eventOf = kind === 'markets' ? prepared.markets.event : undefined;
    this.scope = scopeOf(prepared, query);
    this.few = this.readKeys(prepared, query, fewMax);
    this.isOpen =
      this.flagMask === 0 &&
      this.columns.length === 0 &&
      this.marks === undefined &&
      this.leftOut === undefined &&
      this.scope === undefined;
  }

  matches(row: number): boolean {
    if ((this.flags[row]! & this.flagMask) !== this.flagValues) return false;
    const { eventOf, leftOut, marks, scope } = this;
    const event = eventOf === undefined ? row : eventOf[row]!;
    if (marks !== undefined && marks[event] === 0) return false;
    if (leftOut !== undefined && leftOut[event] === 1) return false;
    for (let i = 0; i < this.columns.length; i++) {
      const { max, min, unit, values } = this.columns[i]!;
      const value = values[row]! / unit;
      if (!(value >= min && value <= max)) return false;
    }
    return scope === undefined || scope.has(this.kind, row);
  }

  private readKeys(
    catalog: PreparedCatalog,
    query: CatalogQuery,
    fewMax: number,
  ): Uint32Array | undefined {
    const { ids, markets } = catalog.events;
    let few: Uint32Array | undefined;
    let events: Uint32Array | undefined;
    for (const { aim, values } of query.keys) {
      let rows = rowsOf(catalog, aim.of, aim.column, values);
      if (aim.of === 'tags' && query.relatedTags === 1 && !aim.excludes) {
        rows = union([rows, Uint32Array.from(relatedTags(catalog, rows)).sort()]);
      }
      if (aim.of === 'markets') {
        few = intersection(few, rows);
        continue;
      }
      if (aim.of !== 'events') rows = relatedToAny(catalog[aim.of].events, rows);
      if (aim.excludes) this.leftOut = marked(rows, ids.length, this.leftOut);
      else events = intersection(events, rows);
    }
    if (events === undefined) return few;
    const { eventOf } = this;
    if (few !== undefined) return few.filter((row) => placeAmong(events, eventOf![row]!) !== NONE);
    const count = eventOf === undefined ? events.length : countOf(markets, events);
    if (count * fewMax <= this.flags.length) {
      return eventOf === undefined ? events : relatedToAny(markets, events);
    }
    this.marks = marked(events, ids.length);
    return undefined;
  }
}

export function rowsOf(
  catalog: PreparedCatalog,
  kind: Kind,
  column: string,
  values: readonly (number | string)[],
): Uint32Array {
  const [first] = values;
  if (first !== undefined && values.length === 1) return rowsWith(catalog, kind, column, first);
  return union(values.map((value) => rowsWith(catalog, kind, column, value)));
}

function rowsWith(
  catalog: PreparedCatalog,
  kind: Kind,
  column: string,
  value: number | string,
): Uint32Array {
  const { ids, keys } = catalog[kind];
  if (typeof value === 'string') return rowsNamed(keys[column]!, value);
  const row = placeAmong(ids, value);
  return row === NONE ? NO_ROWS : Uint32Array.of(row);
}

function relatedToAny(relation: Relation, rows: Uint32Array): Uint32Array {
  return union(Array.from(rows, (row) => valuesOfRow(relation, row)));
}

function union(lists: readonly Uint32Array[]): Uint32Array {
  if (lists.length <= 1) return lists[0] ?? NO_ROWS;
  const end = lists.reduce((most, rows) => Math.max(most, (rows.at(-1) ?? -1) + 1), 0);
  const marks = new Uint8Array(end);
  for (const rows of lists) marked(rows, end, marks);
  const all = new Uint32Array(end);
  let count = 0;
  for (let row = 0; row < end; row++) if (marks[row] === 1) all[count++] = row;
  return all.subarray(0, count);
}

/** Intersection of ascending rows; `undefined` = all rows. */
function intersection(a: Uint32Array | undefined, b: Uint32Array): Uint32Array {
  if (a === undefined) return b;
  const [few, many] = a.length < b.length ? [a, b] : [b, a];
  return few.filter((row) => placeAmong(many, row) !== NONE);
}

function marked(
  rows: Uint32Array,
  total: number,
  marks: Uint8Array = new Uint8Array(total),
): Uint8Array {
  for (let i = 0; i < rows.length; i++) marks[rows[i]!] = 1;
  return marks;
}

function countOf({ ends }: Relation, rows: Uint32Array): number {
  let count = 0;
  for (let i = 0; i < rows.length; i++) count += ends[rows[i]! + 1]! - ends[rows[i]!]!;
  return count;
}

/** Related tags, most events in common first, equals by id; without the tags themselves. */
export function relatedTags({ events, tags }: PreparedCatalog, rows: Uint32Array): number[] {
  const own = tags.events;
  const seen = new Uint8Array(events.ids.length);
  const shared = new Uint32Array(tags.ids.length);
  for (const row of rows) {
    for (let i = own.ends[row]!; i < own.ends[row + 1]!; i++) {
      const event = own.values[i]!;
      if (seen[event] === 1) continue;
      seen[event] = 1;
      // Most of the time of this answer: loops by index take less of it than iterators of arrays.
      for (let j = events.tags.ends[event]!; j < events.tags.ends[event + 1]!; j++) {
        shared[events.tags.values[j]!]! += 1;
      }
    }
  }
  const related: number[] = [];
  for (let row = 0; row < shared.length; row++) {
    const count = own.ends[row + 1]! - own.ends[row]!;
    if (count > 0 && 2 * shared[row]! >= count && !rows.includes(row)) related.push(row);
  }
  return related.sort((a, b) => shared[b]! - shared[a]! || a - b);
}

export class CreatorScope {
  private readonly catalog: PreparedCatalog;
  private readonly creators: Uint8Array;
  private marks: Uint8Array | undefined = undefined;

  constructor(catalog: PreparedCatalog, creator: string) {
    this.catalog = catalog;
    this.creators = new Uint8Array(catalog.creatorCount + 1); // 0 = no creator
    for (const number of rowsNamed(catalog.creators, creator)) this.creators[number] = 1;
  }

  has(kind: Kind, row: number): boolean {
    if (kind === 'markets') return this.hasMarket(row);
    return kind === 'events' ? this.hasEvent(row) : this.countEventsOf(kind, row) > 0;
  }

  hasMarket(market: number): boolean {
    return this.creators[this.catalog.markets.creator[market]!] === 1;
  }

  hasEvent(event: number): boolean {
    const { ends, values } = this.catalog.events.markets;
    for (let i = ends[event]!; i < ends[event + 1]!; i++) {
      if (this.hasMarket(values[i]!)) return true;
    }
    return false;
  }

  countEventsOf(kind: 'series' | 'tags', row: number): number {
    const marks = this.eventMarks();
    const { ends, values } = this.catalog[kind].events;
    let count = 0;
    for (let i = ends[row]!; i < ends[row + 1]!; i++) count += marks[values[i]!]!;
    return count;
  }

  /**
   * Events with 1 pass. Computed in one pass over all markets: a tag can have most of the events.
   */
  private eventMarks(): Uint8Array {
    if (this.marks !== undefined) return this.marks;
    const { ids, event } = this.catalog.markets;
    const marks = new Uint8Array(this.catalog.events.ids.length);
    for (let market = 0; market < ids.length; market++) {
      if (this.hasMarket(market)) marks[event[market]!] = 1;
    }
    this.marks = marks;
    return marks;
  }
}
