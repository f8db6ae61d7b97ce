/**
 * Prepares a catalog for serving: fragments of JSON and indexes in flat buffers, in the layout of
 * prepared.ts.
 *
 * Pure; runs on the catalog thread. Non-goals: full-text search, and the markets' books.
 */
import { createHash } from 'node:crypto';
import type { Catalog } from '../../storage/catalog/catalog-file.ts';
import { ByteCollector } from './build-bytes.ts';
import { ownersOf, prepareEvents, prepareOwners } from './build-events.ts';
import {
  indexCreators,
  marketRowsOf,
  numberCreators,
  prepareMarkets,
  prepareSampling,
} from './build-markets.ts';
import { rowsOf } from './build-objects.ts';
import { buffersOf, type PreparedCatalog } from './prepared.ts';

/**
 * The bytes of a market and of an event in a catalog of long texts, and the upper bound of the
 * estimate.
 */
const MARKET_BYTES = 2600;
const EVENT_BYTES = 4000;
const EXPECTED_BYTES_MAX = 1 << 30;

export function prepareCatalog(catalog: Catalog): PreparedCatalog {
  const rows = marketRowsOf(catalog.events);
  const expected = rows.length * MARKET_BYTES + catalog.events.length * EVENT_BYTES;
  const bytes = new ByteCollector(Math.min(expected, EXPECTED_BYTES_MAX));
  const eventRows = rowsOf('events', catalog.events);
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

/** All answers are computed from the buffers. Each buffer is hashed after its length. */
function etagOf(prepared: PreparedCatalog): string {
  const hash = createHash('sha1');
  for (const buffer of buffersOf(prepared)) {
    hash.update(`${buffer.byteLength}:`).update(new Uint8Array(buffer));
  }
  return `W/"catalog-${hash.digest('hex')}"`;
}
