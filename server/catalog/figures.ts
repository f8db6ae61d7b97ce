/**
 * The live figures of one catalog generation: volumes, liquidity and prices by row. They are
 * written into the objects' own fragments (prepared.ts). All rows can be sorted by each of them.
 *
 * Answers change only in publish(), which sets another entity tag: between two calls every answer
 * of this generation depends only on its request. An order is sorted when it is requested and its
 * column has changed since.
 *
 * Thread: the I/O thread. Non-goals: where figures come from (figures-keeper.ts).
 */
import { randomBytes } from 'node:crypto';
import { AMOUNT_MAX } from '../../engine/tables/capacities.ts';
import { EVENT_TEXT, type FigureText, figuresWithoutBook, MARKET_TEXT } from './figures-text.ts';
import type { PreparedCatalog, PreparedObjects, SortOrder } from './prepared.ts';
import {
  EVENT_FIGURES,
  type EventFigures,
  type Figure,
  type Kind,
  MARKET_FIGURES,
  type MarketFigures,
} from './shape.ts';
import { emptyOrder, NumberSorter } from './sort-orders.ts';

/** Random bytes that make the tag different from that of another start, and of another node. */
const TAG_BYTES = 6;

export class Figures {
  readonly markets: FigureColumns<MarketFigures>;
  readonly events: FigureColumns<EventFigures>;
  private readonly prepared: PreparedCatalog;
  /** Events with a changed market: their rows, and a mark for each. */
  private readonly touched: number[] = [];
  private readonly isTouched: Uint8Array;
  private readonly start = randomBytes(TAG_BYTES).toString('hex');
  private revision = 0;
  private tag: string;

  constructor(prepared: PreparedCatalog) {
    this.prepared = prepared;
    const { bytes, markets, events } = prepared;
    this.isTouched = new Uint8Array(events.ids.length);
    const first = figuresWithoutBook(0);
    this.markets = new FigureColumns(bytes, markets, MARKET_FIGURES, MARKET_TEXT, first);
    this.events = new FigureColumns<EventFigures>(bytes, events, EVENT_FIGURES, EVENT_TEXT, first);
    this.tag = this.nextTag();
  }

  /** The figures of a kind, if it has any. */
  of(kind: Kind): FigureColumns<MarketFigures> | FigureColumns<EventFigures> | undefined {
    return kind === 'markets' || kind === 'events' ? this[kind] : undefined;
  }

  /**
   * The tag of all answers that show figures. It is weak, because compressed answers have it too.
   */
  get etag(): string {
    return this.tag;
  }

  /** Sets the figures of a market, with a price for each of its outcomes. */
  setMarket(row: number, figures: MarketFigures): void {
    if (!this.markets.set(row, figures, figures.prices)) return;
    const event = this.prepared.markets.event[row]!;
    if (this.isTouched[event] === 1) return;
    this.isTouched[event] = 1;
    this.touched.push(event);
  }

  /** Adds up the changes since the last call; from now on answers show them. */
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
      const column = this.markets.valuesOf(name);
      let sum = 0;
      for (let i = ends[row]!; i < ends[row + 1]!; i++) sum += column[values[i]!]!;
      return Math.min(sum, AMOUNT_MAX);
    };
    const [volume, volumeDay] = [sumOf('volume'), sumOf('volume24hr')];
    this.events.set(row, { volume, volumeDay, liquidity: sumOf('liquidity') }, []);
  }

  private nextTag(): string {
    return `${this.prepared.etag.slice(0, -1)}-${this.start}.${this.revision}"`;
  }
}

interface Column {
  /** In micro-units, by row. */
  readonly values: Float64Array<ArrayBuffer>;
  changes: number;
  order: SortOrder | undefined;
  /** The number of changes at the time of the last sort. */
  sortedAt: number;
}

/** The figures of markets or of events, by name and row, and where they are shown. */
class FigureColumns<Source> {
  private readonly figures: readonly Figure<Source>[];
  private readonly text: FigureText<Source>;
  private readonly columns = new Map<string, Column>();
  private readonly bytes: Buffer;
  private readonly objects: PreparedObjects;
  private readonly total: number;
  /** Grows to the longest span. */
  private scratch = Buffer.alloc(0);
  /** Made when first needed. */
  private sorter: NumberSorter | undefined;

  constructor(
    { buffer, byteLength, byteOffset }: Uint8Array<ArrayBuffer>,
    objects: PreparedObjects,
    figures: readonly Figure<Source>[],
    text: FigureText<Source>,
    first: Source,
  ) {
    this.bytes = Buffer.from(buffer, byteOffset, byteLength);
    this.objects = objects;
    this.figures = figures;
    this.text = text;
    this.total = objects.ids.length;
    for (const { name, read } of figures) {
      const values = new Float64Array(this.total).fill(read(first));
      this.columns.set(name, { values, changes: 0, order: undefined, sortedAt: 0 });
    }
  }

  has(name: string): boolean {
    return this.columns.has(name);
  }

  /** By row. */
  valuesOf(name: string): Float64Array {
    return this.columns.get(name)!.values;
  }

  /** Writes the figures of a row into its fragment; false when they are already there. */
  set(row: number, source: Source, prices: readonly number[]): boolean {
    const start = this.objects.figuresStart[row]!;
    const length = this.objects.coreEnd[row]! - start;
    if (this.scratch.length < length) this.scratch = Buffer.alloc(length);
    const span = this.scratch.subarray(0, length);
    const end = this.text.write(source, prices, span);
    if (span.compare(this.bytes, start, start + length) === 0) return false;
    this.bytes.set(span, start);
    this.objects.figuresEnd[row] = start + end;
    for (const { name, read } of this.figures) {
      const column = this.columns.get(name)!;
      const value = read(source);
      if (column.values[row] === value) continue;
      column.values[row] = value;
      column.changes += 1;
    }
    return true;
  }

  /**
   * All rows by a figure, ascending, in their current order; undefined when the name is not a
   * figure.
   */
  orderBy(name: string): SortOrder | undefined {
    const column = this.columns.get(name);
    if (column === undefined) return undefined;
    const { total } = this;
    if (column.order !== undefined && column.sortedAt === column.changes) return column.order;
    column.order ??= emptyOrder(total, column.values);
    this.sorter ??= new NumberSorter(total);
    this.sorter.sort(column.values, column.order);
    column.sortedAt = column.changes;
    return column.order;
  }
}
