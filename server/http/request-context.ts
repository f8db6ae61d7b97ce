/**
 * What the rooms see of the HTTP server: a route, the request context that its handler answers, and the
 * handler. Types only; what stands behind them is uws-request-context.ts.
 */
import type { Headers } from './answer-head.ts';
import type { RateDecision } from './limits/rate-limiter.ts';
import type { RateClass } from './limits/rate-limits.ts';

export type Method = 'GET' | 'POST' | 'DELETE';

/** One request being answered. */
export interface RequestContext {
  readonly method: Method;
  /**
   * URL path as sent, without the query string. Where the route takes no body it is read before
   * the first await or not at all: later, a first reading gives ''.
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
   * Unix seconds by which the node of the cluster that took the request has judged its timestamp; undefined where this
   * node took it.
   */
  readonly judgedAt?: number | undefined;
  /** The header X-Min-Sequence of a request that writes nothing, '' when absent. */
  readonly minSequence: string;
  /** The same bytes without a copy, good until the handler returns or awaits. */
  readonly bodyView: DataView;
  /**
   * The caller's address as clientAddress gives it, '' when unknown. Read it before the first
   * await or not at all: once the request is over a first reading gives ''.
   */
  readonly address: string;
  /**
   * Makes the answer name a rate limit that the handler found full, in place of those that were counted
   * before it. Returns the Retry-After that goes with it.
   */
  limitedBy(decision: RateDecision): Headers;
  /** limitedBy() was called. */
  readonly isOverLimit: boolean;
  /** The caller is gone; nothing will be sent any more. */
  readonly aborted: boolean;
  /**
   * Answers with JSON, or what a Content-Type at the head of the headers says. Does nothing after an abort; a second answer is an assertion error. Bytes
   * given must stay unchanged, because a slow reader may take them later. Header values must be
   * free of control characters.
   */
  reply(
    status: number,
    body: string | Uint8Array,
    headers?: readonly (readonly [string, string])[],
  ): void;
  /** As reply(), for bytes that stay as they are only until this call returns. */
  replyTransient(status: number, body: Uint8Array, headers?: Headers): void;
}

export interface Route {
  readonly method: Method;
  /** Starts with '/'; a part ':name' matches anything up to the next '/'. */
  readonly path: string;
  /** Lower-case names of the headers to keep. */
  readonly headers: readonly string[];
  /** 0 = a body is neither read nor refused. */
  readonly bodyBytesMax: number;
  /** False: nobody asks for its query string, which is then ''. */
  readonly readsQuery?: boolean;
  /** May answer at once or later; what it throws or rejects with becomes a 500, or a 503 where it is Unavailable. */
  readonly run: (context: RequestContext) => void | Promise<void>;
  /** Body of that 500; by default {"error":"internal_error"}. */
  readonly failure?: (error: unknown) => string;
  /** Returns false where it has answered a request whose body is not to be read. */
  readonly admits?: (context: RequestContext) => boolean;
  /** Body of a 413; by default {"error":"payload too large"}. */
  readonly tooLarge?: string;
  /** Headers of a 429 for a caller who may send no long body now; undefined = it may. */
  readonly longRefused?: (context: RequestContext) => Headers | undefined;
  /** The rate limits that cover it; none by default. */
  readonly limits?: readonly RateClass[];
  /** Its requests may change something: answers say which batch holds that, and X-Min-Sequence counts for nothing. */
  readonly writes?: boolean;
  /** Body of a 429; by default {"error":"Too Many Requests"}. */
  readonly throttled?: string;
}

/**
 * What a route does with a request whose caller and query have been checked.
 *
 * @param query values of the query string, as the route's schema gives them
 * @param caller what the credentials of the request proved; undefined where a route asks for none
 */
export type Handler<Query, Caller = undefined> = (
  context: RequestContext,
  query: Query,
  caller: Caller,
) => void | Promise<void>;
