// @ts-check
/** Price history of the chosen token: read once a minute, and continued by every trade of the stream. */
import { axis, Chart, marks, pointer, steppedLine } from './chart.js';
import { byId, fillChoices, setText } from './dom.js';
import { clockText, priceText, timeText } from './format.js';

/** @import { Point } from './api.js' */

const INTERVALS = [
  { text: '1 h', words: 'one hour', interval: '1h', fidelity: 1, seconds: 3_600 },
  { text: '6 h', words: 'six hours', interval: '6h', fidelity: 1, seconds: 21_600 },
  { text: '1 d', words: 'one day', interval: '1d', fidelity: 1, seconds: 86_400 },
  { text: '1 w', words: 'one week', interval: '1w', fidelity: 5, seconds: 604_800 },
  { text: 'All', words: 'all time', interval: 'all', fidelity: 1, seconds: Infinity },
];
const FIRST_CHOSEN = 2;
/** The price axis shows at least so much. */
const SPAN_MIN = 0.04;
/** And the time axis so much, also right after a first trade. */
const SECONDS_MIN = 120;

export class PriceChart {
  /** @param {() => void} onInterval another interval was chosen: its points are needed */
  constructor(onInterval) {
    this.chosen = INTERVALS[FIRST_CHOSEN];
    this.decimals = 2;
    /** @type {number[]} unix seconds */
    this.times = [];
    /** @type {number[]} */
    this.prices = [];
    const texts = INTERVALS.map(({ text }) => text);
    fillChoices(byId('intervals'), texts, FIRST_CHOSEN, (index) => {
      this.chosen = INTERVALS[index] ?? this.chosen;
      onInterval();
    });
    this.readout = byId('history-read');
    this.chart = new Chart(
      byId('history'),
      (colors) => ({
        ...pointer((index) => this.read(index)),
        scales: {
          x: { range: (_plot, from, to) => [Math.min(from, to - SECONDS_MIN), to] },
          y: { range: (_plot, low, high) => widened(low, high) },
        },
        axes: [
          axis(colors, {
            grid: { show: false },
            space: 72,
            size: 24,
            values: (plot, splits, _index, _space, step) =>
              marks(plot, splits, (t) => timeText(t, step)),
          }),
          axis(colors, {
            side: 1,
            size: 48,
            space: 32,
            values: (_plot, splits) => splits.map((split) => priceText(split, this.decimals)),
          }),
        ],
        series: [{}, steppedLine(colors.accent, 1)],
      }),
      'No trade in this time yet',
    );
  }

  /** The parameters of the request. */
  get window() {
    const { fidelity, interval } = this.chosen ?? { fidelity: 1, interval: '1d' };
    return { fidelity, interval };
  }

  /** @param {readonly Point[]} points @param {number} decimals */
  replace(points, decimals) {
    this.decimals = decimals;
    this.times = points.map(({ t }) => t);
    this.prices = points.map(({ p }) => p);
    this.show();
  }

  /** @param {number} atMs unix milliseconds @param {number} price */
  add(atMs, price) {
    const t = Math.floor(atMs / 1_000);
    const last = this.times.length - 1;
    // Read points end with the step that is going on.
    if (last >= 0 && t <= (this.times[last] ?? 0)) this.prices[last] = price;
    else {
      this.times.push(t);
      this.prices.push(price);
    }
    this.show();
  }

  show() {
    const oldest = Date.now() / 1_000 - (this.chosen?.seconds ?? 0);
    while (this.times.length > 1 && (this.times[1] ?? 0) < oldest) {
      this.times.shift();
      this.prices.shift();
    }
    // The last price is the price until now.
    const last = this.times.at(-1) ?? 0;
    const now = this.times.length === 0 ? [] : [Math.max(last + 1, Math.floor(Date.now() / 1_000))];
    const prices = [...this.prices, ...this.prices.slice(-1)];
    this.chart.show([[...this.times, ...now], prices], this.words());
  }

  /** What the chart shows, for who does not see it. */
  words() {
    const over = `Price history, ${this.chosen?.words}`;
    if (this.prices.length === 0) return `${over}: no trade yet`;
    const text = (/** @type {number | undefined} */ price) => priceText(price, this.decimals);
    let low = 1;
    let high = 0;
    for (const price of this.prices) {
      low = Math.min(low, price);
      high = Math.max(high, price);
    }
    const ends = `from ${text(this.prices[0])} to ${text(this.prices.at(-1))}`;
    return `${over}: ${ends}, lowest ${text(low)}, highest ${text(high)}`;
  }

  /** @param {number | null | undefined} index under the pointer */
  read(index) {
    const time = this.times[index ?? -1];
    const price = this.prices[index ?? -1];
    const isThere = time !== undefined && price !== undefined;
    const day = new Date((time ?? 0) * 1_000).toLocaleDateString('en', {
      day: 'numeric',
      month: 'short',
    });
    const words = `${priceText(price, this.decimals)} · ${day} ${clockText((time ?? 0) * 1_000)}`;
    setText(this.readout, isThere ? words : '');
  }
}

/** @param {number} low @param {number} high @returns {[number, number]} */
function widened(low, high) {
  const room = Math.max((high - low) * 0.15, (SPAN_MIN - (high - low)) / 2, 0.002);
  return [Math.max(0, low - room), Math.min(1, high + room)];
}
