/**
 * Groups of routes in the OpenAPI document, in the order in which its page shows them: what most readers look for comes
 * first, what describes the node itself last.
 *
 * Thread: any; pure.
 */
export type DocumentedApi = 'catalog' | 'data' | 'trading';

interface Group {
  readonly name: string;
  readonly description: string;
  /** Undefined where routes of every API may belong to it. */
  readonly api?: DocumentedApi;
  /** Paths of its routes; a route of its API belongs to the first group whose paths match. */
  readonly paths: RegExp;
}

const ANY = /^\//;

export const GROUPS: readonly Group[] = [
  {
    name: 'orders',
    description: 'placing, replacing and cancelling orders; cancel on silence',
    api: 'trading',
    paths: /^\/(?:orders?|replace|cancel-all|cancel-market-orders|(?:v1\/)?heartbeats)$/,
  },
  {
    name: 'books',
    description: 'books, prices and terms of tokens, price history',
    api: 'trading',
    paths:
      /^\/(?:books?|prices?|midpoints?|spreads?|last-trade-price|last-trades-prices|tick-size|neg-risk|fee-rate|prices-history|batch-prices-history)(?:\/|$)/,
  },
  {
    name: 'account',
    description: 'own orders, trades and money',
    api: 'trading',
    paths: /^\/(?:data\/orders?|data\/trades|balance-allowance|ledger|split|merge)(?:\/|$)/,
  },
  {
    name: 'keys',
    description: 'API keys: issued, listed, revoked',
    api: 'trading',
    paths: /^\/auth\//,
  },
  {
    name: 'data',
    description: 'fills, positions, holders, activity',
    api: 'data',
    paths: ANY,
  },
  {
    name: 'catalog',
    description: 'events, markets, series, tags, search',
    api: 'catalog',
    paths: /^\/(?!gamma\/status$)/,
  },
  {
    name: 'trading markets',
    description: 'markets in the shapes of the trading API; volumes',
    api: 'trading',
    paths:
      /^\/(?:clob|sampling-markets|sampling-simplified-markets|simplified-markets|clob-markets|markets-by-token|live-activity|markets|data\/volumes)(?:\/|$)/,
  },
  {
    name: 'programs',
    description: 'rewards, builders, notifications and scoring, which this node does not have',
    api: 'trading',
    paths:
      /^\/(?:rewards|builder|fees|notifications|order-scoring|orders-scoring|data\/pre-migration-orders)(?:\/|$)/,
  },
  {
    name: 'node',
    description: 'state, limits, version and documents of the node',
    paths: ANY,
  },
];

/** The group of a route, as its place in GROUPS. @param key method and path */
export function groupOf(key: string, api: DocumentedApi): number {
  const path = key.slice(key.indexOf(' ') + 1);
  return GROUPS.findIndex((group) => (group.api ?? api) === api && group.paths.test(path));
}
