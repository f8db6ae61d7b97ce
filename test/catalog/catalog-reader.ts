/**
 * Thread of catalog-threads.slow.test.ts: opens, reads and closes the catalog of a directory
 * repeatedly, and reports the titles that it read.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { openCatalog } from '../../storage/catalog/catalog.ts';

const { dataDir, rounds } = workerData as { readonly dataDir: string; readonly rounds: number };

const seen: string[] = [];
for (let round = 0; round < rounds; round++) {
  const store = openCatalog(dataDir, { durability: 'committed', readOnly: true });
  const { events } = store.load();
  const titles = new Set(events.map((event) => event.title));
  seen.push(`${events.length} of ${[...titles].join(', ')}`);
  await store.close();
}
parentPort?.postMessage(seen);
