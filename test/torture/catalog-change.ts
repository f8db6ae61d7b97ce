import assert from 'node:assert/strict';
import { openCatalog } from '../../storage/catalog/catalog.ts';
import { readCatalog } from '../../storage/catalog/catalog-file.ts';

/**
 * Writes catalog generation `n`, with another title, beside a serving node, like the import
 * command.
 */
export async function writeCatalog(dataDir: string, file: object, n: number) {
  const { events } = file as { readonly events: readonly object[] };
  const titled = events.map((event, i) => (i === 0 ? { ...event, title: `Title ${n}` } : event));
  const read = readCatalog({ ...file, events: titled });
  assert(read.ok);
  const store = openCatalog(dataDir, { durability: 'flushed' });
  await store.replace(read.catalog);
  await store.close();
  return read.catalog;
}
