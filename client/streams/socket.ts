/**
 * Single entry point of the client to the package ws: a WebSocket that is opened again whenever it
 * closes, with growing pauses, and that detects a silent peer. Non-goals: the messages.
 */
import WebSocket from 'ws';
import { NoAnswerError } from '../errors.ts';
import { backOffMs } from '../retry.ts';

export interface SocketHandlers {
  /** The connection is open: send the subscriptions. */
  opened(send: (message: object) => void): void;
  text(text: string): void;
  /** The connection is closed; another one follows. */
  ended?(): void;
  /** It will not be opened again: the node refused a message with close code 1008. */
  refused(reason: string): void;
}

/** The keep-alive request. For the node the client is then not idle. */
const PING = 'PING';
const PONG = 'PONG';
const PING_EVERY_MS = 5_000;
const SILENCE_MS_MAX = 3 * PING_EVERY_MS;
const HANDSHAKE_MS_MAX = 10_000;
/** After a connection that lasted this long, the next pause is short again. */
const GOOD_MS = 5_000;
/** The close code for credentials or messages that the node does not accept. */
const POLICY = 1008;

export class Socket {
  readonly #url: URL;
  readonly #handlers: SocketHandlers;
  #socket: WebSocket | undefined;
  #attempts = 0;
  #openedAt = 0;
  #receivedAt = 0;
  #pings: NodeJS.Timeout | undefined;
  #again: NodeJS.Timeout | undefined;
  #isClosed = false;
  #ready: () => void = () => undefined;
  #failed: (error: Error) => void = () => undefined;
  /** Resolves with the first `ready`; rejects with `fail`, or at the time limit. */
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

  /** The subscription is complete. */
  ready(): void {
    this.#ready();
  }

  /** The subscription has failed permanently. */
  fail(error: Error): void {
    this.#failed(error);
    this.close();
  }

  /** Closes the connection and opens another one, because its events were not reliable. */
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
      this.#receivedAt = performance.now();
      const text = String(data);
      // Messages of a connection that is being closed are ignored.
      if (text !== PONG && socket.readyState === WebSocket.OPEN) this.#handlers.text(text);
    });
    socket.on('error', () => undefined); // 'close' follows
    socket.on('close', (code, reason) => this.#ended(code, String(reason)));
  }

  #opened(socket: WebSocket): void {
    this.#openedAt = performance.now();
    this.#receivedAt = this.#openedAt;
    this.#pings = setInterval(() => {
      if (performance.now() - this.#receivedAt > SILENCE_MS_MAX) socket.terminate();
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
