/**
 * `npm run bench -- restart`: a node with a million resting orders and a million fills is killed and started
 * again: from the start of its process to its first answer, with an image that is new and with one that
 * has 75,000 orders of the log behind it, less than the follower may lack by what the log says; beside it, in turns, a node with nothing in it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median, print, type Ratio, ratioLine } from '../common/figures.ts';
import { LocalNode } from '../load/load-node.ts';
import { deriveDay } from './derive-day.ts';
import { BATCH, type DayShape, writeDay } from './log-day.ts';

export interface RestartShape extends DayShape {
  /** Of each kind. */
  readonly restarts: number;
  /** Batches of the log after the older snapshot. */
  readonly behind: number;
}

export const RESTART_FULL: RestartShape = {
  restingOrders: 1_000_000,
  fills: 1_000_000,
  restarts: 5,
  behind: 5_000,
};

/** Seconds to the first answer, of the machine of the aim. */
const SECONDS_MAX = 2;

export async function restartSuite(shape: RestartShape): Promise<Ratio> {
  const directory = mkdtempSync(join(tmpdir(), 'restart-bench-'));
  const full = join(directory, 'full');
  try {
    const day = await writeDay(full, shape);
    print('in the log', `${day.fills} fills, ${day.resting} resting orders`);
    const empty = await start(join(directory, 'empty'));
    await deriveDay(full, shape.behind);
    const older = await restarts(full, empty, shape.restarts);
    seconds(`an image and ${shape.behind * BATCH} orders of the log`, older.full);
    await deriveDay(full, 0);
    const newest = await restarts(full, empty, shape.restarts);
    seconds('an image of all', newest.full);
    seconds('a node with nothing in it', newest.empty);
    await empty.stop();
    const ratio = median(newest.full) / SECONDS_MAX;
    const line = { name: 'of two seconds', ratio, bound: 'at most', aim: 1 } as const;
    ratioLine(line);
    return line;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function start(dataDir: string): Promise<LocalNode> {
  // Images are those that the suite has taken.
  const environment = { IMAGE_SECONDS: '86400', IMAGE_BATCHES: '10000000', LOG_LEVEL: 'warn' };
  return LocalNode.start(dataDir, { demo: false, environment });
}

/** Seconds from the start of a process to its first answer, after kills. */
async function restarts(
  dataDir: string,
  empty: LocalNode,
  count: number,
): Promise<Readonly<Record<'full' | 'empty', number[]>>> {
  const node = await start(dataDir);
  const taken = { full: [] as number[], empty: [] as number[] };
  for (let i = 0; i < count; i++) {
    for (const [kind, one] of [['full', node] as const, ['empty', empty] as const]) {
      await one.killAndRestart();
      taken[kind].push(one.startMs / 1_000);
    }
  }
  await node.end();
  return taken;
}

function seconds(name: string, taken: readonly number[]): void {
  const sorted = [...taken].sort((a, b) => a - b).map((each) => each.toFixed(2));
  print(name, `median ${median(taken).toFixed(2)} s of ${sorted.join(', ')}`);
}
