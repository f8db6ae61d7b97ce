/**
 * The recent batches of a node that stopped, for its next start. The file is only of use with the log
 * that it was written for, and once.
 *
 * Thread: the I/O thread.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { lastBatch, stateDigest } from '../../engine/reads.ts';
import type { AppliedBatch } from '../orders/applied-batch.ts';
import type { Names } from './names.ts';
import { RecentBatches } from './recent-batches.ts';

const FILE = 'recent-batches';
const VERSION = 1;

type StoredBatch = Pick<AppliedBatch, 'commands' | 'endFill' | 'events' | 'sequence' | 'time'>;

/** What the file contains, in the form of node:v8. */
interface Contents {
  readonly version: number;
  /** The end of the log. */
  readonly last: number;
  readonly digest: number;
  /** Every batch behind this one is there. */
  readonly from: number;
  readonly batches: readonly StoredBatch[];
}

/** Called when no batch can follow. Without the file the next start begins without batches. */
export function storeRecent(
  dataDir: string,
  { t }: Names,
  recent: RecentBatches,
  warn: (line: string) => void,
): void {
  const batches = recent.all().map(({ commands, endFill, events, sequence, time }) => {
    return { commands, endFill, events, sequence, time };
  });
  const { from } = recent;
  const end = { last: lastBatch(t), digest: stateDigest(t) };
  const contents: Contents = { version: VERSION, ...end, from, batches };
  try {
    writeFileSync(join(dataDir, FILE), serialize(contents), { mode: 0o600 });
  } catch (error) {
    warn(`the recent batches cannot be written: ${(error as Error).message}`);
  }
}

/** Called before the first batch. */
export function loadRecent(dataDir: string, names: Names): RecentBatches {
  const { t } = names;
  const path = join(dataDir, FILE);
  try {
    const stored = deserialize(readFileSync(path)) as Contents;
    rmSync(path);
    const { batches, digest, from, last, version } = stored;
    if (version === VERSION && last === lastBatch(t) && digest === stateDigest(t)) {
      const recent = new RecentBatches(names, from);
      for (const batch of batches) recent.add(appliedOf(batch));
      return recent;
    }
  } catch {
    // There is none, or it cannot be used: the streams begin at the end of the log.
  }
  return new RecentBatches(names, lastBatch(t));
}

function appliedOf(batch: StoredBatch): AppliedBatch {
  const [events, commands] = [batch.events.slice(), batch.commands.slice()];
  const doubles = {
    eventsF: new Float64Array(events.buffer),
    commandsF: new Float64Array(commands.buffer),
  };
  return { ...batch, events, commands, ...doubles, isWhole: true };
}
