/** Flags of a market with a proposed payout: not tradable, with the flag that it has after a withdrawal. */
import { MarketFlag } from '../tables/codes.ts';

export function heldFlags(flags: number): number {
  const held = (flags & MarketFlag.tradable) === 0 ? 0 : MarketFlag.held;
  return (flags & ~MarketFlag.tradable) | MarketFlag.proposed | held;
}

/** Flags of a market without a proposal, from either. */
export function releasedFlags(flags: number): number {
  const isTradable = (flags & MarketFlag.held) !== 0 && (flags & MarketFlag.ended) === 0;
  const others = flags & ~(MarketFlag.proposed | MarketFlag.held);
  return isTradable ? others | MarketFlag.tradable : others;
}
