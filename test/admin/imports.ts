import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openCatalog } from '../../storage/catalog/catalog.ts';
import type { CatalogMarket } from '../../storage/catalog/catalog-file.ts';
import { type TestNode, temporaryDirectory, until } from '../common/node-harness.ts';
import { cli } from '../common/run-cli.ts';

export async function importCatalog(
  node: TestNode,
  catalog: object,
  flags: readonly string[] = [],
): Promise<void> {
  const file = join(temporaryDirectory(), 'catalog.json');
  writeFileSync(file, JSON.stringify(catalog));
  await changeCatalog(node, ['import', file, ...flags]);
}

/** Runs a command of the catalog, which must succeed. */
export async function changeCatalog(node: TestNode, args: readonly string[]): Promise<void> {
  const { code, stderr, stdout } = await cli(node.dataDir, ['catalog', ...args]);
  assert.equal(code, 0, `${stdout}${stderr}`);
  await servesStored(node);
}

/** Waits until the node serves and logs the stored catalog generation. */
export async function servesStored(node: TestNode): Promise<void> {
  const store = openCatalog(node.dataDir, { durability: 'flushed', readOnly: true });
  const number = store.current();
  await store.close();
  await until(() => node.log.includes(`catalog generation ${number}:`));
}

/** Stored market in the form that signers of orders need. */
export async function storedMarket(dataDir: string, condition: string): Promise<CatalogMarket> {
  const store = openCatalog(dataDir, { durability: 'flushed', readOnly: true });
  const market = store.load().markets.find(({ conditionId }) => conditionId === condition);
  await store.close();
  assert(market !== undefined);
  return market;
}
