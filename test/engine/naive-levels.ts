/**
 * The naive matching core, written from the rules of engine/book/README.md: a list of orders in
 * arrival order, searched from end to end for every answer.
 */
export interface NaiveOrder {
  readonly book: number;
  /** 0 bid, 1 ask. */
  readonly side: number;
  level: number;
  remaining: number;
  readonly word: number;
}

export interface NaiveFill {
  readonly word: number;
  readonly size: number;
}

export class NaiveLevels {
  orders: NaiveOrder[] = [];

  /** Orders that a taker of the opposite side matches, first to last. */
  facing(book: number, takerSide: number, limit: number): NaiveOrder[] {
    const found = this.orders.filter(
      (order) =>
        order.book === book &&
        order.side !== takerSide &&
        (takerSide === 0 ? order.level <= limit : order.level >= limit),
    );
    const sign = takerSide === 0 ? 1 : -1;
    // Stable: equal levels stay in the order of arrival.
    return found.sort((a, b) => sign * (a.level - b.level));
  }

  match(book: number, side: number, limit: number, quantity: number): NaiveFill[] {
    const fills: NaiveFill[] = [];
    let left = quantity;
    for (const maker of this.facing(book, side, limit)) {
      if (left === 0) break;
      const size = Math.min(left, maker.remaining);
      fills.push({ word: maker.word, size });
      maker.remaining -= size;
      left -= size;
    }
    this.orders = this.orders.filter((order) => order.remaining > 0);
    return fills;
  }

  available(book: number, side: number, limit: number, wanted: number): number {
    const all = this.facing(book, side, limit).reduce((sum, order) => sum + order.remaining, 0);
    return Math.min(all, wanted);
  }

  depth(book: number, side: number): [level: number, queue: NaiveOrder[]][] {
    const levels = new Map<number, NaiveOrder[]>();
    for (const order of this.orders) {
      if (order.book !== book || order.side !== side) continue;
      levels.set(order.level, [...(levels.get(order.level) ?? []), order]);
    }
    const sign = side === 0 ? -1 : 1;
    return [...levels].sort((a, b) => sign * (a[0] - b[0]));
  }
}
