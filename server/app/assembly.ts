/**
 * The node, put together: open the stores, take what is recovered, start workers, bring markets up to the
 * catalog, then open the port; and the same backwards at the end.
 *
 * Thread: the I/O thread.
 */

import { earliestExpiry } from '../../engine/orders/expiry.ts';
import { engineTime, fillCount, lastBatch, openOrders } from '../../engine/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { takeDirectoryLock } from '../../storage/files/directory-lock.ts';
import { makeDirectory } from '../../storage/files/make-directory.ts';
import { openHeartbeatStore } from '../../storage/kv/heartbeats.ts';
import { openKeyStore } from '../../storage/kv/keys.ts';
import { StoredFills } from '../../storage/projection/fills.ts';
import { StoredFinals } from '../../storage/projection/finals.ts';
import { PositionsReader } from '../../storage/projection/reader.ts';
import { loadFills } from '../../storage/recovery/recover.ts';
import { Heartbeats } from '../account/heartbeats.ts';
import { OwnTradesIndex } from '../account/own-trades-index.ts';
import type { Progress } from '../admin/progress.ts';
import type { ClockFacts, NodeFacts } from '../admin/summary.ts';
import { httpOptions } from '../api/http-options.ts';
import { nodeRoutes } from '../api/routes.ts';
import type { CatalogKeeper } from '../catalog/catalog-keeper.ts';
import { FiguresKeeper } from '../catalog/figures-keeper.ts';
import { marketStoryLookup } from '../catalog/market-info.ts';
import { MarketInfos } from '../catalog/market-registry.ts';
import { startSync } from '../catalog/sync-keeper.ts';
import { aheadOf, aheadText, GuardedClock } from '../common/guarded-clock.ts';
import { withDeadline } from '../common/with-deadline.ts';
import type { Config } from '../config/config.ts';
import { type HttpServer, listen } from '../http/http.ts';
import { RequestCounts } from '../http/request-counts.ts';
import { openAuth } from '../identity/auth.ts';
import { openNodeKey } from '../identity/credentials.ts';
import { domainSeparator } from '../identity/eip712.ts';
import { KeyRegistry } from '../identity/key-registry.ts';
import { BookRenderer } from '../market-data/books.ts';
import { HistoryKeeper } from '../market-data/history-keeper.ts';
import { type MarketLookup, TokenTexts } from '../market-data/texts.ts';
import { TradesIndex } from '../market-data/trades-index.ts';
import { TradesRenderer } from '../market-data/trades-render.ts';
import type { AppliedBatch } from '../orders/applied-batch.ts';
import { cancelAllOf } from '../orders/cancels.ts';
import { PAUSES, type Pause } from '../orders/pauses.ts';
import type { OrderSeparators, Separators } from '../orders/prepare.ts';
import { SeqlockReader } from '../orders/seqlock-reader.ts';
import type { Sequencer } from '../orders/sequencer.ts';
import { type StreamParts, Streams } from '../streams/streams.ts';
import { lostKeys } from './lost-keys.ts';
import type { Recovery } from './recovery.ts';
import type { NodeOptions, RunningNode } from './running-node.ts';
import { openStartupCatalog } from './startup-commands.ts';
import { openStores, type Stores } from './stores.ts';
import { startWriter, type Writer } from './writer.ts';

const MS = 1_000;

/** Longest wait for one thing at the end; the writer has bounds of its own. */
const CLOSE_MS_MAX = 60_000;
/** The same at the start, where a store may have to be read from a slow disk. */
const OPEN_MS_MAX = 600_000;
/** History may have to be derived again from all fills. */
const DERIVE_MS_MAX = 6 * 3_600_000;

/** Starts a node on what is recovered; rejects with a clear Error when it must not run. */
export async function assemble(options: NodeOptions, recovery: Recovery): Promise<RunningNode> {
  const { config, log, signal } = options;
  const warn = (line: string): void => log('warn', line);
  const clock = new GuardedClock();
  const wait = <T>(what: string, promise: Promise<T>, msMax = CLOSE_MS_MAX): Promise<T> =>
    withDeadline(promise, { what, msMax, log: (line) => log('info', line) });
  /** For what changes nothing, and may be left where it is. */
  const waitOrStop = <T>(what: string, promise: Promise<T>, msMax: number): Promise<T> =>
    withDeadline(promise, { what, msMax, log: (line) => log('info', line), signal });
  try {
    makeDirectory(config.dataDir);
  } catch (error) {
    throw new Error(`DATA_DIR ${config.dataDir} cannot be made: ${(error as Error).message}`);
  }
  const lock = takeDirectoryLock(config.dataDir);
  if (!lock.ok) throw new Error(lock.detail);
  if (lock.warning !== undefined) warn(lock.warning);
  const storeOptions = { ...config, segmentBytes: config.logSegmentBytes, log: warn };
  const opening = wait('DATA_DIR to open', openStores(storeOptions), OPEN_MS_MAX);
  const { stores, problem } = await opening.catch((error: unknown) => {
    lock.release();
    throw error;
  });
  const unwritable = `DATA_DIR ${config.dataDir} cannot be written: ${problem}`;
  if (problem !== undefined) {
    warn(`${unwritable}; ${PAUSES.directory.begins}`);
  }
  /** What has to be closed, in the order in which it was opened. */
  const opened: (() => void | Promise<void>)[] = [
    () => clock.stop(),
    () => lock.release(),
    () => wait('the stores to close', stores.close()),
  ];
  let closing: Promise<void> | undefined;
  const closeAll = async (): Promise<void> => {
    for (const closeOne of opened.splice(0).reverse()) await closeOne();
  };
  const close = (): Promise<void> => {
    closing ??= closeAll();
    return closing;
  };
  try {
    const reading = recovery.tables(stores.log);
    const recovered = await waitOrStop('image and log to be read', reading, DERIVE_MS_MAX);
    const { t } = recovered;
    const { sound } = recovery;
    stores.snapshots.passOver(recovered.passedOver);
    const firstFill = loadFills(t, stores.derived.fills, recovered.firstFill, warn);
    log(
      'info',
      `recovered image of batch ${recovered.snapshot}, ${recovered.replayed} batches after it: batch ` +
        `${lastBatch(t)}, ${openOrders(t)} open orders, ` +
        `${fillCount(t)} fills`,
      {
        ...{
          image: recovered.snapshot,
          replayed: recovered.replayed,
          batch: lastBatch(t),
        },
        ...{ open_orders: openOrders(t), fills: fillCount(t) },
      },
    );
    const clockFacts = (): ClockFacts => ({
      jumpMs: clock.jumpMs(),
      aheadMs: aheadOf(engineTime(t), clock.now()),
    });
    const { aheadMs } = clockFacts();
    if (aheadMs > 0) warn(aheadText(aheadMs));
    const infos = new MarketInfos(t);
    const trades = new TradesIndex(t);
    const end = fillCount(t);
    trades.append(Math.max(firstFill, end - config.capacities.trades), end);
    const catchingUp = openHistory(options, stores, { t, firstFill });
    const history = await wait('price history to catch up', catchingUp, DERIVE_MS_MAX);
    opened.push(() => history.close());
    const ownTrades = new OwnTradesIndex(trades);
    ownTrades.follow();
    const separators = separatorsOf(config);
    /** Nobody listens before the port is open. */
    const told: Told = { streams: undefined };
    const onFlushed = (batch: AppliedBatch): void => {
      trades.append(trades.end, batch.endFill);
      ownTrades.follow();
      history.append(batch.endFill);
      told.streams?.flushed(batch);
    };
    const writer =
      problem === undefined
        ? await startWriter({ ...options, clock, stores, tables: t, sound, separators, onFlushed })
        : undefined;
    if (writer !== undefined) opened.push(() => writer.close());
    await waitOrStop('the audit of what was recovered', sound, OPEN_MS_MAX);
    signal?.throwIfAborted();
    const settling = openStartupCatalog(config, t, separators[1], {
      store: stores.catalog,
      dataDir: config.dataDir,
      durability: config.durability,
      engine: writer && { memory: t.memory, sequencer: writer.sequencer },
      infos,
      figures: new FiguresKeeper({ tables: t, volumes: history.volumes, now: clock.now }),
      log,
      onFatal: options.onFatal,
      onSwitch: (prepared) => told.streams?.announce(marketStoryLookup(prepared)),
      signal,
    });
    const catalog = await wait('the catalog to load', settling, OPEN_MS_MAX);
    opened.push(() => wait('the catalog to close', catalog.close()));
    signal?.throwIfAborted();
    const sync = writer && openSync(options);
    if (sync !== undefined) opened.push(() => wait('the catalog sync to end', sync.close()));
    // Nobody shall see what expired while the node was down.
    if (isExpiryDue(t, clock.now())) await writer?.expireDue();
    const heartbeats = writer && openHeartbeats(options, stores, writer.sequencer);
    const pauses = (): readonly Pause[] =>
      writer?.pauses() ?? [{ reason: 'directory', detail: unwritable }];
    const reads = { t, clock, clockFacts, pauses, infos, ownTrades, history, catalog };
    await writer?.ready();
    const counts = config.adminPort === 0 ? undefined : new RequestCounts();
    const server = await openPort(options, stores, { ...reads, counts }, writer, heartbeats, told);
    opened.push(
      () => told.streams?.close(),
      () => wait('the port to close', server.close()),
    );
    // Before the port closes: who cannot be heard any more must not lose anything.
    opened.push(() => heartbeats?.stop());
    writer?.follow();
    const progress = progressOf(stores, writer);
    const facts = (): NodeFacts => ({
      tables: t,
      isTaking: writer?.sequencer.isPaused() === false,
      pauses: pauses(),
      clock: clockFacts(),
      progress: progress(),
      streams: told.streams?.facts() ?? { clients: 0, unreadBytes: 0, closes: new Map() },
      http: server.facts(),
      requests: counts?.rows ?? [],
      orders: writer?.meters,
      queue: {
        waiting: (writer?.sequencer.waiting() ?? 0) + (writer?.lines.waiting ?? 0),
        max: config.engineQueue,
      },
      catalogSince: catalog.since,
    });
    return {
      port: server.port,
      writable: writer !== undefined,
      facts,
      acceptClock: () => clock.accept(),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function isExpiryDue(t: Tables, now: number): boolean {
  const earliest = earliestExpiry(t);
  return earliest !== 0 && earliest * MS <= now;
}

/** Who hears of what has been flushed, once somebody can listen. */
interface Told {
  streams: Streams | undefined;
}

/** Price history and volumes, caught up with the fills that were recovered. */
function openHistory(
  { log, signal }: NodeOptions,
  stores: Stores,
  { firstFill, t }: { readonly t: Tables; readonly firstFill: number },
): Promise<HistoryKeeper> {
  const { projections } = stores;
  const fills = new StoredFills(t, stores.derived.fills, firstFill);
  return HistoryKeeper.open({ tables: t, fills, projections, log, signal }, fillCount(t));
}

/** Mirrors another catalog where one is configured. */
function openSync({ config, log }: NodeOptions): { close(): Promise<void> } | undefined {
  if (config.catalogSyncUrl === '') return undefined;
  return startSync({
    url: config.catalogSyncUrl,
    seconds: config.catalogSyncSeconds,
    dataDir: config.dataDir,
    durability: config.durability,
    log,
  });
}

function separatorsOf(config: Config): OrderSeparators {
  const of = (version: string, exchange: string, negRiskExchange: string): Separators => {
    const domain = { name: config.domainName, version, chainId: config.chainId };
    return {
      separator: domainSeparator({ ...domain, verifyingContract: exchange }),
      negRiskSeparator: domainSeparator({ ...domain, verifyingContract: negRiskExchange }),
    };
  };
  return {
    1: of(config.domainVersion, config.exchangeAddress, config.negRiskExchangeAddress),
    2: of('2', config.exchangeAddress2, config.negRiskExchangeAddress2),
  };
}

/** Watches over who asked for it, from now on. */
function openHeartbeats(
  { config, log }: NodeOptions,
  stores: Stores,
  sequencer: Sequencer,
): Heartbeats {
  return new Heartbeats({
    store: openHeartbeatStore(stores.own),
    periodMs: config.heartbeatSeconds * MS,
    cancelAll: (address) => cancelAllOf(sequencer, address),
    log: (line) => log('info', line),
  });
}

/** What is read while workers write. */
interface Reads {
  readonly t: Tables;
  readonly clock: GuardedClock;
  readonly clockFacts: () => ClockFacts;
  readonly pauses: () => readonly Pause[];
  readonly infos: MarketInfos;
  readonly ownTrades: OwnTradesIndex;
  readonly history: HistoryKeeper;
  readonly catalog: CatalogKeeper;
  /** Undefined where there is no admin listener to tell of them. */
  readonly counts: RequestCounts | undefined;
}

async function openPort(
  options: NodeOptions,
  stores: Stores,
  { catalog, clock, clockFacts, counts, history, infos, ownTrades, pauses, t }: Reads,
  writer: Writer | undefined,
  heartbeats: Heartbeats | undefined,
  told: Told,
): Promise<HttpServer> {
  const { config, log } = options;
  const nodeKey = openNodeKey(config.dataDir);
  if (!nodeKey.ok) throw new Error(nodeKey.problem);
  const keys = openKeyStore(stores.own.keys, (error) => log('error', String(error)));
  const registry = new KeyRegistry(nodeKey.key, config.chainId, {
    rows: () => keys.rows(),
    put: (row) => stores.own.transact(() => void keys.put(row).catch(() => undefined)),
  });
  if (!registry.matchesStore) {
    log('warn', 'the stored API keys were issued under another node.key or CHAIN_ID: none works');
  }
  const lost = registry.isNew ? lostKeys(t) : undefined;
  if (lost !== undefined) log('warn', lost);
  const lookup: MarketLookup = (market) => infos.find(market);
  const texts = new TokenTexts(t, lookup, config.tradesAsset, () => infos.held());
  const books = new BookRenderer(t, texts);
  const finals = new StoredFinals(stores.derived);
  const streams = openStreams(options, {
    now: clock.now,
    tables: t,
    texts,
    lookup,
    books,
    key: (apiKey) => registry.lookup(apiKey),
    readOnlyKey: (key) => registry.lookupReadOnly(key),
    whenBatchesDone: (callback) => writer?.sequencer.whenBatchesDone(callback),
  });
  told.streams = streams;
  const server = await listen(
    nodeRoutes({
      config,
      auth: openAuth(config.credentialPrefix, config.chainId, config.authSkewSeconds, registry),
      tables: t,
      texts,
      books,
      trades: new TradesRenderer(ownTrades.index, texts),
      history,
      ownTrades,
      seqlock: writer?.seqlock ?? new SeqlockReader(undefined, setImmediate),
      positions: new PositionsReader(stores.projections),
      storedFinal: (id) => finals.find(id),
      infos: (market) => infos.find(market),
      catalog: () => catalog.current,
      sequencer: writer?.sequencer,
      lines: writer?.lines,
      heartbeats,
      pauses,
      clock: clockFacts,
      progress: progressOf(stores, writer),
      now: clock.now,
    }),
    httpOptions(config, (line, fields) => log('warn', line, fields), counts),
    streams.routes,
  );
  streams.open(server.publish);
  return server;
}

/** An image of before the start counts until the follower has taken another. */
function progressOf({ snapshots, log }: Stores, writer: Writer | undefined): () => Progress {
  const before = snapshots.newest();
  return () => {
    const follower = writer?.progress();
    return { durable: log.last, follower, snapshot: follower?.snapshot ?? before };
  };
}

function openStreams(
  { config, log }: NodeOptions,
  parts: Omit<StreamParts, 'elapsed' | 'limits' | 'log'>,
): Streams {
  return new Streams({
    ...parts,
    limits: {
      idleSeconds: config.streamIdleSeconds,
      subscriptionsMax: config.streamSubscriptionsMax,
      connectionsMax: config.streamConnectionsMax,
      backpressureBytes: config.streamBackpressureBytes,
      callerFactor: config.streamCallerFactor,
    },
    elapsed: () => performance.now(),
    log: (line) => log('error', line),
  });
}
