// @ts-check
/**
 * The book of one token, from the events of the stream: sizes by price, sorted when they are read.
 * No document here; prices and sizes are numbers because they are only shown.
 */

/** @typedef {{ price: number, size: number }} Level */
/** @typedef {{ price: string, size: string }} LevelText */

export class Book {
  constructor() {
    /** @type {Side} */
    this.bids = new Side((a, b) => b - a);
    /** @type {Side} */
    this.asks = new Side((a, b) => a - b);
    /** Whether a first book has come. */
    this.isKnown = false;
  }

  clear() {
    this.isKnown = false;
    this.bids.replace([]);
    this.asks.replace([]);
  }

  /** @param {{ bids: readonly LevelText[], asks: readonly LevelText[] }} event */
  replace({ asks, bids }) {
    this.isKnown = true;
    this.bids.replace(bids);
    this.asks.replace(asks);
  }

  /** A new total; 0 removes it. @param {{ price: string, size: string, side: string }} change */
  change({ price, side, size }) {
    (side === 'SELL' ? this.asks : this.bids).set(Number(price), Number(size));
  }
}

class Side {
  /** @param {(a: number, b: number) => number} order best price first */
  constructor(order) {
    this.order = order;
    /** @type {Map<number, number>} */
    this.sizes = new Map();
    /** @type {readonly Level[] | undefined} */
    this.sorted = [];
  }

  /** @param {readonly LevelText[]} levels */
  replace(levels) {
    this.sizes.clear();
    for (const { price, size } of levels) this.sizes.set(Number(price), Number(size));
    this.sorted = undefined;
  }

  /** @param {number} price @param {number} size */
  set(price, size) {
    if (size === 0) this.sizes.delete(price);
    else this.sizes.set(price, size);
    this.sorted = undefined;
  }

  /** Best first. */
  get levels() {
    this.sorted ??= [...this.sizes]
      .map(([price, size]) => ({ price, size }))
      .sort((a, b) => this.order(a.price, b.price));
    return this.sorted;
  }

  /** @returns {number | undefined} */
  get best() {
    return this.levels[0]?.price;
  }
}
