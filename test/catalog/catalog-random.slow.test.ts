/**
 * Random requests to every catalog route over real sockets, compared with the naive catalog: on an
 * invented catalog, and on the recorded one where it is there.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { type Random, rounds, SHORT } from '../common/random.ts';
import { NO_REAL_FILE, oddCatalog, realCatalog } from './catalog-fixture.ts';
import { type Ask, askAll, judgeAnswer, seeded, withAsk } from './catalog-judge.ts';
import { serveCatalog } from './catalog-server.ts';
import { SURVEY } from './catalog-survey.ts';
import { CatalogTargets } from './catalog-targets.ts';
import { type NaiveCatalog, type Raw, readNaive } from './naive-catalog.ts';

function randomTargets(random: Random, catalog: NaiveCatalog, count: number): string[] {
  const targets = new CatalogTargets(random, catalog);
  return Array.from({ length: count }, () => targets.next());
}

test('random filters, orders, pages and faults are answered as a plain scan answers them', (t) =>
  seeded(async (random, seed) => {
    const json = oddCatalog(seed, 300);
    const naive = readNaive(json);
    const { port } = await serveCatalog(json, t);
    await askAll(port, randomTargets(random, naive, rounds(800)), (target, answer) =>
      judgeAnswer(naive, target, answer),
    );
  }));

test('an invented catalog is served completely: each object, list, column, filter and creator', (t) =>
  seeded(async (_, seed) => {
    const json = oddCatalog(seed, 130);
    const naive = readNaive(json);
    const { port } = await serveCatalog(json, t);
    const targets = Object.values(SURVEY).flatMap((targetsOf) => targetsOf(naive));
    await askAll(port, targets, (target, answer) => judgeAnswer(naive, target, answer));
  }));

test('random requests to the real catalog are answered as a plain scan answers them', {
  skip: SHORT,
}, async (t) => {
  const json = realCatalog();
  if (json === undefined) return t.skip(NO_REAL_FILE);
  await seeded(async (random) => {
    const naive = readNaive(json);
    const { port } = await serveCatalog(json, t);
    await askAll(port, randomTargets(random, naive, rounds(600)), (target, answer) =>
      judgeAnswer(naive, target, answer),
    );
  });
});

test('the pages of a list are the whole list, each object once, at any limit', (t) =>
  seeded(async (random, seed) => {
    const json = oddCatalog(seed, 560);
    const naive = readNaive(json);
    const { port } = await serveCatalog(json, t);
    const lists = [
      ['markets', naive.markets.length, '&order=updatedAt'],
      ['markets', naive.markets.length, '&order=active&ascending=true'],
      ['events', naive.events.length, '&order=end_date'],
      ['series', naive.series.length, ''],
      ['tags', naive.tags.length, ''],
    ] as const;
    await withAsk(port, async (ask) => {
      for (const [name, count, order] of lists) {
        for (const limit of [random.between(15, 60), 100, 500]) {
          const ids: string[] = [];
          for (let offset = 0; ; offset += limit) {
            const page = await get(ask, `/${name}?limit=${limit}&offset=${offset}${order}`);
            ids.push(...page.map((row: { readonly id: string }) => row.id));
            if (page.length < limit) break;
          }
          assert.equal(ids.length, count, `${name}, pages of ${limit}`);
          assert.equal(new Set(ids).size, count, `${name}, pages of ${limit}`);
        }
      }
    });
  }));

test('a list by cursor is the whole list, each object once, also when others come before them', (t) =>
  seeded(async (random, seed) => {
    const json = oddCatalog(seed, 150);
    const server = await serveCatalog(json, t);
    for (const [kind, query] of [
      ['markets', 'closed=false&order=endDate,question'],
      ['markets', 'order=volume&ascending=1'],
      ['events', ''],
    ] as const) {
      const whole = (await server.json(`/${kind}?${query}&limit=500`)) as readonly Raw[];
      const found: unknown[] = [];
      let next = '';
      do {
        const limit = random.between(4, 60);
        const cursor = next === '' ? '' : `&after_cursor=${next}`;
        const page = (await server.json(`/${kind}/keyset?${query}&limit=${limit}${cursor}`)) as Raw;
        const rows = page[kind] as readonly Raw[];
        assert.equal(rows.length === limit || page.next_cursor === undefined, true);
        found.push(...rows.map(({ id }) => id));
        next = String(page.next_cursor ?? '');
        // The newest object is another one from now on.
        const more = { id: '999999999', title: 'later', markets: [{ id: '999999999' }] };
        if (query === '') server.replace({ ...json, events: [...(json.events as []), more] });
      } while (next !== '');
      const ids = whole.map(({ id }) => id);
      assert.deepEqual(found.slice(0, ids.length), ids, `${kind} ${query}`);
      server.replace(json);
    }
    for (const bad of ['x', 'MTA', '%2B', btoa('-1.5')]) {
      const { status } = await server.ask(`/markets/keyset?after_cursor=${bad}`);
      assert.equal(status, 400, bad);
    }
  }));

test('a list by cursor leaves no object out when the object of the cursor was removed', async (t) => {
  const event = (id: number) => ({
    id: String(id),
    title: `e${id}`,
    endDate: `20${10 + id}-01-01`,
  });
  const events = Array.from({ length: 9 }, (_, index) => event(index + 1));
  const server = await serveCatalog({ events }, t);
  for (const query of ['', 'ascending=1', 'order=endDate', 'order=title,id&ascending=true']) {
    server.replace({ events });
    const whole = (await server.json(`/events?${query}`)) as readonly Raw[];
    const first = (await server.json(`/events/keyset?${query}&limit=4`)) as Raw;
    const last = (first.events as readonly Raw[]).at(-1)!;
    server.replace({ events: events.filter(({ id }) => id !== last.id) });
    const cursor = `after_cursor=${first.next_cursor}`;
    const rest = (await server.json(`/events/keyset?${query}&${cursor}`)) as Raw;
    const idsOf = (rows: unknown) => (rows as readonly Raw[]).map(({ id }) => id);
    assert.deepEqual(idsOf(rest.events), idsOf(whole.slice(4)), query);
    // By id it also knows the place when others went with it.
    if (query.includes('order')) continue;
    server.replace({ events: events.slice(3, 4) });
    const left = (await server.json(`/events/keyset?${query}&${cursor}`)) as Raw;
    assert.deepEqual(idsOf(left.events), query === '' ? ['4'] : [], query);
  }
});

test('cursors walk every listed market once, in pages of a thousand, and mark the end', (t) =>
  seeded(async (_, seed) => {
    const json = oddCatalog(seed, 1700);
    const naive = readNaive(json);
    const { port } = await serveCatalog(json, t);
    const listed = naive.markets.filter(
      ({ shown }) => shown.active === true && shown.closed === false && shown.archived === false,
    );
    assert(listed.length > 1000, 'two pages at least');
    for (const path of ['/sampling-markets', '/sampling-simplified-markets']) {
      const targets = [path, `${path}?next_cursor=`, `${path}?creator=nobody.example`];
      const offsets = [0, 1, 999, 1000, listed.length - 1000, listed.length - 1, listed.length];
      const all = [...offsets, listed.length + 1, 1_000_000_000];
      for (const [place, offset] of all.entries()) {
        const cursor = btoa(String(offset));
        const spellings = [cursor, cursor.replaceAll('=', ''), encodeURIComponent(cursor)];
        targets.push(`${path}?next_cursor=${spellings[place % spellings.length]}`);
      }
      for (const bad of ['LTE=', 'x', '!!!!', btoa('-5'), btoa('1.5'), btoa('1e3'), '%zz', '0']) {
        targets.push(`${path}?next_cursor=${bad}`);
      }
      await askAll(port, targets, (target, answer) => judgeAnswer(naive, target, answer));
      const ids = await withAsk(port, (ask) => walk(ask, path));
      assert.deepEqual(
        ids,
        listed.map(({ id }) => id),
      );
    }
  }));

async function walk(ask: Ask, path: string): Promise<number[]> {
  const ids: number[] = [];
  let cursor = 'MA==';
  while (cursor !== 'LTE=') {
    const page = await get(ask, `${path}?next_cursor=${cursor}`);
    ids.push(...page.data.map((market: { readonly market_id: number }) => market.market_id));
    assert.notEqual(page.next_cursor, cursor, 'a cursor moves on');
    cursor = page.next_cursor;
  }
  return ids;
}

async function get(ask: Ask, target: string) {
  const { status, body } = await ask(target);
  assert.equal(status, 200, target);
  return JSON.parse(String(body));
}
