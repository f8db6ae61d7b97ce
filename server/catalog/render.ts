/**
 * Catalog answers, joined from the fragments of a prepared catalog. What each
 * fragment holds, and where a bracket or a comma is already there, is written in prepared.ts.
 * Rules: docs/protocol.md#catalog-objects
 *
 * Thread: the I/O thread. Long answers are made in pieces (rendered.ts).
 */
import type { AnswerWriter } from './answer-writer.ts';
import {
  CatalogFlag,
  type PreparedCatalog,
  type PreparedObjects,
  type Relation,
} from './prepared.ts';
import type { CatalogQuery } from './query.ts';
import { BYTES_PER_STEP, type Rendered, rendered, type Steps } from './rendered.ts';
import { scopeOf } from './select.ts';
import type { CreatorScope } from './select-creator.ts';
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

/** A page by cursor ends when it has grown so large: copying more holds the thread for long. */
const KEYSET_BYTES_MAX = 4 << 20;

/** A page of what a search found. */
export interface FoundPage {
  readonly events: Uint32Array;
  readonly tags: Uint32Array;
  /** Events on all pages. */
  readonly totalResults: number;
  readonly hasMore: boolean;
}

/** One answer: made at once, or in pieces, before and between others. */
export class Renderer {
  /** What of the catalog is shown; undefined = everything. */
  readonly scope: CreatorScope | undefined;
  private readonly writer: AnswerWriter;
  private readonly catalog: PreparedCatalog;
  /** Markets with the tags of their events, nested ones without those that are closed. */
  private readonly withTags: boolean;
  private readonly withoutClosed: boolean;
  private readonly marketMembers: Buffer | undefined;
  private readonly withMarkets: boolean;
  private readonly isGone: () => boolean;
  /** Bytes of the pieces before the one that is being written. */
  private written = 0;

  /**
   * @param marketMembers of every market, each behind its comma
   * @param withMarkets whether events of lists carry their markets
   * @param isGone nobody waits for the answer any more
   */
  constructor(
    writer: AnswerWriter,
    catalog: PreparedCatalog,
    query: CatalogQuery,
    marketMembers: Buffer | undefined,
    withMarkets: boolean,
    isGone: () => boolean,
  ) {
    this.scope = scopeOf(catalog, query);
    this.writer = writer.begin(catalog.bytes);
    this.catalog = catalog;
    this.withTags = query.includeTag === 1;
    this.withoutClosed = query.keepClosed === 0;
    this.marketMembers = marketMembers;
    this.withMarkets = withMarkets;
    this.isGone = isGone;
  }

  /** A list: the objects of some rows. */
  list(kind: Kind, rows: Uint32Array): Rendered {
    return this.made(this.listSteps(kind, rows));
  }

  private *listSteps(kind: Kind, rows: Uint32Array): Steps {
    this.writer.bytes(OPEN);
    yield* this.objects(kind, rows);
    this.writer.bytes(CLOSE);
  }

  /** `nextOf` makes the cursor behind so many of the rows, or undefined where nothing is. */
  keyset(
    kind: 'markets' | 'events',
    rows: Uint32Array,
    nextOf: (shown: number) => string | undefined,
  ): Rendered {
    return this.made(this.keysetSteps(kind, rows, nextOf));
  }

  private *keysetSteps(
    kind: 'markets' | 'events',
    rows: Uint32Array,
    nextOf: (shown: number) => string | undefined,
  ): Steps {
    this.writer.ascii(`{"${kind}":[`);
    const next = nextOf(yield* this.objects(kind, rows, KEYSET_BYTES_MAX));
    this.writer.ascii(next === undefined ? ']}' : `],"next_cursor":"${next}"}`);
  }

  /** A single object: more of what is nested in it than in lists. */
  single(kind: Kind, row: number): Rendered {
    return this.made(this.singleSteps(kind, row));
  }

  private *singleSteps(kind: Kind, row: number): Steps {
    const { writer } = this;
    const { events, markets } = this.catalog;
    if (kind === 'markets') {
      // The full summary of its event takes the place of the short one.
      const event = markets.event[row]!;
      writer
        .fragment(markets.coreStart[row]!, markets.coreEnd[row]!)
        .bytes(EVENTS)
        .fragment(events.coreStart[event]!, events.coreEnd[event]!)
        .bytes(LIST_END);
      this.membersOf(row);
      writer.bytes(END);
    } else if (kind === 'events') {
      writer.fragment(events.coreStart[row]!, events.entryEnd[row]! - 1);
      yield* this.marketsOf(row);
      writer.fragment(events.rest.start[row]!, events.rest.end[row]!);
    } else {
      yield* this.object(kind, row);
    }
  }

  /** The tags of an event, as its entry shows them. */
  tagsOf(event: number): Buffer {
    const { coreEnd, entryEnd } = this.catalog.events;
    return this.writer.fragment(coreEnd[event]! + TAGS_NAME_BYTES, entryEnd[event]! - 1).done();
  }

  /** GET /public-search; events are counted within the scope. */
  found(page: FoundPage): Rendered {
    return this.made(this.foundSteps(page));
  }

  private *foundSteps(page: FoundPage): Steps {
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

  private made(steps: Steps): Rendered {
    return rendered(this.writer, this.catalog.bytes, steps, this.isGone);
  }

  /** Ends a piece. */
  private *pause(): Steps {
    this.written += this.writer.length;
    yield;
  }

  /** Objects as lists show them, until the answer has so many bytes; how many it were. */
  private *objects(
    kind: Kind,
    rows: Uint32Array,
    bytesMax = Number.POSITIVE_INFINITY,
  ): Generator<void, number> {
    const { writer } = this;
    if (this.isPlain(kind)) {
      // A comma lies behind each entry.
      const { coreStart, entryEnd }: PreparedObjects = this.catalog[kind];
      for (let i = 0; i < rows.length; i++) {
        writer.fragment(coreStart[rows[i]!]!, entryEnd[rows[i]!]! + 1);
      }
      if (rows.length > 0) writer.dropLast();
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

  /** Whether its entries are all that a list shows of a kind. */
  private isPlain(kind: Kind): boolean {
    const { marketMembers, withMarkets, withTags } = this;
    if (kind === 'markets') return !withTags && marketMembers === undefined;
    return kind === 'tags' || (kind === 'events' && !withMarkets);
  }

  private *object(kind: Kind, row: number): Steps {
    const { coreEnd, coreStart, entryEnd }: PreparedObjects = this.catalog[kind];
    if (kind === 'series') {
      this.writer.fragment(coreStart[row]!, coreEnd[row]!);
      yield* this.summaries(row);
    } else {
      this.writer.fragment(coreStart[row]!, entryEnd[row]! - 1);
      if (kind === 'markets') this.membersOf(row);
      if (kind === 'events' && this.withMarkets) yield* this.marketsOf(row);
    }
    this.writer.bytes(END);
  }

  /** What a request or its client wants of a market beside its columns. */
  private membersOf(row: number): void {
    const { events, markets } = this.catalog;
    const { marketMembers, withTags } = this;
    const event = markets.event[row]!;
    if (withTags) this.writer.fragment(events.coreEnd[event]!, events.entryEnd[event]! - 1);
    if (marketMembers !== undefined) this.writer.bytes(marketMembers);
  }

  /** The markets of an event, as a member. */
  private *marketsOf(event: number): Steps {
    const { events, markets } = this.catalog;
    const { marketMembers, scope, withoutClosed } = this;
    this.writer.bytes(MARKETS);
    yield* this.related(events.markets, event, markets, marketMembers, (row) => {
      if (scope !== undefined && !scope.hasMarket(row)) return false;
      return !withoutClosed || (markets.flags[row]! & CatalogFlag.closed) === 0;
    });
  }

  /** The summaries of the events of a series (those of the scope), as a member. */
  private *summaries(row: number): Steps {
    const { events, series } = this.catalog;
    const { scope } = this;
    this.writer.bytes(EVENTS);
    yield* this.related(series.events, row, events, undefined, (event) => {
      return scope === undefined || scope.hasEvent(event);
    });
  }

  /** The kept ones of the objects that are related to a row, with some members more; and a bracket. */
  private *related(
    { ends, values }: Relation,
    row: number,
    { coreEnd, coreStart }: PreparedObjects,
    members: Buffer | undefined,
    keeps: (row: number) => boolean,
  ): Steps {
    const { writer } = this;
    let isFirst = true;
    for (let i = ends[row]!; i < ends[row + 1]!; i++) {
      const related = values[i]!;
      if (!keeps(related)) continue;
      if (!isFirst) writer.bytes(NEXT);
      isFirst = false;
      writer.fragment(coreStart[related]!, coreEnd[related]!);
      if (members !== undefined) writer.bytes(members);
      if (writer.length >= BYTES_PER_STEP) yield* this.pause();
    }
    writer.bytes(isFirst ? CLOSE : LIST_END);
  }
}
