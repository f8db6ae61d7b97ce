/**
 * The user stream: own orders and trades, each once and in order. After a reconnect it resumes
 * after the last event. If the node no longer has the missed events, the stream reports that.
 */
import type { Identity } from '../credentials.ts';
import type { OrderEvent, TradeEvent, UserEvent } from '../types.ts';
import { Socket } from './socket.ts';

export interface UserHandlers {
  order?(event: OrderEvent): void;
  trade?(event: TradeEvent): void;
  /** Events were lost: read own orders and trades again. */
  missed?(): void;
  /** The node refuses the stream permanently: the key is wrong or was revoked. */
  refused?(reason: string): void;
}

export class UserStream {
  readonly #handlers: UserHandlers;
  readonly #socket: Socket;
  /** The last sequence of each stream. */
  readonly #sequences = new Map<string, number>();

  private constructor(url: URL, patienceMs: number, identity: Identity, handlers: UserHandlers) {
    this.#handlers = handlers;
    const auth = 'key' in identity ? identity.key : { apiKey: identity.readOnlyKey };
    this.#socket = new Socket(url, patienceMs, {
      opened: (send) => {
        const resume = [...this.#sequences].map(([stream_id, sequence]) => {
          return { stream_id, sequence: String(sequence) };
        });
        send({ type: 'user', auth, resume });
      },
      text: (text) => this.#take(JSON.parse(text) as UserEvent),
      refused: (reason) => this.#handlers.refused?.(reason),
    });
  }

  /** @throws Error when the node refuses the key, NoAnswerError */
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

  /** The state of a stream: the missed events follow after the sequence that the client sent. */
  #resumed(stream: string, sequence: number): void {
    if (!this.#sequences.has(stream)) this.#sequences.set(stream, sequence);
    this.#socket.ready();
  }

  #event(event: OrderEvent | TradeEvent): void {
    const number = Number(event.sequence);
    const last = this.#sequences.get(event.stream_id) ?? number - 1;
    if (number <= last) return; // received before the connection closed
    if (number > last + 1) {
      this.#socket.restart(); // resumes after `last`
      return;
    }
    this.#sequences.set(event.stream_id, number);
    if (event.event_type === 'order') this.#handlers.order?.(event);
    else this.#handlers.trade?.(event);
  }

  #problem({ detail, error, sequence, stream_id }: Extract<UserEvent, { error: string }>): void {
    if (error !== 'resume_unavailable') {
      this.#socket.fail(new Error(`${error}: ${detail}`));
      this.#handlers.refused?.(detail);
      return;
    }
    this.#sequences.clear(); // also those of an earlier run of the node
    if (stream_id !== undefined) this.#sequences.set(stream_id, Number(sequence));
    this.#handlers.missed?.();
  }
}
