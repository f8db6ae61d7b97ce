/**
 * The thread of one catalog generation: loads it from LMDB, prepares what the I/O thread serves,
 * works out what the engine must be told, and hands both over as buffers; then builds the full-text
 * index and answers searches until it is ended. The I/O thread never waits for any of it.
 *
 * Non-goals: writing anything anywhere.
 */
import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import { Tables } from '../../engine/tables.ts';
import { type CatalogStore, openCatalog } from '../../storage/catalog.ts';
import type { Catalog } from '../../storage/catalog-file.ts';
import { marketCommands } from '../market-registry.ts';
import { prepareCatalog } from './build.ts';
import type {
  CatalogCounts,
  CatalogThreadSetup,
  FromCatalogThread,
  SearchQuestion,
} from './generation.ts';
import { buffersOf } from './prepared.ts';
import { buildSearchIndex, type SearchIndex } from './search-index.ts';

/** The log names the first ones; a catalog of another kind would fill it. */
const WARNINGS_MAX = 20;
/** What one collection has freed, the next one gives back to the system. */
const SECOND_COLLECTION_MS = 1_000;

const port = parentPort;
assert(port !== null, 'it runs as a thread');

function post(message: FromCatalogThread, transfer: ArrayBuffer[]): void {
  port!.postMessage(message, transfer);
}

/** Its raw objects die with this call. */
async function start(setup: CatalogThreadSetup): Promise<SearchIndex> {
  const began = performance.now();
  const store = openCatalog(setup.dataDir, { durability: setup.durability, readOnly: true });
  const { catalog, number } = read(store);
  assert(number >= (setup.number ?? 0), 'the store does not go back');
  // Before anything is handed over: from then on this thread may be ended at any moment.
  await store.close();
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
  post({ loaded: { number, prepared, commands, warnings, counts } }, transfer);
  return buildSearchIndex(catalog);
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

/**
 * Gives up the raw objects' memory, several times that of the index: a thread that mostly waits
 * would not collect it for a long time. V8 offers that to new contexts only.
 */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}

const index = await start(workerData as CatalogThreadSetup);
collectGarbage();
setTimeout(collectGarbage, SECOND_COLLECTION_MS);
port.on('message', ({ id, query }: SearchQuestion) => {
  const rows = index.search(query);
  post({ id, rows }, [rows.events.buffer, rows.tags.buffer]);
});
