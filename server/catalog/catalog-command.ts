/**
 * The commands `catalog import`, `export` and `sync`: read a catalog file into DATA_DIR, write one
 * from it, or pull the catalog of another catalog API. A node may serve meanwhile. `-` as FILE is
 * standard input or output. Each resolves with true when it succeeded. Otherwise the stored catalog
 * stays as it was, and the command says why.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { commandWords } from '../../engine/commands.ts';
import { Engine } from '../../engine/engine.ts';
import { engineTime, openOrders } from '../../engine/reads.ts';
import type { Capacities } from '../../engine/tables/capacities.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { type CatalogStore, openCatalog } from '../../storage/catalog/catalog.ts';
import { type CatalogChanges, catalogChanges } from '../../storage/catalog/catalog-changes.ts';
import { exportToFile, exportToStream } from '../../storage/catalog/catalog-export.ts';
import {
  type Catalog,
  type CatalogReport,
  describeReport,
  readCatalog,
} from '../../storage/catalog/catalog-file.ts';
import { mergeCatalog } from '../../storage/catalog/catalog-merge.ts';
import { keepOperatorObjects } from '../../storage/catalog/operator-objects.ts';
import { describeContradictions } from '../../storage/catalog/registered-markets.ts';
import { takeDirectoryLock } from '../../storage/files/directory-lock.ts';
import type { Durability } from '../../storage/kv/lmdb.ts';
import { logDirectory } from '../../storage/log/file-log.ts';
import { rebuild } from '../../storage/recovery/rebuild.ts';
import type { Output } from '../common/terminal.ts';
import { alignedCatalog, alignedFile } from './aligned.ts';
import { marketCommands } from './market-registry.ts';
import { replaceCatalog } from './snapshot.ts';
import { CatalogSync } from './sync.ts';
import { SYNC_LIMITS } from './sync-client.ts';

export interface CatalogCommandContext {
  readonly stdin: Readable;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly dataDir: string;
  readonly durability: Durability;
  readonly capacities: Capacities;
  /** Condition ids of the demo, which an import may remove without a confirmation. */
  readonly ownConditions: ReadonlySet<string>;
  /** True in the node that serves the directory. */
  readonly isNode?: boolean;
}

export interface ImportOptions {
  readonly isDryRun?: boolean;
  readonly isForced?: boolean;
  /** True: refuses a file with objects that would be left out. */
  readonly isStrict?: boolean;
  /** True: adds and replaces objects by id, and leaves the rest. */
  readonly merges?: boolean;
  /** True: leaves out markets that contradict what is registered. */
  readonly skipsChanged?: boolean;
}

const NO_CATALOG: Catalog = {
  events: [],
  tags: [],
  series: [],
  sites: [],
  markets: [],
  endedConditions: [],
};
type AlignedFile = ReturnType<typeof alignedFile>;

const TURNED = 'name their outcomes in another order: they are read by their tokens';
const NAMED_MAX = 20;

export async function importFile(
  file: string,
  options: ImportOptions,
  context: CatalogCommandContext,
): Promise<boolean> {
  const { dataDir, stdout } = context;
  const name = file === '-' ? 'standard input' : file;
  let json: unknown;
  try {
    const bytes = await (file === '-' ? buffer(context.stdin) : readFile(file));
    // The decoder drops a byte-order mark and refuses bytes that are not UTF-8.
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    return failure(context, `read ${name}`, error);
  }
  const alone = readCatalog(json);
  // What is claimed twice may be among what contradicts.
  if (!alone.ok && !(alone.isConflict && existsSync(logDirectory(dataDir)))) {
    return failure(context, `import ${name}`, alone.error);
  }
  const change = async (store: CatalogStore | undefined): Promise<boolean> => {
    // In a cluster, the generation that is replaced may be one that this node does not have.
    const onto = options.isForced && store?.isAwaiting() ? undefined : currentOf(store);
    const engine = engineOf(context);
    const { tables } = engine;
    const stored = storedCatalog(store, options, context) ?? NO_CATALOG;
    const before = alignedCatalog(stored, tables).catalog;
    const aligned = alignedFile(json, tables, before);
    const isContradicting = printAligned(aligned, name, options, context);
    if (isContradicting && !options.skipsChanged) return false;
    const file = aligned.json === json ? alone : readCatalog(aligned.json);
    if (!file.ok) return failure(context, `import ${name}`, file.error);
    const leftOut = file.report.skipped.some(({ field }) => field !== undefined);
    const isRefused = options.isStrict && leftOut;
    const read = options.merges ? mergeCatalog(before, aligned.json) : file;
    const result = keepOperatorObjects(before, read);
    if (!result.ok) return failure(context, `import ${name}`, result.error);
    const { catalog, report } = result;
    const changes = catalogChanges(before, catalog, context.ownConditions);
    printChanges(changes, catalog, engine, context);
    if (isRefused || options.isDryRun) stdout.lines(describeReport(report, true));
    if (isRefused) return refuse(context, `${name} has objects that would be left out (--strict)`);
    if (changes.refusal !== undefined && !options.isForced) {
      return refuse(context, `${changes.refusal}: --force removes them, --merge keeps them`);
    }
    if (store === undefined || options.isDryRun) return true;
    printReport('imported', report, context, await replaceCatalog(store, catalog, onto));
    return true;
  };
  // A dry run makes no directory.
  if (options.isDryRun && !existsSync(join(dataDir, 'catalog'))) return change(undefined);
  return withStore(
    context,
    options.isDryRun === true,
    `write to ${dataDir}, its catalog stays`,
    change,
  );
}

/**
 * Tables of the data directory's engine, rebuilt from log and snapshots, also beside a running node, as of the
 * newest batch on disk. `undefined` = there is no log. Throws an Error where log or snapshots are damaged.
 */
function storedTables(dataDir: string, capacities: Capacities): Tables | undefined {
  return existsSync(logDirectory(dataDir)) ? rebuild({ dataDir, capacities }).t : undefined;
}

function cancelledOrders(tables: Tables, { endedConditions, markets }: Catalog): number {
  const engine = new Engine(tables.memory);
  const before = openOrders(tables);
  engine.begin(engineTime(tables), 0);
  for (const i32 of marketCommands(tables, markets, () => undefined, endedConditions)) {
    const f64 = new Float64Array(i32.buffer);
    for (let at = 0; at < i32.length; at += commandWords(i32, at)) engine.apply(i32, f64, at);
  }
  engine.end();
  return before - openOrders(tables);
}

/** Returns `undefined` where it cannot be read: any generation is replaced then. */
function currentOf(store: CatalogStore | undefined): number | undefined {
  try {
    return store && (store.current() ?? 0);
  } catch {
    return undefined;
  }
}

/**
 * Catalog that an import replaces. A damaged one, or one of another format, is replaced whole and
 * cannot be merged into.
 */
function storedCatalog(
  store: CatalogStore | undefined,
  { merges }: ImportOptions,
  { stderr }: CatalogCommandContext,
): Catalog | undefined {
  try {
    return store?.load();
  } catch (error) {
    if (merges) throw error;
    stderr.line(`it replaces a catalog that cannot be read: ${(error as Error).message}`);
    return undefined;
  }
}

interface StoredEngine {
  readonly tables: Tables | undefined;
  readonly isReadable: boolean;
}

function engineOf({ capacities, dataDir, stderr }: CatalogCommandContext): StoredEngine {
  try {
    return { tables: storedTables(dataDir, capacities), isReadable: true };
  } catch (error) {
    const why = (error as Error).message;
    stderr.line(`the markets and orders of ${dataDir} cannot be compared with it: ${why}`);
    return { tables: undefined, isReadable: false };
  }
}

/**
 * Prints the markets that were read by their tokens, and those that contradict. Returns true when
 * some do.
 */
function printAligned(
  { contradictions, turned }: AlignedFile,
  name: string,
  { skipsChanged }: ImportOptions,
  { stderr, stdout }: CatalogCommandContext,
): boolean {
  if (turned > 0) stdout.line(`${turned} markets ${TURNED}`);
  if (contradictions.length === 0) return false;
  stderr.lines(describeContradictions(contradictions));
  const what = `${contradictions.length} markets of ${name} are not as they are registered`;
  const then = skipsChanged
    ? 'they stay as they are'
    : 'nothing is written (--skip-changed leaves them out)';
  stderr.line(`${what}: ${then}`);
  return true;
}

function printChanges(
  { changed, closed, opened, removed }: CatalogChanges,
  catalog: Catalog,
  { isReadable, tables }: StoredEngine,
  { stdout }: CatalogCommandContext,
): void {
  const lines: string[] = [];
  const lists = { opens: opened, changes: changed, closes: closed, removes: removed };
  for (const [verb, ids] of Object.entries(lists)) {
    if (ids.length === 0) continue;
    const more = ids.length > NAMED_MAX ? ', ...' : '';
    lines.push(`${verb} ${ids.length} markets: ${ids.slice(0, NAMED_MAX).join(', ')}${more}`);
  }
  if (lines.length === 0) lines.push('opens, changes, closes and removes no market');
  if (isReadable) {
    lines.push(`cancels ${tables ? cancelledOrders(tables, catalog) : 0} resting orders`);
  }
  stdout.lines(lines);
}

export async function exportFile(file: string, context: CatalogCommandContext): Promise<boolean> {
  const what = `write ${file === '-' ? 'standard output' : file}`;
  return withStore(context, true, what, async (store) => {
    if (store.current() === undefined) {
      return refuse(context, `there is no catalog in ${context.dataDir}`);
    }
    if (file === '-') await exportToStream(store.objects(), context.stdout.dataStream());
    else await exportToFile(store.objects(), file);
    return true;
  });
}

async function withStore(
  context: CatalogCommandContext,
  readOnly: boolean,
  what: string,
  body: (store: CatalogStore) => Promise<boolean>,
): Promise<boolean> {
  const { dataDir, durability, isNode } = context;
  let store: CatalogStore;
  try {
    store = openCatalog(dataDir, { durability, readOnly });
  } catch (error) {
    return failure(context, `open the catalog in ${dataDir}`, error);
  }
  try {
    if (!readOnly && store.isAwaiting() && isNode !== true && !isInUse(dataDir)) {
      const start = 'a catalog of a cluster changes while its node runs: start it';
      return refuse(context, `cannot ${what}: ${start}`);
    }
    return await body(store);
  } catch (error) {
    return failure(context, what, error);
  } finally {
    await store.close();
  }
}

function isInUse(dataDir: string): boolean {
  const lock = takeDirectoryLock(dataDir);
  if (lock.ok) lock.release();
  return !lock.ok;
}

export async function pullFrom(
  url: string,
  isForced: boolean,
  context: CatalogCommandContext,
): Promise<boolean> {
  const what = `pull from ${url}, the catalog stays`;
  return withStore(context, false, what, async (store) => {
    const { ownConditions, stderr } = context;
    const { tables } = engineOf(context);
    const catalogSync = new CatalogSync({
      url,
      store,
      tables,
      ownConditions,
      isForced,
      limits: SYNC_LIMITS,
    });
    const result = await catalogSync.pull(new AbortController().signal);
    for (const line of describeContradictions(catalogSync.contradictions))
      stderr.line(`${line}: it stays as it is`);
    if (result.kind === 'failed') return failure(context, what, result.reason);
    if (result.kind === 'unchanged') context.stdout.line(`nothing has changed at ${url}`);
    else printReport('pulled', result.report, context, result.generation);
    return true;
  });
}

function printReport(
  done: string,
  report: CatalogReport,
  context: CatalogCommandContext,
  generation: number,
): void {
  const [first = '', ...rest] = describeReport(report, true);
  context.stdout.lines([
    `${done} ${first}`,
    ...rest.map((line) => `  ${line}`),
    `now in ${context.dataDir}: generation ${generation}`,
  ]);
}

function failure(context: CatalogCommandContext, what: string, error: unknown): boolean {
  const reason = error instanceof Error ? error.message : String(error);
  return refuse(context, `cannot ${what}: ${reason}`);
}

function refuse({ stderr }: CatalogCommandContext, message: string): boolean {
  stderr.line(message);
  return false;
}
