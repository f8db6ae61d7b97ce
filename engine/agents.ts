/**
 * Commands of agents: a wallet's owner authorises one or revokes it, and it ends. Rules: docs/protocol.md#agents
 */
import { AgentCommand, AgentFlag, commandWords } from './commands.ts';
import type { EngineContext } from './context.ts';
import {
  agentOrderCount,
  agentRows,
  agentsOfWallet,
  eachAgentEntry,
  earliestAgentEnd,
  findAgent,
  firstAgentEnd,
  spentOn,
} from './ledger/agents.ts';
import { findAccount, makeAccount } from './orders/accounts.ts';
import { bindWallet, endAgent } from './orders/binding.ts';
import { mayHaveWallet } from './orders/place.ts';
import { RejectReason, type RejectReasonCode } from './orders/reject-reasons.ts';
import { AGENT_MS_MAX, AGENTS_MAX, AGENTS_OF_WALLET_MAX, AMOUNT_MAX } from './tables/capacities.ts';
import { ADDRESS_WORDS } from './tables/codes.ts';
import { indexInsert, indexRemove } from './tables/hash-index.ts';
import { ACCOUNT_I, Account, AGENT_F, AGENT_I, Agent, AgentState, State } from './tables/layout.ts';
import type { Tables } from './tables/tables.ts';
import type { AccountRow, AgentRow } from './tables/units.ts';
import { sameAddress } from './tables/words.ts';

export function applyAgent(
  context: EngineContext,
  i32: Int32Array,
  f64: Float64Array,
  at: number,
): RejectReasonCode {
  const { t } = context;
  if (t.state[State.ledger] === 0) return RejectReason.ledgerOff;
  const wallet = findAccount(t, i32, at + AgentCommand.wallet);
  if (wallet === 0) return RejectReason.walletUnknown;
  if (!isOwner(t, wallet, i32, at)) return RejectReason.walletForeign;
  const isEnd = (i32[at + AgentCommand.flags]! & AgentFlag.revoke) !== 0;
  return isEnd ? revoke(context, wallet, i32, at) : authorise(context, wallet, i32, f64, at);
}

/** True for the wallet's own key, for a signer from which it is derived, and for the one that is bound to it. */
function isOwner({ accountI }: Tables, wallet: AccountRow, i32: Int32Array, at: number): boolean {
  const owner = at + AgentCommand.owner;
  if ((i32[at + AgentCommand.flags]! & AgentFlag.derivedWallet) !== 0) return true;
  if (sameAddress(i32, at + AgentCommand.wallet, i32, owner)) return true;
  const bound = accountI[(wallet << ACCOUNT_I) + Account.binding]!;
  return bound !== 0 && sameAddress(accountI, bound << ACCOUNT_I, i32, owner);
}

function authorise(
  context: EngineContext,
  wallet: AccountRow,
  i32: Int32Array,
  f64: Float64Array,
  at: number,
): RejectReasonCode {
  const { t, time } = context;
  const refused = checkTerms(context, i32, f64, at);
  if (refused !== RejectReason.accepted) return refused;
  const owner = findAccount(t, i32, at + AgentCommand.owner);
  if (owner === 0 && t.state[State.accounts]! >= t.capacities.accounts)
    return RejectReason.tableFull;
  const isOwn = owner === wallet;
  if (!isOwn && !mayHaveWallet(context, wallet, owner)) return RejectReason.tooManyWallets;
  const known = findAgent(t, wallet, i32, at + AgentCommand.agent);
  const row = known !== 0 ? known : roomFor(t, wallet, time);
  if (row === 0) return RejectReason.agentsFull;
  mixCommand(context, i32, at);
  const ownerRow = owner !== 0 ? owner : makeAccount(t, i32, at + AgentCommand.owner);
  if (t.accountI[(wallet << ACCOUNT_I) + Account.binding] !== ownerRow)
    bindWallet(context, wallet, ownerRow);
  if (known === 0) enterAgent(t, row, wallet, i32, at, time);
  const w = row << AGENT_I;
  const d = row << AGENT_F;
  t.agentF[d + Agent.cash] = f64[at / 2 + AgentCommand.cash]!;
  t.agentF[d + Agent.size] = f64[at / 2 + AgentCommand.size]!;
  t.agentF[d + Agent.end] = f64[at / 2 + AgentCommand.end]!;
  t.agentI[w + Agent.owner] = ownerRow;
  t.agentI[w + Agent.state] = AgentState.active;
  const count = i32[at + AgentCommand.count]!;
  t.agentI[w + Agent.marketCount] = count;
  t.agentI.fill(0, w + Agent.markets, w + (1 << AGENT_I));
  for (let i = 0; i < count; i++)
    t.agentI[w + Agent.markets + i] = i32[at + AgentCommand.markets + i]!;
  t.agentF[Agent.end] = earliestAgentEnd(t);
  return RejectReason.accepted;
}

function checkTerms(
  { t, time }: EngineContext,
  i32: Int32Array,
  f64: Float64Array,
  at: number,
): RejectReasonCode {
  const agent = at + AgentCommand.agent;
  const isOwner =
    sameAddress(i32, agent, i32, at + AgentCommand.wallet) ||
    sameAddress(i32, agent, i32, at + AgentCommand.owner);
  if (isOwner) return RejectReason.agentInvalid;
  const cash = f64[at / 2 + AgentCommand.cash]!;
  const size = f64[at / 2 + AgentCommand.size]!;
  const end = f64[at / 2 + AgentCommand.end]!;
  const isAmount = (amount: number): boolean => Number.isInteger(amount) && amount <= AMOUNT_MAX;
  if (!isAmount(cash) || cash < 0 || !isAmount(size) || size < 1) return RejectReason.amountInvalid;
  if (!Number.isInteger(end) || end <= time || end > time + AGENT_MS_MAX)
    return RejectReason.agentEndInvalid;
  for (let i = 0; i < i32[at + AgentCommand.count]!; i++) {
    const market = i32[at + AgentCommand.markets + i]!;
    if (market < 1 || market > t.state[State.markets]!) return RejectReason.marketUnknown;
  }
  return RejectReason.accepted;
}

/** Row for one more agent of a wallet: that of an earlier one where the wallet or the table has no other; 0 = none. */
function roomFor(t: Tables, wallet: AccountRow, time: number): AgentRow | 0 {
  const own = agentsOfWallet(t, wallet);
  if (own.length >= AGENTS_OF_WALLET_MAX) return own.find((row) => mayForget(t, row, time)) ?? 0;
  const rows = agentRows(t);
  if (rows < AGENTS_MAX) return (rows + 1) as AgentRow;
  for (let row = 1 as AgentRow; row <= rows; row++) if (mayForget(t, row, time)) return row;
  return 0;
}

/** True for an agent that has ended and paid nothing on the day: authorised again, it would have its cash twice. */
function mayForget(t: Tables, row: AgentRow, time: number): boolean {
  const isActive = t.agentI[(row << AGENT_I) + Agent.state] === AgentState.active;
  return !isActive && agentOrderCount(t, row) === 0 && spentOn(t, row, time) === 0;
}

/** Fills a row that is new, or was of another agent, which it forgets. */
function enterAgent(
  t: Tables,
  row: AgentRow,
  wallet: AccountRow,
  i32: Int32Array,
  at: number,
  time: number,
): void {
  const { agentF, agentI, agentIndex } = t;
  const w = row << AGENT_I;
  if (row > agentRows(t)) agentI[Agent.rows] = row;
  else eachAgentEntry(t, row, (tag, value) => indexRemove(agentIndex, tag, value));
  agentI.fill(0, w, w + (1 << AGENT_I));
  agentF[(row << AGENT_F) + Agent.created] = time;
  agentI[w + Agent.wallet] = wallet;
  for (let i = 0; i < ADDRESS_WORDS; i++)
    agentI[w + Agent.address + i] = i32[at + AgentCommand.agent + i]!;
  eachAgentEntry(t, row, (tag, value) => indexInsert(agentIndex, tag, value));
}

function revoke(
  context: EngineContext,
  wallet: AccountRow,
  i32: Int32Array,
  at: number,
): RejectReasonCode {
  const { t } = context;
  const row = findAgent(t, wallet, i32, at + AgentCommand.agent);
  if (row === 0) return RejectReason.agentUnknown;
  if (t.agentI[(row << AGENT_I) + Agent.state] === AgentState.revoked)
    return RejectReason.idRepeated;
  mixCommand(context, i32, at);
  endAgent(context, row, AgentState.revoked);
  t.agentF[Agent.end] = earliestAgentEnd(t);
  return RejectReason.accepted;
}

/** Ends agents whose time is over at the time of the batch. */
export function endDueAgents(context: EngineContext): void {
  const { t, time } = context;
  const first = firstAgentEnd(t);
  if (first === 0 || first > time) return;
  for (let row = 1 as AgentRow; row <= agentRows(t); row++) {
    if (t.agentI[(row << AGENT_I) + Agent.state] !== AgentState.active) continue;
    if (t.agentF[(row << AGENT_F) + Agent.end]! > time) continue;
    context.changes += 1;
    context.mixWord(row);
    endAgent(context, row, AgentState.ended);
  }
  t.agentF[Agent.end] = earliestAgentEnd(t);
}

function mixCommand(context: EngineContext, i32: Int32Array, at: number): void {
  context.changes += 1;
  const end = at + commandWords(i32, at);
  for (let word = at; word < end; word++) context.mixWord(i32[word]!);
}
