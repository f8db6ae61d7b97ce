/**
 * Routes that change orders. Credentials are checked before; the sequencer and a worker do the rest. A body
 * is read here only to count its orders, and only where orders are limited.
 *
 * Thread: I/O.
 */

import type { KeyOwner } from '../../auth/auth.ts';
import { boundsOf, countObjects } from '../../common/json-measure.ts';
import { type TSchema, Type } from '../../common/schema.ts';
import type { Handler, RequestContext } from '../../http/http.ts';
import { callerOfKey } from '../../http/limits/callers.ts';
import type { HandlerLimitRefusal, HandlerLimits } from '../../http/limits/handler-limits.ts';
import { type RouteSettings, route } from '../../http/route.ts';
import { submitCancelAll, submitCancels } from '../cancel/cancels.ts';
import {
  type Answered,
  explainRequest,
  type OwnedRequest,
  orderRequest,
  type RequestOwner,
  replaceRequest,
} from '../exchange-memory/slot-requests.ts';
import { RequestKind } from '../exchange-memory/slots.ts';

import { ORDER_EXAMPLE, ORDER_EXAMPLE_2 } from './order-example.ts';
import type { OrderIntake } from './order-intake.ts';
import {
  CancelAnswer,
  CancelMarket,
  CancelOrder,
  CancelOrders,
  ConditionlessItemShape,
  ConditionlessItemShape2,
  ExplainAnswer,
  ONE_BOUNDS,
  OrderItemShape,
  OrderItemShape2,
  OrderItems,
  OrderResult,
  OrderResults,
  ReplaceAnswer,
  replaceOf,
} from './schemas.ts';

export interface OrderRouteParts {
  readonly intake: OrderIntake;
  readonly limits: HandlerLimits | undefined;
}

type OrderHandler = Handler<unknown, KeyOwner>;
type Submit = (
  intake: OrderIntake,
  owner: RequestOwner,
  body: Uint8Array,
  answered: Answered,
) => void;

const NO_BODY = new Uint8Array(0);

export const ORDER_ROUTES = [
  route(
    'POST /order',
    {
      access: 'level2',
      limits: ['orderBurst', 'orderSustained', 'trading'],
      body: OrderItemShape,
      bodyBounds: ONE_BOUNDS,
      answer: OrderResult,
      places: true,
      does: 'one signed order (level 2: API key and HMAC)',
      configured: (settings: RouteSettings) => ({
        body: orderItem(settings),
        example: orderExample(settings),
      }),
    },
    (parts: OrderRouteParts) =>
      placing(parts, one, (owner, body, answered) =>
        orderRequest(RequestKind.order, owner, body, answered),
      ),
  ),
  route(
    'POST /orders',
    {
      access: 'level2',
      bodyMax: 'batch',
      body: OrderItems,
      answer: OrderResults,
      places: true,
      does: 'a batch of signed orders, one result each',
      configured: (settings: RouteSettings) => ({
        body: Type.Array(orderItem(settings), { minItems: 1 }),
        example: [orderExample(settings)],
        bodyBounds: boundsOf(settings.maxBatchOrders),
      }),
    },
    (parts: OrderRouteParts) =>
      placing(parts, countObjects, (owner, body, answered) =>
        orderRequest(RequestKind.orders, owner, body, answered),
      ),
  ),
  route(
    'POST /orders/explain',
    {
      access: 'level2',
      limits: ['explain', 'trading'],
      body: OrderItemShape,
      bodyBounds: ONE_BOUNDS,
      answer: ExplainAnswer,
      does: 'the rule that would refuse an order, its hash and domain, and what its signature would fit; places nothing',
      configured: (settings: RouteSettings) => ({
        body: orderItem(settings),
        example: orderExample(settings),
      }),
    },
    ({ intake }: OrderRouteParts) =>
      taking(intake, (to, ...rest) => to.submit(explainRequest(...rest))),
  ),
  route(
    'POST /replace',
    {
      access: 'level2',
      limits: ['replaceBurst', 'replaceSustained', 'trading'],
      body: replaceOf(OrderItemShape),
      bodyBounds: ONE_BOUNDS,
      answer: ReplaceAnswer,
      places: true,
      does: 'cancels an order and places another one, or does neither: `{"orderID": "..", "order": {..}, ..}`',
      configured: (settings: RouteSettings) => ({ body: replaceOf(orderItem(settings)) }),
    },
    (parts: OrderRouteParts) => placing(parts, one, replaceRequest),
  ),
  route(
    'DELETE /order',
    {
      access: 'level2',
      limits: ['cancelBurst', 'cancelSustained', 'trading'],
      body: CancelOrder,
      bodyBounds: ONE_BOUNDS,
      answer: CancelAnswer,
      does: 'cancels one order: `{"orderID": ".."}`',
    },
    ({ intake }: OrderRouteParts) =>
      taking(intake, (to, ...rest) => submitCancels(to, RequestKind.cancelOrder, ...rest)),
  ),
  route(
    'DELETE /orders',
    {
      access: 'level2',
      body: CancelOrders,
      answer: CancelAnswer,
      does: 'cancels up to 1000 orders: `["..", ".."]`',
      configured: ({ maxCancelIds }: RouteSettings) => ({
        bodyBounds: boundsOf(maxCancelIds),
        does: `cancels up to ${maxCancelIds} orders: \`["..", ".."]\``,
      }),
    },
    ({ intake }: OrderRouteParts) =>
      taking(intake, (to, ...rest) => submitCancels(to, RequestKind.cancelOrders, ...rest)),
  ),
  route(
    'DELETE /cancel-all',
    {
      access: 'level2',
      body: Type.Unknown(),
      answer: CancelAnswer,
      does: "cancels all of the caller's open orders; no body",
    },
    ({ intake }: OrderRouteParts) =>
      taking(intake, (to, owner, _body, answered) =>
        submitCancelAll(to, RequestKind.cancelAll, owner, NO_BODY, answered),
      ),
  ),
  route(
    'DELETE /cancel-market-orders',
    {
      access: 'level2',
      body: CancelMarket,
      bodyBounds: ONE_BOUNDS,
      answer: CancelAnswer,
      does: 'cancels those of one market, one token, or both: `{"market": "..", "asset_id": ".."}`',
    },
    ({ intake }: OrderRouteParts) =>
      taking(intake, (to, ...rest) => submitCancelAll(to, RequestKind.cancelMarket, ...rest)),
  ),
];

function taking(intake: OrderIntake, submit: Submit): OrderHandler {
  return (context, _query, caller) =>
    submit(intake, caller, context.body, (...answer) => context.reply(...answer));
}

function placing(
  { limits, intake }: OrderRouteParts,
  count: (body: Uint8Array) => number,
  request: (owner: KeyOwner, body: Uint8Array, answered: Answered) => OwnedRequest,
): OrderHandler {
  return (context, _query, caller) => {
    const { body } = context;
    const over = overOrders(limits, caller, count, body, context);
    if (over !== undefined) context.reply(over.status, over.body, over.headers);
    else {
      const answered: Answered = (...answer) => context.reply(...answer);
      const { settlement, takerDelay } = context;
      const order = request(caller, body, answered);
      const isUsual = settlement === undefined && takerDelay === undefined;
      intake.submit(isUsual ? order : { ...order, settlement, takerDelay });
    }
  };
}

function one(): number {
  return 1;
}

function orderExample({ orderVersion }: RouteSettings): object {
  return orderVersion === '2' ? ORDER_EXAMPLE_2 : ORDER_EXAMPLE;
}

function orderItem({ orderVersion, resolveConditionId }: RouteSettings): TSchema {
  const first = resolveConditionId ? ConditionlessItemShape : OrderItemShape;
  const second = resolveConditionId ? ConditionlessItemShape2 : OrderItemShape2;
  if (orderVersion === 'both') return Type.Union([first, second]);
  return orderVersion === '1' ? first : second;
}

function overOrders(
  limits: HandlerLimits | undefined,
  { apiKeyBytes }: KeyOwner,
  count: (body: Uint8Array) => number,
  body: Uint8Array,
  context: RequestContext,
): HandlerLimitRefusal | undefined {
  if (limits?.applies('keyOrders') !== true) return undefined;
  return limits.refusal('keyOrders', callerOfKey(apiKeyBytes), count(body), context);
}
