/**
 * Proposed payouts: the market halts at once, and resolves in the first batch at or after the deadline unless the
 * proposal is withdrawn. A market has at most one row of resolutions, shared by its proposals and its resolution.
 * Rules: docs/ledger.md#proposals
 */
import { CommandKind, RequestFlag, ResolveCommand, WithdrawProposalCommand } from '../commands.ts';
import type { EngineContext } from '../context.ts';
import { checkRequest, enterRequest, findRequest } from '../ledger/requests.ts';
import { RejectReason, type RejectReasonCode } from '../orders/reject-reasons.ts';
import { REVIEW_MS_MAX } from '../tables/capacities.ts';
import { ResolutionState } from '../tables/codes.ts';
import {
  Ledger,
  MARKET_I,
  Market,
  RESOLUTION_F,
  RESOLUTION_I,
  Resolution,
  State,
} from '../tables/layout.ts';
import type { Tables } from '../tables/tables.ts';
import type { MarketRow, ResolutionRow } from '../tables/units.ts';
import { heldFlags, releasedFlags } from './held-flags.ts';
import {
  beginResolution,
  enterPayout,
  groupHasWinner,
  isPayout,
  isProposed,
  knownMarket,
  touchBooks,
} from './resolve.ts';

export function proposePayout(
  context: EngineContext,
  i32: Int32Array,
  f64: Float64Array,
  at: number,
): RejectReasonCode {
  const { t, time } = context;
  if (t.state[State.ledger] === 0) return RejectReason.ledgerOff;
  const market = knownMarket(t, i32[at + ResolveCommand.market]!);
  const review = f64[at / 2 + ResolveCommand.review]!;
  const payout = digestOf(i32, at);
  const found = findRequest(t, i32, f64, at, time);
  if (found !== undefined) {
    const isOfIt = found.kind === CommandKind.propose && found.subject === -market;
    const isSame = isOfIt && found.amount === review && found.other === payout;
    return isSame ? RejectReason.idRepeated : RejectReason.idConflict;
  }
  const fault = checkRequest(context, i32, f64, at);
  if (fault !== undefined) return RejectReason[fault];
  if (market === 0) return RejectReason.marketUnknown;
  if (!isPayout(t, market, i32, at)) return RejectReason.payoutInvalid;
  if (!(Number.isInteger(review) && review >= 1 && review <= REVIEW_MS_MAX)) {
    return RejectReason.reviewInvalid;
  }
  if (t.marketI[(market << MARKET_I) + Market.resolution] !== 0) return RejectReason.marketResolved;
  if (isProposed(t, market)) return RejectReason.marketProposed;
  if (groupHasWinner(t, i32, at)) return RejectReason.groupHasWinner;
  context.changes += 1;
  context.mixWord(i32[at]!);
  context.mixWord(payout);
  const deadline = time + review;
  context.mix(deadline);
  halt(context, market, enterPayout(t, market, i32, at), deadline);
  enterRequest(context, i32, f64, at, {
    subject: -market,
    other: payout,
    amount: review,
    result: deadline,
  });
  return RejectReason.accepted;
}

/** Digest of a payout, by which requests are compared: rows of markets change. */
function digestOf(i32: Int32Array, at: number): number {
  let digest = i32[at + ResolveCommand.flags]! & RequestFlag.isVoid;
  for (let i = 0; i < i32[at + ResolveCommand.count]!; i++) {
    digest = Math.imul(digest ^ i32[at + ResolveCommand.weights + i]!, 0x01000193);
    digest ^= digest >>> 13;
  }
  return digest;
}

function halt(
  context: EngineContext,
  market: MarketRow,
  row: ResolutionRow,
  deadline: number,
): void {
  const { ledger, marketI, resolutionF, resolutionI } = context.t;
  const offset = market << MARKET_I;
  resolutionF[(row << RESOLUTION_F) + Resolution.deadline] = deadline;
  resolutionI[(row << RESOLUTION_I) + Resolution.state] = ResolutionState.proposed;
  touchBooks(context, market);
  marketI[offset + Market.proposal] = row;
  marketI[offset + Market.flags] = heldFlags(marketI[offset + Market.flags]!);
  ledger[Ledger.proposals]! += 1;
  const earliest = ledger[Ledger.earliestDeadline]!;
  ledger[Ledger.earliestDeadline] = earliest === 0 ? deadline : Math.min(earliest, deadline);
}

export function withdrawProposal(
  context: EngineContext,
  i32: Int32Array,
  f64: Float64Array,
  at: number,
): RejectReasonCode {
  const { t, time } = context;
  if (t.state[State.ledger] === 0) return RejectReason.ledgerOff;
  const market = knownMarket(t, i32[at + WithdrawProposalCommand.market]!);
  const found = findRequest(t, i32, f64, at, time);
  if (found !== undefined) {
    const isSame = found.kind === CommandKind.withdrawProposal && found.subject === -market;
    return isSame ? RejectReason.idRepeated : RejectReason.idConflict;
  }
  const fault = checkRequest(context, i32, f64, at);
  if (fault !== undefined) return RejectReason[fault];
  if (market === 0) return RejectReason.marketUnknown;
  const offset = market << MARKET_I;
  if (t.marketI[offset + Market.resolution] !== 0) return RejectReason.marketResolved;
  if (!isProposed(t, market)) return RejectReason.proposalUnknown;
  context.changes += 1;
  context.mixWord(i32[at]!);
  context.mixWord(market);
  const row = t.marketI[offset + Market.proposal]! as ResolutionRow;
  t.resolutionI[(row << RESOLUTION_I) + Resolution.state] = ResolutionState.withdrawn;
  touchBooks(context, market);
  t.marketI[offset + Market.flags] = releasedFlags(t.marketI[offset + Market.flags]!);
  t.ledger[Ledger.proposals]! -= 1;
  t.ledger[Ledger.earliestDeadline] = earliestDeadline(t);
  enterRequest(context, i32, f64, at, { subject: -market, other: 0, amount: 0, result: 0 });
  return RejectReason.accepted;
}

export function beginDueResolutions(context: EngineContext): void {
  const { t, time } = context;
  const { ledger, resolutionF, resolutionI } = t;
  const earliest = ledger[Ledger.earliestDeadline]!;
  if (earliest === 0 || earliest > time) return;
  for (let row = 1 as ResolutionRow; row <= ledger[Ledger.resolutions]!; row++) {
    const w = row << RESOLUTION_I;
    if (resolutionI[w + Resolution.state] !== ResolutionState.proposed) continue;
    if (resolutionF[(row << RESOLUTION_F) + Resolution.deadline]! > time) continue;
    const market = resolutionI[w + Resolution.market]! as MarketRow;
    context.changes += 1;
    context.mixWord(market);
    beginResolution(context, market, row, true);
    ledger[Ledger.proposals]! -= 1;
    ledger[Ledger.begunAtDeadline]! += 1;
  }
  ledger[Ledger.earliestDeadline] = earliestDeadline(t);
}

export function earliestDeadline({ ledger, resolutionF, resolutionI }: Tables): number {
  let earliest = 0;
  if (ledger[Ledger.proposals] === 0) return earliest;
  for (let row = 1; row <= ledger[Ledger.resolutions]!; row++) {
    const state = resolutionI[(row << RESOLUTION_I) + Resolution.state];
    if (state !== ResolutionState.proposed) continue;
    const deadline = resolutionF[(row << RESOLUTION_F) + Resolution.deadline]!;
    if (earliest === 0 || deadline < earliest) earliest = deadline;
  }
  return earliest;
}
