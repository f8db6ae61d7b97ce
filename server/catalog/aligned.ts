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
  type Contradiction,
} from '../../storage/catalog/registered-markets.ts';
import { marketByCondition } from '../market-data/find.ts';
import { registeredMarkets, tokenByText } from '../market-data/registered.ts';
import type { MarketIdentity, ReadyCatalog } from './snapshot.ts';

/** Returns true when every market has the registered tokens, in their order, and the registered neg-risk flag. */
export function isAligned(
  t: Tables,
  { bookless, terms }: Pick<ReadyCatalog, 'bookless' | 'terms'>,
): boolean {
  return (
    terms.every((market) => agrees(t, market)) && bookless.every((market) => agrees(t, market))
  );
}

function agrees(t: Tables, { conditionId, negRisk, tokenIds }: MarketIdentity): boolean {
  const market = conditionId === '' ? 0 : marketByCondition(t, conditionId);
  if (market === 0) return tokenIds.every((id) => tokenByText(t, id) === 0);
  // One that has lost its tokens names none of another market.
  if (tokenIds.length === 0) return true;
  if (negRisk !== ((marketFlags(t, market) & MarketFlag.negRisk) !== 0)) return false;
  const first = marketFirstToken(t, market);
  return (
    marketTokens(t, market) === tokenIds.length &&
    tokenIds.every((id, i) => tokenByText(t, id) === first + i)
  );
}

export interface AlignedCatalog extends Pick<AlignedEvents, 'contradictions'> {
  readonly catalog: Catalog;
  /** Markets that were in another order, or had another neg-risk flag. */
  readonly mended: number;
}

/** A stored catalog with its markets as they are registered. One with other tokens has no outcomes in it. */
export function alignedCatalog(catalog: Catalog, t: Tables | undefined): AlignedCatalog {
  if (t === undefined) return { catalog, contradictions: [], mended: 0 };
  const { contradictions, events, kept, turned } = alignEvents(
    catalog.events,
    registeredMarkets(t),
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

/** Registered markets that are listed without tokens and have not ended: nobody knows their outcomes. */
export function withoutOutcomes(
  t: Tables,
  { bookless }: Pick<ReadyCatalog, 'bookless'>,
): Contradiction[] {
  return bookless
    .filter(
      ({ conditionId, ended, tokenIds }) =>
        tokenIds.length === 0 && !ended && marketByCondition(t, conditionId) !== 0,
    )
    .map(({ conditionId, id }) => ({ id, conditionId, reason: 'tokens' }));
}
