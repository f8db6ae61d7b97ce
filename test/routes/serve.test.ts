import assert from 'node:assert/strict';
import test from 'node:test';
import type { QuerySpec } from '../../server/common/query.ts';
import { ROUTE_TABLE, type RouteKey } from '../../server/routes/route-table.ts';
import { type ServeParts, serveTable } from '../../server/routes/serve.ts';

function serve(queryOf: (key: RouteKey) => unknown): number {
  const rows = new Map(Object.entries(ROUTE_TABLE));
  const parts = { rows, rateLimits: false, failures: {} };
  const handlers = Object.fromEntries(
    (Object.keys(ROUTE_TABLE) as RouteKey[]).map((key) => [
      key,
      { headers: [], query: queryOf(key) as QuerySpec<unknown>, run: () => undefined },
    ]),
  );
  return serveTable(parts as unknown as ServeParts, handlers).length;
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
