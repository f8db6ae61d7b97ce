/** Directories whose log has registered the markets of a catalog, and files that name these markets in other ways. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { commandWords } from '../../engine/commands.ts';
import { marketCommands } from '../../server/catalog/market-registry.ts';
import { openCatalog } from '../../storage/catalog/catalog.ts';
import { type Catalog, type JsonObject, readCatalog } from '../../storage/catalog/catalog-file.ts';
import { ROOMY } from '../engine/engine-driver.ts';
import { logOf } from '../storage/log-stage.ts';
import { appended, Exchange } from '../storage/stored-exchange.ts';

export type RawMarket = Readonly<Record<string, unknown>>;
type ChangeMarket = (market: RawMarket) => RawMarket;

export interface RawFile {
  readonly events: readonly (JsonObject & { readonly markets: readonly RawMarket[] })[];
  readonly [name: string]: unknown;
}

export const SIZES = {
  MARKETS_MAX: String(ROOMY.markets),
  TOKENS_MAX: String(ROOMY.tokens),
  ACCOUNTS_MAX: String(ROOMY.accounts),
  ORDERS_MAX: String(ROOMY.orders),
  LEVELS_MAX: String(ROOMY.levels),
  TRADES_MAX: String(Math.max(1_000, ROOMY.trades)),
  ORDER_HISTORY: String(ROOMY.history),
};

export function catalogOf(file: unknown): Catalog {
  const read = readCatalog(file);
  assert(read.ok, 'it can be read');
  return read.catalog;
}

export async function registeredIn(
  t: TestContext,
  dataDir: string,
  file: RawFile,
): Promise<Exchange> {
  const catalog = catalogOf(file);
  const store = openCatalog(dataDir, { durability: 'committed' });
  await store.replace(catalog);
  await store.close();
  const exchange = new Exchange(ROOMY);
  const log = await logOf(t, dataDir);
  await appended(log, exchange.configure(1_000));
  for (const words of marketCommands(exchange.t, catalog.markets, assert.fail)) {
    const commands: Int32Array<ArrayBuffer>[] = [];
    for (let at = 0; at < words.length; at += commandWords(words, at)) {
      commands.push(new Int32Array(words.slice(at, at + commandWords(words, at))));
    }
    await appended(log, exchange.apply({ time: 2_000, persistedClosedSequence: 0, commands }, 0));
  }
  await log.close();
  return exchange;
}

export function withMarket(file: RawFile, id: string, change: ChangeMarket): RawFile {
  return mapped(file, (market) => (String(market.id) === id ? change(market) : market));
}

export function mapped(file: RawFile, change: ChangeMarket): RawFile {
  const events = file.events.map((event) => ({ ...event, markets: event.markets.map(change) }));
  return { ...file, events };
}

const LISTS = ['outcomes', 'clobTokenIds', 'outcomePrices'];

/** Reorders the outcomes of a market: `places` has the old index of each. */
export function permuted(market: RawMarket, places: readonly number[]): RawMarket {
  const lists = LISTS.filter((name) => name in market).map((name) => {
    const list = JSON.parse(String(market[name])) as unknown[];
    return [name, JSON.stringify(places.map((place) => list[place]))];
  });
  return { ...market, ...Object.fromEntries(lists) };
}
