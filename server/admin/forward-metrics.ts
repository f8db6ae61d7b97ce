/**
 * What a node of a cluster has forwarded to the node that leads: plain counters that somebody reads now and then.
 *
 * Thread: the I/O thread. Not here: names and texts of what is shown (metric-table.ts).
 */
import { Histogram } from '../common/histogram.ts';

/** Requests whole; those that place orders, checked by this node or not; changes by operators. */
const FORWARDED_KINDS = ['request', 'checked_orders', 'unchecked_orders', 'operation'] as const;
/** Nobody led; too much waited; it was sent, and what became of it is unknown. */
const FORWARD_FAILURES = ['nobody', 'busy', 'unknown'] as const;

export type ForwardedKind = (typeof FORWARDED_KINDS)[number];
type ForwardFailure = (typeof FORWARD_FAILURES)[number];

export class ForwardMetrics {
  /** Requests that the node which leads has answered. */
  readonly answered = new Map<ForwardedKind, number>(FORWARDED_KINDS.map((kind) => [kind, 0]));
  /** Requests that it has not. */
  readonly failed = new Map<ForwardFailure, number>(FORWARD_FAILURES.map((why) => [why, 0]));
  /** Calls that waited for somebody to lead. */
  waits = 0;
  /** Microseconds of a call that was answered, from when it was sent. */
  readonly roundTrip = new Histogram();

  /** A request has ended; 'here': this node leads by now, and decides it. */
  ended(kind: ForwardedKind, outcome: Uint8Array | ForwardFailure | 'here'): void {
    if (typeof outcome !== 'string') this.answered.set(kind, this.answered.get(kind)! + 1);
    else if (outcome !== 'here') this.failed.set(outcome, this.failed.get(outcome)! + 1);
  }
}
