/**
 * The child process that imports catalogs while a node runs, for the switch part of the catalog
 * suite. It prepares each catalog before it receives the message to write it.
 *
 * Thread: the child's main one. Non-goals: files; the catalog is generated here.
 */
import assert from 'node:assert/strict';
import { replaceCatalog } from '../../server/catalog/snapshot.ts';
import { type CatalogStore, openCatalog } from '../../storage/catalog/catalog.ts';
import { type Catalog, readCatalog } from '../../storage/catalog/catalog-file.ts';
import { answerQuestions } from '../common/child.ts';
import { generateCatalog, revise } from './catalog-generator.ts';

export interface RevisionRequest {
  readonly markets: number;
  readonly seed: string;
  readonly revision: number;
}

export interface Imported {
  /** Wall-clock time at which the new catalog generation came into use, ms, and duration of the whole import. */
  readonly switchedAt: number;
  readonly importMs: number;
}

const LOOK_MS = 1;

let prepared: Catalog | undefined;

function prepare({ markets, seed, revision }: RevisionRequest): void {
  const read = readCatalog(revise(generateCatalog(markets, seed), revision));
  assert(read.ok, 'a generated catalog can be read');
  prepared = read.catalog;
}

async function write(dataDir: string): Promise<Imported> {
  assert(prepared !== undefined, 'a catalog is prepared before it is written');
  const store = openCatalog(dataDir, { durability: 'flushed' });
  const looks = watch(store);
  const began = performance.now();
  await replaceCatalog(store, prepared);
  const importMs = performance.now() - began;
  const switchedAt = looks.end();
  await store.close();
  return { switchedAt, importMs };
}

/** The switch is in the middle of an import: older generations are removed after it. */
function watch(store: CatalogStore): { end(): number } {
  const before = store.current();
  let switchedAt: number | undefined;
  const look = (): void => {
    if (store.current() !== before) switchedAt ??= Date.now();
  };
  const timer = setInterval(look, LOOK_MS);
  return {
    end() {
      clearInterval(timer);
      look();
      assert(switchedAt !== undefined, 'the import switched');
      return switchedAt;
    },
  };
}

answerQuestions({ prepare, write });
