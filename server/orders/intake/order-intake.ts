/**
 * Interface for requests that change orders: the wallet queue of this node or, in a cluster, the forwarder to
 * the leader. Types only.
 */
import type { OwnedRequest, Request } from '../exchange-memory/slot-requests.ts';

export interface OrderIntake {
  readonly waiting: number;
  /** Takes a request, which is answered exactly once. */
  submit(request: OwnedRequest): void;
  resume(request: Request): void;
}
