/**
 * What takes the requests of clients that change orders: the lines of this node, or, in a cluster, whatever brings
 * them to the node that leads. Types only.
 */
import type { OwnedRequest, Request } from './slot-requests.ts';

export interface OrderTaker {
  /** Requests that wait. */
  readonly waiting: number;
  /** Takes a request; it is answered once, whatever becomes of it. */
  submit(request: OwnedRequest): void;
  /** Takes the next part of a request that was taken. */
  goOn(request: Request): void;
}
