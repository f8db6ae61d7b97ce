/**
 * `npm run bench -- restart`: a node with a million resting orders and a million fills is killed and started
 * again: from the start of its process to its first answer, with an image that is new and with one that
 * has 75,000 orders of the log behind it, less than the follower may lack by what the log says; beside it, in turns, a node with nothing in it.
 * `npm run bench -- restart-ledger`: the same day with a ledger of a million positions beside one without a ledger.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median, print, type Ratio, ratioLine } from '../common/figures.ts';
import { LocalNode } from '../load/load-node.ts';
import { deriveDay } from './derive-day.ts';
import { BATCH, type DayShape, writeDay } from './log-day.ts';

export interface RestartShape extends DayShape {
  /** Restarts of each kind. */
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

/** Shape of each of its two days. */
export const RESTART_LEDGER_FULL: DayShape & { readonly restarts: number } = {
  restingOrders: 1_000_000,
  fills: 1_000_000,
  // A thousand wallets in two tokens each: a million positions.
  books: 500,
  restarts: 9,
};

const MS = 1_000;
/** Clock ticks a second of every Linux. */
const TICKS_PER_SECOND = 100;
/** Seconds to the first answer, of the machine of the aim. */
const SECONDS_MAX = 1.5;

export async function restartSuite(shape: RestartShape): Promise<Ratio> {
  const directory = mkdtempSync(join(tmpdir(), 'restart-bench-'));
  const full = join(directory, 'full');
  try {
    const day = await writeDay(full, shape);
    print('in the log', `${day.fills} fills, ${day.resting} resting orders`);
    const empty = await start(join(directory, 'empty'));
    await deriveDay(full, shape.behind);
    const [older] = await restarts(await start(full), empty, shape.restarts);
    print(`an image and ${shape.behind * BATCH} orders of the log`, taken(older));
    await deriveDay(full, 0);
    const [newest, nothing] = await restarts(await start(full), empty, shape.restarts);
    print('an image of all', taken(newest));
    print('a node with nothing in it', taken(nothing));
    await empty.stop();
    const ratio = median(newest.seconds) / SECONDS_MAX;
    const line = { name: 'of a second and a half', ratio, bound: 'at most', aim: 1 } as const;
    ratioLine(line);
    return line;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

export async function restartLedgerSuite(
  shape: typeof RESTART_LEDGER_FULL,
): Promise<readonly Ratio[]> {
  const directory = mkdtempSync(join(tmpdir(), 'restart-bench-'));
  try {
    const nodes: LocalNode[] = [];
    for (const ledger of ['off', 'on']) {
      const dataDir = join(directory, ledger);
      const day = await writeDay(dataDir, { ...shape, hasLedger: ledger === 'on' });
      const what = `${day.fills} fills, ${day.resting} resting orders, ${day.positions} positions`;
      print(`LEDGER=${ledger}`, what);
      await deriveDay(dataDir, 0);
      nodes.push(await start(dataDir, ledger));
    }
    const [off, on] = nodes as [LocalNode, LocalNode];
    const [withPositions, without] = await restarts(on, off, shape.restarts);
    await off.end();
    print('with positions', taken(withPositions));
    print('without', taken(without));
    const line = (name: string, column: keyof Restarts): Ratio => {
      const ratio = median(withPositions[column]) / median(without[column]);
      return { name, ratio, bound: 'at most', aim: 1.1 };
    };
    const ratios = [
      line('time with positions to without', 'seconds'),
      line('processor time with positions to without', 'processor'),
    ];
    for (const ratio of ratios) ratioLine(ratio);
    return ratios;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function start(dataDir: string, ledger = 'off'): Promise<LocalNode> {
  // Images are those that the suite has taken.
  const images = { IMAGE_SECONDS: '86400', IMAGE_BATCHES: '10000000' };
  const environment = { ...images, LOG_LEVEL: 'warn', LEDGER: ledger };
  return LocalNode.start(dataDir, { demo: false, environment });
}

/** Seconds from the start of a process to its first answer, and those of the processor. */
interface Restarts {
  readonly seconds: number[];
  readonly processor: number[];
}

/** Starts after kills, by turns; ends the first of both. */
async function restarts(
  one: LocalNode,
  other: LocalNode,
  count: number,
): Promise<readonly [Restarts, Restarts]> {
  const sideOf = (node: LocalNode): Side => ({ node, seconds: [], processor: [] });
  const sides = [sideOf(one), sideOf(other)] as const;
  for (let i = 0; i < count; i++) {
    for (const { node, processor, seconds } of sides) {
      await node.killAndRestart();
      seconds.push(node.startMs / MS);
      processor.push(node.ticks / TICKS_PER_SECOND);
    }
  }
  await one.end();
  return sides;
}

type Side = Restarts & { readonly node: LocalNode };

function taken({ processor, seconds }: Restarts): string {
  const sorted = [...seconds].sort((a, b) => a - b).map((each) => each.toFixed(2));
  const all = `median ${median(seconds).toFixed(2)} s of ${sorted.join(', ')}`;
  return `${all}; processor ${median(processor).toFixed(2)} s`;
}
