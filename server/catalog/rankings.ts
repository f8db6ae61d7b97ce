/**
 * The order of a listing by the columns that a query names: as it was prepared, by a statistic as it
 * was last sorted, or sorted for this request. Rules: docs/protocol.md#sort-order
 *
 * Several columns of which some are statistics are sorted in steps, with event-loop iterations
 * between, by the statistics at the first step. One such sort runs at a time, because each needs some
 * megabytes for 50,000 rows: other requests wait in a queue.
 *
 * Thread: the I/O thread.
 */
import { nextIteration } from '../common/event-loop.ts';
import type { Listed } from './catalog-generation.ts';
import type { SortOrder } from './prepared.ts';
import type { CatalogQuery } from './query.ts';
import type { Kind } from './shape.ts';
import { emptyOrder, inSteps, NumberSorter } from './sort-orders.ts';

/**
 * Order of a listing: the row of rank 0 comes first. Rows without a value are last in both
 * directions; equal values are ordered by id, in the requested direction
 * (docs/protocol.md#sort-order).
 */
export class Ranking {
  readonly total: number;
  private readonly order: SortOrder | undefined;
  private readonly isAscending: boolean;

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

  /**
   * Converts ranks to places and back. Descending orders reverse rows with and without a value
   * separately.
   */
  private placeAt(rank: number): number {
    if (this.isAscending) return rank;
    const present = this.order === undefined ? this.total : this.order.present;
    return rank < present ? present - 1 - rank : this.total - 1 - (rank - present);
  }
}

export interface Ranked {
  readonly ranking: Ranking;
  readonly etag: string;
}

export function isSortedFor({ order }: CatalogQuery): boolean {
  return order.length > 1;
}

export function rankingOf(
  kind: Kind,
  { statistics, prepared }: Listed,
  query: CatalogQuery,
): Ranking {
  const { ids } = prepared[kind];
  // Tags and series are always listed by id, ascending.
  const isAscending = query.ascending === 1 || kind === 'tags' || kind === 'series';
  const [name] = query.order;
  if (name === undefined) return new Ranking(ids.length, undefined, isAscending);
  return new Ranking(ids.length, statistics.column(kind, name).order(), isAscending);
}

export class Rankings {
  private last: Promise<unknown> = Promise.resolve();
  private sorter = new NumberSorter(0);

  sort(
    kind: Kind,
    listed: Listed,
    query: CatalogQuery,
    isGone: () => boolean,
  ): Promise<Ranked | undefined> {
    const ranked = this.last.then(() => this.sortNow(kind, listed, query, isGone));
    this.last = ranked.catch(() => undefined);
    return ranked;
  }

  private async sortNow(
    kind: Kind,
    listed: Listed,
    query: CatalogQuery,
    isGone: () => boolean,
  ): Promise<Ranked | undefined> {
    const { length } = listed.prepared[kind].ids;
    if (this.sorter.rowsMax < length) this.sorter = new NumberSorter(length);
    const { etag } = listed.statistics;
    const steps = stepsOf(kind, listed, query, this.sorter);
    while (!isGone()) {
      const { done, value } = steps.next();
      if (done === true) return { ranking: value, etag };
      await nextIteration();
    }
    return undefined;
  }
}

function* stepsOf(
  kind: Kind,
  { statistics, prepared }: Listed,
  query: CatalogQuery,
  sorter: NumberSorter,
): Generator<void, Ranking> {
  const total = prepared[kind].ids.length;
  const isAscending = query.ascending === 1;
  const columns = query.order.map((name) => {
    const column = statistics.column(kind, name);
    return column.isLive ? column.values.slice() : column.order();
  });
  const combined = emptyOrder(total);
  const { places, rows } = combined;
  yield* inSteps(total, (start, end) => {
    for (let rank = start; rank < end; rank++) rows[rank] = isAscending ? rank : total - 1 - rank;
  });
  // By the last column first: each further sort keeps the order of equal values.
  for (const column of columns.reverse()) {
    const isLive = column instanceof Float64Array;
    const numbers = isLive ? column : yield* numbersOf(column, isAscending);
    yield* sorter.refine(rows, numbers, isAscending);
  }
  yield* inSteps(total, (start, end) => {
    for (let rank = start; rank < end; rank++) places[rows[rank]!] = rank;
  });
  return new Ranking(total, combined, true);
}

/** Numbers the values of a column by row, from 1, equal ones alike; absent ones are last in both directions. */
function* numbersOf(
  { firsts, present, rows }: SortOrder,
  isAscending: boolean,
): Generator<void, Float64Array> {
  const numbers = new Float64Array(rows.length).fill(isAscending ? rows.length + 1 : 0);
  let number = 0;
  yield* inSteps(present, (start, end) => {
    for (let place = start; place < end; place++) {
      number += firsts[place]!;
      numbers[rows[place]!] = number;
    }
  });
  return numbers;
}
