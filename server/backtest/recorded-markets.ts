/**
 * The binary markets of an event of a source's catalog, with what trading needs. Others have no book here.
 *
 * Pure; any thread.
 */
import type { TicksPerUnit } from '../../engine/tables/units.ts';
import {
  isObject,
  type JsonObject,
  listOf,
  text,
  textList,
} from '../../storage/catalog/catalog-json.ts';
import { hasEnded, tradingTerms } from '../../storage/catalog/catalog-market.ts';
import { RESOLVED_STATUS } from '../../storage/catalog/operator-marks.ts';
import type { MarketNames } from './markets.ts';
import type { Market } from './strategy.ts';

export interface MarketTerms {
  readonly ticksPerUnit: TicksPerUnit;
  readonly minSizeMicro: number;
  readonly state: Exclude<Market['state'], 'resolved'>;
}

export interface RecordedMarket extends MarketNames, MarketTerms {
  /** Weights of the outcomes, once that is certain. */
  readonly payout: readonly number[] | undefined;
}

export function recordedMarkets(event: JsonObject): RecordedMarket[] {
  return (listOf(event.markets) ?? [])
    .filter(isObject)
    .flatMap((market) => recordedMarket(market, event) ?? []);
}

function recordedMarket(raw: JsonObject, event: JsonObject): RecordedMarket | undefined {
  const tokens = textList(raw.clobTokenIds);
  const outcomes = textList(raw.outcomes);
  const { acceptingOrders, enableOrderBook, minSizeMicro, ticksPerUnit } = tradingTerms(raw, event);
  if (tokens?.length !== 2 || outcomes?.length !== 2) return undefined;
  if (ticksPerUnit === undefined || minSizeMicro === undefined || !enableOrderBook)
    return undefined;
  const isOpen = raw.active !== false && acceptingOrders;
  return {
    id: text(raw.conditionId) || text(raw.slug) || String(raw.id),
    question: text(raw.question) || text(raw.slug),
    outcomes,
    tokens,
    ticksPerUnit,
    minSizeMicro,
    state: hasEnded(raw) ? 'closed' : isOpen ? 'open' : 'halted',
    payout: payoutOf(raw),
  };
}

/** The last prices of a market that is only closed are no payout, unless they are those of a whole one. */
function payoutOf(raw: JsonObject): number[] | undefined {
  if (!hasEnded(raw)) return undefined;
  const prices = textList(raw.outcomePrices)?.map(Number);
  if (prices?.length !== 2 || !prices.every((price) => price >= 0 && price <= 1)) return undefined;
  const isWhole = prices.includes(1) && prices.includes(0);
  const isResolved = text(raw.umaResolutionStatus) === RESOLVED_STATUS;
  return isWhole || (isResolved && prices[0]! + prices[1]! > 0) ? prices : undefined;
}
