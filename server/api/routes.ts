import { ledgerIsOn } from '../../engine/ledger/reads.ts';
import { MICRO } from '../../engine/tables/units.ts';
import type { PositionsReader, StatementsReader } from '../../storage/projection/reader.ts';
import { type AccountRouteParts, accountHandlers } from '../account/account-routes.ts';
import { heartbeatHandlers } from '../account/heartbeat-routes.ts';
import type { Heartbeats } from '../account/heartbeats.ts';
import { keyHandlers } from '../account/key-routes.ts';
import { CATALOG_FAILURE, catalogRoutes } from '../catalog/catalog-routes.ts';
import type { Generation } from '../catalog/generation.ts';
import { conditionsOfEvent } from '../catalog/market-info.ts';
import { tradingMarketHandlers } from '../catalog/trading-markets.ts';
import { errorBody, NOT_ALLOWED_ADDRESS } from '../common/error-bodies.ts';
import type { Config } from '../config/config.ts';
import { documentHandlers } from '../documents/document-routes.ts';
import type { Route } from '../http/http.ts';
import { ignoredHeaders } from '../http/ignored.ts';
import { LateLimits } from '../http/late-limits.ts';
import type { Auth } from '../identity/auth.ts';
import { walletFactories } from '../identity/wallet-factory.ts';
import { Faucet } from '../ledger/faucet.ts';
import type { LedgerCommands } from '../ledger/ledger-commands.ts';
import { ledgerHandlers } from '../ledger/ledger-routes.ts';
import { statementHandlers } from '../ledger/statement-routes.ts';
import type { HistoryKeeper } from '../market-data/history-keeper.ts';
import { historyHandlers } from '../market-data/history-routes.ts';
import { liveActivityHandlers } from '../market-data/live-activity.ts';
import { type TokenRouteParts, tokenHandlers } from '../market-data/token-routes.ts';
import { TopReader } from '../market-data/top.ts';
import type { TradesRenderer } from '../market-data/trades-render.ts';
import { TRADES_QUERY } from '../market-data/trades-schemas.ts';
import type { AppliedSequence } from '../orders/applied-sequence.ts';
import { orderHandlers } from '../orders/order-routes.ts';
import type { OrderTaker } from '../orders/order-taker.ts';
import { portfolioHandlers } from '../portfolio/portfolio-routes.ts';
import { configuredRow, servedRoutes } from './configured-row.ts';
import { documentsOf } from './documented.ts';
import { exchangesOf, type InfoParts, infoHandlers } from './node-info.ts';
import { PROGRAM_HANDLERS } from './programs.ts';
import type { ROUTE_TABLE } from './route-table.ts';
import { type Forwarding, type HeaderHandler, serveTable } from './serve.ts';
import { type TradingMarkets, withPublicTrades, withTradingMarkets } from './shared-paths.ts';

/** What the rooms need, and what is put together for them here. */
export interface RouteParts
  extends AccountRouteParts,
    Omit<InfoParts, 'seconds'>,
    Omit<TokenRouteParts, 'tops'> {
  readonly config: Config;
  readonly auth: Auth;
  readonly trades: TradesRenderer;
  readonly positions: PositionsReader;
  readonly statements: StatementsReader;
  readonly history: HistoryKeeper;
  readonly heartbeats: Pick<Heartbeats, 'beat'>;
  /** The generation of the catalog in use; an answer is made of one. */
  readonly catalog: () => Generation;
  /** Undefined where nothing can be written. */
  readonly ledger: LedgerCommands | undefined;
  /** The newest batch that is durable. */
  readonly applied: AppliedSequence;
  /** Requests that change orders go through these. */
  readonly lines: OrderTaker;
  /** Undefined where this node decides everything. */
  readonly forwarder: Forwarding | undefined;
  /** Market time, in unix milliseconds. */
  readonly now: () => number;
  /** Unix milliseconds by which credentials are judged. */
  readonly wall: () => number;
  readonly warn: (line: string) => void;
}

const MS = 1_000;

export function nodeRoutes(parts: RouteParts): Route[] {
  const { config } = parts;
  const seconds = (): number => Math.floor(parts.wall() / MS);
  const tops = new TopReader(parts.tables);
  const { rates } = parts;
  const limits = rates === undefined ? undefined : new LateLimits(rates.late, parts.wall);
  const markets = tradingMarketHandlers(parts);
  const publicTrades = tradesHandler(parts);
  const routes = serveTable(
    {
      auth: parts.auth,
      credentialPrefix: config.credentialPrefix,
      catalogErrors: config.catalogErrors,
      maxBatchOrders: config.maxBatchOrders,
      served: servedRoutes(config),
      rowOf: (key) => configuredRow(key, config),
      seconds,
      rateLimits: config.rateLimits,
      applied: parts.applied,
      forwarder: parts.forwarder,
      failures: { catalog: () => CATALOG_FAILURE, data: dataFailure },
    },
    {
      ...infoHandlers({ ...parts, seconds }),
      ...keyHandlers(parts.auth, config, limits, faucetOf(parts)),
      ...ledgerHandlers({
        ...parts,
        exchanges: exchangesOf(config),
        factories: walletFactories(config),
      }),
      ...tokenHandlers({ ...parts, tops }),
      ...historyHandlers(parts),
      ...orderHandlers(parts.lines, limits),
      ...accountHandlers(parts),
      ...statementHandlers(parts),
      ...heartbeatHandlers(parts.heartbeats),
      'GET /trades': publicTrades,
      ...portfolioHandlers({
        ...parts,
        index: parts.tradesIndex,
        allowlist: config.tradesAllowlist,
        isTolerant: config.tradesFields === 'ignore',
        eventMarkets: (id) => conditionsOfEvent(parts.catalog().prepared, id),
      }),
      ...catalogHandlers(parts, markets),
      ...markets.handlers,
      ...liveActivityHandlers(parts.trades, config.tradesAllowlist),
      ...PROGRAM_HANDLERS,
      ...documentHandlers(documentsOf(config)),
    },
  );
  return config.dataTrades === 'own' ? routes : withPublicTrades(routes, publicTrades);
}

/** Undefined where no key brings money. */
function faucetOf({ config, ledger, now, tables, warn }: RouteParts): Faucet | undefined {
  if (config.faucet === 0 || ledger === undefined || !ledgerIsOn(tables)) return undefined;
  return new Faucet({ tables, ledger, now, warn, amount: config.faucet * MICRO });
}

/** GET /trades: the allow-list comes before the query (docs/protocol.md#data-api-queries). */
function tradesHandler({ config, trades }: RouteParts): HeaderHandler {
  const isTolerant = config.tradesFields === 'ignore';
  const isListed = config.tradesAllowlist.entries.length > 0;
  return {
    headers: [],
    query: TRADES_QUERY,
    run(context) {
      // An address costs a call into the HTTP server; without a list nobody asks for it.
      if (isListed && !config.tradesAllowlist.allows(context.address)) {
        return context.reply(401, NOT_ALLOWED_ADDRESS);
      }
      const ignored: string[] = [];
      const query = TRADES_QUERY.parse(context.query, [], isTolerant ? ignored : undefined);
      if (typeof query === 'string') return context.reply(400, query);
      const headers = ignoredHeaders(ignored);
      const page = trades.render(query);
      if (page instanceof Promise) return page.then((rows) => context.reply(200, rows, headers));
      return context.replyTransient(200, page, headers);
    },
  };
}

type CatalogKey = Extract<
  keyof typeof ROUTE_TABLE,
  | `GET /markets${string}`
  | `GET /events${string}`
  | `GET /series${string}`
  | `GET /tags${string}`
  | 'GET /public-search'
  | `GET /sampling${string}`
>;

/** The catalog's routes read their headers and queries themselves. */
function catalogHandlers({ catalog, config }: RouteParts, markets: TradingMarkets) {
  const handlers: Record<string, HeaderHandler> = {};
  const forClients = config.catalogObjects === 'clients';
  const errors = config.catalogErrors;
  for (const route of catalogRoutes({ generation: catalog, forClients, errors })) {
    handlers[`${route.method} ${route.path}`] = route;
  }
  const byKey = handlers as Record<CatalogKey, HeaderHandler>;
  return config.marketRoutes === 'catalog' ? byKey : withTradingMarkets(byKey, markets);
}

function dataFailure(error: unknown): string {
  return errorBody(`internal_error: ${error instanceof Error ? error.message : 'unexpected'}`);
}
