/**
 * WebSockets on top of uWebSockets.js, with its rules: a socket is dead once its close handler was called, a
 * message is gone when its callback returns, and a frame beyond the bound of the package is dropped.
 *
 * Thread: I/O. Not here: meaning of messages, rights to subscribe, tolerance of silent or slow peers.
 */
import { Buffer } from 'node:buffer';
import type { FrameRequests, FrameRoute } from './frame-request.ts';
import type { Caller } from './limits/callers.ts';
import { SocketBacklog, type Waiting } from './limits/socket-backlog.ts';
import type { UpgradeGate } from './limits/upgrade-gate.ts';
import { NO_UPGRADE, SHUTTING_DOWN } from './refusals.ts';
import type { HttpRequest, HttpResponse, UwsApp, us_socket_context_t, WebSocket } from './uws.ts';

/** One connection; calls after its end do nothing. */
export interface Socket {
  /** Queues a text frame; the bytes are copied. */
  send(text: string | Uint8Array): void;
  /** Subscribes to `topic`; its frames follow those already queued. */
  join(topic: string): void;
  leave(topic: string): void;
  /** Bytes that the peer has not taken yet; 0 after the end. */
  waiting(): number;
  /** Queues a close frame and waits for its delivery up to a bound. The handler is called at once. */
  end(code: number, reason: string): void;
  /** Ends it at once and ignores further messages of the peer; a peer that does not read is cut. */
  refuse(code: number, reason: string): void;
  /** Cuts the connection without a close frame. */
  cut(): void;
}

export interface SocketHandler {
  /** Text or binary message; the handler keeps the bytes. */
  message(bytes: Buffer): void;
  /** Protocol ping or pong with its size in bytes; pings are answered. */
  alive(bytes: number): void;
  /** Part of the queue was taken by the peer. */
  drained(): void;
  closed(): void;
}

export interface SocketRoute {
  readonly path: string;
  /** A longer message closes the connection. */
  readonly messageBytesMax: number;
  /** Bound of the queue of one peer; beyond it the connection is cut. */
  readonly waitingBytesMax: number;
  /** A connection without traffic for this time is cut. Above the tolerance of the route itself. */
  readonly cutSeconds: number;
  /** Body of a 503, or undefined to take the connection. */
  readonly refusal: () => string | undefined;
  /** Routes whose requests may arrive as messages. */
  readonly frames?: readonly FrameRoute[];
  /** @param frames in the order of those of the route */
  readonly open: (
    socket: Socket,
    caller: Caller,
    frames: readonly FrameRequests[],
  ) => SocketHandler;
}

/** Sends one frame to all members of a topic. */
export type Publish = (topic: string, text: Uint8Array) => void;

const HANDSHAKE = ['sec-websocket-key', 'sec-websocket-protocol', 'sec-websocket-extensions'];

/** Limit of the package. */
const CUT_SECONDS_MAX = 960;

/** Longest time that the queue of an ended peer holds memory. */
const LINGER_MS = 30_000;

/**
 * Largest queue of a refused peer; beyond it the connection is cut, because nothing would watch that queue.
 */
const REFUSED_BYTES_MAX = 65_536;

/** Messages of a client ignored after its close frame; then the connection is cut. */
const IGNORED_MAX = 64;

const GOING_AWAY = 1001;

/** State of the HTTP server that sockets share. */
interface SocketServer {
  readonly log: (line: string) => void;
  connectionClosed(): void;
  /** Counts and runs the requests of a route that arrive at the path of a socket. */
  frames(path: string, route: FrameRoute): FrameRequests;
}

interface Holder {
  readonly caller: Caller;
  socket: UwsSocket | undefined;
}

export class Sockets {
  private readonly open = new Set<UwsSocket>();
  private closing = false;
  private readonly gate: UpgradeGate;
  private readonly server: SocketServer;
  private readonly backlog: SocketBacklog;

  constructor(gate: UpgradeGate, server: SocketServer, backlogMax: number) {
    this.gate = gate;
    this.server = server;
    this.backlog = new SocketBacklog(backlogMax, this.open, server.log);
  }

  /** Counts a frame published to a topic. */
  published(bytes: number, members: number): void {
    this.backlog.added(bytes, members);
  }

  serve(app: UwsApp, route: SocketRoute): void {
    const frames = (route.frames ?? []).map((each) => this.server.frames(route.path, each));
    app.ws<Holder>(route.path, {
      maxPayloadLength: route.messageBytesMax,
      maxBackpressure: route.waitingBytesMax,
      closeOnBackpressureLimit: true,
      idleTimeout: Math.min(CUT_SECONDS_MAX, route.cutSeconds),
      sendPingsAutomatically: false,
      upgrade: (response, request, context) => this.upgrade(route, response, request, context),
      open: (ws) => {
        const socket = new UwsSocket(ws, this.backlog);
        ws.getUserData().socket = socket;
        this.open.add(socket);
        socket.handler = route.open(socket, ws.getUserData().caller, frames);
      },
      message: (ws, message) => handlerOf(ws)?.message(copyOf(message)),
      ping: (ws, message) => handlerOf(ws)?.alive(message.byteLength),
      pong: (ws, message) => handlerOf(ws)?.alive(message.byteLength),
      drain: (ws) => ws.getUserData().socket?.drained(),
      close: (ws) => {
        this.server.connectionClosed();
        const { caller, socket } = ws.getUserData();
        this.gate.left(caller);
        if (socket === undefined) return;
        this.open.delete(socket);
        socket.close();
      },
    });
    // A plain GET without an upgrade arrives here.
    app.any(route.path, (response, request) => {
      if (this.gate.callerOf(response, request) === undefined) response.close();
      else refuse(response, '426 Upgrade Required', NO_UPGRADE);
    });
  }

  close(): void {
    this.closing = true;
    for (const socket of [...this.open]) socket.end(GOING_AWAY, 'the node is stopping');
  }

  private upgrade(
    route: SocketRoute,
    response: HttpResponse,
    request: HttpRequest,
    context: us_socket_context_t,
  ): void {
    const caller = this.gate.callerOf(response, request);
    if (caller === undefined) {
      response.close();
      return;
    }
    const refusal = this.closing ? SHUTTING_DOWN : route.refusal();
    if (refusal !== undefined) {
      refuse(response, '503 Service Unavailable', refusal);
      return;
    }
    const tooMany = this.gate.refusal(caller);
    if (tooMany !== undefined) {
      refuse(response, tooMany.status, tooMany.body, tooMany.retryAfter);
      return;
    }
    const [key, protocol, extensions] = HANDSHAKE.map((name) => request.getHeader(name));
    const holder: Holder = { caller, socket: undefined };
    // The answer may name one of several protocols; streams do not distinguish them.
    const first = protocol!.split(',')[0]!.trim();
    this.gate.entered(caller);
    response.upgrade(holder, key!, first, extensions!, context);
  }
}

class UwsSocket implements Socket, Waiting {
  handler: SocketHandler | undefined = undefined;
  /** Undefined after the end: the package throws at every call then. */
  private ws: WebSocket<Holder> | undefined;
  private readonly backlog: SocketBacklog;
  /** Set while the queue drains before the end; nothing is queued behind it. */
  private ending: Ending | undefined = undefined;
  private ignored = 0;

  constructor(ws: WebSocket<Holder>, backlog: SocketBacklog) {
    this.ws = ws;
    this.backlog = backlog;
  }

  send(text: string | Uint8Array): void {
    if (this.ws === undefined || this.ending !== undefined) return;
    this.ws.send(text, false);
    this.backlog.added(text.length, 1);
  }

  join(topic: string): void {
    if (this.ending === undefined) this.ws?.subscribe(topic);
  }

  leave(topic: string): void {
    this.ws?.unsubscribe(topic);
  }

  waiting(): number {
    return this.ws?.getBufferedAmount() ?? 0;
  }

  /** The package would discard the queue, so its end() is called only when the queue is empty. */
  end(code: number, reason: string): void {
    const { ws } = this;
    if (ws === undefined || this.ending !== undefined) return;
    if (ws.getBufferedAmount() === 0) {
      ws.end(code, reason);
      return;
    }
    for (const topic of ws.getTopics()) ws.unsubscribe(topic);
    const timer = setTimeout(() => this.cut(), LINGER_MS).unref();
    this.ending = { code, reason, timer };
    // A queue that only lasts until the current callback returns is drained without an event.
    setImmediate(() => this.drained());
    this.reportClosed();
  }

  refuse(code: number, reason: string): void {
    const { ws } = this;
    if (ws === undefined) return;
    if (ws.getBufferedAmount() > REFUSED_BYTES_MAX) ws.close();
    else ws.end(code, reason);
  }

  hearer(): SocketHandler | undefined {
    if (this.ending !== undefined) {
      this.ignored += 1;
      if (this.ignored > IGNORED_MAX) this.cut();
    }
    return this.handler;
  }

  cut(): void {
    this.ws?.close();
  }

  drained(): void {
    if (this.ending === undefined) this.handler?.drained();
    else if (this.waiting() === 0) this.ws?.end(this.ending.code, this.ending.reason);
  }

  close(): void {
    this.ws = undefined;
    clearTimeout(this.ending?.timer);
    this.reportClosed();
  }

  private reportClosed(): void {
    const { handler } = this;
    this.handler = undefined;
    handler?.closed();
  }
}

interface Ending {
  readonly code: number;
  readonly reason: string;
  readonly timer: NodeJS.Timeout;
}

function handlerOf(ws: WebSocket<Holder>): SocketHandler | undefined {
  return ws.getUserData().socket?.hearer();
}

/** Copies the bytes, which the package detaches when its callback returns. */
function copyOf(message: ArrayBuffer): Buffer {
  return Buffer.from(new Uint8Array(message));
}

function refuse(response: HttpResponse, status: string, body: string, retryAfter?: string): void {
  response.writeStatus(status).writeHeader('Content-Type', 'application/json');
  if (retryAfter !== undefined) response.writeHeader('Retry-After', retryAfter);
  response.end(body);
}
