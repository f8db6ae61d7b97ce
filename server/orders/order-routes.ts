/**
 * The routes that change orders: who is asking is known, the rest is the sequencer's and a worker's.
 * No body is read here, apart from where it begins.
 *
 * Thread: the I/O thread.
 */
import { JOURNAL_UNAVAILABLE } from '../common/contract.ts';
import type { Handler } from '../http/http.ts';
import type { KeyOwner } from '../identity/auth.ts';
import { submitCancels, submitSweep } from './cancels.ts';
import type { Sequencer } from './sequencer.ts';
import { type Answered, orderRequest, type RequestOwner } from './slot-requests.ts';
import { RequestKind } from './slots.ts';

type Submit = (
  sequencer: Sequencer,
  owner: RequestOwner,
  body: Uint8Array,
  answered: Answered,
) => void;

const NO_BODY = new Uint8Array(0);

/** `sequencer`: undefined while the data directory cannot be written. */
export function orderHandlers(sequencer: Sequencer | undefined) {
  const taking =
    (submit: Submit): Handler<unknown, KeyOwner> =>
    (exchange, _query, caller) => {
      if (sequencer === undefined) exchange.reply(503, JOURNAL_UNAVAILABLE);
      else {
        submit(sequencer, caller, exchange.body, (status, answer) =>
          exchange.reply(status, answer),
        );
      }
    };
  const { cancelAll, cancelMarket, cancelOrder, cancelOrders, order, orders } = RequestKind;
  return {
    'POST /order': taking((to, ...rest) => to.submit(orderRequest(order, ...rest))),
    'POST /orders': taking((to, ...rest) => to.submit(orderRequest(orders, ...rest))),
    'DELETE /order': taking((to, ...rest) => submitCancels(to, cancelOrder, ...rest)),
    'DELETE /orders': taking((to, ...rest) => submitCancels(to, cancelOrders, ...rest)),
    'DELETE /cancel-all': taking((to, owner, _body, answered) =>
      submitSweep(to, cancelAll, owner, NO_BODY, answered),
    ),
    'DELETE /cancel-market-orders': taking((to, ...rest) => submitSweep(to, cancelMarket, ...rest)),
  };
}
