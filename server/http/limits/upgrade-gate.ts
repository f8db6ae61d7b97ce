/**
 * Refusals of WebSocket upgrades by caller: beyond its rate, or beyond its bound of connections. Refusals by
 * a route are in sockets.ts.
 *
 * Thread: I/O.
 */

import { TOO_MANY_OF_ADDRESS, TOO_MANY_REQUESTS } from '../refusals.ts';
import { callerOfRequest } from '../request-caller.ts';
import { readLines } from '../request-lines.ts';
import type { ServerState } from '../server-state.ts';
import type { HttpRequest, HttpResponse } from '../uws.ts';
import type { Caller } from './callers.ts';
import { callerKey } from './callers.ts';
import type { RatePlan } from './rate-limiter.ts';

interface UpgradeRefusal {
  readonly status: string;
  readonly body: string;
  readonly retryAfter: string | undefined;
}

const TOO_MANY = '429 Too Many Requests';

export class UpgradeGate {
  private readonly server: ServerState;
  private readonly plan: RatePlan | undefined;
  private readonly perAddressMax: number;
  private readonly open = new Map<string, number>();

  constructor(server: ServerState, perAddressMax: number) {
    this.server = server;
    this.plan = server.limiter?.plan(['trading']);
    this.perAddressMax = perAddressMax;
  }

  /** Returns the caller, or undefined when its time slice is used up: the connection is to be closed. */
  callerOf(response: HttpResponse, request: HttpRequest): Caller | undefined {
    const { server } = this;
    const forwardedFor = server.trustProxy > 0 ? readLines(request, []).forwardedFor : '';
    const caller = callerOfRequest(server, response, forwardedFor);
    return server.turn.takes({ since: 0, counted: () => caller }) ? caller : undefined;
  }

  /** Counts an upgrade; undefined = the caller may have one more connection. */
  refusal(caller: Caller): UpgradeRefusal | undefined {
    const { limiter, now, rateHeaders } = this.server;
    if (limiter !== undefined && this.plan !== undefined && this.plan.applying.length > 0) {
      const at = now();
      const decision = limiter.take(caller, this.plan, at);
      if (!decision.allowed) {
        const retryAfter = rateHeaders.retryAfter(decision, at)[0]![1];
        return { status: TOO_MANY, body: TOO_MANY_REQUESTS, retryAfter };
      }
    }
    if ((this.open.get(callerKey(caller)) ?? 0) < this.perAddressMax) return undefined;
    return { status: TOO_MANY, body: TOO_MANY_OF_ADDRESS, retryAfter: undefined };
  }

  entered(caller: Caller): void {
    const key = callerKey(caller);
    this.open.set(key, (this.open.get(key) ?? 0) + 1);
  }

  left(caller: Caller): void {
    const key = callerKey(caller);
    const count = this.open.get(key)! - 1;
    if (count === 0) this.open.delete(key);
    else this.open.set(key, count);
  }
}
