/**
 * Common part of the connections of both channels: keep-alive texts, the message budget, the queue of messages,
 * problems, and sending no faster than the client reads.
 *
 * Thread: the I/O thread.
 */

import { refusalCode } from '../common/error-bodies.ts';
import { isWithin } from '../common/json.ts';
import type { JsonBounds } from '../common/json-measure.ts';
import type { Shape } from '../common/schema.ts';
import type { FrameRequests } from '../http/frame-request.ts';
import type { Caller } from '../http/limits/callers.ts';
import type { Socket, SocketHandler } from '../http/sockets.ts';
import { CLOSES, type CloseCounts, type CloseName } from './closes.ts';
import { invalid, type Problem, type Subscription } from './messages.ts';
import type { Paced, Pacer } from './pacer.ts';
import {
  type BoundName,
  type Budget,
  boundText,
  type StreamLimits,
  subscriptions,
} from './stream-bounds.ts';

/**
 * Handles a message in pieces, with a yield between two of them; yields a promise if the next piece has to wait for
 * it. Returns a problem of the message, if there is one. Answers are sent after it.
 */
export type Handling = Generator<Promise<unknown> | undefined, Problem | undefined>;

export abstract class Connection implements SocketHandler, Paced {
  /** Time of the last message by a monotonic clock. */
  lastMessageAt: number;
  private readonly parts: ConnectionParts;
  protected readonly socket: Socket;
  protected readonly limits: StreamLimits;
  private readonly messageBounds: JsonBounds;
  protected isOver = false;
  protected readonly openedAt: number;
  /** Messages that wait for the current one, or for their turn. */
  private readonly inbox: Buffer[] = [];
  private handling: Handling | undefined = undefined;
  private isWaiting = false;
  /** Pieces of the last answer that are sent before the next message is handled, so that small answers come first. */
  private leading = 0;

  constructor(parts: ConnectionParts) {
    this.parts = parts;
    this.socket = parts.socket;
    this.limits = parts.limits;
    const values = VALUES_EACH * subscriptions(parts.limits) + VALUES_MORE;
    this.messageBounds = { depth: DEPTH_MAX, values };
    this.openedAt = parts.elapsed();
    this.lastMessageAt = this.openedAt;
  }

  get caller(): object {
    return this.parts.budget.caller;
  }

  message(bytes: Buffer): void {
    if (!this.countMessage(bytes.length)) return;
    if (isPing(bytes) && !this.isBusy() && !this.isLeading()) {
      this.socket.send(PONG);
      return;
    }
    this.inbox.push(bytes);
    this.parts.pacer.go(this);
  }

  alive(bytes = 0): void {
    this.countMessage(bytes);
  }

  drained(): void {
    if (this.hasDue()) this.parts.pacer.go(this);
  }

  closed(): void {
    this.isOver = true;
    this.inbox.length = 0;
    this.handling = undefined;
    this.parts.pacer.forget(this);
    this.forget();
    this.parts.onClosed(this);
  }

  step(): boolean {
    if (this.isOver || this.isWaiting) return false;
    if (this.handling !== undefined) this.continueHandling(this.handling);
    else if (this.inbox.length > 0 && !this.isLeading()) this.take(this.inbox.shift()!);
    else if (!this.hasRoom())
      return false; // continues when the client has read some
    else if (this.sendNext()) this.leading -= 1;
    if (this.isOver || this.isWaiting) return false;
    return this.isBusy() || (this.hasDue() && this.hasRoom());
  }

  /** Reason to close the connection, checked regularly; undefined = it may stay. */
  reasonToGo(_now: number): { readonly why: CloseName; readonly text: string } | undefined {
    return undefined;
  }

  waiting(): number {
    return this.socket.waiting();
  }

  /** Closes the connection if its client reads too slowly. Returns true if it did. */
  closeIfSlow(): boolean {
    const waiting = this.socket.waiting();
    if (waiting <= this.limits.backpressureBytes) return false;
    this.end('slow_reader', `slow reader: ${waiting} bytes are waiting`);
    return true;
  }

  end(why: CloseName, reason: string): void {
    if (this.isOver) return;
    this.parts.closes.add(why);
    this.socket.end(CLOSES.get(why)!, reason);
  }

  protected abstract receive(text: string): Handling;

  /** Takes a message that is a request of its own; returns false for any other message. */
  protected takesRequest(_bytes: Buffer): boolean {
    return false;
  }

  protected abstract hasDue(): boolean;

  /** Sends one piece; returns false if nothing can be sent. */
  protected abstract sendNext(): boolean;

  protected abstract forget(): void;

  /** Schedules pending output while the client reads fast enough. */
  protected pump(): void {
    if (!this.isOver) this.parts.pacer.go(this);
  }

  /** Counts names that are looked up. Returns false if the budget is exceeded and the connection is closed. */
  protected mayLookUp(names: number): boolean {
    return this.isWithin(this.parts.budget.names(names, this.parts.elapsed()));
  }

  /**
   * Acknowledges a message, if it requests that.
   * @param unknown names of the message that no market has
   */
  protected acknowledge(
    { ack = this.limits.acks }: { readonly ack?: boolean },
    subscription: Subscription,
    unknown: readonly string[],
  ): void {
    if (!ack || this.isOver) return;
    const listed = unknown.slice(0, UNKNOWN_MAX).map((name) => name.slice(0, UNKNOWN_NAME_MAX));
    this.socket.send(
      JSON.stringify({
        event_type: 'subscription',
        ...subscription,
        unknown: listed,
        unknown_count: String(unknown.length),
        server_ts_ms: String(this.parts.wall()),
      }),
    );
  }

  /** Names the owner of the connection. @param key '' for a read-only key */
  protected identified(key: string, address: Uint8Array): void {
    this.parts.identified?.(key, address);
  }

  private countMessage(bytes: number): boolean {
    const now = this.parts.elapsed();
    this.lastMessageAt = now;
    return this.isWithin(this.parts.budget.message(bytes, now));
  }

  private isWithin(bound: BoundName | undefined): boolean {
    if (bound === undefined) return true;
    if (this.isOver) return false;
    this.parts.closes.add(bound);
    // Further messages of this connection are ignored.
    if (this.parts.budget.mayGiveReason()) {
      this.socket.refuse(CLOSES.get(bound)!, boundText(bound, this.limits));
    } else {
      this.socket.cut();
    }
    return false;
  }

  private isBusy(): boolean {
    return this.handling !== undefined || this.inbox.length > 0;
  }

  private isLeading(): boolean {
    return this.leading > 0 && this.hasDue() && this.hasRoom();
  }

  private hasRoom(): boolean {
    return this.socket.waiting() < this.limits.backpressureBytes / 2;
  }

  private take(bytes: Buffer): void {
    if (isPing(bytes)) this.socket.send(PONG);
    else if (this.takesRequest(bytes)) return;
    else if (!isWithin(bytes, this.messageBounds)) {
      this.sendProblem(invalid('too many values, or too deep'));
    } else {
      this.continueHandling(this.receive(bytes.toString('utf8')));
    }
  }

  private continueHandling(handling: Handling): void {
    const { done, value } = handling.next();
    this.handling = done === true || this.isOver ? undefined : handling;
    if (done !== true) void value?.then(this.waitHere());
    else {
      this.leading = LEADING_MAX;
      if (value !== undefined && !this.isOver) this.sendProblem(value);
    }
  }

  /** Blocks the connection until the returned function is called. */
  private waitHere(): () => void {
    this.isWaiting = true;
    return () => {
      this.isWaiting = false;
      this.pump();
    };
  }

  protected sendProblem(problem: Problem): void {
    this.socket.send(JSON.stringify({ ...problem, code: refusalCode(problem.error) }));
    // A connection without valid credentials is of no use, so it is closed.
    if (problem.error === 'invalid_auth') this.end('wrong_auth', problem.error);
  }
}

const PONG = 'PONG';
const UNKNOWN_MAX = 100;
const UNKNOWN_NAME_MAX = 100;
const LEADING_MAX = 32;

function isPing(bytes: Buffer): boolean {
  return bytes.length === 4 && bytes.toString('latin1').toUpperCase() === 'PING';
}

/** An object with lists of objects has three levels. */
const DEPTH_MAX = 8;
/** Values of a resume point, an object with two members, with room for fields that are not read. */
const VALUES_EACH = 8;
const VALUES_MORE = 64;

/** Names of a message that are looked up in one piece: a new name takes some 10 us. */
export const NAMES_A_PIECE = 8;

export interface ConnectionParts {
  readonly socket: Socket;
  readonly from: Caller;
  /** Requests of the operations of its path. */
  readonly frames: readonly FrameRequests[];
  readonly limits: StreamLimits;
  readonly elapsed: () => number;
  readonly wall: () => number;
  readonly budget: Budget;
  readonly pacer: Pacer;
  readonly closes: CloseCounts;
  readonly onClosed: (connection: Connection) => void;
  /** Called when the credentials of the connection are checked; absent with FAULTS=off. */
  readonly identified?: ((key: string, address: Uint8Array) => void) | undefined;
}

interface ChannelFields {
  readonly type?: string;
  readonly operation?: 'subscribe' | 'unsubscribe';
}

export function readMessage<Fields extends ChannelFields>(
  text: string,
  shape: Shape<Fields>,
  channel: 'market' | 'user',
): { readonly message: Fields } | { readonly problem: Problem } {
  const message = parseMessage(text);
  if (message === undefined) return { problem: invalid('not a JSON object') };
  if (!shape.matches(message)) {
    const { path } = shape.fault(message);
    return { problem: invalid(`bad member: ${path.join('.')}`) };
  }
  const { operation, type } = message;
  if (type === undefined && operation === undefined) {
    return { problem: invalid('type or operation is needed') };
  }
  if (type !== undefined && type.toLowerCase() !== channel) {
    return { problem: invalid(`type must be ${channel} on this path`) };
  }
  return { message };
}

/** Members of a message that are not null; undefined if it is not a JSON object. */
function parseMessage(text: string): object | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
}
