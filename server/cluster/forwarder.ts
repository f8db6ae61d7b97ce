/**
 * Requests of clients that another node decides: what follows from the state of the leader. The node that took such a
 * request sends it to the one that leads, which runs the same handler, and gives the client its answer.
 *
 * Thread: the I/O thread.
 */
import { ENGINE_BUSY, errorBody, INTERNAL_ERROR, OUTCOME_UNKNOWN } from '../common/error-bodies.ts';
import type { Log } from '../common/logger.ts';
import { REFUSALS } from '../common/refusals.ts';
import { RETRY_SOON, Unavailable } from '../common/unavailable.ts';
import type { RequestContext, Route } from '../http/request-context.ts';
import { sequenceHeaders } from '../http/sequence.ts';
import {
  decodeAnswer,
  encodeAnswer,
  encodeRequest,
  ForwardedContext,
  routeName,
} from './forwarded-request.ts';
import { type Forwarded, type LeaderLink, NOT_LEADING } from './leader-link.ts';
import { NOTHING_DONE, PeerCall } from './peers/calls.ts';
import type { PeerServer } from './peers/peer-server.ts';

const UNKNOWN_ROUTE = `${NOTHING_DONE}this node does not have the route`;

/** What a client is answered where nobody has an answer for it. */
export const NOT_FORWARDED: Readonly<
  Record<Exclude<Forwarded, Buffer | 'here'>, readonly [status: number, body: string]>
> = {
  busy: [503, ENGINE_BUSY],
  nobody: [503, errorBody(REFUSALS.NOT_LEADING[0], 'nobody leads at present')],
  unknown: [503, OUTCOME_UNKNOWN],
};

export class Forwarder {
  private readonly link: LeaderLink;
  private readonly isLeading: () => boolean;

  /** @param isLeading whether this node decides by itself, and takes requests */
  constructor(link: LeaderLink, isLeading: () => boolean) {
    this.link = link;
    this.isLeading = isLeading;
  }

  /** Whether another node decides. */
  readonly isNeeded = (): boolean => !this.isLeading();

  /** @param here runs the handler of this node: it leads by then */
  readonly forward = async (
    context: RequestContext,
    route: Pick<Route, 'method' | 'path'>,
    judgedAt: number,
    here: () => void | Promise<void>,
  ): Promise<void> => {
    const request = encodeRequest(context, routeName(route), judgedAt);
    const outcome = await this.link.call(PeerCall.request, request);
    this.link.meters.ended('request', outcome);
    if (outcome === 'here') return here();
    if (typeof outcome === 'string') {
      const [status, body] = NOT_FORWARDED[outcome];
      const headers = outcome === 'unknown' ? [] : RETRY_SOON;
      return context.reply(status, body, headers);
    }
    const { body, headers, status } = decodeAnswer(outcome);
    return context.reply(status, body, headers);
  };

  /** Answers what other nodes send here. @param sequence the newest batch that is durable */
  serve(
    server: Pick<PeerServer, 'answer'>,
    routes: readonly Route[],
    sequence: () => number,
    print: Log,
  ): void {
    const byName = new Map(routes.map((route) => [routeName(route), route]));
    server.answer(PeerCall.request, async (bytes) => {
      if (!this.isLeading()) throw new Error(NOT_LEADING);
      const context = new ForwardedContext(bytes);
      const route = byName.get(context.route);
      if (route === undefined) throw new Error(UNKNOWN_ROUTE);
      try {
        await route.run(context);
      } catch (error) {
        // A read has changed nothing: the node that leads now answers it.
        if (error instanceof Unavailable && route.writes !== true) throw new Error(NOT_LEADING);
        if (error instanceof Unavailable) context.reply(503, error.body, RETRY_SOON);
        else {
          print('error', `${context.route}: ${(error as Error).message}`);
          context.reply(500, INTERNAL_ERROR);
        }
      }
      const answer = await context.answered;
      if (route.writes !== true) return encodeAnswer(answer);
      return encodeAnswer({
        ...answer,
        headers: [...answer.headers, ...sequenceHeaders(sequence())],
      });
    });
  }
}
