/**
 * End of a season: each wallet goes back to the start sum, some wallets a step. The remaining work follows from the
 * tables: the next account. Until the last step orders and commands of the ledger are refused (engine.ts). Rules:
 * docs/ledger.md#seasons
 */
import { CommandKind, SeasonCommand, SeasonStepCommand } from './commands.ts';
import type { EngineContext } from './context.ts';
import { isAgentAccount } from './ledger/agents.ts';
import { fundedHouses, isHouse } from './ledger/house.ts';
import { checkRequest, enterRequest, findRequest } from './ledger/requests.ts';
import { findAccount } from './orders/accounts.ts';
import { RejectReason, type RejectReasonCode } from './orders/reject-reasons.ts';
import { unsettledCount } from './orders/unsettled.ts';
import { AMOUNT_MAX, DEPOSITED_MAX } from './tables/capacities.ts';
import { EntryCause, SOURCE_ADDRESS } from './tables/codes.ts';
import { CASH_F, Cash, Ledger, State } from './tables/layout.ts';
import type { Tables } from './tables/tables.ts';
import type { AccountRow } from './tables/units.ts';

const HOUSE = 'accounts of the house with cash';

export function endSeason(
  context: EngineContext,
  i32: Int32Array,
  f64: Float64Array,
  at: number,
): RejectReasonCode {
  const { t, time } = context;
  const { ledger } = t;
  if (t.state[State.ledger] === 0) return RejectReason.ledgerOff;
  const sum = f64[at / 2 + SeasonCommand.startSum]!;
  const found = findRequest(t, i32, f64, at, time);
  if (found !== undefined) {
    const isSame = found.kind === CommandKind.season && found.amount === sum;
    return isSame ? RejectReason.idRepeated : RejectReason.idConflict;
  }
  const fault = checkRequest(context, i32, f64, at);
  if (fault !== undefined) return RejectReason[fault];
  if (!Number.isInteger(sum) || sum < 1 || sum > AMOUNT_MAX) return RejectReason.amountInvalid;
  if (seasonIsEnding(t)) return RejectReason.seasonEnding;
  if (Object.values(seasonHindrances(t)).some((count) => count > 0)) return RejectReason.seasonBusy;
  // More than what any step can add.
  const added = sum * t.state[State.accounts]!;
  if (ledger[Ledger.deposited]! + added > DEPOSITED_MAX) return RejectReason.depositsTooLarge;
  context.changes += 1;
  context.mixWord(CommandKind.season);
  context.mix(sum);
  const season = ledger[Ledger.seasons]! + 1;
  ledger[Ledger.seasons] = season;
  ledger[Ledger.seasonStart] = sum;
  ledger[Ledger.seasonNext] = 1;
  ledger[Ledger.seasonEndedAt] = time;
  enter(context, 0, 0);
  enterRequest(context, i32, f64, at, { subject: 0, other: 0, amount: sum, result: season });
  return RejectReason.accepted;
}

/** Resets up to `limit` wallets. */
export function seasonStep(context: EngineContext, i32: Int32Array, at: number): RejectReasonCode {
  const { t } = context;
  const { ledger, state } = t;
  if (!seasonIsEnding(t)) return RejectReason.accepted;
  const next = ledger[Ledger.seasonNext]!;
  const accounts = state[State.accounts]!;
  // The first trade of the next season is of a later millisecond than the last one of this season.
  if (next > accounts && context.time <= ledger[Ledger.seasonEndedAt]!)
    return RejectReason.accepted;
  context.changes += 1;
  context.mixWord(next);
  const end = Math.min(accounts + 1, next + Math.max(1, i32[at + SeasonStepCommand.limit]!));
  for (let account = next; account < end; account++) reset(context, account as AccountRow);
  ledger[Ledger.seasonNext] = next > accounts ? 0 : end;
  return RejectReason.accepted;
}

function reset(context: EngineContext, account: AccountRow): void {
  const { t } = context;
  const { cashF, ledger, wallets } = t;
  const d = (account << CASH_F) + Cash.total;
  const before = cashF[d]!;
  // An account that signs for wallets and has no money is no wallet itself, nor is one that was made for an agent.
  const isWallet = before > 0 || (wallets[account] === 0 && !isAgentAccount(t, account));
  if (!isWallet || isHouse(t, account) || account === findAccount(t, SOURCE_ADDRESS, 0)) return;
  const change = ledger[Ledger.seasonStart]! - before;
  if (change === 0) return;
  cashF[d] = before + change;
  ledger[Ledger.cash]! += change;
  ledger[Ledger.deposited]! += change;
  context.mix(before);
  enter(context, account, change);
}

function enter({ events, t }: EngineContext, account: AccountRow | 0, cash: number): void {
  const entry = t.ledger[Ledger.entries]!;
  t.ledger[Ledger.entries] = entry + 1;
  const season = t.ledger[Ledger.seasons]!;
  events.entry(t, EntryCause.season, account, 0, 0, entry, season, cash, 0);
}

export function seasonIsEnding({ ledger }: Pick<Tables, 'ledger'>): boolean {
  return ledger[Ledger.seasonNext] !== 0;
}

/** Counts of what has to end before a season can. */
export function seasonHindrances(t: Tables) {
  const { ledger, state } = t;
  return {
    positions: ledger[Ledger.positions]!,
    orders: state[State.openOrders]! + t.delayed.size,
    'unsettled trades': unsettledCount(t),
    proposals: ledger[Ledger.proposals]!,
    'resolutions under way': ledger[Ledger.resolving]!,
    [HOUSE]: fundedHouses(t),
  };
}

/** Returns true where only cash of the house keeps a season from its end. */
export function onlyHouseHinders(t: Tables): boolean {
  return Object.entries(seasonHindrances(t)).every(([what, n]) => n > 0 === (what === HOUSE));
}
