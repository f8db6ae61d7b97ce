/**
 * Marks of an operator's objects and changes in stored events and markets. They are exported, and not shown.
 * Members of these names without a mark are statements of the catalog's source and do not count.
 *
 * Pure; any thread.
 */
import type { FeeSchedule } from '../../engine/commands.ts';
import { isObject, type JsonObject } from './catalog-json.ts';
import { NO_FEES, readSchedule } from './fee-schedules.ts';

/** Marks with the fields from which an operator made an event or a market, and with the members changed since. */
export const MADE = 'madeByOperator';
export const CHANGED = 'changedByOperator';

/** Note of the operator on a resolution. */
export const NOTE = 'resolutionNote';

/** Statuses that clients read in a market that has resolved, and in one with a proposed payout. */
export const RESOLVED_STATUS = 'resolved' as const;
export const PROPOSED_STATUS = 'proposed' as const;

export interface CatalogProposal {
  /** Time of the payout, ISO 8601. */
  readonly umaEndDate: string;
  /** JSON array of decimals: the payout of a share of each outcome. */
  readonly proposedPrices: string;
}

export function operatorFee(market: JsonObject): number | undefined {
  return (markOf(market, CHANGED).feeBps ?? markOf(market, MADE).fee) as number | undefined;
}

/** Taker delay in seconds; `undefined` where no operator has set it. */
export function operatorDelay(market: JsonObject): number | undefined {
  return (markOf(market, CHANGED).secondsDelay ?? markOf(market, MADE).takerDelay) as
    | number
    | undefined;
}

/** Fee schedule of a market; undefined where no operator has set one. */
export function operatorSchedule(market: JsonObject): FeeSchedule | undefined {
  const { feeSchedule } = markOf(market, CHANGED);
  return feeSchedule === null ? NO_FEES : readSchedule(feeSchedule);
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

export function isResolved(market: JsonObject): boolean {
  return markOf(market, CHANGED).umaResolutionStatus === RESOLVED_STATUS;
}

export function noteIn(market: JsonObject): string | undefined {
  return markOf(market, CHANGED)[NOTE] as string | undefined;
}

export function proposalIn(market: JsonObject): CatalogProposal | undefined {
  const mark = markOf(market, CHANGED);
  if (mark.umaResolutionStatus !== PROPOSED_STATUS) return undefined;
  return {
    umaEndDate: String(mark.umaEndDate),
    proposedPrices: String(mark.proposedPrices),
  };
}

export function withProposal(
  { proposedPrices: _, umaEndDate: __, umaResolutionStatus: ___, ...market }: JsonObject,
  proposal: CatalogProposal | undefined,
): JsonObject {
  const { proposedPrices, umaEndDate, umaResolutionStatus, ...mark } = markOf(market, CHANGED);
  const stated = proposal && { umaResolutionStatus: PROPOSED_STATUS, ...proposal };
  return { ...market, ...stated, [CHANGED]: { ...mark, ...stated } };
}

export function withoutNote({ [NOTE]: _, ...market }: JsonObject): JsonObject {
  const { [NOTE]: __, ...mark } = markOf(market, CHANGED);
  return { ...market, [CHANGED]: mark };
}

function markOf(object: JsonObject, name: string): JsonObject {
  const mark = object[name];
  return isObject(mark) ? mark : {};
}
