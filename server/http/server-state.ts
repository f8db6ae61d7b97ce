/** What the exchanges of a server share, and what its routes come to: types only. */
import type { LogFields } from '../common/logger.ts';
import type { Heads } from './cors.ts';
import type { BodyBudget } from './limits/body-budget.ts';
import type { BodyBytes } from './limits/body-bytes.ts';
import type { ConnectedPeers } from './limits/callers.ts';
import type { RateHeaders } from './limits/rate-headers.ts';
import type { RateLimiter } from './limits/rate-limiter.ts';
import type { TimeSlice } from './limits/time-slice.ts';
import type { Route } from './request-context.ts';
import type { RouteCounts } from './request-counts.ts';

/** What the exchanges of one server share. */
export interface ServerState {
  readonly trustProxy: number;
  readonly log: (line: string, fields?: LogFields) => void;
  readonly bytesInFlightMax: number;
  /** Bytes of the answers that wait for their readers. */
  bytesInFlight: number;
  /** Answers say that the connection ends. */
  readonly closing: boolean;
  readonly cors: Heads;
  readonly peers: ConnectedPeers;
  readonly turn: TimeSlice;
  readonly bodies: BodyBytes;
  readonly bodyBudget: BodyBudget;
  /** Undefined where no request is limited. */
  readonly limiter: RateLimiter | undefined;
  readonly rateHeaders: RateHeaders;
  /** Longest wait for the rest of a body that was refused. */
  readonly discardMsMax: number;
  /** Unix milliseconds; an old value may do for a few of them. */
  readonly now: () => number;
  /** What answers to requests that write name as X-Sequence; undefined: nothing. */
  readonly sequence: (() => number) | undefined;
  /** A request is over. */
  settled(): void;
}

/** A route, and what follows from it once for all its requests. */
export interface ServedRoute {
  readonly route: Route;
  readonly parameterCount: number;
  /** Answers as GET does, without the body. */
  readonly isHead: boolean;
  /** By status (request-counts.ts); undefined where nobody wants to know. */
  readonly counts: RouteCounts | undefined;
}
