/**
 * Bodies and answers of the order routes: run-time check and documentation of the shape of an order. Rules:
 * docs/protocol.md#shape-of-a-request
 */
import { boundsOf } from '../../common/json-measure.ts';
import { REFUSAL_FACTS } from '../../common/refusals.ts';
import { type TSchema, Type } from '../../common/schema.ts';

/**
 * Some clients send these as JSON numbers; above 2^53 - 1 they would lose digits
 * (docs/protocol.md#numbers-in-requests).
 */
const Count = Type.Union([
  Type.String(),
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
]);

export const ONE_BOUNDS = boundsOf(1);

const COMMON = {
  maker: Type.String(),
  signer: Type.String(),
  makerAmount: Type.String(),
  takerAmount: Type.String(),
  side: Type.Union([Type.Literal('BUY'), Type.Literal('SELL')]),
  expiration: Type.Optional(Count),
  salt: Count,
  signatureType: Type.Integer({ minimum: 0, maximum: 3 }),
  signature: Type.String(),
};
const ORDER = {
  ...COMMON,
  taker: Type.String(),
  nonce: Count,
  feeRateBps: Count,
};
/**
 * Version 2: a time in place of the nonce, no fee rate and no counterparty.
 * Rules: docs/protocol.md#version-2-and-3-orders
 */
const ORDER_2 = {
  ...COMMON,
  timestamp: Count,
  metadata: Type.String(),
  builder: Type.String(),
};
const ITEM = {
  orderType: Type.Union([
    Type.Literal('GTC'),
    Type.Literal('GTD'),
    Type.Literal('FOK'),
    Type.Literal('FAK'),
  ]),
  postOnly: Type.Optional(Type.Boolean()),
  owner: Type.String(),
};

export const OrderItemShape = Type.Object({
  order: Type.Object({ tokenId: Type.String(), conditionId: Type.String(), ...ORDER }),
  ...ITEM,
});

/** RESOLVE_CONDITION_ID=on: the token alone may name the market. */
const MARKETLESS = { tokenId: Type.String(), conditionId: Type.Optional(Type.String()) };
export const ConditionlessItemShape = Type.Object({
  order: Type.Object({ ...MARKETLESS, ...ORDER }),
  ...ITEM,
});

export const OrderItemShape2 = Type.Object({
  order: Type.Object({ tokenId: Type.String(), conditionId: Type.String(), ...ORDER_2 }),
  ...ITEM,
});
export const ConditionlessItemShape2 = Type.Object({
  order: Type.Object({ ...MARKETLESS, ...ORDER_2 }),
  ...ITEM,
});

/** The body of POST /orders; the most items are MAX_BATCH_ORDERS. */
export const OrderItems = Type.Array(OrderItemShape, { minItems: 1 });

/** Members of a refusal with RESULT_CODES=on; some have those of `Facts`, too. */
const Told = { detail: Type.Optional(Type.String()), code: Type.Optional(Type.String()) };
const Facts = {
  needed: Type.Optional(Type.String({ description: REFUSAL_FACTS.needed })),
  free: Type.Optional(Type.String({ description: REFUSAL_FACTS.free })),
  reserved: Type.Optional(Type.String({ description: REFUSAL_FACTS.reserved })),
  recovered: Type.Optional(Type.String({ description: REFUSAL_FACTS.recovered })),
  fits: Type.Optional(Type.String({ description: REFUSAL_FACTS.fits })),
};

export const OrderResult = Type.Object(
  {
    success: Type.Boolean(),
    errorMsg: Type.String(),
    orderID: Type.String({ pattern: '^(?:0x[0-9a-f]{64})?$' }),
    takingAmount: Type.String(),
    makingAmount: Type.String(),
    status: Type.String(),
    tradeIDs: Type.Optional(
      Type.Array(Type.String(), { description: 'ids in `GET /data/trades`; TRADE_IDS=list' }),
    ),
    ...Told,
    ...Facts,
  },
  { additionalProperties: false },
);

/** Answer of POST /orders/explain (docs/protocol.md#explaining-an-order). */
export const ExplainAnswer = Type.Object(
  {
    accepted: Type.Boolean({ description: 'true where no rule refuses the order now' }),
    errorMsg: Type.String({ description: "'' where it is accepted" }),
    detail: Type.String(),
    ...Facts,
    code: Told.code,
    orderID: Type.String({ description: "its hash; '' where an amount is negative" }),
    domain: Type.Object({
      name: Type.String(),
      version: Type.String(),
      chainId: Type.Integer(),
      verifyingContract: Type.String(),
    }),
    negRisk: Type.Boolean(),
    signatureType: Type.Integer(),
    signature: Type.Object({
      recovered: Type.String({ description: "the address that signed it as sent; '' = none" }),
      by: Type.String({ description: "signer, maker, caller, another key or ''" }),
      fits: Type.String({ description: "a change with which it would be right; '' = none" }),
      tried: Type.Array(Type.String()),
    }),
  },
  { additionalProperties: false },
);

export const OrderResults = Type.Array(OrderResult);

/** The body of DELETE /order: one of the two. */
export const CancelOrder = Type.Object({
  orderID: Type.Optional(Type.String()),
  orderId: Type.Optional(Type.String()),
});

/** Body of DELETE /orders; the maximum is a rule of the parser (docs/protocol.md#limits-of-a-request). */
export const CancelOrders = Type.Array(Type.String());

/** Some clients send an absent member as "" or null. */
const Scope = Type.Optional(Type.Union([Type.String(), Type.Null()]));

export const CancelMarket = Type.Object({ market: Scope, asset_id: Scope, assetId: Scope });

const ById = Type.Record(Type.String(), Type.String());

/** Reject reasons by id, and shares that cancelled orders had traded before. */
export const CancelAnswer = Type.Object(
  { canceled: Type.Array(Type.String()), not_canceled: ById, filled: ById, ...Told },
  { additionalProperties: false },
);

export const replaceOf = (item: TSchema) => Type.Intersect([item, CancelOrder]);

/** `order` is null if nothing was cancelled, and so nothing was placed. */
export const ReplaceAnswer = Type.Object(
  { cancel: CancelAnswer, order: Type.Union([OrderResult, Type.Null()]) },
  { additionalProperties: false },
);
