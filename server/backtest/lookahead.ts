/**
 * Look-ahead check: a run over a recording that ends early must do until then what the run over the whole one did.
 * It finds a strategy that keeps what an earlier run saw, reads the recording itself (where a parameter or the command
 * names it), or is not deterministic.
 *
 * Thread: any; all runs are on it, with the same modules, one after the other.
 */
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { openRecording, type Recording } from '../../storage/recordings/recording.ts';
import { RecordingWriter } from '../../storage/recordings/writer.ts';
import { seededRandom } from '../common/seeded-random.ts';
import type { BacktestOptions } from './backtest.ts';
import type { ParameterValues } from './parameters.ts';
import { runStrategy, type StrategyOrigin } from './strategy-run.ts';
import { type Action, traced } from './traced-venue.ts';

/** Times as unix milliseconds, or a number of times drawn from a seed. */
export type Cuts = readonly number[] | { readonly count: number; readonly seed: number };

export interface Lookahead {
  /** Times at which the recording was cut. */
  readonly cuts: readonly number[];
  readonly actions: number;
  readonly difference: Difference | undefined;
}

export interface Difference {
  readonly cut: number;
  /** Texts of the first action that differs; undefined = there is none. */
  readonly whole: string | undefined;
  readonly untilCut: string | undefined;
}

export async function checkLookahead(
  path: string,
  origin: StrategyOrigin,
  options: BacktestOptions,
  cuts: Cuts,
): Promise<Lookahead> {
  const recording = await openRecording(path);
  const whole = await actionsOf(recording, origin, options);
  if (whole.from === undefined || whole.to === undefined)
    throw new RangeError('the strategy never began: there is nothing to check');
  const times = timesOf(cuts, whole.from, whole.to);
  for (const cut of times) {
    const difference = await differenceAt(recording, origin, options, cut, whole.actions);
    if (difference !== undefined) return { cuts: times, actions: whole.actions.length, difference };
  }
  return { cuts: times, actions: whole.actions.length, difference: undefined };
}

function timesOf(cuts: Cuts, from: number, to: number): number[] {
  if (!('count' in cuts)) {
    const outside = cuts.find((time) => time < from || time >= to);
    if (outside !== undefined) {
      const [first, last] = [from, to].map((time) => new Date(time).toISOString());
      const shown = new Date(outside).toISOString();
      throw new RangeError(`a cut is from ${first} to before ${last}, not ${shown}`);
    }
    return [...cuts];
  }
  const random = seededRandom(cuts.seed);
  const drawn = Array.from({ length: cuts.count }, () => Math.floor(from + random() * (to - from)));
  return drawn.sort((one, other) => one - other);
}

interface Acted {
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly actions: readonly Action[];
}

async function actionsOf(
  recording: Recording,
  origin: StrategyOrigin,
  options: BacktestOptions,
): Promise<Acted> {
  const actions: Action[] = [];
  const { from, to } = await runStrategy(recording, origin, options, (strategy) =>
    traced(strategy, actions),
  );
  return { from, to, actions };
}

async function differenceAt(
  recording: Recording,
  origin: StrategyOrigin,
  options: BacktestOptions,
  cut: number,
  whole: readonly Action[],
): Promise<Difference | undefined> {
  const { path } = recording;
  const isNamed = namesFile(path, origin, options.parameters);
  const file = isNamed ? join(tmpdir(), `cut-${randomUUID()}.rec`) : path;
  try {
    if (isNamed) await writeCut(file, recording, cut);
    const parameters = valuesWith(options.parameters ?? {}, path, file);
    const cutOptions = { ...options, parameters, to: cut };
    const run = await actionsOf(recording, originWith(origin, path, file), cutOptions);
    return firstDifference(cut, whole, run);
  } finally {
    if (isNamed) await rm(file, { force: true });
  }
}

/**
 * Compares actions. Timers at the last time of the cut run did not run in it, so what it lacks counts only before
 * this time.
 */
function firstDifference(
  cut: number,
  whole: readonly Action[],
  run: Acted,
): Difference | undefined {
  const first = whole.findIndex((action, i) => !isSame(action, run.actions[i]));
  const at = first < 0 ? whole.length : first;
  const [expected, found] = [whole[at], run.actions[at]];
  const end = run.to ?? Number.NEGATIVE_INFINITY;
  if (found === undefined && (expected === undefined || expected.time >= end)) return undefined;
  return { cut, whole: textOf(expected), untilCut: textOf(found) };
}

function isSame(one: Action, other: Action | undefined): boolean {
  return one.time === other?.time && one.does === other.does;
}

function textOf(action: Action | undefined): string | undefined {
  return action === undefined
    ? undefined
    : `${new Date(action.time).toISOString()}: ${action.does}`;
}

function isPath(text: unknown, path: string): boolean {
  return typeof text === 'string' && resolve(text) === resolve(path);
}

function wordsOf(command: string): string[] {
  return command.split(' ');
}

function namesFile(path: string, origin: StrategyOrigin, values: ParameterValues = {}): boolean {
  const words = 'command' in origin ? wordsOf(origin.command) : [];
  return [...words, ...Object.values(values)].some((text) => isPath(text, path));
}

function originWith(origin: StrategyOrigin, path: string, file: string): StrategyOrigin {
  if ('file' in origin) return origin;
  const words = wordsOf(origin.command).map((word) => (isPath(word, path) ? file : word));
  return { command: words.join(' ') };
}

function valuesWith(values: ParameterValues, path: string, file: string): ParameterValues {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, isPath(value, path) ? file : value]),
  );
}

/** Writes the entries of a recording up to a time into a new file. */
async function writeCut(file: string, recording: Recording, cut: number): Promise<void> {
  const { catalog, header } = recording;
  const writer = await RecordingWriter.create(file, header);
  for (const event of catalog.events)
    await writer.write({ at: header.started, kind: 'catalog', event });
  reading: for await (const entries of recording.batches()) {
    for (const entry of entries) {
      if (entry.at > cut) break reading;
      await writer.write(entry);
    }
  }
  await writer.close(cut);
}
