/**
 * `npm run bench -- start`: the first start of a node, with the demo and without it: from its process to its first answer,
 * in seconds, and in processor time of all its threads. With --baseline DIR an older build takes turns with this one.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median, print, type Ratio, ratioLine } from '../common/figures.ts';
import { LocalNode } from '../load/load-node.ts';

export interface StartShape {
  readonly starts: number;
  /** Compiled older checkout. */
  readonly baseline?: string;
}

export const START_FULL: StartShape = { starts: 9 };

const MS = 1_000;
const TICKS_PER_SECOND = 100;
/** Seconds to the first answer with the demo, of the machine of the aim. */
const SECONDS_MAX = 0.6;

interface Side {
  readonly name: string;
  readonly main: string | undefined;
  readonly seconds: number[];
  readonly processor: number[];
}

export async function startSuite({ baseline, starts }: StartShape): Promise<readonly Ratio[]> {
  const ratios: Ratio[] = [];
  for (const demo of [true, false]) {
    const own = sideOf('this build', undefined);
    const older =
      baseline === undefined
        ? undefined
        : sideOf('the baseline', join(baseline, 'node/server/node/main.js'));
    for (let i = 0; i < starts; i++) {
      for (const side of older === undefined ? [own] : [older, own]) await start(side, demo);
    }
    for (const { name, processor, seconds } of older === undefined ? [own] : [older, own]) {
      const figures = `${median(seconds).toFixed(2)} s, processor ${median(processor).toFixed(2)} s`;
      print(`${demo ? 'with' : 'without'} the demo, ${name}`, figures);
    }
    if (demo) ratios.push(line('of 0.6 seconds, with the demo', median(own.seconds) / SECONDS_MAX));
    if (older === undefined) continue;
    const ratio = median(own.processor) / median(older.processor);
    ratios.push(
      line(`processor time to the baseline, ${demo ? 'with' : 'without'} the demo`, ratio),
    );
  }
  for (const ratio of ratios) ratioLine(ratio);
  return ratios;
}

function sideOf(name: string, main: string | undefined): Side {
  return { name, main, seconds: [], processor: [] };
}

function line(name: string, ratio: number): Ratio {
  return { name, ratio, bound: 'at most', aim: 1 };
}

async function start({ main, processor, seconds }: Side, demo: boolean): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'start-bench-'));
  try {
    const environment = { LOG_LEVEL: 'warn' };
    const node = await LocalNode.start(directory, {
      demo,
      environment,
      ...(main !== undefined && { main }),
    });
    seconds.push(node.startMs / MS);
    processor.push(node.ticks / TICKS_PER_SECOND);
    await node.end();
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
