/**
 * Binding of a wallet to the account whose key signs for it, and the end of agents: another key ends those that the
 * one before has authorised. Rules: docs/protocol.md#wallet-binding and docs/protocol.md#agents
 */
import type { EngineContext } from '../context.ts';
import { agentOpenOrders, agentsOfWallet, earliestAgentEnd } from '../ledger/agents.ts';
import { EndReason } from '../tables/codes.ts';
import { ACCOUNT_I, Account, AGENT_I, Agent, AgentState } from '../tables/layout.ts';
import type { AccountRow, AgentRow } from '../tables/units.ts';
import { closeOrder } from './orders.ts';

/** Binds a wallet, and counts it at its owner unless it is that account's own address. */
export function bindWallet(context: EngineContext, wallet: AccountRow, owner: AccountRow): void {
  const { accountI, agentF, wallets } = context.t;
  const at = (wallet << ACCOUNT_I) | Account.binding;
  const before = accountI[at]!;
  if (before !== 0 && before !== owner) {
    for (const row of agentsOfWallet(context.t, wallet)) endAgent(context, row, AgentState.revoked);
    agentF[Agent.end] = earliestAgentEnd(context.t);
  }
  if (before !== 0 && before !== wallet) wallets[before]! -= 1;
  if (owner !== wallet) wallets[owner]! += 1;
  accountI[at] = owner;
}

/** Ends an agent and cancels its open orders, by their rows. The caller renews the earliest end. */
export function endAgent(context: EngineContext, row: AgentRow, state: number): void {
  const { t } = context;
  t.agentI[(row << AGENT_I) + Agent.state] = state;
  for (const order of agentOpenOrders(t, row)) closeOrder(context, order, EndReason.canceled);
}
