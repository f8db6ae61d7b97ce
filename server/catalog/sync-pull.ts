/**
 * One pull: the whole catalog of another catalog API, as the JSON that readCatalog reads. It is
 * complete or fails: on any irregular answer the pull fails, and the caller keeps the stored
 * catalog.
 *
 * Thread: the sync thread, or the sync command. Non-goals: reading the objects' fields, and sites,
 * which the API does not serve.
 */
import { isObject, type JsonObject } from '../../storage/catalog/catalog-json.ts';
import type { ProtocolVersion } from '../../storage/catalog/protocol-version.ts';
import { boundedSignal } from '../common/http-call.ts';
import { CLIENT_MEMBER, EVENT_STATISTICS, MARKET_STATISTICS } from './shape.ts';
import {
  type Answer,
  SourceChanged,
  SourceClient,
  SourceError,
  type SyncLimits,
} from './sync-client.ts';

export interface PulledFile {
  readonly events: readonly JsonObject[];
  readonly tags: readonly JsonObject[];
  readonly series: readonly JsonObject[];
}

export type PullResult =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'pulled'; readonly file: PulledFile; readonly etag: string | undefined }
  | { readonly kind: 'failed'; readonly reason: string };

export interface PullOptions {
  readonly url: string;
  readonly limits: SyncLimits;
  readonly signal: AbortSignal;
  readonly knownEtag: string | undefined;
}

/** Lookups in flight at a time: enough to hide the latency, few enough for the source. */
const LANES = 8;
const PAGE_ROWS = 500;
/** A series carries summaries of all its events, hundreds of them. */
const SERIES_PAGE_ROWS = 50;
/** Walks of one pull; another begins when the source changes during one. */
const WALKS_MAX = 4;
const FIRST_CURSOR = 'MA==';
const END_CURSOR = 'LTE=';
/** A route whose answer does not change with the live statistics of a node of this kind. */
const QUIET_PATH = pagePath('/tags', 1, 0);
/**
 * Paths of the list with metadata, under the base path of a node's catalog with any client profile.
 * The second is for an address that includes that base path, or has none.
 */
const METADATA_PATHS = ['/gamma/sampling-markets', '/sampling-markets'] as const;
const ID_PATTERN = /^[0-9]{1,15}$/;

export async function pullCatalog(options: PullOptions): Promise<PullResult> {
  const { limits } = options;
  const late = new SourceError(`the pull took over ${limits.pullMs} ms`);
  const bounded = boundedSignal(options.signal, limits.pullMs, late);
  try {
    for (let walks = 1; ; walks++) {
      try {
        return await walk({ ...options, signal: bounded.signal });
      } catch (error) {
        if (!(error instanceof SourceChanged) || walks === WALKS_MAX) throw error;
      }
    }
  } catch (error) {
    if (options.signal.aborted) return { kind: 'failed', reason: 'stopped' };
    if (error instanceof SourceChanged) {
      return { kind: 'failed', reason: `${error.message} while it was read, ${WALKS_MAX} times` };
    }
    if (error instanceof SourceError) return { kind: 'failed', reason: error.message };
    throw error;
  } finally {
    bounded.release();
  }
}

async function walk({ url, limits, signal, knownEtag }: PullOptions): Promise<PullResult> {
  const client = new SourceClient(url, limits, signal);
  if (knownEtag !== undefined) {
    const { status } = await client.get(QUIET_PATH, { knownEtag });
    if (status === 304) return { kind: 'unchanged' };
  }
  const listed = await readList(client, '/events', PAGE_ROWS, limits.pages);
  const tags = await readList(client, '/tags', PAGE_ROWS, limits.pages);
  const series = await readList(client, '/series', SERIES_PAGE_ROWS, limits.pages);
  const events = await lookUpAll(client, listed);
  // A source that sends its generation is a node of this kind: it also serves the sampling lists.
  const metadata = client.etag === undefined ? new Map() : await readMetadata(client, limits.pages);
  // The events of a series are found from the events: each names its series.
  const file = {
    events: events.map((event) => ownPartOf(event, metadata)),
    tags,
    series: series.map(({ events: _, ...rest }) => rest),
  };
  return { kind: 'pulled', file, etag: client.etag };
}

function pagePath(path: string, rows: number, offset: number): string {
  return `${path}?limit=${rows}&offset=${offset}&ascending=true`;
}

/**
 * Every object of a list, once each. The walk ends when a page brings nothing new, not at a short
 * page, because a source may have a lower limit than requested. Any other page without new objects
 * also ends the walk, because some sources ignore the offset; such a page may also come from rows
 * that were added in between.
 *
 * Each page begins with the last row of the page before. If rows were removed in between, all later
 * rows have moved up, some of them before the position that was read.
 */
async function readList(
  client: SourceClient,
  path: string,
  rows: number,
  pagesMax: number,
): Promise<readonly JsonObject[]> {
  const found = new Map<unknown, JsonObject>();
  let offset = 0;
  let overlap = 0;
  let isRepeated = false;
  for (let pages = 0; pages < pagesMax; pages++) {
    const page = pageOf(path, await client.get(pagePath(path, rows, offset - overlap)));
    if (overlap > 0 && !found.has(page[0]?.id)) throw new SourceChanged(`${path} lost rows`);
    const before = found.size;
    for (const object of page) found.set(object.id, object);
    const isNews = found.size > before;
    const isAll = page.length === before && page.length < rows;
    if (!isNews && (page.length === overlap || isAll)) return [...found.values()];
    if (!isNews && (isRepeated || page.length >= rows)) {
      throw new SourceError(`GET ${path} repeats itself, whatever the offset`);
    }
    isRepeated = !isNews;
    offset += page.length - overlap;
    // A source with one row a page could never show another row.
    if (page.length > 1) overlap = 1;
  }
  throw new SourceError(`GET ${path} goes on after ${pagesMax} pages`);
}

function pageOf(path: string, answer: Answer): readonly JsonObject[] {
  if (answer.status !== 200) throw new SourceError(`GET ${path}: status ${answer.status}`);
  const { json } = answer;
  if (!Array.isArray(json) || !json.every(isObject)) {
    throw new SourceError(`GET ${path}: not a list of objects`);
  }
  return json;
}

/**
 * Reads the listed events as their own routes show them, with markets. Missing events are left out.
 */
async function lookUpAll(
  client: SourceClient,
  listed: readonly JsonObject[],
): Promise<readonly JsonObject[]> {
  const found = new Map<number, JsonObject>();
  const queue = listed.entries();
  const lane = async (): Promise<void> => {
    try {
      for (const [index, event] of queue) {
        const whole = await lookUp(client, event);
        if (whole !== undefined) found.set(index, whole);
      }
    } catch (error) {
      client.end(error);
      throw error;
    }
  };
  for (const result of await Promise.allSettled(Array.from({ length: LANES }, lane))) {
    if (result.status === 'rejected') throw result.reason;
  }
  return [...found].sort(([a], [b]) => a - b).map(([, event]) => event);
}

async function lookUp(client: SourceClient, listed: JsonObject): Promise<JsonObject | undefined> {
  const id = String(listed.id);
  // It cannot be looked up; the reader of the file counts and reports it.
  if (!ID_PATTERN.test(id)) return listed;
  const answer = await client.get(`/events/${id}`);
  if (answer.status !== 200) return undefined;
  const { json } = answer;
  if (!isObject(json) || String(json.id) !== id || !Array.isArray(json.markets)) {
    throw new SourceError(`GET /events/${id}: not that event with its markets`);
  }
  return json;
}

/** `raw_metadata` by market id, if there is any: the only field that is only in a sampling list. */
async function readMetadata(
  client: SourceClient,
  pagesMax: number,
): Promise<ReadonlyMap<string, JsonObject>> {
  const found = new Map<string, JsonObject>();
  let cursor = FIRST_CURSOR;
  let list: string = METADATA_PATHS[0];
  for (let pages = 0; pages < pagesMax; pages++) {
    const path = `${list}?next_cursor=${encodeURIComponent(cursor)}`;
    const answer = await client.get(path, { isOptional: list !== METADATA_PATHS[1] });
    if (answer.status === 404 && pages === 0) {
      list = METADATA_PATHS[1];
      continue;
    }
    const page = answer.status === 200 ? answer.json : undefined;
    if (!isObject(page) || !Array.isArray(page.data) || typeof page.next_cursor !== 'string') {
      throw new SourceError(`GET ${path}: not a page of sampling markets`);
    }
    for (const { market_id, raw_metadata } of page.data.filter(isObject)) {
      if (!isObject(raw_metadata) || Object.keys(raw_metadata).length === 0) continue;
      found.set(String(market_id), raw_metadata);
    }
    if (page.next_cursor === END_CURSOR) return found;
    if (page.next_cursor === cursor) throw new SourceError(`GET ${path} repeats itself`);
    cursor = page.next_cursor;
  }
  throw new SourceError(`GET ${list} goes on after ${pagesMax} pages`);
}

const FIRST_VERSION: ProtocolVersion = 'v1';
const NOT_OF_MARKETS = [...MARKET_STATISTICS, { name: CLIENT_MEMBER }];

/**
 * Returns an event with the metadata of its markets and without live statistics, which are of the
 * source's own books and would make each pull a different catalog.
 */
function ownPartOf(event: JsonObject, metadata: ReadonlyMap<string, JsonObject>): JsonObject {
  const own = without(event, EVENT_STATISTICS);
  if (!Array.isArray(own.markets)) return own;
  own.markets = own.markets.map((market: unknown) => {
    if (!isObject(market)) return market;
    const ownMarket = without(market, NOT_OF_MARKETS);
    // The same as none, which a profile of the source shows in this way.
    if (ownMarket.version === FIRST_VERSION) delete ownMarket.version;
    const found = metadata.get(String(market.id));
    if (found !== undefined) ownMarket.raw_metadata = found;
    return ownMarket;
  });
  return own;
}

function without(
  object: JsonObject,
  statistics: readonly { readonly name: string }[],
): Record<string, unknown> {
  const names = new Set(statistics.map(({ name }) => name));
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.has(name)));
}
