/**
 * Live tables of a node: a sequencer, real workers, a log in memory. A leader feeds them with
 * commands, other nodes with records.
 */
import { closedCount } from '../../engine/reads.ts';
import { BATCH_COMMANDS_MAX, type Capacities } from '../../engine/tables/capacities.ts';
import { allocateEngine, Tables } from '../../engine/tables/tables.ts';
import { BannedAddresses } from '../../server/auth/banned-addresses.ts';
import { allocateSlots } from '../../server/orders/exchange-memory/slots.ts';
import { sendCommands } from '../../server/orders/intake/internal-commands.ts';
import { Sequencer } from '../../server/orders/intake/sequencer.ts';
import type { AppliedBatch } from '../../server/orders/worker/applied-batch.ts';
import { openPool, type WorkerPool } from '../../server/orders/worker/pool.ts';
import type { WorkerSetup } from '../../server/orders/worker/worker.ts';
import type { LogEntry } from '../../storage/log/log.ts';
import { openDerivedTables } from '../../storage/projection/derived.ts';
import { temporaryDirectory } from '../common/node-harness.ts';
import { FakeLog, type FakeStore } from '../storage/fake-log.ts';
import { DOMAINS, NO_FACTORIES, SEPARATORS } from './separators.ts';

const WORKERS = 2;

export class LiveEngine {
  readonly t: Tables;
  readonly store: FakeStore = { entries: [] };
  readonly log = new FakeLog(this.store);
  readonly batches: AppliedBatch[] = [];
  readonly fatal: string[] = [];
  readonly sequencer: Sequencer;
  closedPersisted = (): number => closedCount(this.t);
  time = 0;
  private readonly pool: WorkerPool;

  constructor(capacities: Capacities) {
    this.t = new Tables(allocateEngine(capacities));
    const slots = allocateSlots(2 * WORKERS, 4_096, BATCH_COMMANDS_MAX);
    const dataDir = temporaryDirectory();
    // Workers look up there what has left memory: nothing ever does so twice in these tests.
    void openDerivedTables(dataDir, { durability: 'committed', readOnly: false }).root.close();
    const setup: WorkerSetup = {
      memory: this.t.memory,
      slots,
      separators: SEPARATORS,
      verifySignatures: false,
      walletFactories: NO_FACTORIES,
      banned: new BannedAddresses().memory,
      maxBatchOrders: 15,
      maxCancelIds: 1_000,
      parse: { resolvesCondition: false, orderVersion: '1', hasVersion3: false },
      orderTexts: 'spec',
      listsTrades: false,
      resultCodes: false,
      diagnosis: { domains: DOMAINS, published: [], workers: WORKERS },
      replaysDuplicates: false,
      dataDir,
      measures: false,
    };
    this.pool = openPool({
      workers: WORKERS,
      setup,
      report: (error) => void this.fatal.push(`${error}`),
    });
    this.sequencer = new Sequencer({
      tables: this.t,
      slots,
      pool: this.pool,
      log: this.log,
      workers: WORKERS,
      prefetch: WORKERS,
      queueMax: 1_000,
      now: () => this.time,
      closedPersisted: () => this.closedPersisted(),
      onFlushed: (batch) => this.batches.push(batch),
      onFatal: (error) => this.fatal.push(error.message),
      warn: (line) => this.fatal.push(line),
      metrics: undefined,
    });
    this.sequencer.begin();
  }

  /** Applies commands as one batch, at a time, like a leader. */
  async lead(commands: Int32Array, time: number): Promise<void> {
    this.time = time;
    await sendCommands(this.sequencer, commands);
  }

  /**
   * Applies records like a node that follows; resolves once all are applied, or the first of them
   * could not be.
   */
  async follow(entries: readonly LogEntry[]): Promise<void> {
    this.sequencer.follow(true);
    let left = entries.length;
    for (const { payload } of entries) this.sequencer.apply(payload, () => (left -= 1));
    while (left > 0 && this.fatal.length === 0) await new Promise((next) => setImmediate(next));
  }

  async close(): Promise<void> {
    if (this.fatal.length === 0) await this.sequencer.drain();
    await this.pool.close();
  }
}
