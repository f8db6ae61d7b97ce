/**
 * Single entry point to the package prom-client: the text of GET /metrics, from the table of metrics and
 * what the package itself knows of the process. Values are read when somebody asks: nothing on the way of
 * an order calls into the package.
 *
 * Thread: I/O.
 */
import { collectDefaultMetrics, type Metric, Registry } from 'prom-client';
import { BUCKET_BOUNDS } from '../common/histogram.ts';
import { type Distribution, METRICS, type Scrape, type Value } from './metric-table.ts';

type Row = (typeof METRICS)[string];

interface NamedValue extends Value {
  readonly metricName?: string;
}

/** What a registry of the package asks of a metric. */
interface ReadMetric {
  readonly name: string;
  readonly help: string;
  readonly type: Row['type'];
  readonly get: () => { readonly values: readonly NamedValue[] };
}

/** What the package measures by itself, and cannot be told not to. */
const LOOP_LAG = 'nodejs_eventloop_lag_';
const SELDOM_MS = 60_000;

export class Metrics {
  private readonly registry = new Registry();
  /** Of the scrape that is under way; undefined until the node has recovered. */
  private scrape: Scrape | undefined;

  constructor() {
    collectDefaultMetrics({
      register: this.registry,
      eventLoopMonitoringPrecision: SELDOM_MS,
    });
    // The table has a delay of its own (loop-delay.ts): a second clock would wake the thread as often again.
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
      // The package declares only classes of its own, and asks for no more than this.
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
  return row.read(scrape).flatMap((one) => bucketsOf(name, row.unit, one));
}

/** Each bucket with all below it, as Prometheus wants them; then their sum and number. */
function bucketsOf(
  name: string,
  unit: number,
  { histogram: { counts, sum }, labels }: Distribution,
): NamedValue[] {
  let count = 0;
  const values: NamedValue[] = Array.from(counts, (inBucket, bucket) => {
    count += inBucket;
    const bound = BUCKET_BOUNDS[bucket];
    const le = bound === undefined ? '+Inf' : boundText(bound, unit);
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count };
  });
  return [
    ...values,
    { metricName: `${name}_sum`, labels, value: sum * unit },
    { metricName: `${name}_count`, labels, value: count },
  ];
}

/** Of whole things those below the bound are at most one less; durations are no whole numbers. */
function boundText(bound: number, unit: number): string {
  return String(unit === 1 ? bound - 1 : Number((bound * unit).toPrecision(12)));
}
