/**
 * The naive exchange around the naive market: rules in their order, wallets and their signers,
 * cancels, expiry, changes of a market. Written from the documents. Rules:
 * docs/protocol.md#order-of-checks
 */
import { RejectReason, type RejectReasonCode } from '../../engine/orders/reject-reasons.ts';
import {
  NaiveMarket,
  type NaiveOrder,
  type Plan,
  type Settlement,
  settlement,
  ticksOf,
} from './naive-book.ts';
import { NO_ID, runSource } from './naive-source.ts';
import type {
  BookView,
  Command,
  EndWord,
  OrderLine,
  Outcome,
  Policy,
  Terms,
} from './naive-types.ts';

const AMOUNT_MAX = 2n ** 53n - 1n;
const FEE_BPS_MAX = 1_000;
const PIPS = 10_000;

/** A ledger as an exchange sees it: it decides whether the wallet of an order can pay. */
export interface Purse {
  covers(order: OrderLine): boolean;
}

export class NaiveExchange {
  readonly markets: NaiveMarket[] = [];
  fills = 0;
  /** Bound of open orders; 0 = none. */
  openOrdersPerAccount = 0;
  /** Bound of wallets beside the signer's own address; 0 = none. */
  walletsPerSigner = 0;
  purse: Purse | undefined;
  #time = 0;
  #policy: Policy = 'allow';
  readonly #conditions = new Set<number>();
  readonly #accepted = new Set<number>();
  readonly #bindings = new Map<number, number>();

  run(command: Command): Outcome {
    const out = settlement();
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

  /**
   * Replaces the signer of a wallet; returns the open orders of the earlier signer for it, which
   * end.
   */
  changeSigner(wallet: number, signer: number): number[] {
    const before = this.#bindings.get(wallet);
    this.#bindings.set(wallet, signer);
    const out = settlement();
    if (before === undefined || before === signer) return [];
    const isIts = ({ line }: NaiveOrder): boolean =>
      line.maker === wallet && line.signer === before;
    this.#closeWhere(isIts, 'canceled', out);
    return out.ended.map(({ id }) => id);
  }

  /** Marks a market as resolved: no change makes it trade again. */
  resolve(number: number): void {
    const market = this.markets[number - 1]!;
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
          ({ line }) => line.id === command.id && line.signer === command.signer,
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
      case 'policy':
        this.#policy = command.policy;
        return RejectReason.accepted;
      case 'at':
        this.#time = command.time;
        this.#closeWhere(
          ({ line }, market) => {
            const due = market.isDue(this.#time) ? market.end : this.#time;
            return line.expiration !== 0 && line.expiration * 1_000 <= due;
          },
          'expired',
          out,
        );
        for (const market of this.markets) this.#endIfDue(market, out);
        return RejectReason.accepted;
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
    }
    return count;
  }

  /** Ends matching orders among the newest open ones of the owner, up to the command's limit. */
  #cancelOwned(command: Extract<Command, { kind: 'cancel-all' }>, out: Settlement): void {
    const { limit, market, signer, token } = command;
    const looked = this.markets
      .flatMap(({ open }) => open)
      .filter(({ line }) => line.signer === signer)
      .sort((a, b) => b.arrival - a.arrival)
      .slice(0, limit);
    this.#closeWhere(
      (order, its) =>
        looked.includes(order) &&
        (market === 0 || its === this.markets[market - 1]) &&
        (token === 0 || order.line.token === token),
      'canceled',
      out,
    );
  }

  #register(line: Extract<Command, { kind: 'market' }>, out: Settlement): RejectReasonCode {
    const { condition, outcomes } = line;
    if (this.#conditions.has(condition)) return RejectReason.marketRefused;
    this.#conditions.add(condition);
    const market = new NaiveMarket(line, this.tokenCount() + 1, outcomes, this.#time);
    this.markets.push(market);
    market.end = line.end ?? 0;
    this.#endIfDue(market, out);
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
    if (!isFree && bound !== line.signer) return RejectReason.binding;
    if (this.purse?.covers(line) === false) return RejectReason.notEnough;
    if (!this.#mayRest(line)) return RejectReason.tooManyOpen;
    if (!this.#mayHaveWallet(line)) return RejectReason.tooManyWallets;

    const arrival = this.#accepted.size;
    const taker: NaiveOrder = { line, price, arrival, remaining: line.shares, paid: 0n };
    const plan = market.plan(taker, this.#policy);
    const unmatched = this.#matchRefusal(taker, market, plan, out);
    if (unmatched !== RejectReason.accepted) return unmatched;
    this.#accepted.add(line.id);
    this.#bindings.set(line.maker, line.signer);
    this.#execute(taker, market, plan, out);
    return RejectReason.accepted;
  }

  #mayRest({ signer, type }: OrderLine): boolean {
    if (this.openOrdersPerAccount === 0 || type === 'FOK' || type === 'FAK') return true;
    const open = this.markets.flatMap((market) => market.open);
    return open.filter(({ line }) => line.signer === signer).length < this.openOrdersPerAccount;
  }

  #mayHaveWallet({ maker, signer }: OrderLine): boolean {
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
      if (this.#policy === 'cancel-both') this.#cancelMaker(plan.stoppedBy, market, out);
      return RejectReason.selfTrade;
    }
    if (line.type === 'FAK' && plan.filled === 0n) return RejectReason.fakUnfilled;
    return RejectReason.accepted;
  }

  #cancelMaker(maker: NaiveOrder, market: NaiveMarket, out: Settlement): void {
    market.close(maker, 'selfTrade', out);
    market.touch(maker.line.token, this.#time);
  }

  #execute(taker: NaiveOrder, market: NaiveMarket, plan: Plan, out: Settlement): void {
    const match = this.fills;
    for (const { maker, size } of plan.steps) {
      if (size === 0n) this.#cancelMaker(maker, market, out);
      else {
        market.fill(taker, maker, size, match, out);
        this.fills += 1;
        market.touch(taker.line.token, this.#time);
      }
    }
    if (plan.stoppedBy !== undefined && this.#policy === 'cancel-both') {
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
