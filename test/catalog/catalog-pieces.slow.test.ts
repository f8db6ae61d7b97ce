/**
 * Long answers of the catalog are made in pieces with event-loop iterations between them, and are
 * equal to short ones.
 */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import test, { type TestContext } from 'node:test';
import { generateCatalog } from '../../bench/catalog/catalog-generator.ts';
import type { Route } from '../../server/http/http.ts';
import { turnsOf } from '../common/turns.ts';
import { serveCatalog } from './catalog-server.ts';

const MARKETS = 1_200;
/** Bytes of a piece; the last of an answer may be short, and a market is far smaller. */
const PIECE_BYTES = 2 ** 18;

type Listed = Record<string, { id: string }[]>;

/**
 * One server for all tests, with the event-loop iterations of each answer by its path and query.
 */
async function served(context: TestContext) {
  const turns = new Map<string, number>();
  const counted = (route: Route): Route => ({
    ...route,
    run: async (context) => {
      const { path, query } = context;
      turns.set(`${path}?${query}`, (await turnsOf(Promise.resolve(route.run(context)))).turns);
    },
  });
  const catalog = generateCatalog(MARKETS, 'pieces');
  return { server: await serveCatalog(catalog, context, undefined, true, counted), turns };
}

type Served = Awaited<ReturnType<typeof served>>;

async function isInPieces({ server, turns }: Served): Promise<void> {
  for (const path of [
    '/events/keyset?limit=500',
    '/events?limit=500',
    '/events?limit=500&order=volume,title&ascending=false',
    '/markets?limit=500&include_tag=true',
    '/markets/keyset?limit=500&include_tag=true',
    '/sampling-markets?next_cursor=',
  ]) {
    const { body, status } = await server.ask(path);
    assert.equal(status, 200, path);
    assert(body.length > PIECE_BYTES, `${path}: ${body.length} bytes`);
    // The last pause may end before others have had their turn.
    const least = Math.floor(body.length / (PIECE_BYTES + 2 ** 16)) - 1;
    assert(turns.get(path)! >= least, `${path}: ${turns.get(path)} turns of ${least}`);
  }
}

async function listsTheSame({ server }: Served): Promise<void> {
  for (const kind of ['events', 'markets']) {
    const pages = async (limit: number): Promise<unknown[]> => {
      const objects: unknown[] = [];
      for (let cursor = ''; ; ) {
        const path = `/${kind}/keyset?limit=${limit}&include_tag=true${cursor}`;
        const page = (await server.json(path)) as Listed & { next_cursor?: string };
        objects.push(...page[kind]!);
        if (page.next_cursor === undefined) return objects;
        cursor = `&after_cursor=${page.next_cursor}`;
      }
    };
    assert.deepEqual(await pages(500), await pages(25), kind);
  }
  const listed = async (limit: number): Promise<unknown[]> => {
    const objects: unknown[] = [];
    for (let offset = 0; ; offset += limit) {
      const page = (await server.json(`/events?limit=${limit}&offset=${offset}`)) as unknown[];
      objects.push(...page);
      if (page.length < limit) return objects;
    }
  };
  assert.deepEqual(await listed(500), await listed(20));
}

async function servesManyAtATime({ server }: Served): Promise<void> {
  const paths = ['/events?limit=500', '/events?limit=500&offset=7', '/series', '/events?limit=3'];
  const alone = await Promise.all(paths.map((path) => server.json(path)));
  const requested = Array.from({ length: 12 }, (_, i) => paths[i % paths.length]!);
  const together = await Promise.all(
    requested.map((path, i) =>
      server.json(path, ...(i % 2 === 0 ? ['Accept-Encoding: gzip'] : [])),
    ),
  );
  for (const [i, answer] of together.entries()) {
    assert.deepEqual(answer, alone[i % paths.length]);
  }
  const long = await server.ask(paths[0]!);
  const etag = long.headers.get('etag')!;
  assert.equal((await server.ask(paths[0]!, `If-None-Match: ${etag}`)).status, 304);
}

async function survivesLeavers({ server }: Served): Promise<void> {
  for (let round = 0; round < 5; round++) {
    const socket = connect(server.port, '127.0.0.1');
    socket.write('GET /events?limit=500 HTTP/1.1\r\nHost: node\r\n\r\n');
    await new Promise((resolve) => setImmediate(resolve));
    socket.destroy();
  }
  assert.equal((await server.ask('/events?limit=2')).status, 200);
  assert.deepEqual(server.log, []);
}

test('long answers of the catalog are sent in pieces', async (context) => {
  const stage = await served(context);
  for (const [name, run] of Object.entries({
    'a long answer is made in as many turns as it has pieces': isInPieces,
    'pages in pieces list what short pages list, and go on where they end': listsTheSame,
    'many at a time each get their own answer, compressed and tagged as a short one is':
      servesManyAtATime,
    'a caller that disconnects while an answer is made costs no more work; others are answered':
      survivesLeavers,
  })) {
    await context.test(name, () => run(stage));
  }
});
