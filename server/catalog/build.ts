/**
 * Prepares a catalog for serving: fragments of JSON and indexes in flat buffers, in the layout of
 * prepared.ts. A tag or a series has one version, the catalog's own, also where it is nested.
 *
 * Pure; runs on the catalog thread. Non-goals: full-text search, and the markets' books.
 */

import { createHash } from 'node:crypto';
import type { Catalog } from '../../storage/catalog/catalog-file.ts';
import { isObject, type JsonObject, text } from '../../storage/catalog/catalog-json.ts';
import { versionOf } from '../../storage/catalog/market-form.ts';
import {
  indexCreators,
  marketRowsOf,
  numberCreators,
  prepareMarkets,
  prepareSampling,
} from './build-markets.ts';
import {
  ByteCollector,
  closedTexts,
  prepareObjects,
  type Rows,
  rowsOf,
  spansOf,
} from './build-objects.ts';
import {
  buffersOf,
  type PreparedCatalog,
  type PreparedEvents,
  type PreparedOwners,
  type Relation,
} from './prepared.ts';
import { inverseOf, relationOf, valuesOfRow } from './relation.ts';
import type { RawSource } from './shape.ts';
import { EVENT_TEXT, statisticsWithoutBook } from './statistics-text.ts';

/** Bytes of a market and of an event with long texts, and the upper bound of the estimate. */
const MARKET_BYTES = 2600;
const EVENT_BYTES = 4000;
const EXPECTED_BYTES_MAX = 1 << 30;

export function prepareCatalog(catalog: Catalog): PreparedCatalog {
  const rows = marketRowsOf(catalog.events);
  const expected = rows.length * MARKET_BYTES + catalog.events.length * EVENT_BYTES;
  const bytes = new ByteCollector(Math.min(expected, EXPECTED_BYTES_MAX));
  const eventRows = rowsOf('events', sourcesOf(catalog.events));
  const creatorNumbers = numberCreators(rows);
  const markets = prepareMarkets(bytes, rows, eventRows, creatorNumbers);
  const owners = {
    tags: ownersOf('tags', catalog.tags, catalog.events),
    series: ownersOf('series', catalog.series, catalog.events),
  };
  const prepared = {
    etag: '',
    markets,
    events: prepareEvents(bytes, catalog.events, eventRows, {
      ...owners,
      eventOfMarket: markets.event,
    }),
    series: prepareOwners(bytes, owners.series),
    tags: prepareOwners(bytes, owners.tags),
    sampling: prepareSampling(bytes, rows, markets.flags),
    creators: indexCreators(creatorNumbers, catalog.sites),
    creatorCount: creatorNumbers.size,
    bytes: bytes.take(),
  };
  return { ...prepared, etag: etagOf(prepared) };
}

function etagOf(prepared: PreparedCatalog): string {
  const hash = createHash('sha1');
  for (const buffer of buffersOf(prepared)) {
    hash.update(`${buffer.byteLength}:`).update(new Uint8Array(buffer));
  }
  return `W/"catalog-${hash.digest('hex')}"`;
}

function sourcesOf(objects: readonly JsonObject[]): RawSource[] {
  return objects.map((raw) => ({ raw }));
}

const SAMPLING_TEXTS = ['slug', 'title', 'ticker', 'description'] as const;

export interface Owners {
  readonly rows: Rows;
  readonly ofEvents: Relation;
}

function ownersOf(
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
  return { rows: rowsOf(kind, sourcesOf(objects)), ofEvents: relationOf(events.length, from, to) };
}

function prepareEvents(
  bytes: ByteCollector,
  events: readonly JsonObject[],
  rows: Rows,
  parts: { readonly tags: Owners; readonly series: Owners; readonly eventOfMarket: Uint32Array },
): PreparedEvents {
  const { tags, series, eventOfMarket } = parts;
  const [tagTexts, seriesTexts] = [closedTexts(tags.rows), closedTexts(series.rows)];
  const statistics = EVENT_TEXT.of(statisticsWithoutBook(0));
  const objects = prepareObjects(bytes, rows, {
    more: (row) => versionMember(events[row]!),
    statistics: () => statistics,
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

function versionMember(event: JsonObject): string {
  const version = versionOf(event);
  return version === undefined ? '' : `,"version":"${version}"`;
}

function prepareOwners(bytes: ByteCollector, { ofEvents, rows }: Owners): PreparedOwners {
  const objects = prepareObjects(bytes, rows, { cuts: ['slug'] });
  return { ...objects, events: inverseOf(ofEvents, rows.count) };
}

function listOf(texts: readonly string[], relation: Relation, row: number): string {
  return `[${Array.from(valuesOfRow(relation, row), (at) => texts[at]!).join()}]`;
}
