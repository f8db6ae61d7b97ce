/**
 * The routes that change orders: who is asking is known, the rest is the sequencer's and a worker's.
 * No body is read here, apart from where it begins.
 *
 * Thread: the I/O thread.
 */
import { JOURNAL_UNAVAILABLE } from '../common/error-bodies.ts';
import { callerOfKey } from '../http/callers.ts';
import type { Exchange, Handler } from '../http/http.ts';
import type { LateLimits, LateRefusal } from '../http/late-limits.ts';
import type { Claim, KeyOwner } from '../identity/auth.ts';
import { submitCancels, submitSweep } from './cancels.ts';
import { countOrders } from './count-orders.ts';
import type { Sequencer } from './sequencer.ts';
import {
  type Answered,
  isProven,
  orderRequest,
  type Prove,
  type RequestOwner,
} from './slot-requests.ts';
import { RequestKind } from './slots.ts';

type Submit = (
  sequencer: Sequencer,
  owner: RequestOwner,
  body: Uint8Array,
  answered: Answered,
) => void;

const NO_BODY = new Uint8Array(0);

/**
 * @param sequencer undefined while the data directory cannot be written
 * @param limits undefined where nothing is counted
 */
export function orderHandlers(sequencer: Sequencer | undefined, limits: LateLimits | undefined) {
  const taking =
    (submit: Submit): Handler<unknown, KeyOwner> =>
    (context, _query, caller) => {
      if (sequencer === undefined) context.reply(503, JOURNAL_UNAVAILABLE);
      else {
        submit(sequencer, caller, context.body, (status, answer) => context.reply(status, answer));
      }
    };
  /** The signature is the sequencer's to have looked at: a worker may have begun already. */
  const placing = (kind: typeof RequestKind.order | typeof RequestKind.orders) => ({
    takesClaims: true as const,
    run(context: Exchange, claim: Claim): void {
      const answered: Answered = (...answer) => context.reply(...answer);
      const { body } = context;
      // Only what the key's owner sent counts against the key.
      const prove: Prove = () => claim.prove() ?? overOrders(limits, claim, kind, body, context);
      const request = orderRequest(kind, claim, body, answered, prove);
      if (sequencer !== undefined) sequencer.submit(request);
      else if (isProven(request)) context.reply(503, JOURNAL_UNAVAILABLE);
    },
  });
  const { cancelAll, cancelMarket, cancelOrder, cancelOrders, order, orders } = RequestKind;
  return {
    'POST /order': placing(order),
    'POST /orders': placing(orders),
    'DELETE /order': taking((to, ...rest) => submitCancels(to, cancelOrder, ...rest)),
    'DELETE /orders': taking((to, ...rest) => submitCancels(to, cancelOrders, ...rest)),
    'DELETE /cancel-all': taking((to, owner, _body, answered) =>
      submitSweep(to, cancelAll, owner, NO_BODY, answered),
    ),
    'DELETE /cancel-market-orders': taking((to, ...rest) => submitSweep(to, cancelMarket, ...rest)),
  };
}

/** Counts the orders of a request against its API key: all of them, or none where that is too many. */
function overOrders(
  limits: LateLimits | undefined,
  { apiKeyBytes }: KeyOwner,
  kind: number,
  body: Uint8Array,
  context: Exchange,
): LateRefusal | undefined {
  if (limits?.applies('keyOrders') !== true) return undefined;
  const count = kind === RequestKind.order ? 1 : countOrders(body);
  return limits.refusal('keyOrders', callerOfKey(apiKeyBytes), count, context);
}
