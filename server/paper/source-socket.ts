/**
 * Single entry point of the server to the package ws: a connection to the market stream of another venue, opened
 * again whenever it ends, with growing pauses. A peer that answers no ping counts as lost.
 *
 * Thread: the I/O thread, or that of a command. Not here: the messages.
 */
import { WebSocket } from 'ws';
import { failureReason } from '../common/failure-reason.ts';
import { isRedirect, RedirectRefused, redirectTarget } from '../common/redirects.ts';

export interface SocketHandlers {
  /** The connection is open: send the subscriptions. */
  opened(send: (message: object) => void): void;
  /** Something came, an answer to a ping too. */
  received?(): void;
  /** A message that is no answer to a ping. */
  text(text: string): void;
  /**
   * Nothing more comes of this connection; another one follows.
   * @param problem why it ended, where the network or the source says it
   */
  ended(reason: 'disconnected' | 'silent', problem: string | undefined): void;
}

export interface SocketTimes {
  /** Between two pings. */
  readonly pingMs: number;
  /** Without any message or pong: the connection is given up. */
  readonly silenceMs: number;
  /** Before the first new try; it doubles with each that fails. */
  readonly againMs: number;
}

const SOCKET_TIMES: SocketTimes = { pingMs: 2_000, silenceMs: 6_000, againMs: 250 };
const AGAIN_MS_MAX = 10_000;
const HANDSHAKE_MS_MAX = 10_000;
/** A connection that lasted so long was good: the next pause is short again. */
const GOOD_MS = 10_000;
/** The books of all tokens of a connection may come as one array. */
const MESSAGE_BYTES_MAX = 64 * 2 ** 20;

export class SourceSocket {
  private readonly url: string;
  private readonly handlers: SocketHandlers;
  private readonly times: SocketTimes;
  private socket: WebSocket | undefined;
  private tries = 0;
  /** Monotonic milliseconds; 0 = not open. */
  private openedAt = 0;
  /** Pings since something came: time in which this process stood still is no silence. */
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

  /** Nothing where it is not open: whoever opens it subscribes to everything. */
  send(message: object): void {
    if (this.isOpen) this.socket?.send(JSON.stringify(message));
  }

  /** Gives the connection up, because its messages are not reliable. */
  restart(): void {
    this.end('disconnected');
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.again);
    this.drop();
  }

  /** @param redirects that led to this address */
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
      // Where nothing has taken its place, its 'close' leads to another try.
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

  /** Connects to where the source redirects to. Returns why not, where it does not. */
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
      // Some venues answer the one, some the other.
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
    const pauseMs = Math.min(AGAIN_MS_MAX, this.times.againMs * 2 ** Math.max(0, this.tries - 1));
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
