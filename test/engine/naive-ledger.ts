/**
 * The naive ledger, written from docs/ledger.md: totals in maps, and reserved amounts counted anew
 * from the open orders each time. It is never made faster.
 */
import { RejectReason, type RejectReasonCode } from '../../engine/orders/reject-reasons.ts';
import { NaiveAgents } from './naive-agents.ts';
import type { NaiveMarket, NaiveOrder } from './naive-book.ts';
import type { NaiveExchange } from './naive-exchange.ts';
import { NO_ID } from './naive-source.ts';
import type { FillLine, OrderLine } from './naive-types.ts';

export interface RequestLine {
  readonly isOperator: boolean;
  readonly ms: number;
  /** True for a text of an operator, which has no milliseconds. */
  readonly isText?: true;
  readonly key: number;
}

export interface FundsLine {
  readonly kind:
    | 'deposit'
    | 'withdraw'
    | 'split'
    | 'merge'
    | 'declare'
    | 'payFees'
    | 'payRebate'
    | 'drawFees';
  readonly id: RequestLine;
  readonly wallet: number;
  /** 0 = none. */
  readonly signer: number;
  readonly market: number;
  readonly amount: number;
}

export interface ResolveLine {
  readonly kind: 'resolve';
  readonly id: RequestLine;
  readonly market: number;
  readonly weights: readonly number[];
  readonly isVoid: boolean;
  /** 0 = none. */
  readonly group: number;
  /** Milliseconds of review of a proposal; absent for other resolutions. */
  readonly review?: number | undefined;
}

export interface RelayCallLine {
  readonly kind: 'approve' | 'split' | 'merge' | 'redeem';
  readonly market: number;
  readonly amount: number;
}

export interface RelayLine {
  readonly kind: 'relay';
  readonly wallet: number;
  /** Difference of its nonce from the right one. */
  readonly off: number;
  readonly calls: readonly RelayCallLine[];
}

export interface WithdrawLine {
  readonly kind: 'withdrawProposal';
  readonly id: RequestLine;
  readonly market: number;
}

export interface InviteLine {
  readonly kind: 'invite';
  readonly codes: readonly number[];
  readonly cash: number;
}

export interface InviteUseLine {
  readonly kind: 'redeem' | 'revoke';
  readonly code: number;
  readonly wallet: number;
}

interface Code {
  readonly batch: InviteLine;
  isRevoked: boolean;
  wallet: number | undefined;
}

export interface SeasonLine {
  readonly kind: 'season';
  readonly id: RequestLine;
  readonly amount: number;
}

/** Marks an account of the house. */
export interface HouseLine {
  readonly kind: 'house';
  readonly wallet: number;
}

interface Proposal {
  readonly line: ResolveLine;
  readonly deadline: number;
}

const AMOUNT_MAX = 2 ** 53 - 1;
const DEPOSITED_MAX = 2n ** 52n;
const PIPS = 10_000n;
const TEXT_KEPT_MS = 400 * 86_400_000;
const REVIEW_MAX = 365 * 86_400_000;

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

/** Remaining cost of a resting BUY, rounded up, and never more than it may still pay. */
function costOf({ line, paid, price, remaining }: NaiveOrder): bigint {
  const cost = (remaining * BigInt(price) + PIPS - 1n) / PIPS;
  return min(cost, line.collateral - paid);
}

const isOfSource = ({ line }: NaiveOrder): boolean => line.id === NO_ID;

export class NaiveLedger {
  readonly cash = new Map<number, bigint>();
  /** Shares by wallet and token, then those of the venue by token. */
  readonly shares = new Map<string, bigint>();
  readonly venue = new Map<number, bigint>();
  readonly collateral = new Map<number, bigint>();
  readonly resolutions = new Map<number, ResolveLine>();
  readonly done = new Set<number>();
  readonly proposals = new Map<number, Proposal>();
  /** Relayed batches by wallet. */
  readonly relayed = new Map<number, number>();
  readonly codes = new Map<number, Code>();
  /** Cost by wallet, and then by token. */
  readonly costs = new Map<number, Map<number, bigint>>();
  /** 0 = no limit of exposure. */
  exposurePerWallet = 0n;
  begunAtDeadline = 0;
  /** Start sum of the season that ends. */
  ending: bigint | undefined;
  seasons = 0;
  deposited = 0n;
  fees = 0n;
  rounding = 0n;
  readonly agents: NaiveAgents;
  readonly #exchange: NaiveExchange;
  readonly #wallets = new Set<number>();
  readonly #houses = new Set<number>();
  /** Addresses that got an account with an order of an agent. */
  readonly #ofAgents = new Set<number>();
  readonly #requests = new Map<string, { readonly body: string; readonly time: number }>();
  /** Bound of texts that are kept at a time. */
  readonly #textsMax: number;

  constructor(exchange: NaiveExchange, textsMax: number) {
    this.#exchange = exchange;
    this.#textsMax = textsMax;
    exchange.purse = this;
    this.agents = new NaiveAgents({
      markets: exchange.markets,
      hasAccount: (wallet) => this.#wallets.has(wallet),
      boundTo: (wallet) => exchange.boundTo(wallet),
      mayBind: (maker, signer) => exchange.mayHaveWallet({ maker, signer }),
      bind: (wallet, owner) => {
        this.#wallets.add(owner);
        return exchange.bind(wallet, owner);
      },
      reserveOf: (order, market, isDelayed) =>
        isDelayed
          ? order.line.collateral + market.largestFee(order.line.shares, order.price)
          : costOf(order),
    });
  }

  sharesOf(wallet: number, token: number): bigint {
    return this.shares.get(`${wallet}/${token}`) ?? 0n;
  }

  cashOf(wallet: number): bigint {
    return this.cash.get(wallet) ?? 0n;
  }

  reservedCash(wallet: number): bigint {
    const resting = this.#open(wallet, 'BUY').reduce(
      (total, order) => total + costOf(order),
      this.#held(wallet, 'cash'),
    );
    return this.#waiting(wallet, 'BUY').reduce(
      (total, { market, order }) =>
        total + order.line.collateral + market.largestFee(order.line.shares, order.price),
      resting,
    );
  }

  reservedShares(wallet: number, token: number): bigint {
    const waiting = this.#waiting(wallet, 'SELL').map(({ order }) => order);
    const selling = [...this.#open(wallet, 'SELL'), ...waiting].filter(
      ({ line }) => line.token === token,
    );
    return selling.reduce(
      (total, order) => total + order.remaining,
      this.#held(wallet, `token ${token}`),
    );
  }

  /** Amount that a wallet received in fills that are not settled: 'cash', or shares of `token 1`. */
  #held(wallet: number, what: string): bigint {
    let held = 0n;
    for (const { fill } of this.#exchange.unsettled) {
      const [size, fee] = [BigInt(fill.size), BigInt(fill.fee)];
      const takerBuys = fill.takerSide === 'BUY';
      const makerBuys = fill.kind === 'fills' ? !takerBuys : takerBuys;
      const bought = fill.isScheduled ? size : size - fee;
      const takers = takerBuys
        ? [`token ${fill.takerToken}`, bought]
        : ['cash', BigInt(fill.takerCollateral) - fee];
      const makers = makerBuys
        ? [`token ${fill.makerToken}`, size]
        : ['cash', BigInt(fill.makerCollateral)];
      if (fill.takerAccount === wallet && takers[0] === what) held += BigInt(takers[1]!);
      if (fill.makerAccount === wallet && makers[0] === what) held += BigInt(makers[1]!);
    }
    return held;
  }

  /** Fees of fills that are not settled, as far as they are cash. */
  #heldFees(): bigint {
    return this.#exchange.unsettled.reduce((total, { fill }) => {
      const isShares = fill.takerSide === 'BUY' && !fill.isScheduled;
      return total + (isShares ? 0n : BigInt(fill.fee));
    }, 0n);
  }

  /** Its delayed orders, which also reserve the largest fee. */
  #waiting(wallet: number, side: string): { market: NaiveMarket; order: NaiveOrder }[] {
    return this.#exchange.markets
      .flatMap((market) => market.delayed.map(({ order }) => ({ market, order })))
      .filter(({ order: { line } }) => line.maker === wallet && line.side === side);
  }

  #open(wallet: number, side: string): NaiveOrder[] {
    const open: NaiveOrder[] = [];
    for (const market of this.#exchange.markets) {
      for (const order of market.open) {
        if (order.line.maker === wallet && order.line.side === side) open.push(order);
      }
    }
    return open;
  }

  #freeShares(wallet: number, token: number): bigint {
    return this.sharesOf(wallet, token) - this.reservedShares(wallet, token);
  }

  #freeCash(wallet: number): bigint {
    return this.cashOf(wallet) - this.reservedCash(wallet);
  }

  covers({ collateral, maker, shares, side, token }: OrderLine, fee = 0n): boolean {
    if (!this.#wallets.has(maker)) return false;
    return side === 'BUY'
      ? this.#freeCash(maker) >= collateral + fee
      : this.#freeShares(maker, token) >= shares;
  }

  exposes({ collateral, maker }: OrderLine): boolean {
    if (this.exposurePerWallet === 0n || this.isHouse(maker)) return false;
    return this.reservedCash(maker) + this.costOf(maker) + collateral > this.exposurePerWallet;
  }

  costOf(wallet: number): bigint {
    return [...(this.costs.get(wallet)?.values() ?? [])].reduce((a, b) => a + b, 0n);
  }

  /** Counts what was paid for shares, after they have moved. */
  #addCost(wallet: number, token: number, paid: bigint): void {
    const costs = this.costs.get(wallet) ?? new Map<number, bigint>();
    this.costs.set(wallet, costs);
    const cost = (costs.get(token) ?? 0n) + paid;
    costs.set(token, this.sharesOf(wallet, token) === 0n || cost < 0n ? 0n : cost);
  }

  accepted({ id, maker, signer }: OrderLine): void {
    if (this.agents.isOfAgent(id) && !this.#wallets.has(signer)) this.#ofAgents.add(signer);
    this.#wallets.add(maker).add(signer);
  }

  settle(fill: FillLine, market: number): void {
    this.#settle(fill, market, 1n);
  }

  takeBack(fill: FillLine, market: number): void {
    this.#settle(fill, market, -1n);
  }

  #settle(fill: FillLine, market: number, sign: bigint): void {
    const [size, fee] = [sign * BigInt(fill.size), sign * BigInt(fill.fee)];
    const taker = sign * BigInt(fill.takerCollateral);
    const maker = sign * BigInt(fill.makerCollateral);
    const takerBuys = fill.takerSide === 'BUY';
    const makerBuys = fill.kind === 'fills' ? !takerBuys : takerBuys;
    this.#add(fill.makerAccount, fill.makerToken, makerBuys, size, maker, 0n);
    if (sign > 0n) this.#addCost(fill.makerAccount, fill.makerToken, makerBuys ? maker : -maker);
    const isShares = takerBuys && !fill.isScheduled;
    if (isShares) this.#add(fill.takerAccount, fill.takerToken, takerBuys, size, taker, fee);
    else {
      this.#add(fill.takerAccount, fill.takerToken, takerBuys, size, taker, 0n);
      this.#addCash(fill.takerAccount, -fee);
    }
    const fees = isShares ? 0n : fee;
    this.#addCost(fill.takerAccount, fill.takerToken, (takerBuys ? taker : -taker) + fees);
    if (sign < 0n) this.#addCost(fill.makerAccount, fill.makerToken, makerBuys ? maker : -maker);
    if (isShares) this.venue.set(fill.takerToken, (this.venue.get(fill.takerToken) ?? 0n) + fee);
    else this.fees += fee;
    const sets = fill.kind === 'fills' ? 0n : fill.kind === 'mints' ? size : -size;
    this.collateral.set(market, (this.collateral.get(market) ?? 0n) + sets);
    // What the buyers gave, and sellers and sets did not get.
    const given = (takerBuys ? taker : -taker) + (makerBuys ? maker : -maker);
    this.rounding += given - sets;
  }

  #add(
    wallet: number,
    token: number,
    buys: boolean,
    size: bigint,
    collateral: bigint,
    fee: bigint,
  ): void {
    this.#addCash(wallet, buys ? -collateral : collateral - fee);
    this.#addShares(wallet, token, buys ? size - fee : -size);
  }

  #addCash(wallet: number, amount: bigint): void {
    this.cash.set(wallet, this.cashOf(wallet) + amount);
  }

  #addShares(wallet: number, token: number, amount: bigint): void {
    this.shares.set(`${wallet}/${token}`, this.sharesOf(wallet, token) + amount);
  }

  #tokens(market: number): number[] {
    const { firstToken, outcomes } = this.#exchange.markets[market - 1]!;
    return Array.from({ length: outcomes }, (_, i) => firstToken + i);
  }

  season({ amount, id, kind }: SeasonLine, now: number): RejectReasonCode {
    const body = JSON.stringify([kind, amount]);
    const used = this.#request(id, body, now);
    if (used !== undefined) return used;
    if (!Number.isInteger(amount) || amount < 1 || amount > AMOUNT_MAX)
      return RejectReason.amountInvalid;
    if (this.ending !== undefined) return RejectReason.seasonEnding;
    const { markets, unsettled } = this.#exchange;
    const isQuiet =
      unsettled.length === 0 &&
      this.proposals.size === 0 &&
      this.resolutions.size === this.done.size &&
      [...this.shares.values()].every((shares) => shares === 0n) &&
      [...this.#houses].every((wallet) => this.cashOf(wallet) === 0n) &&
      markets.every(({ delayed, open }) => delayed.length === 0 && open.every(isOfSource));
    if (!isQuiet) return RejectReason.seasonBusy;
    const most = this.deposited + BigInt(amount) * BigInt(this.#wallets.size);
    if (most > DEPOSITED_MAX) return RejectReason.depositsTooLarge;
    this.#requests.set(JSON.stringify(id), { body, time: now });
    this.ending = BigInt(amount);
    this.seasons += 1;
    return RejectReason.accepted;
  }

  house({ wallet }: HouseLine): RejectReasonCode {
    if (this.ending !== undefined) return RejectReason.seasonEnding;
    if (!this.#wallets.has(wallet)) return RejectReason.walletUnknown;
    this.#houses.add(wallet);
    return RejectReason.accepted;
  }

  isHouse(wallet: number): boolean {
    return this.#houses.has(wallet);
  }

  /** Wallets that the end of a season has not reset yet. */
  unreset(): number[] {
    return [...this.#wallets].filter((wallet) => {
      const isOther = this.#exchange.signsForOthers(wallet) || this.#ofAgents.has(wallet);
      const isWallet = this.cashOf(wallet) > 0n || !isOther;
      return isWallet && !this.isHouse(wallet) && this.cashOf(wallet) !== this.ending;
    });
  }

  reset(wallet: number): void {
    this.#pay(wallet, this.ending! - this.cashOf(wallet));
  }

  /** @param ended receives the ids of orders that end with it */
  funds(line: FundsLine, now: number, ended: Set<number>): RejectReasonCode {
    if (this.ending !== undefined) return RejectReason.seasonEnding;
    const { amount, id, kind, market, signer, wallet: named } = line;
    const wallet = kind === 'drawFees' ? 0 : named;
    const hasSigner = kind === 'deposit' || kind === 'declare';
    const other = kind === 'split' || kind === 'merge' ? market : hasSigner ? signer : 0;
    const body = JSON.stringify([kind, wallet, other, kind === 'declare' ? 0 : amount]);
    const used = this.#request(id, body, now);
    if (used !== undefined) return used;
    const reason = this.#fundsRefusal(line);
    if (reason !== RejectReason.accepted) return reason;
    this.#requests.set(JSON.stringify(id), { body, time: now });
    if (wallet !== 0) this.#wallets.add(wallet);
    if (kind === 'deposit') this.#pay(wallet, BigInt(amount));
    if (kind === 'withdraw') this.#pay(wallet, -BigInt(amount));
    if (kind === 'split') this.#moveSets(wallet, market, BigInt(amount));
    if (kind === 'merge') this.#moveSets(wallet, market, -BigInt(amount));
    if (kind === 'drawFees') this.deposited -= BigInt(amount);
    const isPaid = kind === 'payFees' || kind === 'payRebate';
    if (kind === 'drawFees' || isPaid) this.fees -= BigInt(amount);
    if (isPaid) this.#addCash(wallet, BigInt(amount));
    if (signer !== 0 && hasSigner) {
      this.#wallets.add(signer);
      for (const order of this.#exchange.changeSigner(wallet, signer)) ended.add(order);
    }
    return RejectReason.accepted;
  }

  #request(id: RequestLine, body: string, now: number): RejectReasonCode | undefined {
    const before = this.#requests.get(JSON.stringify(id));
    const isKept = id.isText !== true || (before && now - before.time < TEXT_KEPT_MS);
    if (before !== undefined && isKept) {
      return before.body === body ? RejectReason.idRepeated : RejectReason.idConflict;
    }
    if (id.isText) {
      return this.keptTexts(now) < this.#textsMax ? undefined : RejectReason.idsFull;
    }
    const isId = Number.isInteger(id.ms) && id.ms >= 0 && id.ms <= now + 300_000;
    return isId ? undefined : RejectReason.idInvalid;
  }

  keptTexts(now: number): number {
    const texts = [...this.#requests].filter(([id]) => JSON.parse(id).isText === true);
    return texts.filter(([, { time }]) => now - time < TEXT_KEPT_MS).length;
  }

  #fundsRefusal({ amount, kind, market, signer, wallet }: FundsLine): RejectReasonCode {
    const isAmount = Number.isInteger(amount) && amount >= 1 && amount <= AMOUNT_MAX;
    if (kind !== 'declare' && !isAmount) return RejectReason.amountInvalid;
    if (kind === 'deposit' || kind === 'declare') {
      const total = this.deposited + (kind === 'deposit' ? BigInt(amount) : 0n);
      if (total > DEPOSITED_MAX) return RejectReason.depositsTooLarge;
      if (kind === 'declare' && signer === 0) return RejectReason.walletUnknown;
      const isOwn = this.#exchange.boundTo(wallet) === wallet;
      const isConflict = signer !== 0 && isOwn && signer !== wallet;
      return isConflict ? RejectReason.bindingConflict : RejectReason.accepted;
    }
    if (kind === 'payFees' || kind === 'payRebate' || kind === 'drawFees') {
      return this.fees - this.#heldFees() < BigInt(amount)
        ? RejectReason.notEnough
        : RejectReason.accepted;
    }
    if (!this.#wallets.has(wallet)) return RejectReason.walletUnknown;
    if (kind !== 'withdraw' && this.#exchange.markets[market - 1] === undefined) {
      return RejectReason.marketUnknown;
    }
    if (kind !== 'withdraw' && this.resolutions.has(market)) return RejectReason.marketResolved;
    const free =
      kind === 'merge'
        ? this.#tokens(market).map((token) => this.#freeShares(wallet, token))
        : [this.#freeCash(wallet)];
    const isEnough = free.every((each) => each >= BigInt(amount));
    return isEnough ? RejectReason.accepted : RejectReason.notEnough;
  }

  nextNonce(wallet: number): number {
    return this.relayed.get(wallet) ?? 0;
  }

  /** Applies the calls of a batch one by one; takes all of them back when one is refused. */
  relay({ calls, off, wallet }: RelayLine): RejectReasonCode {
    if (this.ending !== undefined) return RejectReason.seasonEnding;
    if (off !== 0) return RejectReason.nonceMismatch;
    const maps = [this.cash, this.shares, this.collateral] as Map<unknown, bigint>[];
    const costs = new Map([...this.costs].map(([key, value]) => [key, new Map(value)]));
    const before = maps.map((map) => [...map]);
    for (const call of calls) {
      const reason = this.#relayed(wallet, call);
      if (reason === RejectReason.accepted) continue;
      maps.forEach((map, i) => {
        map.clear();
        for (const [key, value] of before[i]!) map.set(key, value);
      });
      this.costs.clear();
      for (const [key, value] of costs) this.costs.set(key, value);
      return reason;
    }
    this.#wallets.add(wallet);
    this.relayed.set(wallet, this.nextNonce(wallet) + 1);
    return RejectReason.accepted;
  }

  #relayed(wallet: number, { amount, kind, market }: RelayCallLine): RejectReasonCode {
    if (kind === 'approve') return RejectReason.accepted;
    if (this.#exchange.markets[market - 1] === undefined) return RejectReason.marketUnknown;
    const isResolved = this.resolutions.has(market);
    if (kind === 'redeem')
      return isResolved ? RejectReason.accepted : RejectReason.marketUnresolved;
    if (!Number.isInteger(amount) || amount < 1 || amount > AMOUNT_MAX)
      return RejectReason.amountInvalid;
    if (isResolved) return RejectReason.marketResolved;
    const free =
      kind === 'split'
        ? [this.#freeCash(wallet)]
        : this.#tokens(market).map((token) => this.#freeShares(wallet, token));
    if (free.some((each) => each < BigInt(amount))) return RejectReason.notEnough;
    this.#moveSets(wallet, market, kind === 'split' ? BigInt(amount) : -BigInt(amount));
    return RejectReason.accepted;
  }

  invite(line: InviteLine): RejectReasonCode {
    const { cash, codes } = line;
    if (!Number.isInteger(cash) || cash < 0 || cash > AMOUNT_MAX) return RejectReason.amountInvalid;
    const known = codes.flatMap((code) => this.codes.get(code) ?? []);
    if (known.length > 0) {
      const { batch } = known[0]!;
      const isSame = known.length === codes.length && codes.length === batch.codes.length;
      return isSame && batch.cash === cash ? RejectReason.idRepeated : RejectReason.idConflict;
    }
    for (const code of codes) {
      this.codes.set(code, { batch: line, isRevoked: false, wallet: undefined });
    }
    return RejectReason.accepted;
  }

  useInvite({ code, kind, wallet }: InviteUseLine): RejectReasonCode {
    if (kind === 'redeem' && this.ending !== undefined) return RejectReason.seasonEnding;
    const found = this.codes.get(code);
    if (found === undefined) return RejectReason.inviteUnknown;
    if (kind === 'revoke') {
      if (found.isRevoked || found.wallet !== undefined) return RejectReason.idRepeated;
      found.isRevoked = true;
      return RejectReason.accepted;
    }
    if (found.isRevoked) return RejectReason.inviteUnknown;
    if (found.wallet === wallet) return RejectReason.idRepeated;
    if (found.wallet !== undefined) return RejectReason.inviteRedeemed;
    if ([...this.codes.values()].some((other) => other.wallet === wallet))
      return RejectReason.walletInvited;
    const cash = BigInt(found.batch.cash);
    if (this.deposited + cash > DEPOSITED_MAX) return RejectReason.depositsTooLarge;
    found.wallet = wallet;
    this.#wallets.add(wallet);
    this.#pay(wallet, cash);
    return RejectReason.accepted;
  }

  #pay(wallet: number, amount: bigint): void {
    this.deposited += amount;
    this.#addCash(wallet, amount);
  }

  #moveSets(wallet: number, market: number, amount: bigint): void {
    this.#addCash(wallet, -amount);
    const tokens = this.#tokens(market);
    const sets = amount < 0n ? -amount : amount;
    const part = sets / BigInt(tokens.length);
    tokens.forEach((token, i) => {
      this.#addShares(wallet, token, amount);
      const own = i === 0 ? sets - part * BigInt(tokens.length - 1) : part;
      this.#addCost(wallet, token, amount < 0n ? -own : own);
    });
    this.collateral.set(market, (this.collateral.get(market) ?? 0n) + amount);
  }

  resolve(line: ResolveLine, now: number): RejectReasonCode {
    if (this.ending !== undefined) return RejectReason.seasonEnding;
    const { group, id, isVoid, market, review, weights } = line;
    const payout = JSON.stringify([weights, isVoid]);
    const used = this.#request(id, JSON.stringify(['resolve', market, payout, review]), now);
    if (used !== undefined) return used;
    const known = this.#exchange.markets[market - 1];
    if (known === undefined) return RejectReason.marketUnknown;
    const isEach = weights.every((weight) => Number.isInteger(weight) && weight >= 0);
    const isFair = !isVoid || weights.every((weight) => weight === weights[0]);
    const isPayout = isEach && isFair && sum(weights) >= 1 && sum(weights) <= 10_000;
    if (weights.length !== known.outcomes || !isPayout) return RejectReason.payoutInvalid;
    const isReview = Number.isInteger(review) && review! >= 1 && review! <= REVIEW_MAX;
    if (review !== undefined && !isReview) return RejectReason.reviewInvalid;
    const before = this.resolutions.get(market);
    if (before !== undefined) {
      const isSame = JSON.stringify([before.weights, before.isVoid]) === payout;
      return isSame && review === undefined ? RejectReason.accepted : RejectReason.marketResolved;
    }
    if (this.proposals.has(market)) return RejectReason.marketProposed;
    const isWinner = (each: ResolveLine): boolean => each.weights[0] === sum(each.weights);
    const proposed = [...this.proposals.values()].map((each) => each.line);
    const others = [...this.resolutions.values(), ...proposed].filter(
      (each) => each.group === group,
    );
    if (group !== 0 && isWinner(line) && others.some(isWinner)) return RejectReason.groupHasWinner;
    const body = JSON.stringify(['resolve', market, payout, review]);
    this.#requests.set(JSON.stringify(id), { body, time: now });
    if (review === undefined) this.#begin(line);
    else {
      this.proposals.set(market, { line, deadline: now + review });
      this.#exchange.hold(market);
    }
    return RejectReason.accepted;
  }

  #begin(line: ResolveLine): void {
    this.resolutions.set(line.market, line);
    this.#exchange.resolve(line.market);
  }

  withdrawProposal({ id, market }: WithdrawLine, now: number): RejectReasonCode {
    const body = JSON.stringify(['withdraw', market]);
    const used = this.#request(id, body, now);
    if (used !== undefined) return used;
    if (this.#exchange.markets[market - 1] === undefined) return RejectReason.marketUnknown;
    if (this.resolutions.has(market)) return RejectReason.marketResolved;
    if (!this.proposals.delete(market)) return RejectReason.proposalUnknown;
    this.#requests.set(JSON.stringify(id), { body, time: now });
    this.#exchange.release(market);
    return RejectReason.accepted;
  }

  /** Begins resolutions that are due in a batch of this time. */
  beginDue(now: number): void {
    for (const [market, { deadline, line }] of this.proposals) {
      if (deadline > now) continue;
      this.proposals.delete(market);
      this.#begin(line);
      this.begunAtDeadline += 1;
    }
  }

  /** Pays a wallet for all its shares of a market. */
  redeem(wallet: number, market: number): void {
    const { weights } = this.resolutions.get(market)!;
    this.#tokens(market).forEach((token, outcome) => {
      const paid =
        (this.sharesOf(wallet, token) * BigInt(weights[outcome]!)) / BigInt(sum(weights));
      this.shares.delete(`${wallet}/${token}`);
      this.#addCost(wallet, token, -paid);
      this.#addCash(wallet, paid);
      this.collateral.set(market, (this.collateral.get(market) ?? 0n) - paid);
    });
  }

  holders(market: number): Set<number> {
    const tokens = this.#tokens(market);
    const held = [...this.shares].filter(([, shares]) => shares > 0n);
    const pairs = held.map(([key]) => key.split('/').map(Number));
    return new Set(pairs.filter(([, token]) => tokens.includes(token!)).map(([wallet]) => wallet!));
  }

  /** Ends the resolution of a market without holders: the rest goes to the venue. */
  finish(market: number): void {
    const { weights } = this.resolutions.get(market)!;
    let rest = this.collateral.get(market) ?? 0n;
    this.#tokens(market).forEach((token, outcome) => {
      const own = this.venue.get(token) ?? 0n;
      const paid = (own * BigInt(weights[outcome]!)) / BigInt(sum(weights));
      this.venue.set(token, 0n);
      this.fees += paid;
      rest -= paid;
    });
    this.rounding += rest;
    this.collateral.set(market, 0n);
    this.done.add(market);
  }
}
