/**
 * Composition of the services behind the handlers, and the routes of a running node.
 *
 * Thread: I/O.
 */
import { ledgerIsOn } from '../../engine/ledger/reads.ts';
import { MICRO } from '../../engine/tables/units.ts';
import type {
  PositionsReader,
  RebatesReader,
  ResultsReader,
  StatementsReader,
} from '../../storage/projection/reader.ts';
import type { Auth } from '../auth/auth.ts';
import { publishedContract3 } from '../auth/exchange-domains.ts';
import type { Profiles } from '../auth/profiles.ts';
import { type WalletFactories, walletFactories } from '../auth/wallet-factory.ts';
import type { CatalogGeneration } from '../catalog/catalog-generation.ts';
import { CATALOG_FAILURE, CatalogHandlers } from '../catalog/catalog-routes.ts';
import { conditionsOfEvent, eventOfCondition } from '../catalog/market-info.ts';
import type { PublicProfileParts } from '../catalog/public-profile-routes.ts';
import { tradingMarkets } from '../catalog/trading-markets.ts';
import { errorBody } from '../common/error-bodies.ts';
import type { Config } from '../config/config.ts';
import { contract3Of } from '../config/signing-domains.ts';
import { dataService } from '../data-v2/data-service.ts';
import type { ResultRouteParts } from '../data-v2/result-routes.ts';
import { withFaults } from '../faults/request-faults.ts';
import type { Method, Route } from '../http/http.ts';
import { HandlerLimits } from '../http/limits/handler-limits.ts';
import { handlersOfLists, type ServicesOf } from '../http/route.ts';
import type { LiquidityRouteParts } from '../liquidity/liquidity-routes.ts';
import type { HistoryService } from '../market-data/history-service.ts';
import { outcomeNames } from '../market-data/registered.ts';
import { type TokenRouteParts, TokenRouteReads } from '../market-data/token-routes.ts';
import { TopReader } from '../market-data/top.ts';
import { TradesPages } from '../market-data/trades-pages.ts';
import type { TradesRenderer } from '../market-data/trades-render.ts';
import { McpService } from '../mcp/mcp-routes.ts';
import type { ToolProtocol } from '../mcp/protocol.ts';
import type { Heartbeats } from '../orders/cancel/heartbeats.ts';
import type { AppliedSequence } from '../orders/intake/applied-sequence.ts';
import type { OrderIntake } from '../orders/intake/order-intake.ts';
import { Relayer } from '../relayer/relayer.ts';
import type { Operation } from '../streams/order-requests.ts';
import { OPERATION_NAMES, OPERATIONS } from '../streams/request-frames.ts';
import { AccountReads, type AccountRouteParts } from '../wallet/account-routes.ts';
import { AgentService } from '../wallet/agent-routes.ts';
import type { Exchanges } from '../wallet/approval-table.ts';
import { DeployedWallets } from '../wallet/deployed-wallets.ts';
import { Faucet } from '../wallet/faucet.ts';
import { isInvited } from '../wallet/invitations.ts';
import type { LedgerCommands } from '../wallet/ledger-commands.ts';
import { PortfolioReads } from '../wallet/portfolio-routes.ts';
import { ProfitPoints } from '../wallet/profit-points.ts';
import { isAgentOfInvited, WalletAccess } from '../wallet/wallet-access.ts';
import { AppFiles } from './app-files.ts';
import { appIsOn } from './app-routes.ts';
import { documentsOf } from './documented.ts';
import { exchangesOf, NodeInfo, type NodeInfoParts } from './node-info.ts';
import { ROUTE_LISTS, servedRows } from './route-table.ts';
import { type Forwarding, serveTable } from './serve.ts';
import { withPublicTrades, withTradingMarkets } from './shared-paths.ts';

interface RouteParts
  extends Omit<AccountRouteParts, 'access'>,
    Omit<NodeInfoParts, 'hasPage' | 'seconds'>,
    Omit<TokenRouteParts, 'tops'> {
  readonly config: Config;
  readonly auth: Auth;
  readonly trades: TradesRenderer;
  readonly positions: PositionsReader;
  readonly statements: StatementsReader;
  readonly results: ResultsReader;
  readonly profiles: Profiles;
  /** Names by number of the season. */
  readonly seasonNames: ReadonlyMap<number, string>;
  readonly rebates: RebatesReader;
  readonly history: HistoryService;
  readonly liquidity: LiquidityRouteParts['liquidity'];
  readonly heartbeats: Pick<Heartbeats, 'take'>;
  /** The current catalog generation; an answer reads one generation. */
  readonly catalog: () => CatalogGeneration;
  /** Undefined on a read-only node. */
  readonly ledger: LedgerCommands | undefined;
  readonly applied: AppliedSequence;
  readonly intake: OrderIntake;
  readonly forwarder: Forwarding | undefined;
  /** Undefined with MCP=off. */
  readonly toolProtocol: ToolProtocol | undefined;
  /** Market time, in unix milliseconds. */
  readonly now: () => number;
  /** Unix milliseconds against which credentials are judged. */
  readonly wall: () => number;
  readonly warn: (line: string) => void;
}

const MS = 1_000;

export interface NodeRoutes {
  readonly routes: readonly Route[];
  /** Operations of the user stream, in the order of `OPERATION_NAMES`. */
  readonly operations: readonly Operation[];
}

export function nodeRoutes(parts: RouteParts): NodeRoutes {
  const { config, rates } = parts;
  const limits = rates === undefined ? undefined : new HandlerLimits(rates.late, parts.wall);
  const { tradesAllowlist: allowlist, tradesFields } = config;
  const isTolerant = tradesFields === 'ignore';
  const markets = tradingMarkets(parts);
  const catalog = new CatalogHandlers({
    generation: parts.catalog,
    forClients: config.catalogObjects === 'clients',
    errors: config.catalogErrors,
  });
  const factories = walletFactories(config);
  const access = new WalletAccess({ ...parts, factories });
  const portfolio = new PortfolioReads({
    ...parts,
    index: parts.tradesIndex,
    allowlist,
    isTolerant,
    eventMarkets: eventMarketsOf(parts),
  });
  const app = appIsOn(config) ? AppFiles.read(parts.warn) : undefined;
  const tools =
    parts.toolProtocol &&
    new McpService(parts.toolProtocol, { ...parts, ...config, seconds: () => secondsOf(parts) });
  const services: ServicesOf<typeof ROUTE_LISTS> = {
    node: new NodeInfo({ ...parts, seconds: () => secondsOf(parts), hasPage: app !== undefined }),
    keys: { auth: parts.auth, config, limits, faucet: faucetOf(parts), admits: admission(parts) },
    invites: { ...parts, limits },
    orders: { intake: parts.intake, limits },
    previews: { ...parts, access, factories, isBanned: parts.auth.isBanned },
    heartbeats: parts,
    faults: { faults: parts.faults, isCluster: config.cluster !== undefined },
    account: new AccountReads({ ...parts, access }),
    statement: { ...parts, access },
    ledger: { ...parts, access, exchanges: exchangesOf(config), factories },
    agents: new AgentService({ ...parts, factories }),
    ...relayServices(parts, factories),
    rebates: parts,
    tokens: new TokenRouteReads({ ...parts, tops: new TopReader(parts.tables) }),
    history: parts,
    liquidity: liquidityService(parts),
    trades: {
      trades: parts.trades,
      pages: new TradesPages(parts.tradesIndex, parts.texts),
      allowlist,
      isTolerant,
    },
    documents: documentsOf(config),
    app,
    mcp: tools,
    portfolio,
    results: resultService(parts, portfolio),
    seasons: { ...parts, leaderboard: portfolio.leaderboard, allowlist },
    profile: { profiles: parts.profiles, factories },
    data: dataServiceOf(parts, portfolio),
    catalog,
    publicProfiles: publicProfiles(parts),
    sampling: catalog.answers,
    tradingMarkets: markets,
    liveActivity: { trades: parts.trades, allowlist },
    programs: undefined,
  };
  const made = routesOf(parts, services);
  tools?.open(made.routes);
  return made;
}

/** Unix seconds. */
function secondsOf({ wall }: RouteParts): number {
  return Math.floor(wall() / MS);
}

function routesOf(parts: RouteParts, services: ServicesOf<typeof ROUTE_LISTS>): NodeRoutes {
  const { config } = parts;
  const rows = servedRows(config);
  const made = handlersOfLists(ROUTE_LISTS, services);
  const handlers = withFaults(parts.faults, { ...parts, now: parts.wall }, made, rows);
  const routes = serveTable(
    {
      auth: parts.auth,
      credentialPrefix: config.credentialPrefix,
      catalogErrors: config.catalogErrors,
      maxBatchOrders: config.maxBatchOrders,
      rows,
      seconds: () => secondsOf(parts),
      rateLimits: config.rateLimits,
      applied: parts.applied,
      forwarder: parts.forwarder,
      failures: { catalog: () => CATALOG_FAILURE, data: dataFailure },
    },
    config.marketRoutes === 'catalog'
      ? handlers
      : withTradingMarkets(handlers, services.tradingMarkets),
  );
  return {
    routes:
      config.dataTrades === 'own' ? routes : withPublicTrades(routes, handlers['GET /trades']),
    operations: OPERATION_NAMES.map((name) => {
      const key = OPERATIONS[name];
      const [method, path] = key.split(' ') as [Method, string];
      const { limits, places } = rows.get(key)!;
      const isForwarded = (): boolean => places !== true && parts.forwarder?.isNeeded() === true;
      return { name, method, path, limits, isForwarded, handler: handlers[key] };
    }),
  };
}

/** Service of boards, profit and volume. */
function resultService(parts: RouteParts, portfolio: PortfolioReads): ResultRouteParts {
  return {
    allowlist: parts.config.tradesAllowlist,
    results: parts.results,
    holdings: portfolio.holdings,
    leaderboard: portfolio.leaderboard,
    names: portfolio.names,
    points: new ProfitPoints(parts.results, parts.now),
    eventOf: (condition) => eventOfCondition(parts.catalog().prepared, condition),
  };
}

/** Service of the other lists below /v2. */
function dataServiceOf(parts: RouteParts, { holdings, names }: PortfolioReads) {
  const { config } = parts;
  return dataService({
    ...parts,
    holdings,
    names,
    index: parts.tradesIndex,
    allowlist: config.tradesAllowlist,
    eventMarkets: eventMarketsOf(parts),
    chainId: config.chainId,
    exchanges: newestExchanges(config),
    newest: () => parts.applied.newest,
    shownName: (wallet) => parts.profiles.shownName(wallet),
    prepared: () => parts.catalog().prepared,
  });
}

/** Contracts of the newest order version of each form of market. */
function newestExchanges(config: Config): Exchanges {
  return {
    normal: config.exchangeAddress2,
    negRisk: config.negRiskExchangeAddress2,
    positions: contract3Of(config) ?? publishedContract3(config.chainId),
  };
}

/** Services of wallets that are known by their owners. */
function relayServices(parts: RouteParts, factories: WalletFactories) {
  const { auth, config } = parts;
  const deployed = new DeployedWallets(() => auth.registry.owners, factories);
  const relayer = new Relayer({
    ...parts,
    chainId: config.chainId,
    deployed,
    exchanges: newestExchanges(config),
    olderExchanges: [config.exchangeAddress, config.negRiskExchangeAddress],
    factories,
  });
  return { deployed, relayer };
}

function liquidityService(parts: RouteParts): LiquidityRouteParts {
  const { config, infos, liquidity, tables } = parts;
  return {
    tables,
    allowlist: config.tradesAllowlist,
    liquidity,
    namesOf: (market) => outcomeNames(tables, market, infos(market)),
    slugOf: (market) => infos(market)?.slug,
  };
}

function publicProfiles({ config, profiles, tables }: RouteParts): PublicProfileParts {
  return {
    tables,
    errors: config.catalogErrors,
    shownName: (wallet) => profiles.shownName(wallet),
  };
}

/** Look-up of the condition ids of a catalog event. */
function eventMarketsOf({ catalog }: RouteParts): (id: string) => Promise<readonly string[]> {
  return (id) => conditionsOfEvent(catalog().prepared, id);
}

function admission({ config, tables }: RouteParts): (address: Uint8Array) => boolean {
  if (!config.invites) return () => true;
  return (address) => isInvited(tables, address) || isAgentOfInvited(tables, address);
}

/** Undefined also where each invitation brings its own cash. */
function faucetOf({ config, ledger, now, tables, warn }: RouteParts): Faucet | undefined {
  const { faucet, invites } = config;
  if (faucet === 0 || invites || ledger === undefined || !ledgerIsOn(tables)) return undefined;
  return new Faucet({ tables, ledger, now, warn, amount: faucet * MICRO });
}

function dataFailure(error: unknown): string {
  return errorBody('INTERNAL_ERROR', '', {
    text: `internal_error: ${error instanceof Error ? error.message : 'unexpected'}`,
  });
}
