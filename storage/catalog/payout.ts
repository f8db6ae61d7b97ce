/**
 * What the catalog of a venue says that a market pays.
 *
 * Pure; any thread.
 */
import { PAYOUT_SUM_MAX } from '../../engine/tables/capacities.ts';
import { type JsonObject, scaledDecimal, textList } from './catalog-json.ts';
import { hasEnded } from './catalog-market.ts';
import { RESOLVED_STATUS } from './operator-marks.ts';

/** Weights of the outcomes, whose sum is at most PAYOUT_SUM_MAX; 'void': all of them the same. */
export type Payout = readonly number[] | 'void';

const MICRO_DECIMALS = 6;
const MICRO = 10 ** MICRO_DECIMALS;

/**
 * Of a raw market; undefined = that is not certain yet. The last prices of a market that is only closed are no
 * payout, unless they are those of a whole one; nor are those of one whose resolution is under way.
 */
export function recordedPayout(market: JsonObject): Payout | undefined {
  const status = market.umaResolutionStatus;
  const isResolved = typeof status === 'string' ? status === RESOLVED_STATUS : undefined;
  const prices = (textList(market.outcomePrices) ?? []).map((price) =>
    scaledDecimal(price, MICRO_DECIMALS),
  );
  if (!hasEnded(market) || isResolved === false || prices.length < 2) return undefined;
  if (!prices.every((price) => price !== undefined && price <= MICRO)) return undefined;
  const paying = prices.filter((price) => price !== 0);
  const isWhole = paying.length === 1 && paying[0] === MICRO;
  if (isWhole) return prices.map((price) => price! / MICRO);
  if (isResolved !== true || paying.length === 0) return undefined;
  return prices.every((price) => price === prices[0]) ? 'void' : weightsOf(prices as number[]);
}

/** In parts of PAYOUT_SUM_MAX. What rounding leaves is the last paying outcome's. */
export function weightsOf(prices: readonly number[]): number[] {
  const sum = prices.reduce((total, price) => total + price, 0);
  const last = prices.findLastIndex((price) => price > 0);
  const weights = prices.map((price) => Math.floor((price / sum) * PAYOUT_SUM_MAX));
  weights[last]! += PAYOUT_SUM_MAX - weights.reduce((total, weight) => total + weight, 0);
  return weights;
}
