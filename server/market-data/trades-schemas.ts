/** Query and answer of GET /trades (docs/protocol.md#public-trades). */

import {
  amount,
  choice,
  type DataQueryOf,
  dataQuery,
  flag,
  integer,
  list,
  wallet,
} from '../common/data-query.ts';
import { errorBody } from '../common/error-bodies.ts';
import type { QuerySpec } from '../common/query.ts';
import { Type } from '../common/schema.ts';

const Text = Type.String();
const Side = Type.Union([Type.Literal('BUY'), Type.Literal('SELL')]);

/** Id of a token if `asset` of a row is not it (TRADES_ASSET=outcome). */
export const RowTokenId = Type.Optional(
  Type.String({
    description: 'id of the token, as in all other routes; with TRADES_ASSET=token `asset` is it',
  }),
);

export const TradeRow = {
  proxyWallet: Text,
  side: Side,
  asset: Text,
  token_id: RowTokenId,
  conditionId: Text,
  size: Type.Number(),
  price: Type.Number(),
  timestamp: Type.Integer(),
  usdcSize: Type.Number(),
  title: Text,
  slug: Text,
  icon: Text,
  eventSlug: Text,
  outcome: Text,
  outcomeIndex: Type.Integer(),
  name: Text,
  pseudonym: Text,
  bio: Text,
  profileImage: Text,
  profileImageOptimized: Text,
  transactionHash: Text,
};

export const TradesAnswer = Type.Array(Type.Object(TradeRow, { additionalProperties: false }));

/** Bound of limit and of offset: docs/protocol.md#public-trades. */
export const PAGE_MAX = 10_000;
const ABSENT = -1;

const FIELDS = {
  limit: integer(PAGE_MAX, 100),
  offset: integer(PAGE_MAX, 0),
  takerOnly: flag(true),
  /** Compares filterAmount with usdcSize or size; '' = no comparison. */
  filterType: choice(['CASH', 'TOKENS'], ''),
  /** Micro-units; rows with at least this amount pass. */
  filterAmount: amount(ABSENT),
  /** Condition ids. Any other text names no market. */
  market: list('condition ids, comma-separated'),
  user: wallet(false),
  side: choice(['BUY', 'SELL'], ''),
};
const QUERY = dataQuery(FIELDS);

export type TradesQuery = DataQueryOf<typeof FIELDS>;

const NO_AMOUNT = errorBody(
  'INVALID_FIELD',
  'filterType needs filterAmount, a decimal number from 0',
  { text: 'invalid_field: filterAmount' },
);

export const TRADES_QUERY: QuerySpec<TradesQuery> = {
  schema: QUERY.schema,
  parse(text, fromPath, ignored) {
    const query = QUERY.parse(text, fromPath, ignored);
    if (typeof query === 'string' || query.filterType === '') return query;
    return query.filterAmount === ABSENT ? NO_AMOUNT : query;
  },
};
