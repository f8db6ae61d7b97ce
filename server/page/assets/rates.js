// @ts-check
/**
 * Rates and latencies of a window of time: the difference of the newest and an older summary, whose
 * counters only grow. After a restart of the node the counters begin at 0, and so does this.
 */

/** @import { Latency, NodeSummary, Summary } from './node-feed.js' */
/** @typedef {keyof NodeSummary['totals']} Total */

const KEPT_MS = 125_000;
const MS = 1_000;

/** @typedef {{ at: number, totals: NodeSummary['totals'], latency: Latency }} Sample at unix milliseconds */

export class Rates {
  constructor() {
    /** @type {Sample[]} oldest first */
    this.samples = [];
  }

  /** @param {Summary} summary */
  add({ node, time }) {
    const last = this.samples.at(-1);
    if (node === null || last?.at === time) return;
    const { latency, totals } = node;
    if (last !== undefined && totals.requests < last.totals.requests) this.samples = [];
    this.samples.push({ at: time, totals, latency });
    while (time - (this.samples[0]?.at ?? time) > KEPT_MS) this.samples.shift();
  }

  /** Rates by second, at each sample but the first. @param {Total} name @returns {number[]} */
  series(name) {
    return this.samples
      .slice(1)
      .map((sample, i) => rateOf(this.samples[i] ?? sample, sample, name));
  }

  /** Unix seconds of the points of series(). */
  get times() {
    return this.samples.slice(1).map(({ at }) => at / MS);
  }

  /** @param {Total} name @param {number} ms the window @returns {number | undefined} */
  recent(name, ms) {
    const { first, last } = this.window(ms);
    if (first === undefined || last === undefined) return undefined;
    return rateOf(first, last, name);
  }

  /** Counts of the latency histogram in a window. @param {number} ms @returns {Latency | undefined} */
  latency(ms) {
    const { first, last } = this.window(ms);
    if (last === undefined) return undefined;
    const { bounds_us, counts } = last.latency;
    return { bounds_us, counts: counts.map((n, i) => n - (first?.latency.counts[i] ?? 0)) };
  }

  /** @param {number} ms */
  window(ms) {
    const last = this.samples.at(-1);
    const first = this.samples.find(({ at }) => at >= (last?.at ?? 0) - ms);
    return { first: first === last ? undefined : first, last };
  }
}

/** @param {Sample} from @param {Sample} to @param {Total} name */
function rateOf(from, to, name) {
  const counted = to.totals[name] - from.totals[name];
  return (counted * MS) / Math.max(1, to.at - from.at);
}

/**
 * The upper bound of the bucket in which a quantile lies; undefined when nothing was counted,
 * Infinity behind the last bound.
 * @param {Latency} latency @param {number} part such as 0.99 @returns {number | undefined} in us
 */
export function quantile({ bounds_us, counts }, part) {
  const all = counts.reduce((sum, n) => sum + n, 0);
  if (all === 0) return undefined;
  let sum = 0;
  const at = counts.findIndex((n) => {
    sum += n;
    return sum >= all * part;
  });
  return bounds_us[at] ?? Number.POSITIVE_INFINITY;
}
