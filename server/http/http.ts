/**
 * The HTTP server: listens, routes requests and drains them at shutdown.
 *
 * Thread: I/O. One request is an Exchange (uws-request-context.ts). Not here: meaning of routes, credentials,
 * TLS; WebSockets are in sockets.ts.
 *
 * Known limits of the package: a request pipelined behind one that waits for its answer closes the
 * connection; malformed HTTP is answered by the package itself, not in JSON.
 */

import { dirname } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';
import type { LogFields } from '../common/logger.ts';
import type { Headers } from './answer-head.ts';
import {
  ALL_ORIGINS,
  Cors,
  type CorsOrigins,
  type Heads,
  preflightHeaders,
  STALE,
  StaleHeads,
} from './cors.ts';
import { FAUCET_HEADER } from './faucet-header.ts';
import { FrameRequests, type FrameRoute } from './frame-request.ts';
import { IGNORED_HEADER } from './ignored-parameters.ts';
import { CallerRequests } from './inner-requests.ts';
import { systemConnections } from './limits/address-connections.ts';
import { BodyBudget } from './limits/body-budget.ts';
import { BODY_BYTES_MAX, BodyBytes, type BodyBytesMax } from './limits/body-bytes.ts';
import { type Caller, ConnectedPeers, peerOf } from './limits/callers.ts';
import {
  type ConnectionBounds,
  ConnectionCounts,
  type ConnectionFacts,
} from './limits/connection-counts.ts';
import { RateHeaders } from './limits/rate-headers.ts';
import type { RateLimiter } from './limits/rate-limiter.ts';
import { TimeSlice } from './limits/time-slice.ts';
import { UpgradeGate } from './limits/upgrade-gate.ts';
import { listenError } from './listening.ts';
import { METHOD_NOT_ALLOWED, NOT_FOUND } from './refusals.ts';
import type { InnerRequests, RequestContext, Route } from './request-context.ts';
import type { RequestCounts } from './request-counts.ts';
import { SEQUENCE_HEADER } from './sequence.ts';
import type { ServedRoute, ServerState } from './server-state.ts';
import { type Publish, type SocketRoute, Sockets } from './sockets.ts';
import { type HttpRequest, type HttpResponse, loadUws, type us_listen_socket } from './uws.ts';
import { UwsRequestContext } from './uws-request-context.ts';

export type { Handler, Method, RequestContext, Route } from './request-context.ts';

export interface HttpServer {
  readonly port: number;
  readonly publish: Publish;
  facts(): HttpFacts;
  /** Stops accepting, waits for requests in flight up to a bound, closes every connection. */
  close(): Promise<void>;
}

export interface HttpFacts {
  readonly connections: ConnectionFacts;
  /** Requests deferred to a later event-loop iteration by the time slices of their callers. */
  readonly putOff: number;
  readonly bodyBytes: number;
}

export interface HttpOptions {
  readonly host: string;
  /** 0 = an ephemeral port. */
  readonly port: number;
  /** Names of the settings of both, for errors; `HOST, PORT` by default. */
  readonly settings?: string;
  /** Number of proxies whose X-Forwarded-For entries are trusted. */
  readonly trustProxy: number;
  readonly log: (line: string, fields?: LogFields) => void;
  /** Cap on bytes of answers that slow readers have not taken yet, all together. */
  readonly bytesInFlightMax?: number;
  /** Caps on bytes of bodies being received; the cap per caller applies only with a limiter. */
  readonly bodyBytesMax?: BodyBytesMax;
  /** Cap on bytes queued for the readers of all WebSockets together. */
  readonly socketBacklogMax?: number;
  readonly connections?: ConnectionBounds;
  readonly socketsPerCaller?: number;
  readonly drainMsMax?: number;
  /** Longest wait for the rest of a refused body. */
  readonly discardMsMax?: number;
  readonly corsOrigins?: CorsOrigins;
  /** Further headers of all answers. */
  readonly headers?: Headers;
  /** Route of methods that no other route has, in place of preflights, 405 and 404. */
  readonly otherMethods?: Route;
  /** Requests of one event-loop iteration beyond the first seven; by default those of TimeSlice. */
  readonly requestsPerIteration?: number;
  readonly limiter?: RateLimiter;
  readonly rateHeaders?: RateHeaders;
  readonly counts?: RequestCounts;
  /** Clock of the rate limits, unix milliseconds. */
  readonly now?: () => number;
  /** Newest applied batch sequence, named by answers to requests that write; absent: none is named. */
  readonly sequence?: () => number;
  /** Returns true where reads may be stale; answers then say so. Absent: always current. */
  readonly isStale?: () => boolean;
}

/** Room for more than ten of the largest answers: 10,000 trades of about 700 bytes. */
const BYTES_IN_FLIGHT_MAX = 128 * 1024 * 1024;

/** 64 of the slowest readers that a stream tolerates. */
const SOCKET_BACKLOG_MAX = 256 * 1024 * 1024;

/** Far above the time of an order: only slow senders and readers are cut off at the end. */
const DRAIN_MS_MAX = 10_000;

/**
 * Time limit for ending a request after a connection or the start of its body. The package checks every four
 * seconds, so 8 to 12 seconds. Single bytes do not extend it, 16 KB a second of a body do.
 */
const REQUEST_SECONDS_MAX = 10;

/** Upper bound of the package's idle check, which runs every few seconds. */
const DISCARD_MS_MAX = 10_000;

const CLOCK_MS = 5;

/**
 * Listens and serves the routes. Rejects when the port is taken, the address is not local, or the native
 * package cannot be loaded.
 */
export async function listen(
  routes: readonly Route[],
  options: HttpOptions,
  socketRoutes: readonly SocketRoute[] = [],
): Promise<HttpServer> {
  const uws = loadUws();
  const app = uws.App();
  const server = new RunningServer(options);
  const backlogMax = options.socketBacklogMax ?? SOCKET_BACKLOG_MAX;
  const gate = new UpgradeGate(server, options.socketsPerCaller ?? Number.POSITIVE_INFINITY);
  const sockets = new Sockets(gate, server, backlogMax);
  for (const route of socketRoutes) sockets.serve(app, route);
  const paths = new Map<string, Route[]>();
  for (const route of routes) {
    const handler = server.serve(route);
    if (route.method === 'GET') {
      app.get(route.path, handler);
      app.head(route.path, server.serve(route, true));
    } else if (route.method === 'POST') app.post(route.path, handler);
    else app.del(route.path, handler);
    paths.set(route.path, [...(paths.get(route.path) ?? []), route]);
  }
  // The package matches handlers for one method before those for any, whatever their order here.
  const { otherMethods } = options;
  if (otherMethods === undefined) {
    for (const [path, served] of paths) {
      const headers = preflightHeaders(
        methodsOf(served),
        served.flatMap((route) => route.headers),
      );
      app.options(path, server.always(204, '', headers));
      app.any(path, server.always(405, METHOD_NOT_ALLOWED, headers.slice(0, 1), served[0]));
    }
    for (const [folder, route] of foldersWithErrors(routes)) {
      app.any(`${folder}/*`, server.always(404, NOT_FOUND, [], route));
    }
    app.any('/*', server.always(404, NOT_FOUND, []));
  } else app.any('/*', server.serve(otherMethods));
  app.filter((response, count) => server.count(response, Number(count)));
  app.setIdleTimeout(REQUEST_SECONDS_MAX);

  const socket = await new Promise<us_listen_socket | false>((resolve) => {
    app.listen(options.host, options.port, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, resolve);
  });
  if (socket === false) {
    app.close();
    throw await listenError(options.host, options.port, options.settings ?? 'HOST, PORT');
  }
  server.port = uws.us_socket_local_port(socket);
  return {
    port: server.port,
    facts: () => server.facts(),
    publish: (topic, text) => {
      app.publish(topic, text, false);
      sockets.published(text.length, app.numSubscribers(topic));
    },
    close: () =>
      server.close(
        () => uws.us_listen_socket_close(socket),
        () => sockets.close(),
        () => app.close(),
      ),
  };
}

function headsOf(
  { corsOrigins = ALL_ORIGINS, headers = [], isStale }: HttpOptions,
  exposed: string[],
): Heads {
  if (isStale === undefined) return new Cors(corsOrigins, exposed, headers);
  const names = [...exposed, ...STALE.map(([name]) => name)];
  const stale = new Cors(corsOrigins, names, [...headers, ...STALE]);
  return new StaleHeads(new Cors(corsOrigins, names, headers), stale, isStale);
}

/** Folders of paths whose routes have errors of their own form, with one of these routes. */
function foldersWithErrors(routes: readonly Route[]): ReadonlyMap<string, Route> {
  const own = routes.filter(({ errorOf }) => errorOf !== undefined);
  return new Map(own.map((route) => [dirname(route.path), route]));
}

function methodsOf(routes: readonly Route[]): string[] {
  return routes.flatMap(({ method }) => (method === 'GET' ? [method, 'HEAD'] : [method]));
}

/** Unix milliseconds, up to five behind: a system call costs more than counting a request. */
function coarseClock(): () => number {
  let known = 0;
  const forget = (): void => {
    known = 0;
  };
  return () => {
    if (known === 0) {
      known = Date.now();
      setTimeout(forget, CLOCK_MS).unref();
    }
    return known;
  };
}

type RequestHandler = (response: HttpResponse, request: HttpRequest) => void;

class RunningServer implements ServerState {
  readonly trustProxy: number;
  readonly log: (line: string, fields?: LogFields) => void;
  readonly bytesInFlightMax: number;
  readonly discardMsMax: number;
  readonly cors: Heads;
  readonly limiter: RateLimiter | undefined;
  readonly rateHeaders: RateHeaders;
  readonly now: () => number;
  readonly sequence: (() => number) | undefined;
  readonly peers = new ConnectedPeers();
  readonly turn: TimeSlice;
  readonly bodies: BodyBytes;
  readonly bodyBudget = new BodyBudget();
  private readonly counts: RequestCounts | undefined;
  /** Requests that others make, by their route. */
  private readonly inner = new Map<Route, FrameRequests>();
  /** 0 until the socket is bound. */
  port = 0;
  bytesInFlight = 0;
  closing = false;
  private readonly connections: ConnectionCounts;
  /** True while a refused connection is being closed; its end is not counted. */
  private isRefusing = false;
  private readonly drainMsMax: number;
  private requests = 0;
  private whenIdle: (() => void) | undefined = undefined;
  private closed: Promise<void> | undefined = undefined;

  constructor(options: HttpOptions) {
    this.trustProxy = options.trustProxy;
    this.log = options.log;
    this.counts = options.counts;
    this.bytesInFlightMax = options.bytesInFlightMax ?? BYTES_IN_FLIGHT_MAX;
    this.drainMsMax = options.drainMsMax ?? DRAIN_MS_MAX;
    this.discardMsMax = options.discardMsMax ?? DISCARD_MS_MAX;
    this.limiter = options.limiter;
    this.turn = new TimeSlice(options.limiter !== undefined, options.requestsPerIteration);
    const bodiesMax = options.bodyBytesMax ?? BODY_BYTES_MAX;
    const perCaller =
      options.limiter === undefined ? Number.POSITIVE_INFINITY : bodiesMax.perCaller;
    this.bodies = new BodyBytes({ ...bodiesMax, perCaller });
    this.connections = new ConnectionCounts(
      options.connections ?? { all: Number.POSITIVE_INFINITY, perAddress: undefined },
      systemConnections(() => this.port),
      () => performance.now(),
    );
    this.rateHeaders = options.rateHeaders ?? new RateHeaders();
    const exposed = [
      'ETag',
      IGNORED_HEADER,
      FAUCET_HEADER,
      SEQUENCE_HEADER,
      ...this.rateHeaders.names,
    ];
    this.cors = headsOf(options, exposed);
    this.now = options.now ?? coarseClock();
    this.sequence = options.sequence;
  }

  serve(route: Route, isHead = false): RequestHandler {
    const parameterCount = route.path.split('/:').length - 1;
    const plan = this.limiter?.plan(route.limits ?? []);
    const counts = this.counts?.row(route.method, route.path);
    const served: ServedRoute = { route, parameterCount, isHead, counts };
    return (response, request) => {
      const context = new UwsRequestContext(this, served, response, request);
      this.began();
      context.start(request, plan);
    };
  }

  frames(path: string, route: FrameRoute): FrameRequests {
    return new FrameRequests(this, route, this.counts?.row(route.name, path));
  }

  innerRequests(caller: Caller): InnerRequests {
    return new CallerRequests((route) => this.innerOf(route), caller);
  }

  private innerOf(route: Route): FrameRequests {
    let requests = this.inner.get(route);
    if (requests === undefined) {
      requests = this.frames(route.path, { ...route, name: route.method });
      this.inner.set(route, requests);
    }
    return requests;
  }

  always(status: number, body: string, headers: Headers, of?: Route): RequestHandler {
    const run = (context: RequestContext) => {
      const own = of?.errorOf?.(status, body);
      if (own === undefined) return context.reply(status, body, headers);
      return context.reply(status, own.body, [...headers, ...own.headers]);
    };
    const route: Route = { method: 'GET', path: '/*', headers: [], bodyBytesMax: 0, run };
    const answer = this.serve(route);
    const answerHead = this.serve(route, true);
    return (response, request) => {
      if (request.getMethod() === 'head') answerHead(response, request);
      else answer(response, request);
    };
  }

  /** @param change positive when a connection opens, negative when it has closed */
  count(response: HttpResponse, change: number): void {
    if (change < 0) {
      if (!this.isRefusing) this.connectionClosed();
      return;
    }
    const peer = peerOf(Buffer.from(response.getRemoteAddressAsText()).toString('latin1'));
    if (this.connections.opened(peer.caller) === undefined) {
      this.peers.opened(peer);
      return;
    }
    // The package reports its end within the call.
    this.isRefusing = true;
    response.close();
    this.isRefusing = false;
  }

  connectionClosed(): void {
    this.peers.closed();
    this.connections.closed();
  }

  facts(): HttpFacts {
    return {
      connections: this.connections.facts(),
      putOff: this.turn.putOff,
      bodyBytes: this.bodies.all,
    };
  }

  began(): void {
    this.requests += 1;
  }

  settled(): void {
    this.requests -= 1;
    if (this.requests === 0) this.whenIdle?.();
  }

  close(stopListening: () => void, endSockets: () => void, closeApp: () => void): Promise<void> {
    this.closed ??= this.drain(stopListening, endSockets, closeApp);
    return this.closed;
  }

  private async drain(
    stopListening: () => void,
    endSockets: () => void,
    closeApp: () => void,
  ): Promise<void> {
    this.closing = true;
    stopListening();
    if (this.requests > 0) {
      let patience: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.whenIdle = resolve;
        patience = setTimeout(resolve, this.drainMsMax);
      });
      clearTimeout(patience);
    }
    // After the answers, so that the streams publish their effects.
    endSockets();
    // The last answer may still lie in the cork of the callback that wrote it.
    await setImmediate();
    closeApp();
  }
}
