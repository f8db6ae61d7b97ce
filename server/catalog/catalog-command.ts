/**
 * What the commands `catalog import`, `export` and `sync` do: read a catalog file into DATA_DIR, write one
 * out of it, pull one from another catalog API; also beside a serving node. `-` as FILE is standard input or
 * output. Each resolves to whether it was done; if not, what was there before stays, and it says why.
 */
import { readFile } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type CatalogStore, openCatalog } from '../../storage/catalog/catalog.ts';
import { exportToFile, exportToStream } from '../../storage/catalog/catalog-export.ts';
import { type CatalogReport, readCatalog } from '../../storage/catalog/catalog-file.ts';
import { describeReport } from '../../storage/catalog/catalog-report.ts';
import type { Durability } from '../../storage/kv/lmdb.ts';
import { replaceCatalog } from './snapshot.ts';
import { Mirror } from './sync.ts';
import { SYNC_LIMITS } from './sync-client.ts';

/** Where a command reads and writes. */
export interface Place {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly dataDir: string;
  readonly durability: Durability;
}

export async function importFile(file: string, place: Place): Promise<boolean> {
  const name = file === '-' ? 'standard input' : file;
  let json: unknown;
  try {
    const bytes = await (file === '-' ? buffer(place.stdin) : readFile(file));
    // The decoder drops a byte-order mark and refuses bytes that are not UTF-8.
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    return failure(place, `read ${name}`, error);
  }
  const result = readCatalog(json);
  if (!result.ok) return failure(place, `import ${name}`, result.error);
  const { catalog, report } = result;
  const what = `write to ${place.dataDir}, its catalog stays`;
  return withStore(place, false, what, async (store) => {
    tell('imported', report, place, await replaceCatalog(store, catalog));
    return true;
  });
}

export async function exportFile(file: string, place: Place): Promise<boolean> {
  const what = `write ${file === '-' ? 'standard output' : file}`;
  return withStore(place, true, what, async (store) => {
    if (store.current() === undefined) {
      return refuse(place, `there is no catalog in ${place.dataDir}`);
    }
    if (file === '-') await exportToStream(store.objects(), place.stdout);
    else await exportToFile(store.objects(), file);
    return true;
  });
}

/** @param what cannot be done where `body` rejects */
async function withStore(
  place: Place,
  readOnly: boolean,
  what: string,
  body: (store: CatalogStore) => Promise<boolean>,
): Promise<boolean> {
  const { dataDir, durability } = place;
  let store: CatalogStore;
  try {
    store = openCatalog(dataDir, { durability, readOnly });
  } catch (error) {
    return failure(place, `open the catalog in ${dataDir}`, error);
  }
  try {
    return await body(store);
  } catch (error) {
    return failure(place, what, error);
  } finally {
    await store.close();
  }
}

export async function pullFrom(url: string, place: Place): Promise<boolean> {
  const what = `pull from ${url}, the catalog stays`;
  return withStore(place, false, what, async (store) => {
    const mirror = new Mirror({ url, store, limits: SYNC_LIMITS });
    const result = await mirror.sync(new AbortController().signal);
    if (result.kind === 'failed') return failure(place, what, result.reason);
    if (result.kind === 'unchanged') place.stdout.write(`nothing has changed at ${url}\n`);
    else tell('pulled', result.report, place, result.generation);
    return true;
  });
}

/** The report of a catalog that has come in. */
function tell(done: string, report: CatalogReport, place: Place, generation: number): void {
  const lines = describeReport(report).join('\n  ');
  place.stdout.write(`${done} ${lines}\nnow in ${place.dataDir}: generation ${generation}\n`);
}

function failure(place: Place, what: string, error: unknown): boolean {
  const reason = error instanceof Error ? error.message : String(error);
  return refuse(place, `cannot ${what}: ${reason}`);
}

function refuse({ stderr }: Place, message: string): boolean {
  stderr.write(`${message}\n`);
  return false;
}
