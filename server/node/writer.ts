/**
 * The writer of a node: workers, sequencer and projector. While DATA_DIR cannot be written, refusing-writer.ts stands in
 * its place.
 *
 * Thread: the I/O thread.
 */
import { isResolving } from '../../engine/ledger/reads.ts';
import { firstKeptClosed, lastBatch } from '../../engine/reads.ts';
import { BATCH_COMMANDS_MAX } from '../../engine/tables/capacities.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { positionOf } from '../../storage/projection/derived.ts';
import { type OrderSeparators, PUBLISHED_DOMAINS } from '../auth/exchange-domains.ts';
import { walletFactories } from '../auth/wallet-factory.ts';
import type { Commits } from '../common/commits.ts';
import type { NodeClock } from '../common/node-clock.ts';
import { domainsOf } from '../config/signing-domains.ts';
import { cancelAllOf } from '../orders/cancel/cancels.ts';
import { Heartbeats, type WatchStore } from '../orders/cancel/heartbeats.ts';
import { SequenceLockReader } from '../orders/exchange-memory/sequence-lock-reader.ts';
import { allocateSlots, type SlotMemory } from '../orders/exchange-memory/slots.ts';
import type { AppliedSequence } from '../orders/intake/applied-sequence.ts';
import { type SourceSender, sourceOf } from '../orders/intake/internal-commands.ts';
import type { OrderIntake } from '../orders/intake/order-intake.ts';
import { OrderMetrics } from '../orders/intake/order-metrics.ts';
import type { Pause } from '../orders/intake/pauses.ts';
import { Sequencer } from '../orders/intake/sequencer.ts';
import { WalletQueue } from '../orders/intake/wallet-queue.ts';
import { WriteGate } from '../orders/intake/write-gate.ts';
import type { AppliedBatch } from '../orders/worker/applied-batch.ts';
import { openPool } from '../orders/worker/pool.ts';
import type { WorkerSetup } from '../orders/worker/worker.ts';
import { ordersBodyMax } from '../routes/node-info.ts';
import { LedgerCommands } from '../wallet/ledger-commands.ts';
import { ResolutionLoop } from '../wallet/resolution-loop.ts';
import type { Authority, WriterControls } from './authority.ts';
import { type ProjectorProgress, ProjectorService } from './projector-service.ts';
import { DERIVE_MS_MAX, type Start } from './start.ts';
import type { Stores } from './stores.ts';

export interface WriterOptions {
  readonly start: Start;
  readonly stores: Stores;
  /** Recovered; from here on the workers write them. */
  readonly tables: Tables;
  /** Resolves once the tables are audited: nothing writes them before. */
  readonly sound: Promise<void>;
  readonly separators: OrderSeparators;
  readonly clock: NodeClock;
  readonly authority: Authority;
  /** Memory of BannedAddresses. */
  readonly banned: SharedArrayBuffer;
  /** Called with each batch that changed the engine, once it is durable. */
  readonly onCommitted: (batch: AppliedBatch) => void;
}

const MS = 1_000;
/** Longest wait for the snapshot at the end. */
const SNAPSHOT_MS_MAX = 900_000;

export interface Writer {
  /** `undefined` where nothing can be written, as `ledger`. */
  readonly sequencer: Sequencer | undefined;
  readonly ledger: LedgerCommands | undefined;
  /** Applies price levels, trade prints and fills of a source as one batch, which is durable when it resolves. */
  readonly source: SourceSender;
  /** Intake of the requests of clients. */
  readonly lines: OrderIntake;
  /** `undefined` when metrics are off. */
  readonly meters: OrderMetrics | undefined;
  readonly sequenceLock: SequenceLockReader;
  /** The newest batch that is durable. */
  readonly applied: AppliedSequence;
  /** Number of requests that wait. */
  waiting(): number;
  /** Reasons why this node is not ready (docs/protocol.md#readiness). */
  pauses(): readonly Pause[];
  /** Pauses the exchange; `undefined` resumes it. */
  pauseVenue(reason: string | undefined): void;
  /** Resolves once what is durable now is projected, or after a bounded wait. */
  derived(): Promise<void>;
  /** `undefined` where nothing is projected. */
  progress(): ProjectorProgress | undefined;
  /** Calls back once the running batches are done. Requires that a batch runs. */
  whenBatchesDone(callback: () => void): void;
  /** `undefined` without CLUSTER: then a read may show a batch before it is in the log. */
  readonly commits: Commits | undefined;
  /** Starts the heartbeat timeouts of all wallets that are watched. */
  openHeartbeats(watches: WatchStore): Pick<Heartbeats, 'beat' | 'stop'>;
  /** Resolves once what is due by now is applied: expired orders, ended markets, payouts. */
  expireDue(): Promise<void>;
  /** Resolves when every worker has loaded. */
  ready(): Promise<void>;
  /** Starts the projector unless it runs: once nothing of the start waits for a processor. */
  follow(): void;
  /** Finishes what is in flight, projects it and writes a snapshot. */
  close(): Promise<void>;
}

export async function startWriter(options: WriterOptions): Promise<Writer> {
  const parts = connect(options);
  try {
    await begin(options, parts);
  } catch (error) {
    const { log } = options.start.options;
    await closeParts(options, parts).catch((second: Error) => log('warn', second.message));
    throw error;
  }
  return writerOf(options, parts);
}

interface WriterParts extends WriterControls {
  readonly meters: OrderMetrics | undefined;
  readonly pool: ReturnType<typeof openPool>;
  readonly sequenceLock: SequenceLockReader;
  readonly commits: Commits | undefined;
  readonly resolutions: ResolutionLoop;
}

/** Creates the parts. Sequencer and projector refer to each other. */
function connect(options: WriterOptions): WriterParts {
  const { authority, onCommitted, start, stores, tables } = options;
  const { config, log, onFatal, workerFile } = start.options;
  const warn = (line: string): void => log('warn', line);
  const slots = allocateSlots(
    2 * config.workers,
    ordersBodyMax(config.maxBatchOrders),
    BATCH_COMMANDS_MAX,
    config.resultCodes,
  );
  const setup = workerSetup(options, slots);
  const meters = setup.measures ? new OrderMetrics() : undefined;
  const pool = openPool({
    ...(workerFile === undefined ? {} : { file: workerFile }),
    workers: config.workers,
    setup,
    report: (error) => warn(`a worker died: ${String(error)}`),
  });
  const sequencer: Sequencer = new Sequencer({
    tables,
    slots,
    pool,
    log: stores.log,
    workers: config.workers,
    prefetch: config.workers,
    queueMax: config.engineQueue,
    now: authority.batchClock(tables),
    closedPersisted: () => projector.finished(),
    onFlushed: (batch) => {
      onCommitted(batch);
      // Payouts that another node began are its own to finish.
      if (isResolving(tables) && authority.leads()) resolutions.wake();
      // In a cluster the batch may not be in the files yet.
      projector.reach(Math.min(batch.sequence, stores.log.last));
    },
    onFatal: (error) => {
      if (!authority.takesFailure(error)) onFatal(error);
    },
    warn,
    meters,
  });
  const gate = new WriteGate(sequencer, log);
  const projector = openProjector(options, sequencer, gate);
  const commits = authority.member && sequencer;
  const sequenceLock = new SequenceLockReader(
    slots.control,
    (callback) => sequencer.whenBatchesDone(callback),
    commits,
  );
  const resolutions = new ResolutionLoop({ tables, sequenceLock, sequencer, log: warn });
  const parts = {
    tables,
    sequencer,
    gate,
    projector,
    meters,
    pool,
    sequenceLock,
    commits,
    resolutions,
  };
  authority.connect(parts);
  return parts;
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

/** Opens the way for batches, once the tables are audited and the ids that memory has forgotten can be found. */
async function begin(options: WriterOptions, parts: WriterParts): Promise<void> {
  const { projector, resolutions, sequencer, tables } = parts;
  const { authority, sound, start } = options;
  const { signal } = start.options;
  await start.waitOrStop('the audit of what was recovered', sound, DERIVE_MS_MAX);
  authority.prepare(parts);
  // Orders may have expired meanwhile: the audit would see them leave.
  sequencer.begin();
  const forgotten = firstKeptClosed(tables);
  if (projector.finished() < forgotten) projector.start();
  const known = projector.derived(forgotten, signal);
  await start.wait('derived/, which is made again from the log', known, DERIVE_MS_MAX);
  signal?.throwIfAborted();
  await authority.begin(parts);
  await authority.whenLeading(() => resolutions.wake());
}

function writerOf(options: WriterOptions, parts: WriterParts): Writer {
  const { authority, start, stores } = options;
  const { config } = start.options;
  const { gate, meters, pool, projector, resolutions, sequenceLock, sequencer, tables } = parts;
  const lines = authority.intake(
    new WalletQueue(sequencer, config.engineQueue, config.resultCodes),
  );
  return {
    sequencer,
    ledger: new LedgerCommands({
      tables,
      sequenceLock,
      sequencer,
      onResolve: () => resolutions.wake(),
    }),
    source: sourceOf(sequencer),
    lines,
    meters,
    sequenceLock,
    applied: sequencer.applied,
    waiting: () => sequencer.waiting() + lines.waiting,
    pauses: () => [...gate.pauses(), ...authority.pauses()],
    pauseVenue: (reason) => gate.report('operator', reason),
    derived: () => projector.reached(stores.log.last),
    progress: () => projector.progress(),
    whenBatchesDone: (callback) => sequencer.whenBatchesDone(callback),
    commits: parts.commits,
    openHeartbeats: (watches) => openHeartbeats(options, sequencer, watches),
    expireDue: () => authority.expireDue(parts),
    ready: () => pool.loaded(),
    follow: () => projector.start(),
    close() {
      projector.start();
      return closeParts(options, parts);
    },
  };
}

/** Only the node that leads watches. Each wallet has a whole period from the beginning of the lead. */
function openHeartbeats(
  { authority, start }: WriterOptions,
  sequencer: Sequencer,
  watches: WatchStore,
): Pick<Heartbeats, 'beat' | 'stop'> {
  const { config, log } = start.options;
  let heartbeats: Heartbeats | undefined;
  void authority.whenLeading(() => {
    heartbeats = new Heartbeats({
      store: watches,
      periodMs: config.heartbeatSeconds * MS,
      cancelAll: (address) => cancelAllOf(sequencer, address),
      log: (line) => log('info', line),
    });
  });
  authority.whenFollowing(() => {
    heartbeats?.stop();
    heartbeats = undefined;
  });
  return {
    beat: (...args) => heartbeats?.beat(...args) ?? Promise.reject(new Error('another node leads')),
    stop: () => heartbeats?.stop(),
  };
}

async function closeParts(
  { authority, start }: WriterOptions,
  { pool, projector, resolutions, sequencer }: WriterParts,
): Promise<void> {
  await start.wait('the cluster to be quiet', authority.stopFollowing());
  await start.wait('a step of a resolution', resolutions.close());
  await start.wait('requests that are under way', sequencer.drain());
  await start.wait('the cluster to know', authority.leave());
  await start.wait('the projector to end, with a snapshot', projector.close(), SNAPSHOT_MS_MAX);
  await start.wait('the workers to end', pool.close());
}

function openProjector(
  { clock, start, stores, tables }: WriterOptions,
  sequencer: Sequencer,
  gate: WriteGate,
): ProjectorService {
  const { config, log } = start.options;
  const { capacities, dataDir, durability, imageBatches, imageSeconds } = config;
  stores.log.onRoom = (problem) => gate.report('log', problem);
  return new ProjectorService({
    setup: {
      capacities,
      dataDir,
      durability,
      imageBatches,
      imageSeconds,
      logFirst: stores.log.first,
      damagedSnapshots: stores.snapshots.passedOver(),
    },
    position: positionOf(stores.derived),
    durable: lastBatch(tables),
    onSnapshot: (older) => {
      if (config.journalKeep === 'all') return;
      stores.log.trim(older).catch((error: unknown) => log('warn', `log: ${String(error)}`));
    },
    onProblem: (problem) => gate.report('follower', problem),
    now: clock.now,
    onFatal: (error) => sequencer.stop(error),
    log,
  });
}
