import assert from 'node:assert/strict';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import test, { type TestContext } from 'node:test';
import { type CatalogStore, openCatalog } from '../../storage/catalog/catalog.ts';
import { exportToFile, exportToStream } from '../../storage/catalog/catalog-export.ts';
import { type Catalog, readCatalog } from '../../storage/catalog/catalog-file.ts';
import { freshSeed, rounds } from '../common/random.ts';
import { oddCatalog } from './catalog-fixture.ts';

function temporary(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'catalog-export-'));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function opened(t: TestContext, dataDir: string): CatalogStore {
  const store = openCatalog(dataDir, { durability: 'committed' });
  t.after(() => store.close());
  return store;
}

function read(json: unknown): Catalog {
  const result = readCatalog(json);
  assert.ok(result.ok, result.ok ? '' : result.error);
  return result.catalog;
}

test('an odd catalog passes through the store, a file and another store unchanged', async (t) => {
  const place = temporary(t);
  const store = opened(t, place);
  const copy = opened(t, temporary(t));
  const file = join(place, 'catalog.json');
  const seed = freshSeed();
  try {
    for (let round = 0; round < rounds(12); round++) {
      const size = round === 0 ? 0 : 20 * round;
      await store.replace(read(oddCatalog(seed + round, size)));
      const stored = store.load();
      await exportToFile(store.objects(), file);
      const bytes = readFileSync(file);
      await copy.replace(read(JSON.parse(bytes.toString())));
      assert.deepEqual(copy.load(), stored);
      await exportToFile(copy.objects(), file);
      assert.deepEqual(readFileSync(file), bytes, 'equal catalogs are equal files');
    }
  } catch (error) {
    console.error(`replay with: SEED=${seed} npm test`);
    throw error;
  }
  assert.deepEqual(readdirSync(place).sort(), ['catalog', 'catalog.json']);
});

test('a slow reader of an export gets one catalog generation, although others follow', async (t) => {
  const dataDir = temporary(t);
  const store = opened(t, dataDir);
  const writer = opened(t, dataDir);
  const titled = (title: string) =>
    read({
      events: Array.from({ length: 60 }, (_, id) => ({ id, title, text: 'x'.repeat(20_000) })),
    });
  await store.replace(titled('first'));
  const chunks: Buffer[] = [];
  const slow = new Writable({
    highWaterMark: 1,
    write(chunk: Buffer, _, done) {
      chunks.push(chunk);
      writer.replace(titled(`later ${chunks.length}`)).then(() => done(), done);
    },
  });
  await exportToStream(store.objects(), slow);
  assert.ok(chunks.length > 10, 'it came in pieces');
  assert.deepEqual(read(JSON.parse(Buffer.concat(chunks).toString())), titled('first'));
  assert.equal(store.load().events[0]?.title, `later ${chunks.length}`);
});

test('a failing disk leaves the old file and no part of the new one', async (t) => {
  const place = temporary(t);
  const file = join(place, 'catalog.json');
  const store = opened(t, temporary(t));
  await store.replace(read({ events: [{ id: 1 }] }));
  await exportToFile(store.objects(), file);
  const before = readFileSync(file);
  function* failing() {
    yield* store.objects();
    throw new Error('no more');
  }
  await assert.rejects(exportToFile(failing(), file), /no more/);
  assert.deepEqual(readFileSync(file), before);
  assert.deepEqual(readdirSync(place), ['catalog.json']);

  const link = join(place, 'link');
  symlinkSync(file, link);
  await store.replace(read({ events: [{ id: 2 }] }));
  await exportToFile(store.objects(), link);
  assert(lstatSync(link).isSymbolicLink(), 'what a link leads to is written, not the link');
  assert.notDeepEqual(readFileSync(file), before);
});
