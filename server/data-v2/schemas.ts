/**
 * Shapes of the answers below /v2, as clients of the other service read them. Rules: docs/protocol.md#rows-of-the-data-api-v2
 *
 * Thread: any. Data.
 */
import { Type } from '../common/schema.ts';

const Text = Type.String();
const Amount = Type.Number();
const Seconds = Type.Integer({ description: 'unix seconds' });
const SecondsOrNone = Type.Integer({ description: 'unix seconds; 0 = none is known' });
const Time = Type.String({ description: 'RFC 3339' });

const MARKET_MEMBERS = {
  title: Text,
  slug: Text,
  icon: Text,
  event_slug: Text,
  outcome: Text,
  outcome_index: Type.Integer({ description: '999 = of no single outcome' }),
};
const PROFILE_MEMBERS = {
  name: Text,
  pseudonym: Text,
  bio: Text,
  profile_image: Text,
  profile_image_optimized: Text,
};

export const TRADE_SIDES = ['BUY', 'SELL'] as const;
/** Types of activity; the others are those of programs that this node does not run. */
export const ACTIVITY_TYPES = [
  'TRADE',
  'SPLIT',
  'MERGE',
  'REDEEM',
  'REWARD',
  'CONVERSION',
  'MIGRATION',
  'MAKER_REBATE',
  'TAKER_REBATE',
  'REFERRAL_REWARD',
  'YIELD',
  'DEPOSIT',
  'WITHDRAWAL',
  'TIP',
] as const;

const TradeMembers = {
  proxy_wallet: Text,
  token_id: Text,
  condition_id: Text,
  size: Amount,
  price: Amount,
  timestamp: Seconds,
  ...MARKET_MEMBERS,
  ...PROFILE_MEMBERS,
  transaction_hash: Text,
};
export const DataTrade = Type.Object({
  ...TradeMembers,
  side: Type.Union(TRADE_SIDES.map((side) => Type.Literal(side))),
});

export const DataActivity = Type.Object({
  ...TradeMembers,
  side: Type.Union([...TRADE_SIDES, ''].map((side) => Type.Literal(side))),
  usdc_size: Amount,
  type: Type.Union(ACTIVITY_TYPES.map((type) => Type.Literal(type))),
});

export const POSITION_STATUSES = [
  'OPEN',
  'REDEEMABLE',
  'REDEEMABLE_LOST',
  'MERGEABLE',
  'CLOSED',
] as const;

/** Members of a position that holders show too. */
const GAIN_MEMBERS = {
  avg_price: Amount,
  entry_cost_usdc: Amount,
  current_price: Amount,
  current_value: Amount,
  realized_pnl: Amount,
  unrealized_pnl: Amount,
  total_pnl: Amount,
};

export const DataPosition = Type.Object(
  {
    proxy_wallet: Text,
    token_id: Text,
    condition_id: Text,
    current_size: Amount,
    ...GAIN_MEMBERS,
    entry_fees_usdc: Amount,
    total_cost_usdc: Amount,
    total_size: Amount,
    percent_pnl: Amount,
    percent_realized_pnl: Amount,
    status: Type.Union(POSITION_STATUSES.map((status) => Type.Literal(status))),
    redeemable: Type.Boolean(),
    mergeable: Type.Boolean(),
    negative_risk: Type.Boolean(),
    archived: Type.Boolean(),
    ...MARKET_MEMBERS,
    event_id: Text,
    opposite_outcome: Text,
    opposite_token_id: Text,
    end_date: Type.String({ description: 'YYYY-MM-DD; 1970-01-01 = none' }),
    last_event_at: SecondsOrNone,
    first_entry_at: SecondsOrNone,
    name: Text,
    profile_image: Text,
    verified: Type.Boolean(),
  },
  { additionalProperties: false },
);

export const PortfolioValue = Type.Object({ proxy_wallet: Text, value: Type.Number() });
const DataHolder = Type.Object({
  proxy_wallet: Text,
  token_id: Text,
  amount: Type.Number(),
  outcome_index: Type.Integer(),
  ...PROFILE_MEMBERS,
  display_username_public: Type.Boolean(),
  verified: Type.Boolean(),
  ...Type.Partial(Type.Object(GAIN_MEMBERS)).properties,
});
export const DataHolders = Type.Object({ token_id: Text, holders: Type.Array(DataHolder) });

export const DataOpenInterest = Type.Array(
  Type.Object({ condition_id: Text, value: Type.Number() }),
);
export const DataLiveVolume = Type.Object({
  taker_volume_total: Type.Number({ description: 'shares' }),
  conditions: Type.Array(Type.Object({ condition_id: Text, taker_volume: Type.Number() })),
});
export const DataPricePoint = Type.Object({
  timestamp: Seconds,
  price: Type.Number(),
  resolution_seconds: Type.Integer({ description: 'width of the bucket; 0 = the payout' }),
});
const RESOLUTION_STATES = ['resolved', 'proposed', 'posed'] as const;
export const DataResolutions = Type.Array(
  Type.Object({
    condition_id: Type.String(),
    status: Type.Union(RESOLUTION_STATES.map((status) => Type.Literal(status))),
    extended_review: Type.Literal(false),
    was_disputed: Type.Literal(false),
    new_version_q: Type.Literal(false),
    transaction_hash: Type.Literal(''),
    log_index: Type.Literal(''),
    last_update_timestamp: Time,
    payouts: Type.Optional(
      Type.Array(Type.Integer({ description: 'micro-units of collateral of a share' })),
    ),
    resolution_source: Type.Optional(Type.Literal('reported')),
    was_arbitrated: Type.Optional(Type.Literal(false)),
    resolved_at: Type.Optional(Time),
    resolution_note: Type.Optional(
      Type.String({ description: 'note of the operator on the payout or proposal' }),
    ),
  }),
);

export const DataApprovals = Type.Object({
  address: Text,
  chain_id: Type.Integer(),
  checked_at: Time,
  contracts: Type.Array(
    Type.Object({
      id: Text,
      feature: Text,
      token: Text,
      spender: Text,
      standard: Type.Union([Type.Literal('ERC20'), Type.Literal('ERC1155')]),
      amount: Type.Optional(Type.Literal('max')),
      approved: Type.Boolean(),
    }),
  ),
});
export const DataStatus = Type.Object({
  computed_at: Time,
  age_seconds: Type.Integer(),
  serving: Type.Object({
    lag_seconds: Type.Integer(),
    worst: Text,
    mechanisms: Type.Array(Type.Object({ name: Text, age_seconds: Type.Integer() })),
  }),
  ingestion: Type.Object({
    cursors: Type.Integer(),
    chain_id: Type.Integer(),
    max_synced_block: Type.Integer({ description: 'newest batch sequence of the log' }),
    lagging: Type.Array(Type.Unknown(), { maxItems: 0 }),
  }),
});
