/**
 * Requests that one request makes of other routes of the node, for the same caller: a tool call is some of them. Each
 * counts against the rate limits and the metrics of its route, and its handler checks the credentials again.
 *
 * Thread: I/O. Not here: the choice of the route.
 */
import { OUTCOME_UNKNOWN } from '../common/error-bodies.ts';
import type { FrameClient, FrameRequests } from './frame-request.ts';
import type { Caller } from './limits/callers.ts';
import type { InnerAnswer, InnerRequest, InnerRequests, Route } from './request-context.ts';

const UNAVAILABLE = 503;
const NO_ID = new Uint8Array(0);

export class CallerRequests implements InnerRequests {
  private readonly requestsOf: (route: Route) => FrameRequests;
  private readonly caller: Caller;

  constructor(requestsOf: (route: Route) => FrameRequests, caller: Caller) {
    this.requestsOf = requestsOf;
    this.caller = caller;
  }

  run(route: Route, { body, headers, ...target }: InnerRequest): Promise<InnerAnswer> {
    return new Promise((resolve) => {
      const client: FrameClient = {
        caller: this.caller,
        // Handlers answer although the outer caller has gone: an order is counted to its end.
        isClosed: false,
        run: (request) => route.run(request),
        headersOf: () => headers,
        answer: (_request, status, answer) =>
          resolve({
            status,
            body: typeof answer === 'string' ? answer : Buffer.from(answer).toString(),
          }),
        // A connection that is cut says nothing about the request.
        cut: () => resolve({ status: UNAVAILABLE, body: OUTCOME_UNKNOWN }),
      };
      this.requestsOf(route).take(client, NO_ID, body, target);
    });
  }
}
