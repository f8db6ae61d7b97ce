/**
 * Reads of the ledger for storage, server and tests: a function for each number, and the walks. Amounts are
 * micro-units. Meaning: docs/ledger.md.
 *
 * Thread: any, under the reader's own rule: what a writer may change meanwhile is read inside a turn that is
 * known to be quiet. Walks end whatever they find.
 */

import { MarketFlag, ResolutionState } from '../tables/codes.ts';
import {
  CASH_F,
  CASH_I,
  Cash,
  HOLDER_F,
  Holder,
  Ledger,
  MARKET_F,
  MARKET_I,
  Market,
  POSITION_F,
  POSITION_I,
  POSITION_LINK_I,
  Position,
  PositionLink,
  RESOLUTION_F,
  RESOLUTION_I,
  Resolution,
  State,
} from '../tables/layout.ts';
import type { Tables } from '../tables/tables.ts';
import type {
  AccountRow,
  MarketRow,
  PositionRow,
  ResolutionRow,
  TokenRow,
} from '../tables/units.ts';
import { weightOf } from './payout.ts';

export function ledgerIsOn({ state }: Pick<Tables, 'state'>): boolean {
  return state[State.ledger] === 1;
}

// Of a wallet. Row 0 of an account or position reads as nothing.

export function cashTotal({ cashF }: Pick<Tables, 'cashF'>, account: AccountRow | 0): number {
  return cashF[(account << CASH_F) + Cash.total]!;
}

export function cashReserved({ cashF }: Pick<Tables, 'cashF'>, account: AccountRow | 0): number {
  return cashF[(account << CASH_F) + Cash.reserved]!;
}

export function sharesTotal(t: Pick<Tables, 'positionF'>, row: PositionRow | 0): number {
  return t.positionF[(row << POSITION_F) + Position.total]!;
}

export function sharesReserved(t: Pick<Tables, 'positionF'>, row: PositionRow | 0): number {
  return t.positionF[(row << POSITION_F) + Position.reserved]!;
}

export function positionToken(t: Pick<Tables, 'positionI'>, row: PositionRow): TokenRow {
  return t.positionI[(row << POSITION_I) + Position.token]! as TokenRow;
}

/** Positions of an account, including those without shares. */
export function positionCount({ cashI }: Pick<Tables, 'cashI'>, account: AccountRow | 0): number {
  return cashI[(account << CASH_I) + Cash.count]!;
}

/** Positions of an account, newest row first. An open BUY holds some without shares. */
export function positionsOf(t: Tables, account: AccountRow | 0): PositionRow[] {
  const rows: PositionRow[] = [];
  const { cashI, positionLinkI } = t;
  const most = cashI[(account << CASH_I) + Cash.count]!;
  let row = cashI[(account << CASH_I) + Cash.head]!;
  while (row !== 0 && rows.length < most) {
    rows.push(row as PositionRow);
    row = positionLinkI[(row << POSITION_LINK_I) + PositionLink.accountNext]!;
  }
  return rows;
}

// Of a market.

/** Collateral of a market's complete sets; while it resolves, the part that is not paid yet. */
export function marketCollateral({ marketF }: Pick<Tables, 'marketF'>, market: MarketRow): number {
  return marketF[(market << MARKET_F) + Market.collateral]!;
}

/** @internal Tests compare the shares with a naive ledger. */
export function venueShares({ holderF }: Pick<Tables, 'holderF'>, token: TokenRow): number {
  return holderF[(token << HOLDER_F) + Holder.venue]!;
}

export interface MarketResolution {
  readonly isDone: boolean;
  readonly isVoid: boolean;
  readonly weights: readonly number[];
  readonly sum: number;
  readonly paid: number;
}

export function resolutionOf(t: Tables, market: MarketRow): MarketResolution | undefined {
  const row = t.marketI[(market << MARKET_I) + Market.resolution]! as ResolutionRow | 0;
  if (row === 0) return undefined;
  return {
    ...payoutAt(t, market, row),
    isDone: t.resolutionI[(row << RESOLUTION_I) + Resolution.state] === ResolutionState.resolved,
    paid: t.resolutionF[(row << RESOLUTION_F) + Resolution.paid]!,
  };
}

function payoutAt(t: Tables, market: MarketRow, row: ResolutionRow) {
  const w = row << RESOLUTION_I;
  const length = t.marketI[(market << MARKET_I) + Market.tokenCount]!;
  return {
    isVoid: t.resolutionI[w + Resolution.isVoid] === 1,
    weights: Array.from({ length }, (_, outcome) => weightOf(t, row, outcome)),
    sum: t.resolutionI[w + Resolution.sum]!,
  };
}

export interface MarketProposal extends Pick<MarketResolution, 'isVoid' | 'sum' | 'weights'> {
  /** Unix milliseconds: the market resolves in the first batch at this time or later. */
  readonly deadline: number;
}

export function proposalOf(t: Tables, market: MarketRow): MarketProposal | undefined {
  const offset = market << MARKET_I;
  if ((t.marketI[offset + Market.flags]! & MarketFlag.proposed) === 0) return undefined;
  const row = t.marketI[offset + Market.proposal]! as ResolutionRow;
  return {
    ...payoutAt(t, market, row),
    deadline: t.resolutionF[(row << RESOLUTION_F) + Resolution.deadline]!,
  };
}

/** Markets with a proposed payout, in the order of their first proposals. */
export function proposedMarkets(t: Tables): MarketRow[] {
  if (t.ledger[Ledger.proposals] === 0) return [];
  return marketsWithPayouts(t).filter((market) => proposalOf(t, market) !== undefined);
}

/** Markets that have resolved, resolve, or had a proposal. */
export function marketsWithPayouts({ ledger, resolutionI }: Tables): MarketRow[] {
  const length = ledger[Ledger.resolutions]!;
  return Array.from(
    { length },
    (_, row) => resolutionI[((row + 1) << RESOLUTION_I) + Resolution.market]! as MarketRow,
  );
}

/** Unix milliseconds of the earliest deadline; 0 = nothing is proposed. */
export function nextDeadline({ ledger }: Pick<Tables, 'ledger'>): number {
  return ledger[Ledger.earliestDeadline]!;
}

export function begunAtDeadline({ ledger }: Pick<Tables, 'ledger'>): number {
  return ledger[Ledger.begunAtDeadline]!;
}

export function isResolving({ ledger }: Pick<Tables, 'ledger'>): boolean {
  return ledger[Ledger.resolving] !== 0;
}

export function nextResolving(t: Tables): MarketRow | 0 {
  const { ledger, resolutionI } = t;
  if (ledger[Ledger.resolving] === 0) return 0;
  for (let row = 1; row <= ledger[Ledger.resolutions]!; row++) {
    const w = row << RESOLUTION_I;
    if (resolutionI[w + Resolution.state] === ResolutionState.resolving) {
      return resolutionI[w + Resolution.market]! as MarketRow;
    }
  }
  return 0;
}

// Of the whole.

/** Stored ids of operators that are texts, including expired ones. */
export function operatorIds({ ledger }: Pick<Tables, 'ledger'>): number {
  return ledger[Ledger.operatorIds]! - ledger[Ledger.firstOperatorId]!;
}

export interface LedgerTotals {
  readonly deposited: number;
  readonly cash: number;
  readonly collateral: number;
  readonly fees: number;
  readonly rounding: number;
  /** Micro-units, always 0 after a batch. */
  readonly imbalance: number;
  readonly entries: number;
  readonly positions: number;
  readonly resolving: number;
  readonly proposals: number;
  /** Seasons whose end has begun. */
  readonly seasons: number;
}

export function ledgerTotals({ ledger }: Pick<Tables, 'ledger'>): LedgerTotals {
  return {
    deposited: ledger[Ledger.deposited]!,
    cash: ledger[Ledger.cash]!,
    collateral: ledger[Ledger.collateral]!,
    fees: ledger[Ledger.fees]!,
    rounding: ledger[Ledger.rounding]!,
    imbalance: ledger[Ledger.imbalance]!,
    entries: ledger[Ledger.entries]!,
    positions: ledger[Ledger.positions]!,
    resolving: ledger[Ledger.resolving]!,
    proposals: ledger[Ledger.proposals]!,
    seasons: ledger[Ledger.seasons]!,
  };
}
