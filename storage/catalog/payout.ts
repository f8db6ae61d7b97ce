/**
 * Payout of a market as the catalog of a source states it.
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
 * Payout of a raw market; `undefined` while it is not certain. Last prices of a market that is only
 * closed count if one outcome pays all; those of a pending resolution never count.
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

/** Returns weights in parts of PAYOUT_SUM_MAX; the last paying outcome gets the rounding rest. */
export function weightsOf(prices: readonly number[]): number[] {
  const sum = prices.reduce((total, price) => total + price, 0);
  const last = prices.findLastIndex((price) => price > 0);
  const weights = prices.map((price) => Math.floor((price / sum) * PAYOUT_SUM_MAX));
  weights[last]! += PAYOUT_SUM_MAX - weights.reduce((total, weight) => total + weight, 0);
  return weights;
}
