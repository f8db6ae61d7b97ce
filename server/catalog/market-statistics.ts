/**
 * The live statistics of one catalog generation: volumes, liquidity and prices by row. They are
 * written into the objects' own fragments (prepared.ts). All rows can be sorted by each of them.
 *
 * Answers change only in publish(), which sets another entity tag: between two calls every answer
 * of this generation depends only on its request. An order is sorted when it is requested and its
 * column has changed since.
 *
 * Thread: the I/O thread. Non-goals: where statistics come from (statistics-service.ts).
 */
import { randomBytes } from 'node:crypto';
import { AMOUNT_MAX } from '../../engine/tables/capacities.ts';
import { MICRO } from '../../engine/tables/units.ts';
import type { PreparedCatalog, PreparedObjects, SortOrder } from './prepared.ts';
import { type Kind, type MarketStatistics, SHAPES } from './shape.ts';
import { emptyOrder, NumberSorter } from './sort-orders.ts';
import { EVENT_TEXT, MARKET_TEXT, statisticsWithoutBook } from './statistics-text.ts';

/** Random bytes of the tag: it differs from that of another start and of another node. */
const TAG_BYTES = 6;

const TEXTS = { markets: MARKET_TEXT, events: EVENT_TEXT };
const NOTHING = statisticsWithoutBook(0);

export class CatalogStatistics {
  private readonly markets: StatisticColumns;
  private readonly events: StatisticColumns;
  private readonly prepared: PreparedCatalog;
  private readonly touched: number[] = [];
  private readonly isTouched: Uint8Array;
  private readonly start = randomBytes(TAG_BYTES).toString('hex');
  private revision = 0;
  private tag: string;

  constructor(prepared: PreparedCatalog) {
    this.prepared = prepared;
    this.isTouched = new Uint8Array(prepared.events.ids.length);
    this.markets = new StatisticColumns(prepared, 'markets');
    this.events = new StatisticColumns(prepared, 'events');
    this.tag = this.nextTag();
  }

  column(kind: Kind, name: string): ColumnValues {
    const isListed = kind === 'markets' || kind === 'events';
    const live = isListed ? this[kind].columns.get(name) : undefined;
    if (live !== undefined) return live;
    const order = this.prepared[kind].orders[name]!;
    return { values: order.values, unit: 1, isLive: false, order: () => order };
  }

  /**
   * Tag of all answers that show statistics. It is weak, because compressed answers have it too.
   */
  get etag(): string {
    return this.tag;
  }

  setMarket(row: number, statistics: MarketStatistics): void {
    if (!this.markets.set(row, statistics)) return;
    const event = this.prepared.markets.event[row]!;
    if (this.isTouched[event] === 1) return;
    this.isTouched[event] = 1;
    this.touched.push(event);
  }

  /** Adds up the changes since the last call; answers show them from now on. */
  publish(): void {
    if (this.touched.length === 0) return;
    for (const row of this.touched) {
      this.isTouched[row] = 0;
      this.sumUp(row);
    }
    this.touched.length = 0;
    this.revision += 1;
    this.tag = this.nextTag();
  }

  private sumUp(row: number): void {
    const { ends, values } = this.prepared.events.markets;
    const sumOf = (name: string): number => {
      const column = this.markets.columns.get(name)!.values;
      let sum = 0;
      for (let i = ends[row]!; i < ends[row + 1]!; i++) sum += column[values[i]!]!;
      return Math.min(sum, AMOUNT_MAX);
    };
    const [volume, volumeDay] = [sumOf('volume'), sumOf('volume24hr')];
    this.events.set(row, { ...NOTHING, volume, volumeDay, liquidity: sumOf('liquidity') });
  }

  private nextTag(): string {
    return `${this.prepared.etag.slice(0, -1)}-${this.start}.${this.revision}"`;
  }
}

export interface ColumnValues {
  /** Values by row, as multiples of `unit`. */
  readonly values: Float64Array;
  readonly unit: number;
  readonly isLive: boolean;
  order(): SortOrder;
}

class LiveValues implements ColumnValues {
  readonly values: Float64Array<ArrayBuffer>;
  readonly unit = MICRO;
  readonly isLive = true;
  private readonly sorter: () => NumberSorter;
  private sorted: SortOrder | undefined;
  private isStale = true;

  constructor(values: Float64Array<ArrayBuffer>, sorter: () => NumberSorter) {
    this.values = values;
    this.sorter = sorter;
  }

  set(row: number, value: number): void {
    if (this.values[row] === value) return;
    this.values[row] = value;
    this.isStale = true;
  }

  /** Ascending; the order changes with the next call after a change. */
  order(): SortOrder {
    this.sorted ??= emptyOrder(this.values.length, this.values);
    if (this.isStale) this.sorter().sort(this.values, this.sorted);
    this.isStale = false;
    return this.sorted;
  }
}

class StatisticColumns {
  readonly columns: ReadonlyMap<string, LiveValues>;
  private readonly kind: 'markets' | 'events';
  private readonly bytes: Buffer;
  private readonly objects: PreparedObjects;
  private scratch = Buffer.alloc(0);
  private sorter: NumberSorter | undefined;

  constructor(prepared: PreparedCatalog, kind: 'markets' | 'events') {
    const { buffer, byteLength, byteOffset } = prepared.bytes;
    this.kind = kind;
    this.bytes = Buffer.from(buffer, byteOffset, byteLength);
    this.objects = prepared[kind];
    const { length } = this.objects.ids;
    const sorter = (): NumberSorter => {
      this.sorter ??= new NumberSorter(length);
      return this.sorter;
    };
    this.columns = new Map(
      SHAPES[kind].statistics.map(({ name, read }) => {
        return [name, new LiveValues(new Float64Array(length).fill(read(NOTHING)), sorter)];
      }),
    );
  }

  /** Writes the statistics of a row into its fragment; returns false when they are there already. */
  set(row: number, statistics: MarketStatistics): boolean {
    const start = this.objects.figuresStart[row]!;
    const length = this.objects.coreEnd[row]! - start;
    if (this.scratch.length < length) this.scratch = Buffer.alloc(length);
    const span = this.scratch.subarray(0, length);
    const end = TEXTS[this.kind].write(statistics, span);
    if (span.compare(this.bytes, start, start + length) === 0) return false;
    this.bytes.set(span, start);
    this.objects.figuresEnd[row] = start + end;
    for (const { name, read } of SHAPES[this.kind].statistics) {
      this.columns.get(name)!.set(row, read(statistics));
    }
    return true;
  }
}
