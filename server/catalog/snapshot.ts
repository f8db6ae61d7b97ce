/**
 * The prepared form of a catalog generation. The writer of the generation makes it and stores it
 * with the generation, so a node that loads the generation only has to read it. A generation
 * without a snapshot, or with one of another version, is prepared when it is loaded.
 *
 * Thread: any but the I/O thread, because both take time.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { CatalogSnapshot, CatalogStore } from '../../storage/catalog/catalog.ts';
import type { Catalog, CatalogMarket } from '../../storage/catalog/catalog-file.ts';
import { marketsOf, textList } from '../../storage/catalog/catalog-json.ts';
import { conditionIdOf, hasEnded, tradingTerms } from '../../storage/catalog/catalog-market.ts';
import { tradedTokens } from '../../storage/catalog/market-form.ts';
import { prepareCatalog } from './build.ts';
import type { MarketTerms } from './market-registry.ts';
import type { PreparedCatalog } from './prepared.ts';
import { searchTexts } from './search-texts.ts';
import { decodeTree, encodeTree } from './snapshot-codec.ts';

export interface CatalogCounts {
  readonly events: number;
  readonly markets: number;
  readonly books: number;
  readonly tags: number;
  readonly series: number;
  readonly sites: number;
}

/**
 * Properties by which a market is compared with registered ones. `conditionId` is '' where it has
 * none.
 */
export type MarketIdentity = Pick<
  MarketTerms,
  'conditionId' | 'ended' | 'id' | 'negRisk' | 'tokenIds'
>;

export interface ReadyCatalog {
  readonly prepared: PreparedCatalog;
  readonly terms: readonly MarketTerms[];
  /** Other markets that name tokens or a condition id: these may be none of another market. */
  readonly bookless: readonly MarketIdentity[];
  readonly endedConditions: readonly string[];
  readonly counts: CatalogCounts;
}

/**
 * Version of the snapshot, raised with every change of its content (prepared.ts), of the terms or
 * of the texts. A test compares the snapshot of the demo catalog with it.
 * @internal
 */
export const SNAPSHOT_FORMAT = 'ready-8';

/** Longer than a node tries to bring a generation to the others. */
const DECIDED_MS_MAX = 60_000;
const LOOK_MS = 25;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Prepares a generation; `take` gets the texts for the search first (SearchTexts as JSON). */
export function makeReady(catalog: Catalog, take: (texts: Uint8Array) => void): ReadyCatalog {
  for (const texts of searchTexts(catalog)) take(encoder.encode(JSON.stringify(texts)));
  const { events, markets, endedConditions, tags, series, sites } = catalog;
  const prepared = prepareCatalog(catalog);
  return {
    prepared,
    terms: markets.map(termsOf),
    bookless: booklessOf(catalog),
    endedConditions,
    counts: {
      events: events.length,
      markets: prepared.markets.ids.length,
      books: markets.length,
      tags: tags.length,
      series: series.length,
      sites: sites.length,
    },
  };
}

export function writeCatalog(
  store: CatalogStore,
  catalog: Catalog,
  onto?: number,
): Promise<number> {
  return store.replace(catalog, snapshotOf(catalog), onto);
}

/**
 * Writes a generation and resolves once it is in use, which the other nodes of a cluster decide.
 * Rejects where it is refused.
 */
export async function replaceCatalog(
  store: CatalogStore,
  catalog: Catalog,
  onto?: number,
): Promise<number> {
  const generation = await writeCatalog(store, catalog, onto);
  const end = performance.now() + DECIDED_MS_MAX;
  for (;;) {
    const outcome = store.outcome(generation);
    if (outcome === 'in use') return generation;
    if (outcome !== 'proposed') throw new Error(outcome.refused);
    if (performance.now() > end) {
      throw new Error(
        `generation ${generation} is proposed, and its node has not decided: does it run?`,
      );
    }
    await sleep(LOOK_MS);
  }
}

/**
 * Reads the snapshot of the current generation; undefined when there is no usable one.
 * @param warn called with what is damaged
 */
export function readSnapshot(
  store: CatalogStore,
  take: (texts: Uint8Array) => void,
  warn: (line: string) => void,
): ReadyCatalog | undefined {
  const stored = store.snapshot(SNAPSHOT_FORMAT);
  if (typeof stored === 'string') warn(`the catalog is damaged: ${stored}; it is made again`);
  const [served, rest] = typeof stored === 'string' ? [] : (stored ?? []);
  if (served === undefined || rest === undefined) return undefined;
  const { texts, engine, counts } = decodeTree(rest) as StoredRest;
  // In buffers of their own, so that they can be transferred.
  for (const chunk of texts) take(chunk.slice());
  return {
    prepared: decodeTree(served) as PreparedCatalog,
    ...(JSON.parse(decoder.decode(engine)) as EngineTerms),
    counts,
  };
}

type EngineTerms = Pick<ReadyCatalog, 'bookless' | 'terms' | 'endedConditions'>;

interface StoredRest {
  readonly texts: readonly Uint8Array[];
  readonly engine: Uint8Array;
  readonly counts: CatalogCounts;
}

export function snapshotOf(catalog: Catalog): CatalogSnapshot {
  const texts: Uint8Array[] = [];
  const ready = makeReady(catalog, (chunk) => texts.push(chunk));
  const { bookless, prepared, terms, endedConditions, counts } = ready;
  const engine: EngineTerms = { terms, bookless, endedConditions };
  const rest: StoredRest = { texts, engine: encoder.encode(JSON.stringify(engine)), counts };
  return { format: SNAPSHOT_FORMAT, parts: [encodeTree(prepared), encodeTree(rest)] };
}

function booklessOf({ events, markets }: Catalog): MarketIdentity[] {
  const withBook = new Set(markets.map(({ id }) => id));
  return events.flatMap((event) =>
    marketsOf(event).flatMap((raw) => {
      const id = String(raw.id);
      if (withBook.has(id)) return [];
      const conditionId = conditionIdOf(raw) ?? '';
      const tokenIds = textList(tradedTokens(raw)) ?? [];
      const { negRisk } = tradingTerms(raw, event);
      if (conditionId === '' && tokenIds.length === 0) return [];
      return [{ id, conditionId, tokenIds, negRisk, ended: hasEnded(raw) }];
    }),
  );
}

function termsOf(market: CatalogMarket): MarketTerms {
  const { eventId, eventSlug, icon, outcomes, question, slug, ...terms } = market;
  return terms;
}
