/**
 * Requests and answers of the routes for one token or for many. A schema checks requests and documents answers.
 * Rules: docs/protocol.md#prices-of-a-token
 */
import { boundsOf } from '../common/json-measure.ts';
import { compileQuery } from '../common/query.ts';
import { Type } from '../common/schema.ts';

const INVALID_TOKEN = 'Invalid token id';
const INVALID_SIDE = 'Invalid side';

const Side = Type.Union([Type.Literal('BUY'), Type.Literal('SELL')]);
const Decimal = Type.String({ pattern: '^(?:0|[1-9]\\d*)(?:\\.\\d*[1-9])?$' });
const TokenId = Type.String({ pattern: '^(?:0|[1-9]\\d{0,77})$' });

const tokenId = Type.String({
  minLength: 1,
  error: INVALID_TOKEN,
  description: 'the decimal id of an outcome token',
});

const TokenParameters = Type.Object({ token_id: tokenId });
const priceParameters = (description: string) =>
  Type.Object({
    token_id: tokenId,
    side: Type.Union([Type.Literal('BUY'), Type.Literal('SELL')], {
      error: INVALID_SIDE,
      description,
    }),
  });
const PriceParameters = priceParameters('BUY (the best ask) or SELL (the best bid)');
/** PRICE_OF_BUY=bid. */
const BidParameters = priceParameters('BUY (the best bid) or SELL (the best ask)');

export type TokenQuery = { readonly token_id: string };
export type PriceQuery = TokenQuery & { readonly side: 'BUY' | 'SELL' };

export const TOKEN_QUERY = compileQuery(TokenParameters);
export const TOKEN_PATH = compileQuery(TokenParameters, ['token_id']);
export const PRICE_QUERY = compileQuery(PriceParameters);
export const PRICE_PATH = compileQuery(PriceParameters, ['token_id']);
export const PRICE_QUERY_BID = compileQuery(BidParameters);
export const PRICE_PATH_BID = compileQuery(BidParameters, ['token_id']);

export const TokenItem = Type.Object({
  token_id: Type.String(),
  side: Type.Optional(
    Type.Union([Type.Literal('BUY'), Type.Literal('SELL'), Type.Literal(''), Type.Null()]),
  ),
});

/** Maximum of tokens in one request (docs/protocol.md#limits-of-a-request). */
export const TOKENS_MAX = 500;
export const TOKENS_BOUNDS = boundsOf(TOKENS_MAX);
export const TokenItems = Type.Array(TokenItem, { maxItems: TOKENS_MAX });

const Level = Type.Object({ price: Decimal, size: Decimal }, { additionalProperties: false });

export const BookAnswer = Type.Object(
  {
    market: Type.String({ pattern: '^0x[0-9a-f]{64}$' }),
    asset_id: TokenId,
    timestamp: Type.String({ pattern: '^\\d+$', description: 'unix milliseconds' }),
    hash: Type.String({ pattern: '^[0-9a-f]{40}$' }),
    bids: Type.Array(Level),
    asks: Type.Array(Level),
    min_order_size: Decimal,
    tick_size: Decimal,
    neg_risk: Type.Boolean(),
    last_trade_price: Type.Union([Decimal, Type.Literal('')]),
  },
  { additionalProperties: false },
);
export const BooksAnswer = Type.Array(BookAnswer);

export const LastPricesAnswer = Type.Array(
  Type.Object({ token_id: TokenId, price: Decimal, side: Side }, { additionalProperties: false }),
);

export const PriceAnswer = Type.Object({ price: Decimal });
/** Keyed by token id. A side without liquidity is left out. */
export const PricesAnswer = Type.Record(
  TokenId,
  Type.Object({ BUY: Type.Optional(Decimal), SELL: Type.Optional(Decimal) }),
);
export const MidpointAnswer = Type.Object({ mid: Decimal });
export const SpreadAnswer = Type.Object({ spread: Decimal });
/** Keyed by token id: midpoints, or spreads. */
export const DecimalsAnswer = Type.Record(TokenId, Decimal);
export const LastPriceAnswer = Type.Object({
  price: Decimal,
  side: Type.Union([Side, Type.Literal('', { description: 'no trade yet, with UNTRADED=answer' })]),
});
export const TickSizeAnswer = Type.Object({ minimum_tick_size: Type.Number() });
export const NegRiskAnswer = Type.Object({ neg_risk: Type.Boolean() });
export const FeeRateAnswer = Type.Object({ base_fee: Type.Integer() });
