/**
 * Counters of requests forwarded to the leader of the cluster.
 *
 * Thread: I/O. Not here: names and texts of the metrics (metric-table.ts).
 */
import { Histogram } from '../common/histogram.ts';

/** Whole requests; placed orders with and without pre-validation by this node; changes by operators. */
const FORWARDED_KINDS = ['request', 'checked_orders', 'unchecked_orders', 'operation'] as const;
/** No leader; too many waiting requests; sent with an unknown result. */
const FORWARD_FAILURES = ['nobody', 'busy', 'unknown'] as const;

export type ForwardedKind = (typeof FORWARDED_KINDS)[number];
type ForwardFailure = (typeof FORWARD_FAILURES)[number];

export class ForwardMetrics {
  readonly answered = new Map<ForwardedKind, number>(FORWARDED_KINDS.map((kind) => [kind, 0]));
  readonly failed = new Map<ForwardFailure, number>(FORWARD_FAILURES.map((why) => [why, 0]));
  /** Calls that waited for a leader. */
  waits = 0;
  /** Microseconds from sending a call to its answer. */
  readonly roundTrip = new Histogram();

  /** Counts the end of a request; 'here': this node has become the leader and decides it. */
  ended(kind: ForwardedKind, outcome: Uint8Array | ForwardFailure | 'here'): void {
    if (typeof outcome !== 'string') this.answered.set(kind, this.answered.get(kind)! + 1);
    else if (outcome !== 'here') this.failed.set(outcome, this.failed.get(outcome)! + 1);
  }
}
