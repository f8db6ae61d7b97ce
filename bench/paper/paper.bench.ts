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
}

/** A message of each market every eight seconds for a day. */
export const PAPER_FULL: PaperShape = { markets: 20, messages: 200_000, rounds: 5 };

const SEED = 'paper';
const AIM = 0.3;

/** A strategy that does nothing, and one that quotes: events a second to those of the bare loop. */
export interface BacktestFigures {
  readonly idle: number;
  readonly quotes: number;
}

/** Messages a second that a mirror keeps up with. */
export function modelSuite(shape: PaperShape): number {
  return mirrorFigures(SEED, shape);
}

export async function backtestSuite(shape: PaperShape): Promise<BacktestFigures> {
  const directory = mkdtempSync(join(tmpdir(), 'paper-bench-'));
  try {
    const path = shape.file ?? (await drawnRecording(join(directory, 'drawn.rec'), shape));
    const recording = await openRecording(path);
    return await besideBareLoop(recording, shape.rounds);
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
  const runs: Readonly<Record<string, () => Promise<number>>> = {
    'bare loop': () => bareLoop(recording),
    'backtest, idle': async () => (await backtest(recording, { onBook: () => undefined })).messages,
    'backtest, quotes': async () => (await backtest(recording, quotes())).messages,
  };
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
  const [bare, idle, quoting] = [...rates.values()].map(median);
  for (const [name, all] of rates) {
    print(name, `${median(all).toFixed(0)} events a second of processor time`);
  }
  const figures = { idle: idle! / bare!, quotes: quoting! / bare! };
  for (const [name, ratio] of Object.entries(figures)) {
    ratioLine({ name: `backtest, ${name}, to the bare loop`, ratio, bound: 'at least', aim: AIM });
  }
  return figures;
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
