/**
 * What the engine says of the resolution of a market, as a catalog says it.
 *
 * Thread: any that has the tables; what it finds may be a moment old.
 */
import { ledgerIsOn, proposalOf, resolutionOf } from '../../engine/ledger/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { MICRO, mulDivFloor } from '../../engine/tables/units.ts';
import { type CatalogProposal, RESOLVED_STATUS } from '../../storage/catalog/operator-marks.ts';
import { microText } from '../common/decimal.ts';
import { marketByCondition } from '../market-data/find.ts';

/** What the engine says of a market: that it has resolved, what is proposed, or neither. */
export type ResolutionState = typeof RESOLVED_STATUS | CatalogProposal | undefined;

export function stateOf(t: Tables, condition: string): ResolutionState {
  const market = ledgerIsOn(t) ? marketByCondition(t, condition) : 0;
  if (market === 0) return undefined;
  if (resolutionOf(t, market) !== undefined) return RESOLVED_STATUS;
  const proposal = proposalOf(t, market);
  if (proposal === undefined) return undefined;
  const { deadline, sum, weights } = proposal;
  const prices = weights.map((weight) => microText(mulDivFloor(MICRO, weight, sum)));
  return {
    umaEndDate: new Date(deadline).toISOString(),
    proposedPrices: JSON.stringify(prices),
  };
}
