/**
 * The naive market, written from docs/protocol.md, not from the engine: one list of open orders in
 * arrival order, which every taker searches. It is never made faster.
 */
import type {
  BookView,
  EndLine,
  EndWord,
  FillLine,
  OrderLine,
  Policy,
  Schedule,
  SideName,
  Terms,
} from './naive-types.ts';

const PIPS = 10_000;
const ONE_SHARE = 1_000_000n;

/** docs/protocol.md#order-states; an expired order has its reason in `reason` alone. */
const STATUS_OF: Readonly<Record<EndWord, string>> = {
  filled: 'matched',
  fakRemainder: 'matched',
  canceled: 'canceled',
  expired: 'expired',
  marketEnded: 'canceled',
  tickChange: 'canceled',
  selfTrade: 'canceled',
  resolved: 'canceled',
  endReached: 'canceled',
  unmatched: 'canceled',
};

export interface NaiveOrder {
  readonly line: OrderLine;
  /** Limit in pips of its own token. */
  readonly price: number;
  readonly arrival: number;
  remaining: bigint;
  /** Collateral that a BUY has paid so far. */
  paid: bigint;
}

/** An order that waits for a taker delay. */
export interface DelayedOrder {
  readonly order: NaiveOrder;
  /** Unix milliseconds. */
  readonly due: number;
}

/** A fill that is settled later. */
export interface UnsettledFill {
  readonly fill: FillLine;
  readonly market: NaiveMarket;
  readonly sequence: number;
  /** Unix milliseconds. */
  readonly due: number;
  readonly fails: boolean;
  readonly fault: number;
  /** Change of the market's rounding. */
  readonly rounding: bigint;
}

interface Trade {
  readonly price: number;
  readonly side: SideName;
  /** Sequence of its fill. */
  readonly sequence: number;
}

export interface Plan {
  /** In the order of matching; size 0 = the maker is cancelled instead. */
  readonly steps: readonly { readonly maker: NaiveOrder; readonly size: bigint }[];
  readonly filled: bigint;
  /** Order of the same account that ended the walk. */
  readonly stoppedBy: NaiveOrder | undefined;
  /** True where an agent is stopped by an order that it did not sign, which stays. */
  readonly isKept: boolean;
}

export interface Settlement {
  making: bigint;
  taking: bigint;
  readonly fills: FillLine[];
  readonly ended: EndLine[];
  waits: boolean;
}

export function settlement(): Settlement {
  return { making: 0n, taking: 0n, fills: [], ended: [], waits: false };
}

const MICRO = 1_000_000n;
/** docs/protocol.md#fees: 0.00001 of collateral. */
const STEP = 10n;

/** Fee of a schedule on shares at a price in pips, rounded down. */
export function scheduleFee({ exponent, rate }: Schedule, shares: bigint, pips: number): bigint {
  const spread = BigInt(pips) * BigInt(PIPS - pips);
  const whole = BigInt(PIPS) * BigInt(PIPS);
  const fee = shares * BigInt(rate) * spread ** BigInt(exponent);
  return (fee / (MICRO * whole ** BigInt(exponent) * STEP)) * STEP;
}

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const other = (side: SideName): SideName => (side === 'BUY' ? 'SELL' : 'BUY');

/** Price in ticks (docs/protocol.md#limit-price), or 0 when it breaks the tick rule. */
export function ticksOf(order: OrderLine, grid: number): number {
  const g = BigInt(grid);
  const { collateral: c, shares: s } = order;
  let ticks: bigint;
  if (order.type === 'GTC' || order.type === 'GTD') {
    if ((c * g) % s !== 0n) return 0;
    ticks = (c * g) / s;
  } else {
    const below = (c * g) / s;
    ticks = c * g - below * s < (below + 1n) * s - c * g ? below : below + 1n;
    const away = c * g > ticks * s ? c * g - ticks * s : ticks * s - c * g;
    const amountDecimals = { 10: 3, 100: 4, 200: 5, 400: 6, 1000: 5, 10000: 6 }[grid] ?? 0;
    const step = BigInt(10 ** (6 - amountDecimals));
    const isWithin = away * 100n <= 2n * s || (s < ONE_SHARE && away <= ticks * step);
    if (!isWithin || ticks < 1n || ticks >= g) return 0;
    if (order.side === 'BUY' && (s * ticks) / g > c) ticks -= 1n;
    else if (order.side === 'SELL' && (s * ticks) / g < c) ticks += 1n;
  }
  return ticks >= 1n && ticks < g ? Number(ticks) : 0;
}

export class NaiveMarket {
  terms: Terms;
  /** `undefined` = none; also one of rate 0. */
  schedule: Schedule | undefined;
  isResolved = false;
  /** Terms without the halt of a proposed payout. */
  held: Terms | undefined;
  /** Unix milliseconds; 0 = it does not end. */
  end = 0;
  hasReachedEnd = false;
  readonly firstToken: number;
  readonly outcomes: number;
  open: NaiveOrder[] = [];
  /** Seconds. */
  takerDelay = 0;
  /** In order of arrival. */
  delayed: DelayedOrder[] = [];
  /** Shortfall of collateral in settlement (below 0): docs/protocol.md#settlement. */
  rounding = 0n;
  /** Trades of each token, without those that failed. */
  readonly trades = new Map<number, Trade[]>();
  /** Batch time of the last change by token: the two books of a pair always change together. */
  readonly changedAt = new Map<number, number>();

  constructor(terms: Terms, firstToken: number, outcomes: number, time: number) {
    this.terms = terms;
    this.firstToken = firstToken;
    this.outcomes = outcomes;
    this.touchAll(time);
  }

  /** Returns true at the end of a market; a resolved market keeps its state. */
  isDue(time: number): boolean {
    return !this.hasReachedEnd && !this.isResolved && this.end !== 0 && this.end <= time;
  }

  touchAll(time: number): void {
    for (let i = 0; i < this.outcomes; i++) this.changedAt.set(this.firstToken + i, time);
  }

  touch(token: number, time: number): void {
    if (this.outcomes === 2) this.touchAll(time);
    else this.changedAt.set(token, time);
  }

  /**
   * Side and price of an order in the book of `token` (docs/protocol.md#match-kinds), if it is
   * visible there.
   */
  view(order: NaiveOrder, token: number): { side: SideName; price: number } | undefined {
    const { line, price } = order;
    if (line.token === token) return { side: line.side, price };
    if (this.outcomes !== 2) return undefined;
    return { side: other(line.side), price: PIPS - price };
  }

  /** Plans the fills of a taker without changing anything. */
  plan(taker: NaiveOrder, policy: Policy, isOfAgent: boolean): Plan {
    const { side, token, maker: account } = taker.line;
    const reachable: { maker: NaiveOrder; price: number }[] = [];
    for (const maker of this.open) {
      const seen = this.view(maker, token);
      if (seen === undefined || seen.side === side) continue;
      const isInside = side === 'BUY' ? seen.price <= taker.price : seen.price >= taker.price;
      if (isInside) reachable.push({ maker, price: seen.price });
    }
    // The sort is stable: equal prices stay in order of arrival.
    reachable.sort((a, b) => (side === 'BUY' ? a.price - b.price : b.price - a.price));
    const steps: { maker: NaiveOrder; size: bigint }[] = [];
    let filled = 0n;
    for (const { maker } of reachable) {
      if (filled === taker.remaining) break;
      if (policy !== 'allow' && maker.line.maker === account) {
        const isKept = isOfAgent && maker.line.signer !== taker.line.signer;
        if (isKept || policy !== 'cancel-maker') return { steps, filled, stoppedBy: maker, isKept };
        steps.push({ maker, size: 0n });
        continue;
      }
      const size = min(maker.remaining, taker.remaining - filled);
      steps.push({ maker, size });
      filled += size;
    }
    return { steps, filled, stoppedBy: undefined, isKept: false };
  }

  levelTotal(token: number, side: SideName, price: number): bigint {
    let total = 0n;
    for (const order of this.open) {
      const seen = this.view(order, token);
      if (seen?.side === side && seen.price === price) total += order.remaining;
    }
    return total;
  }

  /** Most that a taking BUY may owe as a fee: the dearest of all prices up to its limit. */
  largestFee(shares: bigint, limit: number): bigint {
    let largest = 0n;
    const step = PIPS / this.terms.grid;
    for (let pips = step; this.schedule !== undefined && pips <= limit; pips += step) {
      const fee = scheduleFee(this.schedule, shares, pips);
      if (fee > largest) largest = fee;
    }
    return largest;
  }

  /** Settles one fill at the maker's price (docs/protocol.md#settlement). */
  fill(
    taker: NaiveOrder,
    maker: NaiveOrder,
    size: bigint,
    match: number,
    out: Settlement,
    sequence = match,
  ): void {
    const t = taker.line;
    const m = maker.line;
    const sameToken = t.token === m.token;
    const takerPrice = sameToken ? maker.price : PIPS - maker.price;
    const makerLeg = (size * BigInt(maker.price)) / BigInt(PIPS);
    const takerLeg = sameToken ? makerLeg : size - makerLeg;
    const makerCollateral = m.side === 'BUY' ? this.#pay(maker, makerLeg) : makerLeg;
    const takerCollateral = t.side === 'BUY' ? this.#pay(taker, takerLeg) : takerLeg;
    const paidIn =
      (m.side === 'BUY' ? makerCollateral : 0n) + (t.side === 'BUY' ? takerCollateral : 0n);
    const paidOut =
      (m.side === 'SELL' ? makerCollateral : 0n) + (t.side === 'SELL' ? takerCollateral : 0n);
    const minted = !sameToken && t.side === 'BUY' ? size : 0n;
    const merged = !sameToken && t.side === 'SELL' ? size : 0n;
    this.rounding += paidIn + merged - paidOut - minted;

    const bps = BigInt(this.terms.baseFeeBps);
    const p = BigInt(takerPrice);
    const smaller = BigInt(Math.min(takerPrice, PIPS - takerPrice));
    const { schedule } = this;
    const baseFee =
      t.side === 'BUY'
        ? (bps * smaller * size) / (10_000n * p)
        : (bps * smaller * size) / (10_000n * 10_000n);
    const fee = schedule === undefined ? baseFee : scheduleFee(schedule, size, takerPrice);
    out.making += t.side === 'BUY' ? takerCollateral : size;
    out.taking += t.side === 'BUY' ? size : takerCollateral;
    if (schedule === undefined) out.taking -= fee;
    taker.remaining -= size;
    maker.remaining -= size;
    this.trade(t.token, { price: takerPrice, side: t.side, sequence });
    if (!sameToken) this.trade(m.token, { price: maker.price, side: m.side, sequence });
    out.fills.push({
      kind: sameToken ? 'fills' : t.side === 'BUY' ? 'mints' : 'merges',
      match,
      size,
      taker: t.id,
      takerAccount: t.maker,
      takerOwner: t.signer,
      takerToken: t.token,
      takerSide: t.side,
      takerPrice,
      takerCollateral,
      fee,
      isScheduled: schedule !== undefined,
      rebate: schedule?.rebate ?? 0,
      maker: m.id,
      makerAccount: m.maker,
      makerOwner: m.signer,
      makerToken: m.token,
      makerPrice: maker.price,
      makerCollateral,
    });
    if (maker.remaining === 0n) this.close(maker, 'filled', out);
  }

  trade(token: number, trade: Trade): void {
    this.trades.set(token, [...(this.trades.get(token) ?? []).slice(-200), trade]);
  }

  /** Takes back what a failed fill left in the market. */
  fail({ fill, rounding, sequence }: UnsettledFill, time: number): void {
    this.rounding -= rounding;
    for (const token of new Set([fill.takerToken, fill.makerToken])) {
      const trades = this.trades.get(token)!;
      if (trades.at(-1)!.sequence === sequence) this.touch(token, time);
      this.trades.set(
        token,
        trades.filter((each) => each.sequence !== sequence),
      );
    }
  }

  /** Pays, never beyond the makerAmount of a BUY over its whole life. */
  #pay(order: NaiveOrder, leg: bigint): bigint {
    const paid = min(leg, order.line.collateral - order.paid);
    order.paid += paid;
    return paid;
  }

  close(order: NaiveOrder, reason: EndWord, out: Settlement): void {
    const at = this.open.indexOf(order);
    if (at !== -1) this.open.splice(at, 1);
    this.delayed = this.delayed.filter((each) => each.order !== order);
    // A level of the source leaves no finished order.
    if (order.line.id === 0) return;
    const status = STATUS_OF[reason];
    out.ended.push({ id: order.line.id, reason, status, remaining: order.remaining });
  }

  book(token: number): BookView {
    const bids = new Map<number, bigint>();
    const asks = new Map<number, bigint>();
    for (const order of this.open) {
      const seen = this.view(order, token);
      if (seen === undefined) continue;
      const levels = seen.side === 'BUY' ? bids : asks;
      levels.set(seen.price, (levels.get(seen.price) ?? 0n) + order.remaining);
    }
    const last = this.trades.get(token)?.at(-1);
    return {
      bids: [...bids].sort((a, b) => a[0] - b[0]),
      asks: [...asks].sort((a, b) => b[0] - a[0]),
      changedAt: this.changedAt.get(token) ?? 0,
      grid: this.terms.grid,
      minSize: this.terms.minSize,
      lastPrice: last?.price ?? 0,
      lastSide: last?.side ?? 'BUY',
    };
  }
}
