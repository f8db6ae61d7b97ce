/**
 * Catalog answers, joined from the fragments of a prepared catalog (SPEC 2, GAPS 4.4). What each
 * fragment holds, and where a bracket or a comma is already there, is written in prepared.ts.
 *
 * Thread: the I/O thread. Bytes returned are valid until the writer's next begin().
 */
import type { AnswerWriter } from './answer-writer.ts';
import type { PreparedCatalog, PreparedEvents, Relation } from './prepared.ts';
import type { CreatorScope } from './select-creator.ts';
import type { Page } from './select-page.ts';

const OPEN = Buffer.from('[');
const CLOSE = Buffer.from(']');
const COMMA = Buffer.from(',');
const END = Buffer.from('}');
const LIST_END = Buffer.from(']}');
const EVENTS = Buffer.from(',"events":[');
const EVENTS_END = Buffer.from('}]}');
const MARKETS = Buffer.from(',"markets":[');
const NEXT = Buffer.from('},');
const FOUND_EVENTS = Buffer.from('{"events":[');
const FOUND_TAGS = Buffer.from('],"tags":[');
const EVENT_COUNT = Buffer.from(',"event_count":');

/** GET /markets: each with the short summary of its event. */
export function renderMarkets(
  writer: AnswerWriter,
  { bytes, markets }: PreparedCatalog,
  page: Page,
): Buffer {
  writer.begin(bytes).bytes(OPEN);
  renderEntries(writer, markets, page.rows, page.count);
  return writer.bytes(CLOSE).done();
}

/** A single market, with the full summary of its event. */
export function renderMarket(writer: AnswerWriter, catalog: PreparedCatalog, row: number): Buffer {
  const { bytes, markets, events } = catalog;
  const event = markets.event[row]!;
  return writer
    .begin(bytes)
    .fragment(markets.coreStart[row]!, markets.coreEnd[row]!)
    .bytes(EVENTS)
    .fragment(events.coreStart[event]!, events.coreEnd[event]!)
    .bytes(EVENTS_END)
    .done();
}

/** GET /events: each with its tags. */
export function renderEvents(
  writer: AnswerWriter,
  { bytes, events }: PreparedCatalog,
  page: Page,
): Buffer {
  writer.begin(bytes).bytes(OPEN);
  renderEntries(writer, events, page.rows, page.count);
  return writer.bytes(CLOSE).done();
}

/** A single event, with tags, markets (those of the scope), series and eventMetadata. */
export function renderEvent(
  writer: AnswerWriter,
  { bytes, events, markets }: PreparedCatalog,
  row: number,
  scope: CreatorScope | undefined,
): Buffer {
  // The entry is closed, and `markets` goes in front of its bracket.
  writer
    .begin(bytes)
    .fragment(events.coreStart[row]!, events.entryEnd[row]! - 1)
    .bytes(MARKETS);
  const { ends, values } = events.markets;
  let isFirst = true;
  for (let i = ends[row]!; i < ends[row + 1]!; i++) {
    const market = values[i]!;
    if (scope !== undefined && !scope.hasMarket(market)) continue;
    if (!isFirst) writer.bytes(NEXT);
    isFirst = false;
    writer.fragment(markets.coreStart[market]!, markets.coreEnd[market]!);
  }
  if (!isFirst) writer.bytes(END);
  return writer.bytes(CLOSE).fragment(events.restStart[row]!, events.restEnd[row]!).done();
}

/** GET /series: each with the summaries of its events (those of the scope). */
export function renderSeries(
  writer: AnswerWriter,
  { bytes, series, events }: PreparedCatalog,
  page: Page,
  scope: CreatorScope | undefined,
): Buffer {
  writer.begin(bytes).bytes(OPEN);
  for (let i = 0; i < page.count; i++) {
    const row = page.rows[i]!;
    if (i > 0) writer.bytes(COMMA);
    writer.fragment(series.coreStart[row]!, series.coreEnd[row]!).bytes(EVENTS);
    renderSummaries(writer, events, series.events, row, scope);
    writer.bytes(LIST_END);
  }
  return writer.bytes(CLOSE).done();
}

/** GET /tags. */
export function renderTags(
  writer: AnswerWriter,
  { bytes, tags }: PreparedCatalog,
  page: Page,
): Buffer {
  writer.begin(bytes).bytes(OPEN);
  for (let i = 0; i < page.count; i++) {
    const row = page.rows[i]!;
    if (i > 0) writer.bytes(COMMA);
    writer.fragment(tags.start[row]!, tags.end[row]!);
  }
  return writer.bytes(CLOSE).done();
}

/** A single tag. */
export function renderTag(
  writer: AnswerWriter,
  { bytes, tags }: PreparedCatalog,
  row: number,
): Buffer {
  return writer.begin(bytes).fragment(tags.start[row]!, tags.end[row]!).done();
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
  { bytes, events, tags }: PreparedCatalog,
  found: FoundPage,
  scope: CreatorScope | undefined,
): Buffer {
  writer.begin(bytes).bytes(FOUND_EVENTS);
  renderEntries(writer, events, found.events, found.events.length);
  writer.bytes(FOUND_TAGS);
  for (let i = 0; i < found.tags.length; i++) {
    const row = found.tags[i]!;
    const count =
      scope?.countEventsOf(tags.events, row) ?? tags.events.ends[row + 1]! - tags.events.ends[row]!;
    if (i > 0) writer.bytes(COMMA);
    writer.fragment(tags.start[row]!, tags.headEnd[row]!).bytes(EVENT_COUNT);
    writer.ascii(`${count}}`);
  }
  const { hasMore, totalResults } = found;
  return writer
    .ascii(`],"pagination":{"hasMore":${hasMore},"totalResults":${totalResults}}}`)
    .done();
}

/** Entries as lists show them; a comma lies behind each of them. */
function renderEntries(
  writer: AnswerWriter,
  { coreStart, entryEnd }: { readonly coreStart: Uint32Array; readonly entryEnd: Uint32Array },
  rows: Uint32Array,
  count: number,
): void {
  for (let i = 0; i < count; i++) {
    writer.fragment(coreStart[rows[i]!]!, entryEnd[rows[i]!]! + 1);
  }
  if (count > 0) writer.dropLast();
}

function renderSummaries(
  writer: AnswerWriter,
  events: PreparedEvents,
  { ends, values }: Relation,
  row: number,
  scope: CreatorScope | undefined,
): void {
  let isFirst = true;
  for (let i = ends[row]!; i < ends[row + 1]!; i++) {
    const event = values[i]!;
    if (scope !== undefined && !scope.hasEvent(event)) continue;
    if (!isFirst) writer.bytes(NEXT);
    isFirst = false;
    writer.fragment(events.coreStart[event]!, events.coreEnd[event]!);
  }
  if (!isFirst) writer.bytes(END);
}
