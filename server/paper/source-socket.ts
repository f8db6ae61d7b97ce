/**
 * WebSocket client of the server for streams of other services, and its single entry point to the package ws. A
 * connection that ends is opened again, with growing pauses. A peer that answers no ping counts as lost.
 *
 * Thread: the I/O thread, or that of a command. Not here: the messages.
 */
import { WebSocket } from 'ws';
import { backOffMs } from '../common/back-off.ts';
import { failureReason } from '../common/failure-reason.ts';
import { isRedirect, RedirectRefused, redirectTarget } from '../common/redirects.ts';

export interface SocketHandlers {
  /** The connection is open. Send the subscriptions. */
  opened(send: (message: object) => void): void;
  /** A message or an answer to a ping was received. */
  received?(): void;
  text(text: string): void;
  /**
   * The connection ended; another one follows.
   * @param problem reason of the network or the source, if known
   */
  ended(reason: 'disconnected' | 'silent', problem: string | undefined): void;
}

export interface SocketTimes {
  readonly pingMs: number;
  /** Milliseconds without a message or pong before the connection is closed. */
  readonly silenceMs: number;
  /** Milliseconds before the second try, doubled by each failure. */
  readonly againMs: number;
}

const SOCKET_TIMES: SocketTimes = { pingMs: 2_000, silenceMs: 6_000, againMs: 250 };
const AGAIN_MS_MAX = 10_000;
const HANDSHAKE_MS_MAX = 10_000;
/** Milliseconds of a connection that reset the pauses. */
const GOOD_MS = 10_000;
/** Bound of a frame with the books of all tokens of a connection. */
const MESSAGE_BYTES_MAX = 64 * 2 ** 20;

export class SourceSocket {
  private readonly url: string;
  private readonly handlers: SocketHandlers;
  private readonly times: SocketTimes;
  private socket: WebSocket | undefined;
  private tries = 0;
  /** Monotonic milliseconds; 0 = not open. */
  private openedAt = 0;
  /** Pings since the last message. Time in which this process stood still does not count. */
  private unanswered = 0;
  private pings: NodeJS.Timeout | undefined;
  private again: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(url: string, handlers: SocketHandlers, times = SOCKET_TIMES) {
    this.url = url;
    this.handlers = handlers;
    this.times = times;
    this.connect();
  }

  get isOpen(): boolean {
    return this.openedAt !== 0;
  }

  /** Sends a message; does nothing while closed, because the next connection subscribes to everything. */
  send(message: object): void {
    if (this.isOpen) this.socket?.send(JSON.stringify(message));
  }

  restart(): void {
    this.end('disconnected');
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.again);
    this.drop();
  }

  private connect(url = this.url, redirects = 0): void {
    const options = {
      handshakeTimeout: HANDSHAKE_MS_MAX,
      maxPayload: MESSAGE_BYTES_MAX,
      perMessageDeflate: false,
    };
    const socket = new WebSocket(url, options);
    this.socket = socket;
    socket.on('open', () => this.opened(socket));
    socket.on('message', (data) => {
      if (socket !== this.socket) return;
      this.receive();
      const text = String(data);
      if (text !== 'PONG') this.handlers.text(text);
    });
    socket.on('pong', () => {
      if (socket === this.socket) this.receive();
    });
    let problem: string | undefined;
    socket.on('unexpected-response', (_, { headers, statusCode = 0 }) => {
      const location = isRedirect(statusCode) ? headers.location : undefined;
      problem = `status ${statusCode}`;
      if (socket === this.socket && location !== undefined) {
        problem = this.follow(url, location, redirects);
      }
      // Unless another socket has replaced it, its 'close' leads to another try.
      socket.terminate();
    });
    // 'close' follows.
    socket.on('error', (error) => {
      problem ??= failureReason(error);
    });
    socket.on('close', () => {
      if (socket === this.socket) this.end('disconnected', problem);
    });
  }

  /** Connects to the target of a redirect. Returns the reason if it is refused. */
  private follow(from: string, location: string, redirects: number): string | undefined {
    let target: string;
    try {
      target = redirectTarget(from, location, redirects);
    } catch (error) {
      if (!(error instanceof RedirectRefused)) throw error;
      return error.message;
    }
    this.connect(target, redirects + 1);
    return undefined;
  }

  private receive(): void {
    this.unanswered = 0;
    this.handlers.received?.();
  }

  private opened(socket: WebSocket): void {
    this.openedAt = performance.now();
    this.unanswered = 0;
    const { pingMs, silenceMs } = this.times;
    this.pings = setInterval(() => {
      if (this.unanswered * pingMs >= silenceMs) {
        this.end('silent');
        return;
      }
      this.unanswered += 1;
      // Some sources answer only the text, others only the ping frame.
      socket.send('PING');
      socket.ping();
    }, pingMs);
    this.handlers.opened((message) => socket.send(JSON.stringify(message)));
  }

  private end(reason: 'disconnected' | 'silent', problem?: string): void {
    if (this.socket === undefined) return;
    const isGood = this.isOpen && performance.now() - this.openedAt > GOOD_MS;
    this.tries = isGood ? 0 : this.tries + 1;
    this.drop();
    if (this.isClosed) return;
    const pauseMs = backOffMs(this.tries, this.times.againMs, AGAIN_MS_MAX);
    // Spread, so that the mirrors of a venue do not all come back at once.
    this.again = setTimeout(() => this.connect(), pauseMs * (0.5 + Math.random() / 2));
    this.handlers.ended(reason, problem);
  }

  private drop(): void {
    clearInterval(this.pings);
    this.openedAt = 0;
    const socket = this.socket;
    this.socket = undefined;
    socket?.terminate();
  }
}
