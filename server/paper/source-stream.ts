/**
 * The market stream of a source for some tokens: one connection, whose messages go on in their order. A message that
 * shows that others were missed, or that cannot be understood, is reported before it goes on.
 *
 * Thread: the I/O thread.
 */
import { DamagedMessage, type SourceEvent } from '../../storage/recordings/source-message.ts';
import type { Doubt } from './doubts.ts';
import { readFrame, type SourceMessage } from './source-frame.ts';
import { type SocketTimes, SourceSocket } from './source-socket.ts';

export interface StreamHandlers {
  /** The source has answered on a new connection, which has subscribed. */
  opened(): void;
  event(event: SourceEvent): void;
  /** Takes the reason for which the connection ended, where it is known. */
  failed?(problem: string): void;
  /** Nothing of these tokens, or of all of them, can be trusted until the next snapshot. */
  lost(reason: Doubt, tokens: Iterable<string>): void;
}

/** Tokens of one connection: every venue takes so many. */
export const STREAM_TOKENS_MAX = 400;
/** Streams of one connection: several of each token. */
const PLACES_MAX = 4 * STREAM_TOKENS_MAX;

export class SourceStream {
  readonly tokens = new Set<string>();
  private readonly handlers: StreamHandlers;
  private readonly socket: SourceSocket;
  /** The last place of each stream of this connection, where the source gives places. */
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

  /** Its connection is open, and not mute: snapshots are followed by changes. */
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

  /** It cannot be said whose message was damaged: the next connection begins with all books. */
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
