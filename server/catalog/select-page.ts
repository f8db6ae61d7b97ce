/**
 * Pages of rows: the order of a listing, and the two ways to fill a page: by walking all rows in
 * that order, or by sorting a few rows.
 *
 * Thread: the I/O thread. Non-goals: what the filters mean (select.ts).
 */
import { LIMIT_MAX } from './parameters.ts';
import type { SortOrder } from './prepared.ts';
import type { CatalogQuery } from './query.ts';
import { inSteps } from './sort-orders.ts';

/** The rows of one answer, in the order they are shown; shared by all requests. */
export class Page {
  /** A list by cursor looks for one more than it shows. */
  readonly rows = new Uint32Array(LIMIT_MAX + 1);
  count = 0;

  shown(): Uint32Array {
    return this.rows.subarray(0, this.count);
  }
}

/** Selects the rows of a request. */
export interface Filter {
  /** It selects all rows. */
  readonly isOpen: boolean;
  matches(row: number): boolean;
}

/**
 * The order of a listing: the row of rank 0 comes first. Rows without a value are last in both
 * directions; equal values are ordered by id, in the requested direction
 * (docs/protocol.md#sort-order).
 */
export class Ranking {
  readonly total: number;
  private readonly order: SortOrder | undefined;
  private readonly isAscending: boolean;

  /** @param order undefined = by id */
  constructor(total: number, order: SortOrder | undefined, isAscending: boolean) {
    this.total = total;
    this.order = order;
    this.isAscending = isAscending;
  }

  rowAt(rank: number): number {
    const place = this.placeAt(rank);
    return this.order === undefined ? place : this.order.rows[place]!;
  }

  rankOf(row: number): number {
    const place = this.order === undefined ? row : this.order.places[row]!;
    return this.placeAt(place);
  }

  /** By row, step by step: the number of its run of equal values, in the order of ranks. */
  *runs(): Generator<void, Float64Array> {
    const runs = new Float64Array(this.total);
    let run = 0;
    yield* inSteps(this.total, (start, end) => {
      run = this.numberRuns(runs, run, start, end);
    });
    return runs;
  }

  /**
   * Numbers the runs of the ranks [start, end), after one whose run is `run`. Returns the last run.
   */
  private numberRuns(runs: Float64Array, run: number, start: number, end: number): number {
    const { isAscending, order, total } = this;
    let last = run;
    for (let rank = start; rank < end; rank++) {
      const place = this.placeAt(rank);
      // `firsts` is stored at the later of two places, which has the lower rank when the order
      // descends.
      const later = isAscending ? place : place + 1;
      const isFirst = order === undefined || rank === order.present || order.firsts[later] === 1;
      if (rank > 0 && isFirst && rank <= (order?.present ?? total)) last += 1;
      runs[this.rowAt(rank)] = last;
    }
    return last;
  }

  /**
   * Converts ranks to places and back. When descending, rows with a value and rows without one are
   * reversed separately.
   */
  private placeAt(rank: number): number {
    if (this.isAscending) return rank;
    const present = this.order === undefined ? this.total : this.order.present;
    return rank < present ? present - 1 - rank : this.total - 1 - (rank - present);
  }
}

/** Fills the page from all rows, in order from a rank on, until it is full. */
export function pickFromAll(
  page: Page,
  { limit, offset }: CatalogQuery,
  filter: Filter,
  ranking: Ranking,
  from: number,
): void {
  const { total } = ranking;
  let skip = filter.isOpen ? 0 : offset;
  let count = 0;
  for (let rank = filter.isOpen ? from + offset : from; rank < total && count < limit; rank++) {
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
  { limit, offset }: CatalogQuery,
  filter: Filter,
  ranking: Ranking,
  from: number,
  candidates: Uint32Array,
): void {
  const ranks = new Uint32Array(candidates.length);
  let found = 0;
  for (let i = 0; i < candidates.length; i++) {
    const row = candidates[i]!;
    if (!filter.matches(row)) continue;
    const rank = ranking.rankOf(row);
    if (rank >= from) ranks[found++] = rank;
  }
  if (found > 1) ranks.subarray(0, found).sort();
  let count = 0;
  for (let i = offset; i < found && count < limit; i++) {
    page.rows[count++] = ranking.rowAt(ranks[i]!);
  }
  page.count = count;
}
