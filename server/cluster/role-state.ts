/**
 * The state of a node's role, the events that change it, and the effects that a change asks for. Types only.
 */
import type { Capacities } from '../../engine/tables/capacities.ts';
import type { Tail } from '../../storage/replicated-log/replicated-log.ts';
import type { Handover, Heartbeat } from './heartbeat.ts';

export type Role = 'following' | 'claiming' | 'leading' | 'handing-over' | 'over' | 'closed';

export interface Leader {
  readonly node: string;
  readonly advertise: string;
  readonly peers: string;
  readonly epoch: number;
}

/** Constants of one process. */
export interface RoleRules {
  readonly node: string;
  readonly advertise: string;
  readonly peers: string;
  /** Name of the cluster, the first part of its keys in etcd. */
  readonly venue: string;
  readonly mayLead: boolean;
  readonly silenceMs: number;
  readonly capacities: Capacities;
}

export type ClaimStep =
  | { readonly phase: 'tail'; readonly own: number; readonly isOffered: boolean }
  | {
      readonly phase: 'catch-up' | 'heartbeat';
      readonly tail: Tail;
      readonly expected: number;
      readonly isOffered: boolean;
    }
  | { readonly phase: 'write' };

export interface RoleState {
  readonly role: Role;
  readonly isClosing: boolean;
  readonly leader: Leader | undefined;
  /** Newest epoch of a heartbeat or of the tail. */
  readonly epoch: number;
  /** Newest heartbeat that was received, and its bytes in the log. */
  readonly newest: Heartbeat | undefined;
  readonly newestBytes: Buffer | undefined;
  readonly newestAt: number;
  readonly isBadReported: boolean;
  /** Heartbeats of leaders that this process has received. The first may be of a leader that ended yesterday. */
  readonly received: number;
  /** The newest heartbeat was the last one of a leader that gave up the lead. */
  readonly wasGivenUp: boolean;
  /** Tail that the last heartbeat of a leader names for this node; used by one claim. */
  readonly offered: Tail | undefined;
  /** Time without a heartbeat, and when it was measured. */
  readonly silentMs: number;
  readonly measuredAt: number;
  /** Reason why the shared log delivers nothing. */
  readonly logProblem: string | undefined;
  /** The shared log is empty and this node has records. */
  readonly isLogEmpty: boolean;
  readonly stalls: number;
  /** The tables may be as old as the newest stall. */
  readonly isStalled: boolean;
  readonly claim: ClaimStep | undefined;
  /** The handover before the lead of this node. */
  readonly handover: Handover | undefined;
  readonly followsHandover: boolean;
  /** The handover that this node makes. */
  readonly outgoing: OutgoingHandover | undefined;
  readonly sent: number;
  /** Sending time of the heartbeat without an answer; -Infinity without one. */
  readonly unansweredSince: number;
  /** Sending time of the newest heartbeat that the log has accepted. */
  readonly confirmedAt: number;
  /** Reason why the shared log accepts no records. */
  readonly fullness: string | undefined;
  /** Reason why orders pause, as it was reported. */
  readonly problem: string | undefined;
}

export interface OutgoingHandover {
  readonly next: string;
  /** Peer address of `next`; `undefined` where it is not announced. */
  readonly nextPeers: string | undefined;
  readonly handover: Handover;
}

/** Measurements that come with every event. */
export interface Observed {
  /** Milliseconds of the steady clock. */
  readonly now: number;
  /** Newest record that this node received, and the newest that is in its tables and files. */
  readonly received: number;
  readonly applied: number;
  /** Membership and node name are confirmed. */
  readonly isEligible: boolean;
}

export type RoleEvent =
  | { readonly type: 'tick' }
  | {
      readonly type: 'heartbeat';
      readonly bytes: Buffer;
      readonly heartbeat: Heartbeat | undefined;
    }
  | { readonly type: 'log-problem'; readonly problem: string | undefined }
  | { readonly type: 'log-empty'; readonly isEmpty: boolean }
  /** The process did not run since then. */
  | { readonly type: 'stalled'; readonly since: number }
  /** @property sequence of a tail that was read after so many stalls; the tables have it */
  | { readonly type: 'caught-up'; readonly stalls: number; readonly sequence: number }
  | { readonly type: 'claim-tail'; readonly tail: Tail }
  | { readonly type: 'claim-caught-up' }
  | {
      readonly type: 'claim-heartbeat';
      readonly bytes: Buffer | undefined;
      readonly heartbeat: Heartbeat | undefined;
    }
  /** @property sequence of the claim's record; `stored` is the newest record of the node's files */
  | {
      readonly type: 'claim-applied';
      readonly sequence: number;
      readonly epoch: number;
      readonly stored: number;
    }
  | { readonly type: 'claim-failed'; readonly error: Error }
  | { readonly type: 'heartbeat-due' }
  /** @property isLast it gave up the lead */
  | {
      readonly type: 'heartbeat-answered';
      readonly isLast: boolean;
      readonly sentAt: number;
      readonly error: Error | undefined;
    }
  | { readonly type: 'room'; readonly problem: string | undefined }
  | { readonly type: 'handover'; readonly outgoing: OutgoingHandover }
  | { readonly type: 'drained'; readonly error: Error | undefined }
  | { readonly type: 'durable'; readonly stored: number; readonly error: Error | undefined }
  | { readonly type: 'lost'; readonly why: Error }
  /** No record is received any more; a claim that is under way does not lead. */
  | { readonly type: 'closing' }
  | { readonly type: 'close' };

/** Fields of a heartbeat that only the role knows. The last one of a handover also has the tail. */
export type RoleHeartbeat = Pick<
  Heartbeat,
  'afterLeave' | 'count' | 'handover' | 'leaves' | 'next' | 'nextPeers'
>;

export type RoleEffect =
  | { readonly type: 'claim-read-tail' }
  /** Waits for the record, at most CLUSTER_SILENCE_MS. */
  | { readonly type: 'claim-await-applied'; readonly sequence: number }
  | { readonly type: 'claim-read-heartbeat' }
  /** Writes the record of the claim and applies it; from then on no other one is received. */
  | {
      readonly type: 'claim-write';
      readonly tail: Tail;
      readonly seen: Buffer | undefined;
      readonly handover: Handover | undefined;
      readonly heartbeat: RoleHeartbeat;
    }
  /** @property isFirst no other leader was seen, so the clock of the machine counts */
  | { readonly type: 'lead'; readonly isFirst: boolean; readonly epoch: number }
  | { readonly type: 'serve'; readonly handover: Handover | undefined }
  /** @property sentAt comes back with the answer, and tells which one it is */
  | {
      readonly type: 'send-heartbeat';
      readonly heartbeat: RoleHeartbeat;
      readonly sentAt: number;
    }
  | { readonly type: 'stop-timers' }
  | { readonly type: 'drain' }
  | { readonly type: 'end-writer'; readonly why: string }
  /** Appends nothing more, and waits until the node's files have all that was appended. */
  | { readonly type: 'release-writer' }
  /** Receives records after the newest one of the node's files. */
  | { readonly type: 'follow' }
  | { readonly type: 'followed' }
  | { readonly type: 'handover-ended'; readonly error: Error | undefined }
  | { readonly type: 'reaches'; readonly sequence: number | undefined; readonly since?: number }
  /** Reads the tail, and waits until the tables have it. */
  | { readonly type: 'catch-up'; readonly stalls: number }
  | { readonly type: 'leader-changed' }
  | { readonly type: 'next-leader'; readonly next: Omit<Leader, 'advertise'> | undefined }
  | { readonly type: 'problem'; readonly problem: string | undefined }
  | { readonly type: 'print'; readonly level: 'info' | 'warn'; readonly text: string }
  | { readonly type: 'over'; readonly why: Error }
  | { readonly type: 'fatal'; readonly error: Error };
