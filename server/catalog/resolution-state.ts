/**
 * State of a market's payout in the engine, in the form of a catalog.
 *
 * Thread: any that has the tables; the result may be a moment old.
 */
import { ledgerIsOn, proposalOf, resolutionOf } from '../../engine/ledger/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { MICRO, mulDivFloor } from '../../engine/tables/units.ts';
import { type CatalogProposal, RESOLVED_STATUS } from '../../storage/catalog/operator-marks.ts';
import { microText } from '../common/decimal.ts';
import { marketByCondition } from '../market-data/find.ts';

/** State of a market's payout in the engine: resolved, proposed, or neither. */
export type ResolutionState = typeof RESOLVED_STATUS | CatalogProposal | undefined;

export function stateOf(tables: Tables, condition: string): ResolutionState {
  const market = ledgerIsOn(tables) ? marketByCondition(tables, condition) : 0;
  if (market === 0) return undefined;
  if (resolutionOf(tables, market) !== undefined) return RESOLVED_STATUS;
  const proposal = proposalOf(tables, market);
  if (proposal === undefined) return undefined;
  const { deadline, sum, weights } = proposal;
  const prices = weights.map((weight) => microText(mulDivFloor(MICRO, weight, sum)));
  return {
    umaEndDate: new Date(deadline).toISOString(),
    proposedPrices: JSON.stringify(prices),
  };
}
