/**
 * Marks in stored events and markets: what an operator has made of them. They are exported, and not shown. What a
 * catalog file says of the same things is of another venue, so it counts only where a mark is beside it.
 *
 * Pure; any thread.
 */
import { isObject, type JsonObject } from './catalog-json.ts';

/** The wish from which an operator made an event or a market. */
export const MADE = 'madeByOperator';
/** Members that an operator has given a market or event since. */
export const CHANGED = 'changedByOperator';

/** What existing clients read in a market that has resolved. */
export const RESOLVED_STATUS = 'resolved' as const;

/** What they read in a market of which a payout is proposed. */
export const PROPOSED_STATUS = 'proposed' as const;

/** What a catalog says of a proposal. */
export interface CatalogProposal {
  /** ISO 8601: it is paid then. */
  readonly umaEndDate: string;
  /** A JSON array of decimals: what a share of each outcome is to pay. */
  readonly proposedPrices: string;
}

/** Base fee of takers in basis points; undefined where no operator has set one. */
export function operatorFee(market: JsonObject): number | undefined {
  return (markOf(market, CHANGED).feeBps ?? markOf(market, MADE).fee) as number | undefined;
}

/** Unix milliseconds at which an operator has the market end, 0 = never; undefined where no operator has said. */
export function operatorEnd(market: JsonObject): number | undefined {
  const { tradingEnd } = markOf(market, CHANGED);
  if (tradingEnd === null) return 0;
  const end = typeof tradingEnd === 'string' ? Date.parse(tradingEnd) : Number.NaN;
  return end > 0 ? end : undefined;
}

/** Whether the catalog says that the engine has resolved the market. */
export function isResolved(market: JsonObject): boolean {
  return markOf(market, CHANGED).umaResolutionStatus === RESOLVED_STATUS;
}

/** What the catalog says of the proposal that stands; undefined where it says of none. */
export function proposalIn(market: JsonObject): CatalogProposal | undefined {
  const mark = markOf(market, CHANGED);
  if (mark.umaResolutionStatus !== PROPOSED_STATUS) return undefined;
  return {
    umaEndDate: String(mark.umaEndDate),
    proposedPrices: String(mark.proposedPrices),
  };
}

/** The market with a proposal in place of the one before; undefined = without any. */
export function withProposal(
  { proposedPrices: _, umaEndDate: __, umaResolutionStatus: ___, ...market }: JsonObject,
  proposal: CatalogProposal | undefined,
): JsonObject {
  const { proposedPrices, umaEndDate, umaResolutionStatus, ...mark } = markOf(market, CHANGED);
  const said = proposal && { umaResolutionStatus: PROPOSED_STATUS, ...proposal };
  return { ...market, ...said, [CHANGED]: { ...mark, ...said } };
}

function markOf(object: JsonObject, name: string): JsonObject {
  const mark = object[name];
  return isObject(mark) ? mark : {};
}
