/**
 * The naive exchange around the naive market: rules in their order, wallets and their signers,
 * cancels, expiry, changes of a market. Written from the documents. Rules:
 * docs/protocol.md#order-of-checks
 */
import { RejectReason, type RejectReasonCode } from '../../engine/orders/reject-reasons.ts';
import type { NaiveAgent, NaiveAgents } from './naive-agents.ts';
import {
  NaiveMarket,
  type NaiveOrder,
  type Plan,
  type Settlement,
  settlement,
  ticksOf,
  type UnsettledFill,
} from './naive-book.ts';
import { NO_ID, runSource } from './naive-source.ts';
import type {
  BookView,
  Command,
  EndWord,
  FillLine,
  OrderLine,
  Outcome,
  Policy,
  Schedule,
  Terms,
} from './naive-types.ts';

const AMOUNT_MAX = 2n ** 53n - 1n;
const FEE_BPS_MAX = 1_000;
const PIPS = 10_000;
/** Delayed orders of one signer. */
const DELAYED_OF_OWNER = 64;
/** Delayed orders that one batch places. */
const DELAYED_STEP = 128;
/** Fills that one batch settles. */
const UNSETTLED_STEP = 256;

/** A ledger as an exchange sees it: it decides whether the wallet of an order can pay. */
export interface Purse {
  /** Start sum of the season that ends: meanwhile no order is taken. */
  readonly ending: bigint | undefined;
  /** @param fee that it may owe on top of its collateral */
  covers(order: OrderLine, fee?: bigint): boolean;
  /** Returns true for a BUY that exceeds the exposure of its wallet. */
  exposes(order: OrderLine): boolean;
  /** Returns true for an account of the house, which no limit of wallets binds. */
  isHouse(wallet: number): boolean;
  /** Begins resolutions that are due in a batch of this time. */
  beginDue(now: number): void;
  readonly agents: NaiveAgents;
  /** Gives everything back that a fill moved. */
  takeBack(fill: FillLine, market: number): void;
}

/** True when a sale at some price of a grid owes more than its proceeds, both not rounded. */
function takesMoreThanProceeds({ exponent, rate }: Schedule, grid: number): boolean {
  const e = BigInt(exponent);
  for (let tick = 1n; tick < BigInt(grid); tick++) {
    const g = BigInt(grid);
    const fee = BigInt(rate) * (tick * (g - tick)) ** e * g;
    if (fee > 1_000_000n * tick * (g * g) ** e) return true;
  }
  return false;
}

export class NaiveExchange {
  readonly markets: NaiveMarket[] = [];
  fills = 0;
  /** Bound of open orders; 0 = none. */
  openOrdersPerAccount = 0;
  openOrdersPerWallet = 0;
  /** Bound of wallets beside the signer's own address; 0 = none. */
  walletsPerSigner = 0;
  purse: Purse | undefined;
  unsettled: UnsettledFill[] = [];
  #time = 0;
  #out = settlement();
  #arrivals = 0;
  #policy: Policy = 'allow';
  readonly #conditions = new Map<number, NaiveMarket>();
  readonly #accepted = new Set<number>();
  readonly #bindings = new Map<number, number>();

  run(command: Command): Outcome {
    const out = settlement();
    this.#out = out;
    const reason = this.#apply(command, out);
    return { reason, ...out };
  }

  marketOf(token: number): NaiveMarket | undefined {
    return this.markets.find((m) => m.firstToken <= token && token < m.firstToken + m.outcomes);
  }

  tokenCount(): number {
    const last = this.markets.at(-1);
    return last === undefined ? 0 : last.firstToken + last.outcomes - 1;
  }

  /** Signer of a wallet, `undefined` when unknown. */
  boundTo(wallet: number): number | undefined {
    return this.#bindings.get(wallet);
  }

  signsForOthers(signer: number): boolean {
    return [...this.#bindings].some(([wallet, of]) => of === signer && wallet !== signer);
  }

  /**
   * Replaces the signer of a wallet; returns the open orders of the earlier signer for it, which
   * end.
   */
  changeSigner(wallet: number, signer: number): number[] {
    const before = this.#bindings.get(wallet);
    const agents = this.bind(wallet, signer);
    const out = settlement();
    if (before === undefined || before === signer) return [];
    const isIts = (order: NaiveOrder): boolean =>
      (order.line.maker === wallet && order.line.signer === before) ||
      this.purse?.agents.isSignedBy(order, agents) === true;
    this.#closeWhere(isIts, 'canceled', out);
    return out.ended.map(({ id }) => id);
  }

  /** Cancels the open orders of agents; returns their ids. */
  endAgents(agents: readonly NaiveAgent[], out = settlement()): number[] {
    if (agents.length === 0) return [];
    const isIts = (order: NaiveOrder): boolean => this.purse!.agents.isSignedBy(order, agents);
    this.#closeWhere(isIts, 'canceled', out);
    return out.ended.map(({ id }) => id);
  }

  /** Binds a wallet as an order of its signer does; returns the agents that this ends. */
  bind(wallet: number, signer: number): NaiveAgent[] {
    const before = this.#bindings.get(wallet);
    this.#bindings.set(wallet, signer);
    if (this.purse === undefined || before === undefined || before === signer) return [];
    return this.purse.agents.end((each) => each.wallet === wallet, 'revoked');
  }

  /** Marks a market as resolved: no change makes it trade again. */
  resolve(number: number): void {
    const market = this.markets[number - 1]!;
    this.#settleWhere((each) => each.market === market);
    for (const { order } of market.delayed) market.close(order, 'resolved', this.#out);
    market.isResolved = true;
    market.held = undefined;
    market.terms = { ...market.terms, tradable: false, ended: true };
    market.touchAll(this.#time);
  }

  /** Halts a market with a proposed payout, whatever its changes say. */
  hold(number: number): void {
    const market = this.markets[number - 1]!;
    market.held = market.terms;
    market.terms = { ...market.terms, tradable: false };
    market.touchAll(this.#time);
  }

  release(number: number): void {
    const market = this.markets[number - 1]!;
    market.terms = market.held!;
    market.held = undefined;
    market.touchAll(this.#time);
  }

  endResolved(ids: ReadonlySet<number>, out: Settlement): number {
    return this.#closeWhere(({ line }) => ids.has(line.id), 'resolved', out);
  }

  book(token: number): BookView | undefined {
    return this.marketOf(token)?.book(token);
  }

  delayedOrders(): number {
    return this.markets.reduce((count, { delayed }) => count + delayed.length, 0);
  }

  openOrders(): number {
    const open = this.markets.flatMap((market) => market.open);
    return open.filter(({ line }) => line.id !== NO_ID).length;
  }

  #apply(command: Command, out: Settlement): RejectReasonCode {
    switch (command.kind) {
      case 'order':
        return this.#place(command, out);
      case 'cancel': {
        const mine = this.#closeWhere(
          ({ line }) =>
            line.id === command.id &&
            (line.signer === command.signer ||
              (this.purse?.agents.isOfAgent(line.id) === true &&
                this.#bindings.get(line.maker) === command.signer)),
          'canceled',
          out,
        );
        return mine === 0 ? RejectReason.orderNotFound : RejectReason.accepted;
      }
      case 'cancel-all':
        this.#cancelOwned(command, out);
        return RejectReason.accepted;
      case 'market':
        return this.#register(command, out);
      case 'change':
        return this.#change(command.market, command, out);
      case 'level':
      case 'print':
      case 'fill': {
        const reason = runSource(this, command, this.#time, out);
        // Nobody is told what the source gave and got.
        out.making = 0n;
        out.taking = 0n;
        return reason;
      }
      case 'fees':
        return this.#setSchedule(command, out);
      case 'policy':
        this.#policy = command.policy;
        return RejectReason.accepted;
      case 'settle':
        this.#settleWhere(({ fault }) => command.fault === -1 || fault === command.fault);
        return RejectReason.accepted;
      case 'delay': {
        const market = this.#conditions.get(command.condition);
        if (market === undefined) return RejectReason.marketRefused;
        const isValid = command.seconds >= 0 && command.seconds <= 3_600;
        if (!isValid) return RejectReason.takerDelayInvalid;
        market.takerDelay = command.seconds;
        return RejectReason.accepted;
      }
      case 'at':
        this.#time = command.time;
        this.#endAgents(out);
        this.#passTime(out);
        this.purse?.beginDue(this.#time);
        // Nobody is answered.
        out.making = 0n;
        out.taking = 0n;
        return RejectReason.accepted;
    }
  }

  #endAgents(out: Settlement): void {
    if (this.purse === undefined) return;
    const isOver = ({ state, terms }: NaiveAgent): boolean =>
      state === 'active' && terms.end <= this.#time;
    this.endAgents(this.purse.agents.end(isOver, 'ended'), out);
  }

  #settleWhere(isMeant: (each: UnsettledFill) => boolean): void {
    for (const each of this.unsettled.filter(isMeant)) {
      this.unsettled = this.unsettled.filter((other) => other !== each);
      if (!each.fails) continue;
      each.market.fail(each, this.#time);
      this.purse!.takeBack(each.fill, 1 + this.markets.indexOf(each.market));
    }
  }

  /** Lets happen what is due, by time: at one time fills are settled, orders expire, then markets end, then delayed orders are placed. */
  #passTime(out: Settlement): void {
    let left = DELAYED_STEP;
    let fills = UNSETTLED_STEP;
    for (;;) {
      const due: { readonly time: number; readonly rank: number; readonly run: () => void }[] = [];
      for (const each of fills === 0 ? [] : this.unsettled) {
        const run = (): void => {
          fills -= 1;
          this.#settleWhere((other) => other === each);
        };
        due.push({ time: each.due, rank: -2, run });
      }
      for (const market of this.markets) {
        for (const order of market.open) {
          const time = order.line.expiration * 1_000;
          if (time === 0) continue;
          const run = (): void => {
            market.close(order, 'expired', out);
            market.touch(order.line.token, this.#time);
          };
          due.push({ time, rank: -1, run });
        }
        if (market.isDue(this.#time)) {
          due.push({ time: market.end, rank: 0, run: () => this.#endIfDue(market, out) });
        }
        for (const each of left === 0 ? [] : market.delayed) {
          const run = (): void => {
            left -= 1;
            this.#placeDelayed(each.order, market, out);
          };
          due.push({ time: each.due, rank: 1 + each.order.arrival, run });
        }
      }
      const now = due.filter(({ time }) => time <= this.#time);
      now.sort((a, b) => a.time - b.time || a.rank - b.rank);
      if (now[0] === undefined) return;
      now[0].run();
    }
  }

  #placeDelayed(order: NaiveOrder, market: NaiveMarket, out: Settlement): void {
    market.delayed = market.delayed.filter((each) => each.order !== order);
    const ended = this.#endOfDelay(order, market, out);
    if (ended !== undefined) market.close(order, ended, out);
  }

  /** Places a delayed order, or returns why it ends instead. */
  #endOfDelay(order: NaiveOrder, market: NaiveMarket, out: Settlement): EndWord | undefined {
    const { line } = order;
    if (line.expiration !== 0 && line.expiration * 1_000 <= this.#time) return 'expired';
    const isLow = line.feeRateBps < market.terms.baseFeeBps;
    if (!market.terms.tradable || isLow || !this.#mayRest(line)) return 'unmatched';
    const taker = { ...order, arrival: this.#nextArrival() };
    const isOfAgent = this.purse?.agents.isOfAgent(line.id) === true;
    const plan = market.plan(taker, this.#policy, isOfAgent);
    const refusal = this.#matchRefusal(taker, market, plan, out);
    if (refusal === RejectReason.selfTrade) return 'selfTrade';
    if (refusal !== RejectReason.accepted) return 'unmatched';
    this.#execute(taker, market, plan, out);
    return undefined;
  }

  #nextArrival(): number {
    this.#arrivals += 1;
    return this.#arrivals;
  }

  /** Reserves the money of delayed orders for a new fee, in order of arrival. */
  #holdAgain(market: NaiveMarket, dearer: ReadonlySet<unknown>, out: Settlement): void {
    const waiting = market.delayed;
    market.delayed = [];
    for (const each of waiting) {
      const { line, price } = each.order;
      const fee = line.side === 'BUY' ? market.largestFee(line.shares, price) : 0n;
      if (this.purse?.covers(line, fee) === false) market.close(each.order, 'unmatched', out);
      else market.delayed.push(each);
    }
    for (const each of market.delayed.toReversed()) {
      const isOver = this.purse?.agents.exceeds(each.order, this.#time) === true;
      if (!isOver || !dearer.has(each)) continue;
      market.delayed = market.delayed.filter((other) => other !== each);
      market.close(each.order, 'unmatched', out);
    }
  }

  /** Ends the open orders that `isMeant` selects; returns how many. */
  #closeWhere(
    isMeant: (order: NaiveOrder, market: NaiveMarket) => boolean,
    reason: EndWord,
    out: Settlement,
  ): number {
    let count = 0;
    for (const market of this.markets) {
      for (const order of market.open.filter((o) => isMeant(o, market))) {
        market.close(order, reason, out);
        market.touch(order.line.token, this.#time);
        count += 1;
      }
      for (const { order } of market.delayed.filter((each) => isMeant(each.order, market))) {
        market.close(order, reason, out);
        count += 1;
      }
    }
    return count;
  }

  /** Ends matching orders among the newest open ones of the owner, up to the command's limit. */
  #cancelOwned(command: Extract<Command, { kind: 'cancel-all' }>, out: Settlement): void {
    const { limit, market, signer, token } = command;
    const isChosen = ({ line }: NaiveOrder, its: NaiveMarket): boolean =>
      line.signer === signer &&
      (market === 0 || its === this.markets[market - 1]) &&
      (token === 0 || line.token === token);
    // Delayed orders come first, by arrival.
    const waiting = this.markets
      .flatMap((its) => its.delayed.map(({ order }) => ({ order, its })))
      .filter(({ its, order }) => isChosen(order, its))
      .sort((a, b) => a.order.arrival - b.order.arrival)
      .map(({ order }) => order);
    const left = Math.max(0, limit - waiting.length);
    const looked = this.markets
      .flatMap(({ open }) => open)
      .filter(({ line }) => line.signer === signer)
      .sort((a, b) => b.arrival - a.arrival)
      .slice(0, left);
    const isMeant = [...waiting.slice(0, limit), ...looked];
    this.#closeWhere(
      (order, its) => isMeant.includes(order) && isChosen(order, its),
      'canceled',
      out,
    );
  }

  #register(line: Extract<Command, { kind: 'market' }>, out: Settlement): RejectReasonCode {
    const { condition, outcomes } = line;
    if (this.#conditions.has(condition)) return RejectReason.marketRefused;
    const market = new NaiveMarket(line, this.tokenCount() + 1, outcomes, this.#time);
    this.#conditions.set(condition, market);
    this.markets.push(market);
    market.end = line.end ?? 0;
    this.#endIfDue(market, out);
    return RejectReason.accepted;
  }

  #setSchedule(line: Extract<Command, { kind: 'fees' }>, out: Settlement): RejectReasonCode {
    const market = this.#conditions.get(line.condition);
    if (market === undefined) return RejectReason.marketRefused;
    const { exponent, rate, rebate } = line;
    const isValid =
      [rate, rebate].every((part) => part >= 0 && part <= 1_000_000) &&
      exponent >= 0 &&
      exponent <= 4;
    if (!isValid || takesMoreThanProceeds(line, market.terms.grid))
      return RejectReason.feeScheduleInvalid;
    const feeOf = ({ line, price }: NaiveOrder): bigint => market.largestFee(line.shares, price);
    const before = new Map(market.delayed.map(({ order }) => [order, feeOf(order)]));
    market.schedule = rate === 0 ? undefined : { exponent, rate, rebate };
    market.touchAll(this.#time);
    const dearer = market.delayed.filter(({ order }) => feeOf(order) > before.get(order)!);
    this.#holdAgain(market, new Set(dearer), out);
    return RejectReason.accepted;
  }

  #endIfDue(market: NaiveMarket, out: Settlement): void {
    if (!market.isDue(this.#time)) return;
    this.#closeWhere((_, its) => its === market, 'endReached', out);
    market.hasReachedEnd = true;
    market.terms = { ...market.terms, tradable: false, ended: true };
    if (market.held !== undefined) market.held = market.terms;
    market.touchAll(this.#time);
  }

  #change(number: number, wanted: Terms, out: Settlement): RejectReasonCode {
    const market = this.markets[number - 1];
    if (market === undefined || market.terms.negRisk !== wanted.negRisk)
      return RejectReason.marketRefused;
    const { schedule } = market;
    if (schedule !== undefined && takesMoreThanProceeds(schedule, wanted.grid))
      return RejectReason.feeScheduleInvalid;
    const isOver = market.isResolved || market.hasReachedEnd;
    const over = isOver ? { ...wanted, tradable: false, ended: true } : wanted;
    if (market.held !== undefined) market.held = over;
    const terms = market.held === undefined ? over : { ...over, tradable: false };
    const isEnding = terms.ended && !market.terms.ended;
    const pipsPerTick = PIPS / terms.grid;
    this.#closeWhere(
      (order, its) => its === market && (isEnding || order.price % pipsPerTick !== 0),
      isEnding ? 'marketEnded' : 'tickChange',
      out,
    );
    market.terms = terms;
    market.touchAll(this.#time);
    if (!isOver && wanted.end !== undefined) market.end = wanted.end;
    this.#endIfDue(market, out);
    return RejectReason.accepted;
  }

  #place(line: OrderLine, out: Settlement): RejectReasonCode {
    if (this.purse?.ending !== undefined) return RejectReason.seasonEnding;
    const early = this.#requestRefusal(line);
    if (early !== RejectReason.accepted) return early;
    const market = this.marketOf(line.token);
    if (market === undefined) return RejectReason.tokenUnknown;
    if (line.faults.includes('other-condition')) return RejectReason.tokenOfOtherCondition;
    if (this.#accepted.has(line.id) || line.faults.includes('known')) return RejectReason.duplicate;
    const terms = this.#termsRefusal(line, market);
    if (terms !== RejectReason.accepted) return terms;
    const price = (ticksOf(line, market.terms.grid) * PIPS) / market.terms.grid;
    if (price === 0) return RejectReason.tick;
    if (line.shares < market.terms.minSize) return RejectReason.sizeBelowMinimum;
    if (line.faults.includes('forged')) return RejectReason.signature;
    // With a ledger, the signer's right has to be known already.
    const unbound = this.purse === undefined ? line.signer : undefined;
    const bound = this.#bindings.get(line.maker) ?? unbound;
    const isFree = line.signatureType === 0 || line.derived === true;
    let agent: NaiveAgent | undefined;
    if (line.foreign === true || (!isFree && bound !== line.signer)) {
      const number = 1 + this.markets.indexOf(market);
      const reason = this.purse?.agents.refusal(line, number);
      if (reason === undefined)
        return line.foreign === true ? RejectReason.signature : RejectReason.binding;
      if (reason !== RejectReason.accepted) return reason;
      agent = this.purse!.agents.find(line.maker, line.signer);
    }
    if (this.purse?.covers(line) === false) return RejectReason.notEnough;
    const taker: NaiveOrder = {
      line,
      price,
      arrival: this.#nextArrival(),
      remaining: line.shares,
      paid: 0n,
    };
    const plan = market.plan(taker, this.#policy, agent !== undefined);
    const takes = plan.steps.length > 0 || plan.stoppedBy !== undefined;
    const isTaker = takes && line.side === 'BUY' && !line.postOnly;
    const fee = isTaker ? market.largestFee(line.shares, price) : 0n;
    if (isTaker) {
      if (this.purse?.covers(line, fee) === false) return RejectReason.notEnough;
    }
    if (line.side === 'BUY' && this.purse?.exposes(line)) return RejectReason.exposureTooHigh;
    if (agent !== undefined && line.side === 'BUY') {
      const left = this.purse!.agents.left(agent, this.#time);
      if (line.collateral + fee > left) return RejectReason.agentCash;
    }
    if (!this.#mayRest(line)) return RejectReason.tooManyOpen;
    const isListed = agent === undefined || this.purse!.agents.mayList(agent);
    const rests = line.type === 'GTC' || line.type === 'GTD';
    if (rests && !isListed) return RejectReason.tooManyOpen;
    if (agent === undefined && !this.mayHaveWallet(line)) return RejectReason.tooManyWallets;
    const delay = Math.max(market.takerDelay, line.delay ?? 0);
    const isDelayed = takes && delay > 0;
    if (isDelayed && !this.#mayDelay(line)) return RejectReason.tooManyDelayed;
    if (isDelayed && !isListed) return RejectReason.tooManyOpen;

    const unmatched = this.#matchRefusal(taker, market, plan, out);
    if (unmatched !== RejectReason.accepted) return unmatched;
    this.#accepted.add(line.id);
    if (agent !== undefined) this.purse!.agents.accepted(line);
    if (isDelayed) {
      const due = this.#time + delay * 1_000;
      const expiry = line.expiration === 0 ? due : line.expiration * 1_000;
      market.delayed.push({ order: taker, due: Math.min(due, expiry) });
      out.waits = true;
    } else this.#execute(taker, market, plan, out, line.settlement);
    if (agent === undefined) this.endAgents(this.bind(line.maker, line.signer), out);
    return RejectReason.accepted;
  }

  #mayRest({ maker, signer, type }: OrderLine): boolean {
    if (type === 'FOK' || type === 'FAK') return true;
    const open = this.markets.flatMap((market) => market.open);
    const ofWallet = open.filter(({ line }) => line.maker === maker && line.id !== NO_ID).length;
    const isBound = this.openOrdersPerWallet !== 0 && this.purse?.isHouse(maker) !== true;
    if (isBound && ofWallet >= this.openOrdersPerWallet) return false;
    if (this.openOrdersPerAccount === 0) return true;
    return open.filter(({ line }) => line.signer === signer).length < this.openOrdersPerAccount;
  }

  #mayDelay({ signer }: OrderLine): boolean {
    const waiting = this.markets.flatMap(({ delayed }) => delayed);
    return waiting.filter(({ order }) => order.line.signer === signer).length < DELAYED_OF_OWNER;
  }

  mayHaveWallet({ maker, signer }: Pick<OrderLine, 'maker' | 'signer'>): boolean {
    if (this.walletsPerSigner === 0 || maker === signer) return true;
    const wallets = [...this.#bindings].filter(([wallet, to]) => to === signer && wallet !== to);
    const isKnown = wallets.some(([wallet]) => wallet === maker);
    return isKnown || wallets.length < this.walletsPerSigner;
  }

  /** Rules 1 to 3, which need the request alone. */
  #requestRefusal(line: OrderLine): RejectReasonCode {
    if (line.faults.includes('foreign-key')) return RejectReason.ownerMismatch;
    const isImmediate = line.type === 'FOK' || line.type === 'FAK';
    if (line.postOnly && isImmediate) return RejectReason.postOnlyType;
    if (line.faults.includes('unknown-condition')) return RejectReason.conditionUnknown;
    return RejectReason.accepted;
  }

  /** Rules 5 to 8, the public taker, the largest size. */
  #termsRefusal(line: OrderLine, market: NaiveMarket): RejectReasonCode {
    if (!market.terms.tradable) return RejectReason.marketNotReady;
    if (line.shares <= 0n || line.collateral <= 0n) return RejectReason.amountsNotPositive;
    if (line.type === 'GTD') {
      if (line.expiration === 0) return RejectReason.expirationRequired;
      if (line.expiration * 1_000 <= this.#time) return RejectReason.expirationPast;
    } else if (line.expiration !== 0) return RejectReason.expirationInvalid;
    if (line.feeRateBps < 0) return RejectReason.feeNegative;
    if (line.feeRateBps > FEE_BPS_MAX) return RejectReason.feeTooHigh;
    if (line.feeRateBps < market.terms.baseFeeBps) return RejectReason.feeBelowBase;
    if (line.faults.includes('private')) return RejectReason.takerNotPublic;
    const isTooLarge = line.shares > AMOUNT_MAX || line.collateral > AMOUNT_MAX;
    return isTooLarge ? RejectReason.sizeAboveMaximum : RejectReason.accepted;
  }

  /** Level totals, post-only, FOK, self-trade, FAK. */
  #matchRefusal(
    taker: NaiveOrder,
    market: NaiveMarket,
    plan: Plan,
    out: Settlement,
  ): RejectReasonCode {
    const { line } = taker;
    if (line.type === 'GTC' || line.type === 'GTD') {
      const total = market.levelTotal(line.token, line.side, taker.price);
      if (total + line.shares - plan.filled > AMOUNT_MAX) return RejectReason.sizeAboveMaximum;
    }
    const crosses = plan.steps.length > 0 || plan.stoppedBy !== undefined;
    if (line.postOnly && crosses) {
      return line.side === 'BUY'
        ? RejectReason.postOnlyCrossesAsk
        : RejectReason.postOnlyCrossesBid;
    }
    if (line.type === 'FOK' && plan.filled !== line.shares) {
      return plan.stoppedBy === undefined ? RejectReason.fokUnfilled : RejectReason.selfTrade;
    }
    if (plan.filled === 0n && plan.stoppedBy !== undefined) {
      const isCanceled = this.#policy === 'cancel-both' && !plan.isKept;
      if (isCanceled) this.#cancelMaker(plan.stoppedBy, market, out);
      return RejectReason.selfTrade;
    }
    if (line.type === 'FAK' && plan.filled === 0n) return RejectReason.fakUnfilled;
    return RejectReason.accepted;
  }

  #cancelMaker(maker: NaiveOrder, market: NaiveMarket, out: Settlement): void {
    market.close(maker, 'selfTrade', out);
    market.touch(maker.line.token, this.#time);
  }

  #execute(
    taker: NaiveOrder,
    market: NaiveMarket,
    plan: Plan,
    out: Settlement,
    later?: OrderLine['settlement'],
  ): void {
    const match = this.fills;
    for (const { maker, size } of plan.steps) {
      if (size === 0n) this.#cancelMaker(maker, market, out);
      else {
        const { rounding } = market;
        market.fill(taker, maker, size, match, out, this.fills);
        const isLater = later !== undefined && this.purse !== undefined;
        if (isLater) {
          this.unsettled.push({
            fill: out.fills.at(-1)!,
            market,
            sequence: this.fills,
            due: this.#time + later.ms,
            fails: later.fails,
            fault: later.fault,
            rounding: market.rounding - rounding,
          });
        }
        this.fills += 1;
        market.touch(taker.line.token, this.#time);
      }
    }
    if (plan.stoppedBy !== undefined && this.#policy === 'cancel-both' && !plan.isKept) {
      this.#cancelMaker(plan.stoppedBy, market, out);
    }
    if (taker.remaining === 0n) market.close(taker, 'filled', out);
    else if (plan.stoppedBy !== undefined) market.close(taker, 'selfTrade', out);
    else if (taker.line.type === 'FAK') market.close(taker, 'fakRemainder', out);
    else {
      market.open.push(taker);
      market.touch(taker.line.token, this.#time);
    }
  }
}
