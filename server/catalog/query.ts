/**
 * A checked query of a catalog route, and what each parameter contributes to it (parameters.ts has the
 * parameters; docs/protocol.md#catalog-queries).
 *
 * Thread: any; pure. Non-goals: whether the requested object exists.
 */
import { CatalogFlag } from './prepared.ts';
import type { KEY_COLUMNS, Kind } from './shape.ts';

export type Value = number | string | readonly string[];

export type Aim =
  | { readonly by: 'setting'; readonly member: Setting }
  | { readonly by: 'flag'; readonly column: string; readonly bit: number }
  | { readonly by: 'status' }
  | { readonly by: 'range'; readonly column: string; readonly end: 'min' | 'max' }
  /**
   * Objects with one of the values in a key column, or related to such an object of a kind; or all
   * others.
   */
  | {
      readonly by: 'key';
      readonly of: Kind;
      readonly column: 'id' | keyof typeof KEY_COLUMNS;
      readonly excludes: boolean;
    };

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

/**
 * A checked query; booleans are 1 or 0. Parameters that its route does not have stay at the
 * default.
 */
export class CatalogQuery {
  limit: number;
  offset = 0;
  ascending = 0;
  page = 1;
  searchTags = 1;
  searchProfiles = 0;
  relatedTags = 0;
  includeTag = 0;
  keepClosed = 1;
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
