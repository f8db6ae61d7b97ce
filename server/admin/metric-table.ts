/**
 * The metrics: name, kind, meaning, and where the values come from at a scrape. README lists them;
 * a test compares it with this table.
 *
 * Thread: I/O. Non-goals: how they are written (metrics.ts), how they are counted.
 */

import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import { fillCount, lastBatch } from '../../engine/reads.ts';
import type { Histogram } from '../common/histogram.ts';
import { REFUSALS } from '../http/connection-counts.ts';
import { COUNTED_STATUSES } from '../http/request-counts.ts';
import { STAGES } from '../orders/order-meters.ts';
import { PAUSE_REASONS } from '../orders/pauses.ts';
import { REJECT_TEXTS } from '../orders/reject-texts.ts';
import type { Delay } from './loop-delay.ts';
import { occupancyOf } from './occupancy.ts';
import type { NodeFacts } from './summary.ts';

/** The data for one scrape. */
export interface Scrape {
  readonly node: NodeFacts;
  readonly delay: Delay;
  /** Free bytes on the disk of DATA_DIR; undefined when the system does not report them. */
  readonly diskFree: number | undefined;
  /** Unix milliseconds. */
  readonly now: number;
}

type Labels = Readonly<Record<string, string>>;

export interface Value {
  readonly labels: Labels;
  readonly value: number;
}

export interface Distribution {
  readonly labels: Labels;
  readonly histogram: Histogram;
}

interface MetricRow {
  readonly help: string;
  readonly labels: readonly string[];
}

/** A metric of single numbers. A counter only grows until the process starts again. */
interface NumberRow extends MetricRow {
  readonly type: 'counter' | 'gauge';
  readonly read: (scrape: Scrape) => readonly Value[];
}

interface HistogramRow extends MetricRow {
  readonly type: 'histogram';
  /** The size of one counted unit of the histogram, in the unit of the metric's name. */
  readonly unit: number;
  readonly read: (scrape: Scrape) => readonly Distribution[];
}

const MS = 1_000;
const MICROSECOND = 1e-6;

type ReadOne = (scrape: Scrape) => number | undefined;
type ReadByLabel = (scrape: Scrape) => Iterable<readonly [label: string, value: number]>;

/** A metric without labels; while its value is undefined it is not shown. */
function single(type: NumberRow['type'], help: string, read: ReadOne): NumberRow {
  const values = (value: number | undefined) =>
    value === undefined ? [] : [{ labels: {}, value }];
  return { type, help, labels: [], read: (scrape) => values(read(scrape)) };
}

const gauge = (help: string, read: ReadOne) => single('gauge', help, read);
const counter = (help: string, read: ReadOne) => single('counter', help, read);

/** A metric with one label, and a value for each of its texts. */
function byLabel(
  type: NumberRow['type'],
  label: string,
  help: string,
  read: ReadByLabel,
): NumberRow {
  const values = (scrape: Scrape) =>
    Array.from(read(scrape), ([text, value]) => ({ labels: { [label]: text }, value }));
  return { type, help, labels: [label], read: values };
}

export const METRICS: Readonly<Record<string, NumberRow | HistogramRow>> = {
  exchange_http_requests_total: {
    type: 'counter',
    help: 'answered requests',
    labels: ['method', 'route', 'status'],
    read: ({ node }) =>
      node.requests.flatMap(({ counts, method, path }) =>
        Array.from(counts, (value, column) => ({
          labels: { method, route: path, status: String(COUNTED_STATUSES[column] ?? 'other') },
          value,
        })).filter(({ value }) => value > 0),
      ),
  },
  exchange_http_connections: gauge(
    'open connections, those of the streams among them',
    ({ node }) => node.http.connections.open,
  ),
  exchange_http_connections_max: gauge(
    'so many there may be (CONNECTIONS_MAX, and the open files of the process)',
    ({ node }) => node.http.connections.max,
  ),
  exchange_http_refused_connections_total: byLabel(
    'counter',
    'reason',
    'connections closed as soon as accepted: too many in all, of an address, or of it in a second',
    ({ node }) => REFUSALS.map((reason) => [reason, node.http.connections.refused[reason]]),
  ),
  exchange_http_put_off_requests_total: counter(
    'requests that waited for a later turn, as their callers had had enough of one',
    ({ node }) => node.http.putOff,
  ),
  exchange_http_body_bytes: gauge(
    'bytes that are held for bodies of requests which have not ended',
    ({ node }) => node.http.bodyBytes,
  ),
  exchange_orders_total: byLabel(
    'counter',
    'result',
    'orders by how they were answered: accepted, or the text of the refusal',
    ({ node }) => resultsOf(node.orders?.results ?? []),
  ),
  exchange_order_stage_seconds: {
    type: 'histogram',
    help: 'what a batch of orders and cancels takes in each stage; queue and total: a request',
    labels: ['stage'],
    unit: MICROSECOND,
    read: ({ node: { orders } }) =>
      orders === undefined
        ? []
        : STAGES.map((stage) => ({ labels: { stage }, histogram: orders.stages[stage] })),
  },
  exchange_batch_requests: {
    type: 'histogram',
    help: 'requests of a batch',
    labels: [],
    unit: 1,
    read: ({ node: { orders } }) =>
      orders === undefined ? [] : [{ labels: {}, histogram: orders.batches }],
  },
  exchange_queue_requests: gauge(
    'requests that wait for a worker',
    ({ node }) => node.queue.waiting,
  ),
  exchange_queue_requests_max: gauge(
    'so many may wait before the next is refused (ENGINE_QUEUE)',
    ({ node }) => node.queue.max,
  ),
  exchange_batches_total: counter('batches since the beginning of the exchange', ({ node }) =>
    lastBatch(node.tables),
  ),
  exchange_fills_total: counter('fills since the beginning of the exchange', ({ node }) =>
    fillCount(node.tables),
  ),
  exchange_table_rows: byLabel(
    'gauge',
    'table',
    'rows that are used of the tables of the engine',
    ({ node }) => occupancyOf(node.tables).map(({ table, used }) => [table, used]),
  ),
  exchange_table_capacity: byLabel(
    'gauge',
    'table',
    'rows that the tables of the engine have',
    ({ node }) => occupancyOf(node.tables).map(({ capacity, table }) => [table, capacity]),
  ),
  exchange_event_loop_delay_seconds: byLabel(
    'gauge',
    'quantile',
    'how late the event loop of the I/O thread was in the last ten seconds',
    ({ delay: { max, p50, p99 } }) => [
      ['0.5', p50 / MS],
      ['0.99', p99 / MS],
      ['1', max / MS],
    ],
  ),
  exchange_disk_free_bytes: gauge('what is left where DATA_DIR is', ({ diskFree }) => diskFree),
  exchange_log_sequence: gauge('newest durable batch', ({ node }) => node.progress.durable),
  exchange_follower_sequence: gauge(
    'newest batch whose fills and final states are in LMDB',
    ({ node }) => node.progress.follower?.derived,
  ),
  exchange_follower_lag_batches: gauge(
    'batches that are durable and not there',
    ({ node: { progress } }) =>
      progress.follower && Math.max(0, progress.durable - progress.follower.derived),
  ),
  exchange_follower_lag_seconds: gauge(
    'since the oldest of them was durable',
    ({ node: { progress } }) => progress.follower && Math.max(0, progress.follower.behindMs) / MS,
  ),
  exchange_image_sequence: gauge(
    'batch of the newest image',
    ({ node }) => node.progress.snapshot?.sequence,
  ),
  exchange_image_age_seconds: gauge(
    'age of the newest image',
    ({ node: { progress }, now }) =>
      progress.snapshot && Math.max(0, now - progress.snapshot.at) / MS,
  ),
  exchange_stream_clients: gauge(
    'open connections of the streams',
    ({ node }) => node.streams.clients,
  ),
  exchange_stream_held_bytes: gauge(
    'bytes that stream clients have not taken yet',
    ({ node }) => node.streams.unreadBytes,
  ),
  exchange_stream_closes_total: byLabel(
    'counter',
    'reason',
    'stream connections that the node has closed, by reason: those of the bounds and the others',
    ({ node }) => node.streams.closes,
  ),
  exchange_catalog_age_seconds: gauge(
    'since when answers are made of the catalog that is in use',
    ({ node, now }) => Math.max(0, now - node.catalogSince) / MS,
  ),
  exchange_taking_orders: gauge('1 while orders are taken, 0 while they are refused', ({ node }) =>
    node.isTaking ? 1 : 0,
  ),
  exchange_paused: byLabel(
    'gauge',
    'reason',
    '1 for each reason why orders are refused, 0 for the others',
    ({ node: { pauses } }) =>
      PAUSE_REASONS.map((reason) => [reason, pauses.some((one) => one.reason === reason) ? 1 : 0]),
  ),
  exchange_clock_jump_seconds: gauge(
    'by how much a clock that jumped is ahead of the time of the node; 0 where it is not in doubt',
    ({ node }) => node.clock.jumpMs / MS,
  ),
  exchange_log_ahead_seconds: gauge(
    'by how much the newest batch is ahead of the clock; 0 where it is not',
    ({ node }) => node.clock.aheadMs / MS,
  ),
};

/** Reject reasons with the same text are one result. Results that never occurred are 0. */
function resultsOf(results: ArrayLike<number>): Iterable<readonly [string, number]> {
  const byText = new Map<string, number>();
  if (results.length === 0) return byText;
  for (const rule of ORDER_REJECT_REASONS) {
    const text = rule === RejectReason.accepted ? 'accepted' : REJECT_TEXTS[rule];
    byText.set(text, (byText.get(text) ?? 0) + results[rule]!);
  }
  return byText;
}

/** Those of cancels and of the node's own commands come after them. */
const ORDER_REJECT_REASONS = Object.values(RejectReason).filter(
  (rule) => rule < RejectReason.orderNotFound,
);
