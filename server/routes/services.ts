/**
 * Composition of the services behind the handlers, and the routes of a running node.
 *
 * Thread: I/O.
 */
import { ledgerIsOn } from '../../engine/ledger/reads.ts';
import { MICRO } from '../../engine/tables/units.ts';
import type { PositionsReader, StatementsReader } from '../../storage/projection/reader.ts';
import type { Auth } from '../auth/auth.ts';
import { walletFactories } from '../auth/wallet-factory.ts';
import type { CatalogGeneration } from '../catalog/catalog-generation.ts';
import { CATALOG_FAILURE, CatalogHandlers } from '../catalog/catalog-routes.ts';
import { conditionsOfEvent } from '../catalog/market-info.ts';
import { tradingMarkets } from '../catalog/trading-markets.ts';
import { errorBody } from '../common/error-bodies.ts';
import type { Config } from '../config/config.ts';
import type { Route } from '../http/http.ts';
import { HandlerLimits } from '../http/limits/handler-limits.ts';
import { handlersOfLists, type ServicesOf } from '../http/route.ts';
import type { HistoryService } from '../market-data/history-service.ts';
import { type TokenRouteParts, TokenRouteReads } from '../market-data/token-routes.ts';
import { TopReader } from '../market-data/top.ts';
import type { TradesRenderer } from '../market-data/trades-render.ts';
import type { Heartbeats } from '../orders/cancel/heartbeats.ts';
import type { AppliedSequence } from '../orders/intake/applied-sequence.ts';
import type { OrderIntake } from '../orders/intake/order-intake.ts';
import { AccountReads, type AccountRouteParts } from '../wallet/account-routes.ts';
import { Faucet } from '../wallet/faucet.ts';
import type { LedgerCommands } from '../wallet/ledger-commands.ts';
import { PortfolioReads } from '../wallet/portfolio-routes.ts';
import { documentsOf } from './documented.ts';
import { exchangesOf, NodeInfo, type NodeInfoParts } from './node-info.ts';
import { ROUTE_LISTS, servedRows } from './route-table.ts';
import { type Forwarding, serveTable } from './serve.ts';
import { withPublicTrades, withTradingMarkets } from './shared-paths.ts';

/** Parts of a node that its routes use. */
interface RouteParts
  extends AccountRouteParts,
    Omit<NodeInfoParts, 'seconds'>,
    Omit<TokenRouteParts, 'tops'> {
  readonly config: Config;
  readonly auth: Auth;
  readonly trades: TradesRenderer;
  readonly positions: PositionsReader;
  readonly statements: StatementsReader;
  readonly history: HistoryService;
  readonly heartbeats: Pick<Heartbeats, 'beat'>;
  /** The current catalog generation; an answer reads one generation. */
  readonly catalog: () => CatalogGeneration;
  /** Undefined on a read-only node. */
  readonly ledger: LedgerCommands | undefined;
  /** The newest durable batch. */
  readonly applied: AppliedSequence;
  /** Requests that change orders go through these. */
  readonly lines: OrderIntake;
  /** Undefined where this node decides everything. */
  readonly forwarder: Forwarding | undefined;
  /** Market time, in unix milliseconds. */
  readonly now: () => number;
  /** Unix milliseconds against which credentials are judged. */
  readonly wall: () => number;
  readonly warn: (line: string) => void;
}

const MS = 1_000;

/** Routes of a running node, at the root and under the base path of each API. */
export function nodeRoutes(parts: RouteParts): Route[] {
  const { config, rates } = parts;
  const seconds = (): number => Math.floor(parts.wall() / MS);
  const limits = rates === undefined ? undefined : new HandlerLimits(rates.late, parts.wall);
  const { tradesAllowlist: allowlist, tradesFields } = config;
  const isTolerant = tradesFields === 'ignore';
  const markets = tradingMarkets(parts);
  const catalog = new CatalogHandlers({
    generation: parts.catalog,
    forClients: config.catalogObjects === 'clients',
    errors: config.catalogErrors,
  });
  const services: ServicesOf<typeof ROUTE_LISTS> = {
    node: new NodeInfo({ ...parts, seconds }),
    keys: { auth: parts.auth, config, limits, faucet: faucetOf(parts) },
    orders: { lines: parts.lines, limits },
    heartbeats: parts,
    account: new AccountReads(parts),
    statement: parts,
    ledger: { ...parts, exchanges: exchangesOf(config), factories: walletFactories(config) },
    tokens: new TokenRouteReads({ ...parts, tops: new TopReader(parts.tables) }),
    history: parts,
    trades: { trades: parts.trades, allowlist, isTolerant },
    documents: documentsOf(config),
    portfolio: new PortfolioReads({
      ...parts,
      index: parts.tradesIndex,
      allowlist,
      isTolerant,
      eventMarkets: (id) => conditionsOfEvent(parts.catalog().prepared, id),
    }),
    catalog,
    sampling: catalog.answers,
    tradingMarkets: markets,
    liveActivity: { trades: parts.trades, allowlist },
    programs: undefined,
  };
  const handlers = handlersOfLists(ROUTE_LISTS, services);
  const routes = serveTable(
    {
      auth: parts.auth,
      credentialPrefix: config.credentialPrefix,
      catalogErrors: config.catalogErrors,
      maxBatchOrders: config.maxBatchOrders,
      rows: servedRows(config),
      seconds,
      rateLimits: config.rateLimits,
      applied: parts.applied,
      forwarder: parts.forwarder,
      failures: { catalog: () => CATALOG_FAILURE, data: dataFailure },
    },
    config.marketRoutes === 'catalog' ? handlers : withTradingMarkets(handlers, markets),
  );
  return config.dataTrades === 'own' ? routes : withPublicTrades(routes, handlers['GET /trades']);
}

/** Undefined where new keys bring no money. */
function faucetOf({ config, ledger, now, tables, warn }: RouteParts): Faucet | undefined {
  if (config.faucet === 0 || ledger === undefined || !ledgerIsOn(tables)) return undefined;
  return new Faucet({ tables, ledger, now, warn, amount: config.faucet * MICRO });
}

function dataFailure(error: unknown): string {
  return errorBody('INTERNAL_ERROR', '', {
    text: `internal_error: ${error instanceof Error ? error.message : 'unexpected'}`,
  });
}
