/**
 * Pages of rows: the order of a listing, and the two ways to a page, by going through all rows in
 * that order or by sorting a few.
 *
 * Thread: the I/O thread. Non-goals: what the filters mean (select.ts).
 */
import type { SortOrder } from './prepared.ts';
import { type CatalogQuery, LIMIT_MAX } from './query.ts';

/** The rows of one answer, in the order they are shown; shared by all requests. */
export class Page {
  readonly rows = new Uint32Array(LIMIT_MAX);
  count = 0;
}

/** Which rows a request asks for. */
export interface Filter {
  /** It asks for all rows. */
  readonly isOpen: boolean;
  matches(row: number): boolean;
}

/**
 * The order of a listing: the row of rank 0 is shown first. Rows without a value are last in both
 * directions; equal values go by id, in the direction asked for (GAPS 5).
 */
export class Ranking {
  private readonly total: number;
  private readonly order: SortOrder | undefined;
  private readonly isAscending: boolean;

  /** @param order undefined = by id */
  constructor(total: number, order: SortOrder | undefined, isAscending: boolean) {
    this.total = total;
    this.order = order;
    this.isAscending = isAscending;
  }

  rowAt(rank: number): number {
    const place = this.isAscending ? rank : this.opposite(rank);
    return this.order === undefined ? place : this.order.rows[place]!;
  }

  rankOf(row: number): number {
    const place = this.order === undefined ? row : this.order.places[row]!;
    return this.isAscending ? place : this.opposite(place);
  }

  /** Turns ranks into places and back: those with a value, and those without, end for start. */
  private opposite(place: number): number {
    const present = this.order === undefined ? this.total : this.order.present;
    return place < present ? present - 1 - place : this.total - 1 - (place - present);
  }
}

/** Fills the page from all rows, in order, until it is full. */
export function pickFromAll(
  page: Page,
  query: CatalogQuery,
  filter: Filter,
  ranking: Ranking,
  total: number,
): void {
  const { limit, offset } = query;
  let skip = filter.isOpen ? 0 : offset;
  let count = 0;
  for (let rank = filter.isOpen ? offset : 0; rank < total && count < limit; rank++) {
    const row = ranking.rowAt(rank);
    if (!filter.isOpen && !filter.matches(row)) continue;
    if (skip > 0) skip -= 1;
    else page.rows[count++] = row;
  }
  page.count = count;
}

/** Fills the page from a few rows, given in any order. */
export function pickFromFew(
  page: Page,
  query: CatalogQuery,
  filter: Filter,
  ranking: Ranking,
  candidates: Uint32Array,
): void {
  const { limit, offset } = query;
  const ranks = new Uint32Array(candidates.length);
  let found = 0;
  for (let i = 0; i < candidates.length; i++) {
    const row = candidates[i]!;
    if (filter.matches(row)) ranks[found++] = ranking.rankOf(row);
  }
  if (found > 1) ranks.subarray(0, found).sort();
  let count = 0;
  for (let i = offset; i < found && count < limit; i++) {
    page.rows[count++] = ranking.rowAt(ranks[i]!);
  }
  page.count = count;
}
