/**
 * The live figures of one catalog generation: volumes, liquidity and prices by row, written into
 * the objects' own fragments (prepared.ts), and the orders of all rows by each of them.
 *
 * What is served changes only in publish(), which gives it another entity tag: between two of them
 * every answer of this generation is a function of its request. An order is sorted when it is asked
 * for and its column has changed since.
 *
 * Thread: the I/O thread. Non-goals: where figures come from (figures-keeper.ts).
 */
import { randomBytes } from 'node:crypto';
import { AMOUNT_MAX } from '../../engine/limits.ts';
import { NumberSorter } from './figures-sort.ts';
import { figuresWithoutBook, writeEventFigures, writeMarketFigures } from './figures-text.ts';
import type { PreparedCatalog, SortOrder } from './prepared.ts';
import {
  EVENT_FIGURES,
  type EventFigures,
  type Figure,
  MARKET_FIGURES,
  type MarketFigures,
} from './shape.ts';

/** Told apart from those of another start, and of another node. */
const TAG_BYTES = 6;

export class Figures {
  readonly markets: FigureColumns<MarketFigures>;
  readonly events: FigureColumns<EventFigures>;
  private readonly prepared: PreparedCatalog;
  private readonly bytes: Buffer;
  /** Grows to the longest span. */
  private scratch = Buffer.alloc(0);
  /** Events of which a market has changed: their rows, and a mark at each. */
  private readonly touched: number[] = [];
  private readonly isTouched: Uint8Array;
  private readonly start = randomBytes(TAG_BYTES).toString('hex');
  private revision = 0;
  private tag: string;

  constructor(prepared: PreparedCatalog) {
    this.prepared = prepared;
    const { bytes, markets, events } = prepared;
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.isTouched = new Uint8Array(events.ids.length);
    const first = figuresWithoutBook(0);
    this.markets = new FigureColumns(MARKET_FIGURES, markets.ids.length, first);
    this.events = new FigureColumns<EventFigures>(EVENT_FIGURES, events.ids.length, first);
    this.tag = this.nextTag();
  }

  /** Of all answers that show figures; weak, because compressed answers carry it too. */
  get etag(): string {
    return this.tag;
  }

  /** Takes the figures of a market, with a price for each of its outcomes. */
  setMarket(row: number, figures: MarketFigures): void {
    const { markets } = this.prepared;
    const span = this.spanOf(markets, row);
    writeMarketFigures(figures, span);
    if (!this.replace(markets.figuresStart[row]!, span)) return;
    this.markets.set(row, figures);
    const event = markets.event[row]!;
    if (this.isTouched[event] === 1) return;
    this.isTouched[event] = 1;
    this.touched.push(event);
  }

  /** Sums up what was taken since; from here on answers say it. */
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
    const { events } = this.prepared;
    const { ends, values } = events.markets;
    const sumOf = (name: string): number => {
      const column = this.markets.valuesOf(name);
      let sum = 0;
      for (let i = ends[row]!; i < ends[row + 1]!; i++) sum += column[values[i]!]!;
      return Math.min(sum, AMOUNT_MAX);
    };
    const figures: EventFigures = {
      volume: sumOf('volume'),
      volumeDay: sumOf('volume24hr'),
      liquidity: sumOf('liquidity'),
    };
    const span = this.spanOf(events, row);
    writeEventFigures(figures, span);
    if (this.replace(events.figuresStart[row]!, span)) this.events.set(row, figures);
  }

  /** Room for the span of a row. */
  private spanOf(
    objects: { readonly figuresStart: Uint32Array; readonly coreEnd: Uint32Array },
    row: number,
  ): Buffer {
    const length = objects.coreEnd[row]! - objects.figuresStart[row]!;
    if (this.scratch.length < length) this.scratch = Buffer.alloc(length);
    return this.scratch.subarray(0, length);
  }

  /** False when these bytes stand there already. */
  private replace(start: number, span: Buffer): boolean {
    if (span.compare(this.bytes, start, start + span.length) === 0) return false;
    this.bytes.set(span, start);
    return true;
  }

  private nextTag(): string {
    return `${this.prepared.etag.slice(0, -1)}-${this.start}.${this.revision}"`;
  }
}

interface Column {
  /** In micro-units, by row. */
  readonly values: Float64Array;
  changes: number;
  order: SortOrder | undefined;
  /** The changes that the order knows of. */
  sortedAt: number;
}

/** The figures of markets or of events, by name and row. */
class FigureColumns<Source> {
  private readonly figures: readonly Figure<Source>[];
  private readonly columns = new Map<string, Column>();
  private readonly total: number;
  private sorter: NumberSorter | undefined;

  constructor(figures: readonly Figure<Source>[], total: number, first: Source) {
    this.figures = figures;
    this.total = total;
    for (const { name, read } of figures) {
      const values = new Float64Array(total).fill(read(first));
      this.columns.set(name, { values, changes: 0, order: undefined, sortedAt: 0 });
    }
  }

  /** By row. */
  valuesOf(name: string): Float64Array {
    return this.columns.get(name)!.values;
  }

  set(row: number, source: Source): void {
    for (const { name, read } of this.figures) {
      const column = this.columns.get(name)!;
      const value = read(source);
      if (column.values[row] === value) continue;
      column.values[row] = value;
      column.changes += 1;
    }
  }

  /** All rows by a figure, ascending, as they stand now; undefined where it is none. */
  orderBy(name: string): SortOrder | undefined {
    const column = this.columns.get(name);
    if (column === undefined) return undefined;
    const { total } = this;
    if (column.order !== undefined && column.sortedAt === column.changes) return column.order;
    this.sorter ??= new NumberSorter(total);
    column.order ??= {
      rows: new Uint32Array(total),
      present: total,
      places: new Uint32Array(total),
    };
    this.sorter.sort(column.values, column.order);
    column.sortedAt = column.changes;
    return column.order;
  }
}
