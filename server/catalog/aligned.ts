/**
 * Catalogs that are stored, with their markets as the engine has registered them.
 *
 * Thread: any that has the tables.
 */
import { marketFirstToken, marketFlags, marketTokens } from '../../engine/reads.ts';
import { MarketFlag } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { type Catalog, readCatalog } from '../../storage/catalog/catalog-file.ts';
import {
  type AlignedEvents,
  alignEvents,
  alignFile,
  type Contradiction,
} from '../../storage/catalog/registered-markets.ts';
import { marketByCondition } from '../market-data/find.ts';
import { registeredMarkets, tokenByText } from '../market-data/registered.ts';
import type { MarketIdentity, ReadyCatalog } from './snapshot.ts';

/**
 * Returns true when every market has the registered tokens in order, and the registered neg-risk
 * flag.
 */
export function isAligned(
  tables: Tables,
  { bookless, terms }: Pick<ReadyCatalog, 'bookless' | 'terms'>,
): boolean {
  return (
    terms.every((market) => agrees(tables, market)) &&
    bookless.every((market) => agrees(tables, market))
  );
}

function agrees(tables: Tables, { conditionId, negRisk, tokenIds }: MarketIdentity): boolean {
  const market = conditionId === '' ? 0 : marketByCondition(tables, conditionId);
  if (market === 0) return tokenIds.every((id) => tokenByText(tables, id) === 0);
  // One that has lost its tokens names none of another market.
  if (tokenIds.length === 0) return true;
  if (negRisk !== ((marketFlags(tables, market) & MarketFlag.negRisk) !== 0)) return false;
  const first = marketFirstToken(tables, market);
  return (
    marketTokens(tables, market) === tokenIds.length &&
    tokenIds.every((id, i) => tokenByText(tables, id) === first + i)
  );
}

export interface AlignedCatalog extends Pick<AlignedEvents, 'contradictions'> {
  readonly catalog: Catalog;
  readonly mended: number;
}

/**
 * Returns a stored catalog with its markets as registered. A market with other tokens loses its
 * outcomes.
 */
export function alignedCatalog(catalog: Catalog, tables: Tables | undefined): AlignedCatalog {
  if (tables === undefined) return { catalog, contradictions: [], mended: 0 };
  const { contradictions, events, kept, turned } = alignEvents(
    catalog.events,
    registeredMarkets(tables),
    catalog,
  );
  const mended = turned + kept;
  if (events.every((event, i) => event === catalog.events[i])) {
    return { catalog, contradictions, mended };
  }
  const read = readCatalog({ ...catalog, events });
  // Nothing was added to what had been read before.
  if (!read.ok) throw new Error(read.error);
  return { catalog: read.catalog, contradictions, mended };
}

/** Returns a parsed catalog file with its markets as registered, of which the contradicting ones are as in `before`. */
export function alignedFile(json: unknown, tables: Tables | undefined, before: Catalog) {
  if (tables === undefined) return { json, contradictions: [], turned: 0 };
  return alignFile(json, registeredMarkets(tables), before);
}

/**
 * Returns registered markets that are listed without tokens and have not ended: their outcomes are
 * unknown.
 */
export function withoutOutcomes(
  tables: Tables,
  { bookless }: Pick<ReadyCatalog, 'bookless'>,
): Contradiction[] {
  return bookless
    .filter(
      ({ conditionId, ended, tokenIds }) =>
        tokenIds.length === 0 && !ended && marketByCondition(tables, conditionId) !== 0,
    )
    .map(({ conditionId, id }) => ({ id, conditionId, reason: 'tokens' }));
}
