/**
 * A checked query of a catalog route, and what each parameter contributes to it (parameters.ts has the
 * parameters; docs/protocol.md#catalog-queries).
 *
 * Thread: any; pure. Non-goals: whether the requested object exists.
 */
import { CatalogFlag } from './prepared.ts';
import type { KEY_COLUMNS, Kind } from './shape.ts';

export type Value = number | string | readonly string[];

/** What a parameter selects or sets. */
export type Aim =
  | { readonly by: 'setting'; readonly member: Setting }
  /** Objects whose boolean column, a bit of `flags`, is as said. */
  | { readonly by: 'flag'; readonly column: string; readonly bit: number }
  /** Open or closed events. */
  | { readonly by: 'status' }
  /** Objects whose column has a value not below, or not above, the one given. */
  | { readonly by: 'range'; readonly column: string; readonly end: 'min' | 'max' }
  /**
   * Objects that have, or are related to, an object of a kind with one of the values in a column;
   * or all others.
   */
  | {
      readonly by: 'key';
      readonly of: Kind;
      readonly column: 'id' | keyof typeof KEY_COLUMNS;
      readonly excludes: boolean;
    };

/** Bounds of a column, both inclusive. */
interface Range {
  readonly column: string;
  min: number;
  max: number;
}

/** A filter by keys: ids as numbers, all others as texts from keyOf(). */
interface KeyFilter {
  readonly aim: Aim & { readonly by: 'key' };
  readonly values: readonly (number | string)[];
}

/** A checked query. Parameters that its route does not have stay at the default. */
export class CatalogQuery {
  limit: number;
  offset = 0;
  /** 1 or 0, like all booleans here. */
  ascending = 0;
  /** From 1. */
  page = 1;
  searchTags = 1;
  /** There are no profiles. */
  searchProfiles = 0;
  relatedTags = 0;
  includeTag = 0;
  keepClosed = 1;
  /** Names of columns as objects show them; none = by id. */
  order: readonly string[] = [];
  /** A wallet in lower case or a normalised site id; '' = none, like all texts. */
  creator = '';
  q = '';
  cursor = '';
  /** Bits of the requested boolean columns, and those of them that must be set. */
  flagMask = 0;
  flagValues = 0;
  readonly ranges: Range[] = [];
  readonly keys: KeyFilter[] = [];

  constructor(limit = 100) {
    this.limit = limit;
  }
}

export type Setting = Exclude<keyof CatalogQuery, 'flagMask' | 'flagValues' | 'ranges' | 'keys'>;

/** Adds the values of one parameter to a query. */
export function apply(query: CatalogQuery, aim: Aim, values: readonly (number | string)[]): void {
  const [value] = values;
  if (value === undefined) return;
  if (aim.by === 'key') {
    query.keys.push({ aim, values });
  } else if (aim.by === 'flag') {
    query.flagMask |= aim.bit;
    if (value === 1) query.flagValues |= aim.bit;
  } else if (aim.by === 'range') {
    let range = query.ranges.find(({ column }) => column === aim.column);
    if (range === undefined) {
      // An absent value is infinite, so it is outside of all bounds.
      range = { column: aim.column, min: -Number.MAX_VALUE, max: Number.MAX_VALUE };
      query.ranges.push(range);
    }
    range[aim.end] = value as number;
  } else if (aim.by === 'status') {
    if (value === 'all') return;
    query.flagMask |=
      value === 'active' ? CatalogFlag.active | CatalogFlag.closed : CatalogFlag.closed;
    query.flagValues |= value === 'active' ? CatalogFlag.active : CatalogFlag.closed;
  } else {
    const members: Record<Setting, Value> = query;
    members[aim.member] = aim.member === 'order' ? (value as string).split(',') : value;
  }
}
