/**
 * Writes a generated catalog into a data directory, as an import does.
 *
 * Thread: any. Non-goals: a report of what was skipped; nothing generated is.
 */
import assert from 'node:assert/strict';
import { openCatalog } from '../storage/catalog.ts';
import { readCatalog } from '../storage/catalog-file.ts';
import type { GeneratedCatalog } from './catalog-generator.ts';

/** Resolves with the number of the generation. */
export async function storeCatalog(dataDir: string, catalog: GeneratedCatalog): Promise<number> {
  const read = readCatalog(catalog);
  assert(read.ok, 'a generated catalog can be read');
  const store = openCatalog(dataDir, { durability: 'committed' });
  try {
    return await store.replace(read.catalog);
  } finally {
    await store.close();
  }
}
