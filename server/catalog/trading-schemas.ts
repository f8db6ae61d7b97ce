/** What the routes of markets in the shapes of the trading API are asked and what they answer. */
import { compileQuery } from '../common/query.ts';
import { Type } from '../common/schema.ts';

const Token = Type.Object({
  token_id: Type.String(),
  outcome: Type.String(),
  price: Type.Number(),
  winner: Type.Boolean(),
});
const Rewards = Type.Object({
  rates: Type.Null(),
  min_size: Type.Number(),
  max_spread: Type.Number(),
});
const SHORT = {
  condition_id: Type.String(),
  tokens: Type.Array(Token),
  rewards: Rewards,
  active: Type.Boolean(),
  closed: Type.Boolean(),
  archived: Type.Boolean(),
  accepting_orders: Type.Boolean(),
};
const DateText = Type.Union([Type.String(), Type.Null()]);

const ShortTradingMarketAnswer = Type.Object(SHORT);
export const TradingMarketAnswer = Type.Object({
  ...SHORT,
  enable_order_book: Type.Boolean(),
  accepting_order_timestamp: Type.Null(),
  minimum_order_size: Type.Number(),
  minimum_tick_size: Type.Number(),
  question_id: Type.String(),
  question: Type.String(),
  description: Type.String(),
  market_slug: Type.String(),
  end_date_iso: DateText,
  game_start_time: Type.Null(),
  seconds_delay: Type.Integer(),
  fpmm: Type.String(),
  maker_base_fee: Type.Integer(),
  taker_base_fee: Type.Integer(),
  notifications_enabled: Type.Boolean(),
  neg_risk: Type.Boolean(),
  neg_risk_market_id: Type.String(),
  neg_risk_request_id: Type.String(),
  icon: Type.String(),
  image: Type.String(),
  is_50_50_outcome: Type.Boolean(),
  tags: Type.Array(Type.String()),
});

const pageOf = <Row extends typeof ShortTradingMarketAnswer | typeof TradingMarketAnswer>(
  row: Row,
) =>
  Type.Object({
    data: Type.Array(row),
    next_cursor: Type.String(),
    limit: Type.Integer(),
    count: Type.Integer(),
  });
export const TradingMarketsAnswer = pageOf(TradingMarketAnswer);
export const ShortTradingMarketsAnswer = pageOf(ShortTradingMarketAnswer);

export const MarketOfTokenAnswer = Type.Object({
  condition_id: Type.String(),
  primary_token_id: Type.String(),
  secondary_token_id: Type.String(),
});

/** Names as the clients read them. */
export const TradingTermsAnswer = Type.Object({
  c: Type.String({ description: 'condition id' }),
  t: Type.Array(Type.Object({ t: Type.String(), o: Type.String() }), {
    description: 'tokens and their outcomes',
  }),
  mts: Type.Number({ description: 'tick size' }),
  mos: Type.Number({ description: 'smallest order' }),
  nr: Type.Boolean({ description: 'neg risk' }),
  mbf: Type.Integer({ description: 'base fee of makers' }),
  tbf: Type.Integer({ description: 'base fee of takers' }),
  fd: Type.Object({ r: Type.Number(), e: Type.Integer(), to: Type.Boolean() }),
});

export const CURSOR_QUERY = compileQuery(
  Type.Object({
    next_cursor: Type.Optional(Type.String({ description: 'a cursor of the page before' })),
  }),
);
export const CONDITION_PATH = compileQuery(Type.Object({ condition_id: Type.String() }), [
  'condition_id',
]);
export const TOKEN_PATH = compileQuery(Type.Object({ token_id: Type.String() }), ['token_id']);
export interface CursorQuery {
  readonly next_cursor?: string;
}
