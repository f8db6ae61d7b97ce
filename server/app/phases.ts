/**
 * The phases of a start before its port opens, each of which returns what the next one needs: open the stores,
 * recover, build what reads and writes, catch up with catalog and clock.
 *
 * Thread: the I/O thread.
 */

import { engineTime, fillCount, lastBatch, openOrders } from '../../engine/reads.ts';
import type { EngineMemory, Tables } from '../../engine/tables/tables.ts';
import { takeDirectoryLock } from '../../storage/files/directory-lock.ts';
import { makeDirectory } from '../../storage/files/make-directory.ts';
import { type Note, notesOf } from '../../storage/notes/notes.ts';
import { bringUp, readNotes } from '../../storage/notes/read-notes.ts';
import { removeGiven, settle } from '../../storage/operations/peer-copy.ts';
import { StoredFills } from '../../storage/projection/fills.ts';
import { loadFills } from '../../storage/recovery/recover.ts';
import type { Progress } from '../admin/progress.ts';
import type { ClockFacts } from '../admin/summary.ts';
import type { NodeMode } from '../api/node-mode.ts';
import type { CatalogKeeper } from '../catalog/catalog-keeper.ts';
import { FiguresKeeper } from '../catalog/figures-keeper.ts';
import { MarketInfos, marketStoryLookup } from '../catalog/market-info.ts';
import { type CatalogSync, startSync } from '../catalog/sync-keeper.ts';
import type { Member } from '../cluster/member.ts';
import { NO_CONTRADICTIONS } from '../common/contradictions.ts';
import { aheadOf, aheadText, GuardedClock } from '../common/guarded-clock.ts';
import type { NodeClock } from '../common/node-clock.ts';
import type { Config } from '../config/config.ts';
import { SettingsRefused } from '../config/settings-refused.ts';
import { domainsOf } from '../config/signing-domains.ts';
import { InUse } from '../http/listening.ts';
import { openNodeKey } from '../identity/credentials.ts';
import { separatorsOf } from '../identity/exchange-domains.ts';
import { KeyRegistry } from '../identity/key-registry.ts';
import { HistoryKeeper } from '../market-data/history-keeper.ts';
import { TradesIndex } from '../market-data/trades-index.ts';
import type { AppliedBatch } from '../orders/applied-batch.ts';
import { BatchMeters } from '../orders/batch-meters.ts';
import { PAUSES } from '../orders/pauses.ts';
import type { OpenedPlay } from '../paper/open-play.ts';
import { Names } from '../streams/names.ts';
import type { RecentBatches } from '../streams/recent-batches.ts';
import { loadRecent, storeRecent } from '../streams/recent-file.ts';
import type { Streams } from '../streams/streams.ts';
import { CatalogRepairs } from '../venue/catalog-repairs.ts';
import { ReachedEnds } from '../venue/reached-ends.ts';
import { VenueMarkets } from '../venue/venue-markets.ts';
import { DEMO_CONDITIONS } from './demo-catalog.ts';
import { conditionsWithPayouts, DueResolutions } from './due-resolutions.ts';
import { factsOf, modeOf, placeOf, settleSettings } from './kept-settings.ts';
import { lostKeys } from './lost-keys.ts';
import { Noted, NoteSender } from './noted.ts';
import type { Recovery } from './recovery.ts';
import { refusingWriter } from './refusing-writer.ts';
import { DERIVE_MS_MAX, OPEN_MS_MAX, type Start, StartOver } from './start.ts';
import { openStartupCatalog } from './startup-commands.ts';
import { openStores, type Stores } from './stores.ts';
import { startWriter } from './writer.ts';

type Opened = Awaited<ReturnType<typeof open>>;
type Recovered = Awaited<ReturnType<typeof recover>>;
type Built = Awaited<ReturnType<typeof build>>;
export type CaughtUp = Awaited<ReturnType<typeof catchUp>>;

/** What hears of flushed batches and new markets: the streams, once the port opens. */
interface Followers {
  streams: Streams | undefined;
  /** Undefined until the catalog is open. */
  repairs: CatalogRepairs | undefined;
  /** Condition ids of markets that resolve, and of which it has to be told then. */
  readonly begun: string[];
  /** Undefined where there is no admin listener to tell of them. */
  readonly meters: BatchMeters | undefined;
  readonly recent: RecentBatches;
}

const NOTHING_SET: ReadonlySet<string> = new Set();

/** Where the directory cannot be written, `unwritable` says why, and the stores are read-only. */
export async function open(start: Start) {
  const { config, log } = start.options;
  const { dataDir } = config;
  const warn = (line: string): void => log('warn', line);
  const play = config.play === '' ? undefined : await openedPlay(config);
  const clock: NodeClock = play?.clock ?? new GuardedClock();
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
  await begunWithCopy(start);
  const opening = openStores({ ...config, segmentBytes: config.logSegmentBytes, log: warn });
  const { problem, stores } = await start.wait('DATA_DIR to open', opening, OPEN_MS_MAX);
  start.onClose(() => start.wait('the stores to close', stores.close()));
  const opened = { clock, play, stores };
  if (problem === undefined) {
    const cluster = await openCluster(start, stores);
    const log = cluster?.log ?? stores.log;
    return { ...opened, cluster, stores: { ...stores, log }, unwritable: undefined };
  }
  const unwritable = `DATA_DIR ${dataDir} cannot be written: ${problem}`;
  warn(`${unwritable}; ${PAUSES.directory.begins}`);
  return { ...opened, cluster: undefined, unwritable };
}

/** Throws SettingsRefused where the file of PLAY cannot be read. */
async function openedPlay(config: Config): Promise<OpenedPlay> {
  const { openPlay } = await import('../paper/open-play.ts');
  return openPlay(config).catch((error: NodeJS.ErrnoException) => {
    if (error.code === undefined) throw error;
    throw new SettingsRefused(`PLAY=${config.play}: ${error.message}`);
  });
}

/** What a peer has given is put into its place before anything is read; then the start begins again. */
async function begunWithCopy(start: Start): Promise<void> {
  const { config, log, signal } = start.options;
  removeGiven(config.dataDir);
  let isNew = settle(config.dataDir);
  if (!isNew && config.cluster !== undefined) {
    const { joinCluster } = await import('../cluster/copies.ts');
    isNew = await joinCluster(config, log, signal);
  }
  if (!isNew) return;
  start.giveUp();
  throw new StartOver();
}

/** Undefined without CLUSTER: then nothing of it is loaded. */
async function openCluster(start: Start, stores: Stores): Promise<Member | undefined> {
  const { config, log } = start.options;
  if (config.cluster === undefined) return undefined;
  const { openMember } = await import('../cluster/member.ts');
  const member = await openMember(config, stores, log);
  void member.over.then(() => start.giveUp());
  start.onClose(() => start.wait('the log of the cluster to close', member.close()));
  return member;
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
  const notes = takeNotes(start, opened, t);
  if (opened.cluster !== undefined) opened.cluster.isKeyless = () => notes.registry.isNew;
  const lost = notes.registry.isNew ? lostKeys(t) : undefined;
  if (lost !== undefined) warn(lost);
  const { recent: replayedBatches } = recovered;
  return { ...opened, ...notes, t, sound: recovery.sound, firstFill, clockFacts, replayedBatches };
}

/** What the notes up to the end of the log have led to. From here on the settings are those of the directory. */
function takeNotes(start: Start, { play, stores }: Opened, t: Tables) {
  const { config, log, set = NOTHING_SET } = start.options;
  const nodeKey = openNodeKey(config.dataDir);
  if (!nodeKey.ok) throw new Error(nodeKey.problem);
  const sender = new NoteSender();
  // Where node.key and keys/ are both gone, keys are not to come back: they came from that node.key.
  const areKeysGone = nodeKey.isNew && stores.kept.isNew();
  const isMeant = (note: Note): boolean => !areKeysGone || note.about !== 'key';
  const read = (chainId: number) => {
    const registry = new KeyRegistry(nodeKey.key, chainId, sender.write);
    const noted = new Noted(registry, sender.write);
    readNotes(stores.kept, stores.log, (note) => noted.apply(note), isMeant);
    return { noted, registry };
  };
  let notes = read(config.chainId);
  const facts = factsOf(t, placeOf(config), notes.registry.findChainId());
  const settled = settleSettings({ config, set }, facts, play?.clock.now());
  start.settle({ ...settled, capacities: t.capacities });
  if (settled.chainId !== config.chainId) notes = read(settled.chainId);
  if (!notes.registry.matchesStore) {
    log('warn', 'the stored API keys were issued under another node.key or CHAIN_ID: none works');
  }
  return { isMeant, ...notes, sender };
}

/** What is read in memory, and the writer. */
export async function build(start: Start, recovered: Recovered) {
  const { config, log, signal } = start.options;
  const { clock, cluster, firstFill, isMeant, noted, sender, sound, stores, t, unwritable } =
    recovered;
  const banned = noted.bans.shared.memory;
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
  const recent = loadRecent(config.dataDir, names, recovered.replayedBatches);
  const ends = new ReachedEnds(t);
  const followers: Followers = {
    streams: undefined,
    repairs: undefined,
    meters,
    recent,
    begun: [],
  };
  if (unwritable === undefined) {
    start.onClose(() => storeRecent(config.dataDir, names, recent, (line) => log('warn', line)));
  }
  const tellOfDue = dueTeller(start, { cluster, followers, t });
  const onFlushed = (batch: AppliedBatch): void => {
    for (const note of notesOf(batch.commands)) noted.apply(note);
    tradesIndex.append(tradesIndex.end, batch.endFill);
    history.append(batch.endFill);
    followers.meters?.count(batch);
    recent.add(batch);
    followers.streams?.flushed(batch);
    tellOfDue(batch);
    if (followers.repairs === undefined) return;
    const ended = ends.of(batch);
    if (ended.length > 0 && (cluster?.leads() ?? true)) followers.repairs.addEnds(ended);
  };
  const separators = separatorsOf(domainsOf(config));
  const parts = { start, clock, cluster, stores, tables: t, sound, separators, banned, onFlushed };
  const writer =
    unwritable === undefined ? await startWriter(parts) : refusingWriter(unwritable, lastBatch(t));
  start.onClose(() => writer.close());
  sender.sequencer = writer.sequencer;
  noted.onPause = (reason) => writer.pauseVenue(reason);
  await start.waitOrStop('the audit of what was recovered', sound, OPEN_MS_MAX);
  signal?.throwIfAborted();
  if (unwritable === undefined) {
    const news = bringUp(stores.kept, stores.log, isMeant);
    if (news !== undefined) log('warn', news);
  }
  return { ...recovered, infos, history, tradesIndex, followers, separators, writer, ends };
}

/** Brings the markets up to the catalog, and lets go what has expired: nobody shall see it. */
export async function catchUp(start: Start, built: Built) {
  const { config, log, onFatal, signal } = start.options;
  const { dataDir, durability } = config;
  const { clock, cluster, ends, followers, history, infos, noted, stores, t, unwritable, writer } =
    built;
  const isLeader = (): boolean => cluster?.leads() ?? true;
  const leads = isLeader();
  if (cluster !== undefined) stores.catalog.awaitRecords(noted.catalog);
  else if (unwritable === undefined) stores.catalog.awaitNone(noted.catalog);
  const opening = openStartupCatalog(config, t, built.separators[1], {
    store: stores.catalog,
    cluster: cluster?.catalog,
    dataDir,
    durability,
    memory: t.memory,
    sequencer: writer.sequencer,
    leads: isLeader,
    recorded: () => noted.catalog,
    infos,
    figures: new FiguresKeeper({ tables: t, volumes: history.volumes, now: clock.now }),
    log,
    onFatal,
    onSwitch: (next) => {
      followers.streams?.announce(marketStoryLookup(next.prepared));
      if (isLeader() && unwritable === undefined) repair(followers.repairs, next);
    },
    signal,
  });
  const catalog = await start.wait('the catalog to load', opening, OPEN_MS_MAX);
  start.onClose(() => start.wait('the catalog to close', catalog.close()));
  if (!leads) cluster?.whenLeading(() => void catalog.register());
  signal?.throwIfAborted();
  const venue = openVenue(start, { catalog, ends, followers, t, unwritable }, isLeader);
  // The node that led before may have ended between a payout and its edit.
  if (!leads) cluster?.whenLeading(() => followers.repairs?.add(conditionsWithPayouts(t)));
  const syncs = unwritable === undefined && config.catalogSyncUrl !== '';
  const sync = syncs ? mirrorCatalog(start, cluster, t.memory) : undefined;
  await writer.expireDue();
  const heartbeats = writer.openHeartbeats(noted.watches);
  await writer.ready();
  // An image of before the start counts until the follower has taken another.
  const before = stores.snapshots.newest();
  const progress = (): Progress => {
    const follower = writer.progress();
    const { digest, last: durable } = stores.log;
    const snapshot = follower?.snapshot ?? before;
    const facts = cluster?.facts();
    const shown = { cluster: facts && { ...facts, catalog: catalog.digests() } };
    return { durable, digest, follower, snapshot, ...shown, clusterNodes: cluster?.nodes };
  };
  const mode = (): NodeMode => modeOf(config, t);
  return { ...built, catalog, heartbeats, mode, progress, sync, venue };
}

/** Where it leads, in a cluster. */
function mirrorCatalog(
  start: Start,
  cluster: Member | undefined,
  memory: EngineMemory,
): Pick<CatalogSync, 'contradictions' | 'pull'> {
  const { config, log } = start.options;
  const { catalogSyncSeconds: seconds, catalogSyncUrl: url, dataDir, durability } = config;
  const ownConditions = DEMO_CONDITIONS;
  let sync: ReturnType<typeof startSync> | undefined;
  const begin = (): void => {
    sync = startSync({ url, seconds, dataDir, durability, memory, ownConditions, log });
  };
  const end = async (): Promise<void> => {
    const ending = sync;
    sync = undefined;
    await ending?.close();
  };
  start.onClose(() => start.wait('the catalog sync to end', end()));
  if (cluster === undefined) begin();
  else {
    cluster.whenLeading(begin);
    cluster.whenFollowing(() => void end());
  }
  return {
    contradictions: () => sync?.contradictions() ?? NO_CONTRADICTIONS,
    pull: () => sync?.pull(),
  };
}

/** Tells the log and the catalog of payouts that a batch has begun because their deadlines came. */
function dueTeller(
  { options: { log } }: Start,
  { cluster, followers, t }: Pick<Recovered, 'cluster' | 't'> & { readonly followers: Followers },
): (batch: AppliedBatch) => void {
  const due = new DueResolutions(t);
  return (batch) => {
    const conditions = due.of(batch);
    if (conditions.length === 0 || cluster?.leads() === false) return;
    for (const condition of conditions) log('info', `${condition} pays as it was proposed`);
    if (followers.repairs === undefined) followers.begun.push(...conditions);
    else followers.repairs.add(conditions);
  };
}

type Lacking = Pick<CatalogKeeper, 'mended' | 'unsaid' | 'unsaidEnds'>;

function repair(
  repairs: CatalogRepairs | undefined,
  { mended, unsaid, unsaidEnds }: Lacking,
): void {
  repairs?.add(unsaid);
  repairs?.addEnds(unsaidEnds);
  if (mended > 0) repairs?.align();
}

/** Edits of the catalog, of which those that it lacks begin at once. */
function openVenue(
  start: Start,
  parts: Pick<Built, 'ends' | 'followers' | 't' | 'unwritable'> & {
    readonly catalog: CatalogKeeper;
  },
  leads: () => boolean,
): VenueMarkets {
  const { config, log } = start.options;
  const { catalog, ends, followers, t, unwritable } = parts;
  const { dataDir, durability } = config;
  const served = () => catalog.current.number;
  const venue = new VenueMarkets({ dataDir, durability, memory: t.memory, served });
  start.onClose(() => start.wait('an edit of the catalog', venue.close()));
  const warn = (line: string): void => log('warn', line);
  const repairs = new CatalogRepairs({ venue, leads, now: Date.now, log: warn });
  start.onClose(() => start.wait('what the catalog lacks', repairs.close()));
  followers.repairs = repairs;
  const missed = ends.missed();
  if (!leads() || unwritable !== undefined) return venue;
  repair(repairs, catalog);
  repairs.addEnds(missed);
  repairs.add(followers.begun.splice(0));
  return venue;
}
