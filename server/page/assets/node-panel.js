// @ts-check
/** The node: throughput, latency of orders, use of its tables, and the state of its parts. */
import { axis, bars, Chart, faint, line, marks } from './chart.js';
import { byId, make, setBar, setText } from './dom.js';
import { amountText, bytesText, countText, lengthText, NONE } from './format.js';
import { quantile, Rates } from './rates.js';

/** @import { ClusterRole, NodeSummary, Summary } from './node-feed.js' */

/** Rates are of this window, so that they do not flicker. */
const RATE_MS = 5_000;
const LATENCY_MS = 60_000;
const FULL = 0.9;
const US = 1_000;

/** What tables are called here. */
const TABLES = /** @type {Readonly<Record<string, string>>} */ ({
  markets: 'Markets',
  tokens: 'Tokens',
  books: 'Books',
  accounts: 'Accounts',
  orders: 'Open orders',
  levels: 'Price levels',
  finished: 'Closed orders',
  trades: 'Trades',
});

const RATES = /** @type {const} */ (['orders', 'fills', 'requests']);

export class NodePanel {
  constructor() {
    this.rates = new Rates();
    /** @type {Map<string, Meter>} */
    this.meters = new Map();
    /** @type {Map<string, HTMLElement>} */
    this.lags = new Map();
    this.throughput = throughputChart();
    /** @type {readonly number[]} of the histogram that is shown, in microseconds */
    this.bounds = [];
    this.latency = latencyChart(() => this.bounds);
  }

  /** @param {Summary} summary */
  show(summary) {
    this.rates.add(summary);
    this.showRates();
    this.showLatency();
    if (summary.node === null) return;
    for (const row of summary.node.occupancy) this.meter(row.table).fill(row);
    const lags = new Map(lagsOf(summary, summary.node));
    for (const [name, text] of lags) this.lag(name, text);
    // A node has left the cluster.
    for (const [name, value] of this.lags) {
      if (lags.has(name)) continue;
      value.parentElement?.remove();
      this.lags.delete(name);
    }
  }

  showRates() {
    for (const name of RATES) {
      const rate = this.rates.recent(name, RATE_MS);
      const text = rate === undefined ? NONE : rate < 10 ? rate.toFixed(1) : amountText(rate);
      setText(byId(`rate-${name}`), text);
    }
    const { times } = this.rates;
    const series = this.rates.series('orders');
    const most = countText(Math.max(0, ...series));
    const words = `Throughput of the last two minutes: at most ${most} orders a second`;
    this.throughput.show([times, series, this.rates.series('fills')], words);
  }

  showLatency() {
    const latency = this.rates.latency(LATENCY_MS);
    const count = latency?.counts.reduce((sum, n) => sum + n, 0) ?? 0;
    const half = latency && quantile(latency, 0.5);
    const most = latency && quantile(latency, 0.99);
    setText(byId('latency-p50'), boundText(half));
    setText(byId('latency-p99'), boundText(most));
    setText(byId('latency-count'), latency === undefined ? NONE : amountText(count));
    if (latency === undefined || count === 0) {
      this.latency.show([[], []], 'Latency of orders: none in the last minute');
      return;
    }
    // From the first to the last bucket with anything, and one to either side.
    const first = Math.max(0, latency.counts.findIndex((n) => n > 0) - 1);
    const last = latency.counts.findLastIndex((n) => n > 0) + 2;
    this.bounds = latency.bounds_us.slice(first, last);
    const counts = latency.counts.slice(first, last);
    const words = `half within ${boundText(half)}, 99 percent within ${boundText(most)}`;
    this.latency.show([counts.map((_, i) => i), counts], `Latency of ${count} orders: ${words}`);
  }

  /** @param {string} name */
  meter(name) {
    let meter = this.meters.get(name);
    if (meter === undefined) {
      meter = new Meter(TABLES[name] ?? name);
      this.meters.set(name, meter);
      byId('occupancy').append(meter.item);
    }
    return meter;
  }

  /** @param {string} name @param {string} text */
  lag(name, text) {
    let value = this.lags.get(name);
    if (value === undefined) {
      const row = make('div');
      value = make('dd');
      row.append(make('dt', '', name), value);
      byId('lag').append(row);
      this.lags.set(name, value);
    }
    setText(value, text);
  }
}

class Meter {
  /** @param {string} label */
  constructor(label) {
    this.item = make('li', 'meter');
    this.value = make('span', 'meter-value muted');
    this.bar = make('div', 'meter-bar');
    this.bar.setAttribute('role', 'meter');
    this.bar.setAttribute('aria-label', label);
    this.item.append(make('span', 'clip', label), this.bar, this.value);
  }

  /** @param {{ used: number, capacity: number }} row */
  fill({ capacity, used }) {
    const share = capacity === 0 ? 0 : used / capacity;
    setText(this.value, `${amountText(used)} / ${amountText(capacity)}`);
    setBar(this.bar, share);
    this.bar.toggleAttribute('data-full', share > FULL);
    this.bar.setAttribute('aria-valuemax', String(capacity));
    this.bar.setAttribute('aria-valuenow', String(used));
  }
}

/** @param {Summary} summary @param {NodeSummary} node @returns {[string, string][]} */
function lagsOf({ event_loop_delay_ms: delay, memory_bytes }, node) {
  const { follower, image, log, queue, streams } = node;
  const behind =
    follower === null
      ? 'stopped'
      : follower.behind === 0
        ? 'up to date'
        : `${countText(follower.behind)} batches behind (${lengthText(follower.behind_ms)})`;
  return [
    ...(node.cluster === null ? [] : partOf(node.cluster)),
    ['Batches on disk', countText(log.sequence)],
    ['Trade history on disk', behind],
    ['Catalog loaded', `${lengthText(node.catalog_age_seconds * 1_000)} ago`],
    ['Last snapshot', image === null ? 'none yet' : `${lengthText(image.age_seconds * 1_000)} ago`],
    ['Orders in the queue', countText(queue.waiting)],
    ['Delay of the main thread, 99 %', lengthText(delay.p99)],
    [
      'Stream connections',
      `${countText(streams.clients)}, ${bytesText(streams.bytes_held)} unsent`,
    ],
    ['Memory in use', bytesText(memory_bytes)],
    ...node.cluster_nodes.map(nodeOf),
  ];
}

/** @param {ClusterRole} cluster @returns {[string, string][]} */
function partOf({ behind_ms, leader, node, role }) {
  if (role === 'leader') return [['This node', `${node}, leads`]];
  return [
    ['This node', `${node}, follows`],
    ['Leader', leader ?? 'none'],
    ['Behind the leader', lengthText(behind_ms)],
  ];
}

/** The part of a node in its cluster, in a few words. @param {ClusterRole} cluster */
export function partText({ behind_ms, leader, node, role }) {
  if (role === 'leader') return `${node} leads`;
  if (leader === null) return `${node}, nobody leads`;
  return `${node} follows ${leader}, ${lengthText(behind_ms)} behind`;
}

/** @param {NodeSummary['cluster_nodes'][number]} node @returns {[string, string]} */
function nodeOf({ behind_ms, node, role, state }) {
  const lag = role === 'follower' ? `, ${lengthText(behind_ms ?? 0)} behind` : '';
  return [`Node ${node}`, role === undefined ? state : `${role}${lag}, ${state}`];
}

/** @param {number | undefined} us */
function boundText(us) {
  if (us === undefined) return NONE;
  return us === Number.POSITIVE_INFINITY ? 'longer' : lengthText(us / US);
}

function throughputChart() {
  return new Chart(
    byId('throughput'),
    (colors) => ({
      cursor: { show: false },
      padding: [6, 0, 6, 0],
      scales: { y: { range: (_plot, _low, high) => [0, Math.max(1, high * 1.15)] } },
      axes: [
        axis(colors, { show: false }),
        axis(colors, {
          side: 1,
          size: 40,
          space: 28,
          incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000],
          values: (_plot, splits) => splits.map(amountText),
        }),
      ],
      series: [
        {},
        line(colors.accent, { fill: faint(colors.accent) }),
        line(colors.muted, { width: 1.5, dash: [4, 3] }),
      ],
    }),
    'Counting',
  );
}

/** @param {() => readonly number[]} bounds upper ones of the buckets, in microseconds */
function latencyChart(bounds) {
  return new Chart(
    byId('latency'),
    (colors) => ({
      cursor: { show: false },
      padding: [6, 20, 0, 4],
      scales: {
        x: { time: false, range: (_plot, low, high) => [low - 0.6, high + 0.6] },
        y: { range: (_plot, _low, high) => [0, Math.max(1, high * 1.05)] },
      },
      axes: [
        axis(colors, {
          grid: { show: false },
          size: 22,
          space: 60,
          incrs: [1, 2, 3, 4, 5, 8],
          values: (plot, splits) => marks(plot, splits, (split) => bucketText(bounds()[split])),
        }),
        axis(colors, { show: false }),
      ],
      series: [{}, line(colors.accent, { fill: colors.accent, width: 0, paths: bars() })],
    }),
    'No order in the last minute',
  );
}

/** The end of a bucket, roughly. @param {number | undefined} us */
function bucketText(us) {
  return us === undefined ? '' : lengthText(Number((us / US).toPrecision(2)));
}
