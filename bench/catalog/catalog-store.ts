/**
 * Writes a generated catalog into a data directory, as an import does.
 *
 * Thread: any. Non-goals: a report of what was skipped; nothing generated is.
 */
import assert from 'node:assert/strict';
import { replaceCatalog } from '../../server/catalog/snapshot.ts';
import { openCatalog } from '../../storage/catalog/catalog.ts';
import { readCatalog } from '../../storage/catalog/catalog-file.ts';
import type { GeneratedCatalog } from './catalog-generator.ts';

/**
 * Resolves with the number of the generation.
 * @param isReady whether its snapshot is stored with it, as an import does
 */
export async function storeCatalog(
  dataDir: string,
  catalog: GeneratedCatalog,
  isReady = true,
): Promise<number> {
  const read = readCatalog(catalog);
  assert(read.ok, 'a generated catalog can be read');
  const store = openCatalog(dataDir, { durability: 'committed' });
  try {
    if (!isReady) return await store.replace(read.catalog);
    return await replaceCatalog(store, read.catalog);
  } finally {
    await store.close();
  }
}
