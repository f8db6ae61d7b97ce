/**
 * Schemas of stream messages: those of clients (checked with these schemas), and those that clients receive (their
 * documentation; tests check every frame against it). Rules: docs/protocol.md#stream-subscriptions
 */
import { compileShape, type Static, type TSchema, Type } from '../common/schema.ts';
import { TRADE_STATUSES } from '../market-data/trade-status.ts';
import {
  CancelAnswer,
  CancelOrder,
  OrderItemShape,
  OrderItemShape2,
  OrderResult,
  ReplaceAnswer,
  replaceOf,
} from '../orders/intake/schemas.ts';
import { FRAME_ID_MAX, OPERATION_NAMES, OPERATIONS, type OperationName } from './request-frames.ts';

const Text = Type.String();
const Texts = Type.Array(Type.String());
const Digits = Type.String({ pattern: '^[0-9]+$' });
const Decimal = Type.String({ pattern: '^[0-9]+([.][0-9]+)?$' });
const Sequence = Type.String({
  pattern: '^[0-9]{19}$',
  description: 'the place in the stream; compares as text',
});
const Side = Type.Union([Type.Literal('BUY'), Type.Literal('SELL')]);
const literal = Type.Literal;

/** A subscribe message has `type`, `operation`, or both. Unknown members are ignored. */
const Operation = Type.Optional(
  Type.Union([literal('subscribe'), literal('unsubscribe')], {
    description: 'subscribe is the default',
  }),
);

/** Requests or suppresses an answer; `STREAM_ACKS` decides if absent. */
const Ack = Type.Optional(Type.Boolean({ description: 'true: answered by a subscription event' }));

const MarketMessage = Type.Object({
  type: Type.Optional(Type.String({ description: '"market"; needed without operation' })),
  operation: Operation,
  assets_ids: Type.Optional(Texts),
  markets: Type.Optional(Type.Array(Type.String(), { description: 'condition ids: all tokens' })),
  custom_feature_enabled: Type.Optional(
    Type.Boolean({ description: 'also best_bid_ask and new_market' }),
  ),
  initial_dump: Type.Optional(Type.Boolean({ description: 'false: no book at first' })),
  ack: Ack,
});

/** Stream cursor of a client: both fields of the last frame that it received. */
const Place = Type.Object({ stream_id: Text, sequence: Digits });

const UserMessage = Type.Object({
  type: Type.Optional(Type.String({ description: '"user"; needed without operation' })),
  operation: Operation,
  markets: Type.Optional(Type.Array(Type.String(), { description: 'condition ids; none = all' })),
  custom_feature_enabled: Type.Optional(
    Type.Boolean({ description: 'also balance, in a stream of its own' }),
  ),
  auth: Type.Optional(
    Type.Object({
      apiKey: Type.Optional(Text),
      apikey: Type.Optional(Text),
      secret: Type.Optional(Type.String({ description: 'absent with a read-only key' })),
      passphrase: Type.Optional(Text),
    }),
  ),
  resume: Type.Optional(
    Type.Array(Place, {
      description: 'where each stream was left; [] only asks where they stand',
    }),
  ),
  stream_id: Type.Optional(Type.String({ description: 'with sequence: a resume of one stream' })),
  sequence: Type.Optional(Digits),
  ack: Ack,
});

const AnyOrderItem = Type.Union([OrderItemShape, OrderItemShape2]);
const BODIES: Readonly<Record<OperationName, TSchema>> = {
  order: AnyOrderItem,
  cancel: CancelOrder,
  replace: replaceOf(AnyOrderItem),
};

/** Requests of order routes, which the handlers of those routes answer. */
const REQUESTS = Object.fromEntries(
  OPERATION_NAMES.map((name) => {
    const id = Type.String({
      pattern: `^[ !#-\\[\\]-~]{1,${FRAME_ID_MAX}}$`,
      description: 'returned with the answer',
    });
    const body = { ...BODIES[name], description: `the body of \`${OPERATIONS[name]}\`` };
    const schema = Type.Object({ op: literal(name), id, body: body as TSchema });
    return [name, { does: `\`${OPERATIONS[name]}\` over the stream`, schema }];
  }),
);

export const marketMessage = compileShape(MarketMessage);
export const userMessage = compileShape(UserMessage);
export type MarketMessageFields = Static<typeof MarketMessage>;
export type UserMessageFields = Static<typeof UserMessage>;

const envelope = {
  stream_id: Text,
  sequence: Sequence,
  previous: Type.String({
    pattern: '^[0-9]{19}$',
    description: 'no event of the stream lies between this place and the event',
  }),
  server_ts_ms: Digits,
  timestamp: Digits,
  market: Text,
};
const ofAsset = { ...envelope, asset_id: Text };
const Level = Type.Object({ price: Decimal, size: Decimal });

const BookEvent = Type.Object({
  event_type: literal('book'),
  ...ofAsset,
  hash: Text,
  bids: Type.Array(Level),
  asks: Type.Array(Level),
  min_order_size: Decimal,
  tick_size: Decimal,
  neg_risk: Type.Boolean(),
  last_trade_price: Text,
});

const PriceChangeEvent = Type.Object({
  event_type: literal('price_change'),
  ...envelope,
  price_changes: Type.Array(
    Type.Object({
      asset_id: Text,
      price: Decimal,
      size: Type.String({ description: 'the new total of the level; "0" = it is gone' }),
      side: Side,
      hash: Type.String({
        description: 'id of the order behind the change; empty = a level of the source',
      }),
      best_bid: Decimal,
      best_ask: Decimal,
    }),
  ),
});

const LastTradePriceEvent = Type.Object({
  event_type: literal('last_trade_price'),
  ...ofAsset,
  price: Decimal,
  side: Side,
  size: Decimal,
  fee_rate_bps: Digits,
});

const TickSizeChangeEvent = Type.Object({
  event_type: literal('tick_size_change'),
  ...ofAsset,
  old_tick_size: Decimal,
  new_tick_size: Decimal,
  side: Side,
});

const BestBidAskEvent = Type.Object({
  event_type: literal('best_bid_ask'),
  ...ofAsset,
  best_bid: Decimal,
  best_ask: Decimal,
  spread: Decimal,
});

const ofCatalog = { description: 'absent where the catalog does not have it' };
const NewMarketEvent = Type.Object({
  event_type: literal('new_market'),
  ...envelope,
  id: Text,
  condition_id: Text,
  question: Text,
  slug: Text,
  description: Text,
  active: Type.Boolean(),
  assets_ids: Texts,
  clob_token_ids: Type.Array(Text, { description: 'the same' }),
  outcomes: Texts,
  order_price_min_tick_size: Text,
  taker_base_fee: Type.String({ description: 'basis points' }),
  fees_enabled: Type.Optional(Type.Boolean(ofCatalog)),
  fee_schedule: Type.Optional(Type.Object({}, ofCatalog)),
  sports_market_type: Type.Optional(Type.String(ofCatalog)),
  line: Type.Optional(Type.String(ofCatalog)),
  game_start_time: Type.Optional(Type.String(ofCatalog)),
  group_item_title: Type.Optional(Type.String(ofCatalog)),
  event_message: Type.Object({
    id: Text,
    ticker: Text,
    slug: Text,
    title: Text,
    description: Text,
  }),
});

const MarketResolvedEvent = Type.Object({
  event_type: literal('market_resolved'),
  ...envelope,
  id: Text,
  assets_ids: Texts,
  outcomes: Texts,
  payouts: Type.Array(Type.Integer(), { description: 'an outcome pays payout / payout_sum' }),
  payout_sum: Type.Integer(),
  is_void: Type.Boolean(),
  winning_asset_id: Type.String({ description: 'empty where no outcome has all of the payout' }),
  winning_outcome: Text,
});

const OrderEvent = Type.Object({
  event_type: literal('order'),
  ...ofAsset,
  id: Text,
  outcome: Text,
  side: Side,
  price: Decimal,
  original_size: Decimal,
  size_matched: Decimal,
  owner: Text,
  order_owner: Text,
  associate_trades: Type.Union([Texts, Type.Null()]),
  type: Type.Union([literal('PLACEMENT'), literal('UPDATE'), literal('CANCELLATION')]),
  status: Type.Union(
    (['LIVE', 'MATCHED', 'CANCELED', 'DELAYED', 'UNMATCHED'] as const).map((one) => literal(one)),
  ),
  order_type: Type.Union([literal('GTC'), literal('GTD'), literal('FOK'), literal('FAK')]),
  maker_address: Text,
  expiration: Digits,
  created_at: Digits,
  reason: Type.Optional(Type.String({ description: 'of the last event of an order only' })),
});

const TradeEvent = Type.Object({
  event_type: literal('trade'),
  ...ofAsset,
  id: Text,
  type: literal('TRADE'),
  status: Type.Union([literal('MATCHED'), ...TRADE_STATUSES.map((one) => literal(one))]),
  taker_order_id: Text,
  outcome: Text,
  side: Side,
  price: Decimal,
  size: Decimal,
  fee_rate_bps: Digits,
  owner: Text,
  trade_owner: Text,
  maker_address: Text,
  trader_side: Type.Union([literal('TAKER'), literal('MAKER')]),
  transaction_hash: Text,
  bucket_index: Type.Integer(),
  matchtime: Digits,
  match_time: Digits,
  last_update: Digits,
  maker_orders: Type.Array(
    Type.Object({
      order_id: Text,
      owner: Text,
      maker_address: Text,
      asset_id: Text,
      outcome: Text,
      side: Side,
      price: Decimal,
      matched_amount: Decimal,
      fee_rate_bps: Digits,
    }),
  ),
});

const BalanceEvent = Type.Object({
  event_type: literal('balance'),
  ...envelope,
  market: Type.String({ description: 'the condition id; empty of cash' }),
  wallet: Text,
  asset_type: Type.Union([literal('COLLATERAL'), literal('CONDITIONAL')]),
  token_id: Type.String({ description: 'empty of cash' }),
  total: Type.String({ pattern: '^[0-9]+$', description: 'micro-units, after the batch' }),
  reserved: Type.String({ pattern: '^[0-9]+$', description: 'by open orders' }),
  free: Digits,
});

/** Answer to a message with `resume`, for each stream of the subscription. */
const ResumedEvent = Type.Object({
  event_type: literal('resumed'),
  stream_id: Text,
  sequence: Type.String({
    pattern: '^[0-9]{19}$',
    description: 'where the node stands; what was missed before it follows',
  }),
  missed: Digits,
});

/** Answer to a message that requests one, before its other results. */
const SubscriptionEvent = Type.Object({
  event_type: literal('subscription'),
  operation: Type.Union([literal('subscribe'), literal('unsubscribe')]),
  known: Type.String({ pattern: '^[0-9]+$', description: 'names of the message that are known' }),
  unknown: Type.Array(Type.String(), {
    description: 'names that no market of this node has, the first 100 of them, cut at 100',
  }),
  unknown_count: Digits,
  following: Type.String({
    pattern: '^(?:all|[0-9]+)$',
    description: 'tokens, or markets, that the connection follows now',
  }),
  server_ts_ms: Digits,
});
export type Subscription = Pick<
  Static<typeof SubscriptionEvent>,
  'operation' | 'known' | 'following'
>;

/** Answer to a request: status, headers and body of the route over HTTP. */
const AnswerEvent = Type.Object({
  event_type: literal('answer'),
  op: Type.Union(OPERATION_NAMES.map((name) => literal(name))),
  id: Text,
  status: Type.Integer(),
  headers: Type.Record(Type.String(), Type.String(), {
    description: '`X-Sequence`; `Retry-After` and `X-Request-Id` where HTTP has them',
  }),
  body: Type.Union([
    OrderResult,
    CancelAnswer,
    ReplaceAnswer,
    Type.Object({ error: Text, detail: Type.Optional(Text), code: Type.Optional(Text) }),
  ]),
});

const ProblemEvent = Type.Object({
  error: Type.Union([
    literal('invalid_message'),
    literal('invalid_auth'),
    literal('too_many_subscriptions'),
    literal('resume_unavailable'),
  ]),
  detail: Text,
  code: Type.Optional(Type.String({ description: 'of the refusal; the node always sends it' })),
  stream_id: Type.Optional(Text),
  sequence: Type.Optional(Digits),
});
export type Problem = Static<typeof ProblemEvent>;

export function invalid(detail: string): Problem {
  return { error: 'invalid_message', detail };
}

interface StreamRow {
  readonly does: string;
  readonly message: TSchema;
  /** Further messages of clients, by `op`. */
  readonly requests: Readonly<Record<string, { readonly does: string; readonly schema: TSchema }>>;
  readonly events: Readonly<Record<string, { readonly sent: string; readonly schema: TSchema }>>;
}

/** Both streams with their messages by event_type; `error` has none. */
export const STREAM_TABLE = {
  '/ws/market': {
    does: 'books, price changes and trades of markets; open to everybody',
    message: MarketMessage,
    requests: {},
    events: {
      book: { sent: 'on subscribing, and after each match', schema: BookEvent },
      price_change: { sent: 'levels changed, for any reason', schema: PriceChangeEvent },
      last_trade_price: { sent: 'each match, once for each price', schema: LastTradePriceEvent },
      tick_size_change: { sent: 'the tick changed', schema: TickSizeChangeEvent },
      best_bid_ask: { sent: 'a best price changed; custom', schema: BestBidAskEvent },
      new_market: { sent: 'the catalog brought a market; custom', schema: NewMarketEvent },
      market_resolved: {
        sent: 'the holders of a market have been paid; custom',
        schema: MarketResolvedEvent,
      },
      subscription: { sent: 'the answer to a message with `ack`', schema: SubscriptionEvent },
      error: { sent: 'a message cannot be carried out', schema: ProblemEvent },
    },
  },
  '/ws/user': {
    does: "a wallet's own orders, trades and balances, and requests that place and cancel orders; the first message carries its credentials",
    message: UserMessage,
    requests: REQUESTS,
    events: {
      order: { sent: 'placed, filled in part or whole, ended', schema: OrderEvent },
      trade: {
        sent: 'matched, and confirmed at once, or retried first; then it may fail',
        schema: TradeEvent,
      },
      balance: {
        sent: 'a batch touched cash or shares of the wallet; custom, with a ledger',
        schema: BalanceEvent,
      },
      resumed: { sent: 'the answer to `resume`; missed messages follow', schema: ResumedEvent },
      answer: { sent: 'the answer to a request, once it is durable', schema: AnswerEvent },
      subscription: { sent: 'the answer to a message with `ack`', schema: SubscriptionEvent },
      error: { sent: 'a message cannot be carried out', schema: ProblemEvent },
    },
  },
} as const satisfies Readonly<Record<string, StreamRow>>;
