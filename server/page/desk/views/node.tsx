/** The node: throughput, latency of orders, use of its tables, the state of its parts, and its cluster. */
import { computed } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { bytesText, countText, lengthText, NONE, volumeText } from '../../app/format.ts';
import {
  axis,
  bars,
  Chart,
  type ChartOptions,
  type Colors,
  faint,
  line,
} from '../../app/parts/chart.tsx';
import { Fact } from '../../app/parts/fact.tsx';
import { may } from '../node/operator.ts';
import { quantile, Rates } from '../node/rates.ts';
import { type ClusterRole, type NodeSummary, type Summary, summary } from '../node/summary.ts';
import { OperationForm } from '../parts/operation-form.tsx';

/** Rates are of this window, so that they do not flicker. */
const RATE_MS = 5_000;
const LATENCY_MS = 60_000;
const FULL = 0.9;
const US = 1_000;
/** Distances of the marks of rates. */
const RATE_STEPS = [1, 2, 5].flatMap((one) => [1, 10, 100, 1_000, 10_000].map((ten) => one * ten));

/** Names of tables for readers. */
const TABLES: Readonly<Record<string, string>> = {
  markets: 'Markets',
  tokens: 'Tokens',
  books: 'Books',
  accounts: 'Accounts',
  orders: 'Open orders',
  levels: 'Price levels',
  finished: 'Closed orders',
  trades: 'Trades',
};

const rates = new Rates();
/** Rises with each summary, also while another view is shown. */
const counted = computed(() => {
  if (summary.value !== undefined) rates.add(summary.value);
  return summary.value?.time;
});
counted.subscribe(() => undefined);

export function NodeView() {
  void counted.value;
  const shown = summary.value!;
  const { node } = shown;
  return (
    <div class="node" id="node">
      <h1>Node</h1>
      <Card title="Throughput" note="two minutes">
        <dl class="facts tabular">
          <Fact name="Orders / s" value={rateText('orders')} />
          <Fact name="Fills / s" value={rateText('fills')} />
          <Fact name="Requests / s" value={rateText('requests')} />
        </dl>
        <Throughput />
      </Card>
      <Card title="Order latency" note="last minute">
        <Latency />
      </Card>
      {node !== null && (
        <Card title="Table use">
          <ul id="occupancy" class="meters tabular">
            {node.occupancy.map((row) => (
              <Meter key={row.table} {...row} />
            ))}
          </ul>
        </Card>
      )}
      {node !== null && (
        <Card title="State">
          <dl id="lag" class="rows tabular">
            {lagsOf(shown, node).map(([name, text]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{text}</dd>
              </div>
            ))}
          </dl>
          <p class="links">
            <a href={docsOf(shown)}>API documentation</a>
            <a href="docs">Operations</a>
            <a href="metrics">Metrics</a>
          </p>
        </Card>
      )}
      {node?.cluster !== null && may('POST /admin/cluster/handover') && (
        <>
          <OperationForm of="GET /admin/cluster" title="Nodes of the cluster" />
          <OperationForm of="POST /admin/cluster/handover" title="Hand over the lead" />
          <OperationForm of="POST /admin/cluster/defrag" title="Give back room of etcd" />
        </>
      )}
    </div>
  );
}

interface Titled {
  readonly title: string;
  readonly note?: string;
  readonly children: ComponentChildren;
}

function Card({ children, note, title }: Titled) {
  return (
    <section class="card" aria-label={title}>
      <h2>
        {title} {note !== undefined && <small>{note}</small>}
      </h2>
      {children}
    </section>
  );
}

function docsOf({ api: { host, port } }: Summary): string {
  return `${location.protocol}//${host || location.hostname}:${port}/docs`;
}

function rateText(name: 'orders' | 'fills' | 'requests'): string {
  const rate = rates.recent(name, RATE_MS);
  if (rate === undefined) return NONE;
  return rate < 10 ? rate.toFixed(1) : volumeText(rate);
}

function Throughput() {
  const orders = rates.series('orders');
  const most = countText(Math.max(0, ...orders));
  return (
    <Chart
      data={[rates.times, orders, rates.series('fills')]}
      label={`Throughput of the last two minutes: at most ${most} orders a second`}
      emptyText="Counting"
      optionsKey="throughput"
      options={throughputOptions}
    />
  );
}

function throughputOptions(colors: Colors): ChartOptions {
  return {
    cursor: { show: false },
    padding: [6, 0, 6, 0],
    scales: { y: { range: (_plot, _low, high) => [0, Math.max(1, high * 1.15)] } },
    axes: [
      axis(colors, { show: false }),
      axis(colors, {
        side: 1,
        size: 40,
        space: 28,
        incrs: RATE_STEPS,
        values: (_plot, splits) => splits.map(volumeText),
      }),
    ],
    series: [
      {},
      line(colors.accent, { fill: faint(colors.accent) }),
      line(colors.muted, { width: 1.5, dash: [4, 3] }),
    ],
  };
}

function Latency() {
  const latency = rates.latency(LATENCY_MS);
  const counts = latency?.counts ?? [];
  const count = counts.reduce((sum, n) => sum + n, 0);
  const half = boundText(latency && quantile(latency, 0.5));
  const most = boundText(latency && quantile(latency, 0.99));
  // From the first to the last bucket with anything, and one to either side.
  const from = Math.max(0, counts.findIndex((n) => n > 0) - 1);
  const to = counts.findLastIndex((n) => n > 0) + 2;
  const bounds = count === 0 ? [] : latency!.bounds_us.slice(from, to);
  const shown = count === 0 ? [] : counts.slice(from, to);
  const words =
    count === 0 ? 'none in the last minute' : `half within ${half}, 99 percent within ${most}`;
  return (
    <>
      <dl class="facts tabular">
        <Fact name="Median" value={half} />
        <Fact name="99 % within" value={most} />
        <Fact name="Orders" value={latency === undefined ? NONE : volumeText(count)} />
      </dl>
      <Chart
        data={[shown.map((_, i) => i), shown]}
        label={`Latency of orders: ${words}`}
        emptyText="No order in the last minute"
        optionsKey={bounds.join()}
        options={(colors) => latencyOptions(colors, bounds)}
      />
    </>
  );
}

function latencyOptions(colors: Colors, bounds: readonly number[]): ChartOptions {
  return {
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
        values: (_plot, splits) => splits.map((split) => bucketText(bounds[split])),
      }),
      axis(colors, { show: false }),
    ],
    series: [{}, bars(colors.accent)],
  };
}

/** End of a bucket, roughly. */
function bucketText(us: number | undefined): string {
  return us === undefined ? '' : lengthText(Number((us / US).toPrecision(2)));
}

function boundText(us: number | undefined): string {
  if (us === undefined) return NONE;
  return us === Number.POSITIVE_INFINITY ? 'longer' : lengthText(us / US);
}

function Meter({ capacity, table, used }: NodeSummary['occupancy'][number]) {
  const name = TABLES[table] ?? table;
  return (
    <li>
      <span class="clip">{name}</span>
      <meter aria-label={name} value={used} max={capacity} high={capacity * FULL} />
      <span class="muted">
        {volumeText(used)} / {volumeText(capacity)}
      </span>
    </li>
  );
}

function lagsOf(
  { event_loop_delay_ms: delay, memory_bytes }: Summary,
  node: NodeSummary,
): [name: string, text: string][] {
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

function partOf({ behind_ms, leader, node, role }: ClusterRole): [string, string][] {
  if (role === 'leader') return [['This node', `${node}, leads`]];
  return [
    ['This node', `${node}, follows`],
    ['Leader', leader ?? 'none'],
    ['Behind the leader', lengthText(behind_ms)],
  ];
}

/** Part of a node in its cluster, in a few words. */
export function partText({ behind_ms, leader, node, role }: ClusterRole): string {
  if (role === 'leader') return `${node} leads`;
  if (leader === null) return `${node}, nobody leads`;
  return `${node} follows ${leader}, ${lengthText(behind_ms)} behind`;
}

function nodeOf({
  behind_ms,
  node,
  role,
  state,
}: NodeSummary['cluster_nodes'][number]): [string, string] {
  const lag = role === 'follower' ? `, ${lengthText(behind_ms ?? 0)} behind` : '';
  return [`Node ${node}`, role === undefined ? state : `${role}${lag}, ${state}`];
}
