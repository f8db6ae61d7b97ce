/**
 * What a node has that may write: workers, sequencer, journal and follower, put together.
 *
 * Thread: the I/O thread.
 */
import { State } from '../engine/layout.ts';
import { BATCH_COMMANDS_MAX } from '../engine/limits.ts';
import type { Tables } from '../engine/tables.ts';
import { positionOf } from '../storage/derived.ts';
import { Journal } from '../storage/journal.ts';
import type { Config } from './config.ts';
import type { Separators } from './demo-books.ts';
import { ordersBodyMax } from './node-info.ts';
import type { FlushedBatch } from './orders/flushed-batch.ts';
import { FollowerKeeper } from './orders/follower-keeper.ts';
import { openPool } from './orders/pool.ts';
import { QuietReads } from './orders/quiet-reads.ts';
import { Room } from './orders/room.ts';
import { Sequencer } from './orders/sequencer.ts';
import { allocateSlots, whenLoaded } from './orders/slots.ts';
import type { WorkerSetup } from './orders/worker.ts';
import { settleConfiguration } from './settle.ts';
import type { Stores } from './stores.ts';

interface WriterOptions {
  readonly config: Config;
  readonly stores: Stores;
  /** Recovered; from here on the workers write them. */
  readonly tables: Tables;
  readonly separators: Separators;
  readonly log: (level: 'info' | 'warn', line: string) => void;
  /** The node cannot go on. */
  readonly onFatal: (error: Error) => void;
  /** Told of each batch that is durable, and of the sequence before which all fills are. */
  readonly onFlushed: (endFill: number, batch: FlushedBatch) => void;
  /** Another worker file, for tests of what happens when one dies. */
  readonly workerFile?: URL;
}

export interface Writer {
  readonly sequencer: Sequencer;
  readonly quiet: QuietReads;
  /** Finishes what is in flight, and has all of it derived and in an image. */
  close(): Promise<void>;
}

/** What the configuration changes is in place when it resolves. */
export async function startWriter(o: WriterOptions): Promise<Writer> {
  const { config, log, stores, tables } = o;
  const slots = allocateSlots(
    2 * config.workers,
    ordersBodyMax(config.maxBatchOrders),
    BATCH_COMMANDS_MAX,
  );
  const setup: WorkerSetup = {
    memory: tables.memory,
    slots,
    ...o.separators,
    verifySignatures: config.verifySignatures,
    maxBatchOrders: config.maxBatchOrders,
    resolvesCondition: config.resolveConditionId,
    dataDir: config.dataDir,
  };
  const pool = openPool({
    ...(o.workerFile === undefined ? {} : { file: o.workerFile }),
    workers: config.workers,
    setup,
    report: (error) => log('warn', `a worker died: ${String(error)}`),
  });
  const journal = new Journal(stores.log);
  const sequencer: Sequencer = new Sequencer({
    tables,
    slots,
    pool,
    journal,
    workers: config.workers,
    queueMax: config.engineQueue,
    now: Date.now,
    finalsFlushed: () => follower.finished(),
    onFlushed: (sequence, endFill, batch) => {
      o.onFlushed(endFill, batch);
      follower.reach(sequence);
    },
    onFatal: o.onFatal,
    log: (line) => log('warn', line),
  });
  const follower = startFollower(o, sequencer);
  // Ids that memory has forgotten are recognised by what is derived.
  await follower.derived(tables.state[State.finishedFirst]!);
  await settleConfiguration(config, tables, sequencer);
  return {
    sequencer,
    quiet: new QuietReads(slots.control, (callback) => sequencer.whenSettled(callback)),
    async close() {
      await sequencer.drain();
      await journal.drained();
      await follower.close();
      await whenLoaded(new Int32Array(slots.control), config.workers);
      await pool.close();
    },
  };
}

function startFollower(
  { config, log, stores, tables }: WriterOptions,
  sequencer: Sequencer,
): FollowerKeeper {
  const { capacities, dataDir, durability, imageBatches, imageSeconds } = config;
  const logFirst = stores.log.first;
  const room = new Room(sequencer, log);
  stores.log.onRoom = (problem) => room.tell('log', problem);
  return new FollowerKeeper({
    setup: { capacities, dataDir, durability, imageBatches, imageSeconds, logFirst },
    position: positionOf(stores.derived),
    durable: tables.state[State.batch]!,
    onImage: (older) => {
      if (config.journalKeep === 'all') return;
      stores.log.trim(older).catch((error: unknown) => log('warn', `log: ${String(error)}`));
    },
    onProblem: (problem) => room.tell('follower', problem),
    onFatal: (error) => sequencer.stop(error),
    log,
  });
}
