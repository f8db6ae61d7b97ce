/** Catalogs that change beside a serving node. */
import assert from 'node:assert/strict';
import { openCatalog } from '../../storage/catalog/catalog.ts';
import { readCatalog } from '../../storage/catalog/catalog-file.ts';

/** Generation `n` of a catalog, with another title, beside a serving node, as the import command writes it. */
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
