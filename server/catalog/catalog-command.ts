/**
 * The commands `npm run catalog -- import FILE`, `export FILE` and `sync URL`: read a catalog file
 * into DATA_DIR, write one out of it, pull one from another catalog API; also beside a serving node.
 * `-` as FILE is standard input or output. Environment: DATA_DIR (./data), DURABILITY (flushed).
 *
 * Exit codes: 0 done, 1 it failed and what was there before stays, 2 wrong usage.
 */
import { readFile } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type CatalogStore, openCatalog } from '../../storage/catalog.ts';
import { exportToFile, exportToStream } from '../../storage/catalog-export.ts';
import { type Catalog, type CatalogReport, readCatalog } from '../../storage/catalog-file.ts';
import { describeReport } from '../../storage/catalog-report.ts';
import type { Durability } from '../../storage/lmdb.ts';
import { replaceCatalog } from './snapshot.ts';
import { Mirror } from './sync.ts';
import { SYNC_LIMITS, sourceUrlProblem } from './sync-client.ts';

/** Where a command reads and writes; a process has them under these names. */
export interface Streams {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
}

interface Place extends Streams {
  readonly dataDir: string;
  readonly durability: Durability;
}

interface Command {
  /** The name of its one argument. */
  readonly argument: string;
  readonly what: string;
  /** Resolves with the exit code. */
  readonly run: (argument: string, place: Place) => Promise<number>;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  import: {
    argument: 'FILE',
    what: 'loads a catalog file (JSON: {tags, series, sites, events}) into DATA_DIR',
    run: importFile,
  },
  export: {
    argument: 'FILE',
    what: 'writes the catalog of DATA_DIR as such a file',
    run: exportFile,
  },
  sync: {
    argument: 'URL',
    what: 'pulls the catalog of another catalog API into DATA_DIR',
    run: pullFrom,
  },
};

const DONE = 0;
const FAILED = 1;
const WRONG_USAGE = 2;

/** Runs one command; resolves with its exit code. */
export async function runCatalogCommand(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  streams: Streams,
): Promise<number> {
  const refuse = (message: string, code: number): number => refuseTo(streams.stderr, message, code);
  const [name, argument, ...rest] = argv;
  if (name === undefined) return refuse(usage(), WRONG_USAGE);
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) return refuse(`unknown command "${name}"\n${usage()}`, WRONG_USAGE);
  if (argument === undefined || argument === '') {
    return refuse(`${name}: which ${command.argument}?\n${usage()}`, WRONG_USAGE);
  }
  if (rest.length > 0) {
    return refuse(`${name}: unexpected argument "${rest[0]}"\n${usage()}`, WRONG_USAGE);
  }
  const durability = readDurability(env.DURABILITY);
  if (durability === undefined) {
    const found = `it is "${env.DURABILITY}"`;
    return refuse(`DURABILITY must be flushed or committed, ${found}`, WRONG_USAGE);
  }
  const dataDir = env.DATA_DIR || './data';
  return command.run(argument, { dataDir, durability, ...streams });
}

function usage(): string {
  const lines = Object.entries(COMMANDS).flatMap(([name, { argument, what }], index) => [
    `${index === 0 ? 'usage:' : '      '} npm run catalog -- ${name} ${argument}`,
    `         ${what}`,
  ]);
  return lines.join('\n');
}

async function importFile(file: string, place: Place): Promise<number> {
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
  return withStore(place, false, (store) => writeCatalog(store, catalog, report, place));
}

async function writeCatalog(
  store: CatalogStore,
  catalog: Catalog,
  report: CatalogReport,
  place: Place,
): Promise<number> {
  try {
    tell('imported', report, place, await replaceCatalog(store, catalog));
    return DONE;
  } catch (error) {
    return failure(place, `write to ${place.dataDir}, its catalog stays`, error);
  }
}

async function exportFile(file: string, place: Place): Promise<number> {
  return withStore(place, true, async (store) => {
    if (store.current() === undefined) {
      return refuseTo(place.stderr, `there is no catalog in ${place.dataDir}`, FAILED);
    }
    try {
      if (file === '-') await exportToStream(store.objects(), place.stdout);
      else await exportToFile(store.objects(), file);
      return DONE;
    } catch (error) {
      return failure(place, `write ${file === '-' ? 'standard output' : file}`, error);
    }
  });
}

async function withStore(
  place: Place,
  readOnly: boolean,
  body: (store: CatalogStore) => Promise<number>,
): Promise<number> {
  const { dataDir, durability } = place;
  let store: CatalogStore;
  try {
    store = openCatalog(dataDir, { durability, readOnly });
  } catch (error) {
    return failure(place, `open the catalog in ${dataDir}`, error);
  }
  try {
    return await body(store);
  } finally {
    await store.close();
  }
}

async function pullFrom(url: string, place: Place): Promise<number> {
  const problem = sourceUrlProblem(url);
  if (problem !== undefined) return refuseTo(place.stderr, `sync: URL ${problem}`, WRONG_USAGE);
  return withStore(place, false, async (store) => {
    const mirror = new Mirror({ url, store, limits: SYNC_LIMITS });
    const result = await mirror.sync(new AbortController().signal);
    if (result.kind === 'failed') {
      return failure(place, `pull from ${url}, the catalog stays`, result.reason);
    }
    if (result.kind === 'unchanged') place.stdout.write(`nothing has changed at ${url}\n`);
    else tell('pulled', result.report, place, result.generation);
    return DONE;
  });
}

/** The report of a catalog that has come in. */
function tell(done: string, report: CatalogReport, place: Place, generation: number): void {
  const lines = describeReport(report).join('\n  ');
  place.stdout.write(`${done} ${lines}\nnow in ${place.dataDir}: generation ${generation}\n`);
}

function readDurability(value: string | undefined): Durability | undefined {
  if (value === undefined || value === '') return 'flushed';
  return value === 'flushed' || value === 'committed' ? value : undefined;
}

function failure({ stderr }: Place, what: string, error: unknown): number {
  const reason = error instanceof Error ? error.message : String(error);
  return refuseTo(stderr, `cannot ${what}: ${reason}`, FAILED);
}

function refuseTo(stderr: Writable, message: string, code: number): number {
  stderr.write(`${message}\n`);
  return code;
}
