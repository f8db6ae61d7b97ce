/**
 * Records of the cluster's log on their way into the tables of this node, and how far it is behind. They may come
 * twice, from the subscription and from the node's own claim: each is applied once.
 *
 * Thread: the I/O thread.
 */

import type { LogEntry } from '../../storage/log/log.ts';
import type { Position } from '../../storage/replicated-log/replicated-log.ts';
import type { Sequencer } from '../orders/intake/sequencer.ts';
import type { ClusterClock } from './cluster-clock.ts';

/** Records that may wait for the workers; the log keeps the others. */
const WAITING_MAX = 256;

interface Waiter {
  readonly sequence: number;
  readonly resolve: () => void;
}

export class RecordFeed {
  /** Newest record that the sequencer has. */
  at: Position;
  /** Newest record that is applied, and in the log of this node. */
  applied: number;
  private readonly sequencer: Pick<Sequencer, 'apply'>;
  private readonly clock: ClusterClock;
  private readonly steady: () => number;
  /** Times of receipt of the records that are not applied, the oldest first. */
  private readonly receivedAt: number[] = [];
  private waiters: Waiter[] = [];
  /** Time since which a record may be missing. */
  private missingSince: number | undefined;

  constructor(
    at: Position,
    sequencer: Pick<Sequencer, 'apply'>,
    clock: ClusterClock,
    steady: () => number = () => performance.now(),
  ) {
    this.at = at;
    this.applied = at.sequence;
    this.sequencer = sequencer;
    this.clock = clock;
    this.steady = steady;
  }

  /** Takes the next record; what it returns resolves when there is room for one more. */
  take({ after, payload, sequence, time }: LogEntry): void | Promise<void> {
    if (sequence <= this.at.sequence) return;
    this.at = { sequence, digest: after };
    this.clock.reach(time);
    this.receivedAt.push(this.steady());
    this.sequencer.apply(payload, () => this.onApplied(sequence));
    if (this.receivedAt.length >= WAITING_MAX) return this.whenApplied(sequence - WAITING_MAX / 2);
  }

  whenApplied(sequence: number): Promise<void> {
    if (this.applied >= sequence) return Promise.resolve();
    return new Promise((resolve) => this.waiters.push({ sequence, resolve }));
  }

  /** The log has records up to this one; undefined = that is not known, since then. */
  reaches(sequence: number | undefined, since = this.steady()): void {
    const isThere = sequence !== undefined && sequence <= this.at.sequence;
    this.missingSince = isThere ? undefined : (this.missingSince ?? since);
  }

  /** Milliseconds since the oldest record that is not applied was there. */
  behindMs(): number {
    const since = Math.min(this.receivedAt[0] ?? Infinity, this.missingSince ?? Infinity);
    return since === Infinity ? 0 : Math.ceil(this.steady() - since);
  }

  private onApplied(sequence: number): void {
    this.applied = sequence;
    this.receivedAt.shift();
    const ready = this.waiters.filter((waiter) => waiter.sequence <= sequence);
    if (ready.length === 0) return;
    this.waiters = this.waiters.filter((waiter) => waiter.sequence > sequence);
    for (const { resolve } of ready) resolve();
  }
}
