/** Data of the page: the answer of GET /page/summary. Thread: I/O. */

import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import { fillCount, lastBatch } from '../../engine/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { MarketRow } from '../../engine/tables/units.ts';
import type { ContradictionFacts } from '../common/contradictions.ts';
import { BUCKET_BOUNDS } from '../common/histogram.ts';
import type { FaultFacts } from '../faults/faults.ts';
import type { HttpFacts } from '../http/http.ts';
import type { RouteCounts } from '../http/request-counts.ts';
import type { LiquidityFacts } from '../liquidity/liquidity.ts';
import type { BatchMetrics } from '../orders/intake/batch-metrics.ts';
import type { OrderMetrics } from '../orders/intake/order-metrics.ts';
import type { Pause } from '../orders/intake/pauses.ts';
import type { MirrorFacts } from '../paper/mirror-facts.ts';
import type { Delay } from './loop-delay.ts';
import { occupancyOf } from './occupancy.ts';
import { type Progress, shownProgress } from './progress.ts';

/** Facts that a node reports once it has recovered. */
export interface NodeFacts {
  readonly tables: Tables;
  /** Reasons why the node is not ready; empty = it is. */
  readonly pauses: readonly Pause[];
  readonly clock: ClockFacts;
  readonly progress: Progress;
  readonly streams: StreamFacts;
  readonly http: HttpFacts;
  /** Counts by route; empty when requests are not counted. */
  readonly requests: readonly RouteCounts[];
  /** Undefined while the data directory cannot be written. */
  readonly orders: OrderMetrics | undefined;
  /** Undefined where there is no admin listener. */
  readonly batches: BatchMetrics | undefined;
  /** Micro-units of collateral that a market has traded. */
  readonly volumeOf: (market: MarketRow) => number;
  /** Requests refused by the rate limits, by row; empty with RATE_LIMITS=off. */
  readonly throttled: readonly (readonly [row: string, count: number])[];
  /** Undefined with FAULTS=off. */
  readonly faults: FaultFacts | undefined;
  /** Undefined without a ledger. */
  readonly liquidity: LiquidityFacts | undefined;
  readonly queue: { readonly waiting: number; readonly max: number };
  /** Unix milliseconds. */
  readonly catalogSince: number;
  readonly contradictions: ContradictionFacts;
  readonly mirror: MirrorFacts | undefined;
}

export interface ClockFacts {
  /** Milliseconds that a clock after a jump is ahead of the time of the node. */
  readonly jumpMs: number;
  /** Milliseconds that the newest batch is ahead of that time; 0 = it is not. */
  readonly aheadMs: number;
}

export interface StreamFacts {
  readonly clients: number;
  readonly unreadBytes: number;
  /** Connections closed by the node, by reason. */
  readonly closes: ReadonlyMap<string, number>;
}

/** Address of the public API; '' = the host of the page. */
export interface PublicApi {
  readonly host: string;
  readonly port: number;
}

interface SummaryParts {
  readonly status: string;
  readonly version: string;
  /** Unix milliseconds. */
  readonly now: number;
  readonly startedAt: number;
  readonly api: PublicApi;
  readonly delay: Delay;
  readonly facts: NodeFacts | undefined;
}

const MS = 1_000;

/** Totals count since the start; the page computes rates from their differences. */
export function summaryOf(parts: SummaryParts): string {
  const { api, delay, facts, now, startedAt, status, version } = parts;
  return JSON.stringify({
    status,
    version,
    time: now,
    uptime_seconds: Math.floor((now - startedAt) / MS),
    api,
    memory_bytes: process.memoryUsage.rss(),
    event_loop_delay_ms: delay,
    node: facts === undefined ? null : nodeSummary(facts, now),
  });
}

function nodeSummary(facts: NodeFacts, now: number) {
  const { orders, progress, queue, requests, streams, tables } = facts;
  const results = orders?.results ?? [];
  return {
    totals: {
      batches: lastBatch(tables),
      fills: fillCount(tables),
      requests: requests
        .flatMap((row) => row.byStatus())
        .reduce((sum, { count }) => sum + count, 0),
      orders: Array.from(results).reduce((sum, count) => sum + count, 0),
      accepted: results[RejectReason.accepted] ?? 0,
    },
    queue,
    latency: {
      bounds_us: BUCKET_BOUNDS,
      counts: Array.from(orders?.stages.total.counts ?? []),
    },
    catalog_age_seconds: Math.max(0, Math.floor((now - facts.catalogSince) / MS)),
    ...shownProgress(progress, now / MS),
    cluster_nodes: progress.clusterNodes?.() ?? [],
    occupancy: occupancyOf(tables),
    streams: { clients: streams.clients, bytes_held: streams.unreadBytes },
    faults: facts.faults?.active.reduce((sum, [, count]) => sum + count, 0) ?? null,
  };
}
