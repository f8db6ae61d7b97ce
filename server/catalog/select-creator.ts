/**
 * What the `creator` filter keeps (GAPS 10): markets of a set of wallets, events with such a
 * market, series and tags with such an event.
 *
 * Thread: the I/O thread; made for one request.
 */
import type { PreparedCatalog, Relation } from './prepared.ts';
import { findKey, rowsOfKey } from './text-index.ts';

export class CreatorScope {
  private readonly catalog: PreparedCatalog;
  /** 1 = a creator asked for, by number. */
  private readonly creators: Uint8Array;
  private marks: Uint8Array | undefined = undefined;

  /** @param creator a wallet in lower case or a normalised site id */
  constructor(catalog: PreparedCatalog, creator: string) {
    this.catalog = catalog;
    this.creators = new Uint8Array(catalog.creatorCount + 1); // 0 = no creator
    const key = findKey(catalog.creators, creator);
    if (key === -1) return;
    for (const number of rowsOfKey(catalog.creators, key)) this.creators[number] = 1;
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

  /** Whether one of the events of a series or a tag is kept. */
  hasEventOf(events: Relation, row: number): boolean {
    const marks = this.eventMarks();
    const { ends, values } = events;
    for (let i = ends[row]!; i < ends[row + 1]!; i++) {
      if (marks[values[i]!] === 1) return true;
    }
    return false;
  }

  countEventsOf(events: Relation, row: number): number {
    const marks = this.eventMarks();
    const { ends, values } = events;
    let count = 0;
    for (let i = ends[row]!; i < ends[row + 1]!; i++) count += marks[values[i]!]!;
    return count;
  }

  /** By event, 1 = kept; one pass over all markets, because a tag can have most of the events. */
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
