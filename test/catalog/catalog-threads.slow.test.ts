/**
 * One catalog opened by several threads of a process. One thread keeps its store and switches
 * catalog generations, others open, read and close it.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { type CatalogStore, openCatalog } from '../../storage/catalog/catalog.ts';
import { type Catalog, readCatalog } from '../../storage/catalog/catalog-file.ts';
import { startThread } from '../common/forms.ts';
import { SHORT } from '../common/random.ts';

const COUNT = 40;

function opened(t: TestContext): { store: CatalogStore; dataDir: string } {
  const dataDir = mkdtempSync(join(tmpdir(), 'catalog-threads-'));
  const store = openCatalog(dataDir, { durability: 'committed' });
  t.after(async () => {
    await store.close();
    rmSync(dataDir, { recursive: true, force: true });
  });
  return { store, dataDir };
}

function titled(title: string): Catalog {
  const description = 'x'.repeat(3000);
  const events = Array.from({ length: COUNT }, (_, id) => ({ id, title, description }));
  const result = readCatalog({ events });
  assert(result.ok);
  return result.catalog;
}

function reader(dataDir: string, rounds: number): Worker {
  return startThread('catalog/catalog-reader', { dataDir, rounds });
}

async function seenBy(worker: Worker): Promise<string[]> {
  const [[seen]] = await Promise.all([once(worker, 'message'), once(worker, 'exit')]);
  return seen;
}

test('threads open, read and close a catalog while another has the store open and switches it', {
  skip: SHORT,
}, async (t) => {
  const { store, dataDir } = opened(t);
  await store.replace(titled('generation 0'));
  let reading = true;
  const rounds = 40;
  const read = (async () => {
    for (let wave = 0; wave < 2; wave++) {
      const seen = await Promise.all([1, 2].map(() => seenBy(reader(dataDir, rounds))));
      for (const line of seen.flat()) assert.match(line, /^40 of generation [0-9]+$/);
      assert.equal(seen.flat().length, 2 * rounds);
    }
    reading = false;
  })();
  let switches = 0;
  while (reading) {
    await store.replace(titled(`generation ${++switches}`));
    const { events } = store.load();
    assert.equal(events[COUNT - 1]?.title, `generation ${switches}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await read;
  assert.ok(switches > 1, `${switches} switches while threads were reading`);
  assert.equal(store.current(), switches + 1);
});
