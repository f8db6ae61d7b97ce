/**
 * Requests and answers of the routes of own orders and trades, and of API keys. Rules:
 * docs/protocol.md#own-orders-and-trades, #api-keys
 *
 * A well-formed value that names nothing gives an empty result; a malformed value is refused.
 */

import { CONDITION_SOURCE } from '../../storage/catalog/condition-ids.ts';
import { boundsOf } from '../common/json-measure.ts';
import { compileQuery } from '../common/query.ts';
import { type Static, Type } from '../common/schema.ts';
import { TRADE_STATUSES } from '../market-data/trade-status.ts';
import { DELAYED_TEXT } from '../orders/intake/order-states.ts';
import { OWN_WALLET } from './agent-schemas.ts';
import { PAGE_SIZE } from './pages.ts';

const Decimal = Type.String({ pattern: '^\\d+(?:\\.\\d+)?$' });
const OrderId = Type.String({ pattern: '^0x[0-9a-f]{64}$' });
const Uuid = Type.String({ pattern: '^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$' });
const Wallet = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' });
const Side = Type.Union([Type.Literal('BUY'), Type.Literal('SELL')]);
const Seconds = Type.String({ pattern: '^\\d+$', description: 'unix seconds' });

const condition = Type.Optional(
  Type.String({ pattern: CONDITION_SOURCE, description: 'a condition id' }),
);
const tokenId = Type.Optional(Type.String({ pattern: '^[0-9]{1,78}$', description: 'a token id' }));
const wallet = Type.Optional(
  Type.String({ pattern: '^0x[0-9a-fA-F]{40}$', description: 'a wallet address' }),
);
const time = Type.Optional(Type.Integer({ minimum: 0, description: 'unix seconds' }));
const cursor = Type.Optional(
  Type.String({ error: 'invalid next_cursor', description: 'a cursor of the page before' }),
);

export const ORDER_PATH = compileQuery(Type.Object({ id: Type.String() }), ['id']);

const OrdersQueryShape = Type.Object({
  id: Type.Optional(
    Type.String({ pattern: '^0x[0-9a-fA-F]{64}$', description: 'the id of an order' }),
  ),
  market: condition,
  asset_id: tokenId,
  maker: wallet,
  maker_address: wallet,
  wallet: OWN_WALLET,
  next_cursor: cursor,
});
export const ORDERS_QUERY = compileQuery(OrdersQueryShape);

const TradesQueryShape = Type.Object({
  id: Type.Optional(Type.String({ description: 'the id of a trade' })),
  market: condition,
  asset_id: tokenId,
  maker_address: wallet,
  taker: wallet,
  maker: wallet,
  before: time,
  after: time,
  next_cursor: cursor,
});
export const OWN_TRADES_QUERY = compileQuery(TradesQueryShape);
export type OwnTradesQuery = Static<typeof TradesQueryShape>;

const STATUSES = ['live', 'matched', 'canceled', DELAYED_TEXT] as const;
const Status = Type.Union(
  [...STATUSES, ...STATUSES.map((name) => name.toUpperCase())].map((name) => Type.Literal(name)),
  { description: 'upper case with ORDER_STATUS=upper' },
);

export const OwnOrderAnswer = Type.Object({
  id: OrderId,
  status: Status,
  reason: Type.String({ description: 'why it ended; empty while it is open' }),
  market: OrderId,
  asset_id: Type.String(),
  outcome: Type.String(),
  owner: Uuid,
  maker_address: Wallet,
  side: Side,
  original_size: Decimal,
  size_matched: Decimal,
  price: Decimal,
  order_type: Type.String(),
  expiration: Seconds,
  associate_trades: Type.Array(Uuid),
  created_at: Type.Integer({ description: 'unix seconds' }),
});

const OwnTradeAnswer = Type.Object({
  id: Uuid,
  taker_order_id: OrderId,
  market: OrderId,
  asset_id: Type.String(),
  outcome: Type.String(),
  side: Side,
  size: Decimal,
  fee_rate_bps: Type.String(),
  price: Decimal,
  status: Type.Union(TRADE_STATUSES.map((status) => Type.Literal(status))),
  match_time: Seconds,
  last_update: Seconds,
  bucket_index: Type.Integer(),
  owner: Uuid,
  maker_address: Wallet,
  transaction_hash: Type.String({
    pattern: '^(?:0x[0-9a-f]{64})?$',
    description: '"" until it is confirmed',
  }),
  trader_side: Type.Union([Type.Literal('TAKER'), Type.Literal('MAKER')]),
  type: Type.String(),
  maker_orders: Type.Array(
    Type.Object({
      order_id: OrderId,
      owner: Uuid,
      maker_address: Wallet,
      matched_amount: Decimal,
      price: Decimal,
      fee_rate_bps: Type.String(),
      asset_id: Type.String(),
      outcome: Type.String(),
      side: Side,
    }),
  ),
});

const pageOf = <Row extends typeof OwnOrderAnswer | typeof OwnTradeAnswer>(row: Row) =>
  Type.Object({
    data: Type.Array(row),
    next_cursor: Type.String(),
    limit: Type.Literal(PAGE_SIZE),
    count: Type.Integer(),
  });

export const OwnOrdersAnswer = pageOf(OwnOrderAnswer);
export const OwnTradesAnswer = pageOf(OwnTradeAnswer);

const UUID = '^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$';
const Key = Type.String({ pattern: UUID });

const RevokeQueryShape = Type.Object({
  apiKey: Type.Optional(Type.String({ pattern: UUID, description: 'an API key' })),
});
export const REVOKE_QUERY = compileQuery(RevokeQueryShape);
export type RevokeQuery = Static<typeof RevokeQueryShape>;

const ValidateQueryShape = Type.Object({
  address: Type.String({ pattern: '^0x[0-9a-fA-F]{40}$', description: 'a wallet address' }),
  key: Type.String({ pattern: UUID, description: 'a read-only key' }),
});
export const VALIDATE_QUERY = compileQuery(ValidateQueryShape);
export type ValidateQuery = Static<typeof ValidateQueryShape>;

export const ReadOnlyKeyBody = Type.Object({ key: Key });
export const KEY_BOUNDS = boundsOf(1);

export const ApiKeysAnswer = Type.Array(Key);
export const RevokedAnswer = Type.Object({ revoked: Type.Literal(true) });
export const ClosedOnlyAnswer = Type.Object({
  closed_only: Type.Boolean(),
  closedOnly: Type.Boolean(),
});
export const ReadOnlyKeyAnswer = Type.Object({ apiKey: Key });
export const ReadOnlyKeysAnswer = Type.Object({ readonlyApiKeys: Type.Array(Key) });
export const ValidAnswer = Type.Literal('valid');
