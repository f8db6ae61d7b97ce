/**
 * The routes that change orders. The credentials have been checked; the sequencer and a worker do the rest.
 * Of a body no more is read here than the number of its orders, and that only where orders are limited.
 *
 * Thread: the I/O thread.
 */

import { callerOfKey } from '../http/callers.ts';
import type { Handler, RequestContext } from '../http/http.ts';
import type { LateLimits, LateRefusal } from '../http/late-limits.ts';
import type { KeyOwner } from '../identity/auth.ts';
import { submitCancelAll, submitCancels } from './cancels.ts';
import { countOrders } from './count-orders.ts';
import type { OrderTaker } from './order-taker.ts';
import {
  type Answered,
  type OwnedRequest,
  orderRequest,
  type RequestOwner,
  replaceRequest,
} from './slot-requests.ts';
import { RequestKind } from './slots.ts';

type Submit = (
  lines: OrderTaker,
  owner: RequestOwner,
  body: Uint8Array,
  answered: Answered,
) => void;

const NO_BODY = new Uint8Array(0);

/** @param limits undefined where nothing is counted */
export function orderHandlers(lines: OrderTaker, limits: LateLimits | undefined) {
  const taking =
    (submit: Submit): Handler<unknown, KeyOwner> =>
    (context, _query, caller) =>
      submit(lines, caller, context.body, (...answer) => context.reply(...answer));
  const placing =
    (
      count: (body: Uint8Array) => number,
      request: (owner: KeyOwner, body: Uint8Array, answered: Answered) => OwnedRequest,
    ): Handler<unknown, KeyOwner> =>
    (context, _query, caller) => {
      const { body } = context;
      const over = overOrders(limits, caller, count, body, context);
      if (over !== undefined) context.reply(over.status, over.body, over.headers);
      else {
        const answered: Answered = (...answer) => context.reply(...answer);
        lines.submit(request(caller, body, answered));
      }
    };
  const one = (): number => 1;
  const { cancelAll, cancelMarket, cancelOrder, cancelOrders, order, orders } = RequestKind;
  return {
    'POST /order': placing(one, (owner, body, to) => orderRequest(order, owner, body, to)),
    'POST /orders': placing(countOrders, (owner, body, to) =>
      orderRequest(orders, owner, body, to),
    ),
    'POST /replace': placing(one, replaceRequest),
    'DELETE /order': taking((to, ...rest) => submitCancels(to, cancelOrder, ...rest)),
    'DELETE /orders': taking((to, ...rest) => submitCancels(to, cancelOrders, ...rest)),
    'DELETE /cancel-all': taking((to, owner, _body, answered) =>
      submitCancelAll(to, cancelAll, owner, NO_BODY, answered),
    ),
    'DELETE /cancel-market-orders': taking((to, ...rest) =>
      submitCancelAll(to, cancelMarket, ...rest),
    ),
  };
}

/** Counts the orders of a request against its API key: all of them, or none where that is too many. */
function overOrders(
  limits: LateLimits | undefined,
  { apiKeyBytes }: KeyOwner,
  count: (body: Uint8Array) => number,
  body: Uint8Array,
  context: RequestContext,
): LateRefusal | undefined {
  if (limits?.applies('keyOrders') !== true) return undefined;
  return limits.refusal('keyOrders', callerOfKey(apiKeyBytes), count(body), context);
}
