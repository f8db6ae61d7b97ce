/**
 * The phases of a start before its port opens, each of which returns what the next one needs: open the stores,
 * recover, build what reads and writes, catch up with catalog and clock.
 *
 * Thread: the I/O thread.
 */

import { engineTime, fillCount, lastBatch, openOrders } from '../../engine/reads.ts';
import { takeDirectoryLock } from '../../storage/files/directory-lock.ts';
import { makeDirectory } from '../../storage/files/make-directory.ts';
import { openOperatorStore } from '../../storage/kv/operator-rows.ts';
import { StoredFills } from '../../storage/projection/fills.ts';
import { loadFills } from '../../storage/recovery/recover.ts';
import type { Progress } from '../admin/progress.ts';
import type { ClockFacts } from '../admin/summary.ts';
import type { CatalogKeeper } from '../catalog/catalog-keeper.ts';
import { FiguresKeeper } from '../catalog/figures-keeper.ts';
import { MarketInfos, marketStoryLookup } from '../catalog/market-info.ts';
import { startSync } from '../catalog/sync-keeper.ts';
import { aheadOf, aheadText, GuardedClock } from '../common/guarded-clock.ts';
import type { Config } from '../config/config.ts';
import { InUse } from '../http/listening.ts';
import { Bans } from '../identity/bans.ts';
import { domainSeparator } from '../identity/eip712.ts';
import { HistoryKeeper } from '../market-data/history-keeper.ts';
import { TradesIndex } from '../market-data/trades-index.ts';
import type { AppliedBatch } from '../orders/applied-batch.ts';
import { BatchMeters } from '../orders/batch-meters.ts';
import { PAUSES } from '../orders/pauses.ts';
import type { OrderSeparators, Separators } from '../orders/prepare.ts';
import { Names } from '../streams/names.ts';
import type { RecentBatches } from '../streams/recent-batches.ts';
import { loadRecent, storeRecent } from '../streams/recent-file.ts';
import type { Streams } from '../streams/streams.ts';
import { CatalogResolutions } from '../venue/catalog-resolutions.ts';
import { VenueMarkets } from '../venue/venue-markets.ts';
import { DEMO_CONDITIONS } from './demo-catalog.ts';
import type { Recovery } from './recovery.ts';
import { refusingWriter } from './refusing-writer.ts';
import { DERIVE_MS_MAX, OPEN_MS_MAX, type Start } from './start.ts';
import { openStartupCatalog } from './startup-commands.ts';
import { openStores } from './stores.ts';
import { startWriter } from './writer.ts';

type Opened = Awaited<ReturnType<typeof open>>;
type Recovered = Awaited<ReturnType<typeof recover>>;
type Built = Awaited<ReturnType<typeof build>>;
export type CaughtUp = Awaited<ReturnType<typeof catchUp>>;

/** What hears of flushed batches and new markets: the streams, once the port opens. */
interface Followers {
  streams: Streams | undefined;
  /** Undefined until the catalog is open. */
  resolutions: CatalogResolutions | undefined;
  /** Undefined where there is no admin listener to tell of them. */
  readonly meters: BatchMeters | undefined;
  readonly recent: RecentBatches;
}

/** Where the directory cannot be written, `unwritable` says why, and the stores are read-only. */
export async function open(start: Start) {
  const { config, log } = start.options;
  const { dataDir } = config;
  const warn = (line: string): void => log('warn', line);
  const clock = new GuardedClock();
  start.onClose(() => clock.stop());
  try {
    makeDirectory(dataDir);
  } catch (error) {
    throw new Error(`DATA_DIR ${dataDir} cannot be made: ${(error as Error).message}`);
  }
  const lock = takeDirectoryLock(dataDir);
  if (!lock.ok) throw new InUse(lock.detail);
  start.onClose(() => lock.release());
  if (lock.warning !== undefined) warn(lock.warning);
  const opening = openStores({ ...config, segmentBytes: config.logSegmentBytes, log: warn });
  const { problem, stores } = await start.wait('DATA_DIR to open', opening, OPEN_MS_MAX);
  start.onClose(() => start.wait('the stores to close', stores.close()));
  const operator = openOperatorStore(stores.own);
  const opened = { clock, stores, operator, bans: new Bans(operator) };
  if (problem === undefined) return { ...opened, unwritable: undefined };
  const unwritable = `DATA_DIR ${dataDir} cannot be written: ${problem}`;
  warn(`${unwritable}; ${PAUSES.directory.begins}`);
  return { ...opened, unwritable };
}

/** The tables, which nobody writes before `sound`, and the oldest fill that they have. */
export async function recover(start: Start, opened: Opened, recovery: Recovery) {
  const { log } = start.options;
  const { clock, stores } = opened;
  const warn = (line: string): void => log('warn', line);
  const reading = recovery.tables(stores.log);
  const recovered = await start.waitOrStop('image and log to be read', reading, DERIVE_MS_MAX);
  const { replayed, snapshot, t } = recovered;
  stores.snapshots.passOver(recovered.passedOver);
  const firstFill = loadFills(t, stores.derived.fills, recovered.firstFill, warn);
  const [batch, orders, fills] = [lastBatch(t), openOrders(t), fillCount(t)];
  log(
    'info',
    `recovered image of batch ${snapshot}, ${replayed} batches after it: batch ${batch}, ` +
      `${orders} open orders, ${fills} fills`,
    { image: snapshot, replayed, batch, open_orders: orders, fills },
  );
  const clockFacts = (): ClockFacts => ({
    jumpMs: clock.jumpMs(),
    aheadMs: aheadOf(engineTime(t), clock.now()),
  });
  const { aheadMs } = clockFacts();
  if (aheadMs > 0) warn(aheadText(aheadMs));
  return { ...opened, t, sound: recovery.sound, firstFill, clockFacts };
}

/** What is read in memory, and the writer. */
export async function build(start: Start, recovered: Recovered) {
  const { config, log, signal } = start.options;
  const { bans, clock, firstFill, sound, stores, t, unwritable } = recovered;
  const banned = bans.shared.memory;
  const infos = new MarketInfos(t);
  const tradesIndex = new TradesIndex(t);
  const end = fillCount(t);
  tradesIndex.append(Math.max(firstFill, end - config.capacities.trades), end);
  const fills = new StoredFills(t, stores.derived.fills, firstFill);
  const { projections } = stores;
  const catchingUp = HistoryKeeper.open({ tables: t, fills, projections, log, signal }, end);
  const history = await start.wait('price history to catch up', catchingUp, DERIVE_MS_MAX);
  start.onClose(() => history.close());
  const meters = config.adminPort === 0 ? undefined : new BatchMeters(t);
  const names = new Names(t, (market) => infos.find(market));
  const recent = loadRecent(config.dataDir, names);
  const followers: Followers = { streams: undefined, resolutions: undefined, meters, recent };
  if (unwritable === undefined) {
    start.onClose(() => storeRecent(config.dataDir, names, recent, (line) => log('warn', line)));
  }
  const onFlushed = (batch: AppliedBatch): void => {
    tradesIndex.append(tradesIndex.end, batch.endFill);
    history.append(batch.endFill);
    followers.meters?.count(batch);
    recent.add(batch);
    followers.streams?.flushed(batch);
  };
  const separators = separatorsOf(config);
  const writer =
    unwritable === undefined
      ? await startWriter({ start, clock, stores, tables: t, sound, separators, banned, onFlushed })
      : refusingWriter(unwritable);
  start.onClose(() => writer.close());
  await start.waitOrStop('the audit of what was recovered', sound, OPEN_MS_MAX);
  signal?.throwIfAborted();
  return { ...recovered, infos, history, tradesIndex, followers, separators, writer };
}

/** Brings the markets up to the catalog, and lets go what has expired: nobody shall see it. */
export async function catchUp(start: Start, built: Built) {
  const { config, log, onFatal, signal } = start.options;
  const { dataDir, durability } = config;
  const { clock, followers, history, infos, separators, stores, t, unwritable, writer } = built;
  const opening = openStartupCatalog(config, t, separators[1], {
    store: stores.catalog,
    dataDir,
    durability,
    engine: writer.engine,
    infos,
    figures: new FiguresKeeper({ tables: t, volumes: history.volumes, now: clock.now }),
    log,
    onFatal,
    onSwitch: ({ prepared, unsaid }) => {
      followers.streams?.announce(marketStoryLookup(prepared));
      followers.resolutions?.add(unsaid);
    },
    signal,
  });
  const catalog = await start.wait('the catalog to load', opening, OPEN_MS_MAX);
  start.onClose(() => start.wait('the catalog to close', catalog.close()));
  signal?.throwIfAborted();
  const venue = openVenue(start, catalog, followers);
  const { catalogSyncSeconds: seconds, catalogSyncUrl: url } = config;
  if (unwritable === undefined && url !== '') {
    const sync = startSync({
      url,
      seconds,
      dataDir,
      durability,
      ownConditions: DEMO_CONDITIONS,
      log,
    });
    start.onClose(() => start.wait('the catalog sync to end', sync.close()));
  }
  await writer.expireDue();
  const heartbeats = writer.openHeartbeats();
  await writer.ready();
  // An image of before the start counts until the follower has taken another.
  const before = stores.snapshots.newest();
  const progress = (): Progress => {
    const follower = writer.progress();
    return { durable: stores.log.last, follower, snapshot: follower?.snapshot ?? before };
  };
  return { ...built, catalog, heartbeats, progress, venue };
}

/** Edits of the catalog, of which those that resolutions lack begin at once. */
function openVenue(start: Start, catalog: CatalogKeeper, followers: Followers): VenueMarkets {
  const { config, log } = start.options;
  const { dataDir, durability } = config;
  const venue = new VenueMarkets({ dataDir, durability, served: () => catalog.current.number });
  start.onClose(() => start.wait('an edit of the catalog', venue.close()));
  const warn = (line: string): void => log('warn', line);
  const resolutions = new CatalogResolutions({ venue, now: Date.now, log: warn });
  start.onClose(() => start.wait('what resolutions lack in the catalog', resolutions.close()));
  followers.resolutions = resolutions;
  resolutions.add(catalog.unsaid);
  return venue;
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
