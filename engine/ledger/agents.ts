/**
 * Agents of wallets: keys that sign orders which a wallet pays, within bounds. Rows, open orders of each, and what it
 * may still spend on a day. Rules: docs/protocol.md#agents
 */
import { assert } from '../book/matching.ts';
import * as limits from '../tables/capacities.ts';
import * as codes from '../tables/codes.ts';
import { home, next, sameWords, tagOf } from '../tables/hash-index.ts';
import * as layout from '../tables/layout.ts';
import type { Tables } from '../tables/tables.ts';
import type { AccountRow, AgentRow, MarketRow, OrderRow } from '../tables/units.ts';
import { delayedCash, reservedCash } from './reservations.ts';

// A module's own constants are folded into machine code; imported ones are loaded at each use.
const { AGENT_ORDERS_MAX, AGENTS_MAX, AGENTS_OF_WALLET_MAX } = limits;
const { ADDRESS_WORDS, Status } = codes;
const {
  ACCOUNT_I,
  Account,
  AGENT_F,
  AGENT_I,
  AGENT_ORDERS_WORDS,
  Agent,
  AgentState,
  Flag,
  ORDER_I,
  Order,
  State,
} = layout;

const DAY_MS = 86_400_000;
const GOLDEN = 0x9e3779b1;

export function agentRows({ agentI }: Pick<Tables, 'agentI'>): number {
  return agentI[Agent.rows]!;
}

/** Row of an agent of a wallet, whatever its state; 0 = it never was one, or was forgotten. */
export function findAgent(
  t: Tables,
  wallet: AccountRow | 0,
  key: Int32Array,
  at: number,
): AgentRow | 0 {
  const { agentI, agentIndex } = t;
  if (wallet === 0 || agentI[Agent.rows] === 0) return 0;
  const tag = walletTag(wallet);
  for (let entry = home(agentIndex, tag); ; entry = next(agentIndex, entry)) {
    const row = agentIndex[2 * entry + 1]!;
    if (row === 0) return 0;
    if (agentIndex[2 * entry] !== tag || row > AGENTS_MAX) continue;
    const w = row << AGENT_I;
    if (agentI[w + Agent.wallet] !== wallet) continue;
    if (sameWords(agentI, w + Agent.address, key, at, ADDRESS_WORDS)) return row as AgentRow;
  }
}

/** Rows of a wallet, those that have ended included. */
export function agentsOfWallet(t: Tables, wallet: AccountRow | 0): AgentRow[] {
  return rowsOf(t, walletTag(wallet), 0, (w) => t.agentI[w + Agent.wallet] === wallet);
}

/** Rows of all wallets in which this address is the agent. */
export function agentsOfAddress(t: Tables, key: Int32Array, at: number): AgentRow[] {
  return rowsOf(t, addressTag(key, at), AGENTS_MAX, (w) =>
    sameWords(t.agentI, w + Agent.address, key, at, ADDRESS_WORDS),
  );
}

/** @param base entries of agents are the rows behind AGENTS_MAX */
function rowsOf(
  { agentI, agentIndex }: Tables,
  tag: number,
  base: number,
  isIt: (w: number) => boolean,
): AgentRow[] {
  const rows: AgentRow[] = [];
  if (agentI[Agent.rows] === 0) return rows;
  for (let entry = home(agentIndex, tag); ; entry = next(agentIndex, entry)) {
    const found = agentIndex[2 * entry + 1]!;
    if (found === 0) return rows.sort((a, b) => a - b);
    const row = found - base;
    if (agentIndex[2 * entry] !== tag || row <= 0 || row > AGENTS_MAX) continue;
    if (isIt(row << AGENT_I)) rows.push(row as AgentRow);
  }
}

function walletTag(wallet: AccountRow | 0): number {
  return Math.imul(wallet, GOLDEN);
}

function addressTag(key: Int32Array, at: number): number {
  return tagOf(key, at, ADDRESS_WORDS);
}

/** Calls with each entry of a row in the index: of its wallet, and of its address. */
export function eachAgentEntry(
  { agentI }: Tables,
  row: AgentRow,
  visit: (tag: number, value: number) => void,
): void {
  const w = row << AGENT_I;
  visit(walletTag(agentI[w + Agent.wallet]! as AccountRow), row);
  visit(addressTag(agentI, w + Agent.address), AGENTS_MAX + row);
}

/** Entries of the index, tag and value by turns. */
export function agentEntries(t: Tables): Int32Array {
  const entries: number[] = [];
  for (let row = 1 as AgentRow; row <= agentRows(t); row++)
    eachAgentEntry(t, row, (tag, value) => entries.push(tag, value));
  return Int32Array.from(entries);
}

/** True while orders of an agent may be taken: it is authorised by whoever signs for the wallet now. */
export function isActiveAgent({ accountI, agentI }: Tables, row: AgentRow): boolean {
  const w = row << AGENT_I;
  const binding = (agentI[w + Agent.wallet]! << ACCOUNT_I) + Account.binding;
  return (
    agentI[w + Agent.state] === AgentState.active && accountI[binding] === agentI[w + Agent.owner]
  );
}

export function mayTradeMarket({ agentI }: Tables, row: AgentRow, market: MarketRow): boolean {
  const w = row << AGENT_I;
  const count = agentI[w + Agent.marketCount]!;
  for (let i = 0; i < count; i++) if (agentI[w + Agent.markets + i] === market) return true;
  return count === 0;
}

export function agentOrderCount({ agentOrders }: Tables, row: AgentRow): number {
  return agentOrders[row * AGENT_ORDERS_WORDS]!;
}

export function mayListAgentOrder(t: Tables, row: AgentRow): boolean {
  return agentOrderCount(t, row) < AGENT_ORDERS_MAX;
}

/** Open orders of an agent, delayed ones included, by their rows. */
export function agentOpenOrders({ agentOrders }: Tables, row: AgentRow): OrderRow[] {
  const at = row * AGENT_ORDERS_WORDS;
  const rows = agentOrders.slice(at + 1, at + 1 + agentOrders[at]!).sort();
  return Array.from(rows) as OrderRow[];
}

/** Agent that signed an order with the flag of agents. */
export function agentOfOrder(t: Tables, order: OrderRow): AgentRow {
  const { accountI, orderI } = t;
  const w = order << ORDER_I;
  const wallet = orderI[w | Order.maker]! as AccountRow;
  const signer = (orderI[w | Order.owner]! << ACCOUNT_I) + Account.address;
  const row = findAgent(t, wallet, accountI, signer);
  assert(row !== 0, 'an open order of an agent has its row');
  return row;
}

/** Marks an account that is made for an order of an agent: it is no wallet of its own until it has cash. */
export function markAgentAccount({ agentAccounts }: Tables, account: AccountRow): void {
  agentAccounts[account >> 5]! |= 1 << (account & 31);
}

export function isAgentAccount({ agentAccounts }: Tables, account: AccountRow): boolean {
  return (agentAccounts[account >> 5]! & (1 << (account & 31))) !== 0;
}

/** Adds an order that opens to the list of its agent, who signed it. */
export function listAgentOrder(t: Tables, order: OrderRow): void {
  const { agentOrders } = t;
  const at = agentOfOrder(t, order) * AGENT_ORDERS_WORDS;
  const count = agentOrders[at]! + 1;
  assert(count <= AGENT_ORDERS_MAX, 'an agent has room for its order');
  agentOrders[at] = count;
  agentOrders[at + count] = order;
}

export function unlistAgentOrder(t: Tables, order: OrderRow): void {
  const { agentOrders } = t;
  const at = agentOfOrder(t, order) * AGENT_ORDERS_WORDS;
  const count = agentOrders[at]!;
  let place = at + 1;
  while (place < at + count && agentOrders[place] !== order) place += 1;
  assert(agentOrders[place] === order, 'an agent lists its order');
  agentOrders[place] = agentOrders[at + count]!;
  agentOrders[at + count] = 0;
  agentOrders[at] = count - 1;
}

/** Adds what a purchase of an agent has paid to the day of the batch. */
export function spend(t: Tables, order: OrderRow, paid: number, time: number): void {
  const { agentF, agentI } = t;
  const row = agentOfOrder(t, order);
  const before = spentOn(t, row, time);
  agentI[(row << AGENT_I) + Agent.day] = dayOf(time);
  agentF[(row << AGENT_F) + Agent.spent] = before + paid;
}

function dayOf(time: number): number {
  return Math.floor(time / DAY_MS);
}

/** Micro-units that purchases have paid on the UTC day of a time, which is not before the last fill. */
function spentOn({ agentF, agentI }: Tables, row: AgentRow, time: number): number {
  const isToday = agentI[(row << AGENT_I) + Agent.day] === dayOf(time);
  return isToday ? agentF[(row << AGENT_F) + Agent.spent]! : 0;
}

/** Micro-units that open purchases of an agent reserve. */
function agentReserved(t: Tables, row: AgentRow): number {
  const { agentOrders, orderI } = t;
  const at = row * AGENT_ORDERS_WORDS;
  let reserved = 0;
  for (let i = 1; i <= agentOrders[at]!; i++) {
    const order = agentOrders[at + i]! as OrderRow;
    const w = order << ORDER_I;
    if ((orderI[w | Order.flags]! & Flag.sell) !== 0) continue;
    const isDelayed = orderI[w | Order.restingSlot]! < 0;
    reserved += isDelayed ? delayedCash(t, order) : reservedCash(t, order);
  }
  return reserved;
}

/** Micro-units by which purchases of an agent may still grow at a time; below 0 after its cash was lowered. */
export function agentLeft(t: Tables, row: AgentRow, time: number): number {
  const cash = t.agentF[(row << AGENT_F) + Agent.cash]!;
  return cash - spentOn(t, row, time) - agentReserved(t, row);
}

export function agentSizeMax({ agentF }: Tables, row: AgentRow): number {
  return agentF[(row << AGENT_F) + Agent.size]!;
}

/** Rows that the signer of their wallet has authorised. */
function agentsOfOwner({ accountI, agentI }: Tables, owner: AccountRow | 0): AgentRow[] {
  const rows: AgentRow[] = [];
  if (owner === 0) return rows;
  for (let row = 1 as AgentRow; row <= agentI[Agent.rows]!; row++) {
    const w = row << AGENT_I;
    if (agentI[w + Agent.owner] !== owner) continue;
    const binding = (agentI[w + Agent.wallet]! << ACCOUNT_I) + Account.binding;
    if (accountI[binding] === owner) rows.push(row);
  }
  return rows;
}

/** Agents that an address owns or is, newest first. @param wallet 0 = of all wallets */
export function agentsKnownTo(
  t: Tables,
  key: Int32Array,
  owner: AccountRow | 0,
  wallet: AccountRow | 0,
): AgentRow[] {
  const { agentF, agentI } = t;
  const created = (row: AgentRow): number => agentF[(row << AGENT_F) + Agent.created]!;
  return [...new Set([...agentsOfOwner(t, owner), ...agentsOfAddress(t, key, 0)])]
    .filter((row) => wallet === 0 || agentI[(row << AGENT_I) + Agent.wallet] === wallet)
    .sort((a, b) => created(b) - created(a) || b - a);
}

/** Rows of agents by their state. */
export function agentTotals({ agentI }: Pick<Tables, 'agentI'>) {
  const totals = { active: 0, ended: 0, revoked: 0 };
  for (let row = 1; row <= agentI[Agent.rows]!; row++) {
    const state = agentI[(row << AGENT_I) + Agent.state];
    if (state === AgentState.active) totals.active += 1;
    else if (state === AgentState.ended) totals.ended += 1;
    else totals.revoked += 1;
  }
  return totals;
}

/** Agent as it is read. Amounts are micro-units, sizes micro-shares, times unix milliseconds. */
export interface AgentView {
  readonly wallet: AccountRow;
  /** Five words. */
  readonly address: Int32Array;
  readonly state: keyof typeof AgentState;
  readonly cash: number;
  readonly size: number;
  readonly end: number;
  readonly created: number;
  /** Empty: all. */
  readonly markets: readonly MarketRow[];
  readonly spent: number;
  readonly reserved: number;
  /** At least 0; 0 once it has ended. */
  readonly left: number;
  readonly openOrders: number;
}

/** @param time the UTC day of which counts */
export function agentView(t: Tables, row: AgentRow, time: number): AgentView {
  const { agentF, agentI } = t;
  const w = row << AGENT_I;
  const d = row << AGENT_F;
  const isActive = isActiveAgent(t, row);
  const isRevoked = agentI[w + Agent.state] === AgentState.revoked;
  const markets = w + Agent.markets;
  return {
    wallet: agentI[w + Agent.wallet]! as AccountRow,
    address: agentI.slice(w + Agent.address, w + Agent.address + ADDRESS_WORDS),
    state: isActive ? 'active' : isRevoked ? 'revoked' : 'ended',
    cash: agentF[d + Agent.cash]!,
    size: agentSizeMax(t, row),
    end: agentF[d + Agent.end]!,
    created: agentF[d + Agent.created]!,
    markets: Array.from(
      agentI.subarray(markets, markets + agentI[w + Agent.marketCount]!),
    ) as MarketRow[],
    spent: spentOn(t, row, time),
    reserved: agentReserved(t, row),
    left: isActive ? Math.max(0, agentLeft(t, row, time)) : 0,
    openOrders: agentOrderCount(t, row),
  };
}

/** Unix milliseconds at which the next agent ends; 0 = none. */
export function firstAgentEnd({ agentF }: Pick<Tables, 'agentF'>): number {
  return agentF[Agent.end]!;
}

export function earliestAgentEnd(t: Tables): number {
  const { agentF, agentI } = t;
  let earliest = 0;
  for (let row = 1; row <= agentRows(t); row++) {
    if (agentI[(row << AGENT_I) + Agent.state] !== AgentState.active) continue;
    const end = agentF[(row << AGENT_F) + Agent.end]!;
    if (earliest === 0 || end < earliest) earliest = end;
  }
  return earliest;
}

/** Lists the open orders of agents in freshly loaded tables. */
export function listAgentOrders(t: Tables): void {
  if (agentRows(t) === 0) return;
  for (let row = 1 as OrderRow; row <= t.state[State.orderRows]!; row++)
    if (isOpenOfAgent(t, row)) listAgentOrder(t, row);
}

function isOpenOfAgent({ orderI }: Tables, row: OrderRow): boolean {
  const flags = orderI[(row << ORDER_I) | Order.flags]!;
  return ((flags >>> Flag.statusShift) & 7) === Status.live && (flags & Flag.agent) !== 0;
}

export function auditAgents(t: Tables): void {
  const { agentF, agentI, agentIndex, agentOrders } = t;
  const rows = agentRows(t);
  assert(rows <= AGENTS_MAX, 'agents lie in their table');
  assert(firstAgentEnd(t) === earliestAgentEnd(t), 'the earliest end of an agent is known');
  const listed = new Set<number>();
  for (let row = 1 as AgentRow; row <= rows; row++) {
    const w = row << AGENT_I;
    const wallet = agentI[w + Agent.wallet]! as AccountRow;
    assert(findAgent(t, wallet, agentI, w + Agent.address) === row, 'an agent is found');
    const ofAddress = agentsOfAddress(t, agentI, w + Agent.address);
    assert(ofAddress.includes(row), 'an agent is found by its address');
    const ofWallet = agentsOfWallet(t, wallet);
    assert(ofWallet.length <= AGENTS_OF_WALLET_MAX, 'a wallet has few agents');
    const spent = agentF[(row << AGENT_F) + Agent.spent]!;
    assert(Number.isInteger(spent) && spent >= 0, 'an agent spends whole micro-units');
    const orders = agentOpenOrders(t, row);
    const isOpen = agentI[w + Agent.state] === AgentState.active;
    assert(isOpen || orders.length === 0, 'an agent that has ended has no open orders');
    for (const order of orders) {
      assert(isOpenOfAgent(t, order) && agentOfOrder(t, order) === row, 'an agent lists its own');
      listed.add(order);
    }
  }
  let open = 0;
  let used = 0;
  for (let row = 1 as OrderRow; row <= t.state[State.orderRows]!; row++)
    if (isOpenOfAgent(t, row)) open += 1;
  assert(listed.size === open, 'every open order of an agent is listed');
  for (let at = 1; at < agentIndex.length; at += 2) if (agentIndex[at] !== 0) used += 1;
  assert(used === 2 * rows, 'the index has the agents alone');
  assert(agentOrders[0] === 0, 'row 0 is no agent');
}
