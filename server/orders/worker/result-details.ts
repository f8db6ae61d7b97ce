/**
 * Details of refused orders, beside their code, with RESULT_CODES=on: a text for each reason, and amounts of
 * the tables where a client needs them. Rules: docs/protocol.md#refusal-codes
 *
 * Thread: the worker in its writer turn, right after the refusal: the tables are unchanged since.
 */
import { OrderCommand, OrderFlag } from '../../../engine/commands.ts';
import { agentLeft, findAgent } from '../../../engine/ledger/agents.ts';
import { findPosition } from '../../../engine/ledger/positions.ts';
import {
  cashReserved,
  cashTotal,
  proposalOf,
  resolutionOf,
  sharesReserved,
  sharesTotal,
} from '../../../engine/ledger/reads.ts';
import { findAccount } from '../../../engine/orders/accounts.ts';
import { worstFee } from '../../../engine/orders/place.ts';
import { RejectReason, type RejectReasonCode } from '../../../engine/orders/reject-reasons.ts';
import {
  hasReachedEnd,
  marketEnd,
  marketFeeBps,
  marketFlags,
  marketMinSize,
  marketTicks,
  tokenMarket,
} from '../../../engine/reads.ts';
import { MarketFlag } from '../../../engine/tables/codes.ts';
import { nearestTicks } from '../../../engine/tables/prices.ts';
import type { Tables } from '../../../engine/tables/tables.ts';
import type {
  MarketRow,
  MicroCollateral,
  MicroShares,
  TokenRow,
} from '../../../engine/tables/units.ts';
import { microText } from '../../common/decimal.ts';
import type { RefusalFacts } from '../../common/error-bodies.ts';
import { REFUSALS, type RefusalCode } from '../../common/refusals.ts';

export interface Explanation {
  readonly detail: string;
  readonly facts: RefusalFacts;
  /** `undefined`: the code of the reject reason. */
  readonly code?: RefusalCode;
  /** `errorMsg` with ORDER_TEXTS=polymarket, also without codes; `undefined`: the text of the reason. */
  readonly profileText?: string;
}

const NO_FACTS: RefusalFacts = {};

/**
 * Returns the details; `undefined` where the reason says enough.
 *
 * @param at word of the command
 * @param time of the batch
 */
export function explained(
  tables: Tables,
  reason: RejectReasonCode,
  i32: Int32Array,
  f64: Float64Array,
  at: number,
  time: number,
): Explanation | undefined {
  switch (reason) {
    case RejectReason.notEnough:
      return shortOf(tables, i32, f64, at);
    case RejectReason.agentCash:
      return agentShort(tables, i32, f64, at, time);
    case RejectReason.marketNotReady:
      return { ...whyNotTaken(tables, marketOf(tables, i32, at)), facts: NO_FACTS };
    case RejectReason.sizeBelowMinimum: {
      const least = microText(marketMinSize(tables, marketOf(tables, i32, at)));
      const size = microText(f64[(at >>> 1) + OrderCommand.shares]!);
      return withText(`the market takes orders of ${least} shares or more, this one has ${size}`);
    }
    case RejectReason.tick: {
      const tick = 1 / marketTicks(tables, marketOf(tables, i32, at));
      return withText(
        `the price of the amounts must be a multiple of ${tick} between ${tick} and 1 - ${tick}`,
      );
    }
    case RejectReason.feeBelowBase: {
      const base = marketFeeBps(tables, marketOf(tables, i32, at));
      return withText(`the base fee of the market is ${base}: sign feeRateBps ${base} or more`);
    }
    default:
      return undefined;
  }
}

function shortOf(tables: Tables, i32: Int32Array, f64: Float64Array, at: number): Explanation {
  const account = findAccount(tables, i32, at + OrderCommand.maker);
  const sells = (i32[at + OrderCommand.flags]! & OrderFlag.sell) !== 0;
  if (!sells) {
    const needed = f64[(at >>> 1) + OrderCommand.collateral]!;
    return shortage(
      'collateral',
      needed,
      cashTotal(tables, account),
      cashReserved(tables, account),
    );
  }
  const token = i32[at + OrderCommand.token]! as TokenRow;
  const row = account === 0 ? 0 : findPosition(tables, account, token);
  const needed = f64[(at >>> 1) + OrderCommand.shares]!;
  return shortage('shares', needed, sharesTotal(tables, row), sharesReserved(tables, row));
}

function agentShort(
  tables: Tables,
  i32: Int32Array,
  f64: Float64Array,
  at: number,
  time: number,
): Explanation {
  const wallet = findAccount(tables, i32, at + OrderCommand.maker);
  const agent = findAgent(tables, wallet, i32, at + OrderCommand.signer);
  const collateral = f64[(at >>> 1) + OrderCommand.collateral]! as MicroCollateral;
  const shares = f64[(at >>> 1) + OrderCommand.shares]! as MicroShares;
  const most = Math.max(0, agent === 0 ? 0 : agentLeft(tables, agent, time));
  const market = marketOf(tables, i32, at);
  const grid = marketTicks(tables, market);
  const ticks = nearestTicks(true, collateral, shares, grid);
  // Where the collateral suffices, the order would take, and the fee does not.
  const isShort = collateral > most || ticks === 0;
  const flags = i32[at + OrderCommand.flags]!;
  const fee = isShort ? 0 : worstFee({ t: tables }, flags, market, f64, at, ticks, grid);
  const [needed, left] = [microText(collateral + fee), microText(most)];
  const detail = `${needed} of collateral needed, fee included, ${left} left to the agent for this UTC day`;
  return { detail, facts: { needed, left } };
}

/** @param needed and the others in micro-units */
export function shortage(
  of: 'collateral' | 'shares',
  needed: number,
  total: number,
  reserved: number,
): Explanation {
  const facts = {
    needed: microText(needed),
    free: microText(total - reserved),
    reserved: microText(reserved),
  };
  const detail = `${facts.needed} of ${of} needed, ${facts.free} free, ${facts.reserved} reserved by open orders`;
  return { detail, facts };
}

function withText(detail: string): Explanation {
  return { detail, facts: NO_FACTS };
}

function marketOf(tables: Tables, i32: Int32Array, at: number) {
  return tokenMarket(tables, i32[at + OrderCommand.token]! as TokenRow);
}

interface MarketState {
  readonly code: Extract<RefusalCode, `MARKET_${string}`>;
  readonly holds: (tables: Tables, market: MarketRow) => boolean;
  /** `undefined`: the advice of the code. */
  readonly detail?: (tables: Tables, market: MarketRow) => string;
}

/** The first state that holds is reported; the last one always holds. */
const STATES: readonly MarketState[] = [
  {
    code: 'MARKET_RESOLVED',
    holds: (tables, market) => resolutionOf(tables, market) !== undefined,
    detail: (tables, market) => {
      const { isVoid } = resolutionOf(tables, market)!;
      return `the market ${isVoid ? 'is void' : 'has resolved'}: its payouts are final`;
    },
  },
  {
    code: 'MARKET_PROPOSED',
    holds: (tables, market) => proposalOf(tables, market) !== undefined,
    detail: (tables, market) => {
      const deadline = new Date(proposalOf(tables, market)!.deadline).toISOString();
      return `a payout of the market is proposed and begins at ${deadline}: it takes no orders unless that is taken back`;
    },
  },
  {
    code: 'MARKET_ENDED',
    holds: hasReachedEnd,
    detail: (tables, market) => {
      const end = new Date(marketEnd(tables, market)).toISOString();
      return `the market ended at ${end}: it takes no orders again, and can still resolve`;
    },
  },
  {
    code: 'MARKET_CLOSED',
    holds: (tables, market) => (marketFlags(tables, market) & MarketFlag.ended) !== 0,
  },
  { code: 'MARKET_HALTED', holds: () => true },
];

/** State for which a market takes no orders; also for a reader beside a writer. */
function stateOf(tables: Tables, market: MarketRow): MarketState {
  return STATES.find(({ holds }) => holds(tables, market))!;
}

export function codeOfState(tables: Tables, market: MarketRow): MarketState['code'] {
  return stateOf(tables, market).code;
}

function whyNotTaken(
  tables: Tables,
  market: MarketRow,
): { readonly code: RefusalCode; readonly detail: string } {
  const { code, detail } = stateOf(tables, market);
  return { code, detail: detail?.(tables, market) ?? REFUSALS[code].detail };
}
