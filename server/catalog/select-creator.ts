/**
 * The `creator` filter: markets of a set of wallets, events with such a market, series and tags
 * with such an event. Rules: docs/protocol.md#creator-filter
 *
 * Thread: the I/O thread; made for one request.
 */
import type { PreparedCatalog } from './prepared.ts';
import type { Kind } from './shape.ts';
import { rowsNamed } from './text-index.ts';

export class CreatorScope {
  private readonly catalog: PreparedCatalog;
  /** By creator number: 1 = requested. */
  private readonly creators: Uint8Array;
  private marks: Uint8Array | undefined = undefined;

  /** @param creator a wallet in lower case or a normalised site id */
  constructor(catalog: PreparedCatalog, creator: string) {
    this.catalog = catalog;
    this.creators = new Uint8Array(catalog.creatorCount + 1); // 0 = no creator
    for (const number of rowsNamed(catalog.creators, creator)) this.creators[number] = 1;
  }

  /** Whether an object passes the filter. */
  has(kind: Kind, row: number): boolean {
    if (kind === 'markets') return this.hasMarket(row);
    return kind === 'events' ? this.hasEvent(row) : this.countEventsOf(kind, row) > 0;
  }

  hasMarket(market: number): boolean {
    return this.creators[this.catalog.markets.creator[market]!] === 1;
  }

  hasEvent(event: number): boolean {
    const { ends, values } = this.catalog.events.markets;
    for (let i = ends[event]!; i < ends[event + 1]!; i++) {
      if (this.hasMarket(values[i]!)) return true;
    }
    return false;
  }

  /** How many events of a series or a tag pass. */
  countEventsOf(kind: 'series' | 'tags', row: number): number {
    const marks = this.eventMarks();
    const { ends, values } = this.catalog[kind].events;
    let count = 0;
    for (let i = ends[row]!; i < ends[row + 1]!; i++) count += marks[values[i]!]!;
    return count;
  }

  /** By event, 1 = passes. One pass over all markets, because a tag can have most of the events. */
  private eventMarks(): Uint8Array {
    if (this.marks !== undefined) return this.marks;
    const { ids, event } = this.catalog.markets;
    const marks = new Uint8Array(this.catalog.events.ids.length);
    for (let market = 0; market < ids.length; market++) {
      if (this.hasMarket(market)) marks[event[market]!] = 1;
    }
    this.marks = marks;
    return marks;
  }
}
