/**
 * Single entry point of the client to the package ws, which is used where it is installed, and to the
 * WebSocket of browsers: one that is opened again whenever it closes, with growing pauses, and that
 * detects a silent peer. Non-goals: the messages.
 */
import { NoAnswerError } from '../errors.ts';
import { optionalPackage } from '../platform.ts';
import { backOffMs } from '../retry.ts';

export interface SocketHandlers {
  opened(send: (text: string) => void): void;
  text(text: string): void;
  /** The connection is closed; another one follows. */
  ended?(): void;
  /** It will not be opened again: the node refused a message with close code 1008. */
  refused(reason: string): void;
}

interface WebSocketLike {
  onopen: (() => void) | null;
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  onerror: (() => void) | null;
  onclose: ((event: { readonly code: number; readonly reason: string }) => void) | null;
  send(text: string): void;
  close(): void;
  /** Closes without waiting for the peer; ws alone has it. */
  terminate?(): void;
}
type WebSocketClass = new (url: string, options?: object) => WebSocketLike;

/** Node 20 has no other. */
const ws = optionalPackage<WebSocketClass>('ws');

function webSocket(url: URL): WebSocketLike {
  if (ws !== undefined) return new ws(url.href, { perMessageDeflate: false });
  const { WebSocket } = globalThis as unknown as { readonly WebSocket: WebSocketClass };
  return new WebSocket(url.href);
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

/**
 * Returns where to connect; rejects where no node is known to be of the venue.
 * @param failures connections in turn that failed, or ended at once
 */
export type StreamUrl = (failures: number) => Promise<URL>;

type Timer = ReturnType<typeof setTimeout>;

export class Socket {
  readonly #url: StreamUrl;
  readonly #handlers: SocketHandlers;
  #socket: WebSocketLike | undefined;
  /** URL of the last connection. */
  #tried = 'no node';
  #attempts = 0;
  #openedAt = 0;
  #receivedAt = 0;
  #handshake: Timer | undefined;
  #pings: Timer | undefined;
  #again: Timer | undefined;
  #isClosed = false;
  #ready: () => void = () => undefined;
  #failed: (error: Error) => void = () => undefined;
  /** Resolves with the first `ready`; rejects with `fail`, or at the time limit. */
  readonly firstReady: Promise<void>;

  constructor(url: StreamUrl, patienceMs: number, handlers: SocketHandlers) {
    this.#url = url;
    this.#handlers = handlers;
    this.firstReady = new Promise((resolve, reject) => {
      this.#ready = resolve;
      this.#failed = reject;
    });
    const noAnswer = (): void =>
      this.fail(new NoAnswerError(`a stream of ${this.#tried}`, undefined));
    const patience = setTimeout(noAnswer, patienceMs);
    this.firstReady.catch(() => undefined).finally(() => clearTimeout(patience));
    void this.#connect();
  }

  ready(): void {
    this.#ready();
  }

  fail(error: Error): void {
    this.#failed(error);
    this.close();
  }

  /** Closes the connection and opens another one, because its events were not reliable. */
  restart(): void {
    if (this.#isClosed) return;
    this.#drop();
    this.#ended(0, '');
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#again);
    this.#drop();
  }

  async #connect(): Promise<void> {
    let url: URL;
    try {
      url = await this.#url(this.#attempts);
    } catch {
      if (!this.#isClosed) this.#ended(0, '');
      return;
    }
    if (this.#isClosed) return;
    this.#tried = url.href;
    const socket = webSocket(url);
    this.#socket = socket;
    this.#handshake = setTimeout(() => this.restart(), HANDSHAKE_MS_MAX);
    socket.onopen = () => this.#opened(socket);
    socket.onmessage = ({ data }) => {
      this.#receivedAt = performance.now();
      if (data !== PONG) this.#handlers.text(String(data));
    };
    socket.onerror = () => undefined; // onclose follows
    socket.onclose = ({ code, reason }) => this.#ended(code, reason);
  }

  #opened(socket: WebSocketLike): void {
    clearTimeout(this.#handshake);
    this.#openedAt = performance.now();
    this.#receivedAt = this.#openedAt;
    this.#pings = setInterval(() => {
      if (performance.now() - this.#receivedAt > SILENCE_MS_MAX) this.restart();
      else socket.send(PING);
    }, PING_EVERY_MS);
    this.#handlers.opened((text) => socket.send(text));
  }

  #drop(): void {
    clearTimeout(this.#handshake);
    clearInterval(this.#pings);
    const socket = this.#socket;
    this.#socket = undefined;
    if (socket === undefined) return;
    socket.onopen = null;
    socket.onmessage = null;
    socket.onclose = null;
    if (socket.terminate === undefined) socket.close();
    else socket.terminate();
  }

  #ended(code: number, reason: string): void {
    clearTimeout(this.#handshake);
    clearInterval(this.#pings);
    this.#socket = undefined;
    if (code === POLICY) {
      this.fail(new Error(`the stream was refused: ${reason}`));
      this.#handlers.refused(reason);
      return;
    }
    const wasGood = this.#openedAt > 0 && performance.now() - this.#openedAt > GOOD_MS;
    this.#attempts = wasGood ? 0 : this.#attempts + 1;
    this.#openedAt = 0;
    this.#handlers.ended?.();
    this.#again = setTimeout(() => void this.#connect(), backOffMs(this.#attempts));
  }
}
