/**
 * Why a market takes no orders: one code and detail for each state, beside the text that all of them share.
 * Rules: docs/protocol.md#refusal-codes
 *
 * Thread: the worker in its apply turn, right after the refusal.
 */
import { proposalOf, resolutionOf } from '../../engine/ledger/reads.ts';
import { hasReachedEnd, marketEnd, marketFlags } from '../../engine/reads.ts';
import { MarketFlag } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { MarketRow } from '../../engine/tables/units.ts';
import { detailOf } from '../common/error-bodies.ts';
import type { RefusalCode } from '../common/refusals.ts';

interface MarketState {
  readonly code: RefusalCode;
  readonly holds: (t: Tables, market: MarketRow) => boolean;
  /** Undefined: that of the code. */
  readonly detail?: (t: Tables, market: MarketRow) => string;
}

/** The first one that holds is told; the last one always does. */
const STATES: readonly MarketState[] = [
  {
    code: 'MARKET_RESOLVED',
    holds: (t, market) => resolutionOf(t, market) !== undefined,
    detail: (t, market) => {
      const { isVoid } = resolutionOf(t, market)!;
      return `the market ${isVoid ? 'is void' : 'has resolved'}: its payouts are final`;
    },
  },
  {
    code: 'MARKET_PROPOSED',
    holds: (t, market) => proposalOf(t, market) !== undefined,
    detail: (t, market) => {
      const deadline = new Date(proposalOf(t, market)!.deadline).toISOString();
      return `a payout of the market is proposed and begins at ${deadline}: it takes no orders unless that is taken back`;
    },
  },
  {
    code: 'MARKET_ENDED',
    holds: hasReachedEnd,
    detail: (t, market) => {
      const end = new Date(marketEnd(t, market)).toISOString();
      return `the market ended at ${end}: it takes no orders again, and can still resolve`;
    },
  },
  {
    code: 'MARKET_CLOSED',
    holds: (t, market) => (marketFlags(t, market) & MarketFlag.ended) !== 0,
  },
  { code: 'MARKET_HALTED', holds: () => true },
];

/** @param market one that takes no orders */
export function whyNotTaken(
  t: Tables,
  market: MarketRow,
): { readonly code: RefusalCode; readonly detail: string } {
  const { code, detail } = STATES.find(({ holds }) => holds(t, market))!;
  return { code, detail: detail?.(t, market) ?? detailOf(code)! };
}
