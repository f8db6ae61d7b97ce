/**
 * Trading fields of one raw market: its terms, its creator, and the conditions for a book.
 *
 * Pure; any thread. Non-goals: fields that the catalog routes show.
 */
import type { FeeSchedule } from '../../engine/commands.ts';
import { OUTCOMES_MAX, TAKER_DELAY_MAX } from '../../engine/tables/capacities.ts';
import { PIPS_PER_UNIT, TICK_GRIDS, type TicksPerUnit } from '../../engine/tables/units.ts';
import type { Claims, Tally } from './catalog-collect.ts';
import { type MarketField, TOKEN_PATTERN } from './catalog-fields.ts';
import {
  type JsonObject,
  present,
  scaledDecimal,
  text,
  textList,
  walletOf,
} from './catalog-json.ts';
import { conditionKey } from './condition-ids.ts';
import { catalogSchedule } from './fee-schedules.ts';
import { tokenMember } from './market-form.ts';
import {
  isResolved,
  operatorDelay,
  operatorEnd,
  operatorFee,
  operatorSchedule,
  proposalIn,
} from './operator-marks.ts';

export interface CatalogMarket {
  readonly id: string;
  readonly question: string;
  /** `0x` and 64 lower-case hex digits. */
  readonly conditionId: string;
  readonly slug: string;
  readonly icon: string;
  readonly outcomes: readonly string[];
  /** Decimal uint256 texts, one per outcome, in the order of the outcomes. */
  readonly tokenIds: readonly string[];
  readonly ticksPerUnit: TicksPerUnit;
  /** Micro-shares, at least 1. */
  readonly minSizeMicro: number;
  readonly negRisk: boolean;
  /**
   * True: active, and not closed, archived, or barred from orders (docs/protocol.md#market-terms).
   */
  readonly tradable: boolean;
  readonly ended: boolean;
  /** Base fee of takers in basis points; absent unless an operator has set it. */
  readonly feeBps?: number;
  /** Taker delay in seconds; absent unless an operator has set it. */
  readonly takerDelay?: number;
  /** Taker delay in seconds as the catalog's source states it (TAKER_DELAYS); absent where it is none. */
  readonly statedDelay?: number;
  /** Fee schedule, absent unless an operator has set it; and the one that the catalog states, absent without one. */
  readonly fees?: FeeSchedule;
  readonly statedFees?: FeeSchedule;
  /** Unix milliseconds from which it takes no orders, 0 = never; absent unless an operator has set it. */
  readonly end?: number;
  readonly resolved?: true;
  /** Deadline in unix milliseconds of a proposal that the catalog states. */
  readonly proposed?: number;
  readonly eventId: string;
  readonly eventSlug: string;
}

/** Terms in effect, with defaults; `undefined` where the raw value cannot be read. */
export interface TradingTerms {
  readonly negRisk: boolean;
  /** From `orderPriceMinTickSize`; 100 when absent (docs/protocol.md#units). */
  readonly ticksPerUnit: TicksPerUnit | undefined;
  /** Micro-shares, at least 1, from `orderMinSize`; 5 shares when absent (docs/protocol.md#units). */
  readonly minSizeMicro: number | undefined;
  readonly acceptingOrders: boolean;
  readonly enableOrderBook: boolean;
}

const DEFAULT_TICK_SIZE = '0.01';
const DEFAULT_MIN_SIZE = '5';
/** 78 digits: texts of this length compare like the numbers. */
const TOKEN_END = String(2n ** 256n);
const TICKS_PER_UNIT = new Map<number | undefined, TicksPerUnit>(
  TICK_GRIDS.map((grid) => [PIPS_PER_UNIT / grid, grid]),
);

export function tradingTerms(market: JsonObject, event: JsonObject): TradingTerms {
  return {
    negRisk: negRiskOf(market, event),
    ticksPerUnit: readTicksPerUnit(market.orderPriceMinTickSize),
    minSizeMicro: readMinSizeMicro(market.orderMinSize),
    acceptingOrders: market.acceptingOrders !== false,
    enableOrderBook: market.enableOrderBook !== false,
  };
}

export function negRiskOf(market: JsonObject, event: JsonObject): boolean {
  return typeof market.negRisk === 'boolean' ? market.negRisk : event.negRisk === true;
}

/**
 * Creator wallet of a raw market in lower case: its `creator` or `submitted_by`, else the event's;
 * '' when none is a wallet (docs/protocol.md#creator-filter).
 */
export function creatorOf(market: JsonObject, event: JsonObject): string {
  return (
    walletOf(market.creator) ??
    walletOf(market.submitted_by) ??
    walletOf(event.creator) ??
    walletOf(event.submitted_by) ??
    ''
  );
}

export function conditionIdOf(market: JsonObject): string | undefined {
  return conditionKey(text(market.conditionId).trim());
}

/**
 * Returns true for a closed or archived raw market, whose orders are cancelled
 * (docs/protocol.md#market-terms).
 */
export function hasEnded(market: JsonObject): boolean {
  return market.closed === true || market.archived === true;
}

/**
 * Reads the trading fields of a raw market; `undefined` (and counted) when it cannot have a book.
 */
export function readMarket(
  raw: JsonObject,
  event: JsonObject,
  claims: Claims,
  tally: Tally,
): CatalogMarket | undefined {
  const id = String(raw.id);
  const conditionId = conditionIdOf(raw);
  const member = tokenMember(raw);
  const tokenIds = textList(raw[member]);
  const hasTokens = tokenIds !== undefined && tokenIds.length > 0 && tokenIds.every(isTokenId);
  // A market without a book still owns its ids: no other market may trade under them.
  if (conditionId !== undefined) claims.condition(conditionId, id);
  if (hasTokens) claims.tokens(tokenIds, id);

  const { negRisk, ticksPerUnit, minSizeMicro, ...switches } = tradingTerms(raw, event);
  const outcomes = textList(raw.outcomes);
  const without = (field: MarketField, reason: string): undefined =>
    tally.add(`markets ${reason}: no book`, id, field);
  if (raw[member] == null || tokenIds?.length === 0) {
    return without(member, 'without token ids');
  }
  if (!hasTokens) return without(member, 'with unreadable token ids');
  if (conditionId === undefined) return without('conditionId', 'without a 32-byte condition id');
  if (outcomes?.length !== tokenIds.length || outcomes.length < 2) {
    return without('outcomes', 'whose outcomes and token ids do not pair up');
  }
  if (outcomes.length > OUTCOMES_MAX) {
    return without('outcomes', `with over ${OUTCOMES_MAX} outcomes`);
  }
  if (new Set(tokenIds).size < tokenIds.length) {
    return without(member, 'that list one token id twice');
  }
  if (ticksPerUnit === undefined) {
    return without('orderPriceMinTickSize', 'with an unknown tick size');
  }
  if (minSizeMicro === undefined) {
    return without('orderMinSize', 'with an unreadable minimum size');
  }
  const ended = hasEnded(raw);
  return {
    id,
    question: text(raw.question),
    conditionId,
    slug: text(raw.slug),
    icon: text(raw.icon),
    outcomes,
    tokenIds,
    ticksPerUnit,
    minSizeMicro,
    negRisk,
    tradable: raw.active === true && !ended && switches.acceptingOrders && switches.enableOrderBook,
    ended,
    ...marksOf(raw),
    ...present({ statedFees: statedFees(raw, ticksPerUnit, id, tally) }),
    eventId: String(event.id),
    eventSlug: text(event.slug),
  };
}

function statedFees(
  raw: JsonObject,
  ticksPerUnit: TicksPerUnit,
  id: string,
  tally: Tally,
): FeeSchedule | undefined {
  const fees = catalogSchedule(raw, ticksPerUnit);
  if (fees === 'unreadable') return tally.add('markets with an unusable fee schedule: no fees', id);
  return fees.rate === 0 ? undefined : fees;
}

type Marks = Pick<
  CatalogMarket,
  'feeBps' | 'fees' | 'takerDelay' | 'statedDelay' | 'end' | 'resolved' | 'proposed'
>;

function marksOf(raw: JsonObject): Marks {
  const proposal = proposalIn(raw);
  return present({
    feeBps: operatorFee(raw),
    takerDelay: operatorDelay(raw),
    statedDelay: statedDelay(raw),
    fees: operatorSchedule(raw),
    end: operatorEnd(raw),
    resolved: isResolved(raw) || undefined,
    proposed: proposal && Date.parse(proposal.umaEndDate),
  });
}

function readTicksPerUnit(value: unknown): TicksPerUnit | undefined {
  return TICKS_PER_UNIT.get(scaledDecimal(orDefault(value, DEFAULT_TICK_SIZE), 4));
}

function readMinSizeMicro(value: unknown): number | undefined {
  const micro = scaledDecimal(orDefault(value, DEFAULT_MIN_SIZE), 6);
  // Without a minimum the smallest possible order is allowed.
  return micro === 0 ? 1 : micro;
}

/** Seconds of the taker delay of a raw market. One that is no whole number of seconds in bounds is none. */
export function statedDelay({ secondsDelay }: JsonObject): number | undefined {
  const seconds = Number.isInteger(secondsDelay) ? Number(secondsDelay) : 0;
  return seconds > 0 && seconds <= TAKER_DELAY_MAX ? seconds : undefined;
}

function orDefault(value: unknown, fallback: string): unknown {
  return value == null || value === '' ? fallback : value;
}

export function isTokenId(value: string): boolean {
  return TOKEN_PATTERN.test(value) && (value.length < TOKEN_END.length || value < TOKEN_END);
}
