/**
 * Composition of the public port: routes and streams over the open services.
 *
 * Thread: I/O. Not here: routes (server/routes), streams (server/streams).
 */
import { StoredClosedOrders } from '../../storage/projection/closed-orders.ts';
import {
  PositionsReader,
  RebatesReader,
  ResultsReader,
  StatementsReader,
} from '../../storage/projection/reader.ts';
import { type Auth, openAuth, refusalOfKey } from '../auth/auth.ts';
import { uuidText } from '../auth/credentials.ts';
import { marketLifecycleLookup } from '../catalog/market-info.ts';
import type { ContradictionFacts } from '../common/contradictions.ts';
import type { Config } from '../config/config.ts';
import type { Faults } from '../faults/faults.ts';
import { type HttpServer, listen } from '../http/http.ts';
import type { RateControl } from '../http/limits/rate-control.ts';
import type { RequestCounts } from '../http/request-counts.ts';
import type { Liquidity } from '../liquidity/liquidity.ts';
import { BookRenderer } from '../market-data/books.ts';
import { type MarketLookup, TokenTexts } from '../market-data/texts.ts';
import { TradesRenderer } from '../market-data/trades-render.ts';
import type { OrderIntake } from '../orders/intake/order-intake.ts';
import type { After } from '../paper/delayed-queues.ts';
import type { MirrorFacts } from '../paper/mirror-facts.ts';
import { httpOptions } from '../routes/http-options.ts';
import { nodeRoutes } from '../routes/services.ts';
import { FaultySockets } from '../streams/faulty-sockets.ts';
import type { Operation, OrderRequestParts } from '../streams/order-requests.ts';
import type { StreamLimits } from '../streams/stream-bounds.ts';
import { type StreamParts, Streams } from '../streams/streams.ts';
import type { NodeParts } from './node-parts.ts';
import type { Play } from './play.ts';
import type { NodeOptions } from './running-node.ts';

/** Longest wait of a subscription for a key that another node may have issued. */
const KEY_MS_MAX = 1_000;
const MS = 1_000;

interface PortParts {
  /** `undefined` with RATE_LIMITS=off. */
  readonly rates: RateControl | undefined;
  /** `undefined` when metrics are off. */
  readonly counts: RequestCounts | undefined;
  readonly contradictions: () => ContradictionFacts;
  readonly mirrorFacts: () => MirrorFacts | undefined;
  /** Returns `undefined` without a ledger, and before it is open. */
  readonly liquidity: () => Liquidity | undefined;
  readonly play: Play | undefined;
  /** `undefined` with FAULTS=off. */
  readonly faults: Faults | undefined;
}

export interface OpenPort {
  readonly server: HttpServer;
  readonly streams: Streams;
}

export async function openPort(
  options: NodeOptions,
  parts: NodeParts,
  { contradictions, counts, faults, liquidity, mirrorFacts, play, rates }: PortParts,
): Promise<OpenPort> {
  const { config, log } = options;
  const { authSkewSeconds, chainId, credentialPrefix } = config;
  const { authority, catalog, clock, control, history, infos, registry } = parts;
  const { tables, tradesIndex, writer } = parts;
  const { member } = authority;
  const { applied, commits, ledger, pauses, sequenceLock, whenBatchesDone } = writer;
  const { now, wall } = clock;
  const isBanned = (address: string): boolean => control.bans.has(address);
  const lookup: MarketLookup = (market) => infos.find(market);
  const texts = new TokenTexts(tables, lookup, config.tradesAsset, () => infos.pinnedLookup());
  const books = new BookRenderer(tables, texts);
  const shared = { now, tables, texts, books, whenBatchesDone, venue: registry.venue };
  const intake = await delayed(writer.intake, config, play?.after);
  const faulty = faults && new FaultySockets(faults, tables);
  const auth = openAuth(credentialPrefix, chainId, authSkewSeconds, registry, isBanned);
  const { operations, routes } = nodeRoutes({
    ...shared,
    ...readersOf(parts, texts),
    wall,
    commits,
    history,
    tradesIndex,
    applied,
    auth,
    config,
    ledger,
    intake,
    liquidity,
    pauses,
    rates,
    sequenceLock,
    contradictions,
    profiles: control.profiles,
    message: () => control.message,
    seasonNames: control.seasons,
    faults,
    heartbeats: parts.heartbeats,
    mode: parts.mode,
    progress: parts.progress,
    forwarder: member?.forwarder,
    toolProtocol: parts.toolProtocol,
    infos: lookup,
    catalog: () => catalog.current,
    clock: parts.clockFacts,
    mirror: mirrorFacts,
    play: () => play?.facts(),
    warn: (line) => log('warn', line),
  });
  const orders = orderRequests(parts, auth, operations);
  const streams = openStreams(options, parts, { ...shared, lookup, faulty, orders });
  member?.serve({ applied, intake, routes }, (key) => refusalOfKey(auth, uuidText(key)));
  const server = await listen(
    routes,
    {
      ...httpOptions(config, (line, fields) => log('warn', line, fields), counts, rates),
      sequence: () => applied.newest,
      ...(member && { isStale: member.isStale }),
    },
    streams.routes,
  );
  streams.open(server.publish);
  return { server, streams };
}

function openStreams(
  { config, log }: NodeOptions,
  parts: NodeParts,
  shared: Pick<
    StreamParts,
    | 'books'
    | 'faulty'
    | 'lookup'
    | 'now'
    | 'orders'
    | 'tables'
    | 'texts'
    | 'venue'
    | 'whenBatchesDone'
  >,
): Streams {
  const streams = new Streams({
    ...shared,
    ...streamKeys(parts),
    recent: parts.recent,
    limits: streamLimits(config),
    elapsed: () => performance.now(),
    log: (line) => log('error', line),
  });
  parts.committed.add((batch) => streams.flushed(batch));
  parts.switched.add(({ prepared }) => streams.announce(marketLifecycleLookup(prepared)));
  return streams;
}

function orderRequests(
  { authority: { member }, clock }: NodeParts,
  auth: Auth,
  operations: readonly Operation[],
): OrderRequestParts {
  return {
    operations,
    refusalOf: (apiKey) => refusalOfKey(auth, apiKey),
    forward: member?.forwarder.forward,
    seconds: () => Math.floor(clock.wall() / MS),
  };
}

function readersOf({ stores, tradesIndex }: NodeParts, texts: TokenTexts) {
  const closedOrders = new StoredClosedOrders(stores.derived);
  return {
    trades: new TradesRenderer(tradesIndex, texts),
    positions: new PositionsReader(stores.projections),
    statements: new StatementsReader(stores.projections),
    results: new ResultsReader(stores.projections),
    rebates: new RebatesReader(stores.projections),
    storedClosedOrder: (id: Uint8Array) => closedOrders.find(id),
  };
}

/** Returns look-ups of keys whose events may be streamed; keys of a banned wallet are not found. */
function streamKeys({
  authority: { member },
  control: { bans },
  registry,
  writer: { applied },
}: NodeParts): Pick<StreamParts, 'key' | 'keyComes' | 'readOnlyKey'> {
  const unlessBanned = <Key extends { readonly addressText: string }>(
    key: Key | undefined,
  ): Key | undefined => (key === undefined || bans.has(key.addressText) ? undefined : key);
  return {
    key: (apiKey) => unlessBanned(registry.lookup(apiKey)),
    readOnlyKey: (key) => unlessBanned(registry.lookupReadOnly(key)),
    keyComes: (isKnown) =>
      member?.forwarder.isNeeded() === true ? applied.until(isKnown, KEY_MS_MAX) : undefined,
  };
}

/** Delays paper orders by MIRROR_LATENCY_MS. */
async function delayed(
  intake: OrderIntake,
  { engineQueue, mirrorLatencyMs, mirrorUrl, play }: Config,
  after: After | undefined,
): Promise<OrderIntake> {
  if ((mirrorUrl === '' && play === '') || mirrorLatencyMs === 0) return intake;
  const { DelayedQueues } = await import('../paper/delayed-queues.ts');
  return new DelayedQueues(intake, mirrorLatencyMs, engineQueue, after);
}

function streamLimits(config: Config): StreamLimits {
  return {
    idleSeconds: config.streamIdleSeconds,
    subscriptionsMax: config.streamSubscriptionsMax,
    connectionsMax: config.streamConnectionsMax,
    backpressureBytes: config.streamBackpressureBytes,
    callerFactor: config.streamCallerFactor,
    acks: config.streamAcks,
  };
}
