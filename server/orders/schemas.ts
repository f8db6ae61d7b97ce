/**
 * What the order routes are sent and what they answer (SPEC 2, GAPS 3): the run-time check of an
 * order's shape, and the document of both.
 */
import { Type } from '../common/schema.ts';

/** GAPS: some clients send these as JSON numbers; above 2^53 - 1 the digits would not be theirs. */
const Count = Type.Union([
  Type.String(),
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
]);

/** One submission item. */
export const OrderItemShape = Type.Object({
  order: Type.Object({
    tokenId: Type.String(),
    conditionId: Type.String(),
    maker: Type.String(),
    signer: Type.String(),
    taker: Type.String(),
    makerAmount: Type.String(),
    takerAmount: Type.String(),
    side: Type.Union([Type.Literal('BUY'), Type.Literal('SELL')]),
    expiration: Type.Optional(Count),
    nonce: Count,
    feeRateBps: Count,
    salt: Count,
    signatureType: Type.Integer({ minimum: 0, maximum: 3 }),
    signature: Type.String(),
  }),
  orderType: Type.Union([
    Type.Literal('GTC'),
    Type.Literal('GTD'),
    Type.Literal('FOK'),
    Type.Literal('FAK'),
  ]),
  postOnly: Type.Optional(Type.Boolean()),
  owner: Type.String(),
});

/** The body of POST /orders; the most items are MAX_BATCH_ORDERS. */
export const OrderItems = Type.Array(OrderItemShape, { minItems: 1 });

const OrderResult = Type.Object(
  {
    success: Type.Boolean(),
    errorMsg: Type.String(),
    orderID: Type.String({ pattern: '^(?:0x[0-9a-f]{64})?$' }),
    takingAmount: Type.String(),
    makingAmount: Type.String(),
    status: Type.String(),
  },
  { additionalProperties: false },
);

export const OrderResults = Type.Array(OrderResult);
