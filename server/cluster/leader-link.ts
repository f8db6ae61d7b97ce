/**
 * The one connection of this node to the node that leads. What cannot be sent waits for somebody to lead; what was
 * sent and lost has an unknown outcome. Nothing is ever sent twice once it may have arrived.
 *
 * Thread: the I/O thread.
 */
import type { ForwardMetrics } from '../admin/forward-metrics.ts';
import type { Log } from '../common/logger.ts';
import { NOTHING_DONE, type PeerCallNumber } from './peers/calls.ts';
import { addressOf, CallFailed, ConnectionLost, PeerConnection } from './peers/peer-connection.ts';
import type { PeerSecrets } from './peers/secure.ts';
import type { Leader } from './role-state.ts';

export const NOT_LEADING = `${NOTHING_DONE}this node does not lead`;

/**
 * The answer; or why there is none. here: this node leads by now. nobody: nobody has led for so long. busy: too much
 * waits already. unknown: it was sent, and its outcome is not known.
 */
export type Forwarded = Buffer | 'here' | 'nobody' | 'busy' | 'unknown';

export interface LeaderLinkOptions {
  readonly node: string;
  readonly secrets: PeerSecrets;
  /** Longest waits: of a call for a leader, and for the answer of a former leader. */
  readonly waitMs: number;
  readonly lateMs: number;
  readonly leads: () => boolean;
  readonly leader: () => Leader | undefined;
  readonly metrics: ForwardMetrics;
  readonly print: Log;
}

interface Expected {
  readonly epoch: number;
  readonly peers: string;
  readonly connection: PeerConnection;
}

const LOOK_MS = 10;
/** Bounds of all unanswered calls. */
const BYTES_MAX = 256 * 2 ** 20;
const CALLS_MAX = 65_536;

export class LeaderLink {
  readonly metrics: ForwardMetrics;
  private readonly options: LeaderLinkOptions;
  private connection: PeerConnection | undefined;
  /** Connection to the node that is about to lead, and its epoch. */
  private next: Expected | undefined;
  /** Connections to former leaders, whose calls may still be answered. */
  private readonly former = new Set<PeerConnection>();
  private epoch = 0;
  private bytes = 0;
  private calls = 0;
  private isClosed = false;
  private isExplained = false;
  private readonly waits = new Set<() => void>();

  constructor(options: LeaderLinkOptions) {
    this.metrics = options.metrics;
    this.options = options;
  }

  async call(name: PeerCallNumber, request: Uint8Array): Promise<Forwarded> {
    if (this.calls >= CALLS_MAX || this.bytes + request.length > BYTES_MAX) return 'busy';
    this.calls += 1;
    this.bytes += request.length;
    try {
      return await this.send(name, request);
    } finally {
      this.calls -= 1;
      this.bytes -= request.length;
    }
  }

  /**
   * The leader gives up the lead, and still answers what was sent. The connection to its successor, where one is named,
   * begins now.
   */
  expect(next: Omit<Leader, 'advertise'> | undefined): void {
    if (this.isClosed) return;
    this.leave(this.options.waitMs);
    this.next?.connection.close();
    this.next = next && { ...next, connection: this.connect(next.peers) };
  }

  /** Somebody else leads: who did before takes nothing any more, even if it has not noticed yet. */
  leaderChanged(): void {
    if (this.options.leader()?.epoch !== this.epoch) this.leave(this.options.lateMs);
    for (const wake of this.waits) wake();
  }

  close(): void {
    this.isClosed = true;
    this.next?.connection.close();
    this.leave(0);
    for (const connection of this.former) connection.close();
  }

  private async send(name: PeerCallNumber, request: Uint8Array): Promise<Forwarded> {
    const end = performance.now() + this.options.waitMs;
    for (let tries = 0; !this.isClosed; tries++) {
      if (this.options.leads()) return 'here';
      const sent = performance.now();
      try {
        const answer = await this.open()?.call(name, request);
        if (answer !== undefined) {
          this.metrics.roundTrip.addMs(performance.now() - sent);
          return answer;
        }
      } catch (error) {
        if (!isUntouched(error)) return this.unknown(error as Error);
      }
      if (performance.now() >= end) break;
      if (tries === 0) this.metrics.waits += 1;
      await this.change();
    }
    return 'nobody';
  }

  /** Many calls may end so at once: the reason is printed once for a connection. */
  private unknown(why: Error): 'unknown' {
    if (!this.isExplained) {
      this.options.print(
        'warn',
        `a request that was sent to the leader has no answer: ${why.message}`,
      );
    }
    this.isExplained = true;
    return 'unknown';
  }

  /** Resolves when somebody else leads, or after a while. */
  private change(): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.waits.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, LOOK_MS);
      this.waits.add(wake);
    });
  }

  private open(): PeerConnection | undefined {
    const leader = this.options.leader();
    if (leader === undefined || leader.node === this.options.node || this.isClosed)
      return undefined;
    const { connection, epoch, next } = this;
    if (connection?.isLost === false && epoch === leader.epoch) return connection;
    this.leave(this.options.lateMs);
    this.next = undefined;
    if (next?.epoch === leader.epoch && next.peers === leader.peers && !next.connection.isLost)
      this.connection = next.connection;
    else {
      next?.connection.close();
      this.connection = this.connect(leader.peers);
    }
    this.epoch = leader.epoch;
    return this.connection;
  }

  private connect(peers: string): PeerConnection {
    const { node, secrets } = this.options;
    this.isExplained = false;
    return new PeerConnection(addressOf(peers), secrets, node);
  }

  private leave(msMax: number): void {
    const { connection } = this;
    if (connection === undefined) return;
    this.connection = undefined;
    this.former.add(connection);
    void connection.lost.then(() => this.former.delete(connection));
    connection.leave(msMax);
  }
}

/** The other node has certainly done nothing. */
function isUntouched(error: unknown): boolean {
  if (error instanceof ConnectionLost) return error.isUnsent;
  return error instanceof CallFailed && error.message.startsWith(NOTHING_DONE);
}
