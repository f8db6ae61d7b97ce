/**
 * Common first steps of both modes of the load tool: run a node where an option wants one, and
 * choose the markets.
 * Thread: the tool's only one.
 * Non-goals: the node's life during the load (load-node.ts).
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { demoCatalog } from '../../server/demo/demo-catalog.ts';
import { type CatalogMarket, readCatalog } from '../../storage/catalog/catalog-file.ts';
import { Random } from '../random.ts';
import { chooseMarkets, type LoadMarket } from './load-market.ts';
import { importCatalog, LocalNode, type LocalNodeOptions } from './load-node.ts';
import type { TargetOptions } from './load-options.ts';

/**
 * Runs `load` against a node of its own (`--spawn`) or none; true when it was well and that node
 * ended well. A temporary directory stays only when something is wrong.
 */
export async function withTarget(
  options: TargetOptions,
  node: Pick<LocalNodeOptions, 'environment' | 'hasAdmin'>,
  print: (line: string) => void,
  load: (node: LocalNode | undefined) => Promise<boolean>,
): Promise<boolean> {
  if (!options.spawn) return load(undefined);
  const temporary = options.dataDir === undefined;
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'load-')));
  let isWell = false;
  try {
    if (options.importFile !== undefined) await importCatalog(options.importFile, dataDir);
    const demo = options.catalog === undefined;
    const own = await LocalNode.start(dataDir, { demo, ...node });
    isWell = await load(own);
    const code = await own.stop();
    if (code !== 0) {
      print(`the node ended with ${code} on SIGTERM, expected 0`);
      isWell = false;
    }
    return isWell;
  } finally {
    if (temporary && isWell) await rm(dataDir, { recursive: true });
    else print(`the node's directory: ${dataDir}`);
  }
}

/** Tradable markets of the catalog that the options name. */
export async function targetMarkets(options: TargetOptions, count: number): Promise<LoadMarket[]> {
  const random = new Random(`${options.seed}/markets`);
  const markets = chooseMarkets(await readMarkets(options.catalog), count, random);
  if (markets.length === 0) throw new Error('the catalog has no tradable market');
  return markets;
}

async function readMarkets(file: string | undefined): Promise<readonly CatalogMarket[]> {
  const json: unknown =
    file === undefined ? demoCatalog() : JSON.parse(await readFile(file, 'utf8'));
  const result = readCatalog(json);
  if (!result.ok) throw new Error(result.error);
  return result.catalog.markets;
}
