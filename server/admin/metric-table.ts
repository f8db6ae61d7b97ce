/**
 * Metrics: name, kind, meaning, and source of the values at a scrape. A test compares README with this table.
 *
 * Thread: I/O. Not here: the text format (metrics.ts), the counting.
 */

import { inviteTotals } from '../../engine/invites.ts';
import { agentTotals } from '../../engine/ledger/agents.ts';
import { ledgerIsOn, ledgerTotals } from '../../engine/ledger/reads.ts';
import { RejectReason, refusesOrder } from '../../engine/orders/reject-reasons.ts';
import { fillCount, lastBatch } from '../../engine/reads.ts';
import { signatureLibrary } from '../auth/secp256k1.ts';
import type { Histogram } from '../common/histogram.ts';
import { REJECTS } from '../common/refusals.ts';
import { REFUSALS } from '../http/limits/connection-counts.ts';
import { STAGES } from '../orders/intake/order-metrics.ts';
import { PAUSE_REASONS } from '../orders/intake/pauses.ts';
import type { Delay } from './loop-delay.ts';
import { occupancyOf } from './occupancy.ts';
import type { NodeFacts } from './summary.ts';

export interface Scrape {
  readonly node: NodeFacts;
  readonly delay: Delay;
  /** Free bytes on the disk of DATA_DIR; undefined when the system does not report them. */
  readonly diskFree: number | undefined;
  /** Log lines dropped because their reader was too slow. */
  readonly droppedLines: number;
  readonly version: string;
  readonly commit: string | undefined;
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

interface NumberRow extends MetricRow {
  readonly type: 'counter' | 'gauge';
  readonly read: (scrape: Scrape) => readonly Value[];
}

export interface HistogramRow extends MetricRow {
  readonly type: 'histogram';
  /** Size of one counted unit of the histogram, in the unit of the metric's name. */
  readonly unit: number;
  /** Upper bounds of the buckets, in counted units: powers of two, which are bounds of the counts too. */
  readonly bounds: readonly number[];
  readonly read: (scrape: Scrape) => readonly Distribution[];
}

const MS = 1_000;
const MICROSECOND = 1e-6;
const MICRO_UNITS = 1e6;
/** Bound of the market label: the markets with the most orders. */
const BUSIEST = 10;

const powersOfTwo = (...exponents: readonly number[]) => exponents.map((one) => 2 ** one);
/** From 16 us to 2 s, in microseconds. */
const DURATIONS = powersOfTwo(4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 19, 21);
const SIZES = powersOfTwo(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);

type ReadOne = (scrape: Scrape) => number | undefined;
type ReadByLabel = (scrape: Scrape) => Iterable<readonly [label: string, value: number]>;

function single(type: NumberRow['type'], help: string, read: ReadOne): NumberRow {
  const values = (value: number | undefined) =>
    value === undefined ? [] : [{ labels: {}, value }];
  return { type, help, labels: [], read: (scrape) => values(read(scrape)) };
}

const gauge = (help: string, read: ReadOne) => single('gauge', help, read);
const counter = (help: string, read: ReadOne) => single('counter', help, read);

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

function requestsOf({ requests }: NodeFacts) {
  return requests.flatMap((row) =>
    row.byStatus().map(({ count, histogram, status }) => ({
      labels: { method: row.method, route: row.path, status },
      count,
      histogram,
    })),
  );
}

export const METRICS: Readonly<Record<string, NumberRow | HistogramRow>> = {
  exchange_build_info: {
    type: 'gauge',
    help: 'always 1; its labels name what runs',
    labels: ['version', 'node', 'commit', 'signatures'],
    read: ({ commit = 'unknown', version }) => [
      {
        labels: { version, node: process.version, commit, signatures: signatureLibrary },
        value: 1,
      },
    ],
  },
  exchange_http_requests_total: {
    type: 'counter',
    help: 'answered requests',
    labels: ['method', 'route', 'status'],
    read: ({ node }) => requestsOf(node).map(({ count, labels }) => ({ labels, value: count })),
  },
  exchange_http_duration_seconds: {
    type: 'histogram',
    help: 'time from the head of a request to its answer, the wait for its body included',
    labels: ['method', 'route', 'status'],
    unit: MICROSECOND,
    bounds: DURATIONS,
    read: ({ node }) => requestsOf(node),
  },
  exchange_http_throttled_requests_total: byLabel(
    'counter',
    'row',
    'requests that a row of the rate limits refused',
    ({ node }) => node.throttled,
  ),
  exchange_faults: byLabel(
    'gauge',
    'kind',
    'failures on demand that are in force; none with FAULTS=off',
    ({ node }) => node.faults?.active ?? [],
  ),
  exchange_fault_uses_total: byLabel(
    'counter',
    'kind',
    'requests and messages that they have struck',
    ({ node }) => node.faults?.uses ?? [],
  ),
  exchange_liquidity_markets: gauge(
    'markets that the house quotes from accounts of its own',
    ({ node }) => node.liquidity?.markets ?? 0,
  ),
  exchange_liquidity_orders_total: byLabel(
    'counter',
    'result',
    'orders of these accounts by how they were answered: placed, refused',
    ({ node }) => node.liquidity?.orders ?? [],
  ),
  exchange_http_connections: gauge(
    'open connections, those of the streams among them',
    ({ node }) => node.http.connections.open,
  ),
  exchange_http_connections_max: gauge(
    'most connections that may be open (CONNECTIONS_MAX, and the open files of the process)',
    ({ node }) => node.http.connections.max,
  ),
  exchange_http_refused_connections_total: byLabel(
    'counter',
    'reason',
    'connections closed as soon as accepted: too many in all, of an address, or of it in a second',
    ({ node }) => REFUSALS.map((reason) => [reason, node.http.connections.refused[reason]]),
  ),
  exchange_http_put_off_requests_total: counter(
    'requests that waited for a later turn because their caller had used up its share of one',
    ({ node }) => node.http.putOff,
  ),
  exchange_http_body_bytes: gauge(
    'bytes in memory of request bodies that have not arrived completely',
    ({ node }) => node.http.bodyBytes,
  ),
  exchange_orders_total: byLabel(
    'counter',
    'result',
    'orders by how they were answered: accepted, or the text of the refusal',
    ({ node }) => resultsOf(node.orders?.results ?? []),
  ),
  exchange_order_refusals_total: byLabel(
    'counter',
    'code',
    'orders that were refused, by the name of the rule that failed',
    ({ node }) => refusalsOf(node.orders?.results ?? []),
  ),
  exchange_signature_recoveries_total: counter(
    'signers recovered to say what a wrong signature would fit, beside its check (RESULT_CODES=on)',
    ({ node }) => node.orders?.recoveries ?? 0,
  ),
  exchange_orders_ended_total: byLabel(
    'counter',
    'reason',
    'accepted orders that ended, by reason; canceled: by their owner or an operator',
    ({ node }) => node.batches?.endings() ?? [],
  ),
  exchange_source_commands_total: byLabel(
    'counter',
    'kind',
    'levels that a source has changed, what it traded, and orders that it filled',
    ({ node }) => node.batches?.sourceCommands() ?? [],
  ),
  exchange_catalog_contradictions: byLabel(
    'gauge',
    'source',
    'markets that stay as they are registered, because a catalog, a sync or a mirror names them otherwise',
    ({ node }) => Object.entries(node.contradictions).map(([source, { count }]) => [source, count]),
  ),
  exchange_mirror_connected: gauge(
    'with MIRROR_URL: 1 while all streams of the source are open',
    ({ node }) => node.mirror && Number(node.mirror.isConnected),
  ),
  exchange_mirror_books: byLabel(
    'gauge',
    'state',
    'mirrored books: live; in_doubt, a snapshot is awaited; paused, their levels are withdrawn; absent, their market is not in the catalog yet; left_out, their market does not have two outcomes',
    ({ node: { mirror } }) =>
      mirror === undefined
        ? []
        : [
            ['live', mirror.live],
            ['in_doubt', mirror.stale],
            ['paused', mirror.paused],
            ['absent', mirror.absent],
            ['left_out', mirror.leftOut.length],
          ],
  ),
  exchange_mirror_events_total: counter(
    'events of books and trades that the source has sent',
    ({ node }) => node.mirror?.events,
  ),
  exchange_mirror_doubts_total: byLabel(
    'counter',
    'reason',
    'how often a mirrored book became stale, by reason',
    ({ node }) => node.mirror?.staleCounts ?? [],
  ),
  exchange_market_orders_total: byLabel(
    'counter',
    'market',
    `accepted orders since the start, of the ${BUSIEST} markets that have the most`,
    ({ node }) =>
      (node.batches?.busiest(BUSIEST) ?? []).map(({ condition, orders }) => [condition, orders]),
  ),
  exchange_market_volume_total: byLabel(
    'counter',
    'market',
    'collateral that these markets have traded since the beginning of the exchange',
    ({ node }) =>
      (node.batches?.busiest(BUSIEST) ?? []).map(({ condition, market }) => [
        condition,
        node.volumeOf(market) / MICRO_UNITS,
      ]),
  ),
  exchange_order_stage_seconds: {
    type: 'histogram',
    help: 'time of each stage of a batch of orders and cancels; queue and total: of a request',
    labels: ['stage'],
    unit: MICROSECOND,
    bounds: DURATIONS,
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
    bounds: SIZES,
    read: ({ node: { orders } }) =>
      orders === undefined ? [] : [{ labels: {}, histogram: orders.batches }],
  },
  exchange_queue_requests: gauge(
    'requests that wait for a worker',
    ({ node }) => node.queue.waiting,
  ),
  exchange_queue_requests_max: gauge(
    'most requests that may wait; further ones are refused (ENGINE_QUEUE)',
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
    'rows in use, of each table of the engine',
    ({ node }) => occupancyOf(node.tables).map(({ table, used }) => [table, used]),
  ),
  exchange_table_capacity: byLabel(
    'gauge',
    'table',
    'rows of each table of the engine',
    ({ node }) => occupancyOf(node.tables).map(({ capacity, table }) => [table, capacity]),
  ),
  exchange_ledger_imbalance: gauge(
    'micro-units that the sums of the ledger differ by, always 0; not shown without a ledger',
    ({ node: { tables } }) => (ledgerIsOn(tables) ? ledgerTotals(tables).imbalance : undefined),
  ),
  exchange_ledger_proposals: gauge(
    'markets of which a payout is proposed; not shown without a ledger',
    ({ node: { tables } }) => (ledgerIsOn(tables) ? ledgerTotals(tables).proposals : undefined),
  ),
  exchange_invites: byLabel('gauge', 'state', 'codes of invitations', ({ node: { tables } }) =>
    Object.entries(inviteTotals(tables)),
  ),
  exchange_agents: byLabel('gauge', 'state', 'agents of wallets', ({ node: { tables } }) =>
    Object.entries(agentTotals(tables)),
  ),
  exchange_ledger_seasons: gauge(
    'seasons that have ended or end; not shown without a ledger',
    ({ node: { tables } }) => (ledgerIsOn(tables) ? ledgerTotals(tables).seasons : undefined),
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
  exchange_disk_free_bytes: gauge('free bytes on the disk of DATA_DIR', ({ diskFree }) => diskFree),
  exchange_log_sequence: gauge('newest durable batch', ({ node }) => node.progress.durable),
  exchange_follower_sequence: gauge(
    'newest batch whose fills and final states are in LMDB',
    ({ node }) => node.progress.follower?.derived,
  ),
  exchange_follower_lag_batches: gauge(
    'durable batches that are not in LMDB yet',
    ({ node: { progress } }) =>
      progress.follower && Math.max(0, progress.durable - progress.follower.derived),
  ),
  exchange_follower_lag_seconds: gauge(
    'age of the oldest durable batch that is not in LMDB yet',
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
    'bytes that stream clients have not read yet',
    ({ node }) => node.streams.unreadBytes,
  ),
  exchange_stream_closes_total: byLabel(
    'counter',
    'reason',
    'stream connections that the node has closed, by reason: those of the bounds and the others',
    ({ node }) => node.streams.closes,
  ),
  exchange_catalog_age_seconds: gauge(
    'age of the catalog from which answers are made',
    ({ node, now }) => Math.max(0, now - node.catalogSince) / MS,
  ),
  exchange_taking_orders: gauge('1 while orders are taken, 0 while they are refused', ({ node }) =>
    node.pauses.length === 0 ? 1 : 0,
  ),
  exchange_paused: byLabel(
    'gauge',
    'reason',
    '1 for each reason why orders are refused, 0 for the others',
    ({ node: { pauses } }) =>
      PAUSE_REASONS.map((reason) => [reason, pauses.some((one) => one.reason === reason) ? 1 : 0]),
  ),
  exchange_cluster_leads: gauge(
    '1 while this node leads its cluster, 0 while it follows; none without a cluster',
    ({ node: { progress } }) => progress.cluster && (progress.cluster.role === 'leader' ? 1 : 0),
  ),
  exchange_cluster_epoch: gauge(
    'epoch of the leader that this node knows; one more with each that leads',
    ({ node }) => node.progress.cluster?.leader?.epoch,
  ),
  exchange_cluster_lag_seconds: gauge(
    'age of the oldest committed record that this node has not applied',
    ({ node: { progress } }) => progress.cluster && progress.cluster.behindMs / MS,
  ),
  exchange_cluster_clock_skew_seconds: gauge(
    'how far the clock of this node is ahead of those of most nodes of the cluster, or of the only other one',
    ({ node: { progress } }) => progress.cluster && progress.cluster.clockSkewMs / MS,
  ),
  exchange_cluster_catalog_missing: gauge(
    '1 while this node serves an older catalog, because it does not have the one in use',
    ({ node: { progress } }) =>
      progress.cluster && (progress.cluster.catalog.missing === undefined ? 0 : 1),
  ),
  exchange_cluster_log_bytes: gauge(
    'bytes of the shared log on disk, as the node that leads has seen last',
    ({ node }) => node.progress.cluster?.space?.usedBytes,
  ),
  exchange_cluster_log_full: gauge(
    '1 while the shared log takes no more records, as the node that leads has seen last',
    ({ node: { progress } }) => progress.cluster?.space && (progress.cluster.space.isFull ? 1 : 0),
  ),
  exchange_cluster_forwarded_total: byLabel(
    'counter',
    'kind',
    'requests that the node which leads has answered for this one, by how they were forwarded',
    ({ node: { progress } }) => progress.cluster?.forwarded.answered ?? [],
  ),
  exchange_cluster_forward_failures_total: byLabel(
    'counter',
    'reason',
    'requests to be forwarded that got no answer; unknown: it may have been done',
    ({ node: { progress } }) => progress.cluster?.forwarded.failed ?? [],
  ),
  exchange_cluster_forward_waits_total: counter(
    'calls to the node that leads which waited for somebody to lead',
    ({ node: { progress } }) => progress.cluster?.forwarded.waits,
  ),
  exchange_cluster_forward_seconds: {
    type: 'histogram',
    help: 'time of a call to the node that leads, from when it is sent to its answer',
    labels: [],
    unit: MICROSECOND,
    bounds: DURATIONS,
    read: ({ node: { progress } }) =>
      progress.cluster === undefined
        ? []
        : [{ labels: {}, histogram: progress.cluster.forwarded.roundTrip }],
  },
  exchange_log_lines_dropped_total: counter(
    'lines of the process log that were dropped because its reader is too slow',
    ({ droppedLines }) => droppedLines,
  ),
  exchange_clock_jump_seconds: gauge(
    'how far a clock that jumped is ahead of the time of the node; 0 = it has not jumped',
    ({ node }) => node.clock.jumpMs / MS,
  ),
  exchange_log_ahead_seconds: gauge(
    'how far the newest batch is ahead of the clock; 0 = it is not',
    ({ node }) => node.clock.aheadMs / MS,
  ),
};

/** Counts by result. Reject reasons with the same text are one result; results that never occurred are 0. */
function resultsOf(results: ArrayLike<number>): Iterable<readonly [string, number]> {
  const byText = new Map<string, number>();
  if (results.length === 0) return byText;
  for (const rule of ORDER_REJECT_REASONS) {
    const text = rule === RejectReason.accepted ? 'accepted' : REJECTS[rule].text;
    byText.set(text, (byText.get(text) ?? 0) + results[rule]!);
  }
  return byText;
}

function refusalsOf(results: ArrayLike<number>): (readonly [string, number])[] {
  if (results.length === 0) return [];
  return Object.entries(RejectReason)
    .filter(([, rule]) => rule !== RejectReason.accepted && ORDER_REJECT_REASONS.includes(rule))
    .map(([name, rule]) => [name.replaceAll(/[A-Z]/g, '_$&').toUpperCase(), results[rule]!]);
}

const ORDER_REJECT_REASONS = Object.values(RejectReason).filter(refusesOrder);
