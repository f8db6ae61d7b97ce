/**
 * The events, tags and series of a prepared catalog: rows, fragments, relations, indexes. Of a tag or
 * a series there is one version, the catalog's own, nested or not. Layout: prepared.ts.
 *
 * Runs on the catalog thread.
 */
import { isObject, type JsonObject, text } from '../../storage/catalog-json.ts';
import type { ByteCollector } from './build-bytes.ts';
import { flagsOf } from './build-flags.ts';
import { inverseOf, relationOf } from './build-relation.ts';
import { emptyEventFigures } from './figures-text.ts';
import type {
  PreparedEvents,
  PreparedSeries,
  PreparedTags,
  Relation,
  TextIndex,
} from './prepared.ts';
import {
  columnsOf,
  EVENT_FIELDS,
  type FieldValue,
  membersOf,
  quoted,
  SERIES_FIELDS,
  TAG_FIELDS,
} from './shape.ts';
import { sortOrdersOf } from './sort-orders.ts';
import { buildTextIndex } from './text-index.ts';

/** The first fields of events: id, ticker, slug, title; and of tags: id, label, slug. */
const SHORT_SUMMARY_FIELDS = 4;
const TAG_HEAD_FIELDS = 3;

/** The columns of events, which markets need for their summaries. */
export function eventColumnsOf(events: readonly JsonObject[]): FieldValue[][] {
  return columnsOf(EVENT_FIELDS, events);
}

/** The short summary of every event, as market lists show it (SPEC 2). */
export function shortSummariesOf(
  events: readonly JsonObject[],
  columns: readonly (readonly FieldValue[])[],
): string[] {
  return events.map(
    (_, row) => `${membersOf(EVENT_FIELDS, columns, row, 0, SHORT_SUMMARY_FIELDS)}}`,
  );
}

/** Tags or series as texts, and which events carry which. */
export interface Shared {
  readonly objects: readonly JsonObject[];
  /** JSON of each row, open. */
  readonly texts: readonly string[];
  /** The rows that each event carries. */
  readonly ofEvents: Relation;
}

export function sharedTags(tags: readonly JsonObject[], events: readonly JsonObject[]): Shared {
  const columns = columnsOf(TAG_FIELDS, tags);
  const texts = tags.map((_, row) => membersOf(TAG_FIELDS, columns, row));
  return { objects: tags, texts, ofEvents: nestedIn(events, 'tags', tags) };
}

export function sharedSeries(series: readonly JsonObject[], events: readonly JsonObject[]): Shared {
  const columns = columnsOf(SERIES_FIELDS, series);
  const texts = series.map((_, row) => membersOf(SERIES_FIELDS, columns, row));
  return { objects: series, texts, ofEvents: nestedIn(events, 'series', series) };
}

/** Which of the objects each event nests. */
function nestedIn(
  events: readonly JsonObject[],
  name: 'tags' | 'series',
  objects: readonly JsonObject[],
): Relation {
  const rowOfId = new Map(objects.map(({ id }, row) => [id, row]));
  const from: number[] = [];
  const to: number[] = [];
  for (const [eventRow, event] of events.entries()) {
    const nested: readonly unknown[] = Array.isArray(event[name]) ? event[name] : [];
    for (const item of nested) {
      const row = isObject(item) ? rowOfId.get(String(item.id)) : undefined;
      if (row === undefined) continue;
      from.push(eventRow);
      to.push(row);
    }
  }
  return relationOf(events.length, from, to);
}

export function prepareEvents(
  bytes: ByteCollector,
  events: readonly JsonObject[],
  columns: readonly (readonly FieldValue[])[],
  parts: { readonly tags: Shared; readonly series: Shared; readonly eventOfMarket: Uint32Array },
): PreparedEvents {
  const { tags, series, eventOfMarket } = parts;
  return {
    ids: idsOf(events),
    flags: flagsOf(events),
    ...addEntries(bytes, columns, tags),
    ...addRests(bytes, events, series),
    ...addSampling(bytes, events),
    slugs: slugsOf(events),
    orders: sortOrdersOf(EVENT_FIELDS, columns),
    markets: relationOf(events.length, eventOfMarket, [...eventOfMarket.keys()]),
    tags: tags.ofEvents,
  };
}

function addEntries(
  bytes: ByteCollector,
  columns: readonly (readonly FieldValue[])[],
  tags: Shared,
): Pick<PreparedEvents, 'coreStart' | 'coreEnd' | 'entryEnd' | 'figuresStart'> {
  const count = columns[0]!.length;
  const figures = emptyEventFigures();
  const figuresStart = new Uint32Array(count);
  const coreStart = new Uint32Array(count);
  const coreEnd = new Uint32Array(count);
  const entryEnd = new Uint32Array(count);
  for (let row = count - 1; row >= 0; row--) {
    coreStart[row] = bytes.place;
    figuresStart[row] = bytes.add(membersOf(EVENT_FIELDS, columns, row));
    coreEnd[row] = bytes.add(figures);
    entryEnd[row] = bytes.add(`,"tags":${closedList(tags, row)}},`) - 1;
  }
  return { coreStart, coreEnd, entryEnd, figuresStart };
}

function addRests(
  bytes: ByteCollector,
  events: readonly JsonObject[],
  series: Shared,
): Pick<PreparedEvents, 'restStart' | 'restEnd'> {
  const restStart = new Uint32Array(events.length);
  const restEnd = new Uint32Array(events.length);
  for (const [row, { eventMetadata }] of events.entries()) {
    const metadata = isObject(eventMetadata) ? JSON.stringify(eventMetadata) : '{}';
    restStart[row] = bytes.place;
    restEnd[row] = bytes.add(`,"series":${closedList(series, row)},"eventMetadata":${metadata}}`);
  }
  return { restStart, restEnd };
}

function addSampling(
  bytes: ByteCollector,
  events: readonly JsonObject[],
): Pick<PreparedEvents, 'samplingStart' | 'samplingEnd'> {
  const samplingStart = new Uint32Array(events.length);
  const samplingEnd = new Uint32Array(events.length);
  for (const [row, event] of events.entries()) {
    samplingStart[row] = bytes.place;
    samplingEnd[row] = bytes.add(
      `{"id":"${event.id}","slug":${quoted(text(event.slug))},"title":${quoted(text(event.title))}` +
        `,"ticker":${quoted(text(event.ticker))},"description":${quoted(text(event.description))}}`,
    );
  }
  return { samplingStart, samplingEnd };
}

export function prepareTags(bytes: ByteCollector, tags: Shared): PreparedTags {
  const columns = columnsOf(TAG_FIELDS, tags.objects);
  const start = new Uint32Array(tags.objects.length);
  const headEnd = new Uint32Array(tags.objects.length);
  const end = new Uint32Array(tags.objects.length);
  for (const row of tags.objects.keys()) {
    start[row] = bytes.place;
    headEnd[row] = bytes.add(membersOf(TAG_FIELDS, columns, row, 0, TAG_HEAD_FIELDS));
    end[row] = bytes.add(`${membersOf(TAG_FIELDS, columns, row, TAG_HEAD_FIELDS)}}`);
  }
  const { objects } = tags;
  return { ids: idsOf(objects), start, end, headEnd, slugs: slugsOf(objects), ...eventsOf(tags) };
}

export function prepareSeries(bytes: ByteCollector, series: Shared): PreparedSeries {
  const coreStart = new Uint32Array(series.objects.length);
  const coreEnd = new Uint32Array(series.objects.length);
  for (const [row, open] of series.texts.entries()) {
    coreStart[row] = bytes.place;
    coreEnd[row] = bytes.add(open);
  }
  const { objects } = series;
  return { ids: idsOf(objects), coreStart, coreEnd, slugs: slugsOf(objects), ...eventsOf(series) };
}

/** The events that carry each tag or series. */
function eventsOf({ objects, ofEvents }: Shared): Pick<PreparedTags, 'events'> {
  return { events: inverseOf(ofEvents, objects.length) };
}

function closedList({ texts, ofEvents }: Shared, eventRow: number): string {
  let list = '';
  for (let at = ofEvents.ends[eventRow]!; at < ofEvents.ends[eventRow + 1]!; at++) {
    list += `${list === '' ? '' : ','}${texts[ofEvents.values[at]!]}}`;
  }
  return `[${list}]`;
}

function idsOf(objects: readonly JsonObject[]): Float64Array<ArrayBuffer> {
  return Float64Array.from(objects, ({ id }) => Number(id));
}

function slugsOf(objects: readonly JsonObject[]): TextIndex {
  return buildTextIndex(objects.map(({ slug }, row) => [text(slug), row]));
}
