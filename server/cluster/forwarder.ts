/**
 * Calls that only the leader decides: sent over the leader link, counted, and answered at the other end while that node
 * leads. Three kinds use it, each with its own bytes:
 *
 *   forwarded-requests.ts     requests of clients, run by the handler of their route
 *   forwarded-orders.ts       orders, checked here, those of an event-loop iteration in one call
 *   forwarded-operations.ts   changes by operators, over a link of their own
 *
 * Thread: the I/O thread.
 */
import type { ForwardedKind } from '../admin/forward-metrics.ts';
import { ENGINE_BUSY, errorBody, OUTCOME_UNKNOWN } from '../common/error-bodies.ts';
import { RETRY_SOON } from '../common/unavailable.ts';
import type { Headers } from '../http/answer-head.ts';
import { type Forwarded, type LeaderLink, NOT_LEADING } from './leader-link.ts';
import type { PeerCallNumber } from './peers/calls.ts';
import type { PeerServer } from './peers/peer-server.ts';

export interface NotForwarded {
  readonly status: number;
  readonly body: string;
  readonly headers: Headers;
}

export const NOT_FORWARDED: Readonly<Record<Exclude<Forwarded, Buffer | 'here'>, NotForwarded>> = {
  busy: { status: 503, body: ENGINE_BUSY, headers: RETRY_SOON },
  nobody: {
    status: 503,
    body: errorBody('NOT_LEADING', 'nobody leads at present'),
    headers: RETRY_SOON,
  },
  unknown: { status: 503, body: OUTCOME_UNKNOWN, headers: [] },
};

export class Forwarder {
  private readonly link: LeaderLink;
  private readonly isLeading: () => boolean;

  constructor(link: LeaderLink, isLeading: () => boolean) {
    this.link = link;
    this.isLeading = isLeading;
  }

  readonly isNeeded = (): boolean => !this.isLeading();

  /**
   * Returns the leader's answer, the answer of this node without one, or 'here' where this node leads by now.
   * @param kinds of the requests in the call, for the metrics
   */
  async send(
    call: PeerCallNumber,
    bytes: Uint8Array,
    kinds: readonly ForwardedKind[],
  ): Promise<Buffer | NotForwarded | 'here'> {
    const outcome = await this.link.call(call, bytes);
    for (const kind of kinds) this.link.metrics.ended(kind, outcome);
    return outcome === 'here' || typeof outcome !== 'string' ? outcome : NOT_FORWARDED[outcome];
  }

  /** Answers the calls of other nodes; without the lead, with the error after which they are sent again. */
  serve(
    server: Pick<PeerServer, 'answer'>,
    call: PeerCallNumber,
    answer: (bytes: Buffer) => Promise<Buffer>,
  ): void {
    server.answer(call, async (bytes) => {
      if (!this.isLeading()) throw new Error(NOT_LEADING);
      return answer(bytes);
    });
  }
}
