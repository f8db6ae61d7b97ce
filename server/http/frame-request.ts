/**
 * One request that arrived as a frame of a WebSocket, or that another request made (inner-requests.ts). It is counted
 * and run like a request of HTTP: the same rate limits, metrics, log lines and handlers.
 *
 * Thread: I/O. Not here: the bytes of frames and their credentials, which the connection knows.
 */
import assert from 'node:assert/strict';
import { INTERNAL_ERROR } from '../common/error-bodies.ts';
import { RETRY_SOON, Unavailable } from '../common/unavailable.ts';
import type { Headers } from './answer-head.ts';
import { namedFailure, oneLine } from './failed-request.ts';
import type { Caller } from './limits/callers.ts';
import type { RateDecision, RatePlan } from './limits/rate-limiter.ts';
import { SHUTTING_DOWN, TOO_MANY_REQUESTS } from './refusals.ts';
import type { Method, RequestContext, Route } from './request-context.ts';
import type { RouteCounts } from './request-counts.ts';
import { hasSequence, sequenceHeaders } from './sequence.ts';
import type { ServerState } from './server-state.ts';

/** Route whose requests may arrive as frames, too. */
export type FrameRoute = Pick<Route, 'limits' | 'method' | 'path'> & {
  /** Name of the operation in a frame, and in the metrics in place of the method. */
  readonly name: string;
};

/** Connection whose frames are requests. */
export interface FrameClient {
  readonly caller: Caller;
  readonly isClosed: boolean;
  /** Runs the handler of an admitted request; may answer later. */
  run(request: FrameRequest): void | Promise<void>;
  /** Header values with which another node checks the request. */
  headersOf(request: FrameRequest): readonly string[];
  answer(request: FrameRequest, status: number, body: string | Uint8Array, headers: Headers): void;
  /** Cuts the connection in place of an answer. */
  cut(): void;
}

/** Target of a request of a route that has parameters or a query. */
export type FrameTarget = Pick<RequestContext, 'parameters' | 'path' | 'query'>;

const FAILED = 500;
const NO_TEXTS: readonly string[] = [];
const NO_HEADERS: Headers = [];

/** Requests of one route that arrive as frames. */
export class FrameRequests {
  readonly route: FrameRoute;
  readonly server: ServerState;
  readonly plan: RatePlan | undefined;
  /** Undefined when metrics are off. */
  readonly counts: RouteCounts | undefined;

  constructor(server: ServerState, route: FrameRoute, counts: RouteCounts | undefined) {
    this.server = server;
    this.route = route;
    this.plan = server.limiter?.plan(route.limits ?? []);
    this.counts = counts;
  }

  /**
   * @param id returned with the answer; neither it nor `body` is written again
   * @param target the path of the route, without a query, by default
   */
  take(client: FrameClient, id: Uint8Array, body: Buffer, target?: FrameTarget): void {
    new FrameRequest(this, client, id, body, target).start();
  }
}

export class FrameRequest implements RequestContext {
  readonly id: Uint8Array;
  readonly body: Buffer;
  readonly path: string;
  readonly query: string;
  readonly parameters: readonly string[];
  readonly minSequence = '';
  /** The connection is known by its credentials. */
  readonly address = '';
  isOverLimit = false;
  private readonly requests: FrameRequests;
  private readonly client: FrameClient;
  /** Arrival on a monotonic clock; 0 when metrics are off. */
  private readonly since: number;
  private isAnswered = false;
  private failed = 'was answered 500';

  constructor(
    requests: FrameRequests,
    client: FrameClient,
    id: Uint8Array,
    body: Buffer,
    target: FrameTarget | undefined,
  ) {
    this.path = target === undefined ? requests.route.path : target.path;
    this.query = target === undefined ? '' : target.query;
    this.parameters = target === undefined ? NO_TEXTS : target.parameters;
    this.requests = requests;
    this.client = client;
    this.id = id;
    this.body = body;
    this.since = requests.counts === undefined ? 0 : performance.now();
  }

  get route(): FrameRoute {
    return this.requests.route;
  }

  get method(): Method {
    return this.requests.route.method;
  }

  get headers(): readonly string[] {
    return this.client.headersOf(this);
  }

  get bodyBytes(): Uint8Array {
    return this.body;
  }

  get aborted(): boolean {
    return this.client.isClosed;
  }

  start(): void {
    const { server } = this.requests;
    server.began();
    if (server.closing) this.reply(503, SHUTTING_DOWN);
    else if (this.isAdmitted()) this.run();
  }

  limitedBy(decision: RateDecision): Headers {
    this.isOverLimit = true;
    const { now, rateHeaders } = this.requests.server;
    return rateHeaders.retryAfter(decision, now());
  }

  /** Answers name no limit that still has room. */
  countedBy(): void {}

  reply(status: number, body: string | Uint8Array, headers: Headers = NO_HEADERS): void {
    const { counts, server } = this.requests;
    const own = status === FAILED ? namedFailure(server.log, this, this.failed, headers) : headers;
    this.end();
    counts?.add(status, performance.now() - this.since);
    this.client.answer(this, status, body, this.withSequence(own));
  }

  /** The bytes of a frame are copied. */
  replyTransient(status: number, body: Uint8Array, headers?: Headers): void {
    this.reply(status, body, headers);
  }

  drop(): void {
    this.end();
    this.client.cut();
  }

  /** Counts the request against its limits; refuses it beyond one of them. */
  private isAdmitted(): boolean {
    const { plan, server } = this.requests;
    const { limiter } = server;
    if (limiter === undefined || plan === undefined || plan.applying.length === 0) return true;
    const decision = limiter.take(this.client.caller, plan, server.now());
    if (decision.allowed) return true;
    this.reply(429, TOO_MANY_REQUESTS, this.limitedBy(decision));
    return false;
  }

  private run(): void {
    try {
      const pending = this.client.run(this);
      if (pending !== undefined) pending.then(undefined, (error: unknown) => this.fail(error));
    } catch (error) {
      this.fail(error);
    }
  }

  private fail(error: unknown): void {
    const why = `failed: ${oneLine(error)}`;
    if (this.isAnswered) this.requests.server.log(`${this.method} ${this.path} ${why}`);
    else if (error instanceof Unavailable) this.reply(503, error.body, RETRY_SOON);
    else {
      this.failed = why;
      this.reply(FAILED, INTERNAL_ERROR);
    }
  }

  /** An answer decided by another node names the batch already. */
  private withSequence(headers: Headers): Headers {
    const { sequence } = this.requests.server;
    if (sequence === undefined || hasSequence(headers)) return headers;
    const own = sequenceHeaders(sequence());
    return headers.length === 0 ? own : [...headers, ...own];
  }

  private end(): void {
    assert(!this.isAnswered, 'a request is answered once');
    this.isAnswered = true;
    this.requests.server.settled();
  }
}
