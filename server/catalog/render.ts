/**
 * Catalog answers, joined from the fragments of a prepared catalog (SPEC 2, GAPS 4.4). What each
 * fragment holds, and where a bracket or a comma is already there, is written in prepared.ts.
 *
 * Thread: the I/O thread. Bytes returned are valid until the writer's next begin().
 */
import type { AnswerWriter } from './answer-writer.ts';
import {
  CatalogFlag,
  type PreparedCatalog,
  type PreparedObjects,
  type Relation,
} from './prepared.ts';
import type { CreatorScope } from './select-creator.ts';
import type { Kind } from './shape.ts';

/** What objects are shown with, beside their own columns. */
export interface View {
  readonly scope: CreatorScope | undefined;
  /** Events in lists with their markets. */
  readonly withMarkets: boolean;
  /** But for those that are closed. */
  readonly withoutClosed: boolean;
  /** Markets with the tags of their events. */
  readonly withTags: boolean;
  /** Members of every market, each behind its comma. */
  readonly marketMembers: Buffer | undefined;
}

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

/** A list: the objects of some rows. */
export function renderList(
  writer: AnswerWriter,
  catalog: PreparedCatalog,
  kind: Kind,
  rows: Uint32Array,
  view: View,
): Buffer {
  writer.begin(catalog.bytes).bytes(OPEN);
  renderObjects(writer, catalog, kind, rows, view);
  return writer.bytes(CLOSE).done();
}

/** `nextOf` makes the cursor behind so many of the rows, or undefined where nothing is. */
export function renderKeyset(
  writer: AnswerWriter,
  catalog: PreparedCatalog,
  kind: 'markets' | 'events',
  rows: Uint32Array,
  view: View,
  nextOf: (shown: number) => string | undefined,
): Buffer {
  writer.begin(catalog.bytes).ascii(`{"${kind}":[`);
  const next = nextOf(renderObjects(writer, catalog, kind, rows, view, KEYSET_BYTES_MAX));
  return writer.ascii(next === undefined ? ']}' : `],"next_cursor":"${next}"}`).done();
}

/** A single object: more of what is nested in it than in lists. */
export function renderSingle(
  writer: AnswerWriter,
  catalog: PreparedCatalog,
  kind: Kind,
  row: number,
  view: View,
): Buffer {
  const { events, markets } = catalog;
  writer.begin(catalog.bytes);
  if (kind === 'markets') {
    // The full summary of its event takes the place of the short one.
    const event = markets.event[row]!;
    writer
      .fragment(markets.coreStart[row]!, markets.coreEnd[row]!)
      .bytes(EVENTS)
      .fragment(events.coreStart[event]!, events.coreEnd[event]!)
      .bytes(END)
      .bytes(CLOSE);
    renderMarketMembers(writer, catalog, row, view);
    writer.bytes(END);
  } else if (kind === 'events') {
    writer.fragment(events.coreStart[row]!, events.entryEnd[row]! - 1);
    renderMarketsOf(writer, catalog, row, view);
    writer.fragment(events.restStart[row]!, events.restEnd[row]!);
  } else {
    renderObject(writer, catalog, kind, row, view);
  }
  return writer.done();
}

/** The tags of an event, as its entry shows them. */
export function renderTagsOf(
  writer: AnswerWriter,
  { bytes, events }: PreparedCatalog,
  event: number,
): Buffer {
  const start = events.coreEnd[event]! + TAGS_NAME_BYTES;
  return writer
    .begin(bytes)
    .fragment(start, events.entryEnd[event]! - 1)
    .done();
}

/** A page of what a search found. */
export interface FoundPage {
  readonly events: Uint32Array;
  readonly tags: Uint32Array;
  /** Events on all pages. */
  readonly totalResults: number;
  readonly hasMore: boolean;
}

/** GET /public-search; events are counted within the scope. */
export function renderFound(
  writer: AnswerWriter,
  catalog: PreparedCatalog,
  found: FoundPage,
  view: View,
): Buffer {
  const { bytes, tags } = catalog;
  writer.begin(bytes).bytes(FOUND_EVENTS);
  renderObjects(writer, catalog, 'events', found.events, view);
  writer.bytes(FOUND_TAGS);
  for (const [place, row] of found.tags.entries()) {
    const { ends } = tags.events;
    const count = view.scope?.countEventsOf('tags', row) ?? ends[row + 1]! - ends[row]!;
    if (place > 0) writer.bytes(COMMA);
    writer.fragment(tags.coreStart[row]!, tags.cuts.slug![row]!).bytes(EVENT_COUNT);
    writer.ascii(`${count}}`);
  }
  const { hasMore, totalResults } = found;
  return writer
    .ascii(`],"pagination":{"hasMore":${hasMore},"totalResults":${totalResults}}}`)
    .done();
}

/** Objects as lists show them, until the answer has so many bytes; how many it were. */
function renderObjects(
  writer: AnswerWriter,
  catalog: PreparedCatalog,
  kind: Kind,
  rows: Uint32Array,
  view: View,
  bytesMax = Number.POSITIVE_INFINITY,
): number {
  if (isPlain(kind, view)) {
    // A comma lies behind each entry.
    const { coreStart, entryEnd }: PreparedObjects = catalog[kind];
    for (let i = 0; i < rows.length; i++) {
      writer.fragment(coreStart[rows[i]!]!, entryEnd[rows[i]!]! + 1);
    }
    if (rows.length > 0) writer.dropLast();
    return rows.length;
  }
  let shown = 0;
  while (shown < rows.length && writer.length < bytesMax) {
    if (shown > 0) writer.bytes(COMMA);
    renderObject(writer, catalog, kind, rows[shown]!, view);
    shown += 1;
  }
  return shown;
}

/** Whether its entries are all that a list shows of a kind. */
function isPlain(kind: Kind, { marketMembers, withMarkets, withTags }: View): boolean {
  if (kind === 'markets') return !withTags && marketMembers === undefined;
  return kind === 'tags' || (kind === 'events' && !withMarkets);
}

function renderObject(
  writer: AnswerWriter,
  catalog: PreparedCatalog,
  kind: Kind,
  row: number,
  view: View,
): void {
  const { coreEnd, coreStart, entryEnd }: PreparedObjects = catalog[kind];
  if (kind === 'series') {
    writer.fragment(coreStart[row]!, coreEnd[row]!);
    renderSummaries(writer, catalog, row, view);
  } else {
    writer.fragment(coreStart[row]!, entryEnd[row]! - 1);
    if (kind === 'markets') renderMarketMembers(writer, catalog, row, view);
    if (kind === 'events' && view.withMarkets) {
      renderMarketsOf(writer, catalog, row, view);
    }
  }
  writer.bytes(END);
}

/** What a request or its client wants of a market beside its columns. */
function renderMarketMembers(
  writer: AnswerWriter,
  { events, markets }: PreparedCatalog,
  row: number,
  { marketMembers, withTags }: View,
): void {
  const event = markets.event[row]!;
  if (withTags) writer.fragment(events.coreEnd[event]!, events.entryEnd[event]! - 1);
  if (marketMembers !== undefined) writer.bytes(marketMembers);
}

/** The markets of an event, as a member. */
function renderMarketsOf(
  writer: AnswerWriter,
  { events, markets }: PreparedCatalog,
  event: number,
  { marketMembers, scope, withoutClosed }: View,
): void {
  writer.bytes(MARKETS);
  renderRelated(writer, events.markets, event, markets, marketMembers, (row) => {
    if (scope !== undefined && !scope.hasMarket(row)) return false;
    return !withoutClosed || (markets.flags[row]! & CatalogFlag.closed) === 0;
  });
}

/** The summaries of the events of a series (those of the scope), as a member. */
function renderSummaries(
  writer: AnswerWriter,
  { events, series }: PreparedCatalog,
  row: number,
  { scope }: View,
): void {
  writer.bytes(EVENTS);
  renderRelated(writer, series.events, row, events, undefined, (event) => {
    return scope === undefined || scope.hasEvent(event);
  });
}

/** The kept ones of the objects that are related to a row, with some members more; and a bracket. */
function renderRelated(
  writer: AnswerWriter,
  { ends, values }: Relation,
  row: number,
  { coreEnd, coreStart }: PreparedObjects,
  members: Buffer | undefined,
  keeps: (row: number) => boolean,
): void {
  let isFirst = true;
  for (let i = ends[row]!; i < ends[row + 1]!; i++) {
    const related = values[i]!;
    if (!keeps(related)) continue;
    if (!isFirst) writer.bytes(NEXT);
    isFirst = false;
    writer.fragment(coreStart[related]!, coreEnd[related]!);
    if (members !== undefined) writer.bytes(members);
  }
  writer.bytes(isFirst ? CLOSE : LIST_END);
}
