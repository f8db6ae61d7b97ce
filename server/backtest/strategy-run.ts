/**
 * A run of a strategy that is a file or a command. A rejected promise of the strategy that nothing waits for ends the
 * run too.
 *
 * Thread: any; the functions of a strategy run on it.
 */
import { basename, extname } from 'node:path';
import { nextIteration } from '../common/event-loop.ts';
import { type BacktestOptions, backtest } from './backtest.ts';
import { CommandStrategy } from './command/command-strategy.ts';
import { ProgramError } from './command/program.ts';
import { completeValues, type ParameterValues } from './parameters.ts';
import type { RecordingSource } from './recording.ts';
import type { BacktestResult } from './result.ts';
import type { Strategy } from './strategy.ts';
import { StrategyError } from './strategy-error.ts';
import { loadStrategy } from './strategy-file.ts';
import { type StrategySource, strategyOf } from './strategy-source.ts';

export type StrategyOrigin = { readonly file: string } | { readonly command: string };

/** Changes a strategy before its run. */
export type Wrap = (strategy: Strategy) => Strategy;

/** Returns the file or the command. */
export function originText(origin: StrategyOrigin): string {
  return 'file' in origin ? origin.file : origin.command;
}

/** Returns the declared parameters with their defaults. A command is started for it. */
export async function declaredBy(origin: StrategyOrigin): Promise<ParameterValues> {
  if ('file' in origin) return (await loadStrategy(origin.file)).declared;
  const program = await startedCommand(origin.command);
  await program.close();
  return program.declared;
}

/** Runs a strategy. `options.parameters` may lack values that have a default. */
export async function runStrategy(
  recording: RecordingSource,
  origin: StrategyOrigin,
  options: BacktestOptions,
  wrap?: Wrap,
): Promise<BacktestResult> {
  let rejection: StrategyError | undefined;
  const rejected = (cause: unknown): void => {
    const what = cause instanceof Error ? cause.message : String(cause);
    rejection ??= new StrategyError(`a promise that nothing waits for: ${what}`, { cause });
  };
  process.on('unhandledRejection', rejected);
  try {
    const opened = await openStrategy(origin);
    try {
      const result = await runOpened(recording, opened, options, wrap);
      // Rejections are known once the promises at hand have run.
      await nextIteration();
      if (rejection !== undefined) throw rejection;
      return result;
    } finally {
      await opened.close();
    }
  } finally {
    process.off('unhandledRejection', rejected);
  }
}

function runOpened(
  recording: RecordingSource,
  { declared, name, source }: OpenedStrategy,
  options: BacktestOptions,
  wrap: Wrap | undefined,
): Promise<BacktestResult> {
  const parameters = completeValues(declared, options.parameters ?? {});
  const own: StrategySource =
    wrap === undefined
      ? source
      : async (values: ParameterValues) => wrap(await strategyOf(source, name, values));
  return backtest(recording, own, { ...options, name, parameters });
}

/** Returns what a person needs beside the message: the stack of the strategy, or the standard error of its program. */
export function detailOf({ cause }: StrategyError): string {
  if (cause instanceof ProgramError) return cause.stderr;
  return cause instanceof Error ? `${cause.stack}\n` : '';
}

interface OpenedStrategy {
  readonly name: string;
  readonly source: StrategySource;
  readonly declared: ParameterValues;
  readonly close: () => Promise<void>;
}

async function openStrategy(origin: StrategyOrigin): Promise<OpenedStrategy> {
  if ('file' in origin) {
    const name = basename(origin.file, extname(origin.file));
    return { name, ...(await loadStrategy(origin.file)), close: async () => undefined };
  }
  const program = await startedCommand(origin.command);
  return {
    name: 'command',
    source: (values: ParameterValues) => program.strategy(values),
    declared: program.declared,
    close: () => program.close(),
  };
}

async function startedCommand(command: string): Promise<CommandStrategy> {
  try {
    return await CommandStrategy.start(command);
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    throw new StrategyError(error.message, { cause: error });
  }
}
