/** Fee schedule of a market: a term of its own, for the takers that come. Rules: docs/protocol.md#fees */
import { FeeScheduleCommand } from '../commands.ts';
import type { EngineContext } from '../context.ts';
import { agentLeft, agentOfOrder } from '../ledger/agents.ts';
import { delayedCash, freeCash, reserveDelayed } from '../ledger/reservations.ts';
import { delayedIn } from '../orders/delayed.ts';
import { closeOrder, orderStatus } from '../orders/orders.ts';
import { RejectReason, type RejectReasonCode } from '../orders/reject-reasons.ts';
import { EndReason, Status } from '../tables/codes.ts';
import { Flag, MARKET_F, MARKET_I, Market, ORDER_I, Order, State } from '../tables/layout.ts';
import type { AccountRow, MicroShares, OrderRow, TicksPerUnit } from '../tables/units.ts';
import { isSchedule } from '../tables/units.ts';
import { findMarket } from './markets.ts';
import { touchBooks } from './resolve.ts';

export function setFeeSchedule(
  context: EngineContext,
  i32: Int32Array,
  at: number,
): RejectReasonCode {
  const { marketF, marketI, state } = context.t;
  const market = findMarket(context.t, i32, at + FeeScheduleCommand.condition);
  if (market === 0) return RejectReason.marketRefused;
  const offset = market << MARKET_I;
  const rate = i32[at + FeeScheduleCommand.rate]!;
  const exponent = i32[at + FeeScheduleCommand.exponent]!;
  const rebate = i32[at + FeeScheduleCommand.rebate]!;
  const grid = marketI[offset + Market.ticksPerUnit]! as TicksPerUnit;
  if (!isSchedule(grid, rate, exponent, rebate)) return RejectReason.feeScheduleInvalid;
  context.changes += 1;
  context.mixWord(market);
  context.mixWord(rate);
  context.mixWord(exponent);
  context.mixWord(rebate);
  state[State.feeSchedules]! += 1;
  touchBooks(context, market);
  const waiting = delayedIn(context, market);
  const hasLedger = state[State.ledger] !== 0;
  const before = hasLedger
    ? Array.from(waiting, (row) => delayedCash(context.t, row as OrderRow))
    : [];
  if (hasLedger) for (const row of waiting) reserveDelayed(context, row as OrderRow, -1);
  marketI[offset + Market.feeRate] = rate;
  marketI[offset + Market.feeExponent] = rate === 0 ? 0 : exponent;
  marketI[offset + Market.feeRebate] = rate === 0 ? 0 : rebate;
  const minSize = marketF[(market << MARKET_F) + Market.minSize]! as MicroShares;
  context.events.market(market, false, marketI[offset + Market.baseFeeBps]!, minSize);
  if (hasLedger) holdAgain(context, waiting, before);
  return RejectReason.accepted;
}

/**
 * Reserves the money of delayed orders for a new fee, in order of arrival; those that cannot pay it end, and those whose
 * agent may not, the newest first. A fee that falls ends none. `before`: what each has reserved.
 */
function holdAgain(context: EngineContext, waiting: Int32Array, before: readonly number[]): void {
  const { t } = context;
  for (const each of waiting) {
    const row = each as OrderRow;
    const isBuy = (t.orderI[(row << ORDER_I) | Order.flags]! & Flag.sell) === 0;
    const account = t.orderI[(row << ORDER_I) | Order.maker]! as AccountRow;
    const isShort = isBuy && freeCash(t, account) < delayedCash(t, row);
    reserveDelayed(context, row, 1);
    if (isShort) closeOrder(context, row, EndReason.unmatched);
  }
  for (let i = waiting.length - 1; i >= 0; i--) {
    const row = waiting[i]! as OrderRow;
    const hasRisen = delayedCash(t, row) > before[i]!;
    if (hasRisen && exceedsAgent(context, row)) closeOrder(context, row, EndReason.unmatched);
  }
}

/** True for a delayed purchase that, with the others of its agent, reserves more than the agent may spend. */
function exceedsAgent({ t, time }: EngineContext, row: OrderRow): boolean {
  const isPurchase =
    (t.orderI[(row << ORDER_I) | Order.flags]! & (Flag.agent | Flag.sell)) === Flag.agent;
  if (!isPurchase || orderStatus(t, row) !== Status.live) return false;
  return agentLeft(t, agentOfOrder(t, row), time) < 0;
}
