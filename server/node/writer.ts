/**
 * Writer of a node: workers, sequencer and projector. While DATA_DIR cannot be written, refusing-writer.ts
 * replaces it.
 *
 * Thread: I/O. Not here: the right to write (authority.ts).
 */
import { isResolving } from '../../engine/ledger/reads.ts';
import { firstKeptClosed, lastBatch } from '../../engine/reads.ts';
import { seasonIsEnding } from '../../engine/season.ts';
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
  /** Recovered tables; from here on only the workers write them. */
  readonly tables: Tables;
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
const SNAPSHOT_MS_MAX = 900_000;

export interface Writer {
  /** `undefined` on a read-only node, like `ledger` and what progress() returns. */
  readonly sequencer: Sequencer | undefined;
  readonly ledger: LedgerCommands | undefined;
  /** Applies price levels, trade prints and fills of a source as one batch, which is durable when it resolves. */
  readonly source: SourceSender;
  readonly intake: OrderIntake;
  /** `undefined` when metrics are off. */
  readonly metrics: OrderMetrics | undefined;
  readonly sequenceLock: SequenceLockReader;
  /** The newest batch that is durable. */
  readonly applied: AppliedSequence;
  waiting(): number;
  /** Reasons why this node is not ready (docs/protocol.md#readiness). */
  pauses(): readonly Pause[];
  /** Pauses the exchange; `undefined` resumes it. */
  pauseVenue(reason: string | undefined): void;
  /** Resolves once the batches that are durable now are projected, or after a bounded wait. */
  whenProjected(): Promise<void>;
  progress(): ProjectorProgress | undefined;
  /** Allows batches; resolves once settings are in force, or the cluster is joined. Rejects where the node must not run. */
  begin(): Promise<void>;
  /** Calls back once the running batches are done. Requires that a batch runs. */
  whenBatchesDone(callback: () => void): void;
  /** `undefined` without CLUSTER: then a read may show a batch before it is in the log. */
  readonly commits: Commits | undefined;
  openHeartbeats(watches: WatchStore): Pick<Heartbeats, 'take' | 'stop'>;
  /** Resolves once everything due by now is applied: expired orders, ended markets, payouts. */
  expireDue(): Promise<void>;
  ready(): Promise<void>;
  /** Starts the projector unless it runs: late, so that it does not slow the start down. */
  follow(): void;
  /** Finishes requests in flight, projects their batches and writes a snapshot. */
  close(): Promise<void>;
}

/** Opens the writer of a node that may write. Its workers load meanwhile. */
export function openWriter(options: WriterOptions): Writer {
  return writerOf(options, connect(options));
}

interface WriterParts extends WriterControls {
  readonly metrics: OrderMetrics | undefined;
  readonly pool: ReturnType<typeof openPool>;
  readonly sequenceLock: SequenceLockReader;
  readonly commits: Commits | undefined;
  readonly resolutions: ResolutionLoop;
}

/** Creates the parts. Sequencer and projector refer to each other. */
function connect(options: WriterOptions): WriterParts {
  const { authority, onCommitted, start, stores, tables } = options;
  const { config, log, onFatal } = start.options;
  const warn = (line: string): void => log('warn', line);
  const slots = allocateSlots(
    2 * config.workers,
    ordersBodyMax(config.maxBatchOrders),
    BATCH_COMMANDS_MAX,
    config.resultCodes,
  );
  const setup = workerSetup(options, slots);
  const metrics = setup.measures ? new OrderMetrics() : undefined;
  const pool = openWorkers(options, setup);
  const sequencer: Sequencer = new Sequencer({
    tables,
    slots,
    pool,
    log: stores.log,
    workers: config.workers,
    prefetch: config.workers,
    queueMax: config.engineQueue,
    now: authority.batchClock(tables),
    closedPersisted: () => projector.closedPersisted(),
    onFlushed: (batch) => {
      onCommitted(batch);
      // Another leader finishes the payouts, or the season, that it began.
      const hasSteps = isResolving(tables) || seasonIsEnding(tables);
      if (hasSteps && authority.leads()) resolutions.wake();
      // In a cluster the files of this node may lag behind the batch.
      projector.reach(Math.min(batch.sequence, stores.log.last));
    },
    onFatal: (error) => {
      if (!authority.takesFailure(error)) onFatal(error);
    },
    warn,
    metrics,
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
    metrics,
    pool,
    sequenceLock,
    commits,
    resolutions,
  };
  authority.connect(parts);
  return parts;
}

function openWorkers({ start }: WriterOptions, setup: WorkerSetup) {
  const { config, log, workerFile } = start.options;
  return openPool({
    ...(workerFile === undefined ? {} : { file: workerFile }),
    workers: config.workers,
    setup,
    report: (error) => log('warn', `a worker died: ${String(error)}`),
  });
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
    maxCancelIds: config.maxCancelIds,
    parse: {
      resolvesCondition: config.resolveConditionId,
      orderVersion: config.orderVersion,
      hasVersion3: separators[3] !== undefined,
    },
    orderTexts: config.orderTexts,
    listsTrades: config.tradeIds === 'list',
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

/** Allows batches, once the tables are audited and ids that have left memory can be found on disk. */
async function begin(options: WriterOptions, parts: WriterParts): Promise<void> {
  const { projector, resolutions, sequencer, tables } = parts;
  const { authority, sound, start } = options;
  const { signal } = start.options;
  await start.waitOrStop('the audit of what was recovered', sound, DERIVE_MS_MAX);
  authority.prepare(parts);
  // The audit must end before orders expire.
  sequencer.begin();
  const forgotten = firstKeptClosed(tables);
  if (projector.closedPersisted() < forgotten) projector.start();
  const known = projector.whenClosedPersisted(forgotten, signal);
  await start.wait('derived/, which is made again from the log', known, DERIVE_MS_MAX);
  signal?.throwIfAborted();
  await authority.begin(parts);
  await authority.whenLeading(() => resolutions.wake());
}

function writerOf(options: WriterOptions, parts: WriterParts): Writer {
  const { authority, start, stores } = options;
  const { config } = start.options;
  const { gate, metrics, pool, projector, resolutions, sequenceLock, sequencer, tables } = parts;
  let hasBegun = false;
  const intake = authority.intake(
    new WalletQueue(sequencer, config.engineQueue, config.resultCodes),
  );
  return {
    sequencer,
    ledger: new LedgerCommands({
      tables,
      sequenceLock,
      sequencer,
      onSteps: () => resolutions.wake(),
    }),
    source: sourceOf(sequencer),
    intake,
    metrics,
    sequenceLock,
    applied: sequencer.applied,
    waiting: () => sequencer.waiting() + intake.waiting,
    pauses: () => [...gate.pauses(), ...authority.pauses()],
    pauseVenue: (reason) => gate.report('operator', reason),
    whenProjected: () => projector.whenProjected(stores.log.last),
    progress: () => projector.progress(),
    async begin() {
      await begin(options, parts);
      hasBegun = true;
    },
    whenBatchesDone: (callback) => sequencer.whenBatchesDone(callback),
    commits: parts.commits,
    openHeartbeats: (watches) => openHeartbeats(options, sequencer, watches),
    expireDue: () => authority.expireDue(parts),
    ready: () => pool.loaded(),
    follow: () => projector.start(),
    close() {
      // Nothing is projected of tables that may have failed their audit.
      if (hasBegun) projector.start();
      return closeParts(options, parts);
    },
  };
}

/**
 * Creates heartbeat timeouts while this node leads. Each wallet has a whole period from the beginning of the
 * lead.
 */
function openHeartbeats(
  { authority, start }: WriterOptions,
  sequencer: Sequencer,
  watches: WatchStore,
): Pick<Heartbeats, 'take' | 'stop'> {
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
    take: (...args) => heartbeats?.take(...args) ?? Promise.reject(new Error('another node leads')),
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
      damagedSnapshots: stores.snapshots.skipped(),
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
