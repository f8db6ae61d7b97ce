/**
 * What the connections of both channels share: keep-alive texts, problems, and sending that waits for
 * a reader who is busy instead of burying him.
 *
 * Thread: the I/O thread.
 */
import type { Socket, SocketHandler } from '../http/sockets.ts';
import type { Problem } from './messages.ts';

export interface StreamLimits {
  /** A connection that says nothing for so long is closed. */
  readonly idleSeconds: number;
  /** Tokens, or markets, of one connection. */
  readonly subscriptionsMax: number;
  readonly connectionsMax: number;
  /** Bytes that may wait for one reader. */
  readonly backpressureBytes: number;
}

/** Codes of RFC 6455 and its registry. */
export const CloseCode = { goingAway: 1001, policy: 1008, internal: 1011, tryLater: 1013 } as const;

export abstract class Connection implements SocketHandler {
  /** When it was heard of last, by the clock that nobody sets. */
  heardAt: number;
  protected readonly socket: Socket;
  protected readonly limits: StreamLimits;
  protected isOver = false;
  private readonly elapsed: () => number;
  private readonly onClosed: (connection: Connection) => void;
  private pumpWanted = false;

  constructor(parts: ConnectionParts) {
    this.socket = parts.socket;
    this.limits = parts.limits;
    this.elapsed = parts.elapsed;
    this.onClosed = parts.onClosed;
    this.heardAt = parts.elapsed();
  }

  message(text: string): void {
    this.heardAt = this.elapsed();
    if (text.length === 4 && text.toUpperCase() === 'PING') {
      this.socket.send('PONG');
      return;
    }
    const problem = this.receive(text);
    if (problem === undefined) return;
    this.socket.send(JSON.stringify(problem));
    // Whoever may not subscribe has nothing to stay for.
    if (problem.error === 'invalid_auth') this.end(CloseCode.policy, problem.error);
  }

  alive(): void {
    this.heardAt = this.elapsed();
  }

  drained(): void {
    this.pump();
  }

  closed(): void {
    this.isOver = true;
    this.forget();
    this.onClosed(this);
  }

  /** Why it may stay no longer, looked at now and then; undefined = it may. */
  reasonToGo(): string | undefined {
    return undefined;
  }

  /** Bytes that its reader has not taken yet. */
  waiting(): number {
    return this.socket.waiting();
  }

  /** Closes whoever reads too slowly; says whether it did. */
  closeIfSlow(): boolean {
    const waiting = this.socket.waiting();
    if (waiting <= this.limits.backpressureBytes) return false;
    this.end(CloseCode.tryLater, `slow reader: ${waiting} bytes are waiting`);
    return true;
  }

  end(code: number, reason: string): void {
    this.socket.end(code, reason);
  }

  /** Takes a message that is no keep-alive; says what is wrong with it. */
  protected abstract receive(text: string): Problem | undefined;

  /** Sends one piece of what is due; false when nothing is. */
  protected abstract sendNext(): boolean;

  /** Gives back whatever the connection holds. */
  protected abstract forget(): void;

  /** Sends what is due while the reader keeps up, a bounded part of it in each turn. */
  protected pump(): void {
    const room = this.limits.backpressureBytes / 2;
    for (let sent = 0; !this.isOver; sent++) {
      // What cannot go now goes when the reader has taken some.
      if (this.socket.waiting() >= room) return;
      if (sent === PIECES_PER_TURN) break;
      if (!this.sendNext()) return;
    }
    if (this.pumpWanted || this.isOver) return;
    this.pumpWanted = true;
    setImmediate(() => {
      this.pumpWanted = false;
      this.pump();
    });
  }
}

/** About a millisecond of rendering books. */
const PIECES_PER_TURN = 32;

export interface ConnectionParts {
  readonly socket: Socket;
  readonly limits: StreamLimits;
  readonly elapsed: () => number;
  readonly onClosed: (connection: Connection) => void;
}

/** A message's members without those that are null; undefined for what is no JSON object. */
export function parseMessage(text: string): object | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
}
