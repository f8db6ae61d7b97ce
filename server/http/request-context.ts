/**
 * The interface of the HTTP server towards handlers: a route, the request context and the handler. Types
 * only; the implementation is uws-request-context.ts.
 */
import type { SettlementTerms } from '../../engine/commands.ts';
import type { Headers } from './answer-head.ts';
import type { RateDecision } from './limits/rate-limiter.ts';
import type { RateClass } from './limits/rate-limits.ts';

export type Method = 'GET' | 'POST' | 'DELETE';

export interface RequestContext {
  readonly method: Method;
  /**
   * URL path as sent, without the query string. A route without a body reads it before the first await: a
   * first reading after that gives ''.
   */
  readonly path: string;
  /** Raw query string without '?', '' when absent. */
  readonly query: string;
  /** Values of the ':name' parts of the route's path, as sent (still percent-encoded). */
  readonly parameters: readonly string[];
  /** Values of the route's headers, in that order, '' when absent. */
  readonly headers: readonly string[];
  /** Raw bytes, empty when none. May lie in Node's shared pool: copy it, never transfer it. */
  readonly body: Buffer;
  /**
   * Unix seconds against which the receiving cluster node judged the timestamp; undefined where this node
   * received it.
   */
  readonly judgedAt?: number | undefined;
  /** The header X-Min-Sequence of a request that writes nothing, '' when absent. */
  readonly minSequence: string;
  /** The bytes of `body` without a copy, valid until the handler returns or awaits. */
  readonly bodyBytes: Uint8Array;
  /**
   * Caller's address from clientAddress, '' when unknown. Read it before the first await: a first reading
   * after the end of the request gives ''.
   */
  readonly address: string;
  /**
   * Makes the answer name the rate limit that the handler found full, in place of those counted before it.
   * Returns the Retry-After header.
   */
  limitedBy(decision: RateDecision): Headers;
  /** Makes the answer name the rate limit that the handler counted, where it is used up sooner. */
  countedBy(decision: RateDecision): void;
  readonly isOverLimit: boolean;
  /** True when the caller has disconnected; nothing will be sent any more. */
  readonly aborted: boolean;
  /**
   * Answers with JSON, or the Content-Type at the start of the headers. Does nothing after an abort; a second
   * answer is an assertion error. Bytes must stay unchanged, because a slow reader may take them later.
   * Header values must be free of control characters.
   */
  reply(
    status: number,
    body: string | Uint8Array,
    headers?: readonly (readonly [string, string])[],
  ): void;
  /** reply() for bytes that stay unchanged only until this call returns. */
  replyTransient(status: number, body: Uint8Array, headers?: Headers): void;
  /** Seconds for which orders of the request wait at least where they would match; `undefined` = none. */
  readonly takerDelay?: number | undefined;
  /** Settlement of immediate fills of its orders; `undefined` = at once. */
  readonly settlement?: SettlementTerms | undefined;
  /** Closes the connection in place of an answer. */
  drop(): void;
  /**
   * Returns what runs other routes for the caller of this request. Called before the first await. Absent where the
   * request came by another node or over a stream.
   */
  readonly innerRequests?: (() => InnerRequests) | undefined;
}

/** A request that another one makes, with the header values of its route, in that order. */
export interface InnerRequest {
  /** URL path, with its parameters percent-encoded. */
  readonly path: string;
  /** Without '?'. */
  readonly query: string;
  readonly parameters: readonly string[];
  readonly headers: readonly string[];
  readonly body: Buffer;
}

export interface InnerAnswer {
  readonly status: number;
  readonly body: string;
}

/** Requests that one request makes of other routes, each counted against the limits of the same caller. */
export interface InnerRequests {
  run(route: Route, request: InnerRequest): Promise<InnerAnswer>;
}

/** Body and further headers of a refused request. */
export interface RefusedAnswer {
  readonly body: string;
  readonly headers: Headers;
}

export interface Route {
  readonly method: Method;
  /** Starts with '/'; a part ':name' matches anything up to the next '/', a last part '*' all that follows. */
  readonly path: string;
  /** Lower-case names of the headers to keep. */
  readonly headers: readonly string[];
  /** 0 = a body is neither read nor refused. */
  readonly bodyBytesMax: number;
  /** False where the query string is not needed; it is then ''. */
  readonly readsQuery?: boolean;
  /** Handler; may answer later. An error becomes a 500, or a 503 for Unavailable. */
  readonly run: (context: RequestContext) => void | Promise<void>;
  /** Body of a 500 in place of the default; likewise `tooLarge` of a 413 and `throttled` of a 429. */
  readonly failure?: ((error: unknown) => string) | undefined;
  /** Returns false where it has answered a request whose body is not to be read. */
  readonly admits?: (context: RequestContext) => boolean;
  /** Rewrites bodies of errors that the server gives in place of the handler. */
  readonly errorOf?: ((status: number, body: string) => RefusedAnswer) | undefined;
  readonly tooLarge?: string;
  /** Headers of a 429 for a caller that may send no long body now; undefined = it may. */
  readonly longRefused?: ((context: RequestContext) => Headers | undefined) | undefined;
  readonly limits?: readonly RateClass[];
  /**
   * True where requests may change something: answers name the batch sequence, and X-Min-Sequence is ignored.
   */
  readonly writes?: boolean;
  readonly throttled?: string | undefined;
}

/**
 * Handler of a request whose caller and query have been checked.
 *
 * @param query values of the query string, as the route's schema gives them
 * @param caller identity proved by the credentials; undefined where the route needs none
 */
export type Handler<Query, Caller = undefined> = (
  context: RequestContext,
  query: Query,
  caller: Caller,
) => void | Promise<void>;
