/** Parts that all forms of `backtest` share: parameters, cuts, errors of a strategy, and notes about a recording. */
import { RecordingDamaged } from '../../storage/recordings/entries.ts';
import { NoStrategy, StrategyError } from '../backtest/backtest.ts';
import type { Cuts } from '../backtest/lookahead.ts';
import { type ParameterValues, parsedAssignments } from '../backtest/parameters.ts';
import type { BacktestResult } from '../backtest/result.ts';
import { declaredBy, detailOf, originText, type StrategyOrigin } from '../backtest/strategy-run.ts';
import type { Output } from '../common/terminal.ts';
import { type Context, type Options, Refused } from './context.ts';
import { timeOf } from './settings.ts';

/** Options of the command by their names in the library, in whose messages they stand. */
const FLAGS: Readonly<Record<string, string>> = {
  cash: '--cash',
  feeBps: '--fee',
  feedLatencyMs: '--feed-latency',
  impact: '--impact',
  latencyMs: '--latency',
  queue: '--queue',
  seed: '--seed',
  takerDelayMs: '--taker-delay',
};

const CUTS = 10;
const CUTS_MAX = 1_000;
const SEED = 1;

/** Values that `--set` gives. A strategy is asked for its parameters only then. */
export async function assignedBy(
  origin: StrategyOrigin,
  options: Options,
): Promise<ParameterValues> {
  const assignments = listOf(options, 'set');
  return assignments.length === 0 ? {} : parsedAssignments(await declaredBy(origin), assignments);
}

export function listOf(options: Options, name: string): readonly string[] {
  const value = options[name];
  return Array.isArray(value) ? value : [];
}

/** Parses `--check-lookahead`: a number of cuts, also with a seed (20/7), or times. */
export function cutsOf(value: Options[string]): Cuts {
  if (typeof value !== 'string') return { count: CUTS, seed: SEED };
  const [, count, seed = SEED] = /^(\d{1,4})(?:\/(\d{1,9}))?$/.exec(value) ?? [];
  if (count === undefined)
    return value.split(',').map((text) => timeOf(text, 'a time of --check-lookahead'));
  if (Number(count) < 1 || Number(count) > CUTS_MAX)
    throw new Refused(`--check-lookahead takes 1 to ${CUTS_MAX} cuts, not ${count}`);
  return { count: Number(count), seed: Number(seed) };
}

/** Parses a decimal. */
export function decimalOf(text: string, flag: string): number {
  const number = Number(text);
  if (text === '' || Number.isNaN(number))
    throw new Refused(`${flag} must be a number, not "${text}"`);
  return number;
}

/** Names the option in a message of the library about one. */
export function withFlags(message: string): string {
  return message.replace(/(?<=^|: )\w+(?= must be )/, (name) => FLAGS[name] ?? name);
}

/** Runs a strategy, and turns its errors into those of the command. */
export async function reported<T>(
  { stderr }: Context,
  origin: StrategyOrigin,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof RangeError || error instanceof RecordingDamaged)
      throw new Refused(withFlags(error.message));
    if (error instanceof NoStrategy) throw new Refused(`${originText(origin)}: ${error.message}`);
    if (!(error instanceof StrategyError)) throw error;
    stderr.block(detailOf(error));
    throw new Error(`${originText(origin)}: ${error.message}`, { cause: error.cause });
  }
}

type Omissions = Pick<BacktestResult, 'messagesDamaged' | 'timesDecreasing'> &
  Partial<Pick<BacktestResult, 'from'>>;

/** Says what of a recording was left out, or taken otherwise. */
export function noteOmissions(stderr: Output, recording: string, counts: Omissions): void {
  if (counts.from === undefined)
    stderr.line(`${recording}: no message within --from and --to: the strategy never began`);
  for (const [what, count] of [
    ['damaged messages left out', counts.messagesDamaged],
    [
      'entries with a time before that of an earlier one, whose time counts',
      counts.timesDecreasing,
    ],
  ] as const) {
    if (count > 0) stderr.line(`${recording}: ${what}: ${count}`);
  }
}

export function percent(part: number): string {
  return `${(100 * part).toFixed(2)} %`;
}
