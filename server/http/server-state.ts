/** State shared by the exchanges of a server, and its served routes: types only. */
import type { LogFields } from '../common/logger.ts';
import type { Heads } from './cors.ts';
import type { BodyBudget } from './limits/body-budget.ts';
import type { BodyBytes } from './limits/body-bytes.ts';
import type { Caller, ConnectedPeers } from './limits/callers.ts';
import type { RateHeaders } from './limits/rate-headers.ts';
import type { RateLimiter } from './limits/rate-limiter.ts';
import type { TimeSlice } from './limits/time-slice.ts';
import type { InnerRequests, Route } from './request-context.ts';
import type { RouteCounts } from './request-counts.ts';

export interface ServerState {
  readonly trustProxy: number;
  readonly log: (line: string, fields?: LogFields) => void;
  readonly bytesInFlightMax: number;
  bytesInFlight: number;
  readonly closing: boolean;
  readonly cors: Heads;
  readonly peers: ConnectedPeers;
  readonly turn: TimeSlice;
  readonly bodies: BodyBytes;
  readonly bodyBudget: BodyBudget;
  readonly limiter: RateLimiter | undefined;
  readonly rateHeaders: RateHeaders;
  readonly discardMsMax: number;
  /** Unix milliseconds; may lag by a few. */
  readonly now: () => number;
  readonly sequence: (() => number) | undefined;
  innerRequests(caller: Caller): InnerRequests;
  /** Counts a request that arrived; the server waits for its end before it closes connections. */
  began(): void;
  settled(): void;
}

/** Route with the values derived once for all its requests. */
export interface ServedRoute {
  readonly route: Route;
  readonly parameterCount: number;
  /** True where answers equal those of GET without the body. */
  readonly isHead: boolean;
  /** Counts by status (request-counts.ts); undefined when metrics are off. */
  readonly counts: RouteCounts | undefined;
}
