/** GET /trades: what it is asked (SPEC 4.1) and what it answers (SPEC 2, Trade). */

import { errorBody } from '../common/contract.ts';
import type { QuerySpec } from '../common/query.ts';
import { Type } from '../common/schema.ts';
import { PAGE_MAX, parseTradesQuery, type TradesQuery } from './trades-query.ts';

const Text = Type.String();
const Side = Type.Union([Type.Literal('BUY'), Type.Literal('SELL')]);

/** Unknown names are refused here, which no other route does. */
export const TRADES_QUERY: QuerySpec<TradesQuery> = {
  schema: Type.Object(
    {
      limit: Type.Optional(Type.Integer({ minimum: 0, maximum: PAGE_MAX, default: 100 })),
      offset: Type.Optional(Type.Integer({ minimum: 0, maximum: PAGE_MAX, default: 0 })),
      takerOnly: Type.Optional(Type.Boolean({ default: true })),
      filterType: Type.Optional(Type.Union([Type.Literal('CASH'), Type.Literal('TOKENS')])),
      filterAmount: Type.Optional(Type.Number({ minimum: 0 })),
      market: Type.Optional(Type.String({ description: 'condition ids, comma-separated' })),
      user: Type.Optional(Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' })),
      side: Type.Optional(Side),
    },
    { additionalProperties: false },
  ),
  parse(query) {
    const parsed = parseTradesQuery(query);
    return parsed.ok ? parsed.query : errorBody(parsed.error);
  },
};

export const TradesAnswer = Type.Array(
  Type.Object(
    {
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
    },
    { additionalProperties: false },
  ),
);
