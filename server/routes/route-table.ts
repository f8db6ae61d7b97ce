/**
 * Every route of the public API: the lists of all folders, in the order of docs/reference/api.md. Router, OpenAPI document, rate
 * limits and client types are made from it.
 *
 * Thread: any. Not here: handlers of a running node (services.ts).
 */
import { CATALOG_ROUTES } from '../catalog/catalog-routes.ts';
import { PUBLIC_PROFILE_ROUTES } from '../catalog/public-profile-routes.ts';
import { SAMPLING_ROUTES } from '../catalog/sampling-routes.ts';
import { TRADING_MARKET_ROUTES } from '../catalog/trading-markets.ts';
import { FEED_ROUTES } from '../data-v2/feed-routes.ts';
import { MARKET_ROUTES } from '../data-v2/market-routes.ts';
import { POSITION_ROUTES } from '../data-v2/position-routes.ts';
import { RESOLUTION_ROUTES } from '../data-v2/resolution-routes.ts';
import { RESULT_ROUTES } from '../data-v2/result-routes.ts';
import { SERVICE_ROUTES } from '../data-v2/service-routes.ts';
import { coveredBy } from '../faults/covered.ts';
import { FAULT_ROUTES } from '../faults/fault-routes.ts';
import { PostOnlyAnswer } from '../faults/fault-schemas.ts';
import type { DefinedRoute, RouteGroup, RouteRow, RouteSettings } from '../http/route.ts';
import { LIQUIDITY_ROUTES } from '../liquidity/liquidity-routes.ts';
import { HISTORY_ROUTES } from '../market-data/history-routes.ts';
import { LIVE_ACTIVITY_ROUTES } from '../market-data/live-activity.ts';
import { TOKEN_ROUTES } from '../market-data/token-routes.ts';
import { TRADES_ROUTES } from '../market-data/trades-routes.ts';
import { MCP_ROUTES } from '../mcp/mcp-routes.ts';
import { HEARTBEAT_ROUTES } from '../orders/cancel/heartbeat-routes.ts';
import { ORDER_ROUTES } from '../orders/intake/order-routes.ts';
import { RELAYER_ROUTES } from '../relayer/relayer-routes.ts';
import { ACCOUNT_ROUTES } from '../wallet/account-routes.ts';
import { AGENT_ROUTES } from '../wallet/agent-routes.ts';
import { DEPLOYED_ROUTES } from '../wallet/deployed-routes.ts';
import { INVITE_ROUTES } from '../wallet/invite-routes.ts';
import { KEY_ROUTES } from '../wallet/key-routes.ts';
import { LEDGER_ROUTES } from '../wallet/ledger-routes.ts';
import { PORTFOLIO_ROUTES } from '../wallet/portfolio-routes.ts';
import { PREVIEW_ROUTES } from '../wallet/preview-routes.ts';
import { PROFILE_ROUTES } from '../wallet/profile-routes.ts';
import { REBATE_ROUTES } from '../wallet/rebate-routes.ts';
import { SEASON_ROUTES } from '../wallet/season-routes.ts';
import { STATEMENT_ROUTES } from '../wallet/statement-routes.ts';
import { APP_ROUTES } from './app-routes.ts';
import { DOCUMENT_ROUTES } from './document-routes.ts';
import { NODE_ROUTES } from './node-info.ts';
import { PROGRAM_ROUTES } from './programs.ts';

export const ROUTE_LISTS = {
  node: NODE_ROUTES,
  keys: KEY_ROUTES,
  invites: INVITE_ROUTES,
  orders: ORDER_ROUTES,
  previews: PREVIEW_ROUTES,
  heartbeats: HEARTBEAT_ROUTES,
  faults: FAULT_ROUTES,
  account: ACCOUNT_ROUTES,
  statement: STATEMENT_ROUTES,
  ledger: LEDGER_ROUTES,
  agents: AGENT_ROUTES,
  deployed: DEPLOYED_ROUTES,
  relayer: RELAYER_ROUTES,
  rebates: REBATE_ROUTES,
  tokens: TOKEN_ROUTES,
  history: HISTORY_ROUTES,
  liquidity: LIQUIDITY_ROUTES,
  trades: TRADES_ROUTES,
  documents: DOCUMENT_ROUTES,
  app: APP_ROUTES,
  mcp: MCP_ROUTES,
  portfolio: PORTFOLIO_ROUTES,
  results: RESULT_ROUTES,
  seasons: SEASON_ROUTES,
  profile: PROFILE_ROUTES,
  data: [
    ...FEED_ROUTES,
    ...POSITION_ROUTES,
    ...MARKET_ROUTES,
    ...RESOLUTION_ROUTES,
    ...SERVICE_ROUTES,
  ],
  catalog: CATALOG_ROUTES,
  publicProfiles: PUBLIC_PROFILE_ROUTES,
  sampling: SAMPLING_ROUTES,
  tradingMarkets: TRADING_MARKET_ROUTES,
  liveActivity: LIVE_ACTIVITY_ROUTES,
  programs: PROGRAM_ROUTES,
};

type ListName = keyof typeof ROUTE_LISTS;

const LIST_GROUPS: Readonly<Record<ListName, RouteGroup>> = {
  node: 'node',
  keys: 'keys',
  invites: 'keys',
  orders: 'orders',
  previews: 'orders',
  heartbeats: 'orders',
  faults: 'node',
  account: 'account',
  statement: 'account',
  ledger: 'account',
  agents: 'account',
  deployed: 'account',
  relayer: 'account',
  rebates: 'account',
  tokens: 'books',
  history: 'books',
  liquidity: 'books',
  trades: 'data',
  documents: 'node',
  app: 'node',
  mcp: 'node',
  portfolio: 'data',
  results: 'data',
  seasons: 'data',
  profile: 'account',
  data: 'data',
  catalog: 'catalog',
  publicProfiles: 'catalog',
  sampling: 'trading markets',
  tradingMarkets: 'trading markets',
  liveActivity: 'trading markets',
  programs: 'programs',
};

export type RouteKey = (typeof ROUTE_LISTS)[ListName][number]['key'];

export type GroupedRow = RouteRow & { readonly group: RouteGroup };

export const ROUTE_TABLE = Object.fromEntries(
  Object.entries(ROUTE_LISTS).flatMap(([name, routes]: [string, readonly DefinedRoute[]]) =>
    routes.map(({ key, row }) => [key, { group: LIST_GROUPS[name as ListName], ...row }]),
  ),
) as Readonly<Record<RouteKey, GroupedRow>>;

export function servedRows(settings: RouteSettings): ReadonlyMap<RouteKey, GroupedRow> {
  const rows = Object.entries(ROUTE_TABLE) as [RouteKey, GroupedRow][];
  const served = rows.filter(([, row]) => row.served?.(settings) !== false);
  return new Map(
    served.map(([key, row]) => {
      const restarts = settings.faults !== 'off' && coveredBy(key, row).has('orders');
      const marks = restarts ? ({ restarts, unavailable: PostOnlyAnswer } as const) : {};
      return [key, { ...row, ...row.configured?.(settings), ...marks, group: row.group }];
    }),
  );
}
