/**
 * The order of a listing by the columns that a query names: as it was prepared, by a figure as it
 * was last sorted, or sorted for this request. Rules: docs/protocol.md#sort-order
 *
 * Several columns of which some are figures are sorted in steps, with turns of the event loop
 * between, by the figures at the first step. One such sort runs at a time, because each needs some
 * megabytes for 50,000 rows: other requests wait in a queue.
 *
 * Thread: the I/O thread.
 */
import { nextTurn } from '../common/next-turn.ts';
import type { Listed } from './generation.ts';
import type { SortOrder } from './prepared.ts';
import type { CatalogQuery } from './query.ts';
import type { Kind } from './shape.ts';
import { emptyOrder, inSteps, NumberSorter } from './sort-orders.ts';

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

/** An order, and the tag of the figures by which it was sorted. */
export interface Ranked {
  readonly ranking: Ranking;
  readonly etag: string;
}

/** Whether a query needs a sort of its own: by several columns, some of which may be figures. */
export function isSortedFor(kind: Kind, { figures }: Listed, { order }: CatalogQuery): boolean {
  return order.length > 1 && figures.of(kind) !== undefined;
}

/** By id or by one column, at once. */
export function rankingOf(kind: Kind, { figures, prepared }: Listed, query: CatalogQuery): Ranking {
  const { ids, orders } = prepared[kind];
  // Tags and series are always listed by id, ascending.
  const isAscending = query.ascending === 1 || kind === 'tags' || kind === 'series';
  const [name] = query.order;
  if (name === undefined) return new Ranking(ids.length, undefined, isAscending);
  return new Ranking(ids.length, figures.of(kind)?.orderBy(name) ?? orders[name], isAscending);
}

/** Sorts for requests. */
export class Rankings {
  private last: Promise<unknown> = Promise.resolve();
  private sorter = new NumberSorter(0);

  /** @param isGone the client has disconnected; the result is then undefined */
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
    const { etag } = listed.figures;
    const steps = stepsOf(kind, listed, query, this.sorter);
    while (!isGone()) {
      const { done, value } = steps.next();
      if (done === true) return { ranking: value, etag };
      await nextTurn();
    }
    return undefined;
  }
}

function* stepsOf(
  kind: Kind,
  { figures, prepared }: Listed,
  query: CatalogQuery,
  sorter: NumberSorter,
): Generator<void, Ranking> {
  const { ids, orders } = prepared[kind];
  const total = ids.length;
  const live = figures.of(kind);
  const isAscending = query.ascending === 1;
  const columns = query.order.map((name) =>
    live?.has(name) === true
      ? live.valuesOf(name).slice()
      : new Ranking(total, orders[name], isAscending),
  );
  const combined = emptyOrder(total);
  const { places, rows } = combined;
  // By the last column first: each further sort keeps the order of equal values.
  const last = columns.at(-1);
  const first = last instanceof Ranking ? last : new Ranking(total, undefined, isAscending);
  if (first === last) columns.pop();
  yield* inSteps(total, (start, end) => {
    for (let rank = start; rank < end; rank++) rows[rank] = first.rowAt(rank);
  });
  for (const column of columns.reverse()) {
    if (column instanceof Ranking) yield* sorter.refine(rows, yield* column.runs(), true);
    else yield* sorter.refine(rows, column, isAscending);
  }
  yield* inSteps(total, (start, end) => {
    for (let rank = start; rank < end; rank++) places[rows[rank]!] = rank;
  });
  return new Ranking(total, combined, true);
}
