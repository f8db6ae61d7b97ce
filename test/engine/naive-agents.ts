/**
 * Agents of wallets, written from docs/protocol.md#agents: what an agent has spent is summed anew from all its fills, and
 * what it reserves from its open orders. It is never made faster.
 */
import { RejectReason, type RejectReasonCode } from '../../engine/orders/reject-reasons.ts';
import type { NaiveMarket, NaiveOrder } from './naive-book.ts';
import type { FillLine, OrderLine } from './naive-types.ts';

/** Authorises an agent, or revokes it where `terms` are absent. */
export interface AgentLine {
  readonly kind: 'agent';
  readonly wallet: number;
  readonly agent: number;
  readonly owner: number;
  readonly isDerived: boolean;
  readonly terms?: {
    readonly cash: number;
    readonly size: number;
    /** Unix milliseconds. */
    readonly end: number;
    readonly markets: readonly number[];
  };
}

export interface NaiveAgent {
  readonly wallet: number;
  readonly agent: number;
  owner: number;
  terms: NonNullable<AgentLine['terms']>;
  state: 'active' | 'ended' | 'revoked';
  /** Payments of its purchases, and their times. */
  readonly paid: { readonly time: number; readonly amount: bigint }[];
}

/** Exchange and ledger as far as agents need them. */
interface Surroundings {
  readonly markets: readonly NaiveMarket[];
  hasAccount(wallet: number): boolean;
  boundTo(wallet: number): number | undefined;
  mayBind(wallet: number, owner: number): boolean;
  /** Returns the agents that it ends. */
  bind(wallet: number, owner: number): NaiveAgent[];
  reserveOf(order: NaiveOrder, market: NaiveMarket, isDelayed: boolean): bigint;
}

const DAY = 86_400_000;
const OF_WALLET = 8;
const ORDERS = 128;
const LONGEST = 366 * DAY;
const AMOUNT_MAX = 2 ** 53 - 1;

export class NaiveAgents {
  readonly #around: Surroundings;
  /** Agents of each wallet, by the order of their rows. */
  readonly #byWallet = new Map<number, NaiveAgent[]>();
  /** Agents of the orders that they signed, by the ids of those. */
  readonly #signed = new Map<number, NaiveAgent>();

  constructor(around: Surroundings) {
    this.#around = around;
  }

  ofWallet(wallet: number): NaiveAgent[] {
    const agents = this.#byWallet.get(wallet) ?? [];
    this.#byWallet.set(wallet, agents);
    return agents;
  }

  all(): NaiveAgent[] {
    return [...this.#byWallet.values()].flat();
  }

  find(wallet: number, agent: number): NaiveAgent | undefined {
    return this.ofWallet(wallet).find((each) => each.agent === agent);
  }

  isOfAgent(id: number): boolean {
    return this.#signed.has(id);
  }

  isAgent(address: number): boolean {
    return [...this.#signed.values()].some(({ agent }) => agent === address);
  }

  /** @param ended receives the agents whose orders are cancelled */
  run(line: AgentLine, now: number, ended: NaiveAgent[]): RejectReasonCode {
    const { agent, isDerived, owner, terms, wallet } = line;
    if (!this.#around.hasAccount(wallet)) return RejectReason.walletUnknown;
    const isOwner = isDerived || wallet === owner || this.#around.boundTo(wallet) === owner;
    if (!isOwner) return RejectReason.walletForeign;
    const found = this.find(wallet, agent);
    if (terms === undefined) {
      if (found === undefined) return RejectReason.agentUnknown;
      if (found.state === 'revoked') return RejectReason.idRepeated;
      found.state = 'revoked';
      ended.push(found);
      return RejectReason.accepted;
    }
    const refused = this.#refusedTerms(line, terms, now);
    if (refused !== RejectReason.accepted) return refused;
    if (!this.#around.mayBind(wallet, owner)) return RejectReason.tooManyWallets;
    const agents = this.ofWallet(wallet);
    const ofEnded = agents.findIndex(
      (each) => each.state !== 'active' && this.#spent(each, now) === 0n,
    );
    const place = agents.length < OF_WALLET ? agents.length : ofEnded;
    if (found === undefined && place < 0) return RejectReason.agentsFull;
    ended.push(...this.#around.bind(wallet, owner));
    if (found !== undefined) Object.assign(found, { owner, terms, state: 'active' });
    else agents[place] = { wallet, agent, owner, terms, state: 'active', paid: [] };
    return RejectReason.accepted;
  }

  #refusedTerms(
    { agent, owner, wallet }: AgentLine,
    { cash, end, markets, size }: NonNullable<AgentLine['terms']>,
    now: number,
  ): RejectReasonCode {
    if (agent === wallet || agent === owner) return RejectReason.agentInvalid;
    const isAmount = (amount: number, least: number): boolean =>
      Number.isInteger(amount) && amount >= least && amount <= AMOUNT_MAX;
    if (!isAmount(cash, 0) || !isAmount(size, 1)) return RejectReason.amountInvalid;
    if (!Number.isInteger(end) || end <= now || end > now + LONGEST)
      return RejectReason.agentEndInvalid;
    const isKnown = markets.every((number) => this.#around.markets[number - 1] !== undefined);
    return isKnown ? RejectReason.accepted : RejectReason.marketUnknown;
  }

  /** Ends all agents of a wallet, or those whose time is over. */
  end(isMeant: (agent: NaiveAgent) => boolean, state: 'ended' | 'revoked'): NaiveAgent[] {
    const ended = this.all().filter((agent) => isMeant(agent));
    for (const agent of ended) agent.state = state;
    return ended;
  }

  isSignedBy(order: NaiveOrder, agents: readonly NaiveAgent[]): boolean {
    const agent = this.#signed.get(order.line.id);
    return agent !== undefined && agents.includes(agent);
  }

  /** Reason against an order whose signer is not that of its wallet; undefined where it is no agent. */
  refusal({ maker, shares, signer }: OrderLine, market: number): RejectReasonCode | undefined {
    const agent = this.find(maker, signer);
    if (agent === undefined) return undefined;
    if (agent.state !== 'active') return RejectReason.agentEnded;
    const { markets, size } = agent.terms;
    if (markets.length > 0 && !markets.includes(market)) return RejectReason.agentMarket;
    return shares > BigInt(size) ? RejectReason.agentSize : RejectReason.accepted;
  }

  left(agent: NaiveAgent, now: number): bigint {
    return BigInt(agent.terms.cash) - this.reserved(agent) - this.#spent(agent, now);
  }

  #spent({ paid }: NaiveAgent, now: number): bigint {
    const isToday = (time: number): boolean => Math.floor(time / DAY) === Math.floor(now / DAY);
    return paid.reduce((sum, { amount, time }) => (isToday(time) ? sum + amount : sum), 0n);
  }

  reserved(agent: NaiveAgent): bigint {
    let sum = 0n;
    for (const market of this.#around.markets) {
      const isIts = ({ line }: NaiveOrder): boolean =>
        this.#signed.get(line.id) === agent && line.side === 'BUY';
      for (const order of market.open)
        if (isIts(order)) sum += this.#around.reserveOf(order, market, false);
      for (const { order } of market.delayed)
        if (isIts(order)) sum += this.#around.reserveOf(order, market, true);
    }
    return sum;
  }

  exceeds({ line }: NaiveOrder, now: number): boolean {
    const agent = this.#signed.get(line.id);
    return agent !== undefined && line.side === 'BUY' && this.left(agent, now) < 0n;
  }

  openOrders(agent: NaiveAgent): number {
    const open = this.#around.markets.flatMap(({ delayed, open }) => [
      ...open,
      ...delayed.map(({ order }) => order),
    ]);
    return open.filter(({ line }) => this.#signed.get(line.id) === agent).length;
  }

  mayList(agent: NaiveAgent): boolean {
    return this.openOrders(agent) < ORDERS;
  }

  accepted({ id, maker, signer }: OrderLine): void {
    this.#signed.set(id, this.find(maker, signer)!);
  }

  settle(fill: FillLine, time: number): void {
    const takerBuys = fill.takerSide === 'BUY';
    const makerBuys = fill.kind === 'fills' ? !takerBuys : takerBuys;
    const fee = fill.isScheduled ? BigInt(fill.fee) : 0n;
    const pay = (id: number, amount: bigint): void => {
      this.#signed.get(id)?.paid.push({ time, amount });
    };
    if (takerBuys) pay(fill.taker, BigInt(fill.takerCollateral) + fee);
    if (makerBuys) pay(fill.maker, BigInt(fill.makerCollateral));
  }
}
