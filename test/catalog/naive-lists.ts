/**
 * Contents and order of a catalog list: each parameter of the server's table is one Array.filter
 * here.
 *
 * Non-goals: pages, and the form of objects (naive-answers.ts).
 */
import type { Parameter, Parameters } from '../../server/catalog/parameters.ts';
import { allColumns, SHAPES } from '../../server/catalog/shape.ts';
import {
  type NaiveEvent,
  type NaiveMarket,
  type NaiveTag,
  nanoseconds,
  type Raw,
} from './naive-catalog.ts';
import type { NaiveQuery } from './naive-query.ts';
import { statisticKey } from './naive-statistics.ts';

export type Row = NaiveMarket | NaiveEvent;

/** Rows of a list after every filter of its table of parameters. */
export function listed<R extends Row>(
  query: NaiveQuery,
  rows: readonly R[],
  parameters: Parameters,
  kind: 'markets' | 'events',
  tags: readonly NaiveTag[],
): readonly R[] {
  const order = parameters.rows.find(({ aim }) => aim.by === 'setting' && aim.member === 'order');
  let kept = sorted(query, rows, columnsOf(kind), order!.names);
  const isRelated = query.flag(['related_tags']) === true;
  for (const parameter of parameters.rows) {
    const keeps = filterOf(query, parameter, isRelated ? tags : []);
    kept = kept.filter(keeps);
  }
  return kept;
}

function eventOf(row: Row): NaiveEvent {
  return 'event' in row ? row.event : row;
}

function filterOf(
  query: NaiveQuery,
  { aim, many, names }: Parameter,
  tags: readonly NaiveTag[],
): (row: Row) => boolean {
  if (aim.by === 'flag') {
    const wanted = query.flag(names);
    return ({ shown }) => wanted === undefined || shown[aim.column] === wanted;
  }
  if (aim.by === 'range') return rangeFilter(query, names, aim);
  if (aim.by === 'status') {
    const wanted = query.text(names) ?? 'all';
    if (!['active', 'closed', 'all'].includes(wanted)) query.addFault(names);
    if (wanted === 'all') return () => true;
    if (wanted === 'closed') return ({ shown }) => shown.closed === true;
    return ({ shown }) => shown.active === true && shown.closed === false;
  }
  if (aim.by === 'setting') return () => true;
  const separator = many === 'comma' ? ',' : undefined;
  const isCaseless = aim.column !== 'slug';
  const meaning = (text: string) => (isCaseless ? lower(text) : text);
  const isGiven = (text: string) => text !== '';
  const wanted: ReadonlySet<unknown> =
    aim.column === 'id'
      ? new Set(query.numbers(names, many !== 'no', separator))
      : new Set(
          many === 'no'
            ? [query.text(names, meaning)].filter((text) => text !== undefined)
            : [...query.values(names, meaning, isGiven, separator).keys()].filter(isGiven),
        );
  if (wanted.size === 0) return () => true;
  const isNamed = (one: { readonly id: number; readonly shown: Raw }) => {
    if (aim.column === 'id') return wanted.has(one.id);
    const value = one.shown[aim.column];
    if (aim.column === 'clobTokenIds') return JSON.parse(String(value)).some(wanted.has, wanted);
    return wanted.has(meaning(String(value)));
  };
  const related = aim.of === 'tags' && !aim.excludes ? relatedTo(tags, tags.filter(isNamed)) : [];
  const onesOf = (row: Row): readonly { readonly id: number; readonly shown: Raw }[] => {
    if (aim.of === 'markets') return [row];
    const event = eventOf(row);
    return aim.of === 'events' ? [event] : event[aim.of];
  };
  return (row) => {
    const has = onesOf(row).some((one) => isNamed(one) || related.some(({ id }) => id === one.id));
    return has !== aim.excludes;
  };
}

/** Tags that share at least half of their events with `some`, most in common first. */
export function relatedTo(all: readonly NaiveTag[], some: readonly NaiveTag[]): NaiveTag[] {
  const events = new Set(some.flatMap((tag) => tag.events));
  const shared = (tag: NaiveTag) => tag.events.filter((event) => events.has(event)).length;
  return all
    .filter((tag) => !some.includes(tag) && tag.events.length > 0)
    .filter((tag) => shared(tag) >= tag.events.length / 2)
    .sort((a, b) => shared(b) - shared(a) || a.id - b.id);
}

function rangeFilter(
  query: NaiveQuery,
  names: readonly string[],
  { column, end }: { readonly column: string; readonly end: 'min' | 'max' },
): (row: Row) => boolean {
  const isDate = DATES.includes(column);
  const read = (text: string): number | bigint | undefined => {
    if (isDate) return nanoseconds(/^[\d-]{10}$/.test(text) ? `${text}T00:00:00Z` : text);
    return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
  };
  const bounds = new Map<number | bigint | undefined, string>();
  for (const [text, name] of query.values(names)) bounds.set(read(text), name);
  if (bounds.has(undefined)) query.addFault(names);
  if (bounds.size > 1) query.faults.push([...new Set(bounds.values())]);
  const [bound] = bounds.keys();
  if (bound === undefined) return () => true;
  return ({ shown }) => {
    if (shown[column] === null) return false;
    const value = isDate ? nanoseconds(String(shown[column]))! : Number(shown[column]);
    return end === 'min' ? value >= bound : value <= bound;
  };
}

export function lower(value: unknown): string {
  return String(value).toLowerCase();
}

export function columnsOf(kind: 'markets' | 'events'): readonly string[] {
  return allColumns(kind).map(({ name }) => name);
}

type Key = string | number | bigint | boolean;

/** Rows by `order` and `ascending`; absent values last, ties by id in the same direction. */
function sorted<T extends { readonly id: number; readonly shown: Raw }>(
  query: NaiveQuery,
  rows: readonly T[],
  columns: readonly string[],
  names: readonly string[],
): readonly T[] {
  const direction = query.flag(['ascending']) === true ? 1 : -1;
  const columnNamed = (text: string) =>
    columns.find((name) => [name, snakeCase(name)].includes(text.trim())) ?? 'unknown';
  const order = query.text(names, (text) => text.split(',').map(columnNamed).join());
  const wanted = order?.split(',') ?? [];
  if (wanted.includes('unknown') || wanted.length > 3) {
    for (const name of names) query.faults.push([name, ...columns]);
    return rows;
  }
  const keyed = rows.map((row) => {
    return { row, keys: [...wanted, 'id'].map((name) => sortKey(row, name)) };
  });
  return keyed
    .sort((a, b) => {
      for (const [place, key] of a.keys.entries()) {
        const other = b.keys[place]!;
        if (key === other) continue;
        if (key === null || other === null) return key === null ? 1 : -1;
        return direction * (key < other ? -1 : 1);
      }
      return 0;
    })
    .map(({ row }) => row);
}

const STATISTICS = SHAPES.markets.statistics.map(({ name }) => name);
const DATES = ['startDate', 'endDate', 'creationDate', 'createdAt', 'updatedAt'];

function sortKey(row: { readonly id: number; readonly shown: Raw }, column: string): Key | null {
  const value = row.shown[column];
  if (column === 'id') return row.id;
  if (value === null) return null;
  if (DATES.includes(column)) return nanoseconds(String(value)) ?? null;
  if (STATISTICS.includes(column)) return statisticKey(value);
  return value as Key;
}

export function snakeCase(name: string): string {
  return name.replace('ID', 'Id').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
