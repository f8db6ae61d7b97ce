/** The steps of server/routes/README.md: a definition and a handler are all that a route needs. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { compileQuery } from '../../server/common/query.ts';
import { Type } from '../../server/common/schema.ts';
import { handlersOfLists, type RouteGroup, route } from '../../server/http/route.ts';
import { openApiDocument } from '../../server/routes/openapi.ts';
import { type ServeParts, serveTable } from '../../server/routes/serve.ts';
import { serve } from '../common/http-client.ts';
import { ROOT } from '../common/root.ts';

interface Greeter {
  readonly word: string;
}

const GREETINGS = [
  route(
    'GET /greeting/:name',
    {
      does: 'greets somebody',
      api: 'data',
      query: compileQuery(
        Type.Object({ name: Type.String(), times: Type.Optional(Type.Integer({ minimum: 1 })) }),
        ['name'],
      ),
      answer: Type.Object({ text: Type.String() }),
    },
    ({ word }: Greeter) =>
      (context, { name, times = 1 }) =>
        context.reply(200, JSON.stringify({ text: `${word} `.repeat(times) + name })),
  ),
];

test('a definition and a handler make a served route with a checked query', async (t) => {
  const handlers = handlersOfLists({ greetings: GREETINGS }, { greetings: { word: 'hello' } });
  const parts = {
    rows: new Map(GREETINGS.map(({ key, row }) => [key, row])),
    rateLimits: false,
    failures: {},
  };
  const { ask } = await serve(t, serveTable(parts as unknown as ServeParts, handlers));
  const answer = await ask('GET /greeting/ann?times=2 HTTP/1.1');
  assert.deepEqual([answer.status, String(answer.body)], [200, '{"text":"hello hello ann"}']);
  assert.equal((await ask('GET /data/greeting/ann HTTP/1.1')).status, 200);
  assert.equal((await ask('GET /greeting/ann?times=0 HTTP/1.1')).status, 400);
});

test('the document of a route follows from its definition', async () => {
  const group: RouteGroup = 'data';
  const routes = GREETINGS.map(({ key, row }) => ({
    key,
    row: { ...row, group },
    summary: row.does,
    writes: false,
    bases: ['', '/data'],
  }));
  const document = await openApiDocument({
    routes,
    names: new Map(),
    credentialPrefix: 'X',
    version: '1',
  });
  const paths = document.paths as Record<string, { readonly get: Record<string, unknown> }>;
  const { get } = paths['/greeting/{name}']!;
  assert.deepEqual(get.servers, [{ url: '/' }, { url: '/data' }]);
  assert.deepEqual(get['x-rate-limits'], ['trades']);
  const parameters = get.parameters as readonly { readonly name?: string; readonly in?: string }[];
  assert.deepEqual(
    parameters.slice(0, 2).map(({ in: place, name }) => [name, place]),
    [
      ['name', 'path'],
      ['times', 'query'],
    ],
  );
});

test('every list of routes and of operations is collected', () => {
  const files = readdirSync(join(ROOT, 'server'), { recursive: true, encoding: 'utf8' });
  const found = { ROUTES: 0, OPERATIONS: 0 };
  const collectors = {
    ROUTES: readFileSync(join(ROOT, 'server/routes/route-table.ts'), 'utf8'),
    OPERATIONS: readFileSync(join(ROOT, 'server/admin/operation-table.ts'), 'utf8'),
  };
  for (const file of files.filter((name) => name.endsWith('.ts'))) {
    const text = readFileSync(join(ROOT, 'server', file), 'utf8');
    for (const [, name, kind] of text.matchAll(/^export const (\w+_(ROUTES|OPERATIONS)) = \[/gm)) {
      const of = kind as keyof typeof found;
      const collected = new RegExp(`(: |\\.{3})${name},`);
      assert.match(collectors[of], collected, `${file}: ${name} is in no collector`);
      found[of] += 1;
    }
  }
  assert(found.ROUTES > 10 && found.OPERATIONS > 10, 'the search found the lists');
});
