/**
 * What a node has that may write: workers, sequencer and follower, put together.
 *
 * Thread: the I/O thread.
 */

import { engineTime, firstKeptClosed, lastBatch } from '../../engine/reads.ts';
import { BATCH_COMMANDS_MAX } from '../../engine/tables/capacities.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { positionOf } from '../../storage/projection/derived.ts';
import { ordersBodyMax } from '../api/node-info.ts';
import { aheadOf, aheadText, type GuardedClock } from '../common/guarded-clock.ts';
import { withDeadline } from '../common/with-deadline.ts';
import type { Config } from '../config/config.ts';
import { walletFactory } from '../identity/wallet-factory.ts';
import type { AppliedBatch } from '../orders/applied-batch.ts';
import { CallerLines } from '../orders/caller-lines.ts';
import { FollowerKeeper, type FollowerProgress } from '../orders/follower-keeper.ts';
import { OrderMeters } from '../orders/order-meters.ts';
import { applyCommands } from '../orders/own-commands.ts';
import type { Pause } from '../orders/pauses.ts';
import { openPool } from '../orders/pool.ts';
import type { OrderSeparators } from '../orders/prepare.ts';
import { SeqlockReader } from '../orders/seqlock-reader.ts';
import { Sequencer } from '../orders/sequencer.ts';
import { allocateSlots } from '../orders/slots.ts';
import type { WorkerSetup } from '../orders/worker.ts';
import { WriteGate } from '../orders/write-gate.ts';
import { applyConfiguration } from './startup-commands.ts';
import type { Stores } from './stores.ts';

interface WriterOptions {
  readonly config: Config;
  readonly stores: Stores;
  /** Recovered; from here on the workers write them. */
  readonly tables: Tables;
  /** Resolves once they have been audited: nothing writes them before. */
  readonly sound: Promise<void>;
  readonly separators: OrderSeparators;
  /** Orders pause while it is in doubt. */
  readonly clock: GuardedClock;
  readonly log: (level: 'info' | 'warn', line: string) => void;
  /** The node cannot go on. */
  readonly onFatal: (error: Error) => void;
  /** Called with each batch that changed the engine, once it is durable. */
  readonly onFlushed: (batch: AppliedBatch) => void;
  /** Another worker file, for tests of what happens when one dies. */
  readonly workerFile?: URL;
  /** Gives up the start. */
  readonly signal?: AbortSignal | undefined;
}

/** Longest wait for the node's own first commands, for requests and the log at the end, and for threads. */
const WAIT_MS_MAX = 60_000;
/** What is derived may have to be made again from all of the log; at the end an image is written. */
const DERIVE_MS_MAX = 6 * 3_600_000;
const SNAPSHOT_MS_MAX = 900_000;

export interface Writer {
  readonly sequencer: Sequencer;
  /** Requests of clients come to the sequencer through these. */
  readonly lines: CallerLines;
  /** Undefined where there is no admin listener to tell of them. */
  readonly meters: OrderMeters | undefined;
  readonly seqlock: SeqlockReader;
  /** Why orders are not taken; none = they are. */
  pauses(): readonly Pause[];
  /** How far what is derived is behind the log. */
  progress(): FollowerProgress;
  /** Resolves once the orders that have expired by now are gone. */
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
  const { clock, config, log, stores, tables } = o;
  const slots = allocateSlots(
    2 * config.workers,
    ordersBodyMax(config.maxBatchOrders),
    BATCH_COMMANDS_MAX,
  );
  const setup: WorkerSetup = {
    memory: tables.memory,
    slots,
    separators: o.separators,
    verifySignatures: config.verifySignatures,
    walletFactories: {
      proxy: walletFactory(config.proxyWalletFactory),
      safe: walletFactory(config.safeWalletFactory),
    },
    maxBatchOrders: config.maxBatchOrders,
    parse: { resolvesCondition: config.resolveConditionId, orderVersion: config.orderVersion },
    orderTexts: config.orderTexts,
    replaysDuplicates: config.duplicateOrders === 'replay',
    dataDir: config.dataDir,
    measures: config.adminPort !== 0,
  };
  const meters = setup.measures ? new OrderMeters() : undefined;
  const pool = openPool({
    ...(o.workerFile === undefined ? {} : { file: o.workerFile }),
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
    now: clock.now,
    closedPersisted: () => follower.finished(),
    onFlushed: (batch) => {
      o.onFlushed(batch);
      follower.reach(batch.sequence);
    },
    onFatal: o.onFatal,
    warn: (line) => log('warn', line),
    meters,
  });
  const room = new WriteGate(sequencer, log);
  const follower = followerOf(o, sequencer, room);
  const tell = (line: string): void => log('info', line);
  const wait = (what: string, promise: Promise<unknown>, msMax = WAIT_MS_MAX): Promise<unknown> =>
    withDeadline(promise, { what, msMax, log: tell });
  clock.onDoubt = (problem) => {
    room.report('clock', problem);
    const aheadMs = aheadOf(engineTime(tables), clock.now());
    if (problem === undefined && aheadMs > 0) log('warn', aheadText(aheadMs));
  };
  const close = async (): Promise<void> => {
    await wait('requests that are under way', sequencer.drain());
    await wait('the follower to end, with an image', follower.close(), SNAPSHOT_MS_MAX);
    await wait('the workers to end', pool.close());
  };
  try {
    const audit = { what: 'the audit of what was recovered', msMax: DERIVE_MS_MAX, log: tell };
    await withDeadline(o.sound, { ...audit, signal: o.signal });
    if (clock.problem() !== undefined) room.report('clock', clock.problem());
    // Orders may have expired meanwhile: the audit would see them leave.
    sequencer.begin();
    // Ids that memory has forgotten are recognised by what is derived.
    const forgotten = firstKeptClosed(tables);
    if (follower.finished() < forgotten) follower.start();
    const known = follower.derived(forgotten, o.signal);
    await wait('derived/, which is made again from the log', known, DERIVE_MS_MAX);
    o.signal?.throwIfAborted();
    const settled = applyConfiguration(config, tables, sequencer);
    await wait('the workers to take the configuration', settled);
  } catch (error) {
    await close().catch((second: Error) => log('warn', second.message));
    throw error;
  }
  return {
    sequencer,
    lines: new CallerLines(sequencer, config.engineQueue),
    meters,
    pauses: () => room.pauses(),
    progress: () => follower.progress(),
    ready: () => pool.loaded(),
    seqlock: new SeqlockReader(slots.control, (callback) => sequencer.whenBatchesDone(callback)),
    async expireDue() {
      const due = applyCommands(sequencer, new Int32Array(0));
      await wait('the orders that expired while the node was down', due);
    },
    follow: () => follower.start(),
    close() {
      follower.start();
      return close();
    },
  };
}

function followerOf(
  { clock, config, log, stores, tables }: WriterOptions,
  sequencer: Sequencer,
  room: WriteGate,
): FollowerKeeper {
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
