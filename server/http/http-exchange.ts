/**
 * One HTTP request being answered, on top of uWebSockets.js, whose rules are kept here.
 *
 * Runs on the I/O thread. A request object of the package dies when its handler returns, a body
 * chunk with its callback, and a response with its answer or its abort; an exchange stays valid for
 * as long as anyone holds it. Not here: routing and listening (http.ts), what routes mean.
 */
import assert from 'node:assert/strict';
import { STATUS_CODES } from 'node:http';
import { clientAddress } from './address.ts';
import type { HttpRequest, HttpResponse } from './uws.ts';

export type Method = 'GET' | 'POST' | 'DELETE';

/** One request being answered. */
export interface Exchange {
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
   * The caller's address as clientAddress gives it, '' when unknown. Read it before the first
   * await or not at all: once the exchange is over a first reading gives ''.
   */
  readonly address: string;
  /** The caller is gone; nothing will be sent any more. */
  readonly aborted: boolean;
  /**
   * Answers with JSON. Does nothing after an abort; a second answer is an assertion error. Bytes
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
  /** May answer at once or later; what it throws or rejects with becomes a 500. */
  readonly run: (exchange: Exchange) => void | Promise<void>;
  /** Body of that 500; by default {"error":"internal_error"}. */
  readonly failure?: (error: unknown) => string;
}

/**
 * What a route does with a request whose caller and query have been checked.
 *
 * @param query values of the query string, as the route's schema gives them
 * @param caller what the credentials of the request proved; undefined where a route asks for none
 */
export type Handler<Query, Caller = undefined> = (
  exchange: Exchange,
  query: Query,
  caller: Caller,
) => void | Promise<void>;

export type Headers = readonly (readonly [string, string])[];

/** What the exchanges of one server share. */
export interface ServerState {
  readonly trustProxy: number;
  readonly log: (line: string) => void;
  readonly bytesInFlightMax: number;
  /** Bytes of the answers that are held until their readers take them. */
  bytesInFlight: number;
  /** Answers tell their callers that the connection ends. */
  readonly closing: boolean;
  /** An exchange is over. */
  settled(): void;
}

/** Answers above this wait for their turn under the cap; those below are bounded by connections. */
const LARGE_BYTES = 64 * 1024;

/** First allocation for a body of unknown length, doubled as it grows. */
const BODY_BYTES_FIRST = 16 * 1024;

/** The one status whose answer has no body. */
const NOT_MODIFIED = 304;

const NO_BODY = Buffer.alloc(0);
const NO_TEXTS: readonly string[] = [];
const NO_HEADERS: Headers = [];
const RETRY_SOON: Headers = [['Retry-After', '1']];

const PAYLOAD_TOO_LARGE = '{"error":"payload too large"}';
const INTERNAL_ERROR = '{"error":"internal_error"}';
const SHUTTING_DOWN = '{"error":"shutting down"}';
const TOO_MANY_BYTES = '{"error":"too many answers in flight"}';

export class UwsExchange implements Exchange {
  readonly method: Method;
  readonly query: string;
  readonly parameters: readonly string[];
  readonly headers: readonly string[];
  body: Buffer = NO_BODY;
  aborted = false;
  private readonly server: ServerState;
  private readonly route: Route;
  private readonly response: HttpResponse;
  private readonly forwardedFor: string;
  /** Until the package's handler returns. */
  private request: HttpRequest | undefined;
  private url: string | undefined = undefined;
  private caller: string | undefined = undefined;
  private bytesReceived = 0;
  /** Bytes of the answer that are held for a slow reader. */
  private bytesHeld = 0;
  /** Inside a callback of the package, which has corked the socket already. */
  private corked = true;
  /** reply() was called, or an error took its place. */
  private answered = false;
  /** The bytes of the answer are another's as soon as they have been offered. */
  private transient = false;
  /** The whole answer is on its way, or the caller is gone: the response is dead. */
  private over = false;

  constructor(
    server: ServerState,
    route: Route,
    parameterCount: number,
    response: HttpResponse,
    request: HttpRequest,
  ) {
    this.server = server;
    this.route = route;
    this.response = response;
    this.method = route.method;
    this.request = request;
    this.query = request.getQuery() ?? '';
    this.parameters = parameterCount === 0 ? NO_TEXTS : parametersOf(request, parameterCount);
    this.headers = route.headers.length === 0 ? NO_TEXTS : headersOf(request, route.headers);
    this.forwardedFor = server.trustProxy === 0 ? '' : forwardedForOf(request);
  }

  get address(): string {
    if (this.caller === undefined) {
      // Asked for on first use only, because it costs about as much as the whole answer.
      const peer = this.over ? '' : latin1(this.response.getRemoteAddressAsText());
      this.caller = clientAddress(peer, this.forwardedFor, this.server.trustProxy);
    }
    return this.caller;
  }

  /** Asked for on first use only: most routes know their path. */
  get path(): string {
    this.url ??= this.request?.getUrl() ?? '';
    return this.url;
  }

  /** Runs the route, at once or when the body is there. */
  start(request: HttpRequest): void {
    if (this.server.closing) this.reply(503, SHUTTING_DOWN);
    else if (this.route.bodyBytesMax === 0) this.run();
    else this.startBody(request);
    this.request = undefined;
    // Whoever returns without an answer and without this ends the process.
    if (!this.over) this.response.onAborted(() => this.abort());
  }

  private startBody(request: HttpRequest): void {
    this.url = request.getUrl();
    const declared = Number(request.getHeader('content-length')); // '' is 0
    if (declared > this.route.bodyBytesMax) {
      this.refuseBody();
      return;
    }
    this.response.onData((chunk, isLast) => this.receive(chunk, isLast, declared));
  }

  /** @param declared bytes of the whole body, 0 when the caller did not say */
  private receive(chunk: ArrayBuffer, isLast: boolean, declared: number): void {
    if (this.over) return; // refused before, the rest does not matter
    const { bodyBytesMax } = this.route;
    const start = this.bytesReceived;
    const end = start + chunk.byteLength;
    if (end > bodyBytesMax) {
      this.body = NO_BODY;
      this.refuseBody();
      return;
    }
    if (end > this.body.length) {
      const guess = Math.max(declared, BODY_BYTES_FIRST, 2 * this.body.length, end);
      const grown = Buffer.allocUnsafe(isLast ? end : Math.min(guess, bodyBytesMax));
      grown.set(this.body.subarray(0, start));
      this.body = grown;
    }
    // The chunk is emptied when this callback returns.
    this.body.set(new Uint8Array(chunk), start);
    this.bytesReceived = end;
    if (!isLast) return;
    if (end < this.body.length) this.body = this.body.subarray(0, end);
    this.run();
  }

  private refuseBody(): void {
    this.answered = true;
    writeHead(this.response, 413, NO_HEADERS).end(PAYLOAD_TOO_LARGE, true);
    this.finish();
  }

  private run(): void {
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
    this.server.log(`${method} ${path} failed: ${oneLine(error)}`);
    if (this.answered) return;
    let body = INTERNAL_ERROR;
    try {
      if (failure !== undefined) body = failure(error);
    } catch (second) {
      this.server.log(`${method} ${path} failed to say why: ${oneLine(second)}`);
    }
    this.reply(500, body);
  }

  replyTransient(status: number, body: Uint8Array, headers: Headers = NO_HEADERS): void {
    // Out of a callback of the package the bytes are sent within this call too: cork() is.
    this.transient = true;
    this.reply(status, body, headers);
  }

  reply(status: number, body: string | Uint8Array, headers: Headers = NO_HEADERS): void {
    if (this.aborted) return;
    assert(!this.answered, 'an exchange is answered once');
    headLines(headers); // asserts, while it can still become a 500
    this.answered = true;
    if (this.corked) this.send(status, body, headers);
    else this.response.cork(() => this.send(status, body, headers));
  }

  private send(status: number, body: string | Uint8Array, headers: Headers): void {
    const { server } = this;
    let content = body;
    if (content.length > LARGE_BYTES) {
      if (typeof content === 'string') content = Buffer.from(content);
      const held = server.bytesInFlight;
      if (held > 0 && held + content.length > server.bytesInFlightMax) {
        this.write(503, TOO_MANY_BYTES, RETRY_SOON);
        return;
      }
    }
    this.write(status, content, headers);
  }

  /**
   * Hands over what the socket takes now and the rest when it takes more, so that nothing piles up
   * in the package, however small the answers and slow the reader.
   */
  private write(status: number, body: string | Uint8Array, headers: Headers): void {
    const { server, response } = this;
    writeHead(response, status, headers);
    if (server.closing) response.writeHeader('Connection', 'close');
    if (status === NOT_MODIFIED) {
      response.endWithoutBody();
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
    this.bytesHeld = bytes.length;
    server.bytesInFlight += bytes.length;
    response.onWritable((offset) => {
      const [taken, completed] = response.tryEnd(bytes.subarray(offset - start), total);
      if (completed) this.finish();
      return taken;
    });
  }

  private abort(): void {
    this.aborted = true;
    this.finish();
  }

  private finish(): void {
    assert(!this.over, 'an exchange ends once');
    this.over = true;
    this.server.bytesInFlight -= this.bytesHeld;
    this.server.settled();
  }
}

/** What the package says by itself. */
const OK = 200;

const CONTENT_TYPE = 'application/json';

/** By list, the lines that headLines made of it: the lists of most answers are made once. */
const linesOf = new WeakMap<Headers, string>();

/**
 * The value of Content-Type with all other headers in the lines behind it: one call into the package
 * instead of one a header, each of which costs as much as parsing a query.
 */
function headLines(headers: Headers): string {
  if (headers.length === 0) return CONTENT_TYPE;
  const known = linesOf.get(headers);
  if (known !== undefined) return known;
  let lines = CONTENT_TYPE;
  for (const [name, value] of headers) {
    assert(!/\p{Cc}/u.test(value), 'a header value has no control characters');
    lines += `\r\n${name}: ${value}`;
  }
  linesOf.set(headers, lines);
  return lines;
}

const STATUS_LINES: ReadonlyMap<number, string> = new Map(
  Object.entries(STATUS_CODES).map(([status, text]) => [Number(status), `${status} ${text}`]),
);

/** Status line and headers; the socket has to be corked. */
export function writeHead(response: HttpResponse, status: number, headers: Headers): HttpResponse {
  if (status !== OK) {
    const line = STATUS_LINES.get(status);
    assert(line !== undefined, 'a registered status');
    response.writeStatus(line);
  }
  response.writeHeader('Content-Type', headLines(headers));
  return response;
}

function parametersOf(request: HttpRequest, count: number): readonly string[] {
  const parameters: string[] = [];
  for (let index = 0; index < count; index++) parameters.push(request.getParameter(index) ?? '');
  return parameters;
}

function headersOf(request: HttpRequest, names: readonly string[]): readonly string[] {
  const values: string[] = [];
  for (const name of names) values.push(request.getHeader(name));
  return values;
}

/** All lines of the header: a proxy may append a line of its own, and getHeader sees the first. */
function forwardedForOf(request: HttpRequest): string {
  const lines: string[] = [];
  request.forEach((name, value) => {
    if (name === 'x-forwarded-for') lines.push(value);
  });
  return lines.join(',');
}

function latin1(bytes: ArrayBuffer): string {
  return Buffer.from(bytes).toString('latin1');
}

/** What an error says, fit for one line of a log. */
function oneLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/\s+/g, ' ').slice(0, 500);
}
