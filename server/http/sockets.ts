/**
 * WebSockets on top of uWebSockets.js, whose rules are kept here: a socket is dead once its close
 * handler was called, a message is gone when its callback returns, and a frame that does not fit
 * under the bound of the package is dropped.
 *
 * Runs on the I/O thread. Not here: what messages mean, who may subscribe to what, how long a silent
 * or a slow peer is borne with.
 */
import { Buffer } from 'node:buffer';
import type { Caller } from './limits/callers.ts';
import { SocketBacklog, type Waiting } from './limits/socket-backlog.ts';
import type { UpgradeGate } from './limits/upgrade-gate.ts';
import { NO_UPGRADE, SHUTTING_DOWN } from './refusals.ts';
import type { HttpRequest, HttpResponse, UwsApp, us_socket_context_t, WebSocket } from './uws.ts';

/** One connection; every call after its end does nothing. */
export interface Socket {
  /** Queues a text frame; the bytes are copied. */
  send(text: string | Uint8Array): void;
  /** From now on gets what is published to `topic`, behind what was sent before. */
  join(topic: string): void;
  leave(topic: string): void;
  /** Bytes that the peer has not taken yet; 0 after the end. */
  waiting(): number;
  /** Sends a close frame behind what waits, for a while. The handler is called at once. */
  end(code: number, reason: string): void;
  /** The same at once, and nothing more that the peer has sent is read; who does not read is cut. */
  refuse(code: number, reason: string): void;
  /** Ends it at once, without a word. */
  cut(): void;
}

export interface SocketHandler {
  /** A text or binary message, as text, and the bytes of it. */
  message(text: string, bytes: number): void;
  /** A protocol ping or pong of so many bytes arrived; pings are answered. */
  alive(bytes: number): void;
  /** Some of what waited was taken. */
  drained(): void;
  /** The connection is over, whoever ended it. */
  closed(): void;
}

export interface SocketRoute {
  readonly path: string;
  /** A longer message closes the connection. */
  readonly messageBytesMax: number;
  /** More bytes than this never wait for one peer: the connection is cut. */
  readonly waitingBytesMax: number;
  /** A connection on which nothing moves for so long is cut. Above what the route itself bears with. */
  readonly cutSeconds: number;
  /** Body of a 503, or undefined to take the connection. */
  readonly refusal: () => string | undefined;
  readonly open: (socket: Socket, caller: Caller) => SocketHandler;
}

/** Sends the same frame to everybody who joined a topic. */
export type Publish = (topic: string, text: Uint8Array) => void;

/** Of the upgrade's headers, in the order in which the package wants them. */
const HANDSHAKE = ['sec-websocket-key', 'sec-websocket-protocol', 'sec-websocket-extensions'];

/** Of the package. */
const CUT_SECONDS_MAX = 960;

/** Who was ended and does not read what waits holds memory no longer than this. */
const LINGER_MS = 30_000;

/** Who leaves more than that unread when it is refused is cut: nobody would look after what waits for it. */
const REFUSED_BYTES_MAX = 65_536;

/** After its close frame, so many messages of a client are ignored; then the connection is cut. */
const IGNORED_MAX = 64;

const GOING_AWAY = 1001;

interface Holder {
  readonly caller: Caller;
  socket: UwsSocket | undefined;
}

/** Every WebSocket of a server. */
export class Sockets {
  private readonly open = new Set<UwsSocket>();
  private closing = false;
  private readonly gate: UpgradeGate;
  private readonly closed: () => void;
  private readonly backlog: SocketBacklog;

  /**
   * @param gate refuses those of callers who have or want too many
   * @param closed called at the end of each connection, once
   * @param backlogMax bytes that may wait for the readers of all of them together
   */
  constructor(
    gate: UpgradeGate,
    closed: () => void,
    backlogMax: number,
    log: (line: string) => void,
  ) {
    this.gate = gate;
    this.closed = closed;
    this.backlog = new SocketBacklog(backlogMax, this.open, log);
  }

  /** After a frame was published to a topic, which nobody but all may have joined. */
  published(bytes: number): void {
    this.backlog.added(bytes, this.open.size);
  }

  serve(app: UwsApp, route: SocketRoute): void {
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
        socket.handler = route.open(socket, ws.getUserData().caller);
      },
      message: (ws, message) => handlerOf(ws)?.message(textOf(message), message.byteLength),
      ping: (ws, message) => handlerOf(ws)?.alive(message.byteLength),
      pong: (ws, message) => handlerOf(ws)?.alive(message.byteLength),
      drain: (ws) => ws.getUserData().socket?.drained(),
      close: (ws) => {
        this.closed();
        const { caller, socket } = ws.getUserData();
        this.gate.left(caller);
        if (socket === undefined) return;
        this.open.delete(socket);
        socket.close();
      },
    });
    // A plain GET that asks for no upgrade comes here.
    app.any(route.path, (response, request) => {
      if (this.gate.callerOf(response, request) === undefined) response.close();
      else refuse(response, '426 Upgrade Required', NO_UPGRADE);
    });
  }

  /** Takes no more connections, and ends those that there are. */
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
    // Of several protocols one may be named in the answer; to a stream they are all the same.
    const first = protocol!.split(',')[0]!.trim();
    this.gate.entered(caller);
    response.upgrade(holder, key!, first, extensions!, context);
  }
}

class UwsSocket implements Socket, Waiting {
  handler: SocketHandler | undefined = undefined;
  /** Undefined once it is over: the package throws at every call then. */
  private ws: WebSocket<Holder> | undefined;
  private readonly backlog: SocketBacklog;
  /** Is ended when what waits has been taken; nothing comes behind that. */
  private ending: Ending | undefined = undefined;
  /** Messages that came after its end. */
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

  /** The package would discard at once what still waits, so its end() is called only when nothing does. */
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
    // What waits only until the callback at hand returns is taken without a word.
    setImmediate(() => this.drained());
    this.reportClosed();
  }

  refuse(code: number, reason: string): void {
    const { ws } = this;
    if (ws === undefined) return;
    if (ws.getBufferedAmount() > REFUSED_BYTES_MAX) ws.close();
    else ws.end(code, reason);
  }

  /** Who hears what the peer sends. */
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

/** The package empties the bytes when its callback returns; a text is a copy. */
function textOf(message: ArrayBuffer): string {
  return Buffer.from(message).toString('utf8');
}

function refuse(response: HttpResponse, status: string, body: string, retryAfter?: string): void {
  response.writeStatus(status).writeHeader('Content-Type', 'application/json');
  if (retryAfter !== undefined) response.writeHeader('Retry-After', retryAfter);
  response.end(body);
}
