/** The route table is what requests are checked with, also where a handler parses its query itself. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { ROUTE_TABLE, type RouteKey } from '../../server/api/route-table.ts';
import { type Handlers, type ServeParts, serveTable } from '../../server/api/serve.ts';

function serve(queryOf: (key: RouteKey) => unknown): number {
  const served = Object.keys(ROUTE_TABLE) as RouteKey[];
  const rowOf = (key: RouteKey) => ROUTE_TABLE[key];
  const parts = { served, rowOf, rateLimits: false, failures: {} };
  const handlers = Object.fromEntries(
    served.map((key) => [key, { headers: [], query: queryOf(key), run: () => undefined }]),
  );
  return serveTable(parts as unknown as ServeParts, handlers as unknown as Handlers).length;
}

test('handlers that parse their queries with those of their rows are served', () => {
  assert(serve((key) => ROUTE_TABLE[key].query) >= Object.keys(ROUTE_TABLE).length);
});

test('a handler that parses another query than that of its row ends the start', () => {
  const other = ROUTE_TABLE['GET /events'].query;
  assert.throws(
    () => serve((key) => (key === 'GET /markets' ? other : ROUTE_TABLE[key].query)),
    /GET \/markets parses another query/,
  );
});
