/**
 * Names stored in DATA_DIR, also while a node runs there: markets by number or slug, outcomes by token, wallets by
 * name.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openCatalog } from '../../storage/catalog/catalog.ts';
import type { CatalogMarket } from '../../storage/catalog/catalog-file.ts';
import { type Context, Refused } from './context.ts';
import { addressOf, marketOf } from './settings.ts';
import { storedControlRecords } from './stored-control-records.ts';

export interface StoredNames {
  /** Condition id of a market. Throws Refused for an unknown market or an ambiguous slug. */
  readonly condition: (text: string) => string;
  /** Name of an outcome; '' when the catalog does not list its token. */
  readonly outcome: (token: string) => string;
}

/** Reads the catalog, which takes some seconds if it is large. */
export async function storedNames(context: Context): Promise<StoredNames> {
  const markets = await storedMarkets(context);
  let outcomes: ReadonlyMap<string, string> | undefined;
  return {
    condition: (text) => conditionIn(markets, marketOf(text)),
    outcome(token) {
      outcomes ??= new Map(
        markets.flatMap(({ outcomes: names, tokenIds }) =>
          tokenIds.map((id, i) => [id, names[i] ?? ''] as const),
        ),
      );
      return outcomes.get(token) ?? '';
    },
  };
}

export async function storedWallet(
  { dataDir }: Context,
  text: string,
  what: string,
): Promise<Uint8Array> {
  if (/^0x/i.test(text)) return addressOf(text, what);
  let found: Uint8Array | undefined;
  for (const record of await storedControlRecords(dataDir)) {
    if (record.about !== 'name') continue;
    if (record.name === text) found = record.address;
    else if (found !== undefined && Buffer.from(found).equals(record.address)) found = undefined;
  }
  if (found === undefined) throw new Refused(`${what}: no wallet has the name "${text}"`);
  return found;
}

export async function storedMarkets({
  dataDir,
  durability,
}: Pick<Context, 'dataDir' | 'durability'>): Promise<readonly CatalogMarket[]> {
  if (!existsSync(join(dataDir, 'catalog'))) return [];
  const store = openCatalog(dataDir, { durability, readOnly: true });
  try {
    return store.current() === undefined ? [] : store.load().markets;
  } finally {
    await store.close();
  }
}

function conditionIn(markets: readonly CatalogMarket[], text: string): string {
  if (/^0x/.test(text)) return text;
  const isNumber = /^\d+$/.test(text);
  const found = markets.filter(({ id, slug }) => (isNumber ? id : slug) === text);
  if (found.length === 1) return found[0]!.conditionId;
  const count = found.length === 0 ? 'no market has' : `${found.length} markets have`;
  throw new Refused(`${count} the ${isNumber ? 'number' : 'slug'} "${text}"`);
}
