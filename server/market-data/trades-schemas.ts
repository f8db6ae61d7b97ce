/** GET /trades: its query and its answer (docs/protocol.md#public-trades). */

import { specOf } from '../common/data-query.ts';
import type { QuerySpec } from '../common/query.ts';
import { Type } from '../common/schema.ts';
import { parseTradesQuery, TRADES_SCHEMA, type TradesQuery } from './trades-query.ts';

const Text = Type.String();
const Side = Type.Union([Type.Literal('BUY'), Type.Literal('SELL')]);

/** Unknown names are refused here; no other route does that. */
export const TRADES_QUERY: QuerySpec<TradesQuery> = specOf({
  schema: TRADES_SCHEMA,
  parse: parseTradesQuery,
});

export const TradeRow = {
  proxyWallet: Text,
  side: Side,
  asset: Text,
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
