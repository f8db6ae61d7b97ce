/**
 * Recent batches of a node that stopped, for its next start. The file is valid once, and only with its log. After a
 * crash the batches are those that recovery applied.
 *
 * Thread: the I/O thread.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { lastBatch, stateDigest } from '../../engine/reads.ts';
import type { Replayed, ReplayedBatch } from '../../storage/recovery/replayed-batches.ts';
import type { AppliedBatch } from '../orders/worker/applied-batch.ts';
import type { Names } from './names.ts';
import { RecentBatches } from './recent-batches.ts';

const FILE = 'recent-batches';
const VERSION = 1;

interface Contents extends Replayed {
  readonly version: number;
  readonly last: number;
  readonly digest: number;
}

/** Called when no batch can follow. */
export function storeRecent(
  dataDir: string,
  { tables }: Names,
  recent: RecentBatches,
  warn: (line: string) => void,
): void {
  const batches = recent.all().map(({ commands, endFill, events, sequence, time }) => {
    return { commands, endFill, events, sequence, time };
  });
  const { from } = recent;
  const end = { last: lastBatch(tables), digest: stateDigest(tables) };
  const contents: Contents = { version: VERSION, ...end, from, batches };
  try {
    writeFileSync(join(dataDir, FILE), serialize(contents), { mode: 0o600 });
  } catch (error) {
    warn(`the recent batches cannot be written: ${(error as Error).message}`);
  }
}

/**
 * Called before the first batch.
 * @param replayed batches of recovery, if there is no file
 */
export function loadRecent(dataDir: string, names: Names, replayed: Replayed): RecentBatches {
  const { tables } = names;
  const path = join(dataDir, FILE);
  try {
    const stored = deserialize(readFileSync(path)) as Contents;
    rmSync(path);
    const { digest, last, version } = stored;
    if (version === VERSION && last === lastBatch(tables) && digest === stateDigest(tables)) {
      return recentOf(names, stored);
    }
  } catch {
    // There is none, or it cannot be used.
  }
  return recentOf(names, replayed);
}

function recentOf(names: Names, { batches, from }: Replayed): RecentBatches {
  const recent = new RecentBatches(names, from);
  for (const batch of batches) recent.add(appliedOf(batch));
  return recent;
}

function appliedOf(batch: ReplayedBatch): AppliedBatch {
  const [events, commands] = [batch.events.slice(), batch.commands.slice()];
  const doubles = {
    eventsF: new Float64Array(events.buffer),
    commandsF: new Float64Array(commands.buffer),
  };
  return { ...batch, events, commands, ...doubles, isWhole: true };
}
