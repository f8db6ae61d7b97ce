/**
 * The market stream: books that stay up to date across reconnects. An inconsistent event closes the
 * connection, and the next one begins with snapshots.
 */
import { UnknownTokenError } from '../errors.ts';
import type { MarketErrorEvent, MarketEvent, MarketSubscriptionEvent } from '../types.ts';
import { type Book, MarketBooks } from './market-books.ts';
import { Socket, type StreamUrl } from './socket.ts';

export interface MarketHandlers {
  /** Each event, after it was applied to the books; `book` is that of its token, if it has one. */
  event?(event: MarketEvent, book: Book | undefined): void;
  /** From now on, until `synced`, the books are not reliable; the reason says why. */
  gap?(reason: string): void;
  /** All books are complete, also again after a gap or a reconnect. */
  synced?(): void;
  refused?(reason: string): void;
}

export class MarketStream {
  readonly #books = new MarketBooks();
  readonly #handlers: MarketHandlers;
  readonly #tokens: readonly string[];
  readonly #socket: Socket;
  #isSynced = false;
  #wasSynced = false;
  /** True: further events of this connection come after a gap, and are ignored. */
  #isLost = true;

  private constructor(
    url: StreamUrl,
    patienceMs: number,
    tokens: readonly string[],
    handlers: MarketHandlers,
  ) {
    this.#tokens = [...new Set(tokens)];
    this.#handlers = handlers;
    this.#socket = new Socket(url, patienceMs, {
      opened: (send) => {
        this.#books.clear();
        this.#isLost = false;
        send(JSON.stringify({ type: 'market', assets_ids: this.#tokens, ack: true }));
      },
      text: (text) => this.#take(JSON.parse(text) as MarketEvent | MarketErrorEvent),
      ended: () => this.#lose('the connection ended'),
      refused: (reason) => {
        this.#lose(reason);
        this.#handlers.refused?.(reason);
      },
    });
  }

  /** @throws UnknownTokenError, Error when the node refuses the subscription, NoAnswerError */
  static async open(
    url: StreamUrl,
    patienceMs: number,
    tokens: readonly string[],
    handlers: MarketHandlers,
  ): Promise<MarketStream> {
    const stream = new MarketStream(url, patienceMs, tokens, handlers);
    await stream.#socket.firstReady;
    return stream;
  }

  /** False from a gap, or the end of a connection, until the books are complete again. */
  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** The book of a token; undefined while it is not reliable. */
  book(tokenId: string): Book | undefined {
    return this.#isSynced ? this.#books.get(tokenId) : undefined;
  }

  /** Number of snapshots that were equal to the books computed from the changes before them. */
  get confirmed(): number {
    return this.#books.confirmed;
  }

  close(): void {
    this.#isSynced = false;
    this.#socket.close();
  }

  #take(event: MarketEvent | MarketErrorEvent): void {
    if (this.#isLost) return;
    if ('error' in event) {
      const reason = `${event.error}: ${event.detail}`;
      this.#lose(reason);
      this.#socket.fail(new Error(reason));
      this.#handlers.refused?.(reason);
      return;
    }
    if (event.event_type === 'subscription') {
      this.#answered(event);
      return;
    }
    const gap = this.#books.take(event);
    if (gap !== '') {
      this.#lose(gap);
      this.#socket.restart();
      return;
    }
    const book = 'asset_id' in event ? this.#books.get(event.asset_id) : undefined;
    this.#handlers.event?.(event, book);
    if (this.#isSynced || this.#tokens.some((token) => !this.#books.get(token))) return;
    this.#isSynced = true;
    this.#wasSynced = true;
    this.#socket.ready();
    this.#handlers.synced?.();
  }

  /** A node may be behind the one before it: then the connection is made again. */
  #answered({ unknown }: MarketSubscriptionEvent): void {
    const [token] = unknown;
    if (token === undefined) return;
    const error = 'No orderbook exists for the requested token id';
    const body = JSON.stringify({ error, detail: token, code: 'UNKNOWN_BOOK' });
    const reason = `unknown token ${token}`;
    this.#lose(reason);
    if (this.#wasSynced) {
      this.#socket.restart();
      return;
    }
    this.#socket.fail(new UnknownTokenError('followMarket', body, token));
    this.#handlers.refused?.(reason);
  }

  #lose(reason: string): void {
    this.#isLost = true;
    if (!this.#isSynced) return;
    this.#isSynced = false;
    this.#handlers.gap?.(reason);
  }
}
