/**
 * Requests and answers of the data API, except GET /trades: positions, holders, open interest and activity. Existing
 * clients read these field names.
 */
import { MICRO } from '../../engine/tables/units.ts';
import {
  amount,
  choice,
  type DataQueryOf,
  dataQuery,
  flag,
  integer,
  list,
  text,
  wallet,
} from '../common/data-query.ts';
import { Type } from '../common/schema.ts';
import { RowTokenId, TradeRow } from '../market-data/trades-schemas.ts';

const LIMIT_MAX = 500;
const OFFSET_MAX = 10_000;
const TITLE_MAX = 100;

const DIRECTIONS = ['ASC', 'DESC'] as const;
const conditions = list('condition ids, comma-separated');
const ofMarkets = { market: conditions, eventId: list('ids of events, comma-separated') };

const POSITIONS = {
  user: wallet(true),
  ...ofMarkets,
  /** Micro-shares, with a sign. */
  sizeThreshold: amount(MICRO),
  redeemable: flag(undefined),
  mergeable: flag(undefined),
  title: text(TITLE_MAX),
  limit: integer(LIMIT_MAX, 100),
  offset: integer(OFFSET_MAX, 0),
  sortBy: choice(
    [
      'CURRENT',
      'INITIAL',
      'TOKENS',
      'CASHPNL',
      'PERCENTPNL',
      'TITLE',
      'RESOLVING',
      'PRICE',
      'AVGPRICE',
    ],
    'TOKENS',
  ),
  sortDirection: choice(DIRECTIONS, 'DESC'),
};
export const POSITIONS_QUERY = dataQuery(POSITIONS);
export type PositionsQuery = DataQueryOf<typeof POSITIONS>;

const CLOSED = {
  user: wallet(true),
  ...ofMarkets,
  title: text(TITLE_MAX),
  limit: integer(LIMIT_MAX, 50),
  offset: integer(OFFSET_MAX, 0),
  sortBy: choice(['REALIZEDPNL', 'TITLE', 'PRICE', 'AVGPRICE', 'TIMESTAMP'], 'REALIZEDPNL'),
  sortDirection: choice(DIRECTIONS, 'DESC'),
};
export const CLOSED_QUERY = dataQuery(CLOSED);
export type ClosedQuery = DataQueryOf<typeof CLOSED>;

const ACTIVITY = {
  user: wallet(true),
  ...ofMarkets,
  /** Other types than TRADE need a ledger; REWARD and CONVERSION never occur. */
  type: list('TRADE, SPLIT, MERGE, REDEEM, MAKER_REBATE, REWARD, CONVERSION, comma-separated'),
  /** Unix seconds, both inclusive. */
  start: integer(Number.MAX_SAFE_INTEGER, 0),
  end: integer(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
  side: choice(['BUY', 'SELL'], ''),
  limit: integer(LIMIT_MAX, 100),
  offset: integer(OFFSET_MAX, 0),
  sortBy: choice(['TIMESTAMP', 'TOKENS', 'CASH'], 'TIMESTAMP'),
  sortDirection: choice(DIRECTIONS, 'DESC'),
};
export const ACTIVITY_QUERY = dataQuery(ACTIVITY);
export type ActivityQuery = DataQueryOf<typeof ACTIVITY>;

export const VALUE_QUERY = dataQuery({ user: wallet(true), market: conditions });
export const TRADED_QUERY = dataQuery({ user: wallet(true) });
export const HOLDERS_QUERY = dataQuery({
  market: { ...conditions, isRequired: true },
  limit: integer(LIMIT_MAX, 20),
  /** Micro-shares. */
  minBalance: amount(MICRO),
});
export const INTEREST_QUERY = dataQuery({ market: conditions });
export const LIVE_VOLUME_QUERY = dataQuery({ id: { ...text(TITLE_MAX), isRequired: true } });

const CATEGORIES = [
  ...(['OVERALL', 'POLITICS', 'SPORTS', 'CRYPTO', 'CULTURE', 'MENTIONS'] as const),
  ...(['WEATHER', 'ECONOMICS', 'TECH', 'FINANCE'] as const),
];
const LEADERBOARD = {
  timePeriod: choice(['DAY', 'WEEK', 'MONTH', 'ALL', 'SEASON'], 'DAY'),
  orderBy: choice(['PNL', 'VOL'], 'PNL'),
  category: choice(CATEGORIES, 'OVERALL'),
  user: wallet(false),
  limit: integer(50, 25),
  offset: integer(1_000, 0),
};
export const LEADERBOARD_QUERY = dataQuery(LEADERBOARD);
export type LeaderboardQuery = DataQueryOf<typeof LEADERBOARD>;

const Text = Type.String();
const Amount = Type.Number();
const OfToken = {
  title: Text,
  slug: Text,
  icon: Text,
  eventSlug: Text,
  outcome: Text,
  outcomeIndex: Type.Integer(),
  oppositeOutcome: Text,
  oppositeAsset: Text,
  endDate: Text,
  negativeRisk: Type.Boolean(),
};
const positionMembers = {
  proxyWallet: Text,
  asset: Text,
  token_id: RowTokenId,
  conditionId: Text,
  size: Amount,
  avgPrice: Amount,
  initialValue: Amount,
  currentValue: Amount,
  cashPnl: Amount,
  percentPnl: Amount,
  totalBought: Amount,
  realizedPnl: Amount,
  percentRealizedPnl: Amount,
  curPrice: Amount,
  redeemable: Type.Boolean(),
  mergeable: Type.Boolean(),
  timestamp: Type.Integer({ description: 'of the newest fill, unix seconds' }),
  ...OfToken,
};
/** Types of rows of activity that occur. */
const TYPES = ['TRADE', 'SPLIT', 'MERGE', 'REDEEM', 'MAKER_REBATE'] as const;
export type ActivityType = (typeof TYPES)[number];
const SIDES = ['BUY', 'SELL', ''] as const;
export const ActivityAnswer = Type.Array(
  Type.Object(
    {
      ...TradeRow,
      side: Type.Union(
        SIDES.map((side) => Type.Literal(side)),
        {
          description: 'empty of all but trades, as asset, token_id and outcome are',
        },
      ),
      type: Type.Union(TYPES.map((type) => Type.Literal(type))),
    },
    { additionalProperties: false },
  ),
);
export const PositionsAnswer = Type.Array(
  Type.Object(positionMembers, { additionalProperties: false }),
);

export const ValueAnswer = Type.Array(Type.Object({ user: Text, value: Amount }));
export const TradedAnswer = Type.Object({ user: Text, traded: Type.Integer() });
export const InterestAnswer = Type.Array(Type.Object({ market: Text, value: Amount }));
export const LiveVolumeAnswer = Type.Array(
  Type.Object({
    total: Amount,
    markets: Type.Array(Type.Object({ market: Text, value: Amount })),
  }),
);
export const HoldersAnswer = Type.Array(
  Type.Object({
    token: Text,
    holders: Type.Array(
      Type.Object({
        proxyWallet: Text,
        asset: Text,
        amount: Amount,
        outcomeIndex: Type.Integer(),
        name: Text,
        pseudonym: Text,
        bio: Text,
        profileImage: Text,
        profileImageOptimized: Text,
        displayUsernamePublic: Type.Boolean(),
      }),
    ),
  }),
);
export const LeaderboardAnswer = Type.Array(
  Type.Object({
    rank: Type.String({ pattern: '^[1-9][0-9]*$' }),
    proxyWallet: Text,
    userName: Text,
    vol: Type.Number({ description: 'shares of both sides' }),
    pnl: Type.Number({ description: 'realised profit of the period' }),
    profileImage: Text,
    xUsername: Text,
    verifiedBadge: Type.Boolean(),
  }),
);
