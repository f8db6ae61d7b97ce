/**
 * Every route of the public API: the lists of all folders, in the order of docs/reference/api.md. Router, OpenAPI document, rate
 * limits and client types are made from it.
 *
 * Thread: any. Not here: handlers of a running node (services.ts).
 */
import { CATALOG_ROUTES } from '../catalog/catalog-routes.ts';
import { SAMPLING_ROUTES } from '../catalog/sampling-routes.ts';
import { TRADING_MARKET_ROUTES } from '../catalog/trading-markets.ts';
import type { DefinedRoute, RouteGroup, RouteRow, RouteSettings } from '../http/route.ts';
import { HISTORY_ROUTES } from '../market-data/history-routes.ts';
import { LIVE_ACTIVITY_ROUTES } from '../market-data/live-activity.ts';
import { TOKEN_ROUTES } from '../market-data/token-routes.ts';
import { TRADES_ROUTES } from '../market-data/trades-routes.ts';
import { HEARTBEAT_ROUTES } from '../orders/cancel/heartbeat-routes.ts';
import { ORDER_ROUTES } from '../orders/intake/order-routes.ts';
import { ACCOUNT_ROUTES } from '../wallet/account-routes.ts';
import { KEY_ROUTES } from '../wallet/key-routes.ts';
import { LEDGER_ROUTES } from '../wallet/ledger-routes.ts';
import { PORTFOLIO_ROUTES } from '../wallet/portfolio-routes.ts';
import { STATEMENT_ROUTES } from '../wallet/statement-routes.ts';
import { DOCUMENT_ROUTES } from './document-routes.ts';
import { NODE_ROUTES } from './node-info.ts';
import { PROGRAM_ROUTES } from './programs.ts';

export const ROUTE_LISTS = {
  node: NODE_ROUTES,
  keys: KEY_ROUTES,
  orders: ORDER_ROUTES,
  heartbeats: HEARTBEAT_ROUTES,
  account: ACCOUNT_ROUTES,
  statement: STATEMENT_ROUTES,
  ledger: LEDGER_ROUTES,
  tokens: TOKEN_ROUTES,
  history: HISTORY_ROUTES,
  trades: TRADES_ROUTES,
  documents: DOCUMENT_ROUTES,
  portfolio: PORTFOLIO_ROUTES,
  catalog: CATALOG_ROUTES,
  sampling: SAMPLING_ROUTES,
  tradingMarkets: TRADING_MARKET_ROUTES,
  liveActivity: LIVE_ACTIVITY_ROUTES,
  programs: PROGRAM_ROUTES,
};

type ListName = keyof typeof ROUTE_LISTS;

/** Groups of the OpenAPI document, for rows that name none. */
const LIST_GROUPS: Readonly<Record<ListName, RouteGroup>> = {
  node: 'node',
  keys: 'keys',
  orders: 'orders',
  heartbeats: 'orders',
  account: 'account',
  statement: 'account',
  ledger: 'account',
  tokens: 'books',
  history: 'books',
  trades: 'data',
  documents: 'node',
  portfolio: 'data',
  catalog: 'catalog',
  sampling: 'trading markets',
  tradingMarkets: 'trading markets',
  liveActivity: 'trading markets',
  programs: 'programs',
};

export type RouteKey = (typeof ROUTE_LISTS)[ListName][number]['key'];

/** Row that names its group. */
export type GroupedRow = RouteRow & { readonly group: RouteGroup };

export const ROUTE_TABLE = Object.fromEntries(
  Object.entries(ROUTE_LISTS).flatMap(([name, routes]: [string, readonly DefinedRoute[]]) =>
    routes.map(({ key, row }) => [key, { group: LIST_GROUPS[name as ListName], ...row }]),
  ),
) as Readonly<Record<RouteKey, GroupedRow>>;

/** Served rows under these settings, with their configured members. */
export function servedRows(settings: RouteSettings): ReadonlyMap<RouteKey, GroupedRow> {
  const rows = Object.entries(ROUTE_TABLE) as [RouteKey, GroupedRow][];
  const served = rows.filter(([, row]) => row.served?.(settings) !== false);
  return new Map(
    served.map(([key, row]) => [key, { ...row, ...row.configured?.(settings), group: row.group }]),
  );
}
