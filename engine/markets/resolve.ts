/**
 * Resolution of a market: its payout is entered once, then steps end open orders and pay holders. The remaining
 * work follows from the tables: orders in its books, then rows in the lists of its tokens. Not here: proposals
 * (proposals.ts). Rules: docs/ledger.md#resolution
 */
import { assert, NO_LEVEL, Side } from '../book/matching.ts';
import { CommandKind, RequestFlag, ResolveCommand, ResolveStepCommand } from '../commands.ts';
import type { EngineContext } from '../context.ts';
import { addCost } from '../ledger/exposure.ts';
import { payoutOf, setWeight, weightOf } from '../ledger/payout.ts';
import { dropPosition, findPosition } from '../ledger/positions.ts';
import { checkRequest, enterRequest, findRequest } from '../ledger/requests.ts';
import { closeOrder } from '../orders/orders.ts';
import { RejectReason, type RejectReasonCode } from '../orders/reject-reasons.ts';
import { settleMarket } from '../orders/unsettled.ts';
import { PAYOUT_SUM_MAX } from '../tables/capacities.ts';
import { EndReason, EntryCause, ID_WORDS, MarketFlag, ResolutionState } from '../tables/codes.ts';
import {
  CASH_F,
  Cash,
  HOLDER_F,
  HOLDER_I,
  Holder,
  Ledger,
  MARKET_F,
  MARKET_I,
  Market,
  POSITION_F,
  POSITION_I,
  Position,
  RESOLUTION_F,
  RESOLUTION_I,
  Resolution,
  State,
} from '../tables/layout.ts';
import type { Tables } from '../tables/tables.ts';
import type {
  AccountRow,
  BookRow,
  MarketRow,
  OrderRow,
  PositionRow,
  ResolutionRow,
  TokenRow,
} from '../tables/units.ts';
import { dropEnd, endDelayed } from './ends.ts';
import { releasedFlags } from './held-flags.ts';

const SIDES = [Side.bid, Side.ask] as const;

export function resolveMarket(
  context: EngineContext,
  i32: Int32Array,
  f64: Float64Array,
  at: number,
): RejectReasonCode {
  const { t } = context;
  if (t.state[State.ledger] === 0) return RejectReason.ledgerOff;
  const market = knownMarket(t, i32[at + ResolveCommand.market]!);
  const found = findRequest(t, i32, f64, at, context.time);
  if (found !== undefined) {
    const isOfIt = found.kind === CommandKind.resolve && found.subject === -market;
    const isSame = isOfIt && market !== 0 && sayTheSame(t, market, i32, at);
    return isSame ? RejectReason.idRepeated : RejectReason.idConflict;
  }
  const fault = checkRequest(context, i32, f64, at);
  if (fault !== undefined) return RejectReason[fault];
  if (market === 0) return RejectReason.marketUnknown;
  if (!isPayout(t, market, i32, at)) return RejectReason.payoutInvalid;
  const isResolved = t.marketI[(market << MARKET_I) + Market.resolution] !== 0;
  if (isResolved) {
    return sayTheSame(t, market, i32, at) ? RejectReason.accepted : RejectReason.marketResolved;
  }
  if (isProposed(t, market)) return RejectReason.marketProposed;
  if (groupHasWinner(t, i32, at)) return RejectReason.groupHasWinner;
  context.changes += 1;
  context.mixWord(i32[at]!);
  for (let w = 0; w < i32[at + ResolveCommand.count]!; w++) {
    context.mixWord(i32[at + ResolveCommand.weights + w]!);
  }
  beginResolution(context, market, enterPayout(t, market, i32, at), false);
  // Its subject is negative, so that it is no wallet's.
  enterRequest(context, i32, f64, at, { subject: -market, other: 0, amount: 0, result: 0 });
  return RejectReason.accepted;
}

export function knownMarket(t: Tables, named: number): MarketRow | 0 {
  return (named > 0 && named <= t.state[State.markets]! ? named : 0) as MarketRow | 0;
}

/** True when a command gives each outcome a weight, and their sum is a valid divisor. */
export function isPayout(t: Tables, market: MarketRow, i32: Int32Array, at: number): boolean {
  const count = i32[at + ResolveCommand.count]!;
  if (count !== t.marketI[(market << MARKET_I) + Market.tokenCount]) return false;
  const first = i32[at + ResolveCommand.weights]!;
  const isVoid = (i32[at + ResolveCommand.flags]! & RequestFlag.isVoid) !== 0;
  let sum = 0;
  for (let i = 0; i < count; i++) {
    const weight = i32[at + ResolveCommand.weights + i]!;
    if (weight < 0 || (isVoid && weight !== first)) return false;
    sum += weight;
  }
  return sum >= 1 && sum <= PAYOUT_SUM_MAX;
}

function sayTheSame(t: Tables, market: MarketRow, i32: Int32Array, at: number): boolean {
  const row = t.marketI[(market << MARKET_I) + Market.resolution]! as ResolutionRow;
  const w = row << RESOLUTION_I;
  const isVoid = (i32[at + ResolveCommand.flags]! & RequestFlag.isVoid) === 0 ? 0 : 1;
  if (t.resolutionI[w + Resolution.isVoid] !== isVoid) return false;
  const count = t.marketI[(market << MARKET_I) + Market.tokenCount]!;
  if (i32[at + ResolveCommand.count] !== count) return false;
  for (let i = 0; i < count; i++) {
    if (i32[at + ResolveCommand.weights + i] !== weightOf(t, row, i)) return false;
  }
  return true;
}

export function isProposed({ marketI }: Tables, market: MarketRow): boolean {
  return (marketI[(market << MARKET_I) + Market.flags]! & MarketFlag.proposed) !== 0;
}

/** True when the command would give its group a second winner. Proposed winners count. */
export function groupHasWinner(t: Tables, i32: Int32Array, at: number): boolean {
  const group = at + ResolveCommand.group;
  let hasGroup = false;
  for (let w = 0; w < ID_WORDS; w++) if (i32[group + w] !== 0) hasGroup = true;
  let sum = 0;
  for (let i = 0; i < i32[at + ResolveCommand.count]!; i++) {
    sum += i32[at + ResolveCommand.weights + i]!;
  }
  if (!hasGroup || i32[at + ResolveCommand.weights] !== sum) return false;
  for (let row = 1; row <= t.ledger[Ledger.resolutions]!; row++) {
    const offset = (row << RESOLUTION_I) + Resolution.group;
    let isOther =
      t.resolutionI[(row << RESOLUTION_I) + Resolution.state] === ResolutionState.withdrawn;
    for (let w = 0; w < ID_WORDS; w++) {
      if (t.resolutionI[offset + w] !== i32[group + w]) isOther = true;
    }
    const whole = t.resolutionI[(row << RESOLUTION_I) + Resolution.sum];
    if (!isOther && weightOf(t, row as ResolutionRow, 0) === whole) return true;
  }
  return false;
}

/** Enters the payout of a command. Returns its row, which an earlier proposal may have made. */
export function enterPayout(
  t: Tables,
  market: MarketRow,
  i32: Int32Array,
  at: number,
): ResolutionRow {
  const { ledger, marketI, resolutionI } = t;
  const before = marketI[(market << MARKET_I) + Market.proposal]! as ResolutionRow | 0;
  const row = before === 0 ? ((ledger[Ledger.resolutions]! + 1) as ResolutionRow) : before;
  if (before === 0) ledger[Ledger.resolutions] = row;
  const w = row << RESOLUTION_I;
  resolutionI.fill(0, w, w + (1 << RESOLUTION_I));
  let sum = 0;
  for (let i = 0; i < i32[at + ResolveCommand.count]!; i++) {
    const weight = i32[at + ResolveCommand.weights + i]!;
    sum += weight;
    setWeight(t, row, i, weight);
  }
  resolutionI[w + Resolution.market] = market;
  resolutionI[w + Resolution.isVoid] =
    (i32[at + ResolveCommand.flags]! & RequestFlag.isVoid) === 0 ? 0 : 1;
  resolutionI[w + Resolution.sum] = sum;
  for (let i = 0; i < ID_WORDS; i++) {
    resolutionI[w + Resolution.group + i] = i32[at + ResolveCommand.group + i]!;
  }
  return row;
}

export function beginResolution(
  context: EngineContext,
  market: MarketRow,
  row: ResolutionRow,
  isAtDeadline: boolean,
): void {
  const { ledger, marketI, resolutionI } = context.t;
  const offset = market << MARKET_I;
  settleMarket(context, market);
  ledger[Ledger.resolving]! += 1;
  resolutionI[(row << RESOLUTION_I) + Resolution.state] = ResolutionState.resolving;
  touchBooks(context, market);
  dropEnd(context, market);
  marketI[offset + Market.resolution] = row;
  const flags = releasedFlags(marketI[offset + Market.flags]!);
  marketI[offset + Market.flags] = (flags & ~MarketFlag.tradable) | MarketFlag.ended;
  endDelayed(context, market, EndReason.resolved);
  context.events.resolved(market, ResolutionState.resolving, isAtDeadline);
}

export function touchBooks(context: EngineContext, market: MarketRow): void {
  const { marketI } = context.t;
  const first = marketI[(market << MARKET_I) + Market.firstBook]!;
  const end = first + marketI[(market << MARKET_I) + Market.bookCount]!;
  for (let book = first; book < end; book++) context.touch(book as BookRow);
}

/** Applies one step: up to `limit` orders end; without orders, up to `limit` wallets are paid. */
export function resolveStep(context: EngineContext, i32: Int32Array, at: number): RejectReasonCode {
  const { t } = context;
  if (t.state[State.ledger] === 0) return RejectReason.ledgerOff;
  const market = knownMarket(t, i32[at + ResolveStepCommand.market]!);
  if (market === 0) return RejectReason.marketUnknown;
  const row = t.marketI[(market << MARKET_I) + Market.resolution]! as ResolutionRow | 0;
  if (row === 0) return RejectReason.marketUnknown;
  const state = t.resolutionI[(row << RESOLUTION_I) + Resolution.state];
  if (state === ResolutionState.resolved) return RejectReason.accepted;
  context.changes += 1;
  context.mixWord(market);
  const limit = Math.max(1, i32[at + ResolveStepCommand.limit]!);
  if (endOrders(context, market, limit)) return RejectReason.accepted;
  if (payHolders(context, market, row, limit)) return RejectReason.accepted;
  finish(context, market, row);
  return RejectReason.accepted;
}

function endOrders(context: EngineContext, market: MarketRow, limit: number): boolean {
  const { marketI, matching } = context.t;
  const firstBook = marketI[(market << MARKET_I) + Market.firstBook]!;
  const endBook = firstBook + marketI[(market << MARKET_I) + Market.bookCount]!;
  let left = limit;
  for (let book = firstBook; book < endBook; book++) {
    for (const side of SIDES) {
      for (;;) {
        const level = matching.best(book, side);
        if (level === NO_LEVEL) break;
        if (left === 0) return true;
        const order = matching.userData(matching.first(book, level)) as OrderRow;
        closeOrder(context, order, EndReason.resolved);
        left -= 1;
      }
    }
  }
  return left < limit;
}

/** Pays wallets, each for all its shares in the market. Returns false when there was none. */
function payHolders(
  context: EngineContext,
  market: MarketRow,
  row: ResolutionRow,
  limit: number,
): boolean {
  const { t } = context;
  const first = t.marketI[(market << MARKET_I) + Market.firstToken]!;
  const end = first + t.marketI[(market << MARKET_I) + Market.tokenCount]!;
  let left = limit;
  for (let token = first; token < end; token++) {
    for (;;) {
      const head = t.holderI[(token << HOLDER_I) + Holder.head]! as PositionRow | 0;
      if (head === 0) break;
      if (left === 0) return true;
      const account = t.positionI[(head << POSITION_I) + Position.account]! as AccountRow;
      for (let outcome = 0; first + outcome < end; outcome++) {
        pay(context, market, row, account, outcome);
      }
      left -= 1;
    }
  }
  return left < limit;
}

function pay(
  context: EngineContext,
  market: MarketRow,
  row: ResolutionRow,
  account: AccountRow,
  outcome: number,
): void {
  const { t } = context;
  const { cashF, ledger, positionF, resolutionF } = t;
  const token = (t.marketI[(market << MARKET_I) + Market.firstToken]! + outcome) as TokenRow;
  const position = findPosition(t, account, token);
  if (position === 0) return;
  const d = position << POSITION_F;
  const shares = positionF[d + Position.total]!;
  assert(positionF[d + Position.reserved] === 0, 'no order of a market is open when it pays');
  const paid = payoutOf(t, row, outcome, shares);
  positionF[d + Position.total] = 0;
  addCost(t, account, position, -paid);
  cashF[(account << CASH_F) + Cash.total]! += paid;
  ledger[Ledger.cash]! += paid;
  takeCollateral(t, market, paid);
  resolutionF[(row << RESOLUTION_F) + Resolution.paid]! += paid;
  context.mix(paid);
  const entry = ledger[Ledger.entries]!;
  ledger[Ledger.entries] = entry + 1;
  context.events.entry(t, EntryCause.redeem, account, position, token, entry, row, paid, -shares);
  dropPosition(t, position);
}

function takeCollateral(t: Tables, market: MarketRow, amount: number): void {
  t.marketF[(market << MARKET_F) + Market.collateral]! -= amount;
  t.ledger[Ledger.collateral]! -= amount;
}

function finish(context: EngineContext, market: MarketRow, row: ResolutionRow): void {
  const { t } = context;
  const { holderF, ledger, marketF, resolutionI } = t;
  const first = t.marketI[(market << MARKET_I) + Market.firstToken]!;
  const count = t.marketI[(market << MARKET_I) + Market.tokenCount]!;
  let paid = 0;
  for (let outcome = 0; outcome < count; outcome++) {
    const at = ((first + outcome) << HOLDER_F) + Holder.venue;
    paid += payoutOf(t, row, outcome, holderF[at]!);
    holderF[at] = 0;
  }
  const rest = marketF[(market << MARKET_F) + Market.collateral]!;
  assert(rest >= paid, 'a market can pay what it owes');
  ledger[Ledger.fees]! += paid;
  ledger[Ledger.rounding]! += rest - paid;
  takeCollateral(t, market, rest);
  resolutionI[(row << RESOLUTION_I) + Resolution.state] = ResolutionState.resolved;
  ledger[Ledger.resolving]! -= 1;
  context.events.resolved(market, ResolutionState.resolved, false);
}
