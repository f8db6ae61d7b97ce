/**
 * Markets in the shapes of the trading API that existing clients read: each member and where it
 * comes from, one line each. Members that this node does not have are null, 0 or empty.
 *
 * Pure; any thread.
 */
import type { FeeSchedule } from '../../engine/commands.ts';
import { MICRO } from '../../engine/tables/units.ts';
import { textList } from '../../storage/catalog/catalog-json.ts';
import { tradedTokens } from '../../storage/catalog/market-form.ts';
import { RESOLVED_STATUS } from '../../storage/catalog/operator-marks.ts';
import { compileQuery } from '../common/query.ts';
import { type TSchema, Type } from '../common/schema.ts';
import type { ShownMarket } from './market-info.ts';

/** Terms of a market in the engine. */
export interface Engaged {
  readonly baseFeeBps: number;
  readonly schedule: FeeSchedule;
  /** Seconds; 0 = none. */
  readonly takerDelay: number;
}

type Read = (market: ShownMarket, engaged: Engaged) => unknown;
type Members = Readonly<Record<string, readonly [schema: TSchema, read: Read]>>;

const BPS_PER_UNIT = 10_000;
const NO_REWARDS = { rates: null, min_size: 0, max_spread: 0 };

const Text = Type.String();
const Flag = Type.Boolean();
const Whole = Type.Integer();
const Real = Type.Number();
const Token = Type.Object({ token_id: Text, outcome: Text, price: Real, winner: Flag });
const Rewards = Type.Object({ rates: Type.Null(), min_size: Real, max_spread: Real });

function shapeOf(members: Members) {
  const all = Object.entries(members);
  return {
    schema: Type.Object(Object.fromEntries(all.map(([name, [schema]]) => [name, schema]))),
    of: (market: ShownMarket, engaged: Engaged): object =>
      Object.fromEntries(all.map(([name, [, read]]) => [name, read(market, engaged)])),
  };
}

function named<S extends TSchema>(schema: S, description: string): S {
  return { ...schema, description };
}

function tokensOf<Row>(
  market: ShownMarket,
  rowOf: (id: string, outcome: string, place: number) => Row,
): Row[] {
  const labels = textList(market.outcomes) ?? [];
  return (textList(tradedTokens(market)) ?? []).map((id, place) =>
    rowOf(id, labels[place] ?? '', place),
  );
}

function pricedTokens(market: ShownMarket): object[] {
  const prices = textList(market.outcomePrices) ?? [];
  return tokensOf(market, (token_id, outcome, place) => {
    const price = prices[place] ?? '0';
    // No book has this price: it is what a share of the outcome pays.
    return { token_id, outcome, price: Number(price), winner: price === '1' };
  });
}

function takesOrders(market: ShownMarket): boolean {
  const { acceptingOrders, active, archived, closed, enableOrderBook } = market;
  return active && !closed && !archived && acceptingOrders && enableOrderBook;
}

/** Resolved to half for each of two outcomes, as a void market is. */
function paysHalves({ outcomePrices, umaResolutionStatus }: ShownMarket): boolean {
  return umaResolutionStatus === RESOLVED_STATUS && outcomePrices === '["0.5","0.5"]';
}

const SHORT: Members = {
  condition_id: [Text, (market) => market.conditionId],
  tokens: [Type.Array(Token), pricedTokens],
  rewards: [Rewards, () => NO_REWARDS],
  active: [Flag, (market) => market.active],
  closed: [Flag, (market) => market.closed],
  archived: [Flag, (market) => market.archived],
  accepting_orders: [Flag, takesOrders],
};

export const shortMarket = shapeOf(SHORT);
export const tradingMarket = shapeOf({
  ...SHORT,
  enable_order_book: [Flag, (market) => market.enableOrderBook],
  accepting_order_timestamp: [Type.Null(), () => null],
  minimum_order_size: [Real, (market) => market.orderMinSize],
  minimum_tick_size: [Real, (market) => market.orderPriceMinTickSize],
  question_id: [Text, (market) => market.questionID],
  question: [Text, (market) => market.question],
  description: [Text, (market) => market.description],
  market_slug: [Text, (market) => market.slug],
  end_date_iso: [Type.Union([Text, Type.Null()]), (market) => market.endDate],
  game_start_time: [Type.Null(), () => null],
  seconds_delay: [Whole, (_, { takerDelay }) => takerDelay],
  fpmm: [Text, () => ''],
  maker_base_fee: [Whole, () => 0],
  taker_base_fee: [Whole, (_, { baseFeeBps }) => baseFeeBps],
  notifications_enabled: [Flag, () => false],
  neg_risk: [Flag, (market) => market.negRisk],
  neg_risk_market_id: [Text, () => ''],
  neg_risk_request_id: [Text, () => ''],
  icon: [Text, (market) => market.icon],
  image: [Text, (market) => market.image],
  is_50_50_outcome: [Flag, paysHalves],
  tags: [Type.Array(Text), () => []],
});

const Outcome = Type.Object({ t: Text, o: Text });
const Fees = Type.Object({ r: Real, e: Whole, to: Flag });

/** Rate and exponent of a schedule; without one an upper bound of the base fee (docs/protocol.md#fees). */
function partsOf({ baseFeeBps, schedule }: Pick<Engaged, 'baseFeeBps' | 'schedule'>): {
  r: number;
  e: number;
} {
  const { exponent, rate } = schedule;
  return rate === 0 ? { r: baseFeeBps / BPS_PER_UNIT, e: 0 } : { r: rate / MICRO, e: exponent };
}

export const tradingTerms = shapeOf({
  c: [named(Text, 'condition id'), (market) => market.conditionId],
  t: [
    named(Type.Array(Outcome), 'tokens and their outcomes'),
    (market) => tokensOf(market, (t, o) => ({ t, o })),
  ],
  mts: [named(Real, 'tick size'), (market) => market.orderPriceMinTickSize],
  mos: [named(Real, 'smallest order'), (market) => market.orderMinSize],
  nr: [named(Flag, 'neg risk'), (market) => market.negRisk],
  mbf: [named(Whole, 'base fee of makers'), () => 0],
  tbf: [named(Whole, 'base fee of takers'), (_, { baseFeeBps }) => baseFeeBps],
  itode: [
    Type.Optional(named(Flag, 'true: a taker is delayed; absent where it is not')),
    (_, { takerDelay }) => takerDelay > 0 || undefined,
  ],
  sd: [
    Type.Optional(named(Whole, 'seconds of that delay')),
    (_, { takerDelay }) => takerDelay || undefined,
  ],
  fd: [Fees, (_, fees) => ({ ...partsOf(fees), to: true })],
});

export const TradingMarketAnswer = tradingMarket.schema;
export const TradingTermsAnswer = tradingTerms.schema;

const pageOf = (row: TSchema) =>
  Type.Object({ data: Type.Array(row), next_cursor: Text, limit: Whole, count: Whole });
export const TradingMarketsAnswer = pageOf(TradingMarketAnswer);
export const ShortTradingMarketsAnswer = pageOf(shortMarket.schema);

export const MarketOfTokenAnswer = Type.Object({
  condition_id: Text,
  primary_token_id: Text,
  secondary_token_id: Text,
});

export const CURSOR_QUERY = compileQuery(
  Type.Object({ next_cursor: Type.Optional(named(Text, 'a cursor of the page before')) }),
);
export const CONDITION_PATH = compileQuery(Type.Object({ condition_id: Text }), ['condition_id']);
export const TOKEN_PATH = compileQuery(Type.Object({ token_id: Text }), ['token_id']);
export interface CursorQuery {
  readonly next_cursor?: string;
}
