/**
 * The events, tags and series of a prepared catalog: fragments and relations. A tag or a series has
 * one version, the catalog's own, also where it is nested. Layout: prepared.ts.
 *
 * Runs on the catalog thread.
 */
import { isObject, type JsonObject, text } from '../../storage/catalog/catalog-json.ts';
import { type ByteCollector, spansOf } from './build-bytes.ts';
import { closedTexts, prepareObjects, type Rows, rowsOf } from './build-objects.ts';
import { inverseOf, relationOf } from './build-relation.ts';
import { EVENT_TEXT, figuresWithoutBook } from './figures-text.ts';
import type { PreparedEvents, PreparedOwners, Relation } from './prepared.ts';

const SAMPLING_TEXTS = ['slug', 'title', 'ticker', 'description'] as const;

/** Tags or series, and which events have which. */
export interface Owners {
  readonly rows: Rows;
  /** The tags or series of each event. */
  readonly ofEvents: Relation;
}

export function ownersOf(
  kind: 'tags' | 'series',
  objects: readonly JsonObject[],
  events: readonly JsonObject[],
): Owners {
  const rowOfId = new Map(objects.map(({ id }, row) => [id, row]));
  const from: number[] = [];
  const to: number[] = [];
  for (const [eventRow, event] of events.entries()) {
    const nested: readonly unknown[] = Array.isArray(event[kind]) ? event[kind] : [];
    for (const item of nested) {
      const row = isObject(item) ? rowOfId.get(String(item.id)) : undefined;
      if (row === undefined) continue;
      from.push(eventRow);
      to.push(row);
    }
  }
  return { rows: rowsOf(kind, objects), ofEvents: relationOf(events.length, from, to) };
}

export function prepareEvents(
  bytes: ByteCollector,
  events: readonly JsonObject[],
  rows: Rows,
  parts: { readonly tags: Owners; readonly series: Owners; readonly eventOfMarket: Uint32Array },
): PreparedEvents {
  const { tags, series, eventOfMarket } = parts;
  const [tagTexts, seriesTexts] = [closedTexts(tags.rows), closedTexts(series.rows)];
  const figures = EVENT_TEXT.of(figuresWithoutBook(0), []);
  const objects = prepareObjects(bytes, rows, {
    figures: () => figures,
    nested: (row) => `,"tags":${listOf(tagTexts, tags.ofEvents, row)}`,
  });
  const rest = spansOf(bytes, events, ({ eventMetadata }, row) => {
    const metadata = isObject(eventMetadata) ? JSON.stringify(eventMetadata) : '{}';
    const list = listOf(seriesTexts, series.ofEvents, row);
    return `,"series":${list},"eventMetadata":${metadata}}`;
  });
  const sampling = spansOf(bytes, events, (event) => {
    const texts = SAMPLING_TEXTS.map((name) => [name, text(event[name])] as const);
    return JSON.stringify({ id: String(event.id), ...Object.fromEntries(texts) });
  });
  return {
    ...objects,
    rest,
    sampling,
    markets: relationOf(events.length, eventOfMarket, [...eventOfMarket.keys()]),
    tags: tags.ofEvents,
  };
}

export function prepareOwners(bytes: ByteCollector, { ofEvents, rows }: Owners): PreparedOwners {
  const objects = prepareObjects(bytes, rows, { cuts: ['slug'] });
  return { ...objects, events: inverseOf(ofEvents, rows.count) };
}

function listOf(texts: readonly string[], { ends, values }: Relation, row: number): string {
  return `[${Array.from(values.subarray(ends[row]!, ends[row + 1]!), (at) => texts[at]!).join()}]`;
}
