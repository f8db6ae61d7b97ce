/** What GET /trades answers (docs/protocol.md#public-trades). */

import { Type } from '../common/schema.ts';

const Text = Type.String();
const Side = Type.Union([Type.Literal('BUY'), Type.Literal('SELL')]);

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
