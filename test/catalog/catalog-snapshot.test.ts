import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import {
  makeReady,
  type ReadyCatalog,
  readSnapshot,
  replaceCatalog,
  SNAPSHOT_FORMAT,
} from '../../server/catalog/snapshot.ts';
import { decodeTree, encodeTree } from '../../server/catalog/snapshot-codec.ts';
import { demoCatalog } from '../../server/demo/demo-catalog.ts';
import { type CatalogStore, openCatalog } from '../../storage/catalog/catalog.ts';
import { type Catalog, readCatalog } from '../../storage/catalog/catalog-file.ts';
import { openEnvironment, openTable } from '../../storage/kv/lmdb.ts';
import { temporaryDirectory } from '../common/node-harness.ts';
import { freshSeed, Random } from '../common/random.ts';
import { oddCatalog } from './catalog-fixture.ts';

function catalogOf(json: unknown): Catalog {
  const read = readCatalog(json);
  assert(read.ok);
  return read.catalog;
}

function opened(t: TestContext): CatalogStore {
  const store = openCatalog(temporaryDirectory(), { durability: 'committed' });
  t.after(() => store.close());
  return store;
}

type Whole = ReadyCatalog & { readonly texts: readonly Uint8Array[] };

function whole(make: (take: (texts: Uint8Array) => void) => ReadyCatalog | undefined) {
  const texts: Uint8Array[] = [];
  const ready = make((bytes) => texts.push(bytes));
  return ready && ({ ...ready, texts } satisfies Whole);
}

const stored = (store: CatalogStore) =>
  whole((take) => readSnapshot(store, take, (line) => assert.fail(line)));
const made = (catalog: Catalog) => whole((take) => makeReady(catalog, take));

function encoded(value: unknown): ArrayBuffer {
  return Uint8Array.from(Buffer.concat([...encodeTree(value)])).buffer;
}

function partsOf(store: CatalogStore, format: string): ArrayBuffer[] {
  const parts = store.snapshot(format);
  assert(typeof parts !== 'string', parts as string);
  return parts ?? [];
}

test('plain data with typed arrays in it comes back unchanged', () => {
  const value = {
    name: 'Zoë \ud83c\udf0a',
    empty: new Uint32Array(0),
    nested: [{ bytes: Uint8Array.of(1, 2, 3) }, { units: Uint16Array.of(65535) }],
    part: new Float64Array([0.5, Number.NaN, -1]).subarray(1),
    none: null,
    rows: Uint32Array.of(2 ** 32 - 1),
  };
  assert.deepEqual(decodeTree(encoded(value)), value);
});

test('a stored snapshot equals a new one', async (t) => {
  const store = opened(t);
  const seed = freshSeed();
  const catalog = catalogOf(oddCatalog(seed, 120));
  await replaceCatalog(store, catalog);
  const again = `replay with: SEED=${seed} npm test`;
  assert.deepEqual(stored(store), made(catalog), again);
  assert.deepEqual(store.load(), catalog, again);
});

test('a catalog generation has its own snapshot, none, or one of another version that is not read', async (t) => {
  const store = opened(t);
  assert.equal(stored(store), undefined, 'no generation');
  const first = catalogOf({ events: [{ id: 1, title: 'first' }] });
  const conditionId = `0x${'c'.repeat(64)}`;
  const ended = { id: 7, conditionId, closed: true };
  const second = catalogOf({ events: [{ id: 2, title: 'second', markets: [ended] }] });
  await replaceCatalog(store, first);
  await replaceCatalog(store, second);
  assert.deepEqual(stored(store), made(second));
  assert.deepEqual(stored(store)?.endedConditions, [conditionId]);
  await store.replace(first);
  assert.equal(stored(store), undefined, 'written without one');
  await store.replace(second, { format: 'older', parts: [[Buffer.from('what it was then')]] });
  assert.equal(stored(store), undefined, 'another version');
  assert.deepEqual(
    partsOf(store, 'older').map((part) => Buffer.from(part).toString()),
    ['what it was then'],
  );
});

test('a snapshot of many chunks is read back whole, and the older ones are removed', async (t) => {
  const store = opened(t);
  const piece = (length: number, seed: number): Buffer =>
    Buffer.from(Array.from({ length: 1000 }, (_, i) => (i * seed) % 251)).subarray(0, length);
  const pieces = Array.from({ length: 5_000 }, (_, i) => piece(1 + ((i * 7) % 1000), i));
  const expected = Buffer.concat(pieces);
  for (let round = 0; round < 3; round++) {
    await store.replace(catalogOf({ events: [] }), {
      format: 'x',
      parts: [pieces, [], [piece(1, 1)]],
    });
    const [first, second, third] = partsOf(store, 'x');
    assert(first && second && third);
    assert(Buffer.from(first).equals(expected));
    assert.deepEqual([second.byteLength, third.byteLength], [0, 1]);
  }
});

test('no flipped bit is served: the snapshot is named, rebuilt or refused, and an import replaces it', async (t) => {
  const seed = freshSeed();
  const random = new Random(seed);
  const dataDir = temporaryDirectory();
  const catalog = catalogOf(oddCatalog(7, 40));
  const store = openCatalog(dataDir, { durability: 'committed' });
  await replaceCatalog(store, catalog);
  const whole = made(catalog);
  const root = openEnvironment({ path: join(dataDir, 'catalog'), durability: 'committed' });
  t.after(() => Promise.all([store.close(), root.close()]));
  const tables = ['state', 'objects', 'snapshots'].map((name) => openTable(root, name));
  for (const table of tables) {
    const keys = [...table.getKeys()].map((key) => Buffer.from(key));
    for (let i = 0; i < 12; i++) {
      const key = random.pick(keys);
      const value = Buffer.from(table.get(key)!);
      const flipped = Buffer.from(value);
      flipped[random.below(value.length)]! ^= 1 << random.below(8);
      table.putSync(key, flipped);
      const lines: string[] = [];
      const warn = (line: string): void => void lines.push(line);
      const again = `SEED=${seed}, key ${key.toString('hex')}`;
      try {
        const found = readSnapshot(store, () => undefined, warn);
        if (found !== undefined) assert.deepEqual({ ...found, texts: whole?.texts }, whole, again);
        const loaded = store.load();
        assert.deepEqual(loaded, catalog, again);
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error;
        lines.push((error as Error).message);
      }
      const isNext = key.toString() === 'next';
      assert(isNext || lines.length > 0, again);
      for (const line of lines)
        assert.match(line, /^the catalog is damaged: .*|its format is/, again);
      table.putSync(key, value);
    }
  }
  const state = tables[0]!;
  for (const key of [...state.getKeys()].map((each) => Buffer.from(each))) {
    state.putSync(key, Buffer.from('x'));
  }
  const number = await replaceCatalog(store, catalog);
  assert.equal(number, 2, 'a number that was not used before');
  assert.deepEqual(stored(store), whole);
});

test('a change of prepared data raises the number of the format', () => {
  const { prepared, terms, endedConditions, counts, texts } = made(catalogOf(demoCatalog()))!;
  const hash = createHash('sha256');
  for (const piece of [...encodeTree(prepared), ...texts]) hash.update(piece);
  hash.update(JSON.stringify([terms, endedConditions, counts]));
  assert.deepEqual(
    [SNAPSHOT_FORMAT, hash.digest('hex')],
    ['ready-8', 'eecd58dd122a446768f36c0002dcec681cd6d6cce892b5d50d7c26c28d0bf588'],
    'raise SNAPSHOT_FORMAT (unless only the demo has changed), then this pair',
  );
});
