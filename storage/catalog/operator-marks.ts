/**
 * Marks of an operator's objects and changes in stored events and markets. They are exported, and not shown.
 * Members of these names without a mark are statements of the catalog's source and do not count.
 *
 * Pure; any thread.
 */
import { isObject, type JsonObject } from './catalog-json.ts';

/** Mark with the fields from which an operator made an event or a market. */
export const MADE = 'madeByOperator';
/** Mark with the members that an operator has changed since. */
export const CHANGED = 'changedByOperator';

/** Status that clients read in a market that has resolved. */
export const RESOLVED_STATUS = 'resolved' as const;

/** Status that clients read in a market with a proposed payout. */
export const PROPOSED_STATUS = 'proposed' as const;

export interface CatalogProposal {
  /** Time of the payout, ISO 8601. */
  readonly umaEndDate: string;
  /** JSON array of decimals: the payout of a share of each outcome. */
  readonly proposedPrices: string;
}

/** Base fee of takers in basis points; undefined where no operator has set one. */
export function operatorFee(market: JsonObject): number | undefined {
  return (markOf(market, CHANGED).feeBps ?? markOf(market, MADE).fee) as number | undefined;
}

/**
 * Unix milliseconds at which the market ends, 0 = never; `undefined` where no operator has set it.
 */
export function operatorEnd(market: JsonObject): number | undefined {
  const { tradingEnd } = markOf(market, CHANGED);
  if (tradingEnd === null) return 0;
  const end = typeof tradingEnd === 'string' ? Date.parse(tradingEnd) : Number.NaN;
  return end > 0 ? end : undefined;
}

/** Returns true when the catalog states that the engine has resolved the market. */
export function isResolved(market: JsonObject): boolean {
  return markOf(market, CHANGED).umaResolutionStatus === RESOLVED_STATUS;
}

/** Standing proposal in the catalog; `undefined` where there is none. */
export function proposalIn(market: JsonObject): CatalogProposal | undefined {
  const mark = markOf(market, CHANGED);
  if (mark.umaResolutionStatus !== PROPOSED_STATUS) return undefined;
  return {
    umaEndDate: String(mark.umaEndDate),
    proposedPrices: String(mark.proposedPrices),
  };
}

/** Returns the market with another proposal; `undefined` = without any. */
export function withProposal(
  { proposedPrices: _, umaEndDate: __, umaResolutionStatus: ___, ...market }: JsonObject,
  proposal: CatalogProposal | undefined,
): JsonObject {
  const { proposedPrices, umaEndDate, umaResolutionStatus, ...mark } = markOf(market, CHANGED);
  const stated = proposal && { umaResolutionStatus: PROPOSED_STATUS, ...proposal };
  return { ...market, ...stated, [CHANGED]: { ...mark, ...stated } };
}

function markOf(object: JsonObject, name: string): JsonObject {
  const mark = object[name];
  return isObject(mark) ? mark : {};
}
