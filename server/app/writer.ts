/**
 * What a node has that may write: workers, sequencer and follower, put together.
 *
 * Thread: the I/O thread.
 */

import { earliestDue } from '../../engine/due.ts';
import { isResolving } from '../../engine/ledger/reads.ts';
import { engineTime, firstKeptClosed, lastBatch } from '../../engine/reads.ts';
import { BATCH_COMMANDS_MAX } from '../../engine/tables/capacities.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { positionOf } from '../../storage/projection/derived.ts';
import { Heartbeats, type WatchNotes } from '../account/heartbeats.ts';
import { ordersBodyMax } from '../api/node-info.ts';
import type { CatalogKeeperOptions } from '../catalog/catalog-keeper.ts';
import type { Member } from '../cluster/member.ts';
import type { Commits } from '../common/commits.ts';
import { aheadOf, aheadText } from '../common/guarded-clock.ts';
import type { NodeClock } from '../common/node-clock.ts';
import { domainsOf } from '../config/signing-domains.ts';
import { type OrderSeparators, PUBLISHED_DOMAINS } from '../identity/exchange-domains.ts';
import { walletFactories } from '../identity/wallet-factory.ts';
import { LedgerCommands } from '../ledger/ledger-commands.ts';
import { ResolutionLoop } from '../ledger/resolution-loop.ts';
import type { AppliedBatch } from '../orders/applied-batch.ts';
import type { AppliedSequence } from '../orders/applied-sequence.ts';
import { CallerLines } from '../orders/caller-lines.ts';
import { cancelAllOf } from '../orders/cancels.ts';
import { FollowerKeeper, type FollowerProgress } from '../orders/follower-keeper.ts';
import { OrderMeters } from '../orders/order-meters.ts';
import type { OrderTaker } from '../orders/order-taker.ts';
import { applyCommands, type SourceSender, sourceOf } from '../orders/own-commands.ts';
import type { Pause } from '../orders/pauses.ts';
import { openPool } from '../orders/pool.ts';
import { SeqlockReader } from '../orders/seqlock-reader.ts';
import { Sequencer } from '../orders/sequencer.ts';
import { allocateSlots, type SlotMemory } from '../orders/slots.ts';
import type { WorkerSetup } from '../orders/worker.ts';
import { WriteGate } from '../orders/write-gate.ts';
import { factsOf, placeOf, settleSettings } from './kept-settings.ts';
import { DERIVE_MS_MAX, type Start } from './start.ts';
import { applyConfiguration, epochSettings } from './startup-commands.ts';
import type { Stores } from './stores.ts';

interface WriterOptions {
  readonly start: Start;
  readonly stores: Stores;
  /** Recovered; from here on the workers write them. */
  readonly tables: Tables;
  /** Resolves once they have been audited: nothing writes them before. */
  readonly sound: Promise<void>;
  readonly separators: OrderSeparators;
  /** Orders pause while it is in doubt. */
  readonly clock: NodeClock;
  /** Of BannedAddresses. */
  readonly banned: SharedArrayBuffer;
  /** Undefined without CLUSTER. */
  readonly cluster: Member | undefined;
  /** Called with each batch that changed the engine, once it is durable. */
  readonly onFlushed: (batch: AppliedBatch) => void;
}

const MS = 1_000;
/** Longest wait for the image at the end. */
const SNAPSHOT_MS_MAX = 900_000;

export interface Writer {
  /** What the catalog registers its markets with; undefined where nothing can be changed. */
  readonly sequencer: CatalogKeeperOptions['sequencer'];
  /** Commands of the ledger are sent by it; undefined where nothing can be changed. */
  readonly ledger: LedgerCommands | undefined;
  /** Runs levels, prints and fills of a source as one batch, which is durable when it resolves. */
  readonly source: SourceSender;
  /** Requests of clients come to the sequencer through these. */
  readonly lines: OrderTaker;
  /** Undefined where there is no admin listener to tell of them. */
  readonly meters: OrderMeters | undefined;
  readonly seqlock: SeqlockReader;
  /** The newest batch that is durable. */
  readonly applied: AppliedSequence;
  /** Requests that wait. */
  waiting(): number;
  /** Why this node is not ready, the rules of docs/protocol.md#readiness; none = it is. */
  pauses(): readonly Pause[];
  /** Pauses the venue, or resumes it with undefined. @param reason as the operator gives it */
  pauseVenue(reason: string | undefined): void;
  /** Resolves once what is durable now is derived, or that takes too long. */
  derived(): Promise<void>;
  /** How far what is derived is behind the log; undefined where nothing is derived. */
  progress(): FollowerProgress | undefined;
  /** Calls back once the batches that now run are done; only who found one running may call it. */
  whenBatchesDone(callback: () => void): void;
  /** Undefined where what is applied may be read before it is in the log: without CLUSTER. */
  readonly commits: Commits | undefined;
  /** Watches the wallets that wanted to be watched, from now on. */
  openHeartbeats(watches: WatchNotes): Pick<Heartbeats, 'beat' | 'stop'>;
  /** Resolves once what is due by now is done: orders have expired, markets have ended, payouts have begun. */
  expireDue(): Promise<void>;
  /** Resolves when every worker has loaded: until then an order waits longer than others. */
  ready(): Promise<void>;
  /** Has the follower begin, where it has not: once nothing of the start waits for a processor any more. */
  follow(): void;
  /** Finishes what is in flight, and has all of it derived and in an image. */
  close(): Promise<void>;
}

/** What the configuration changes is in place when it resolves. */
export async function startWriter(o: WriterOptions): Promise<Writer> {
  const parts = connect(o);
  try {
    await begin(o, parts);
  } catch (error) {
    await closeParts(o, parts).catch((second: Error) =>
      o.start.options.log('warn', second.message),
    );
    throw error;
  }
  return writerOf(o, parts);
}

type WriterParts = ReturnType<typeof connect>;

/** The parts refer to each other. */
function connect(o: WriterOptions) {
  const { clock, cluster, start, stores, tables } = o;
  const { config, log, onFatal, workerFile } = start.options;
  const slots = allocateSlots(
    2 * config.workers,
    ordersBodyMax(config.maxBatchOrders),
    BATCH_COMMANDS_MAX,
    config.resultCodes,
  );
  const setup = workerSetup(o, slots);
  const meters = setup.measures ? new OrderMeters() : undefined;
  const pool = openPool({
    ...(workerFile === undefined ? {} : { file: workerFile }),
    workers: config.workers,
    setup,
    report: (error) => log('warn', `a worker died: ${String(error)}`),
  });
  const sequencer: Sequencer = new Sequencer({
    tables,
    slots,
    pool,
    log: stores.log,
    workers: config.workers,
    prefetch: config.workers,
    queueMax: config.engineQueue,
    now: cluster?.clockOf(tables) ?? clock.now,
    closedPersisted: () => follower.finished(),
    onFlushed: (batch) => {
      o.onFlushed(batch);
      // A batch may have begun payouts that were due; another node's are its own to finish.
      if (isResolving(tables) && cluster?.leads() !== false) resolutions.wake();
      // In a cluster it may not be in the files yet.
      follower.reach(Math.min(batch.sequence, stores.log.last));
    },
    onFatal: (error) => {
      if (cluster?.takesFailure(error) !== true) onFatal(error);
    },
    warn: (line) => log('warn', line),
    meters,
  });
  const room = new WriteGate(sequencer, log);
  const follower = followerOf(o, sequencer, room);
  if (cluster !== undefined) cluster.log.onStored = (sequence) => follower.reach(sequence);
  // The time of a cluster does not depend on the clock of a machine.
  else
    clock.onDoubt = (problem) => {
      room.report('clock', problem);
      const aheadMs = aheadOf(engineTime(tables), clock.now());
      if (problem === undefined && aheadMs > 0) log('warn', aheadText(aheadMs));
    };
  const commits = cluster && sequencer;
  const seqlock = new SeqlockReader(
    slots.control,
    (callback) => sequencer.whenBatchesDone(callback),
    commits,
  );
  const warn = (line: string): void => log('warn', line);
  const resolutions = new ResolutionLoop({ tables, seqlock, sequencer, log: warn });
  return { slots, meters, pool, sequencer, room, follower, seqlock, commits, resolutions };
}

function workerSetup(
  { banned, separators, start, tables }: WriterOptions,
  slots: SlotMemory,
): WorkerSetup {
  const { config } = start.options;
  return {
    memory: tables.memory,
    slots,
    separators,
    verifySignatures: config.verifySignatures,
    banned,
    walletFactories: walletFactories(config),
    maxBatchOrders: config.maxBatchOrders,
    parse: { resolvesCondition: config.resolveConditionId, orderVersion: config.orderVersion },
    orderTexts: config.orderTexts,
    resultCodes: config.resultCodes,
    diagnosis: {
      domains: domainsOf(config),
      published: Object.values(PUBLISHED_DOMAINS),
      workers: config.workers,
    },
    replaysDuplicates: config.duplicateOrders === 'replay',
    dataDir: config.dataDir,
    measures: config.adminPort !== 0,
  };
}

/** Once the tables are audited: ids that memory has forgotten are known, and the configuration is in place. */
async function begin(o: WriterOptions, parts: WriterParts): Promise<void> {
  const { follower, resolutions, room, sequencer } = parts;
  const { clock, cluster, start, tables } = o;
  const { config, signal } = start.options;
  await start.waitOrStop('the audit of what was recovered', o.sound, DERIVE_MS_MAX);
  if (cluster === undefined && clock.problem() !== undefined) room.report('clock', clock.problem());
  // Where another node leads nothing is applied but its records.
  if (cluster !== undefined) sequencer.follow(true);
  // Orders may have expired meanwhile: the audit would see them leave.
  sequencer.begin();
  // Ids that memory has forgotten are recognised by what is derived.
  const forgotten = firstKeptClosed(tables);
  if (follower.finished() < forgotten) follower.start();
  const known = follower.derived(forgotten, signal);
  await start.wait('derived/, which is made again from the log', known, DERIVE_MS_MAX);
  signal?.throwIfAborted();
  if (cluster === undefined) {
    const settled = applyConfiguration(config, tables, sequencer);
    await start.wait('the workers to take the configuration', settled);
    resolutions.wake();
  } else {
    follower.start();
    const calls = {
      onProblem: (problem: string | undefined) => room.report('etcd', problem),
      onFatal: (error: Error) => sequencer.stop(error),
    };
    const own = { pauses: () => room.pauses(), wall: clock.wall };
    cluster.join(tables, sequencer, epochSettings(config), calls, own);
    cluster.whenLeading(() => resolutions.wake());
    await start.wait('somebody to lead the cluster', cluster.settled(signal));
  }
  // The first record of a cluster may have come meanwhile.
  const { set = new Set() } = start.options;
  if (cluster !== undefined)
    start.settle(settleSettings({ config, set }, factsOf(tables, placeOf(config), undefined)));
}

function writerOf(o: WriterOptions, parts: WriterParts): Writer {
  const { cluster, start, stores, tables } = o;
  const { config, log } = start.options;
  const { follower, meters, pool, resolutions, room, seqlock, sequencer } = parts;
  const own = new CallerLines(sequencer, config.engineQueue, config.resultCodes);
  const lines = cluster?.taker(own) ?? own;
  const whenBatchesDone = (callback: () => void): void => sequencer.whenBatchesDone(callback);
  return {
    sequencer,
    ledger: new LedgerCommands({
      ...{ tables, seqlock, sequencer },
      onResolve: () => resolutions.wake(),
    }),
    source: sourceOf(sequencer),
    lines,
    meters,
    seqlock,
    applied: sequencer.applied,
    waiting: () => sequencer.waiting() + lines.waiting,
    pauses: () => [...room.pauses(), ...(cluster?.pauses() ?? [])],
    pauseVenue: (reason) => room.report('operator', reason),
    derived: () => follower.reached(stores.log.last),
    progress: () => follower.progress(),
    whenBatchesDone,
    commits: parts.commits,
    openHeartbeats: (watches) => {
      const open = (): Heartbeats =>
        new Heartbeats({
          store: watches,
          periodMs: config.heartbeatSeconds * MS,
          cancelAll: (address) => cancelAllOf(sequencer, address),
          log: (line) => log('info', line),
        });
      return cluster === undefined ? open() : heartbeatsOf(cluster, open);
    },
    async expireDue() {
      if (cluster !== undefined) return;
      const earliest = earliestDue(tables);
      if (earliest === 0 || earliest > o.clock.now()) return;
      const due = applyCommands(sequencer, new Int32Array(0));
      await start.wait('what was due while the node was down', due);
    },
    ready: () => pool.loaded(),
    follow: () => follower.start(),
    close() {
      follower.start();
      return closeParts(o, parts);
    },
  };
}

/** Only the leader watches, and everybody has a whole period from the moment at which it leads. */
function heartbeatsOf(cluster: Member, open: () => Heartbeats): Pick<Heartbeats, 'beat' | 'stop'> {
  let heartbeats: Heartbeats | undefined;
  cluster.whenLeading(() => {
    heartbeats = open();
  });
  cluster.whenFollowing(() => {
    heartbeats?.stop();
    heartbeats = undefined;
  });
  return {
    beat: (...args) => heartbeats?.beat(...args) ?? Promise.reject(new Error('another node leads')),
    stop: () => heartbeats?.stop(),
  };
}

async function closeParts(
  { cluster, start }: WriterOptions,
  { follower, pool, resolutions, sequencer }: WriterParts,
): Promise<void> {
  await start.wait('the cluster to be quiet', Promise.resolve(cluster?.stopFollowing()));
  await start.wait('a step of a resolution', resolutions.close());
  await start.wait('requests that are under way', sequencer.drain());
  await start.wait('the cluster to know', Promise.resolve(cluster?.leave()));
  await start.wait('the follower to end, with an image', follower.close(), SNAPSHOT_MS_MAX);
  await start.wait('the workers to end', pool.close());
}

function followerOf(
  { clock, start, stores, tables }: WriterOptions,
  sequencer: Sequencer,
  room: WriteGate,
): FollowerKeeper {
  const { config, log } = start.options;
  const { capacities, dataDir, durability, imageBatches, imageSeconds } = config;
  const logFirst = stores.log.first;
  const damagedSnapshots = stores.snapshots.passedOver();
  stores.log.onRoom = (problem) => room.report('log', problem);
  return new FollowerKeeper({
    setup: {
      ...{ capacities, dataDir, durability, imageBatches, imageSeconds },
      ...{ logFirst, damagedSnapshots },
    },
    position: positionOf(stores.derived),
    durable: lastBatch(tables),
    onSnapshot: (older) => {
      if (config.journalKeep === 'all') return;
      stores.log.trim(older).catch((error: unknown) => log('warn', `log: ${String(error)}`));
    },
    onProblem: (problem) => room.report('follower', problem),
    now: clock.now,
    onFatal: (error) => sequencer.stop(error),
    log,
  });
}
