/** Flags of a market while a payout of it is proposed: it is not tradable, and knows whether it will be again. */
import { MarketFlag } from '../tables/codes.ts';

/** Flags of a market with a proposal, from those that it has without. */
export function heldFlags(flags: number): number {
  const held = (flags & MarketFlag.tradable) === 0 ? 0 : MarketFlag.held;
  return (flags & ~MarketFlag.tradable) | MarketFlag.proposed | held;
}

/** Flags of a market without a proposal, from those that it has with or without one. */
export function releasedFlags(flags: number): number {
  const isTradable = (flags & MarketFlag.held) !== 0 && (flags & MarketFlag.ended) === 0;
  const others = flags & ~(MarketFlag.proposed | MarketFlag.held);
  return isTradable ? others | MarketFlag.tradable : others;
}
