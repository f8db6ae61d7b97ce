/**
 * The node, put together in phases: what phases.ts builds is served on the port. To stop is to close what was
 * opened, the last one first.
 *
 * Thread: the I/O thread.
 */

import { ledgerIsOn } from '../../engine/ledger/reads.ts';
import { sourceLevels } from '../../engine/reads.ts';
import type { MarketRow } from '../../engine/tables/units.ts';
import { StoredClosedOrders } from '../../storage/projection/closed-orders.ts';
import { PositionsReader, StatementsReader } from '../../storage/projection/reader.ts';
import { WalletOrders } from '../account/wallet-orders.ts';
import type { NodeFacts } from '../admin/summary.ts';
import { httpOptions } from '../api/http-options.ts';
import { nodeRoutes } from '../api/routes.ts';
import {
  type ContradictionFacts,
  type Contradictions,
  contradictionsOf,
  NO_CONTRADICTIONS,
} from '../common/contradictions.ts';
import { type HttpServer, listen } from '../http/http.ts';
import { RateControl } from '../http/rate-control.ts';
import { RequestCounts } from '../http/request-counts.ts';
import { openAuth, refusalOfKey } from '../identity/auth.ts';
import type { Bans } from '../identity/bans.ts';
import { openNodeKey, uuidText } from '../identity/credentials.ts';
import { BookRenderer } from '../market-data/books.ts';
import { marketByCondition } from '../market-data/find.ts';
import { type MarketLookup, TokenTexts } from '../market-data/texts.ts';
import { TradesRenderer } from '../market-data/trades-render.ts';
import type { OrderTaker } from '../orders/order-taker.ts';
import type { After } from '../paper/delayed-lines.ts';
import type { Mirror } from '../paper/mirror.ts';
import type { MirrorFacts } from '../paper/mirror-facts.ts';
import type { StreamLimits } from '../streams/stream-bounds.ts';
import { type StreamParts, Streams } from '../streams/streams.ts';
import { demoFunds } from './demo-funds.ts';
import { DemoTraders } from './demo-traders.ts';
import { openOperations } from './operations.ts';
import { build, type CaughtUp, catchUp, open, recover } from './phases.ts';
import type { Play } from './play.ts';
import type { Recovery } from './recovery.ts';
import type { NodeOptions, RunningNode } from './running-node.ts';
import { Start, StartOver } from './start.ts';
import { readDemo } from './startup-commands.ts';

/** So long a subscription waits for a key that another node may have issued. */
const KEY_MS_MAX = 1_000;

/** Starts a node on what is recovered; rejects with a clear Error when it must not run. */
export async function assemble(options: NodeOptions, recovery: Recovery): Promise<RunningNode> {
  const start = new Start(options);
  try {
    const opened = await open(start);
    const recovered = await recover(start, opened, recovery);
    await opened.cluster?.compare(start.options.config);
    const built = await build(start, recovered);
    const caughtUp = await catchUp(start, built);
    if (start.isGivenUp) throw new StartOver();
    return await serve(start, caughtUp);
  } catch (error) {
    await start.close();
    throw start.isGivenUp ? new StartOver() : error;
  }
}

async function serve(start: Start, parts: CaughtUp): Promise<RunningNode> {
  const { config } = start.options;
  const { catalog, clock, clockFacts, cluster, followers, heartbeats, history } = parts;
  const { noted, progress, t, unwritable, writer } = parts;
  const counts = config.adminPort === 0 ? undefined : new RequestCounts();
  const rates = config.rateLimits ? new RateControl(config.rateLimitsOverrides, config) : undefined;
  const orders = walletOrdersOf(parts);
  writer.pauseVenue(noted.pause?.reason);
  // The node may have ended in the middle of a ban.
  const cancelBanned = async (): Promise<void> => {
    await orders?.cancel(noted.bans.list().map(({ address }) => address));
  };
  if (cluster === undefined) await cancelBanned();
  else cluster.whenLeading(() => void cancelBanned());
  // What a source had when the node ended is nothing that anybody may trade with.
  if (sourceLevels(t) > 0) await (await import('./mirror.ts')).removeOldLevels(start, parts);
  let mirror: Mirror | undefined;
  const mirrorFacts = () => mirror?.facts();
  const play =
    parts.play && (await (await import('./play.ts')).beginPlay(start, parts, parts.play));
  const contradictions = () => contradictionFacts(parts, mirror ?? play);
  const shown = { rates, counts, contradictions, mirrorFacts, play };
  const { server, streams } = await openPort(start.options, parts, shown);
  start.onClose(() => streams.close());
  start.onClose(() => start.wait('the port to close', server.close()));
  // Before the port closes: a client that cannot send any more must not lose its orders.
  start.onClose(() => heartbeats.stop());
  writer.follow();
  startDemoTraders(start, parts, server.port);
  play?.start();
  if (config.mirrorUrl !== '')
    mirror = await (await import('./mirror.ts')).openMirror(start, parts);
  const facts = (): NodeFacts => ({
    tables: t,
    pauses: writer.pauses(),
    clock: clockFacts(),
    progress: progress(),
    ...{ streams: streams.facts(), http: server.facts() },
    requests: counts?.rows ?? [],
    orders: writer.meters,
    batches: followers.meters,
    volumeOf: (market) => history.volumes.totalOf(market),
    throttled: rates?.throttled() ?? [],
    queue: { waiting: writer.waiting(), max: config.engineQueue },
    ...{ catalogSince: catalog.since, contradictions: contradictions() },
    mirror: mirrorFacts(),
  });
  return {
    port: server.port,
    mode: parts.mode,
    writable: unwritable === undefined,
    facts,
    source: writer.source,
    acceptClock: () => clock.accept(),
    operations:
      orders &&
      writer.ledger &&
      openOperations(start, { ...parts, rates, orders, ledger: writer.ledger, clockOfPlay: play }),
    over: cluster?.over,
    close: () => start.close(),
  };
}

/** @param venue that is mirrored or played */
function contradictionFacts(
  { catalog, sync }: CaughtUp,
  venue: { contradictions(): Contradictions } | undefined,
): ContradictionFacts {
  return {
    catalog: contradictionsOf(catalog.contradictions),
    sync: sync?.contradictions() ?? NO_CONTRADICTIONS,
    mirror: venue?.contradictions() ?? NO_CONTRADICTIONS,
  };
}

/** Where the demo was loaded, and may be traded: in a cluster at the node that leads, while it leads. */
function startDemoTraders(start: Start, parts: CaughtUp, port: number): void {
  const { catalog, cluster, separators, unwritable } = parts;
  const { config, log } = start.options;
  const { catalogSyncUrl, dataDir, demo, demoTraders } = config;
  if (!demo || !demoTraders || catalogSyncUrl !== '' || unwritable !== undefined) return;
  const nodeKey = openNodeKey(dataDir);
  if (!nodeKey.ok) return;
  const { markets } = readDemo();
  const { t, writer } = parts;
  const fund = async (wallet: Uint8Array): Promise<void> => {
    if (!ledgerIsOn(t)) return;
    const rows = markets.map(({ conditionId }) => marketByCondition(t, conditionId));
    const known = rows.filter((row): row is MarketRow => row !== 0);
    for (const [kind, fields] of demoFunds(wallet, known)) await writer.ledger?.funds(kind, fields);
  };
  const common = { config, separators, port, markets, fund, log };
  let traders: DemoTraders | undefined;
  const begin = (): void => {
    traders = new DemoTraders({
      ...common,
      secret: nodeKey.key,
      catalog: () => catalog.current,
    });
  };
  const stop = async (): Promise<void> => {
    const stopped = traders?.stop();
    traders = undefined;
    await stopped;
  };
  if (cluster === undefined) begin();
  else {
    cluster.whenLeading(begin);
    cluster.whenFollowing(() => void stop());
  }
  start.onClose(stop);
}

/** Undefined where nothing can be written. */
function walletOrdersOf({ t, writer }: CaughtUp): WalletOrders | undefined {
  const { seqlock, sequencer } = writer;
  return sequencer && new WalletOrders({ tables: t, seqlock, sequencer });
}

interface Limits {
  /** Undefined with RATE_LIMITS=off. */
  readonly rates: RateControl | undefined;
  /** Undefined where there is no admin listener to tell of them. */
  readonly counts: RequestCounts | undefined;
}

interface Shown extends Limits {
  readonly contradictions: () => ContradictionFacts;
  /** Undefined where nothing is mirrored. */
  readonly mirrorFacts: () => MirrorFacts | undefined;
  /** Undefined where no recording is played. */
  readonly play: Play | undefined;
}

async function openPort(
  options: NodeOptions,
  parts: CaughtUp,
  { contradictions, counts, mirrorFacts, play, rates }: Shown,
): Promise<{ readonly server: HttpServer; readonly streams: Streams }> {
  const { config, log } = options;
  const { authSkewSeconds, chainId, credentialPrefix } = config;
  const { catalog, clock, cluster, followers, infos, registry, stores, t: tables, writer } = parts;
  const { bans } = parts.noted;
  const isBanned = (address: string): boolean => bans.has(address);
  const lookup: MarketLookup = (market) => infos.find(market);
  const texts = new TokenTexts(tables, lookup, config.tradesAsset, () => infos.pinnedLookup());
  const books = new BookRenderer(tables, texts);
  const closedOrders = new StoredClosedOrders(stores.derived);
  const { applied, ledger, pauses, seqlock } = writer;
  const { commits, whenBatchesDone } = writer;
  const lines = await delayed(writer.lines, config, play?.after);
  const { now, wall } = clock;
  const shared = { now, wall, tables, texts, books, whenBatchesDone, commits };
  const streams = new Streams({
    ...shared,
    ...{ lookup, venue: registry.venue, recent: followers.recent },
    ...streamKeys(parts),
    limits: streamLimits(config),
    elapsed: () => performance.now(),
    log: (line) => log('error', line),
  });
  followers.streams = streams;
  const auth = openAuth(credentialPrefix, chainId, authSkewSeconds, registry, isBanned);
  const routes = nodeRoutes({
    ...parts,
    ...shared,
    ...{ applied, auth, config, ledger, lines, pauses, rates, seqlock },
    venue: registry.venue,
    forwarder: cluster?.forwarder,
    trades: new TradesRenderer(parts.tradesIndex, texts),
    positions: new PositionsReader(stores.projections),
    statements: new StatementsReader(stores.projections),
    storedClosedOrder: (id) => closedOrders.find(id),
    infos: lookup,
    catalog: () => catalog.current,
    clock: parts.clockFacts,
    ...{ contradictions, mirror: mirrorFacts },
    play: () => play?.facts(),
    warn: (line) => log('warn', line),
  });
  cluster?.serve({ applied, lines, routes }, (key) => refusalOfKey(auth, uuidText(key)));
  const server = await listen(
    routes,
    {
      ...httpOptions(config, (line, fields) => log('warn', line, fields), counts, rates),
      sequence: () => applied.newest,
      ...(cluster && { isStale: cluster.isStale }),
    },
    streams.routes,
  );
  streams.open(server.publish);
  return { server, streams };
}

/** Whose events are streamed. */
function streamKeys({
  cluster,
  noted: { bans },
  registry,
  writer: { applied },
}: CaughtUp): Pick<StreamParts, 'key' | 'keyComes' | 'readOnlyKey'> {
  return {
    key: (apiKey) => unlessBanned(bans, registry.lookup(apiKey)),
    readOnlyKey: (key) => unlessBanned(bans, registry.lookupReadOnly(key)),
    keyComes: (isKnown) =>
      cluster?.forwarder.isNeeded() === true ? applied.until(isKnown, KEY_MS_MAX) : undefined,
  };
}

/** The lines of a paper venue may be as slow as a network. */
async function delayed(
  lines: OrderTaker,
  { engineQueue, mirrorLatencyMs, mirrorUrl, play }: NodeOptions['config'],
  after: After | undefined,
): Promise<OrderTaker> {
  if ((mirrorUrl === '' && play === '') || mirrorLatencyMs === 0) return lines;
  const { DelayedLines } = await import('../paper/delayed-lines.ts');
  return new DelayedLines(lines, mirrorLatencyMs, engineQueue, after);
}

function streamLimits(config: NodeOptions['config']): StreamLimits {
  return {
    idleSeconds: config.streamIdleSeconds,
    subscriptionsMax: config.streamSubscriptionsMax,
    connectionsMax: config.streamConnectionsMax,
    backpressureBytes: config.streamBackpressureBytes,
    callerFactor: config.streamCallerFactor,
    acks: config.streamAcks,
  };
}

function unlessBanned<K extends { readonly addressText: string }>(
  bans: Bans,
  key: K | undefined,
): K | undefined {
  return key === undefined || bans.has(key.addressText) ? undefined : key;
}
