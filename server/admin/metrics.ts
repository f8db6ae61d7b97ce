/**
 * Single entry point to the package prom-client: the text of GET /metrics, from the table of metrics and the
 * package's own process metrics. Values are read at a scrape: no order path calls the package.
 *
 * Thread: I/O.
 */
import { collectDefaultMetrics, type Metric, Registry } from 'prom-client';
import { BUCKET_BOUNDS } from '../common/histogram.ts';
import {
  type Distribution,
  type HistogramRow,
  METRICS,
  type Scrape,
  type Value,
} from './metric-table.ts';

type Row = (typeof METRICS)[string];

interface NamedValue extends Value {
  readonly metricName?: string;
}

/** Methods that a registry of the package calls on a metric. */
interface ReadMetric {
  readonly name: string;
  readonly help: string;
  readonly type: Row['type'];
  readonly get: () => { readonly values: readonly NamedValue[] };
}

/** Metrics that the package always measures; it has no option to leave them out. */
const LOOP_LAG = 'nodejs_eventloop_lag_';
const SELDOM_MS = 60_000;

export class Metrics {
  private readonly registry = new Registry();
  /** Data of the current scrape; undefined until the node has recovered. */
  private scrape: Scrape | undefined;

  constructor() {
    collectDefaultMetrics({
      register: this.registry,
      eventLoopMonitoringPrecision: SELDOM_MS,
    });
    // The table has a delay of its own (loop-delay.ts): a second measurement would wake the thread twice as
    // often.
    for (const { name } of this.registry.getMetricsAsArray()) {
      if (name.startsWith(LOOP_LAG)) this.registry.removeSingleMetric(name);
    }
    for (const [name, row] of Object.entries(METRICS)) {
      const { help, type } = row;
      const get = (): ReturnType<ReadMetric['get']> & Omit<ReadMetric, 'get'> => ({
        name,
        help,
        type,
        values: this.scrape === undefined ? [] : valuesOf(name, row, this.scrape),
      });
      const metric: ReadMetric = { name, help, type, get };
      // The package declares only its own classes here, but uses no more than these methods.
      this.registry.registerMetric(metric as unknown as Metric);
    }
  }

  text(scrape: Scrape | undefined): Promise<string> {
    this.scrape = scrape;
    return this.registry.metrics();
  }
}

function valuesOf(name: string, row: Row, scrape: Scrape): readonly NamedValue[] {
  if (row.type !== 'histogram') return row.read(scrape);
  return row.read(scrape).flatMap((one) => bucketsOf(name, row, one));
}

/** Each bucket includes all smaller ones, as Prometheus requires; then the sum and the count. */
function bucketsOf(
  name: string,
  { bounds, unit }: Pick<HistogramRow, 'bounds' | 'unit'>,
  { histogram: { counts, sum }, labels }: Distribution,
): NamedValue[] {
  let count = 0;
  const values: NamedValue[] = [];
  for (const [bucket, inBucket] of counts.entries()) {
    count += inBucket;
    const bound = BUCKET_BOUNDS[bucket];
    if (bound !== undefined && !bounds.includes(bound)) continue;
    const le = bound === undefined ? '+Inf' : boundText(bound, unit);
    values.push({ metricName: `${name}_bucket`, labels: { ...labels, le }, value: count });
  }
  return [
    ...values,
    { metricName: `${name}_sum`, labels, value: sum * unit },
    { metricName: `${name}_count`, labels, value: count },
  ];
}

/** Integers below a bound are at most the bound less one. Durations are no integers. */
function boundText(bound: number, unit: number): string {
  return String(unit === 1 ? bound - 1 : Number((bound * unit).toPrecision(12)));
}
