/**
 * The thread that makes one catalog generation ready: loads it from LMDB, gives its texts to the
 * thread that searches them, prepares what the I/O thread serves, works out what the engine must be
 * told, hands all that over as buffers, and ends. The I/O thread never waits for any of it.
 *
 * Non-goals: writing anything anywhere.
 */
import assert from 'node:assert/strict';
import { parentPort, workerData } from 'node:worker_threads';
import { Tables } from '../../engine/tables.ts';
import { type CatalogStore, openCatalog } from '../../storage/catalog.ts';
import type { Catalog } from '../../storage/catalog-file.ts';
import { marketCommands } from '../market-registry.ts';
import { prepareCatalog } from './build.ts';
import type {
  CatalogCounts,
  CatalogThreadData,
  CatalogThreadSetup,
  LoadedCatalog,
} from './generation.ts';
import { buffersOf } from './prepared.ts';
import { type SearchTexts, searchTexts } from './search-texts.ts';

/** The log names the first ones; a catalog of another kind would fill it. */
const WARNINGS_MAX = 20;

/** What the searching thread is sent: texts, and null behind the last of them. */
export type TextMessage = SearchTexts | null;

async function run({ setup, texts }: CatalogThreadData): Promise<void> {
  const began = performance.now();
  const store = openCatalog(setup.dataDir, { durability: setup.durability, readOnly: true });
  const { catalog, number } = read(store);
  assert(number >= (setup.number ?? 0), 'the store does not go back');
  // Before anything is handed over: from then on this thread may be ended at any moment.
  await store.close();
  // First, so that the index is built beside the rest.
  for (const rows of searchTexts(catalog)) texts.postMessage(rows satisfies TextMessage);
  texts.postMessage(null satisfies TextMessage);
  const prepared = prepareCatalog(catalog);
  // A store without a generation says nothing about the markets that the engine has.
  const memory = number === 0 ? undefined : setup.memory;
  const { commands, warnings } = commandsOf(memory, catalog);
  const counts: CatalogCounts = {
    events: catalog.events.length,
    markets: prepared.markets.ids.length,
    books: catalog.markets.length,
    tags: catalog.tags.length,
    series: catalog.series.length,
    sites: catalog.sites.length,
    milliseconds: performance.now() - began,
  };
  const transfer = [...buffersOf(prepared), ...commands.map(({ buffer }) => buffer)];
  const loaded: LoadedCatalog = { number, prepared, commands, warnings, counts };
  parentPort?.postMessage(loaded, transfer);
  texts.close();
}

/** A generation with its number; another process may switch between two looks at the store. */
function read(store: CatalogStore): { readonly number: number; readonly catalog: Catalog } {
  for (;;) {
    const number = store.current() ?? 0;
    const catalog = store.load();
    if ((store.current() ?? 0) === number) return { number, catalog };
  }
}

function commandsOf(
  memory: CatalogThreadSetup['memory'],
  catalog: Catalog,
): { readonly commands: Int32Array<ArrayBuffer>[]; readonly warnings: readonly string[] } {
  if (memory === undefined) return { commands: [], warnings: [] };
  const warnings: string[] = [];
  let count = 0;
  const chunks = marketCommands(new Tables(memory), catalog.markets, (line) => {
    count += 1;
    if (count <= WARNINGS_MAX) warnings.push(line);
  });
  if (count > WARNINGS_MAX) warnings.push(`and ${count - WARNINGS_MAX} more markets like these`);
  // Each in a buffer of its own, which can be handed over.
  return { commands: chunks.map((chunk) => new Int32Array(chunk)), warnings };
}

await run(workerData as CatalogThreadData);
