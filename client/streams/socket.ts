/**
 * Single entry point of the client to the package ws: a WebSocket that is opened again whenever it ends, with
 * growing pauses, and that notices when the other side has gone silent.
 * Non-goals: what is said over it.
 */
import WebSocket from 'ws';
import { NoAnswerError } from '../errors.ts';
import { backOffMs } from '../retry.ts';

export interface SocketHandlers {
  /** The connection stands: say who follows what. */
  opened(send: (message: object) => void): void;
  text(text: string): void;
  /** The connection is gone; another one follows. */
  ended?(): void;
  /** It will not be opened again: the node refuses what was said, as 1008 does. */
  refused(reason: string): void;
}

/** Asks the node for a sign of life, which it also takes as one. */
const PING = 'PING';
const PONG = 'PONG';
const PING_EVERY_MS = 5_000;
const SILENCE_MS_MAX = 3 * PING_EVERY_MS;
const HANDSHAKE_MS_MAX = 10_000;
/** A connection that lived so long was a good one: the next pause is a short one again. */
const GOOD_MS = 5_000;
/** Credentials or messages that the node does not take. */
const POLICY = 1008;

export class Socket {
  readonly #url: URL;
  readonly #handlers: SocketHandlers;
  #socket: WebSocket | undefined;
  #attempts = 0;
  #openedAt = 0;
  #heardAt = 0;
  #pings: NodeJS.Timeout | undefined;
  #again: NodeJS.Timeout | undefined;
  #isClosed = false;
  #ready: () => void = () => undefined;
  #failed: (error: Error) => void = () => undefined;
  /** Resolves with the first `ready`; rejects with `fail`, or when patience ends before it. */
  readonly firstReady: Promise<void>;

  constructor(url: URL, patienceMs: number, handlers: SocketHandlers) {
    this.#url = url;
    this.#handlers = handlers;
    this.firstReady = new Promise((resolve, reject) => {
      this.#ready = resolve;
      this.#failed = reject;
    });
    const noAnswer = (): void => this.fail(new NoAnswerError(`a stream of ${url}`, undefined));
    const patience = setTimeout(noAnswer, patienceMs);
    this.firstReady.catch(() => undefined).finally(() => clearTimeout(patience));
    this.#connect();
  }

  /** What was asked for is there. */
  ready(): void {
    this.#ready();
  }

  /** What was asked for will never be there. */
  fail(error: Error): void {
    this.#failed(error);
    this.close();
  }

  /** Says something more, where the connection stands. */
  send(message: object): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  /** Ends the connection and opens another one: what it told is not to be relied on. */
  restart(): void {
    this.#socket?.terminate();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#again);
    clearInterval(this.#pings);
    this.#socket?.terminate();
  }

  #connect(): void {
    const options = { perMessageDeflate: false, handshakeTimeout: HANDSHAKE_MS_MAX };
    const socket = new WebSocket(this.#url, options);
    this.#socket = socket;
    socket.on('open', () => this.#opened(socket));
    socket.on('message', (data) => {
      this.#heardAt = performance.now();
      const text = String(data);
      // What a connection says that has been given up is not to be relied on.
      if (text !== PONG && socket.readyState === WebSocket.OPEN) this.#handlers.text(text);
    });
    socket.on('error', () => undefined); // 'close' follows
    socket.on('close', (code, reason) => this.#ended(code, String(reason)));
  }

  #opened(socket: WebSocket): void {
    this.#openedAt = performance.now();
    this.#heardAt = this.#openedAt;
    this.#pings = setInterval(() => {
      if (performance.now() - this.#heardAt > SILENCE_MS_MAX) socket.terminate();
      else socket.send(PING);
    }, PING_EVERY_MS);
    this.#handlers.opened((message) => socket.send(JSON.stringify(message)));
  }

  #ended(code: number, reason: string): void {
    clearInterval(this.#pings);
    if (this.#isClosed) return;
    if (code === POLICY) {
      this.fail(new Error(`the stream was refused: ${reason}`));
      this.#handlers.refused(reason);
      return;
    }
    const wasGood = this.#openedAt > 0 && performance.now() - this.#openedAt > GOOD_MS;
    this.#attempts = wasGood ? 0 : this.#attempts + 1;
    this.#openedAt = 0;
    this.#handlers.ended?.();
    this.#again = setTimeout(() => this.#connect(), backOffMs(this.#attempts));
  }
}
