/**
 * The one connection of this node to the node that leads. What cannot be sent waits for somebody to lead; what was
 * sent and lost has an unknown outcome. Nothing is ever sent twice once it may have arrived.
 *
 * Thread: the I/O thread.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { NOTHING_DONE, type PeerCallNumber } from './peers/calls.ts';
import { addressOf, CallFailed, ConnectionLost, PeerConnection } from './peers/peer-connection.ts';
import type { Leader } from './roles.ts';

/** What a node says to a call that only the one that leads answers; nothing was done then. */
export const NOT_LEADING = `${NOTHING_DONE}this node does not lead`;

/**
 * The answer; or why there is none. here: this node leads by now. nobody: nobody has led for so long. busy: too much
 * waits already. unknown: it was sent, and nobody knows what became of it.
 */
export type Forwarded = Buffer | 'here' | 'nobody' | 'busy' | 'unknown';

export interface LeaderLinkOptions {
  readonly node: string;
  readonly secret: string;
  /** So long a call waits for somebody to lead. */
  readonly waitMs: number;
  readonly leads: () => boolean;
  /** Whoever leads, as far as this node knows. */
  readonly leader: () => Leader | undefined;
}

const LOOK_MS = 20;
/** Bytes of calls that are under way, and of those that wait to be. */
const BYTES_MAX = 256 * 2 ** 20;
const CALLS_MAX = 65_536;

export class LeaderLink {
  private readonly o: LeaderLinkOptions;
  private connection: PeerConnection | undefined;
  private epoch = 0;
  private bytes = 0;
  private calls = 0;
  private isClosed = false;

  constructor(options: LeaderLinkOptions) {
    this.o = options;
  }

  /** Calls that have no answer yet. */
  get waiting(): number {
    return this.calls;
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

  /** Somebody else leads: who did before answers nothing any more, even if it has not noticed yet. */
  leaderChanged(): void {
    if (this.o.leader()?.epoch !== this.epoch) this.drop();
  }

  close(): void {
    this.isClosed = true;
    this.drop();
  }

  private async send(name: PeerCallNumber, request: Uint8Array): Promise<Forwarded> {
    const end = performance.now() + this.o.waitMs;
    while (!this.isClosed) {
      if (this.o.leads()) return 'here';
      try {
        const answer = await this.open()?.call(name, request);
        if (answer !== undefined) return answer;
      } catch (error) {
        if (!isUntouched(error)) return 'unknown';
      }
      if (performance.now() >= end) break;
      await sleep(LOOK_MS);
    }
    return 'nobody';
  }

  private open(): PeerConnection | undefined {
    const leader = this.o.leader();
    const { node, secret } = this.o;
    if (leader === undefined || leader.node === node || this.isClosed) return undefined;
    if (this.connection?.isLost === false && this.epoch === leader.epoch) return this.connection;
    this.drop();
    this.connection = new PeerConnection(addressOf(leader.peers), secret, node);
    this.epoch = leader.epoch;
    return this.connection;
  }

  private drop(): void {
    this.connection?.close();
    this.connection = undefined;
  }
}

/** Whether it is certain that the other node has done nothing. */
function isUntouched(error: unknown): boolean {
  if (error instanceof ConnectionLost) return error.isUnsent;
  return error instanceof CallFailed && error.message.startsWith(NOTHING_DONE);
}
