/** Changes without credentials are decided where the others are: by the leading node of a cluster. */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { RequestContext } from '../../server/http/http.ts';
import { ROUTE_TABLE } from '../../server/routes/route-table.ts';
import { type ServeParts, serveTable } from '../../server/routes/serve.ts';

const KEY = 'POST /submit';

function served(isElsewhere: boolean, calls: string[]) {
  const parts = {
    credentialPrefix: 'SERVICE',
    maxBatchOrders: 1,
    rows: new Map([[KEY, ROUTE_TABLE[KEY]]]),
    seconds: () => 7,
    rateLimits: false,
    failures: {},
    forwarder: {
      isNeeded: () => isElsewhere,
      forward: async (
        _context: RequestContext,
        { method, path }: { readonly method: string; readonly path: string },
        judgedAt: number,
        here: () => void | Promise<void>,
      ) => {
        calls.push(`forwarded ${method} ${path} ${judgedAt}`);
        await here();
      },
    },
  } as unknown as ServeParts;
  const routes = serveTable(parts, { [KEY]: () => void calls.push('here') });
  return routes.find(({ path }) => path === '/submit')!;
}

test('a signed body without credentials is forwarded to the leading node, which may run it here', async () => {
  const calls: string[] = [];
  const route = served(true, calls);
  assert.equal(route.writes, true);
  await route.run({ query: '', parameters: [] } as unknown as RequestContext);
  assert.deepEqual(calls, ['forwarded POST /submit 7', 'here']);
});

test('the leading node runs it itself', async () => {
  const calls: string[] = [];
  await served(false, calls).run({ query: '', parameters: [] } as unknown as RequestContext);
  assert.deepEqual(calls, ['here']);
});
