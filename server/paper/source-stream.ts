/**
 * Market stream of a source for some tokens: one connection with its messages in order. Gaps and damaged messages are
 * reported first.
 *
 * Thread: the I/O thread.
 */
import { DamagedMessage, type SourceEvent } from '../../storage/recordings/source-message.ts';
import { readFrame, type SourceMessage } from './source-frame.ts';
import { type SocketTimes, SourceSocket } from './source-socket.ts';
import type { StaleReason } from './stale-books.ts';

export interface StreamHandlers {
  /** The source answered on a new connection with a subscription. */
  opened(): void;
  event(event: SourceEvent): void;
  failed?(problem: string): void;
  /** Books of these tokens are stale until the next snapshot. */
  lost(reason: StaleReason, tokens: Iterable<string>): void;
}

/** Tokens of one connection. Every known source accepts so many. */
export const STREAM_TOKENS_MAX = 400;
/** Streams of one connection: several of each token. */
const PLACES_MAX = 4 * STREAM_TOKENS_MAX;

export class SourceStream {
  readonly tokens = new Set<string>();
  private readonly handlers: StreamHandlers;
  private readonly socket: SourceSocket;
  private places = new Map<string, string>();
  private isAnswered = false;

  constructor(url: string, handlers: StreamHandlers, times?: SocketTimes) {
    this.handlers = handlers;
    this.socket = new SourceSocket(
      url,
      {
        opened: (send) => {
          this.places = new Map();
          if (this.tokens.size > 0) send(subscription(this.tokens));
        },
        received: () => {
          if (this.isAnswered) return;
          this.isAnswered = true;
          handlers.opened();
        },
        text: (text) => this.take(text),
        ended: (reason, problem) => {
          this.isAnswered = false;
          if (problem !== undefined) handlers.failed?.(problem);
          handlers.lost(reason, this.tokens);
        },
      },
      times,
    );
  }

  /** The connection is open and answers, so changes follow a snapshot. */
  get isFollowing(): boolean {
    return this.isAnswered;
  }

  add(tokens: readonly string[]): void {
    for (const token of tokens) this.tokens.add(token);
    if (tokens.length > 0) this.socket.send({ ...subscription(tokens), operation: 'subscribe' });
  }

  remove(tokens: readonly string[]): void {
    for (const token of tokens) this.tokens.delete(token);
    this.socket.send({ operation: 'unsubscribe', assets_ids: tokens });
  }

  close(): void {
    this.socket.close();
  }

  private take(text: string): void {
    let messages: SourceMessage[];
    try {
      messages = readFrame(text);
    } catch (error) {
      if (!(error instanceof DamagedMessage)) throw error;
      this.giveUp();
      return;
    }
    for (const message of messages) {
      const tokens = message.events.flatMap((event) => ('token' in event ? [event.token] : []));
      if (this.isAfterGap(message)) this.handlers.lost('gap', tokens);
      for (const event of message.events) this.handlers.event(event);
    }
    if (this.places.size > PLACES_MAX) this.giveUp();
  }

  /** Starts a new connection, because the tokens of a damaged message are unknown. */
  private giveUp(): void {
    this.handlers.lost('damaged', this.tokens);
    this.socket.restart();
  }

  /** Rules: docs/protocol.md#places-in-streams */
  private isAfterGap({ place }: SourceMessage): boolean {
    if (place === undefined) return false;
    const last = this.places.get(place.stream);
    this.places.set(place.stream, place.sequence);
    return last !== undefined && place.previous > last;
  }
}

function subscription(tokens: Iterable<string>) {
  return { type: 'market', assets_ids: [...tokens] };
}
