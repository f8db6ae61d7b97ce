/**
 * Tools that preview, place, replace and cancel orders.
 *
 * Thread: any. An order needs the id of a preview of the last minute, or without_preview. Where the server has no key
 * (POST /mcp), callers sign what the preview shows.
 */
import assert from 'node:assert/strict';
import { toMicro } from '../../client/decimal.ts';
import type {
  CancelAnswer,
  OrderItemShape,
  OrderResult,
  PreviewAnswer,
} from '../../client/types.ts';
import { type Static, type TObject, Type } from '../common/schema.ts';
import {
  AMOUNT,
  amountText,
  CHOICE,
  KEY,
  MARKET,
  NAME,
  ORDER_ID,
  OUTCOME,
  SECONDS,
} from './arguments.ts';
import { marketOf, outcomeOf } from './markets.ts';
import { PREVIEW_SECONDS, type PreviewedOrder, type TakenPreview } from './previews.ts';
import { type ToolCall, tool, type Venue } from './tool.ts';
import { mayBeDone, nextStep, nodeRefusal, TOOL_REFUSALS, toolRefusal } from './tool-refusals.ts';

/** Ids in the answer of a cancel of all orders. */
const IDS_MAX = 50;

const TERMS = {
  market: MARKET,
  outcome: OUTCOME,
  side: CHOICE(['BUY', 'SELL']),
  size: Type.Optional(AMOUNT('shares; either size or amount')),
  amount: Type.Optional(AMOUNT('cash to pay or to receive; either size or amount')),
  price: Type.Optional(AMOUNT('worst price, between 0 and 1; GTC and GTD need one')),
  order_type: Type.Optional(
    CHOICE(
      ['GTC', 'GTD', 'FOK', 'FAK'],
      'GTC and GTD rest, FOK fills whole or not at all, FAK fills what it can; GTC with a price, else FAK',
    ),
  ),
  post_only: Type.Optional(
    Type.Boolean({ description: 'true or false: refused where it would trade at once' }),
  ),
  expiration: Type.Optional(SECONDS),
};
const Terms = Type.Object(TERMS);
type OrderTerms = Static<typeof Terms>;

const { market, outcome, side, ...further } = TERMS;
const PREVIEWED = {
  preview_id: Type.Optional(NAME('the preview_id of a preview of the last minute')),
  without_preview: Type.Optional(
    Type.Boolean({ description: 'true or false: places the terms without a preview' }),
  ),
  idempotency_key: Type.Optional(KEY),
};
/** With a preview the terms are those of the preview. */
const OWN = {
  ...PREVIEWED,
  market: Type.Optional(market),
  outcome: Type.Optional(outcome),
  side: Type.Optional(side),
  ...further,
};
const SIGNED = {
  ...PREVIEWED,
  signed_order: Type.Object(
    {
      order: Type.Object({
        tokenId: Type.String(),
        maker: Type.String(),
        side: Type.String(),
        makerAmount: Type.String(),
        takerAmount: Type.String(),
        expiration: Type.Optional(Type.Union([Type.String(), Type.Integer()])),
      }),
      orderType: Type.String({ maxLength: 10 }),
      owner: Type.String({ maxLength: 100 }),
      postOnly: Type.Optional(Type.Boolean()),
    },
    { description: 'the body of POST /order: the order of the preview, signed' },
  ),
};
const REPLACED = { order_id: ORDER_ID };

const PlaceArgs = Type.Object(OWN);
type PlaceArguments = Static<typeof PlaceArgs> &
  Partial<Static<TObject<typeof SIGNED>>> &
  Partial<Static<TObject<typeof REPLACED>>>;

const preview = tool({
  title: 'Preview of an order',
  does: 'Shows what an order would fill, cost and pay now, and why it would be refused. Places nothing. Its preview_id places the order within a minute.',
  routes: ['GET /markets/:id', 'GET /markets/slug/:slug', 'POST /orders/preview'],
  args: Terms,
  async run({ args, memory, venue }) {
    const seen = await previewOf(venue, args);
    const { order, reason, wouldBe } = seen;
    const isPlaced = venue.rights === 'trade' && order !== null && wouldBe !== 'refused';
    return {
      ...(isPlaced && {
        preview_id: memory.previews.add(venue.owner, { ...order, maker: seen.wallet }),
        expires_in_seconds: PREVIEW_SECONDS,
      }),
      market: args.market,
      outcome: args.outcome,
      side: args.side,
      would_be: wouldBe,
      reason: reason ?? undefined,
      order_type: order?.orderType,
      price: order?.price,
      size: order?.size,
      filled_now: seen.filled,
      average_price: seen.averagePrice,
      cost: seen.cost,
      fee: seen.fee,
      fee_in: seen.feeIn,
      total: seen.total,
      profit_if_right: seen.profitIfRight,
      loss_if_wrong: seen.lossIfWrong,
      rest: seen.rest,
      ...(venue.sign === undefined && { order }),
      next: isPlaced
        ? 'Show this to the user; place with preview_id places it.'
        : nextOf(venue, seen),
    };
  },
});

const place = tool({
  title: 'Place an order',
  does: 'Places the order of a preview: preview_id, or without_preview true and its terms. The same idempotency_key or preview_id again places nothing twice.',
  needs: 'trade',
  effect: 'places',
  routes: [
    'GET /data/order/:id',
    'GET /markets/:id',
    'GET /markets/slug/:slug',
    'POST /order',
    'POST /orders/preview',
  ],
  args: PlaceArgs,
  signedArgs: Type.Object(SIGNED),
  run: (call) =>
    placed(call, async (item) =>
      shownResult(call.venue, await call.venue.call('POST /order', { body: item })),
    ),
});

const replace = tool({
  title: 'Replace an order',
  does: 'Cancels an open order, then places another one, with nothing between them. The old one stays cancelled where the new one is refused. Arguments as in place, and the order_id. The preview does not count what the old order frees.',
  needs: 'trade',
  effect: 'places',
  routes: [
    'GET /data/order/:id',
    'GET /markets/:id',
    'GET /markets/slug/:slug',
    'POST /orders/preview',
    'POST /replace',
  ],
  args: Type.Object({ ...REPLACED, ...OWN }),
  signedArgs: Type.Object({ ...REPLACED, ...SIGNED }),
  run: (call) =>
    placed(call, async (item) => {
      const { order_id: orderID } = call.args;
      const { cancel, order } = await call.venue.call('POST /replace', {
        body: { ...item, orderID },
      });
      const canceled = cancelRow(cancel);
      if (order === null) throw notCanceled(cancel);
      return { canceled, placed: await shownResult(call.venue, order, canceled) };
    }),
});

const cancel = tool({
  title: 'Cancel an order',
  does: 'Cancels one open order of the key by its order_id.',
  needs: 'trade',
  effect: 'cancels',
  routes: ['DELETE /order'],
  args: Type.Object(REPLACED),
  async run({ args, venue }) {
    const answer = await venue.call('DELETE /order', { body: { orderID: args.order_id } });
    if (answer.canceled.length === 0) throw notCanceled(answer);
    return cancelRow(answer);
  },
});

const cancelAll = tool({
  title: 'Cancel all orders',
  does: 'Cancels all open orders of the key, or those of one market.',
  needs: 'trade',
  effect: 'cancels',
  routes: [
    'DELETE /cancel-all',
    'DELETE /cancel-market-orders',
    'GET /markets/:id',
    'GET /markets/slug/:slug',
  ],
  args: Type.Object({ market: Type.Optional(MARKET) }),
  async run({ args, venue }) {
    if (args.market === undefined) {
      return cancelRow(await venue.call('DELETE /cancel-all', { body: undefined }));
    }
    const { conditionId } = await marketOf(venue, args.market);
    const body = { market: conditionId };
    return cancelRow(await venue.call('DELETE /cancel-market-orders', { body }));
  },
});

export const ORDER_TOOLS = { preview, place, replace, cancel, cancel_all: cancelAll };

/** Next step after a preview that places nothing. */
function nextOf({ rights }: Venue, { reason }: PreviewAnswer): string {
  if (reason !== null) return nextStep(reason.code);
  return rights === 'trade' ? TOOL_REFUSALS.NO_ORDER.next : TOOL_REFUSALS.READ_ONLY.next;
}

async function previewOf(venue: Venue, terms: OrderTerms): Promise<PreviewAnswer> {
  const { tokenId } = outcomeOf(await marketOf(venue, terms.market), terms.outcome);
  const { amount, expiration, order_type, post_only, price, side, size } = terms;
  return venue.call('POST /orders/preview', {
    body: {
      tokenId,
      side,
      orderType: order_type ?? (price === undefined ? 'FAK' : 'GTC'),
      ...(amount !== undefined && { amount: amountText('amount', amount) }),
      ...(size !== undefined && { size: amountText('size', size) }),
      ...(price !== undefined && { price: amountText('price', price) }),
      ...(post_only !== undefined && { postOnly: post_only }),
      ...(expiration !== undefined && { expiration }),
      ...(venue.agentOf !== undefined && { wallet: venue.agentOf }),
    },
  });
}

/** Sends the order of a call once for its idempotency key or preview. */
function placed(
  call: ToolCall<PlaceArguments>,
  send: (item: OrderItemShape) => Promise<object>,
): Promise<object> {
  const { args, memory, venue } = call;
  const { idempotency_key, preview_id, without_preview } = args;
  if (venue.sign === undefined && args.signed_order === undefined) {
    throw toolRefusal('SIGNED_ORDER_NEEDED');
  }
  if (preview_id === undefined && without_preview !== true) throw toolRefusal('PREVIEW_NEEDED');
  const key = idempotency_key ?? preview_id;
  let taken: TakenPreview | undefined;
  /** Lets a preview place an order after a refusal. */
  const refused = (error: unknown): never => {
    if (!mayBeDone(error)) taken?.giveBack();
    throw error;
  };
  const prepare = async (): Promise<OrderItemShape> => {
    if (preview_id !== undefined) {
      taken = memory.previews.take(venue.owner, preview_id);
      if (taken === undefined) throw toolRefusal('PREVIEW_UNKNOWN');
    }
    return orderOf(call, taken?.order).catch(refused);
  };
  const sendOnce = (item: OrderItemShape) => send(item).catch(refused);
  if (key === undefined) return prepare().then(sendOnce);
  const wallet = venue.wallet.toLowerCase();
  const terms = JSON.stringify({ wallet, args: { ...args, idempotency_key: undefined } });
  return memory.placed.once(venue.owner, key, terms, prepare, sendOnce);
}

/** Returns the signed order of a call. @param order of its preview, if it names one */
async function orderOf(
  { args, venue }: ToolCall<PlaceArguments>,
  order: PreviewedOrder | undefined,
): Promise<OrderItemShape> {
  const item = args.signed_order && itemOf(args.signed_order as OrderItemShape);
  if (order === undefined) {
    return item ?? signed(venue, (await previewOf(venue, wholeTerms(args))).order);
  }
  const difference =
    item === undefined ? await termsDifference(venue, args, order) : itemDifference(item, order);
  if (difference !== undefined) throw toolRefusal('PREVIEW_DIFFERS', difference);
  return item ?? signed(venue, order);
}

/** Known members of a signed order: a request has the others from the tool alone. */
function itemOf({ order, orderType, owner, postOnly }: OrderItemShape): OrderItemShape {
  return { order, orderType, owner, ...(postOnly !== undefined && { postOnly }) };
}

function signed({ sign }: Venue, order: PreviewAnswer['order']): Promise<OrderItemShape> {
  assert(sign !== undefined, 'a server without a key gets signed orders');
  if (order === null) throw toolRefusal('NO_ORDER');
  return sign({ order });
}

/** Returns terms that place an order without a preview. */
function wholeTerms(args: PlaceArguments): OrderTerms {
  const { market, outcome, side } = args;
  if (market === undefined || outcome === undefined || side === undefined) {
    throw toolRefusal('INVALID_ARGUMENT', 'without_preview needs market, outcome and side');
  }
  return { ...args, market, outcome, side };
}

/** Returns a term of a call that its preview does not have. */
async function termsDifference(
  venue: Venue,
  args: PlaceArguments,
  order: PreviewedOrder,
): Promise<string | undefined> {
  const { expiration, market, order_type, outcome, post_only, price, side, size } = args;
  if (side !== undefined && side !== order.side) return `side of the preview: ${order.side}`;
  if (order_type !== undefined && order_type !== order.orderType) {
    return `order_type of the preview: ${order.orderType}`;
  }
  if (size !== undefined && toMicro(amountText('size', size)) !== toMicro(order.size)) {
    return `size of the preview: ${order.size}`;
  }
  if (price !== undefined && toMicro(amountText('price', price)) !== toMicro(order.price)) {
    return `price of the preview: ${order.price}`;
  }
  if (post_only !== undefined && post_only !== order.postOnly) return 'post_only';
  if (expiration !== undefined && expiration !== order.expiration) return 'expiration';
  if (market === undefined) return outcome === undefined ? undefined : 'outcome needs market';
  const found = await marketOf(venue, market);
  if (found.conditionId !== order.conditionId) return 'market';
  if (outcome === undefined || outcomeOf(found, outcome).tokenId === order.tokenId)
    return undefined;
  return 'outcome';
}

/** Members of a signed order that are those of its preview. */
const SAME = ['tokenId', 'side', 'makerAmount', 'takerAmount'] as const;

/** Returns a member of a signed order that its preview does not have. */
function itemDifference(item: OrderItemShape, order: PreviewedOrder): string | undefined {
  const { order: sent, orderType, postOnly = false } = item;
  const name = SAME.find((each) => sent[each] !== order[each]);
  if (name !== undefined) return `signed_order.order.${name}`;
  if (sent.maker.toLowerCase() !== order.maker.toLowerCase()) return 'signed_order.order.maker';
  if (orderType !== order.orderType) return 'signed_order.orderType';
  if (postOnly !== order.postOnly) return 'signed_order.postOnly';
  const isSame = String(sent.expiration ?? 0) === String(order.expiration);
  return isSame ? undefined : 'signed_order.order.expiration';
}

/** @param canceled orders that were cancelled before it, which a refusal names */
async function shownResult(venue: Venue, result: OrderResult, canceled?: object): Promise<object> {
  const { errorMsg, makingAmount, orderID, status, success, takingAmount } = result;
  if (success) {
    return {
      order_id: orderID,
      status,
      paid: makingAmount || '0',
      received: takingAmount || '0',
      next:
        status === 'live' ? 'The order rests: open_orders lists it.' : 'Call positions or balance.',
    };
  }
  if (orderID === '') throw nodeRefusal(errorMsg, undefined, result.detail, canceled);
  // The order was placed by an earlier request, which was not answered.
  const known = await venue.call('GET /data/order/:id', { path: { id: orderID } });
  return { order_id: orderID, status: known.status.toLowerCase(), filled: known.size_matched };
}

function cancelRow({ canceled, filled, not_canceled }: CancelAnswer) {
  const shown = canceled.slice(0, IDS_MAX);
  return {
    canceled: canceled.length,
    order_ids: shown,
    filled: Object.fromEntries(shown.map((id) => [id, filled[id] ?? '0'])),
    not_canceled: Object.keys(not_canceled).length,
  };
}

function notCanceled({ not_canceled }: CancelAnswer): Error {
  const [text = 'order not found'] = Object.values(not_canceled);
  return nodeRefusal(text);
}
