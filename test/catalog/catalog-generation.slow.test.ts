import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { commandWords } from '../../engine/commands.ts';
import { allocateEngine, type EngineMemory, Tables } from '../../engine/tables/tables.ts';
import { prepareCatalog } from '../../server/catalog/build.ts';
import type { LoadedCatalogGeneration } from '../../server/catalog/catalog-generation.ts';
import { marketCommands } from '../../server/catalog/market-registry.ts';
import type { SearchRows } from '../../server/catalog/search-index.ts';
import { type CatalogStore, openCatalog } from '../../storage/catalog/catalog.ts';
import { type Catalog, readCatalog } from '../../storage/catalog/catalog-file.ts';
import { openEnvironment, openTable } from '../../storage/kv/lmdb.ts';
import { useCompiledNodes } from '../common/forms.ts';
import { SHORT } from '../common/random.ts';
import { ROOMY } from '../engine/engine-driver.ts';
import { Exchange } from '../storage/stored-exchange.ts';

const { openCatalogGeneration } = (await import(
  join(useCompiledNodes(), 'server/catalog/catalog-generation.js')
)) as typeof import('../../server/catalog/catalog-generation.ts');

const DURABILITY = 'committed';

interface Stage {
  readonly dataDir: string;
  readonly store: CatalogStore;
  readonly failures: Error[];
  open(more?: { memory?: EngineMemory; signal?: AbortSignal }): Promise<LoadedCatalogGeneration>;
}

function stage(t: TestContext): Stage {
  const dataDir = mkdtempSync(join(tmpdir(), 'catalog-generation-'));
  const store = openCatalog(dataDir, { durability: DURABILITY });
  const failures: Error[] = [];
  const opened: Promise<LoadedCatalogGeneration>[] = [];
  t.after(async () => {
    for (const generation of await Promise.allSettled(opened)) {
      if (generation.status === 'fulfilled') await generation.value.close();
    }
    await store.close();
    rmSync(dataDir, { recursive: true, force: true });
  });
  return {
    dataDir,
    store,
    failures,
    open(more = {}) {
      const generation = openCatalogGeneration({
        dataDir,
        durability: DURABILITY,
        number: store.current(),
        onFailure: (error) => failures.push(error),
        ...more,
      });
      opened.push(generation);
      return generation;
    },
  };
}

function catalogOf(word: string, count: number, outcomes = 2): Catalog {
  const events = Array.from({ length: count }, (_, n) => ({
    id: n + 1,
    title: `${word} ${n + 1}`,
    slug: `${word}-${n + 1}`,
    markets: [
      {
        id: n + 1,
        question: `Will ${word} ${n + 1} come?`,
        conditionId: `0x${(n + 1).toString(16).padStart(64, '0')}`,
        slug: `${word}-market-${n + 1}`,
        active: true,
        outcomes: Array.from({ length: outcomes }, (_, o) => `Outcome ${o}`),
        clobTokenIds: Array.from({ length: outcomes }, (_, o) => `${n + 1}00${o + 1}`),
      },
    ],
  }));
  const result = readCatalog({ events, tags: [{ id: 1, label: word, slug: 'only' }], series: [] });
  assert(result.ok);
  return result.catalog;
}

async function search(generation: LoadedCatalogGeneration, query: string): Promise<SearchRows> {
  const rows = await generation.search(query);
  assert(rows !== undefined);
  return rows;
}

function textOf({ prepared }: LoadedCatalogGeneration): string {
  return Buffer.from(prepared.bytes).toString();
}

test('a catalog generation is served by threads of its own', async (t) => {
  const { failures, open, store } = stage(t);
  const catalog = catalogOf('orchard', 40);
  await store.replace(catalog);
  const generation = await open();

  await t.test(
    'a catalog generation is prepared as in this thread, and searched in its own',
    async () => {
      assert.equal(generation.number, store.current());
      assert.deepEqual(generation.prepared, prepareCatalog(catalog));
      const { counts, milliseconds } = generation;
      assert.deepEqual(counts, {
        events: 40,
        markets: 40,
        books: 40,
        tags: 1,
        series: 0,
        sites: 0,
      });
      assert(milliseconds > 0);
      assert.deepEqual([generation.commands, generation.warnings], [[], []]);
      const all = await search(generation, 'orchard');
      assert.deepEqual([all.events.length, [...all.tags]], [40, [0]]);
      assert.deepEqual([...(await search(generation, 'will 17')).events], [16]);
      assert.equal((await search(generation, 'nothing')).events.length, 0);
    },
  );

  await t.test('a query that is repeated among a thousand gets the same rows', async () => {
    const [one, two] = await Promise.all([search(generation, 'orc'), search(generation, 'orc')]);
    assert.equal(one, two);
    assert.equal(await search(generation, 'orc'), one);
    for (let n = 0; n < 999; n++) await search(generation, `other${n}`);
    assert.equal(await search(generation, 'orc'), one);
    for (let n = 0; n < 1_000; n++) await search(generation, `another${n}`);
    const anew = await search(generation, 'orc');
    assert.notEqual(anew, one);
    assert.deepEqual(anew, one);
  });

  await t.test(
    'more searches than may wait are refused, and those that wait are answered',
    async () => {
      const answers = Array.from({ length: 70 }, (_, n) => generation.search(`ferry ${n}`));
      assert.equal(answers.filter((answer) => answer === undefined).length, 6);
      for (const answer of answers) assert((await answer) !== null);
      assert.equal((await search(generation, 'orchard')).events.length, 40);
    },
  );

  await t.test('a close lets pending searches finish and refuses later ones', async () => {
    const pending = Array.from({ length: 60 }, (_, n) => search(generation, `orchard ${n + 1} `));
    const [closed, closedAgain] = [generation.close(), generation.close()];
    await assert.rejects(search(generation, 'orchard'), /closed/);
    const counts = (await Promise.all(pending)).map(({ events }) => events.length);
    assert.deepEqual(counts, [...Array(40).fill(1), ...Array(20).fill(0)]);
    await Promise.all([closed, closedAgain]);
    await generation.close();
  });
  assert.deepEqual(failures, []);
});

test('a store without a catalog gives an empty one', async (t) => {
  const generation = await stage(t).open();
  assert.deepEqual([generation.number, generation.counts.events], [0, 0]);
  assert.equal((await search(generation, 'anything')).events.length, 0);
});

test('engine commands are exactly those that the tables need, and a close waits for no search', async (t) => {
  const { open, store } = stage(t);
  const catalog = catalogOf('lantern', 3);
  await store.replace(catalog);
  const memory = allocateEngine(ROOMY);
  const generation = await open({ memory });
  const expected = marketCommands(new Tables(memory), catalog.markets, assert.fail);
  assert.equal(expected.length, 1);
  assert.deepEqual(generation.commands, expected);
  // Sent while the index may still be building.
  const pending = Array.from({ length: 20 }, (_, n) => search(generation, `lantern ${n}`));
  const ended = Promise.all(pending.map((each) => assert.rejects(each, /closed/)));
  await generation.end();
  await ended;
  await assert.rejects(search(generation, 'lantern'), /closed/);
});

test('the first of many warnings are logged, with the number of the others', async (t) => {
  const { open, store } = stage(t);
  const { engine, t: tables } = new Exchange({ ...ROOMY, markets: 64, tokens: 256 });
  for (const words of marketCommands(tables, catalogOf('one', 50).markets, assert.fail)) {
    engine.begin(0, 0);
    const f64 = new Float64Array(words.buffer);
    for (let at = 0; at < words.length; at += commandWords(words, at)) engine.apply(words, f64, at);
    engine.end();
  }
  await store.replace(catalogOf('two', 50, 3));
  const { commands, warnings } = await open({ memory: tables.memory });
  assert.deepEqual([commands.length, warnings.length], [0, 21]);
  assert.match(warnings[0]!, /^market 1 \(0x[0-9a-f]{64}\): its token ids are not those/);
  assert.equal(warnings[20], 'and 30 more markets like these');
});

test('two catalog generations in turn answer for themselves, after any failure of the other', async (t) => {
  const { failures, open, store } = stage(t);
  await store.replace(catalogOf('copper', 5));
  const first = await open();
  await store.replace(catalogOf('violin', 7));
  const second = await open();
  assert.equal(second.number, first.number + 1);
  const count = async (generation: LoadedCatalogGeneration, query: string): Promise<number> =>
    (await search(generation, query)).events.length;
  assert.deepEqual([await count(first, 'copper'), await count(first, 'violin')], [5, 0]);
  assert.deepEqual([await count(second, 'copper'), await count(second, 'violin')], [0, 7]);
  await first.close();
  assert.equal(await count(second, 'viol'), 7);
  assert.match(textOf(first), /copper 5/);
  assert.match(textOf(second), /violin 7/);
  assert.deepEqual(failures, []);
});

test('a broken catalog generation rejects and leaves the one in use alone', async (t) => {
  const { dataDir, failures, open, store } = stage(t);
  await store.replace(catalogOf('whole', 4));
  const whole = await open();
  await store.replace(catalogOf('broken', 4));
  const root = openEnvironment({ path: join(dataDir, 'catalog'), durability: DURABILITY });
  const objects = openTable(root, 'objects');
  const [key] = objects.getKeys({ limit: 1 });
  await objects.put(key!, Buffer.from('{"id": '));
  await assert.rejects(open(), /events 1: the checksum is wrong/);
  await objects.remove(key!);
  await assert.rejects(open(), /the catalog is damaged: generation 2: 3 events of 4 are there/);
  await root.close();
  assert.equal((await search(whole, 'whole')).events.length, 4);
  assert.deepEqual(failures, [], 'a failure to load is reported by the rejection alone');
});

test('pending and later searches reject when their thread dies, and it is reported once', async (t) => {
  const { failures, open, store } = stage(t);
  await store.replace(catalogOf('compass', 4));
  const generation = await open();
  assert.equal((await search(generation, 'compass')).events.length, 4);
  // No query can do that; a bug in the thread is played by a question that is no text.
  const deadly = search(generation, 7 as unknown as string);
  const behind = search(generation, 'compass 1');
  await assert.rejects(deadly, TypeError);
  await assert.rejects(behind, TypeError);
  await assert.rejects(search(generation, 'compass'), TypeError);
  await generation.close();
  assert.equal(failures.length, 1);
  assert(failures[0] instanceof TypeError);
  assert.match(textOf(generation), /compass 4/, 'what was prepared is still served');
});

test('a catalog generation that is closed while it loads rejects', async (t) => {
  const { failures, open, store } = stage(t);
  const events = SHORT ? 200 : 2_000;
  await store.replace(catalogOf('glacier', events));
  await assert.rejects(open({ signal: AbortSignal.abort() }), { name: 'AbortError' });
  const early = new AbortController();
  const unwanted = open({ signal: early.signal });
  setImmediate(() => early.abort());
  await assert.rejects(unwanted, { name: 'AbortError' });
  const late = new AbortController();
  const generation = await open({ signal: late.signal });
  late.abort();
  assert.equal((await search(generation, 'glacier')).events.length, events);
  assert.deepEqual(failures, []);
});

test('threads start and end while catalog generations are replaced', { skip: SHORT }, async (t) => {
  const { failures, open, store } = stage(t);
  for (let round = 0; round < 3; round++) {
    await store.replace(catalogOf(`round${round}`, 500));
    const generations = await Promise.all([open(), open()]);
    for (const generation of generations) {
      assert.equal((await search(generation, `round${round}`)).events.length, 500);
    }
    await Promise.all(generations.map((generation) => generation.close()));
  }
  assert.deepEqual(failures, []);
});
