/** How far log, follower, snapshots and cluster are, as GET /status and the admin listener show it. */

import type { NodeView } from './cluster-schemas.ts';
import type { ForwardMetrics } from './forward-metrics.ts';

/** What a node knows of its cluster. */
export interface ClusterFacts {
  readonly node: string;
  readonly role: 'leader' | 'follower';
  /** Undefined: nobody has led since this node started. */
  readonly leader: { readonly node: string; readonly epoch: number } | undefined;
  /** Newest record that is applied. */
  readonly applied: number;
  /** Since the oldest record that is not applied was committed. */
  readonly behindMs: number;
  /** Whether what is read here may be older than CLUSTER_SILENCE_MS. */
  readonly isStale: boolean;
  /** Of the shared log, as this node has seen it while it led. */
  readonly space: { readonly usedBytes: number; readonly isFull: boolean } | undefined;
  /** By how much its clock is ahead of those of most nodes. */
  readonly clockSkewMs: number;
  /** What it has forwarded to the node that leads. */
  readonly forwarded: ForwardMetrics;
}

/** Which catalog it serves, by digest, and which one it lacks that the log names. */
interface ClusterCatalog {
  readonly served: string | undefined;
  readonly missing: string | undefined;
}

export interface Progress {
  /** The nodes of the cluster, as they answered a moment ago; looks again. Undefined without CLUSTER. */
  readonly clusterNodes: (() => readonly NodeView[]) | undefined;
  /** Newest durable batch. */
  readonly durable: number;
  /** Of the engine after it. */
  readonly digest: number;
  readonly follower: { readonly derived: number; readonly behindMs: number } | undefined;
  /** The newest snapshot, and when it was written (unix milliseconds). */
  readonly snapshot: { readonly sequence: number; readonly at: number } | undefined;
  /** Undefined without CLUSTER. */
  readonly cluster: (ClusterFacts & { readonly catalog: ClusterCatalog }) | undefined;
}

const MS = 1_000;

/** @param seconds unix seconds */
export function shownProgress(progress: Progress, seconds: number) {
  const { cluster, digest, durable, follower, snapshot } = progress;
  return {
    log: { sequence: durable, digest },
    follower:
      follower === undefined
        ? null
        : {
            sequence: follower.derived,
            behind: Math.max(0, durable - follower.derived),
            behind_ms: Math.max(0, follower.behindMs),
          },
    image:
      snapshot === undefined
        ? null
        : {
            sequence: snapshot.sequence,
            age_seconds: Math.max(0, Math.floor(seconds - snapshot.at / MS)),
          },
    cluster:
      cluster === undefined
        ? null
        : {
            node: cluster.node,
            role: cluster.role,
            leader: cluster.leader?.node ?? null,
            epoch: cluster.leader?.epoch ?? 0,
            applied: cluster.applied,
            behind_ms: cluster.behindMs,
            catalog: cluster.catalog.served ?? null,
            catalog_missing: cluster.catalog.missing ?? null,
          },
  };
}
