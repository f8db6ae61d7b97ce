/**
 * The command `npm run catalog -- import FILE`: reads a catalog file into DATA_DIR, also beside
 * a serving node. Environment: DATA_DIR (./data), DURABILITY (flushed).
 *
 * Exit codes: 0 done, 1 the import failed and the old catalog stays, 2 wrong usage.
 * Non-goals: export and sync, which a later version adds.
 */
import { readFile } from 'node:fs/promises';
import { type CatalogStore, openCatalog } from './catalog.ts';
import { type CatalogReport, readCatalog } from './catalog-file.ts';
import type { Durability } from './lmdb.ts';

const USAGE = `usage: npm run catalog -- import FILE
  loads a catalog file (JSON: {tags, series, events}) into DATA_DIR`;
const DONE = 0;
const FAILED = 1;
const WRONG_USAGE = 2;

async function run(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const [command, file, ...rest] = argv;
  if (command === undefined) return refuse(USAGE, WRONG_USAGE);
  if (command !== 'import') {
    return refuse(`unknown command "${command}"\n${USAGE}`, WRONG_USAGE);
  }
  if (file === undefined) return refuse(`import: which FILE?\n${USAGE}`, WRONG_USAGE);
  if (rest.length > 0) {
    return refuse(`import: unexpected argument "${rest[0]}"\n${USAGE}`, WRONG_USAGE);
  }
  const durability = readDurability(env.DURABILITY);
  if (durability === undefined) {
    return refuse(
      `DURABILITY must be flushed or committed, it is "${env.DURABILITY}"`,
      WRONG_USAGE,
    );
  }
  return importFile(file, env.DATA_DIR || './data', durability);
}

async function importFile(file: string, dataDir: string, durability: Durability): Promise<number> {
  let json: unknown;
  try {
    // The decoder drops a byte-order mark and refuses bytes that are not UTF-8.
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file)));
  } catch (error) {
    return refuse(`cannot read ${file}: ${messageOf(error)}`, FAILED);
  }
  const result = readCatalog(json);
  if (!result.ok) return refuse(`cannot import ${file}: ${result.error}`, FAILED);

  let store: CatalogStore;
  try {
    store = openCatalog(dataDir, { durability });
  } catch (error) {
    return refuse(`cannot open the catalog in ${dataDir}: ${messageOf(error)}`, FAILED);
  }
  try {
    const generation = await store.replace(result.catalog);
    process.stdout.write(
      `${describe(result.report)}\nnow in ${dataDir}: generation ${generation}\n`,
    );
    return DONE;
  } catch (error) {
    return refuse(`cannot write to ${dataDir}, its catalog stays: ${messageOf(error)}`, FAILED);
  } finally {
    await store.close();
  }
}

function describe(report: CatalogReport): string {
  const lines = [
    `imported ${report.events} events, ${report.markets} markets ` +
      `(${report.marketsWithBooks} with order books, ${report.marketsTradable} open for trading), ` +
      `${report.tags} tags, ${report.series} series`,
  ];
  for (const { reason, count, first } of report.skipped) {
    lines.push(`  ${count} ${reason} (${first.join(', ')}${count > first.length ? ', ...' : ''})`);
  }
  return lines.join('\n');
}

function readDurability(value: string | undefined): Durability | undefined {
  if (value === undefined || value === '') return 'flushed';
  return value === 'flushed' || value === 'committed' ? value : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function refuse(message: string, code: number): number {
  process.stderr.write(`${message}\n`);
  return code;
}

process.exitCode = await run(process.argv.slice(2), process.env);
