/** Request and answer of POST /orders/preview. Rules: docs/protocol.md#preview-of-an-order */
import { boundsOf } from '../common/json-measure.ts';
import { REFUSAL_FACTS } from '../common/refusals.ts';
import { type Static, Type } from '../common/schema.ts';
import { OWN_WALLET } from './agent-schemas.ts';

/** Decimals with the digits of the largest amount. */
const AMOUNT = '^(?:0|[1-9]\\d{0,9})(?:\\.\\d{1,6})?$';
const PRICE = '^[01](?:\\.\\d{1,6})?$';

const Amount = (of: string) =>
  Type.Optional(
    Type.String({ pattern: AMOUNT, description: `${of} as decimal text, with up to 6 decimals` }),
  );

const OrderType = Type.Union(
  [Type.Literal('GTC'), Type.Literal('GTD'), Type.Literal('FOK'), Type.Literal('FAK')],
  { description: 'GTC, GTD, FOK or FAK' },
);

export const PreviewBody = Type.Object({
  tokenId: Type.String({ description: 'a token id' }),
  side: Type.Union([Type.Literal('BUY'), Type.Literal('SELL')], { description: 'BUY or SELL' }),
  orderType: OrderType,
  amount: Amount('collateral'),
  size: Amount('shares'),
  price: Type.Optional(
    Type.String({
      pattern: PRICE,
      description: 'a price from 0 to 1 as decimal text; GTC and GTD need one',
    }),
  ),
  postOnly: Type.Optional(Type.Boolean({ description: 'true or false' })),
  expiration: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'unix seconds; of a GTD order',
    }),
  ),
  signatureType: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 3, description: 'a whole number from 0 to 3' }),
  ),
  wallet: OWN_WALLET,
});
export type PreviewRequest = Static<typeof PreviewBody>;

export const PREVIEW_BOUNDS = boundsOf(1);

const Decimal = (description: string) => Type.String({ description });
const PRICE_OR_NONE = "'' where nothing is filled";

const outcomes = {
  total: Decimal('with the fee: paid by a BUY, received by a SELL'),
  payoutIfRight: Decimal('of the shares of a BUY; of a SELL what it has received'),
  profitIfRight: Decimal('that payout less the total; of a SELL what it has received'),
  lossIfWrong: Decimal('total of a BUY; of a SELL what its shares would have paid above its total'),
};

export const PreviewAnswer = Type.Object(
  {
    sequence: Type.String({
      pattern: '^\\d+$',
      description: 'batch after which it is true, as X-Sequence names it',
    }),
    wallet: Type.String({ description: "wallet that would pay; '' = nobody in particular" }),
    wouldBe: Type.Union([
      Type.Literal('live'),
      Type.Literal('matched'),
      Type.Literal('unmatched'),
      Type.Literal('delayed'),
      Type.Literal('refused'),
    ]),
    reason: Type.Union([
      Type.Null(),
      Type.Object(
        {
          code: Type.String({ description: 'code of the refusal' }),
          words: Type.String({ description: 'for a person' }),
          needed: Type.Optional(Type.String({ description: REFUSAL_FACTS.needed })),
          free: Type.Optional(Type.String({ description: REFUSAL_FACTS.free })),
          reserved: Type.Optional(Type.String({ description: REFUSAL_FACTS.reserved })),
          left: Type.Optional(Type.String({ description: REFUSAL_FACTS.left })),
        },
        { additionalProperties: false },
      ),
    ]),
    filled: Decimal('shares that trade at once'),
    averagePrice: Decimal(PRICE_OR_NONE),
    worstPrice: Decimal(PRICE_OR_NONE),
    cost: Decimal('of the filled shares, before the fee'),
    fee: Decimal('of the taker'),
    feeIn: Type.Union([Type.Literal('collateral'), Type.Literal('shares')]),
    shares: Decimal('received by a BUY, after a fee in shares; given by a SELL'),
    ...outcomes,
    rest: Type.Object(
      {
        size: Decimal('shares that are not filled at once'),
        fate: Type.Union([Type.Literal('rests'), Type.Literal('ends'), Type.Literal('none')]),
        price: Type.String({ description: "at which it rests; '' = it does not" }),
        cost: Decimal('collateral that a resting BUY reserves, or a resting SELL would bring'),
      },
      { additionalProperties: false },
    ),
    ifAllFills: Type.Object(outcomes, {
      additionalProperties: false,
      description: 'with what rests, once all of it has traded',
    }),
    order: Type.Union(
      [
        Type.Null(),
        Type.Object(
          {
            tokenId: Type.String(),
            conditionId: Type.String(),
            negRisk: Type.Boolean(),
            side: Type.Union([Type.Literal('BUY'), Type.Literal('SELL')]),
            orderType: OrderType,
            postOnly: Type.Boolean(),
            expiration: Type.Integer({ description: 'unix seconds, as asked; 0 = none' }),
            price: Type.String({ description: 'a multiple of the tick' }),
            size: Type.String({ description: 'shares' }),
            makerAmount: Type.String({ pattern: '^\\d+$', description: 'micro-units' }),
            takerAmount: Type.String({ pattern: '^\\d+$', description: 'micro-units' }),
            feeRateBps: Type.Integer({ description: 'base fee of the market' }),
          },
          { additionalProperties: false },
        ),
      ],
      { description: 'what to sign; null where there is no price for it' },
    ),
    walked: Type.Object(
      {
        levels: Type.Integer(),
        orders: Type.Integer(),
        isWhole: Type.Boolean({
          description: 'false where the walk ended at its bound: what is behind is not counted',
        }),
      },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
);
