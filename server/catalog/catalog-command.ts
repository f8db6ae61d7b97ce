/**
 * The commands `catalog import`, `export` and `sync`: read a catalog file into DATA_DIR, write one
 * from it, or pull the catalog of another catalog API. A node may serve meanwhile. `-` as FILE is
 * standard input or output. Each resolves with true when it succeeded. Otherwise the stored catalog
 * stays as it was, and the command says why.
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

/** The streams of a command. */
export interface CatalogCommandContext {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly dataDir: string;
  readonly durability: Durability;
}

export async function importFile(file: string, context: CatalogCommandContext): Promise<boolean> {
  const name = file === '-' ? 'standard input' : file;
  let json: unknown;
  try {
    const bytes = await (file === '-' ? buffer(context.stdin) : readFile(file));
    // The decoder drops a byte-order mark and refuses bytes that are not UTF-8.
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    return failure(context, `read ${name}`, error);
  }
  const result = readCatalog(json);
  if (!result.ok) return failure(context, `import ${name}`, result.error);
  const { catalog, report } = result;
  const what = `write to ${context.dataDir}, its catalog stays`;
  return withStore(context, false, what, async (store) => {
    printReport('imported', report, context, await replaceCatalog(store, catalog));
    return true;
  });
}

export async function exportFile(file: string, context: CatalogCommandContext): Promise<boolean> {
  const what = `write ${file === '-' ? 'standard output' : file}`;
  return withStore(context, true, what, async (store) => {
    if (store.current() === undefined) {
      return refuse(context, `there is no catalog in ${context.dataDir}`);
    }
    if (file === '-') await exportToStream(store.objects(), context.stdout);
    else await exportToFile(store.objects(), file);
    return true;
  });
}

/** @param what the action for the error text when `body` rejects */
async function withStore(
  context: CatalogCommandContext,
  readOnly: boolean,
  what: string,
  body: (store: CatalogStore) => Promise<boolean>,
): Promise<boolean> {
  const { dataDir, durability } = context;
  let store: CatalogStore;
  try {
    store = openCatalog(dataDir, { durability, readOnly });
  } catch (error) {
    return failure(context, `open the catalog in ${dataDir}`, error);
  }
  try {
    return await body(store);
  } catch (error) {
    return failure(context, what, error);
  } finally {
    await store.close();
  }
}

export async function pullFrom(url: string, context: CatalogCommandContext): Promise<boolean> {
  const what = `pull from ${url}, the catalog stays`;
  return withStore(context, false, what, async (store) => {
    const mirror = new Mirror({ url, store, limits: SYNC_LIMITS });
    const result = await mirror.sync(new AbortController().signal);
    if (result.kind === 'failed') return failure(context, what, result.reason);
    if (result.kind === 'unchanged') context.stdout.write(`nothing has changed at ${url}\n`);
    else printReport('pulled', result.report, context, result.generation);
    return true;
  });
}

/** Prints the report of an imported catalog. */
function printReport(
  done: string,
  report: CatalogReport,
  context: CatalogCommandContext,
  generation: number,
): void {
  const lines = describeReport(report).join('\n  ');
  context.stdout.write(`${done} ${lines}\nnow in ${context.dataDir}: generation ${generation}\n`);
}

function failure(context: CatalogCommandContext, what: string, error: unknown): boolean {
  const reason = error instanceof Error ? error.message : String(error);
  return refuse(context, `cannot ${what}: ${reason}`);
}

function refuse({ stderr }: CatalogCommandContext, message: string): boolean {
  stderr.write(`${message}\n`);
  return false;
}
