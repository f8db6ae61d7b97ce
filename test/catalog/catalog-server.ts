/**
 * A catalog served in-process for tests: read, prepared and listened to like a real one, without
 * LMDB and threads. The test gives the search.
 */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { prepareCatalog } from '../../server/catalog/build.ts';
import type { CatalogGeneration } from '../../server/catalog/catalog-generation.ts';
import {
  CATALOG_FAILURE,
  CATALOG_ROUTES,
  CatalogHandlers,
} from '../../server/catalog/catalog-routes.ts';
import { CatalogStatistics } from '../../server/catalog/market-statistics.ts';
import type { PreparedCatalog } from '../../server/catalog/prepared.ts';
import { SAMPLING_ROUTES } from '../../server/catalog/sampling-routes.ts';
import type { SearchRows } from '../../server/catalog/search-index.ts';
import type { Route } from '../../server/http/http.ts';
import { handlersOf } from '../../server/http/route.ts';
import { readCatalog } from '../../storage/catalog/catalog-file.ts';
import { documentCheck } from '../common/document-check.ts';
import { type Answer, type Fixture, serve } from '../common/http-client.ts';

type Search = CatalogGeneration['search'];

export interface CatalogServer {
  readonly port: number;
  /** Lines that the HTTP server logged. */
  readonly log: readonly string[];
  prepared(): PreparedCatalog;
  statistics(): CatalogStatistics;
  /** Serves another catalog from now on, like a node with a new catalog generation. */
  replace(json: unknown, search?: Search): void;
  /**
   * Sends GET with further header lines, on a connection of its own. The answer is checked against
   * the API document.
   */
  ask(path: string, ...headers: string[]): Promise<Answer>;
  json(path: string, ...headers: string[]): Promise<unknown>;
}

/** Matches of a search that are all ranked. */
export function foundRows(events: readonly number[], tags: readonly number[] = []): SearchRows {
  return {
    events: Uint32Array.from(events),
    tags: Uint32Array.from(tags),
    eventCount: events.length,
  };
}

const nothingFound: Search = async () => foundRows([]);

export async function serveCatalog(
  json: unknown,
  context: TestContext,
  search: Search = nothingFound,
  forClients = false,
  around: (route: Route) => Route = (route) => route,
): Promise<CatalogServer> {
  let generation = generationOf(json, 1, search);
  const catalog = new CatalogHandlers({ generation: () => generation, forClients });
  const handlers = {
    ...handlersOf(CATALOG_ROUTES, catalog),
    ...handlersOf(SAMPLING_ROUTES, catalog.answers),
  };
  const routes = Object.entries(handlers).map(([key, handler]) =>
    around({
      ...handler,
      method: 'GET',
      path: key.slice('GET '.length),
      bodyBytesMax: 0,
      failure: () => CATALOG_FAILURE,
    }),
  );
  const fixture: Fixture = await serve(context, routes);
  const parsed = async (path: string, headers: readonly string[]) => {
    const answer = await fixture.ask([`GET ${path} HTTP/1.1`, ...headers].join('\r\n'));
    const check = await documentCheck({});
    const { body, status } = answer;
    const json = body.length === 0 ? undefined : JSON.parse(textOf(answer));
    check.check({ method: 'GET', path, status, headers: Object.fromEntries(answer.headers), json });
    return { answer, json };
  };
  return {
    port: fixture.server.port,
    log: fixture.log,
    prepared: () => generation.prepared,
    statistics: () => generation.statistics,
    replace: (next, nextSearch = search) => {
      generation = generationOf(next, generation.number + 1, nextSearch);
    },
    ask: async (path, ...headers) => (await parsed(path, headers)).answer,
    json: async (path, ...headers) => {
      const { answer, json } = await parsed(path, headers);
      if (answer.status !== 200) assert.fail(`${path}: ${answer.status} ${answer.body}`);
      return json;
    },
  };
}

export const ID_UNKNOWN = { type: 'not found error', error: 'id not found', code: 'UNKNOWN_ID' };
export const SLUG_UNKNOWN = {
  type: 'not found error',
  error: 'slug not found',
  code: 'UNKNOWN_SLUG',
};

export function badRequest(detail: string): object {
  return { type: 'bad request', error: 'q is required', detail, code: 'BAD_REQUEST' };
}

export async function expectRefusal(
  server: CatalogServer,
  path: string,
  status: number,
  body: object,
): Promise<void> {
  const answer = await server.ask(path);
  assert.equal(answer.status, status, path);
  assert.equal(String(answer.body), JSON.stringify(body), path);
  assert.equal(answer.headers.get('content-type'), 'application/json');
}

export function textOf(answer: Answer): string {
  const isCompressed = answer.headers.get('content-encoding') === 'gzip';
  return String(isCompressed ? gunzipSync(answer.body) : answer.body);
}

function generationOf(json: unknown, number: number, search: Search): CatalogGeneration {
  const result = readCatalog(json);
  assert(result.ok, result.ok ? '' : result.error);
  const prepared = prepareCatalog(result.catalog);
  return { number, prepared, statistics: new CatalogStatistics(prepared), search };
}
