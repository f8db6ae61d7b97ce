/**
 * Groups of routes in the OpenAPI document, in its order: the most read ones first, the node itself last.
 *
 * Thread: any; pure.
 */
import type { RouteGroup } from '../http/route.ts';

export const GROUPS: Readonly<Record<RouteGroup, string>> = {
  orders: 'placing, replacing and cancelling orders; cancel on silence',
  books: 'books, prices and terms of tokens, price history',
  account: 'own orders, trades and money',
  keys: 'API keys: issued, listed, revoked',
  data: 'fills, positions, holders, activity',
  catalog: 'events, markets, series, tags, search',
  'trading markets': 'markets in the shapes of the trading API; volumes',
  programs: 'rewards, builders, notifications and scoring, which this node does not have',
  node: 'state, limits, version and documents of the node',
};
