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

const one = (value: number | undefined): readonly Value[] =>
  value === undefined ? [] : [{ labels: {}, value }];

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
  exchange_http_connections: {
    type: 'gauge',
    help: 'open connections, those of the streams among them',
    labels: [],
    read: ({ node }) => one(node.http.connections.open),
  },
  exchange_http_connections_max: {
    type: 'gauge',
    help: 'so many there may be (CONNECTIONS_MAX, and the open files of the process)',
    labels: [],
    read: ({ node }) => one(node.http.connections.max),
  },
  exchange_http_refused_connections_total: {
    type: 'counter',
    help: 'connections closed as soon as accepted: too many in all, of an address, or of it in a second',
    labels: ['reason'],
    read: ({ node }) =>
      REFUSALS.map((reason) => ({
        labels: { reason },
        value: node.http.connections.refused[reason],
      })),
  },
  exchange_http_put_off_requests_total: {
    type: 'counter',
    help: 'requests that waited for a later turn, as their callers had had enough of one',
    labels: [],
    read: ({ node }) => one(node.http.putOff),
  },
  exchange_http_body_bytes: {
    type: 'gauge',
    help: 'bytes that are held for bodies of requests which have not ended',
    labels: [],
    read: ({ node }) => one(node.http.bodyBytes),
  },
  exchange_orders_total: {
    type: 'counter',
    help: 'orders by how they were answered: accepted, or the text of the refusal',
    labels: ['result'],
    read: ({ node }) => resultsOf(node.orders?.results ?? []),
  },
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
  exchange_queue_requests: {
    type: 'gauge',
    help: 'requests that wait for a worker',
    labels: [],
    read: ({ node }) => one(node.queue.waiting),
  },
  exchange_queue_requests_max: {
    type: 'gauge',
    help: 'so many may wait before the next is refused (ENGINE_QUEUE)',
    labels: [],
    read: ({ node }) => one(node.queue.max),
  },
  exchange_batches_total: {
    type: 'counter',
    help: 'batches since the beginning of the exchange',
    labels: [],
    read: ({ node }) => one(lastBatch(node.tables)),
  },
  exchange_fills_total: {
    type: 'counter',
    help: 'fills since the beginning of the exchange',
    labels: [],
    read: ({ node }) => one(fillCount(node.tables)),
  },
  exchange_table_rows: {
    type: 'gauge',
    help: 'rows that are used of the tables of the engine',
    labels: ['table'],
    read: ({ node }) =>
      occupancyOf(node.tables).map(({ table, used }) => ({ labels: { table }, value: used })),
  },
  exchange_table_capacity: {
    type: 'gauge',
    help: 'rows that the tables of the engine have',
    labels: ['table'],
    read: ({ node }) =>
      occupancyOf(node.tables).map(({ capacity, table }) => ({
        labels: { table },
        value: capacity,
      })),
  },
  exchange_event_loop_delay_seconds: {
    type: 'gauge',
    help: 'how late the event loop of the I/O thread was in the last ten seconds',
    labels: ['quantile'],
    read: ({ delay }) => [
      { labels: { quantile: '0.5' }, value: delay.p50 / MS },
      { labels: { quantile: '0.99' }, value: delay.p99 / MS },
      { labels: { quantile: '1' }, value: delay.max / MS },
    ],
  },
  exchange_disk_free_bytes: {
    type: 'gauge',
    help: 'what is left where DATA_DIR is',
    labels: [],
    read: ({ diskFree }) => one(diskFree),
  },
  exchange_log_sequence: {
    type: 'gauge',
    help: 'newest durable batch',
    labels: [],
    read: ({ node }) => one(node.progress.durable),
  },
  exchange_follower_sequence: {
    type: 'gauge',
    help: 'newest batch whose fills and final states are in LMDB',
    labels: [],
    read: ({ node }) => one(node.progress.follower?.derived),
  },
  exchange_follower_lag_batches: {
    type: 'gauge',
    help: 'batches that are durable and not there',
    labels: [],
    read: ({ node: { progress } }) =>
      one(progress.follower && Math.max(0, progress.durable - progress.follower.derived)),
  },
  exchange_follower_lag_seconds: {
    type: 'gauge',
    help: 'since the oldest of them was durable',
    labels: [],
    read: ({ node: { progress } }) =>
      one(progress.follower && Math.max(0, progress.follower.behindMs) / MS),
  },
  exchange_image_sequence: {
    type: 'gauge',
    help: 'batch of the newest image',
    labels: [],
    read: ({ node }) => one(node.progress.snapshot?.sequence),
  },
  exchange_image_age_seconds: {
    type: 'gauge',
    help: 'age of the newest image',
    labels: [],
    read: ({ node: { progress }, now }) =>
      one(progress.snapshot && Math.max(0, now - progress.snapshot.at) / MS),
  },
  exchange_stream_clients: {
    type: 'gauge',
    help: 'open connections of the streams',
    labels: [],
    read: ({ node }) => one(node.streams.clients),
  },
  exchange_stream_held_bytes: {
    type: 'gauge',
    help: 'bytes that stream clients have not taken yet',
    labels: [],
    read: ({ node }) => one(node.streams.bytesHeld),
  },
  exchange_stream_closes_total: {
    type: 'counter',
    help: 'stream connections that the node has closed, by reason: those of the bounds and the others',
    labels: ['reason'],
    read: ({ node }) =>
      [...node.streams.closes].map(([reason, value]) => ({ labels: { reason }, value })),
  },
  exchange_catalog_age_seconds: {
    type: 'gauge',
    help: 'since when answers are made of the catalog that is in use',
    labels: [],
    read: ({ node, now }) => one(Math.max(0, now - node.catalogSince) / MS),
  },
  exchange_taking_orders: {
    type: 'gauge',
    help: '1 while orders are taken, 0 while they are refused',
    labels: [],
    read: ({ node }) => one(node.isTaking ? 1 : 0),
  },
  exchange_paused: {
    type: 'gauge',
    help: '1 for each reason why orders are refused, 0 for the others',
    labels: ['reason'],
    read: ({ node }) =>
      PAUSE_REASONS.map((reason) => ({
        labels: { reason },
        value: node.pauses.some((pause) => pause.reason === reason) ? 1 : 0,
      })),
  },
  exchange_clock_jump_seconds: {
    type: 'gauge',
    help: 'by how much a clock that jumped is ahead of the time of the node; 0 where it is not in doubt',
    labels: [],
    read: ({ node }) => one(node.clock.jumpMs / MS),
  },
  exchange_log_ahead_seconds: {
    type: 'gauge',
    help: 'by how much the newest batch is ahead of the clock; 0 where it is not',
    labels: [],
    read: ({ node }) => one(node.clock.aheadMs / MS),
  },
};

/**
 * Two reject reasons may share a text: they are one result. Results that never occurred are shown
 * as 0.
 */
function resultsOf(results: ArrayLike<number>): Value[] {
  if (results.length === 0) return [];
  const byText = new Map<string, number>();
  for (const rule of ORDER_REJECT_REASONS) {
    const text = rule === RejectReason.accepted ? 'accepted' : REJECT_TEXTS[rule];
    byText.set(text, (byText.get(text) ?? 0) + results[rule]!);
  }
  return [...byText].map(([result, value]) => ({ labels: { result }, value }));
}

/** Reject reasons of cancels and of the node's own commands. */
const OTHER_REJECT_REASONS: readonly number[] = [
  RejectReason.orderNotFound,
  RejectReason.marketRefused,
];
const ORDER_REJECT_REASONS = Object.values(RejectReason).filter(
  (rule) => !OTHER_REJECT_REASONS.includes(rule),
);
