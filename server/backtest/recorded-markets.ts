/**
 * The binary markets of a catalog event of a source, with their terms. Other markets have no book here.
 *
 * Pure; any thread.
 */
import type { FeeSchedule } from '../../engine/commands.ts';
import type { TicksPerUnit } from '../../engine/tables/units.ts';
import {
  isObject,
  type JsonObject,
  listOf,
  text,
  textList,
} from '../../storage/catalog/catalog-json.ts';
import { hasEnded, statedDelay, tradingTerms } from '../../storage/catalog/catalog-market.ts';
import { wholeCondition } from '../../storage/catalog/condition-ids.ts';
import { catalogSchedule, NO_FEES } from '../../storage/catalog/fee-schedules.ts';
import { tradedTokens } from '../../storage/catalog/market-form.ts';
import { operatorDelay } from '../../storage/catalog/operator-marks.ts';
import { type Payout, recordedPayout } from '../../storage/catalog/payout.ts';
import type { MarketNames } from './markets.ts';
import type { Market } from './strategy.ts';

export interface MarketTerms {
  readonly ticksPerUnit: TicksPerUnit;
  readonly minSizeMicro: number;
  readonly fees: FeeSchedule;
  /** Milliseconds for which an order waits that would match at once. */
  readonly takerDelayMs: number;
  readonly state: Exclude<Market['state'], 'resolved'>;
}

export interface RecordedMarket extends MarketNames, MarketTerms {
  readonly payout: Payout | undefined;
}

export function recordedMarkets(event: JsonObject): RecordedMarket[] {
  return (listOf(event.markets) ?? [])
    .filter(isObject)
    .flatMap((market) => recordedMarket(market, event) ?? []);
}

function recordedMarket(raw: JsonObject, event: JsonObject): RecordedMarket | undefined {
  const tokens = textList(tradedTokens(raw));
  const outcomes = textList(raw.outcomes);
  const { acceptingOrders, enableOrderBook, minSizeMicro, ticksPerUnit } = tradingTerms(raw, event);
  if (tokens?.length !== 2 || outcomes?.length !== 2) return undefined;
  if (ticksPerUnit === undefined || minSizeMicro === undefined || !enableOrderBook)
    return undefined;
  const isOpen = raw.active !== false && acceptingOrders;
  return {
    id: wholeCondition(text(raw.conditionId)) || text(raw.slug) || String(raw.id),
    question: text(raw.question) || text(raw.slug),
    outcomes,
    tokens,
    ticksPerUnit,
    minSizeMicro,
    fees: usableFees(raw, ticksPerUnit),
    takerDelayMs: 1_000 * (operatorDelay(raw) ?? statedDelay(raw) ?? 0),
    state: hasEnded(raw) ? 'closed' : isOpen ? 'open' : 'halted',
    payout: recordedPayout(raw),
  };
}

function usableFees(raw: JsonObject, ticksPerUnit: TicksPerUnit): FeeSchedule {
  const fees = catalogSchedule(raw, ticksPerUnit);
  return fees === 'unreadable' ? NO_FEES : fees;
}
