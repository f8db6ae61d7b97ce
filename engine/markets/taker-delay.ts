/** Taker delay of a market: a term of its own, for the takers that come. Rules: docs/protocol.md#taker-delay */
import { TakerDelayCommand } from '../commands.ts';
import type { EngineContext } from '../context.ts';
import { RejectReason, type RejectReasonCode } from '../orders/reject-reasons.ts';
import { TAKER_DELAY_MAX } from '../tables/capacities.ts';
import { MARKET_I, Market, State } from '../tables/layout.ts';
import { findMarket } from './markets.ts';

const MS = 1_000;

export function setTakerDelay(
  context: EngineContext,
  i32: Int32Array,
  at: number,
): RejectReasonCode {
  const { marketI, state } = context.t;
  const market = findMarket(context.t, i32, at + TakerDelayCommand.condition);
  if (market === 0) return RejectReason.marketRefused;
  const units = i32[at + TakerDelayCommand.seconds]!;
  const ms = units * context.delayUnitMs;
  if (ms < 0 || ms > TAKER_DELAY_MAX * MS) return RejectReason.takerDelayInvalid;
  context.changes += 1;
  context.mixWord(market);
  context.mixWord(units);
  state[State.takerDelays]! += 1;
  marketI[(market << MARKET_I) + Market.takerDelay] = units;
  return RejectReason.accepted;
}
