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

function markOf(object: JsonObject, name: string): JsonObject {
  const mark = object[name];
  return isObject(mark) ? mark : {};
}
