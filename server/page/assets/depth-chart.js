// @ts-check
/** Shares that can be sold or bought down to, or up to, a price: the whole book around its spread. */
import { axis, Chart, marks, pointer, steppedLine } from './chart.js';
import { byId, setText } from './dom.js';
import { priceText, sizeText } from './format.js';

/** @import { Book, Level } from './book.js' */

/** Of the shares of each side so many are in view, and prices that are further away are not. */
const SHARE_SHOWN = 0.95;
/** Widths of a side; the next larger one is taken, so that the axis does not move with every order. */
const WIDTHS = [0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1];

export class DepthChart {
  constructor() {
    this.decimals = 2;
    this.readout = byId('depth-read');
    this.chart = new Chart(
      byId('depth'),
      (colors) => ({
        ...pointer((index) => this.read(index)),
        scales: {
          x: { time: false, range: () => this.range ?? [0, 1] },
          y: { range: (_plot, _low, high) => [0, (high || 1) * 1.1] },
        },
        axes: [
          axis(colors, {
            grid: { show: false },
            size: 24,
            space: 56,
            values: (plot, splits) =>
              marks(plot, splits, (price) => priceText(price, this.decimals)),
          }),
          axis(colors, {
            side: 1,
            size: 48,
            space: 32,
            values: (_plot, splits) => splits.map(sizeText),
          }),
        ],
        series: [{}, steppedLine(colors.bid, -1), steppedLine(colors.ask, 1, { dash: [6, 4] })],
      }),
      'Nothing rests in this book',
    );
  }

  /** @param {Book} book @param {number} decimals */
  draw({ asks, bids }, decimals) {
    this.decimals = decimals;
    this.range = rangeOf(bids.levels, asks.levels);
    const [low, high] = this.range;
    const bidSums = summed(bids.levels.filter(({ price }) => price >= low));
    const askSums = summed(asks.levels.filter(({ price }) => price <= high));
    // The lines go on to both ends of the axis.
    const lowest = { price: low, size: bidSums.at(-1)?.size };
    const highest = { price: high, size: askSums.at(-1)?.size };
    const left = [lowest, ...bidSums.reverse()];
    const right = [...askSums, highest];
    this.prices = [...left, ...right].map(({ price }) => price);
    this.bidLine = [...left.map(({ size }) => size), ...right.map(() => null)];
    this.askLine = [...left.map(() => null), ...right.map(({ size }) => size)];
    const isEmpty = bids.levels.length + asks.levels.length === 0;
    this.chart.show(
      isEmpty ? [[], [], []] : [this.prices, this.bidLine, this.askLine],
      wordsOf(bids.levels, asks.levels),
    );
  }

  /** @param {number | null | undefined} index under the pointer */
  read(index) {
    const i = index ?? -1;
    const price = this.prices?.[i];
    const isBid = typeof this.bidLine?.[i] === 'number';
    const size = isBid ? this.bidLine?.[i] : this.askLine?.[i];
    const isThere = price !== undefined && typeof size === 'number';
    const what = isBid ? 'to sell down to' : 'to buy up to';
    setText(
      this.readout,
      isThere ? `${sizeText(size)} ${what} ${priceText(price, this.decimals)}` : '',
    );
  }
}

/** @param {readonly Level[]} levels best first @returns {Level[]} with the shares up to each */
function summed(levels) {
  let sum = 0;
  return levels.map(({ price, size }) => {
    sum += size;
    return { price, size: sum };
  });
}

/**
 * Prices that contain most of what rests, as far on both sides of the spread. Levels are best
 * first.
 * @param {readonly Level[]} bids @param {readonly Level[]} asks @returns {[number, number]}
 */
function rangeOf(bids, asks) {
  const bid = bids[0]?.price ?? asks[0]?.price ?? 0.5;
  const ask = asks[0]?.price ?? bid;
  const needed = Math.max(bid - farPrice(bids, bid), farPrice(asks, ask) - ask);
  const width = WIDTHS.find((one) => one >= needed) ?? 1;
  return [Math.max(0, bid - width), Math.min(1, ask + width)];
}

/** @param {readonly Level[]} levels best first @param {number} none @returns {number} */
function farPrice(levels, none) {
  const sums = summed(levels);
  const enough = (sums.at(-1)?.size ?? 0) * SHARE_SHOWN;
  return sums.find(({ size }) => size >= enough)?.price ?? none;
}

/** @param {readonly Level[]} bids @param {readonly Level[]} asks */
function wordsOf(bids, asks) {
  if (bids.length + asks.length === 0) return 'Depth of the book: empty';
  const total = (/** @type {readonly Level[]} */ side) => sizeText(summed(side).at(-1)?.size ?? 0);
  const bidden = `${total(bids)} shares bid at ${bids.length} prices`;
  return `Depth of the book: ${bidden}, ${total(asks)} offered at ${asks.length}`;
}
