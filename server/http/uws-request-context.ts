/**
 * One HTTP request being answered, on top of uWebSockets.js, with its rules.
 *
 * Thread: I/O. A request object of the package dies when its handler returns, a body chunk with its callback,
 * a response with its answer or abort. A request context stays valid as long as it is referenced. Not here:
 * routing and listening (http.ts), meaning of routes.
 */
import assert from 'node:assert/strict';
import { performance } from 'node:perf_hooks';
import { INTERNAL_ERROR } from '../common/error-bodies.ts';
import { RETRY_SOON, Unavailable } from '../common/unavailable.ts';
import { clientAddress } from './address.ts';
import { type CommonHead, type Headers, type NumberedLines, writeHead } from './answer-head.ts';
import { namedFailure, oneLine } from './failed-request.ts';
import type { Caller } from './limits/callers.ts';
import type { RateDecision, RatePlan } from './limits/rate-limiter.ts';
import { discardRest } from './limits/refused-body.ts';
import {
  AMBIGUOUS_LENGTH,
  PAYLOAD_TOO_LARGE,
  SHUTTING_DOWN,
  TOO_MANY_BODIES,
  TOO_MANY_BYTES,
  TOO_MANY_REQUESTS,
} from './refusals.ts';
import { RequestBody } from './request-body.ts';
import { callerOfRequest, peerAddress } from './request-caller.ts';
import type { InnerRequests, Method, RequestContext, Route } from './request-context.ts';
import type { RouteCounts } from './request-counts.ts';
import { headerName, lengthOf, parametersOf, readLines } from './request-lines.ts';
import { hasSequence, MIN_SEQUENCE_HEADER } from './sequence.ts';
import type { ServedRoute, ServerState } from './server-state.ts';
import type { HttpRequest, HttpResponse } from './uws.ts';

/** Answers above this size wait for room under the cap; the number of connections bounds smaller ones. */
const LARGE_BYTES = 64 * 1024;

/** Bodies up to this size are read from any caller: a batch of some fifteen orders. */
const LONG_BYTES = 16 * 1024;

/** Consecutive 429 answers after which the connection ends. */
const REFUSED_MAX = 100;

const FAILED = 500;
const NO_CONTENT = 204;
const NOT_MODIFIED = 304;

const MIN_SEQUENCE = headerName(MIN_SEQUENCE_HEADER);
const CONTENT_LENGTH = headerName('Content-Length');
const ORIGIN = headerName('Origin');
const NO_BODY = Buffer.alloc(0);
const NO_TEXTS: readonly string[] = [];
const NO_HEADERS: Headers = [];
const CONNECTION_CLOSE: Headers = [['Connection', 'close']];

export class UwsRequestContext implements RequestContext {
  readonly method: Method;
  readonly query: string;
  readonly parameters: readonly string[];
  readonly headers: readonly string[] = NO_TEXTS;
  readonly minSequence: string;
  aborted = false;
  isOverLimit = false;
  private readonly server: ServerState;
  private readonly route: Route;
  private readonly counts: RouteCounts | undefined;
  /** Arrival on a monotonic clock; 0 when metrics are off. */
  readonly since: number;
  private readonly response: HttpResponse;
  private readonly forwardedFor: string = '';
  /**
   * True where the end of the body is ambiguous; checked behind proxies, and where credentials are needed.
   */
  private readonly isAmbiguous: boolean = false;
  /** Declared length of the body, '' = none; undefined = header lines were not read. */
  private readonly declared: string | undefined = undefined;
  /** Undefined after the package's handler returned. */
  private request: HttpRequest | undefined;
  private plan: RatePlan | undefined = undefined;
  private who: Caller | undefined = undefined;
  /** True for a request that runs in a later iteration, when its body has arrived. */
  private isPutOff = false;
  /** True where the connection ends with the answer. */
  private isLast = false;
  private url: string | undefined = undefined;
  private caller: string | undefined = undefined;
  private bytes: Buffer = NO_BODY;
  private arriving: RequestBody | undefined = undefined;
  /** Body that arrived in one chunk, until its callback returns. */
  private chunk: ArrayBuffer | undefined = undefined;
  /** Rate-limit lines of the answer; undefined where nothing was counted. */
  private limitLines: NumberedLines | undefined = undefined;
  private remaining = 0;
  private readonly head: CommonHead;
  private readonly isHead: boolean;
  private waitingBytes = 0;
  /** True inside a callback of the package, which has corked the socket. */
  private corked = true;
  /** Log text of a 500. */
  private failed = 'was answered 500';
  /** True after reply(), or an error in its place. */
  private answered = false;
  private transient = false;
  /** True when the whole answer was sent or the caller has disconnected: the response is dead. */
  private over = false;

  constructor(
    server: ServerState,
    { counts, isHead, parameterCount, route }: ServedRoute,
    response: HttpResponse,
    request: HttpRequest,
  ) {
    this.server = server;
    this.route = route;
    this.counts = counts;
    this.since = counts === undefined ? 0 : performance.now();
    this.response = response;
    this.isHead = isHead;
    this.method = route.method;
    this.request = request;
    this.query = route.readsQuery === false ? '' : (request.getQuery() ?? '');
    this.parameters = parameterCount === 0 ? NO_TEXTS : parametersOf(request, parameterCount);
    if (server.trustProxy > 0 || route.headers.length > 0) {
      const { forwardedFor, isAmbiguous, length, values } = readLines(request, route.headers);
      this.headers = values;
      this.forwardedFor = forwardedFor;
      this.isAmbiguous = isAmbiguous;
      this.declared = length;
    }
    this.minSequence = route.writes === true ? '' : request.getHeader(MIN_SEQUENCE);
    this.head = server.cors.headFor(server.cors.asksOrigin ? request.getHeader(ORIGIN) : '');
  }

  get address(): string {
    if (this.caller === undefined) {
      const peer = this.over ? '' : peerAddress(this.server, this.response);
      this.caller = clientAddress(peer, this.forwardedFor, this.server.trustProxy);
    }
    return this.caller;
  }

  /** Read on first use only: most routes know their path. */
  get path(): string {
    this.url ??= this.request?.getUrl() ?? '';
    return this.url;
  }

  get body(): Buffer {
    if (this.chunk !== undefined) {
      this.bytes = Buffer.from(new Uint8Array(this.chunk));
      this.chunk = undefined;
    }
    return this.bytes;
  }

  get bodyBytes(): Uint8Array {
    return this.chunk === undefined ? this.bytes : new Uint8Array(this.chunk);
  }

  start(request: HttpRequest, plan: RatePlan | undefined): void {
    this.plan = plan;
    if (!this.server.turn.takes(this)) this.putOff(request);
    else if (this.isAmbiguous) this.refuseLength();
    else if (this.server.closing) this.replyError(503, SHUTTING_DOWN);
    else if (this.isAdmitted()) this.begin(request);
    this.request = undefined;
    // A response without answer and without this handler would end the process.
    if (!this.over) this.response.onAborted(() => this.abort());
  }

  /** Defers the request; a pending end of its connection is executed at once. */
  private putOff(request: HttpRequest): void {
    if (this.isAmbiguous || this.server.closing) {
      this.abort();
      this.response.close();
      return;
    }
    this.isPutOff = true;
    this.url = request.getUrl();
    this.begin(request);
  }

  private begin(request: HttpRequest): void {
    if (this.route.admits?.(this) === false) return;
    if (this.route.bodyBytesMax === 0) this.run();
    else this.startBody(request);
  }

  private resume(): void {
    if (this.over) return;
    this.corked = true;
    this.response.cork(() => void (this.isAdmitted() && this.run()));
  }

  private refuseLength(): void {
    this.answered = true;
    this.writeHead(400, CONNECTION_CLOSE);
    this.response.end(AMBIGUOUS_LENGTH, true);
    this.finish();
  }

  /** Counts the request; refuses it at once beyond a limit: the package skips its body. */
  private isAdmitted(): boolean {
    const { plan, server } = this;
    const { limiter, rateHeaders } = server;
    if (plan === undefined || plan.applying.length === 0) return true;
    assert(limiter !== undefined, 'a plan is made by a limiter');
    const decision = limiter.take(this.counted(), plan, server.now());
    this.limitLines = rateHeaders.linesOf(decision);
    this.remaining = decision.remaining;
    if (decision.allowed) return true;
    // A connection of a proxy is shared by other callers.
    this.isLast = decision.refusedInRow > REFUSED_MAX && server.trustProxy === 0;
    if (this.isLast) server.turn.spend(this.counted());
    this.replyError(429, this.route.throttled ?? TOO_MANY_REQUESTS, this.limitedBy(decision));
    return false;
  }

  limitedBy(decision: RateDecision): Headers {
    this.isOverLimit = true;
    const { now, rateHeaders } = this.server;
    this.limitLines = rateHeaders.linesOf(decision);
    this.remaining = 0;
    return rateHeaders.retryAfter(decision, now());
  }

  countedBy(decision: RateDecision): void {
    const { rateHeaders } = this.server;
    if (!rateHeaders.showsHandlerRows) return;
    const isFirst = this.limitLines === undefined || decision.warned;
    if (!isFirst && decision.remaining >= this.remaining) return;
    this.limitLines = rateHeaders.linesOf(decision);
    this.remaining = decision.remaining;
  }

  counted(): Caller {
    this.who ??= callerOfRequest(this.server, this.response, this.forwardedFor);
    return this.who;
  }

  innerRequests(): InnerRequests {
    return this.server.innerRequests(this.counted());
  }

  private startBody(request: HttpRequest): void {
    const { server } = this;
    const { bodyBytesMax, path } = this.route;
    // The path of a route without parameters equals its pattern byte for byte.
    this.url = this.parameters.length === 0 ? path : request.getUrl();
    const declared = lengthOf(this.declared ?? request.getHeader(CONTENT_LENGTH));
    if (declared > bodyBytesMax) {
      const discard = this.refuseBody();
      this.response.onData((chunk, isLast) => discard(chunk.byteLength, isLast));
      return;
    }
    const refused = declared > LONG_BYTES ? this.route.longRefused?.(this) : undefined;
    if (refused !== undefined) {
      this.refuseUnread(429, TOO_MANY_REQUESTS, refused);
      return;
    }
    let discard: ((bytes: number, isLast: boolean) => void) | undefined;
    this.response.onData((chunk, isLast) => {
      if (isLast && this.arriving === undefined && chunk.byteLength <= bodyBytesMax) {
        this.runWith(chunk);
      } else if (discard !== undefined) discard(chunk.byteLength, isLast);
      else if (!this.answered) {
        this.arriving ??= new RequestBody(bodyBytesMax, declared, server.bodies.of(this.counted()));
        const refusal = this.arriving.add(chunk, isLast);
        if (isLast || refusal !== undefined) server.bodyBudget.ended(this.response);
        else server.bodyBudget.received(this.response, chunk.byteLength);
        if (refusal === 413) {
          discard = this.refuseBody();
          discard(chunk.byteLength, isLast);
        } else if (refusal === 429) this.refuseUnread(429, TOO_MANY_REQUESTS, RETRY_SOON);
        else if (refusal === 503) this.refuseUnread(503, TOO_MANY_BODIES, RETRY_SOON);
        else if (isLast) {
          this.bytes = this.arriving.whole();
          this.run();
        }
      }
    });
  }

  /** Runs with a body of one chunk, the usual case; it is copied only when the handler asks or awaits. */
  private runWith(chunk: ArrayBuffer): void {
    this.chunk = chunk;
    this.run();
    if (!this.answered) void this.body;
    this.chunk = undefined;
  }

  private refuseUnread(status: number, body: string, headers: Headers): void {
    this.isLast = true;
    this.corked = true;
    this.reply(status, body, headers);
  }

  /** Answers that the body is too large, and returns a function to be called with the rest of it. */
  private refuseBody(): (bytes: number, isLast: boolean) => void {
    const { response, server } = this;
    this.answered = true;
    this.writeHead(413, CONNECTION_CLOSE);
    response.write(this.route.tooLarge ?? PAYLOAD_TOO_LARGE);
    const discard = discardRest(response, () => this.over, server.discardMsMax);
    return (bytes, isLast) => {
      if (discard(bytes, isLast)) this.finish();
    };
  }

  private run(): void {
    if (this.isPutOff) {
      this.isPutOff = false;
      this.server.turn.later(() => this.resume());
      return;
    }
    this.corked = true;
    try {
      const pending = this.route.run(this);
      if (pending !== undefined) pending.then(undefined, (error: unknown) => this.fail(error));
    } catch (error) {
      this.fail(error);
    }
    this.corked = false;
  }

  private fail(error: unknown): void {
    const { method, path, failure } = this.route;
    const why = `failed: ${oneLine(error)}`;
    if (this.answered || this.aborted) {
      this.server.log(`${method} ${path} ${why}`);
      return;
    }
    if (error instanceof Unavailable) {
      this.replyError(503, error.body, RETRY_SOON);
      return;
    }
    let body = INTERNAL_ERROR;
    let second: unknown;
    try {
      if (failure !== undefined) body = failure(error);
    } catch (thrown) {
      second = thrown;
    }
    this.failed = why;
    this.replyError(FAILED, body);
    if (second === undefined) return;
    this.server.log(`${method} ${path} failed to say why: ${oneLine(second)}`);
  }

  /** Answers in the form of the route's API. */
  private replyError(status: number, body: string, headers: Headers = NO_HEADERS): void {
    const own = this.route.errorOf?.(status, body);
    if (own === undefined) this.reply(status, body, headers);
    else this.reply(status, own.body, [...headers, ...own.headers]);
  }

  replyTransient(status: number, body: Uint8Array, headers: Headers = NO_HEADERS): void {
    // Outside a callback of the package the bytes are still sent within this call, through cork().
    this.transient = true;
    this.reply(status, body, headers);
  }

  reply(status: number, body: string | Uint8Array, headers: Headers = NO_HEADERS): void {
    if (this.aborted) return;
    assert(!this.answered, 'a request is answered once');
    const { failed, route, server } = this;
    const sentHeaders =
      status === FAILED ? namedFailure(server.log, route, failed, headers) : headers;
    // Asserts, while it can still become a 500.
    if (sentHeaders !== NO_HEADERS) this.head.with(sentHeaders);
    this.answered = true;
    if (this.corked) this.send(status, body, sentHeaders);
    else this.response.cork(() => this.send(status, body, sentHeaders));
  }

  drop(): void {
    if (this.over) return;
    this.answered = true;
    this.abort();
    this.response.close();
  }

  private send(status: number, body: string | Uint8Array, headers: Headers): void {
    const { server } = this;
    const hasNoBody = status === NOT_MODIFIED || status === NO_CONTENT;
    if (this.isHead || hasNoBody) {
      this.writeHead(status, headers);
      if (hasNoBody) this.response.endWithoutBody();
      else this.response.endWithoutBody(Buffer.byteLength(body), this.isLast);
      this.finish();
      return;
    }
    let content = body;
    if (content.length > LARGE_BYTES) {
      if (typeof content === 'string') content = Buffer.from(content);
      const inFlight = server.bytesInFlight;
      if (inFlight > 0 && inFlight + content.length > server.bytesInFlightMax) {
        this.write(503, TOO_MANY_BYTES, RETRY_SOON);
        return;
      }
    }
    this.write(status, content, headers);
  }

  private writeHead(status: number, headers: Headers): void {
    const { counts, limitLines } = this;
    counts?.add(status, performance.now() - this.since);
    const head = this.headWith(headers);
    const value =
      limitLines === undefined
        ? head.with(headers)
        : head.withNumber(headers, limitLines, this.remaining);
    writeHead(this.response, status, value);
    if (this.server.closing || this.isLast) this.response.writeHeader('Connection', 'close');
  }

  private headWith(headers: Headers): CommonHead {
    const { head, route, server } = this;
    // An answer decided by another node names the batch already.
    if (route.writes !== true || server.sequence === undefined || hasSequence(headers)) return head;
    return head.withSequence(server.sequence());
  }

  /**
   * Writes as much as the socket takes, and the rest on drain, so that nothing piles up in the package,
   * however small the answers and slow the reader.
   */
  private write(status: number, body: string | Uint8Array, headers: Headers): void {
    const { server, response } = this;
    this.writeHead(status, headers);
    if (this.isLast) {
      response.end(body, true);
      this.finish();
      return;
    }
    const [, complete] = response.tryEnd(body, 0); // 0 = this is all of it
    if (complete) {
      this.finish();
      return;
    }
    let bytes = typeof body === 'string' ? Buffer.from(body) : body;
    const total = bytes.length;
    const start = this.transient ? response.getWriteOffset() : 0;
    if (this.transient) bytes = Buffer.from(bytes.subarray(start));
    this.waitingBytes = bytes.length;
    server.bytesInFlight += bytes.length;
    response.onWritable((offset) => {
      const [taken, completed] = response.tryEnd(bytes.subarray(offset - start), total);
      if (completed) this.finish();
      return taken;
    });
  }

  private abort(): void {
    // The package reports the end of a connection that drop() closes.
    if (this.over) return;
    this.aborted = true;
    if (this.arriving !== undefined) this.server.bodyBudget.gone(this.response);
    this.finish();
  }

  private finish(): void {
    assert(!this.over, 'a request ends once');
    this.over = true;
    this.arriving?.drop();
    this.server.bytesInFlight -= this.waitingBytes;
    this.server.settled();
  }
}
