/**
 * `npm run bench -- paper [FILE]`: backtests beside a bare loop over the same recording, and the messages of a
 * source that a mirror keeps up with, alone and beside trading. The recording is drawn from a seed unless a
 * file is named. Everything of a kind takes turns, so that only ratios of one run count.
 *
 * Not measured: sockets, the log, threads.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { backtest, type Strategy } from '../../server/backtest/backtest.ts';
import { openRecording, type Recording } from '../../storage/recordings/recording.ts';
import { RecordingWriter } from '../../storage/recordings/writer.ts';
import { median, print, ratioLine } from '../common/figures.ts';
import { mirrorFigures } from './mirror-load.ts';
import { SourceStream, STARTED } from './source-stream.ts';

export interface PaperShape {
  readonly markets: number;
  readonly messages: number;
  readonly rounds: number;
  /** Instead of what is drawn. */
  readonly file?: string;
  /** Compiled files of an older checkout that takes turns. */
  readonly baseline?: string;
}

/** A message of each market every eight seconds for a day. */
export const PAPER_FULL: PaperShape = { markets: 20, messages: 200_000, rounds: 5 };

const SEED = 'paper';
const AIM = 0.3;
const AIM_TO_OLDER = 1.5;
const IDLE: Strategy = { onBook: () => undefined };

/**
 * A strategy that does nothing, and one that quotes: events a second to those of the bare loop, or to those of an older
 * checkout.
 */
export interface BacktestFigures {
  readonly idle: number;
  readonly quotes: number;
}

type Backtests = Pick<typeof import('../../server/backtest/backtest.ts'), 'backtest'>;
type Recordings = Pick<typeof import('../../storage/recordings/recording.ts'), 'openRecording'>;

/** Messages a second that a mirror keeps up with. */
export function modelSuite(shape: PaperShape): number {
  return mirrorFigures(SEED, shape);
}

export async function backtestSuite(shape: PaperShape): Promise<BacktestFigures> {
  const directory = mkdtempSync(join(tmpdir(), 'paper-bench-'));
  try {
    const path = shape.file ?? (await drawnRecording(join(directory, 'drawn.rec'), shape));
    const { baseline, rounds } = shape;
    if (baseline !== undefined) return await besideOlder(path, baseline, rounds);
    return await besideBareLoop(await openRecording(path), rounds);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Writes a recording that is drawn from the seed. Returns its path. */
export async function drawnRecording(
  path: string,
  { markets, messages }: PaperShape,
): Promise<string> {
  const stream = new SourceStream(SEED, markets);
  const names = stream.markets.map(({ id }) => id);
  const writer = await RecordingWriter.create(path, {
    venue: SEED,
    started: STARTED,
    markets: names,
  });
  for (const entry of stream.catalog()) await writer.write(entry);
  for (const entry of stream.messages(messages)) await writer.write(entry);
  await writer.close(STARTED + 86_400_000);
  return path;
}

async function besideBareLoop(recording: Recording, rounds: number): Promise<BacktestFigures> {
  const [bare, idle, quoting] = await ratesOf(
    {
      'bare loop': () => bareLoop(recording),
      'backtest, idle': () => eventsOf(backtest, recording, IDLE),
      'backtest, quotes': () => eventsOf(backtest, recording, quotes()),
    },
    rounds,
  );
  const figures = { idle: idle! / bare!, quotes: quoting! / bare! };
  for (const [name, ratio] of Object.entries(figures)) {
    ratioLine({ name: `backtest, ${name}, to the bare loop`, ratio, bound: 'at least', aim: AIM });
  }
  return figures;
}

async function besideOlder(
  path: string,
  baseline: string,
  rounds: number,
): Promise<BacktestFigures> {
  const load = (file: string): Promise<unknown> => import(pathToFileURL(join(baseline, file)).href);
  const older = (await load('server/backtest/backtest.js')) as Backtests;
  const recordings = (await load('storage/recordings/recording.js')) as Recordings;
  const recording = await openRecording(path);
  const ofOlder = await recordings.openRecording(path);
  const [idle, olderIdle, quoting, olderQuoting] = await ratesOf(
    {
      'backtest, idle': () => eventsOf(backtest, recording, IDLE),
      'older backtest, idle': () => eventsOf(older.backtest, ofOlder, IDLE),
      'backtest, quotes': () => eventsOf(backtest, recording, quotes()),
      'older backtest, quotes': () => eventsOf(older.backtest, ofOlder, quotes()),
    },
    rounds,
  );
  const figures = { idle: idle! / olderIdle!, quotes: quoting! / olderQuoting! };
  for (const [name, ratio] of Object.entries(figures)) {
    const line = { ratio, bound: 'at least', aim: AIM_TO_OLDER } as const;
    ratioLine({ name: `backtest, ${name}, to the older one`, ...line });
  }
  return figures;
}

async function eventsOf(
  run: Backtests['backtest'],
  recording: Recording,
  strategy: Strategy,
): Promise<number> {
  return (await run(recording, strategy)).messages;
}

/** Runs take turns. Returns the median of events a second of processor time of each. */
async function ratesOf(
  runs: Readonly<Record<string, () => Promise<number>>>,
  rounds: number,
): Promise<number[]> {
  const rates = new Map(Object.keys(runs).map((name) => [name, [] as number[]]));
  // The first round warms up.
  for (let round = -1; round < rounds; round++) {
    for (const [name, run] of Object.entries(runs)) {
      const start = process.cpuUsage();
      const events = await run();
      const { system, user } = process.cpuUsage(start);
      if (round >= 0) rates.get(name)!.push((1e6 * events) / (system + user));
    }
  }
  for (const [name, all] of rates) {
    print(name, `${median(all).toFixed(0)} events a second of processor time`);
  }
  return [...rates.values()].map(median);
}

/** The least work of a program that reads the recording. */
async function bareLoop(recording: Recording): Promise<number> {
  let messages = 0;
  for await (const entries of recording.batches()) {
    for (const { kind } of entries) if (kind === 'message') messages += 1;
  }
  return messages;
}

/** A bid for each outcome at the best price, placed again when the best moves. */
function quotes(): Strategy {
  const placed = new Map<string, number>();
  return {
    name: 'quotes',
    onBook({ ask, bid, market, token }, venue) {
      if (bid === undefined || ask === undefined) return;
      const best = bid + 1_000 * ask;
      if (placed.get(token) === best) return;
      placed.set(token, best);
      const [, other = ''] = market.tokens;
      venue.cancelAll(token);
      venue.cancelAll(other);
      venue.place({ token, side: 'BUY', price: bid, size: 5 });
      venue.place({ token: other, side: 'BUY', price: 1 - ask, size: 5 });
    },
  };
}
