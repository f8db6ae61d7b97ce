/** A node's engine, its log, and a projector that a test drives. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { ledgerTotals } from '../../engine/ledger/reads.ts';
import { State } from '../../engine/tables/layout.ts';
import { StoredClosedOrders } from '../../storage/projection/closed-orders.ts';
import { openDerivedTables, positionOf } from '../../storage/projection/derived.ts';
import { fillCopy } from '../../storage/projection/fills.ts';
import {
  LogProjector,
  type LogProjectorOptions,
  type ProjectorReport,
} from '../../storage/projection/log-projector.ts';
import type { LoggedBatch } from '../engine/engine-driver.ts';
import { FakeLog, type FakeStore } from './fake-log.ts';
import {
  appended,
  directoryOf,
  Exchange,
  finalCopy,
  type StoredFinal,
  TIGHT,
} from './stored-exchange.ts';

export const QUICK = { durability: 'committed', readOnly: true } as const;
/** Milliseconds after which everything that waits is due. */
const LATER = 10_000;

export class Pair {
  readonly store: FakeStore = { entries: [] };
  readonly log = new FakeLog(this.store);
  readonly context: Exchange;
  readonly dataDir: string;
  readonly reports: ProjectorReport[] = [];
  /** Every fill, and every closed order, in its order. */
  readonly fills: Buffer[] = [];
  readonly closedOrders: StoredFinal[] = [];
  follower: LogProjector;
  now = 0;
  private readonly options: Partial<LogProjectorOptions>;

  constructor(t: TestContext, options: Partial<LogProjectorOptions> = {}, capacities = TIGHT) {
    this.options = options;
    this.context = new Exchange(capacities);
    this.dataDir = options.dataDir ?? directoryOf(t);
    this.follower = this.start();
  }

  /** Starts a projector like another process on the same directory. */
  start(change: Partial<LogProjectorOptions> = {}): LogProjector {
    this.follower = new LogProjector(
      {
        dataDir: this.dataDir,
        durability: 'committed',
        capacities: this.context.t.capacities,
        imageSeconds: 86_400,
        imageBatches: 1_000_000,
        logFirst: this.log.first,
        read: (from) => this.log.read(from),
        report: (report) => this.reports.push(report),
        ...this.options,
        ...change,
      },
      this.now,
    );
    return this.follower;
  }

  /** Logs batches like the sequencer: the stamp is the projected position at dispatch. */
  async go(batches: readonly LoggedBatch[]): Promise<void> {
    const { t } = this.context;
    for (const batch of batches) {
      const { [State.fills]: fill, [State.closed]: finished } = t.state;
      const entry = this.context.apply(batch, this.follower.written.finished);
      for (let n = fill!; n < t.state[State.fills]!; n++) this.fills.push(fillCopy(t, n));
      for (let n = finished!; n < t.state[State.closed]!; n++)
        this.closedOrders.push(finalCopy(t, n));
      if (entry !== null) await appended(this.log, entry);
    }
  }

  settle(): void {
    for (let i = 0; i < 3; i++) {
      while (this.follower.step(this.log.last, this.now));
      this.now += LATER;
    }
  }

  lines(): string[] {
    return this.reports.flatMap((report) => (report.kind === 'line' ? [report.line] : []));
  }

  /** Checks that LMDB has exactly the fills and closed orders from these on. */
  checkDerived(firstFill = 0, firstFinal = 0): void {
    const derived = openDerivedTables(this.dataDir, QUICK);
    const { state } = this.context.t;
    assert.deepEqual(positionOf(derived), {
      sequence: state[State.batch],
      digest: state[State.digest],
      fills: this.fills.length,
      finished: this.closedOrders.length,
      entries: ledgerTotals(this.context.t).entries,
    });
    const rows = [...derived.fills.range(0, this.fills.length + 10)];
    assert.deepEqual(rows, this.fills.map((fill, n) => [n, fill] as const).slice(firstFill));
    const closedOrders = [...derived.closedOrders.range(0, this.closedOrders.length + 10)];
    assert.deepEqual(
      closedOrders,
      this.closedOrders.map(({ row }, n) => [n, row] as const).slice(firstFinal),
    );
    const found = new StoredClosedOrders(derived);
    for (const { id, row } of this.closedOrders.slice(firstFinal))
      assert.deepEqual(found.find(id), row);
    for (const { id } of this.closedOrders.slice(0, firstFinal))
      assert.equal(found.find(id), undefined);
    void derived.root.close();
  }
}

/** A trading day in parts of 25 batches. */
export function parts(day: readonly LoggedBatch[]): (readonly LoggedBatch[])[] {
  return Array.from({ length: Math.ceil(day.length / 25) }, (_, i) =>
    day.slice(25 * i, 25 * (i + 1)),
  );
}
