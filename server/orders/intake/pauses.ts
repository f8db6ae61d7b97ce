/**
 * Reasons why a node is not ready, a row each: /ready, /status, the log of the process, the metrics, the documents
 * and the choice of the next leader come from here. The rules: docs/protocol.md#readiness
 *
 * Thread: the I/O thread. Not here: who finds out (the start, the log, the projector, the clock, server/cluster).
 */

interface PauseRow {
  /** True when cancels and internal commands are accepted meanwhile. */
  readonly takesCancels: boolean;
  /**
   * `node`: this node alone, so another one may serve, and nobody hands the lead to this one; `leader`: the node that
   * leads, as a node sees it that follows; `venue`: all nodes.
   */
  readonly concerns: 'node' | 'leader' | 'venue';
  /** A leader gives the lead to a node that is ready. */
  readonly handsOver: boolean;
  /** True when orders are refused meanwhile, also those that other nodes forward to this leader. */
  readonly stopsOrders: boolean;
  readonly means: string;
  /** Log line at the beginning, and at the end. */
  readonly begins: string;
  readonly ends: string;
}

const ROOM_AGAIN = 'there is room again: orders are taken';

export const PAUSES = {
  directory: {
    takesCancels: false,
    concerns: 'node',
    handsOver: false,
    stopsOrders: true,
    means: 'the node was started on a DATA_DIR that cannot be written, and tries again',
    begins: 'reads only, trying again',
    ends: 'DATA_DIR can be written again: resync',
  },
  log: {
    takesCancels: false,
    concerns: 'node',
    handsOver: true,
    stopsOrders: true,
    means: 'the next file of the log cannot be made',
    begins: 'reads only, until there is room again',
    ends: ROOM_AGAIN,
  },
  follower: {
    takesCancels: false,
    concerns: 'node',
    handsOver: true,
    stopsOrders: true,
    means: 'what is derived from the log cannot be written',
    begins: 'reads only, until there is room again',
    ends: ROOM_AGAIN,
  },
  files: {
    takesCancels: false,
    concerns: 'node',
    handsOver: true,
    stopsOrders: true,
    means: 'the process, or the system, has as many open files as it may have',
    begins: 'reads only, until a file can be opened',
    ends: 'files can be opened again: orders are taken',
  },
  etcd: {
    takesCancels: false,
    concerns: 'node',
    handsOver: false,
    stopsOrders: true,
    means: 'the log of the cluster does not answer, or takes no more records',
    begins: 'reads only, marked as stale where it does not answer',
    ends: 'the log of the cluster answers again: orders are taken',
  },
  secret: {
    takesCancels: false,
    concerns: 'node',
    handsOver: false,
    stopsOrders: true,
    means: 'CLUSTER_SECRET of this node is not that of its cluster',
    begins: 'reads only, until it is restarted with the secret of the cluster',
    ends: 'the secret is that of the cluster: orders are taken',
  },
  'empty-log': {
    takesCancels: false,
    concerns: 'venue',
    handsOver: false,
    stopsOrders: true,
    means:
      'the log of the cluster is empty though this node has records: an operator has to begin it',
    begins: 'reads only, marked as stale',
    ends: 'the log of the cluster has begun',
  },
  operator: {
    takesCancels: true,
    concerns: 'venue',
    handsOver: false,
    stopsOrders: true,
    means: 'the operator of the venue has paused it',
    begins: 'reads and cancels only, until it is resumed',
    ends: 'the venue is resumed: orders are taken',
  },
  clock: {
    takesCancels: true,
    concerns: 'node',
    handsOver: false,
    stopsOrders: true,
    means: 'the clock of the machine jumped, and nobody has accepted the new time',
    begins: 'reads and cancels only, until then',
    ends: 'the clock is trusted again: orders are taken',
  },
  'catch-up': {
    takesCancels: false,
    concerns: 'node',
    handsOver: false,
    stopsOrders: true,
    means: 'the node has not applied what the log of the cluster has',
    begins: 'reads are marked as stale',
    ends: 'the node has applied what the log of the cluster has',
  },
  'no-leader': {
    takesCancels: false,
    concerns: 'leader',
    handsOver: false,
    stopsOrders: true,
    means: 'no node of the cluster leads',
    begins: 'requests wait for a leader',
    ends: 'a node leads the cluster',
  },
  unreachable: {
    takesCancels: false,
    concerns: 'node',
    handsOver: false,
    stopsOrders: true,
    means: 'the node that leads the cluster does not answer this one',
    begins: 'requests that the leader decides are refused',
    ends: 'the node that leads answers',
  },
  leader: {
    takesCancels: false,
    concerns: 'leader',
    handsOver: false,
    stopsOrders: true,
    means: 'the node that leads the cluster is not ready',
    begins: 'requests that the leader decides are refused',
    ends: 'the node that leads is ready',
  },
  'clock-skew': {
    takesCancels: true,
    concerns: 'node',
    handsOver: true,
    stopsOrders: false,
    means:
      'the clock of this node differs by more than 2 seconds from that of most nodes of the cluster',
    begins: 'its clients may be refused for their timestamps',
    ends: 'the clock agrees with those of most nodes',
  },
} as const satisfies Readonly<Record<string, PauseRow>>;

export type PauseReason = keyof typeof PAUSES;
export const PAUSE_REASONS = Object.keys(PAUSES) as readonly PauseReason[];

export interface Pause {
  readonly reason: PauseReason;
  /** Text for the operator: it may name files. */
  readonly detail: string;
}

export function codesOf(pauses: readonly Pause[]): PauseReason[] {
  return [...new Set(pauses.map(({ reason }) => reason))];
}

/** True when the reason keeps a node from being given the lead. An unknown code is of a newer version. */
export function barsLead(code: string): boolean {
  return !isReason(code) || PAUSES[code].concerns === 'node';
}

export function stopsOrders(code: string): boolean {
  return !isReason(code) || PAUSES[code].stopsOrders;
}

function isReason(code: string): code is PauseReason {
  return Object.hasOwn(PAUSES, code);
}
