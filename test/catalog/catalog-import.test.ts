/**
 * An import reports its effects on markets and refuses to remove many of them; a merge leaves the
 * rest. Every fault of a file is named. Orders are counted beside a node:
 * catalog-live.slow.test.ts.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { demoCatalog } from '../../server/demo/demo-catalog.ts';
import { openCatalog } from '../../storage/catalog/catalog.ts';
import { type Catalog, type JsonObject, readCatalog } from '../../storage/catalog/catalog-file.ts';
import { catalogFile, temporaryDirectory } from '../common/node-harness.ts';
import { command, type Ended } from './catalog-commands.ts';
import { sourceFile } from './catalog-source.ts';
import { stage } from './catalog-sync-stage.ts';

type File = { readonly events: readonly JsonObject[]; readonly [name: string]: unknown };

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

const fileOf = (ids: readonly number[], fields: object = {}): File =>
  catalogFile(ids.map((id) => ({ id, ...fields }))) as File;

function importing(dataDir: string, file: unknown, ...options: string[]): Promise<Ended> {
  return command(['import', '-', ...options], { DATA_DIR: dataDir }, JSON.stringify(file));
}

async function imported(dataDir: string, file: unknown, ...options: string[]): Promise<string> {
  const { code, stderr, stdout } = await importing(dataDir, file, ...options);
  assert.deepEqual([code, stderr], [0, '']);
  return stdout;
}

async function storedIn(dataDir: string): Promise<[number | undefined, Catalog]> {
  const store = openCatalog(dataDir, { durability: 'committed' });
  const stored = [store.current(), store.load()] satisfies [unknown, unknown];
  await store.close();
  return stored;
}

async function withStored(ids: readonly number[]): Promise<string> {
  const dataDir = temporaryDirectory();
  const store = openCatalog(dataDir, { durability: 'committed' });
  await store.replace(catalogOf(fileOf(ids)));
  await store.close();
  return dataDir;
}

function catalogOf(file: unknown): Catalog {
  const read = readCatalog(file);
  assert(read.ok);
  return read.catalog;
}

/** Bytes of an LMDB file in which one letter of every question differs. */
function damaged(file: string): Buffer {
  const text = readFileSync(file).toString('latin1');
  assert(text.includes('"question":"Question'));
  return Buffer.from(text.replaceAll('"question":"Question', '"question":"question'), 'latin1');
}

test('an empty file is refused, and --force imports it', async () => {
  const dataDir = temporaryDirectory();
  await imported(dataDir, fileOf(range(1, 30)));
  const before = await storedIn(dataDir);
  for (const options of [[], ['--dry-run'], ['--strict']]) {
    const { code, stderr, stdout } = await importing(dataDir, { events: [] }, ...options);
    assert.equal(code, 1);
    assert.match(stdout, /^removes 30 markets: 1, 2, 3, /m);
    assert.match(stderr, /would remove 30 of 30 markets, and at most 10 go at once: --force/);
    assert.deepEqual(await storedIn(dataDir), before);
  }
  await imported(dataDir, { events: [] }, '--force');
  assert.deepEqual((await storedIn(dataDir))[1].markets, []);
});

test('an import may remove a tenth of the markets or ten, and no more', async () => {
  for (const [count, most] of [
    [12, 10],
    [100, 10],
    [149, 14],
  ] as const) {
    const dataDir = temporaryDirectory();
    await imported(dataDir, fileOf(range(1, count)));
    const { code } = await importing(dataDir, fileOf(range(most + 2, count)));
    assert.equal(code, 1, `${most + 1} of ${count}`);
    await imported(dataDir, fileOf(range(most + 1, count)));
    assert.equal((await storedIn(dataDir))[1].markets.length, count - most);
  }
});

test('markets that lost their book count as removed, ended ones do not', async () => {
  const dataDir = temporaryDirectory();
  await imported(dataDir, fileOf(range(1, 30)));
  const bare = structuredClone(fileOf(range(1, 30))) as {
    events: { markets: { clobTokenIds?: string }[] }[];
  };
  for (const { markets } of bare.events) delete markets[0]!.clobTokenIds;
  assert.equal((await importing(dataDir, bare)).code, 1);
  for (const { markets } of bare.events) Object.assign(markets[0]!, { closed: true });
  assert.match(await imported(dataDir, bare), /^closes 30 markets: /m);
  // What has ended already may go.
  await imported(dataDir, { events: [] });
});

test('removed markets of the demo do not count', async () => {
  const dataDir = temporaryDirectory();
  const demo = demoCatalog() as File;
  await imported(dataDir, demo);
  assert.match(await imported(dataDir, fileOf([1, 2])), /^removes 19 markets: /m);
  const other = temporaryDirectory();
  await imported(other, { ...demo, events: [...demo.events, ...fileOf(range(1, 20)).events] });
  const { stderr } = await importing(other, { events: [] });
  assert.match(stderr, /would remove 20 of 20 markets/);
});

test('an import reports the effect on each market before it happens', async () => {
  const dataDir = temporaryDirectory();
  const [open, paused] = [fileOf(range(1, 8)), fileOf([9])];
  const pausedMarket = (paused.events[0]!.markets as JsonObject[])[0]!;
  Object.assign(pausedMarket, { acceptingOrders: false });
  const first = await imported(dataDir, { events: [...open.events, ...paused.events] });
  assert.match(first, /^opens 9 markets: 1, 2, 3, 4, 5, 6, 7, 8, 9$/m);
  assert.match(first, /^cancels 0 resting orders\nimported 9 events/m);
  Object.assign(pausedMarket, { acceptingOrders: true });
  const events = [
    ...fileOf([1, 2, 3]).events,
    ...fileOf([4], { tick: 0.001 }).events,
    ...fileOf([5], { closed: true }).events,
    ...fileOf([8]).events.map((event) => ({ ...event, slug: 'renamed' })),
    ...paused.events,
    ...fileOf([10]).events,
  ];
  const text = await imported(dataDir, { events }, '--dry-run');
  assert.match(text, /^opens 2 markets: 9, 10$/m);
  assert.match(text, /^changes 2 markets: 4, 8$/m);
  assert.match(text, /^closes 1 markets: 5$/m);
  assert.match(text, /^removes 2 markets: 6, 7$/m);
  assert.doesNotMatch(text, /imported/);
  assert.equal((await storedIn(dataDir))[0], 1, 'a dry run writes nothing');
  assert((await imported(dataDir, { events })).startsWith(text.slice(0, text.indexOf('8 events'))));
  assert.match(
    await imported(dataDir, { events }),
    /^opens, changes, closes and removes no market$/m,
  );
});

test('a dry run creates no directory', async () => {
  const dataDir = temporaryDirectory();
  assert.match(await imported(dataDir, fileOf([1]), '--dry-run'), /^opens 1 markets: 1$/m);
  assert.deepEqual(readdirSync(dataDir), []);
});

test('rows that are left out are all named with their field, and --strict refuses them', async () => {
  const dataDir = temporaryDirectory();
  const file = structuredClone(fileOf(range(1, 8))) as {
    events: { id?: string; markets: Record<string, unknown>[] }[];
  };
  for (const { markets } of file.events.slice(0, 6)) delete markets[0]!.clobTokenIds;
  file.events[6]!.markets[0]!.conditionId = '0x12';
  delete file.events[7]!.id;
  const named = [
    /1 events without a usable id: left out \(events\[7\]\); the field is `id`$/m,
    /6 markets without token ids: no book \(1, 2, 3, 4, 5, 6\); the field is `clobTokenIds`$/m,
    /1 markets without a 32-byte condition id: no book \(7\); the field is `conditionId`$/m,
  ];
  const strict = await importing(dataDir, file, '--strict');
  assert.equal(strict.code, 1);
  assert.match(strict.stderr, /objects that would be left out \(--strict\)$/m);
  assert.equal((await storedIn(dataDir))[0], undefined, 'nothing is written');
  const loose = await imported(dataDir, file);
  for (const line of named) {
    assert.match(strict.stdout, line);
    assert.match(loose, line);
  }
  await imported(dataDir, fileOf(range(1, 8)), '--strict');
});

test('--merge adds and replaces objects by id, and leaves the rest', async () => {
  const dataDir = temporaryDirectory();
  const tags = [
    { id: '1', label: 'Kites' },
    { id: '2', label: 'Boats' },
  ];
  const sites = ['a', 'b'].map((name) => ({
    id: `${name}.example`,
    creators: [`0x${name.repeat(40)}`],
  }));
  const nested = fileOf([1]).events.map((event) => ({ ...event, tags: [tags[0]] }));
  await imported(dataDir, {
    events: [...nested, ...fileOf(range(2, 30)).events],
    tags,
    sites,
  });
  const [one] = fileOf([2], { tick: 0.001 }).events;
  const [moved] = fileOf([3]).events;
  const text = await imported(
    dataDir,
    {
      events: [
        { ...one, title: 'renamed', tags: [{ id: '1', label: 'of another day' }] },
        { ...moved, id: '99' },
        ...fileOf([31]).events,
      ],
      tags: [{ id: '2', label: 'Ships' }],
      sites: [{ ...sites[1], creators: [`0x${'c'.repeat(40)}`] }],
    },
    '--merge',
  );
  assert.match(text, /^opens 1 markets: 31\nchanges 2 markets: 2, 3\ncancels/m);
  const [, after] = await storedIn(dataDir);
  assert.equal(after.events.length, 32);
  assert.equal(after.markets.length, 31);
  assert.deepEqual(
    after.markets.filter(({ id }) => id === '2' || id === '3').map((each) => each.eventId),
    ['2', '99'],
  );
  assert.equal(after.events.find(({ id }) => id === '2')?.title, 'renamed');
  assert.deepEqual(after.events.find(({ id }) => id === '1')?.tags, [tags[0]]);
  assert.deepEqual(
    after.tags.map(({ label }) => label),
    ['Kites', 'Ships'],
  );
  assert.deepEqual(
    after.sites.map(({ creators }) => creators),
    [[`0x${'a'.repeat(40)}`], [`0x${'c'.repeat(40)}`]],
  );
  const clash = fileOf([40]).events.map((event) => ({
    ...event,
    markets: (fileOf([4]).events[0]!.markets as JsonObject[]).map((m) => ({ ...m, id: '40' })),
  }));
  const refused = await importing(dataDir, { events: clash }, '--merge');
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /markets 4 and 40 both claim condition id/);
  assert.deepEqual((await storedIn(dataDir))[1], after);
});

test('a catalog that cannot be read is replaced, and nothing is merged into it', async () => {
  const dataDir = await withStored(range(1, 30));
  const file = join(dataDir, 'catalog', 'data.mdb');
  writeFileSync(file, damaged(file));
  const merged = await importing(dataDir, fileOf([31]), '--merge');
  assert.equal(merged.code, 1);
  assert.match(merged.stderr, /the catalog is damaged/);
  const { code, stderr } = await importing(dataDir, fileOf([31]));
  assert.equal(code, 0, stderr);
  assert.match(stderr, /^it replaces a catalog that cannot be read: the catalog is damaged/);
  assert.equal((await storedIn(dataDir))[1].markets.length, 1);
});

test('the environment can be opened after a small catalog has replaced a larger one', async () => {
  // Whether the end of the file is left without pages is LMDB's decision, in nearly every round.
  for (let round = 0; round < 2; round++) {
    const dataDir = await withStored(range(1, 30));
    await imported(dataDir, fileOf([31]), '--force');
    assert.equal((await storedIn(dataDir))[1].markets.length, 1);
  }
});

test('a catalog sync has the same bound, and --force of `catalog sync` goes beyond it', async (t) => {
  const { source, store, sync, fails } = await stage(t, sourceFile(10));
  await sync();
  source.file = sourceFile(4);
  await fails(/would remove 12 of 20 markets, and at most 10 go at once: `catalog sync .*--force`/);
  const DATA_DIR = temporaryDirectory();
  source.file = sourceFile(10);
  assert.equal((await command(['sync', source.url], { DATA_DIR })).code, 0);
  source.file = sourceFile(4);
  assert.equal((await command(['sync', source.url], { DATA_DIR })).code, 1);
  assert.equal((await command(['sync', source.url, '--force'], { DATA_DIR })).code, 0);
  assert.equal((await storedIn(DATA_DIR))[1].markets.length, 8);
  assert.equal(store.load().markets.length, 20);
});
