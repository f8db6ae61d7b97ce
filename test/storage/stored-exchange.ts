/**
 * An engine with a log, for the tests of storage: batches of a random trading day, applied and
 * recorded like those of the sequencer, without HTTP and without workers.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandBuffer, encodeConfigure } from '../../engine/commands.ts';
import { Engine } from '../../engine/engine.ts';
import type { EventBuffer } from '../../engine/events.ts';
import { closedOrder } from '../../engine/orders/orders.ts';
import type { Capacities } from '../../engine/tables/capacities.ts';
import { ID_WORDS } from '../../engine/tables/codes.ts';
import { ORDER_I, Order, State } from '../../engine/tables/layout.ts';
import { allocateEngine, type EngineMemory, type Tables } from '../../engine/tables/tables.ts';
import { type BatchRecord, decodeBatch, encodeBatch } from '../../storage/log/batch-record.ts';
import type { Log, NewEntry } from '../../storage/log/log.ts';
import { finalCopier } from '../../storage/projection/fills.ts';
import type { SnapshotFiles, SnapshotInfo } from '../../storage/snapshot/snapshots.ts';
import { freshSeed, Random } from '../common/random.ts';
import { EngineDriver, type LoggedBatch } from '../engine/engine-driver.ts';
import { LedgerDuel } from '../engine/ledger-duel.ts';
import { LedgerStream } from '../engine/ledger-stream.ts';
import { BUSY, MARKETS, Stream } from '../engine/stream.ts';

/** Small, so that histories wrap the rings many times within a test. */
export const TIGHT: Capacities = {
  markets: 8,
  tokens: 24,
  accounts: 64,
  orders: 98,
  levels: 200_000,
  trades: 60,
  history: 30,
  positions: 0,
  operatorIds: 0,
};

/**
 * Batches that change something, in their order, with the commands that the engine took.
 * @param ends percent of commands that give a market an end; ended markets trade no more
 */
export function tradingDay(random: Random, commands: number, ends = 0.5): readonly LoggedBatch[] {
  const driver = new EngineDriver();
  const shape = { ...BUSY, ends, huge: 0, policies: 0 };
  const stream = new Stream(random, shape, MARKETS, TIGHT.markets);
  for (let i = 0; i < commands; i++) driver.run(stream.next());
  driver.close();
  return driver.logged;
}

/**
 * A trading day with a ledger, and commands of it between the orders; resolutions come to their
 * end.
 */
export function ledgerDay(random: Random, commands: number): readonly LoggedBatch[] {
  const duel = new LedgerDuel();
  const stream = new LedgerStream(random, { delays: 2, settlements: 12 });
  for (let i = 0; i < commands; i++) duel.step(stream.next());
  // No fill that fails later is left.
  duel.step({ kind: 'settle', fault: -1 });
  for (const command of stream.last()) duel.step(command);
  duel.driver.close();
  return duel.driver.logged;
}

export class Exchange {
  readonly engine: Engine;
  readonly t: Tables;

  constructor(memory: EngineMemory | Capacities = TIGHT, events?: EventBuffer) {
    this.engine = new Engine('buffers' in memory ? memory : allocateEngine(memory), events);
    this.t = this.engine.t;
  }

  /** First commands of a node whose ORDER_HISTORY differs from that of its last run. */
  configure(time: number): NewEntry | null {
    const out = new CommandBuffer(16);
    const { capacities, orderRows, state } = this.t;
    encodeConfigure(out, state[State.selfTrade]!, capacities.history, 0, orderRows);
    const commands = [out.i32.slice(0, out.words)];
    return this.apply({ time, persistedClosedSequence: 0, commands }, 0);
  }

  apply(
    batch: LoggedBatch,
    persistedClosedSequence = this.t.state[State.closed]!,
  ): NewEntry | null {
    const { engine, t } = this;
    const firstFill = t.state[State.fills]!;
    engine.begin(batch.time, persistedClosedSequence);
    const words: number[] = [];
    for (const command of batch.commands) {
      const { changes } = engine.context;
      engine.apply(command, new Float64Array(command.buffer), 0);
      if (engine.context.changes !== changes) words.push(...command);
    }
    if (!engine.end()) return null;
    const sequence = t.state[State.batch]!;
    const facts = {
      sequence,
      time: batch.time,
      persistedClosedSequence,
      firstFill,
      endFill: t.state[State.fills]!,
      closedEnd: t.state[State.closed]!,
      digest: t.state[State.digest]!,
    };
    const { digest, time } = facts;
    const payload = encodeBatch(facts, Int32Array.from(words));
    return { sequence, time, after: digest, payload };
  }
}

/** Runs `withSeed` (random.ts) for a test that waits for the disk. */
export async function seeded(body: (random: Random) => Promise<void>): Promise<void> {
  const seed = freshSeed();
  try {
    await body(new Random(seed));
  } catch (error) {
    console.error(`replay with: SEED=${seed} npm test`);
    throw error;
  }
}

export function appended(log: Log, entry: NewEntry | null): Promise<void> {
  return entry === null ? log.whenDurable() : log.append([entry], entry.sequence - 1);
}

interface TestContext {
  after(fn: () => void | Promise<void>): void;
}

/** A directory that is removed after the test. */
export function directoryOf(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'storage-test-'));
  t.after(async () => {
    // A log may still be preparing a segment there: what it makes meanwhile is found by listing again.
    for (let tries = 0; ; tries++) {
      try {
        rmSync(directory, { recursive: true, force: true });
        return;
      } catch (error) {
        if (tries === 20) throw error;
        await sleep(10);
      }
    }
  });
  return directory;
}

export function saved(snapshots: SnapshotFiles, t: Tables): SnapshotInfo {
  const saving = snapshots.save(t, Math.max(0, t.state[State.fills]! - t.capacities.trades));
  for (;;) {
    const { done, value } = saving.next();
    if (done === true) return value;
  }
}

/** Closed orders in memory, oldest first. */
export function closedRows(t: Tables): string[] {
  const first = t.state[State.firstKeptClosed]!;
  return Array.from({ length: t.state[State.closed]! - first }, (_, i) => {
    return finalCopy(t, first + i).row.toString('hex');
  });
}

export function recordOf(payload: Uint8Array): BatchRecord {
  const record = decodeBatch(Buffer.from(payload));
  assert(typeof record === 'object');
  return record;
}

export interface StoredFinal {
  /** 32 bytes. */
  readonly id: Buffer;
  readonly row: Buffer;
}

export function finalCopy(t: Tables, sequence: number): StoredFinal {
  const row = Buffer.alloc(4 << ORDER_I);
  finalCopier(t)(sequence, row, 0);
  const at = (closedOrder(t, sequence) << ORDER_I) + Order.id;
  const id = Buffer.alloc(4 * ID_WORDS);
  for (let w = 0; w < ID_WORDS; w++) id.writeInt32BE(t.orderI[at + w]!, 4 * w);
  return { id, row };
}
