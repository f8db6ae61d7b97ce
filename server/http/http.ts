/**
 * The HTTP server: listens, finds the route, and ends in good order.
 *
 * Runs on the I/O thread. One request is an Exchange (http-exchange.ts). Not here: what routes
 * mean, credentials, rate limits, TLS; WebSockets are in sockets.ts.
 *
 * Known to its callers: a request that is pipelined behind one that is still waiting for
 * its answer closes the connection (the package does that); malformed HTTP is answered by the
 * package itself, not in JSON.
 */
import { setImmediate } from 'node:timers/promises';
import {
  type Exchange,
  type Headers,
  type Method,
  type Route,
  type ServerState,
  UwsExchange,
  writeHead,
} from './http-exchange.ts';
import { type Publish, type SocketRoute, Sockets } from './sockets.ts';
import { type HttpRequest, type HttpResponse, loadUws, type us_listen_socket } from './uws.ts';

export type { Exchange, Handler, Method, Route } from './http-exchange.ts';

export interface HttpServer {
  /** The port that is listened on, also when an ephemeral one was asked for. */
  readonly port: number;
  /** To whoever joined a topic of a WebSocket route. */
  readonly publish: Publish;
  /** Stops accepting, lets what is in flight finish for a while, closes every connection. */
  close(): Promise<void>;
}

export interface HttpOptions {
  readonly host: string;
  /** 0 = an ephemeral port. */
  readonly port: number;
  /** Number of proxies whose X-Forwarded-For entries are believed. */
  readonly trustProxy: number;
  readonly log: (line: string) => void;
  /** Cap on the bytes of all answers that slow readers have not taken yet. */
  readonly bytesInFlightMax?: number;
  /** Longest wait of close() for what is in flight. */
  readonly drainMsMax?: number;
}

/** Ten of the largest answers, 10,000 trades of about 700 bytes, and some room. */
const BYTES_IN_FLIGHT_MAX = 128 * 1024 * 1024;

/** Far above what an order takes: only who sends or reads slowly is cut off at the end. */
const DRAIN_MS_MAX = 10_000;

const NOT_FOUND = '{"error":"not found"}';
const METHOD_NOT_ALLOWED = '{"error":"method not allowed"}';

/**
 * Listens and serves the routes. Rejects when the port is taken or the address is not of this
 * machine, and when the native package cannot be loaded.
 */
export async function listen(
  routes: readonly Route[],
  options: HttpOptions,
  socketRoutes: readonly SocketRoute[] = [],
): Promise<HttpServer> {
  const uws = loadUws();
  const app = uws.App();
  const server = new RunningServer(options);
  const sockets = new Sockets();
  for (const route of socketRoutes) sockets.serve(app, route);
  const allowed = new Map<string, Method[]>();
  for (const route of routes) {
    const handler = server.serve(route);
    if (route.method === 'GET') app.get(route.path, handler);
    else if (route.method === 'POST') app.post(route.path, handler);
    else app.del(route.path, handler);
    allowed.set(route.path, [...(allowed.get(route.path) ?? []), route.method]);
  }
  // Handlers for any method come after those for one, whatever their order here.
  for (const [path, methods] of allowed) {
    const headers: Headers = [['Allow', methods.join(', ')]];
    app.any(path, server.refuse(405, METHOD_NOT_ALLOWED, headers));
  }
  app.any('/*', server.refuse(404, NOT_FOUND, []));

  const socket = await new Promise<us_listen_socket | false>((resolve) => {
    app.listen(options.host, options.port, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, resolve);
  });
  if (socket === false) {
    app.close();
    const where = `${options.host}:${options.port}`;
    throw new Error(
      `cannot listen on ${where}: the port is taken, not permitted, or the host is not ours`,
    );
  }
  return {
    port: uws.us_socket_local_port(socket),
    publish: (topic, text) => void app.publish(topic, text, false),
    close: () =>
      server.close(
        () => uws.us_listen_socket_close(socket),
        () => sockets.close(),
        () => app.close(),
      ),
  };
}

type Handler = (response: HttpResponse, request: HttpRequest) => void;

class RunningServer implements ServerState {
  readonly trustProxy: number;
  readonly log: (line: string) => void;
  readonly bytesInFlightMax: number;
  bytesInFlight = 0;
  closing = false;
  private readonly drainMsMax: number;
  private exchanges = 0;
  private whenIdle: (() => void) | undefined = undefined;
  private closed: Promise<void> | undefined = undefined;

  constructor(options: HttpOptions) {
    this.trustProxy = options.trustProxy;
    this.log = options.log;
    this.bytesInFlightMax = options.bytesInFlightMax ?? BYTES_IN_FLIGHT_MAX;
    this.drainMsMax = options.drainMsMax ?? DRAIN_MS_MAX;
  }

  serve(route: Route): Handler {
    const parameterCount = route.path.split('/:').length - 1;
    return (response, request) => {
      const exchange = new UwsExchange(this, route, parameterCount, response, request);
      this.exchanges += 1;
      exchange.start(request);
    };
  }

  /** A handler that answers everything the same way. */
  refuse(status: number, body: string, headers: Headers): Handler {
    const run = (exchange: Exchange) => exchange.reply(status, body, headers);
    const answer = this.serve({ method: 'GET', path: '/*', headers: [], bodyBytesMax: 0, run });
    return (response, request) => {
      if (request.getMethod() === 'head') {
        // An answer to HEAD has no body, which only this call can do; it can't wait for a slow
        // reader, hence the end of the connection.
        writeHead(response, status, headers).endWithoutBody(Buffer.byteLength(body), true);
      } else {
        answer(response, request);
      }
    };
  }

  settled(): void {
    this.exchanges -= 1;
    if (this.exchanges === 0) this.whenIdle?.();
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
    if (this.exchanges > 0) {
      let patience: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.whenIdle = resolve;
        patience = setTimeout(resolve, this.drainMsMax);
      });
      clearTimeout(patience);
    }
    // After the answers, so that what they tell of is told to the streams too.
    endSockets();
    // The last answer may still lie in the cork of the callback that wrote it.
    await setImmediate();
    closeApp();
  }
}
