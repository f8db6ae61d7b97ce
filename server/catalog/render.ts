/**
 * Catalog answers, joined from the fragments of a prepared catalog. prepared.ts says what each
 * fragment contains, and which brackets and commas it includes. Rules:
 * docs/protocol.md#catalog-objects
 *
 * Thread: the I/O thread. Long answers are made in pieces (fragment-writer.ts).
 */
import { BYTES_PER_STEP, type FragmentWriter, type Steps } from './fragment-writer.ts';
import {
  CatalogFlag,
  type PreparedCatalog,
  type PreparedObjects,
  type Relation,
} from './prepared.ts';
import type { CatalogQuery } from './query.ts';
import { type CreatorScope, scopeOf } from './select.ts';
import type { Kind } from './shape.ts';

const OPEN = Buffer.from('[');
const CLOSE = Buffer.from(']');
const COMMA = Buffer.from(',');
const END = Buffer.from('}');
const NEXT = Buffer.from('},');
const LIST_END = Buffer.from('}]');
const EVENTS = Buffer.from(',"events":[');

const MARKETS = Buffer.from(',"markets":[');
const FOUND_EVENTS = Buffer.from('{"events":[');
const FOUND_TAGS = Buffer.from('],"tags":[');
const EVENT_COUNT = Buffer.from(',"event_count":');
const TAGS_NAME_BYTES = ',"tags":'.length;

/** Size at which a page by cursor ends: copying more would block the thread for long. */
const KEYSET_BYTES_MAX = 4 << 20;

export interface FoundPage {
  readonly events: Uint32Array;
  readonly tags: Uint32Array;
  readonly totalResults: number;
  readonly hasMore: boolean;
}

export class Renderer {
  readonly scope: CreatorScope | undefined;
  private readonly writer: FragmentWriter;
  private readonly catalog: PreparedCatalog;
  private readonly withTags: boolean;
  private readonly withoutClosed: boolean;
  private readonly marketMembers: Buffer | undefined;
  private readonly withMarkets: boolean;
  private written = 0;

  /** @param marketMembers members of every market, behind its clientMembers; undefined: neither is shown */
  constructor(
    writer: FragmentWriter,
    catalog: PreparedCatalog,
    query: CatalogQuery,
    marketMembers: Buffer | undefined,
    withMarkets: boolean,
  ) {
    this.scope = scopeOf(catalog, query);
    this.writer = writer.begin(catalog.bytes);
    this.catalog = catalog;
    this.withTags = query.includeTag === 1;
    this.withoutClosed = query.keepClosed === 0;
    this.marketMembers = marketMembers;
    this.withMarkets = withMarkets;
  }

  *list(kind: Kind, rows: Uint32Array): Steps {
    this.writer.bytes(OPEN);
    yield* this.objects(kind, rows);
    this.writer.bytes(CLOSE);
  }

  /** @param nextOf makes the cursor after a number of the rows; `undefined` when no rows follow */
  *keyset(
    kind: 'markets' | 'events',
    rows: Uint32Array,
    nextOf: (shown: number) => string | undefined,
  ): Steps {
    this.writer.ascii(`{"${kind}":[`);
    const next = nextOf(yield* this.objects(kind, rows, KEYSET_BYTES_MAX));
    this.writer.ascii(next === undefined ? ']}' : `],"next_cursor":"${next}"}`);
  }

  *single(kind: Kind, row: number): Steps {
    const { writer } = this;
    const { events, markets } = this.catalog;
    if (kind === 'markets') {
      // The full summary of its event replaces the short one.
      const event = markets.event[row]!;
      writer
        .fragment(markets.coreStart[row]!, markets.figuresEnd[row]!)
        .bytes(EVENTS)
        .fragment(events.coreStart[event]!, events.figuresEnd[event]!)
        .bytes(LIST_END);
      this.membersOf(row);
      writer.bytes(END);
    } else if (kind === 'events') {
      this.entry(events, row);
      yield* this.marketsOf(row);
      writer.fragment(events.rest.start[row]!, events.rest.end[row]!);
    } else {
      yield* this.object(kind, row);
    }
  }

  tagsOf(event: number): Buffer {
    const { coreEnd, entryEnd } = this.catalog.events;
    return this.writer.fragment(coreEnd[event]! + TAGS_NAME_BYTES, entryEnd[event]! - 1).done();
  }

  *found(page: FoundPage): Steps {
    const { scope, writer } = this;
    const { tags } = this.catalog;
    writer.bytes(FOUND_EVENTS);
    yield* this.objects('events', page.events);
    writer.bytes(FOUND_TAGS);
    for (const [place, row] of page.tags.entries()) {
      const { ends } = tags.events;
      const count = scope?.countEventsOf('tags', row) ?? ends[row + 1]! - ends[row]!;
      if (place > 0) writer.bytes(COMMA);
      writer.fragment(tags.coreStart[row]!, tags.cuts.slug![row]!).bytes(EVENT_COUNT);
      writer.ascii(`${count}}`);
    }
    const { hasMore, totalResults } = page;
    writer.ascii(`],"pagination":{"hasMore":${hasMore},"totalResults":${totalResults}}}`);
  }

  private *pause(): Steps {
    this.written += this.writer.length;
    yield;
  }

  /**
   * Writes objects as lists show them, until the answer reaches a size. Returns how many were
   * written.
   */
  private *objects(
    kind: Kind,
    rows: Uint32Array,
    bytesMax = Number.POSITIVE_INFINITY,
  ): Generator<void, number> {
    const { writer } = this;
    if (this.isPlain(kind)) {
      this.entries(this.catalog[kind], rows);
      return rows.length;
    }
    let shown = 0;
    while (shown < rows.length && this.written + writer.length < bytesMax) {
      if (shown > 0) writer.bytes(COMMA);
      yield* this.object(kind, rows[shown]!);
      shown += 1;
      if (writer.length >= BYTES_PER_STEP) yield* this.pause();
    }
    return shown;
  }

  /** Writes entries alone, outside a generator, because V8 optimises plain loops better. */
  private entries(objects: PreparedObjects, rows: Uint32Array): void {
    const { writer } = this;
    const { coreEnd, coreStart, entryEnd, figuresEnd } = objects;
    if (rows.length === 0) return;
    let from = coreStart[rows[0]!]!;
    let to = from;
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i]!;
      const start = coreStart[row]!;
      if (start !== to) {
        writer.fragment(from, to);
        from = start;
      }
      to = entryEnd[row]! + 1;
      const end = figuresEnd[row]!;
      if (end === coreEnd[row]) continue;
      writer.fragment(from, end);
      from = coreEnd[row]!;
    }
    // A comma follows each entry.
    writer.fragment(from, to).dropLast();
  }

  private isPlain(kind: Kind): boolean {
    const { marketMembers, withMarkets, withTags } = this;
    if (kind === 'markets') return !withTags && marketMembers === undefined;
    return kind === 'tags' || (kind === 'events' && !withMarkets);
  }

  private *object(kind: Kind, row: number): Steps {
    const objects: PreparedObjects = this.catalog[kind];
    if (kind === 'series') {
      this.writer.fragment(objects.coreStart[row]!, objects.coreEnd[row]!);
      yield* this.summaries(row);
    } else {
      this.entry(objects, row);
      if (kind === 'markets') this.membersOf(row);
      if (kind === 'events' && this.withMarkets) yield* this.marketsOf(row);
    }
    this.writer.bytes(END);
  }

  private entry({ coreEnd, coreStart, entryEnd, figuresEnd }: PreparedObjects, row: number): void {
    this.writer
      .fragment(coreStart[row]!, figuresEnd[row]!)
      .fragment(coreEnd[row]!, entryEnd[row]! - 1);
  }

  /** Writes the members of a market that a request or its client wants beyond its columns. */
  private membersOf(row: number): void {
    const { events, markets } = this.catalog;
    const { marketMembers, withTags } = this;
    const event = markets.event[row]!;
    if (withTags) this.writer.fragment(events.coreEnd[event]!, events.entryEnd[event]! - 1);
    if (marketMembers !== undefined) this.clientMembersOf(row, marketMembers);
  }

  private clientMembersOf(row: number, ofAll: Buffer): void {
    const { end, start } = this.catalog.markets.clientMembers;
    this.writer.fragment(start[row]!, end[row]!).bytes(ofAll);
  }

  private *marketsOf(event: number): Steps {
    const { events, markets } = this.catalog;
    const { marketMembers: ofAll, scope, withoutClosed } = this;
    const addMembers = ofAll && ((row: number): void => this.clientMembersOf(row, ofAll));
    this.writer.bytes(MARKETS);
    yield* this.related(events.markets, event, markets, addMembers, (row) => {
      if (scope !== undefined && !scope.hasMarket(row)) return false;
      return !withoutClosed || (markets.flags[row]! & CatalogFlag.closed) === 0;
    });
  }

  private *summaries(row: number): Steps {
    const { events, series } = this.catalog;
    const { scope } = this;
    this.writer.bytes(EVENTS);
    yield* this.related(series.events, row, events, undefined, (event) => {
      return scope === undefined || scope.hasEvent(event);
    });
  }

  /** Writes the visible objects related to a row, with additional members, and a bracket. */
  private *related(
    { ends, values }: Relation,
    row: number,
    { coreStart, figuresEnd }: PreparedObjects,
    addMembers: ((row: number) => void) | undefined,
    isShown: (row: number) => boolean,
  ): Steps {
    const { writer } = this;
    let isFirst = true;
    for (let i = ends[row]!; i < ends[row + 1]!; i++) {
      const related = values[i]!;
      if (!isShown(related)) continue;
      if (!isFirst) writer.bytes(NEXT);
      isFirst = false;
      writer.fragment(coreStart[related]!, figuresEnd[related]!);
      addMembers?.(related);
      if (writer.length >= BYTES_PER_STEP) yield* this.pause();
    }
    writer.bytes(isFirst ? CLOSE : LIST_END);
  }
}
