/**
 * `npm run load`: sends real signed GTC and FOK orders to a node over HTTP, keeps its own books,
 * and holds what /books, /last-trades-prices and /trades say against them, also across kill -9.
 * Exit codes: 0 everything agrees, 1 it does not or the load failed, 2 wrong usage.
 * Thread: this one only.
 * Non-goals: an open-loop benchmark (a connection waits for each answer before its next batch), and
 * self-trade policies other than the default, allow.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Config, readConfig } from '../../server/config.ts';
import { type CatalogMarket, readCatalog } from '../../storage/catalog-file.ts';
import { demoCatalog } from '../../storage/demo-catalog.ts';
import { Random } from '../random.ts';
import { chooseMarkets } from './load-market.ts';
import { importCatalog, LocalNode } from './load-node.ts';
import { type LoadOptions, parseOptions, USAGE } from './load-options.ts';
import { LoadRun } from './load-run.ts';

const AGREES = 0;
const FAILED = 1;
const WRONG_USAGE = 2;

async function main(): Promise<number> {
  const parsed = parseOptions(process.argv.slice(2), Date.now());
  if (!parsed.ok) {
    print(parsed.problem === 'help' ? USAGE : `${parsed.problem}\n${USAGE}`);
    return parsed.problem === 'help' ? AGREES : WRONG_USAGE;
  }
  const configured = readConfig(process.env, [], 1);
  if (!configured.ok) {
    print(configured.problems.join('\n'));
    return WRONG_USAGE;
  }
  const { options } = parsed;
  const { config } = configured;
  if (config.selfTrade !== 'allow') {
    print(`the load tool's books know SELF_TRADE=allow only, it is "${config.selfTrade}"`);
    return WRONG_USAGE;
  }
  const agrees = options.spawn
    ? await loadOwnNode(options, config)
    : await load(options, config, undefined);
  return agrees ? AGREES : FAILED;
}

/** Runs a node for this load; its temporary directory stays only when something is wrong. */
async function loadOwnNode(options: LoadOptions, config: Config): Promise<boolean> {
  const temporary = options.dataDir === undefined;
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'load-')));
  let agrees = false;
  try {
    if (options.importFile !== undefined) await importCatalog(options.importFile, dataDir);
    const node = await LocalNode.start(dataDir, options.catalog === undefined);
    agrees = await load(options, config, node);
    const code = await node.stop();
    if (code !== 0) {
      print(`the node ended with ${code} on SIGTERM, expected 0`);
      agrees = false;
    }
    return agrees;
  } finally {
    if (temporary && agrees) await rm(dataDir, { recursive: true });
    else print(`the node's directory: ${dataDir}`);
  }
}

async function load(
  options: LoadOptions,
  config: Config,
  node: LocalNode | undefined,
): Promise<boolean> {
  const random = new Random(`${options.seed}/markets`);
  const markets = chooseMarkets(await readMarkets(options.catalog), options.markets, random);
  if (markets.length === 0) throw new Error('the catalog has no tradable market');
  return new LoadRun(options, config, markets, node, write).run();
}

async function readMarkets(file: string | undefined): Promise<readonly CatalogMarket[]> {
  const json: unknown =
    file === undefined ? demoCatalog() : JSON.parse(await readFile(file, 'utf8'));
  const result = readCatalog(json);
  if (!result.ok) throw new Error(result.error);
  return result.catalog.markets;
}

function print(text: string): void {
  write(`${text}\n`);
}

function write(text: string): void {
  process.stdout.write(text);
}

process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));
try {
  process.exit(await main());
} catch (error) {
  print(`the load failed: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(FAILED);
}
