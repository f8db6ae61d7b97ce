/**
 * Why orders may pause, a row each: what /status, /ready, the log and the metrics say comes from here.
 *
 * Thread: the I/O thread. Not here: who finds out (the start, the log, the follower, the clock).
 */

interface PauseRow {
  /** Whether orders can be cancelled meanwhile; the node's own commands go the same way. */
  readonly takesCancels: boolean;
  readonly means: string;
  /** For the log, when it begins and when it is over. */
  readonly begins: string;
  readonly ends: string;
}

const ROOM_AGAIN = 'there is room again: orders are taken';

export const PAUSES = {
  directory: {
    takesCancels: false,
    means: 'the node was started on a DATA_DIR that cannot be written, and tries again',
    begins: 'reads only, trying again',
    ends: 'DATA_DIR can be written again: starting over',
  },
  log: {
    takesCancels: false,
    means: 'the next file of the log cannot be made',
    begins: 'reads only, until there is room again',
    ends: ROOM_AGAIN,
  },
  follower: {
    takesCancels: false,
    means: 'what is derived from the log cannot be written',
    begins: 'reads only, until there is room again',
    ends: ROOM_AGAIN,
  },
  files: {
    takesCancels: false,
    means: 'the process, or the system, has as many open files as it may have',
    begins: 'reads only, until a file can be opened',
    ends: 'files can be opened again: orders are taken',
  },
  etcd: {
    takesCancels: false,
    means: 'the log of the cluster does not answer, takes no more records, or has none',
    begins: 'reads only, marked as stale where it does not answer',
    ends: 'the log of the cluster answers again: orders are taken',
  },
  operator: {
    takesCancels: true,
    means: 'the operator of the venue has paused it',
    begins: 'reads and cancels only, until it is resumed',
    ends: 'the venue is resumed: orders are taken',
  },
  clock: {
    takesCancels: true,
    means: 'the clock of the machine jumped, and nobody has accepted the new time',
    begins: 'reads and cancels only, until then',
    ends: 'the clock is trusted again: orders are taken',
  },
} as const satisfies Readonly<Record<string, PauseRow>>;

export type PauseReason = keyof typeof PAUSES;
export const PAUSE_REASONS = Object.keys(PAUSES) as readonly PauseReason[];

/** A pause that goes on. */
export interface Pause {
  readonly reason: PauseReason;
  /** For who runs the node: it may name files. */
  readonly detail: string;
}
