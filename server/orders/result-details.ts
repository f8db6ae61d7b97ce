/**
 * Details of refused orders, beside their code, with RESULT_CODES=on: a text for each reason, and amounts of the
 * tables where a client needs them. Rules: docs/protocol.md#refusal-codes
 *
 * Thread: the worker in its apply turn, right after the refusal: the tables are as they were for it.
 */
import { OrderCommand, OrderFlag } from '../../engine/commands.ts';
import { findPosition } from '../../engine/ledger/positions.ts';
import { cashReserved, cashTotal, sharesReserved, sharesTotal } from '../../engine/ledger/reads.ts';
import { findAccount } from '../../engine/orders/accounts.ts';
import { RejectReason, type RejectReasonCode } from '../../engine/orders/reject-reasons.ts';
import { marketFeeBps, marketMinSize, marketTicks, tokenMarket } from '../../engine/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { TokenRow } from '../../engine/tables/units.ts';
import { microText } from '../common/decimal.ts';
import { detailOf, type RefusalFacts, refusalCode } from '../common/error-bodies.ts';
import type { RefusalCode } from '../common/refusals.ts';
import { whyNotTaken } from './market-states.ts';
import { REJECT_TEXTS } from './reject-texts.ts';

export interface Explanation {
  readonly detail: string;
  /** Members for programs. */
  readonly facts: RefusalFacts;
  /** Undefined: that of the text. */
  readonly code?: RefusalCode;
}

const NO_FACTS: RefusalFacts = {};
/** Reasons that share their code with others, and mean something of their own. */
const OWN_DETAILS: Partial<Record<RejectReasonCode, string>> = {
  [RejectReason.binding]:
    'another key signs for this wallet, or none was declared for it: the operator declares who signs',
  [RejectReason.tooManyWallets]: 'the signer has as many wallets as WALLETS_PER_SIGNER allows',
  [RejectReason.tableFull]: 'a table of the node is full: open orders, wallets or positions',
};

/** Returns the detail of a reason where nothing of the tables is known. */
export function detailOfReason(reason: Exclude<RejectReasonCode, 0>): string {
  return OWN_DETAILS[reason] ?? detailOf(refusalCode(REJECT_TEXTS[reason]))!;
}

/** Returns undefined where the reason says all that is known. @param at the order's command */
export function explained(
  t: Tables,
  reason: RejectReasonCode,
  i32: Int32Array,
  f64: Float64Array,
  at: number,
): Explanation | undefined {
  switch (reason) {
    case RejectReason.notEnough:
      return shortOf(t, i32, f64, at);
    case RejectReason.marketNotReady:
      return { ...whyNotTaken(t, marketOf(t, i32, at)), facts: NO_FACTS };
    case RejectReason.sizeBelowMinimum: {
      const least = microText(marketMinSize(t, marketOf(t, i32, at)));
      const size = microText(f64[(at >>> 1) + OrderCommand.shares]!);
      return withText(`the market takes orders of ${least} shares or more, this one has ${size}`);
    }
    case RejectReason.tick: {
      const tick = 1 / marketTicks(t, marketOf(t, i32, at));
      return withText(
        `the price of the amounts must be a multiple of ${tick} between ${tick} and 1 - ${tick}`,
      );
    }
    case RejectReason.feeBelowBase: {
      const base = marketFeeBps(t, marketOf(t, i32, at));
      return withText(`the base fee of the market is ${base}: sign feeRateBps ${base} or more`);
    }
    default:
      return undefined;
  }
}

/** Cash for a BUY, shares for a SELL. */
function shortOf(t: Tables, i32: Int32Array, f64: Float64Array, at: number): Explanation {
  const account = findAccount(t, i32, at + OrderCommand.maker);
  const sells = (i32[at + OrderCommand.flags]! & OrderFlag.sell) !== 0;
  if (!sells) {
    const needed = f64[(at >>> 1) + OrderCommand.collateral]!;
    return shortage('collateral', needed, cashTotal(t, account), cashReserved(t, account));
  }
  const token = i32[at + OrderCommand.token]! as TokenRow;
  const row = account === 0 ? 0 : findPosition(t, account, token);
  const needed = f64[(at >>> 1) + OrderCommand.shares]!;
  return shortage('shares', needed, sharesTotal(t, row), sharesReserved(t, row));
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

function marketOf(t: Tables, i32: Int32Array, at: number) {
  return tokenMarket(t, i32[at + OrderCommand.token]! as TokenRow);
}
