/**
 * The user stream: own orders and trades, each once and in order. After a reconnect it resumes
 * after the last event. If the node no longer has the missed events, the stream reads own orders and
 * trades, and tells what has changed as events. Balances, of a node with a ledger, are a stream of
 * their own on the same connection.
 */
import type { Identity } from '../credentials.ts';
import { NoAnswerError } from '../errors.ts';
import { fundsOf } from '../ledger.ts';
import type { Orders } from '../orders.ts';
import type {
  BalanceEvent,
  OrderEvent,
  ResumedEvent,
  TradeEvent,
  UserErrorEvent,
  UserEvent,
} from '../types.ts';
import type { OwnEvent, OwnState } from './own-state.ts';
import { Socket, type StreamUrl } from './socket.ts';
import type { StreamTransport } from './stream-transport.ts';

export interface UserHandlers {
  order?(event: OrderEvent): void;
  trade?(event: TradeEvent): void;
  /** Cash or shares of a wallet have changed, on a node with a ledger. Amounts are decimal text. */
  balance?(event: BalanceEvent): void;
  /** Events of balances were lost: `ledger.balances` has what they would have led to. */
  missedBalances?(): void;
  /** Events were lost. What changed meanwhile follows as events without stream and sequence. */
  missed?(): void;
  /** All that changed while events were lost has been reported. */
  reconciled?(): void;
  /** The node refuses the stream permanently: the key is wrong or was revoked. */
  refused?(reason: string): void;
}

/** Reconnects to a node that is behind before its place counts. */
const BEHIND_MAX = 3;

interface UserStreamParts {
  readonly own: OwnState;
  readonly requests: StreamTransport;
  /** Orders whose transport is `requests`. */
  readonly orders: Orders;
}

export class UserStream {
  /**
   * Orders of the wallet. `post`, `send`, `replace` and `cancel` of one order go over the stream while it is connected, and
   * else over HTTP, as all others do; an order is placed once in any case.
   */
  readonly orders: Orders;
  readonly #requests: StreamTransport;
  readonly #handlers: UserHandlers;
  readonly #socket: Socket;
  readonly #sequences = new Map<string, string>();
  /** Consecutive connections to a node that was behind the events of another one. */
  #behind = 0;
  readonly #own: OwnState;
  /** Events that wait until the lists are read; undefined = none has to wait. */
  #waiting: OwnEvent[] | undefined = [];
  #reconciling: Promise<void> | undefined;
  #isDue = false;
  #isClosed = false;

  private constructor(
    url: StreamUrl,
    patienceMs: number,
    identity: Identity,
    { orders, own, requests }: UserStreamParts,
    handlers: UserHandlers,
  ) {
    this.#handlers = handlers;
    this.#own = own;
    this.#requests = requests;
    this.orders = orders;
    const auth = 'key' in identity ? identity.key : { apiKey: identity.readOnlyKey };
    this.#socket = new Socket(url, patienceMs, {
      opened: (send) => {
        const resume = [...this.#sequences].map(([stream_id, sequence]) => ({
          stream_id,
          sequence,
        }));
        const custom_feature_enabled = handlers.balance !== undefined;
        send(JSON.stringify({ type: 'user', auth, custom_feature_enabled, resume, ack: true }));
        requests.opened(send);
      },
      ended: () => requests.ended(),
      text: (text) => this.#take(JSON.parse(text) as UserEvent | UserErrorEvent),
      refused: (reason) => {
        requests.ended();
        this.#handlers.refused?.(reason);
      },
    });
  }

  /** @throws Error when the node refuses the key, NoAnswerError */
  static async open(
    url: StreamUrl,
    patienceMs: number,
    identity: Identity,
    parts: UserStreamParts,
    handlers: UserHandlers,
  ): Promise<UserStream> {
    const stream = new UserStream(url, patienceMs, identity, parts, handlers);
    await stream.#socket.firstReady;
    try {
      await parts.own.begin();
    } catch (error) {
      stream.close();
      throw error;
    }
    // A gap before this moment reads the lists itself, and empties what waits.
    if (stream.#reconciling === undefined) stream.#deliverWaiting(() => false);
    return stream;
  }

  /**
   * Reads own orders and trades, and tells what differs from the events so far. The stream does that
   * itself after each gap. Resolves when all of it is reported. @throws ApiError, NoAnswerError
   */
  reconcile(): Promise<void> {
    this.#isDue = true;
    this.#reconciling ??= this.#catchUp().finally(() => {
      this.#reconciling = undefined;
    });
    return this.#reconciling;
  }

  close(): void {
    this.#isClosed = true;
    this.#socket.close();
    this.#requests.ended();
  }

  async #catchUp(): Promise<void> {
    this.#waiting ??= [];
    let isOlder: (event: OwnEvent) => boolean = () => false;
    try {
      // A gap while the lists are read: they are read again.
      while (this.#isDue) {
        this.#isDue = false;
        const { covers, events } = await this.#own.catchUp();
        if (this.#isClosed) return;
        for (const event of events) this.#tell(event);
        isOlder = covers;
      }
    } finally {
      this.#deliverWaiting(isOlder);
    }
    this.#handlers.reconciled?.();
  }

  /** After a gap: until it succeeds, or the node refuses it. */
  async #recover(): Promise<void> {
    while (!this.#isClosed) {
      try {
        await this.reconcile();
        return;
      } catch (error) {
        if (error instanceof NoAnswerError) continue; // after the time limit of calls
        this.#handlers.refused?.(error instanceof Error ? error.message : String(error));
        return;
      }
    }
  }

  #deliverWaiting(isOlder: (event: OwnEvent) => boolean): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const event of waiting) if (!isOlder(event)) this.#deliver(event);
  }

  #deliver(event: OwnEvent): void {
    if (this.#isClosed) return;
    this.#own.note(event);
    this.#tell(event);
  }

  #tell(event: OwnEvent): void {
    if (event.event_type === 'order') this.#handlers.order?.(event);
    else this.#handlers.trade?.(event);
  }

  #take(event: UserEvent | UserErrorEvent): void {
    if ('error' in event) this.#problem(event);
    else if (event.event_type === 'answer') this.#requests.answered(event);
    else if (event.event_type === 'resumed') this.#resumed(event);
    // The places come before it, and say more.
    else if (event.event_type === 'subscription') return;
    else this.#event(event);
  }

  /** Handles the resumption of a stream: the missed events follow after the sequence that the client sent. */
  #resumed({ missed, sequence, stream_id }: ResumedEvent): void {
    this.#behind = 0;
    if (missed === '0' || !this.#sequences.has(stream_id)) this.#sequences.set(stream_id, sequence);
    this.#socket.ready();
  }

  #event(event: OwnEvent | BalanceEvent): void {
    const { previous, sequence, stream_id } = event;
    const last = this.#sequences.get(stream_id) ?? previous;
    if (sequence <= last) return; // received before the connection closed
    if (previous > last) {
      this.#socket.restart(); // resumes after `last`
      return;
    }
    this.#sequences.set(stream_id, sequence);
    if (event.event_type === 'balance') this.#handlers.balance?.({ ...event, ...fundsOf(event) });
    else if (this.#waiting === undefined) this.#deliver(event);
    else this.#waiting.push(event);
  }

  #problem({ detail, error, sequence, stream_id }: UserErrorEvent): void {
    if (error !== 'resume_unavailable') {
      this.#requests.ended();
      this.#socket.fail(new Error(`${error}: ${detail}`));
      this.#handlers.refused?.(detail);
      return;
    }
    const last = this.#sequences.get(stream_id!);
    // A node that applies the log a little later than another one soon has it all.
    if (last !== undefined && sequence! < last && this.#behind < BEHIND_MAX) {
      this.#behind += 1;
      this.#socket.restart();
      return;
    }
    const isLost = isOfBalances(stream_id!);
    // Also those of another venue.
    for (const id of this.#sequences.keys()) {
      if (isOfBalances(id) === isLost) this.#sequences.delete(id);
    }
    this.#sequences.set(stream_id!, sequence!);
    if (isLost) {
      this.#handlers.missedBalances?.();
      return;
    }
    this.#handlers.missed?.();
    void this.#recover();
  }
}

/**
 * True for the name of a balance stream, `user:<address>:balances:..`. Orders and trades have `user:<address>:..`.
 */
function isOfBalances(stream: string): boolean {
  return stream.includes(':balances:');
}
