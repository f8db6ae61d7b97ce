import type { TestContext } from 'node:test';
import { stateHash } from '../../engine/tables/state-hash.ts';
import { SnapshotFiles } from '../../storage/snapshot/snapshots.ts';
import { logOf } from './log-stage.ts';
import { appended, directoryOf, Exchange, saved, seeded, tradingDay } from './stored-exchange.ts';

export interface Lived {
  readonly dataDir: string;
  /** State hash after each batch. */
  readonly hashes: ReadonlyMap<number, string>;
  /** Batches of the two snapshots; the log begins at the first of them, or a little before. */
  readonly snapshots: readonly number[];
  readonly last: number;
}

/** A day of trading with two snapshots, and a log that begins near the first. */
export async function lived(t: TestContext): Promise<Lived> {
  const dataDir = directoryOf(t);
  const hashes = new Map<number, string>();
  const snapshots: number[] = [];
  await seeded(async (random) => {
    const day = tradingDay(random, 2_000);
    const log = await logOf(t, dataDir, { segmentBytes: 1 << 14 });
    const context = new Exchange();
    for (const [i, batch] of day.entries()) {
      const entry = context.apply(batch);
      if (entry === null) continue;
      hashes.set(entry.sequence, stateHash(context.t));
      await appended(log, entry);
      if (i !== Math.floor(day.length / 3) && i !== Math.floor(day.length / 2)) continue;
      snapshots.push(saved(new SnapshotFiles(dataDir, 'committed'), context.t).sequence);
      await log.trim(snapshots[0]!);
    }
    await log.close();
  });
  return { dataDir, hashes, snapshots, last: Math.max(...hashes.keys()) };
}
