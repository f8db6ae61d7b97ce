/**
 * `npm run bench -- log`: what the log costs before an answer, how fast the follower derives what follows
 * from it, and how long a restart takes.
 */

import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { audit } from '../../engine/audit.ts';
import { openOrders } from '../../engine/reads.ts';
import { ID_WORDS } from '../../engine/tables/codes.ts';
import { openEnvironment, openSequence } from '../../storage/kv/lmdb.ts';
import { FileLog } from '../../storage/log/file-log.ts';
import { openClosedOrdersReader } from '../../storage/projection/closed-orders.ts';
import { recover } from '../../storage/recovery/recover.ts';
import { SnapshotFiles } from '../../storage/snapshot/snapshots.ts';
import { percentiles, print } from '../common/figures.ts';
import { Random } from '../random.ts';
import { deriveDay, readLog } from './derive-day.ts';
import { CAPACITIES, type DayShape, writeDay } from './log-day.ts';

export interface LogShape extends DayShape {
  /** Writes of each kind whose latency is taken. */
  readonly writes: number;
}

export const LOG_FULL: LogShape = { writes: 2_000, restingOrders: 1_000_000, fills: 1_000_000 };

/** Each writes one record, durable when it resolves. */
type Write = (payload: Buffer) => Promise<void>;

const PAYLOADS = [300, 4_000];
const LOOK_UPS = 20_000;
const MS = 1_000;

export async function logSuite(shape: LogShape): Promise<{ readonly restartMs: number }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'log-bench-'));
  try {
    await latencies(join(dataDir, 'latency'), shape.writes);
    return await dayInLog(join(dataDir, 'day'), shape);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** The log and LMDB by turns, so that both see the same disk. */
async function latencies(dataDir: string, writes: number): Promise<void> {
  const log = await FileLog.open({
    dataDir,
    durability: 'flushed',
    segmentBytes: 2 ** 24,
    log: () => undefined,
  });
  const root = openEnvironment({ path: join(dataDir, 'lmdb'), durability: 'flushed' });
  const table = openSequence(root, 'batches');
  let key = 0;
  const ways: Readonly<Record<string, Write>> = {
    'log, durable append': (payload) => {
      const sequence = log.last + 1;
      const entry = { sequence, time: 1, before: log.digest, after: sequence | 0, payload };
      return log.append([entry], log.last);
    },
    'LMDB, durable put': async (payload) => {
      key += 1;
      await root.batch(() => void table.put(key, payload));
    },
  };
  for (const bytes of PAYLOADS) {
    const payload = Buffer.alloc(bytes, 7);
    const taken = new Map(Object.keys(ways).map((name) => [name, [] as number[]]));
    for (let i = 0; i < writes; i++) {
      for (const [name, write] of Object.entries(ways)) {
        const began = performance.now();
        await write(payload);
        taken.get(name)!.push(performance.now() - began);
      }
    }
    for (const [name, times] of taken)
      print(`${name}, ${bytes} bytes`, percentiles(times, [0.5, 0.99, 1]));
  }
  await log.close();
  await root.close();
}

async function dayInLog(dataDir: string, shape: LogShape): Promise<{ restartMs: number }> {
  const day = await writeDay(dataDir, shape);
  print(
    'a day in the log',
    `${day.batches} batches of 15, ${day.orders} orders, ${day.fills} fills, ${day.resting} resting`,
  );
  const { followMs, imageMs, rows } = await deriveDay(dataDir, 0);
  const rate = (count: number): string => `${((count / followMs) * MS).toFixed(0)} a second`;
  print('follower', `${rate(day.orders)} orders, with ${rate(rows)} rows into LMDB`);
  print('an id that is not among the closed orders on disk', lookUps(dataDir));
  const log = await readLog(dataDir);
  const snapshots = new SnapshotFiles(dataDir, 'flushed');
  const [info] = snapshots.list();
  const bytes = statSync(info!.path).size;
  print(
    'image, written in pieces',
    `${imageMs.toFixed(0)} ms for ${(bytes / 2 ** 20).toFixed(0)} MiB`,
  );
  const [recovered, restartMs] = time(() =>
    recover(CAPACITIES, snapshots, log, undefined, () => undefined),
  );
  const [, auditMs] = time(() => audit(recovered.engine.t));
  print(
    'recovery from it',
    `${restartMs.toFixed(0)} ms, the audit beside it ${auditMs.toFixed(0)} ms`,
  );
  if (openOrders(recovered.engine.t) !== day.resting) throw new Error('it differs');
  await log.close();
  return { restartMs };
}

/** Processor time of a look-up as a worker makes it for each order, once ids have left the memory. */
function lookUps(dataDir: string): string {
  const reader = openClosedOrdersReader(dataDir);
  reader.refresh(Number.POSITIVE_INFINITY);
  const random = new Random('ids');
  const id = Buffer.alloc(4 * ID_WORDS);
  const look = (): void => {
    for (let i = 0; i < LOOK_UPS; i++) {
      for (let w = 0; w < ID_WORDS; w++) id.writeUInt32BE(random.below(2 ** 32), 4 * w);
      if (reader.statusOf(id) !== 0) throw new Error('the id is known');
    }
  };
  look();
  const before = process.cpuUsage();
  look();
  const { system, user } = process.cpuUsage(before);
  reader.release();
  return `${((system + user) / LOOK_UPS).toFixed(1)} us`;
}

function time<T>(work: () => T): [T, number] {
  const began = performance.now();
  const result = work();
  return [result, performance.now() - began];
}
