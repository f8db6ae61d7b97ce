/**
 * The load tool's own book: sorted arrays, price then arrival, as naive as can be, because its only
 * job is to be right. A binary market is one book in the first outcome's prices; any other token
 * has a book of its own (docs/protocol.md#match-kinds).
 * Thread: the tool's only one.
 * Non-goals: speed, cancels, expiry, fees, self-trade policies other than allow.
 */
import { notional } from './load-amounts.ts';

export const BUY = 0;
export const SELL = 1;
export type Side = typeof BUY | typeof SELL;

/** The account of orders that were there before the tool came: nobody knows whose they are. */
export const ANONYMOUS = -1;

/**
 * An anonymous level shows its total, not its orders, and each of them rounds on its own: so many
 * micro-units may the collateral of one such fill differ from the product of size and price.
 */
const ANONYMOUS_SLACK = 64;

/** An order in the terms of its own token. `slot` is its outcome's place in the book, 0 or 1. */
export interface Order {
  readonly account: number;
  readonly slot: number;
  readonly side: Side;
  readonly ticks: number;
  readonly micro: number;
  /** The most collateral that a BUY may give, micro-units. */
  readonly collateralMax: number;
}

interface Resting {
  readonly account: number;
  readonly slot: number; // without meaning for ANONYMOUS
  readonly side: Side; // in its own token, without meaning for ANONYMOUS
  readonly ticks: number; // in the prices of slot 0
  micro: number;
  /** Collateral that a BUY may still give, micro-units. */
  budget: number;
}

interface Fill {
  readonly maker: Resting;
  readonly micro: number;
  /** The trade's price in the taker's token. */
  readonly ticks: number;
  /** True for MINT and MERGE, false for COMPLEMENTARY, undefined against anonymous orders. */
  readonly crossToken: boolean | undefined;
  readonly makerCollateral: number;
}

export interface Match {
  readonly fills: readonly Fill[];
  readonly micro: number;
  /** Collateral that the taker gives (BUY) or receives (SELL), right to within +- slack. */
  readonly collateral: number;
  readonly slack: number;
}

interface Level {
  readonly ticks: number;
  readonly micro: number;
}

/** A last trade: price in the token's own ticks, and the side. */
export interface LastTrade {
  readonly ticks: number;
  readonly side: Side;
}

export class NaiveBook {
  readonly ticksPerUnit: number;
  readonly #queues: [Resting[], Resting[]] = [[], []]; // best first: bids, asks, in slot 0's prices
  /** Possible last trades of a slot. There are several only after fills against anonymous orders. */
  readonly #last: [(LastTrade | undefined)[], (LastTrade | undefined)[]] = [
    [undefined],
    [undefined],
  ];

  constructor(ticksPerUnit: number) {
    this.ticksPerUnit = ticksPerUnit;
  }

  /** Puts what was there before the tool came, in slot 0's prices. */
  seed(side: Side, ticks: number, micro: number): void {
    this.#rest(side, { account: ANONYMOUS, slot: 0, side, ticks, micro, budget: 0 });
  }

  seedLast(slot: number, last: LastTrade): void {
    this.#last[slot === 0 ? 0 : 1] = [last];
  }

  /** Returns the match of the order as of now. Changes nothing. */
  preview(order: Order): Match {
    const side = this.#side(order.slot, order.side);
    const limit = this.#ticks(order.slot, order.ticks);
    const fills: Fill[] = [];
    let left = order.micro;
    let collateral = 0;
    let slack = 0;
    for (const maker of this.#queues[1 - side] ?? []) {
      if (left === 0 || (side === BUY ? maker.ticks > limit : maker.ticks < limit)) break;
      const micro = Math.min(left, maker.micro);
      const fill = this.#fill(order, maker, micro);
      fills.push(fill);
      left -= micro;
      // MINT and MERGE: the maker's leg is rounded down, the taker's is the rest
      // (docs/protocol.md#settlement).
      collateral += fill.crossToken === true ? micro - fill.makerCollateral : fill.makerCollateral;
      if (fill.crossToken === undefined) slack += ANONYMOUS_SLACK;
    }
    if (order.side === BUY) collateral = Math.min(collateral, order.collateralMax);
    return { fills, micro: order.micro - left, collateral, slack };
  }

  /** Executes a preview that nothing came between, and rests what is left of the order. */
  commit(order: Order, match: Match): void {
    const side = this.#side(order.slot, order.side);
    const queue = this.#queues[1 - side] ?? [];
    for (const fill of match.fills) {
      fill.maker.micro -= fill.micro;
      if (fill.maker.side === BUY) fill.maker.budget -= fill.makerCollateral;
      this.#trade(order, fill);
    }
    while (queue[0]?.micro === 0) queue.shift();
    const micro = order.micro - match.micro;
    if (micro === 0) return;
    const { account, slot, side: own } = order;
    const ticks = this.#ticks(slot, order.ticks);
    const budget = order.collateralMax - match.collateral;
    this.#rest(side, { account, slot, side: own, ticks, micro, budget });
  }

  /**
   * Amounts that the resting orders of an account can still cost (BUY, in micro-units) or deliver (SELL, in micro-shares of
   * a slot): docs/ledger.md#orders.
   */
  reserved(account: number, slot: number, side: Side): number {
    let sum = 0;
    for (const resting of this.#queues[this.#side(slot, side)]) {
      if (resting.account !== account || resting.slot !== slot || resting.side !== side) continue;
      const ticks = this.#ticks(slot, resting.ticks);
      const cost = -notional(-resting.micro, ticks, this.ticksPerUnit);
      sum += side === SELL ? resting.micro : Math.min(resting.budget, cost);
    }
    return sum;
  }

  /**
   * Levels of one side as a token's book shows them: aggregated, best LAST
   * (docs/protocol.md#order-books).
   */
  levels(slot: number, side: Side): Level[] {
    const sizes = new Map<number, number>();
    for (const resting of this.#queues[this.#side(slot, side)] ?? []) {
      const ticks = this.#ticks(slot, resting.ticks);
      sizes.set(ticks, (sizes.get(ticks) ?? 0) + resting.micro);
    }
    const levels = [...sizes].map(([ticks, micro]) => ({ ticks, micro }));
    return levels.sort((a, b) => (side === BUY ? a.ticks - b.ticks : b.ticks - a.ticks));
  }

  /** Possible last trades of the token. `undefined` among them means "never traded". */
  lastTrades(slot: number): readonly (LastTrade | undefined)[] {
    return this.#last[slot === 0 ? 0 : 1];
  }

  #fill(order: Order, maker: Resting, micro: number): Fill {
    const ticks = this.#ticks(order.slot, maker.ticks);
    const crossToken = maker.account === ANONYMOUS ? undefined : maker.slot !== order.slot;
    const makerTicks = crossToken === true ? this.ticksPerUnit - ticks : ticks;
    const makerCollateral = notional(micro, makerTicks, this.ticksPerUnit);
    return { maker, micro, ticks, crossToken, makerCollateral };
  }

  /**
   * COMPLEMENTARY trades the taker's token, MINT and MERGE trade both
   * (docs/protocol.md#match-kinds).
   */
  #trade(order: Order, fill: Fill): void {
    const own = order.slot === 0 ? 0 : 1;
    const other = own === 0 ? 1 : 0;
    this.#last[own] = [{ ticks: fill.ticks, side: order.side }];
    if (fill.crossToken === false) return;
    const mirrored = { ticks: this.ticksPerUnit - fill.ticks, side: order.side };
    if (fill.crossToken) this.#last[other] = [mirrored];
    else this.#last[other].push(mirrored);
  }

  #rest(side: Side, resting: Resting): void {
    const queue = this.#queues[side];
    const behind = queue.findIndex((other) =>
      side === BUY ? other.ticks < resting.ticks : other.ticks > resting.ticks,
    );
    queue.splice(behind === -1 ? queue.length : behind, 0, resting);
  }

  /** A side or price of slot 1 in the terms of slot 0, and back: both ways are the same mirror. */
  #side(slot: number, side: Side): Side {
    if (slot === 0) return side;
    return side === BUY ? SELL : BUY;
  }

  #ticks(slot: number, ticks: number): number {
    return slot === 0 ? ticks : this.ticksPerUnit - ticks;
  }
}
