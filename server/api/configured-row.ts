/**
 * Rows of the route table under a configuration: what an answer looks like, what a body may be, and
 * what a parameter means, where a row of profile.ts changes that.
 *
 * Thread: any.
 */
import { ApiKeysAnswer } from '../account/account-schemas.ts';
import { boundsOf } from '../common/json-measure.ts';
import { type TSchema, Type } from '../common/schema.ts';
import type { Config } from '../config/config.ts';
import { PRICE_PATH_BID, PRICE_QUERY_BID } from '../market-data/token-schemas.ts';
import { TradesAnswer } from '../market-data/trades-schemas.ts';
import { ORDER_EXAMPLE, ORDER_EXAMPLE_2 } from '../orders/order-example.ts';
import * as orders from '../orders/schemas.ts';
import type { RouteRow } from './route-row.ts';
import { ROUTE_TABLE, type RouteKey } from './route-table.ts';
import { SHARED_ANSWERS } from './shared-paths.ts';

const PRICE_BID = 'best price: `token_id`, `side` BUY (the best bid) or SELL (the best ask)';

/** The rows that are served under a configuration. */
export function servedRoutes({ readyRoute }: Pick<Config, 'readyRoute'>): RouteKey[] {
  const keys = Object.keys(ROUTE_TABLE) as RouteKey[];
  return readyRoute ? keys : keys.filter((key) => key !== 'GET /ready');
}

export function configuredRow(key: RouteKey, config: Config): RouteRow {
  const row: RouteRow = ROUTE_TABLE[key];
  return { ...row, ...changes(key, row, config) };
}

function changes(key: RouteKey, { answer }: RouteRow, config: Config): Partial<RouteRow> {
  switch (key) {
    case 'POST /order':
      return { body: orderItem(config), example: orderExample(config) };
    case 'POST /replace':
      return { body: orders.replaceOf(orderItem(config)) };
    case 'POST /orders':
      return {
        body: Type.Array(orderItem(config), { minItems: 1 }),
        example: [orderExample(config)],
        bodyBounds: boundsOf(config.maxBatchOrders),
      };
    case 'GET /auth/api-keys':
      if (config.apiKeysAnswer === 'array') return {};
      return { answer: Type.Object({ apiKeys: ApiKeysAnswer }) };
    case 'DELETE /auth/api-key':
    case 'DELETE /auth/derive-api-key':
      return config.revokedAnswer === 'object' ? {} : { answer: Type.Literal('OK') };
    case 'GET /price':
      return config.priceOfBuy === 'ask' ? {} : { query: PRICE_QUERY_BID, does: PRICE_BID };
    case 'GET /price/:token_id':
      return config.priceOfBuy === 'ask' ? {} : { query: PRICE_PATH_BID };
    case 'GET /data/trades':
      return config.dataTrades === 'own' ? {} : { answer: Type.Union([answer, TradesAnswer]) };
    default:
      if (config.marketRoutes === 'catalog' || !(key in SHARED_ANSWERS)) return {};
      return { answer: Type.Union([answer, SHARED_ANSWERS[key as keyof typeof SHARED_ANSWERS]]) };
  }
}

function orderExample({ orderVersion }: Config): object {
  return orderVersion === '2' ? ORDER_EXAMPLE_2 : ORDER_EXAMPLE;
}

/** An item of an order in the versions that are taken. */
function orderItem({ orderVersion, resolveConditionId }: Config): TSchema {
  const first = resolveConditionId ? orders.ConditionlessItemShape : orders.OrderItemShape;
  const second = resolveConditionId ? orders.ConditionlessItemShape2 : orders.OrderItemShape2;
  if (orderVersion === 'both') return Type.Union([first, second]);
  return orderVersion === '1' ? first : second;
}
