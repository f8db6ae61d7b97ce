/**
 * The user stream: own orders and trades, each once and in order. After the end of a connection it goes
 * on behind the last event; where the node no longer has what was missed it says so.
 */
import type { Identity } from '../credentials.ts';
import type { OrderEvent, TradeEvent, UserEvent } from '../types.ts';
import { Socket } from './socket.ts';

export interface UserHandlers {
  order?(event: OrderEvent): void;
  trade?(event: TradeEvent): void;
  /** Events were missed for good: read own orders and trades anew. */
  missed?(): void;
  /** The node refuses the stream for good: a wrong key, or one that was revoked. */
  refused?(reason: string): void;
}

export class UserStream {
  readonly #handlers: UserHandlers;
  readonly #socket: Socket;
  /** The last number of each stream. */
  readonly #places = new Map<string, number>();

  private constructor(url: URL, patienceMs: number, identity: Identity, handlers: UserHandlers) {
    this.#handlers = handlers;
    const auth = 'key' in identity ? identity.key : { apiKey: identity.readOnlyKey };
    this.#socket = new Socket(url, patienceMs, {
      opened: (send) => {
        const resume = [...this.#places].map(([stream_id, sequence]) => {
          return { stream_id, sequence: String(sequence) };
        });
        send({ type: 'user', auth, resume });
      },
      text: (text) => this.#take(JSON.parse(text) as UserEvent),
      refused: (reason) => this.#handlers.refused?.(reason),
    });
  }

  /** @throws Error where the node refuses the key, NoAnswerError */
  static async open(
    url: URL,
    patienceMs: number,
    identity: Identity,
    handlers: UserHandlers,
  ): Promise<UserStream> {
    const stream = new UserStream(url, patienceMs, identity, handlers);
    await stream.#socket.firstReady;
    return stream;
  }

  close(): void {
    this.#socket.close();
  }

  #take(event: UserEvent): void {
    if ('error' in event) this.#problem(event);
    else if (event.event_type === 'resumed') this.#resumed(event.stream_id, Number(event.sequence));
    else this.#event(event);
  }

  /** Where a stream stands: what was missed follows behind the place that was told. */
  #resumed(stream: string, sequence: number): void {
    if (!this.#places.has(stream)) this.#places.set(stream, sequence);
    this.#socket.ready();
  }

  #event(event: OrderEvent | TradeEvent): void {
    const number = Number(event.sequence);
    const last = this.#places.get(event.stream_id) ?? number - 1;
    if (number <= last) return; // it was there before the connection ended
    if (number > last + 1) {
      this.#socket.restart(); // and on from `last`
      return;
    }
    this.#places.set(event.stream_id, number);
    if (event.event_type === 'order') this.#handlers.order?.(event);
    else this.#handlers.trade?.(event);
  }

  #problem({ detail, error, sequence, stream_id }: Extract<UserEvent, { error: string }>): void {
    if (error !== 'resume_unavailable') {
      this.#socket.fail(new Error(`${error}: ${detail}`));
      this.#handlers.refused?.(detail);
      return;
    }
    this.#places.clear(); // also those of a run of the node that is over
    if (stream_id !== undefined) this.#places.set(stream_id, Number(sequence));
    this.#handlers.missed?.();
  }
}
