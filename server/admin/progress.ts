/** Positions of log, follower, snapshots and cluster, and the operator's message, for GET /status and the admin listener. */

import type { Decision } from '../../storage/control-records/control-records.ts';
import type { NodeView } from './cluster-schemas.ts';
import type { ForwardMetrics } from './forward-metrics.ts';

export interface ClusterFacts {
  readonly node: string;
  readonly role: 'leader' | 'follower';
  /** Undefined: no node has led since this one started. */
  readonly leader: { readonly node: string; readonly epoch: number } | undefined;
  /** Newest applied record. */
  readonly applied: number;
  /** Milliseconds since the commit of the oldest record that is not applied. */
  readonly behindMs: number;
  /** True where reads may be older than CLUSTER_SILENCE_MS. */
  readonly isStale: boolean;
  /** Space of the shared log, as last seen by this node while it led; undefined before. */
  readonly space: { readonly usedBytes: number; readonly isFull: boolean } | undefined;
  /** Milliseconds by which its clock is ahead of those of most nodes. */
  readonly clockSkewMs: number;
  readonly forwarded: ForwardMetrics;
}

/** Digest of the served catalog, and of the catalog that the log names and the node lacks. */
interface ClusterCatalog {
  readonly served: string | undefined;
  readonly missing: string | undefined;
}

export interface Progress {
  /** Recent answers of the nodes of the cluster; starts a new round. Undefined without CLUSTER. */
  readonly clusterNodes: (() => readonly NodeView[]) | undefined;
  /** Newest durable batch, and the digest of the engine after it. */
  readonly durable: number;
  readonly digest: number;
  readonly follower: { readonly derived: number; readonly behindMs: number } | undefined;
  /** The newest snapshot and its time (unix milliseconds). */
  readonly snapshot: { readonly sequence: number; readonly at: number } | undefined;
  readonly cluster: (ClusterFacts & { readonly catalog: ClusterCatalog }) | undefined;
}

const MS = 1_000;

export function shownMessage(message: Decision | undefined) {
  return message && { text: message.reason, since: new Date(message.since).toISOString() };
}

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
