/**
 * Single entry point to the package commander: builds the parser from the table of commands, and runs one command
 * with its lock and exit code.
 */
import { Command, CommanderError } from 'commander';
import { foreignHolder, takeDirectoryLock } from '../../storage/files/directory-lock.ts';
import { makeDirectory } from '../../storage/files/make-directory.ts';
import type { Durability } from '../../storage/kv/lmdb.ts';
import { packageVersion } from '../common/package-version.ts';
import { type Environment, Output } from '../common/terminal.ts';
import { COMMANDS, type CommandRow, GROUPS, NODE_TEXTS } from './commands.ts';
import {
  type Context,
  EXIT_CODES,
  type Exit,
  type Options,
  Refused,
  type Run,
  type Streams,
} from './context.ts';
import { Progress } from './progress.ts';

const PROGRAM = 'prediction-market-node';
const DATA_DIR_FLAG = '--data-dir <directory>';
const DURABILITIES: readonly string[] = ['flushed', 'committed'] satisfies Durability[];

/** Runs a command. Resolves with the exit code. @param argv arguments after the script's name */
export async function runCli(
  argv: readonly string[],
  env: Environment,
  streams: Streams,
  signal = new AbortController().signal,
): Promise<number> {
  let exit: Exit = 'done';
  const outputs: Outputs = {
    stdin: streams.stdin,
    stdout: new Output(streams.stdout, env),
    stderr: new Output(streams.stderr, env),
  };
  const program = programOf(outputs, async (name, args, options) => {
    exit = await run(name, args, options, { env, outputs, signal });
  });
  try {
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) exit = error.exitCode === 0 ? 'done' : 'usage';
    else {
      outputs.stderr.block(`${error instanceof Error ? error.message : String(error)}\n`);
      exit = error instanceof Refused ? error.exit : 'failed';
    }
  }
  return EXIT_CODES[exit].code;
}

type Outputs = Pick<Context, 'stdin' | 'stdout' | 'stderr'>;
type Act = (name: string, args: readonly string[], options: Options) => Promise<void>;

function programOf(outputs: Outputs, act: Act): Command {
  const program = configured(new Command(PROGRAM), outputs)
    .description('A prediction-market exchange node, and what its operator needs')
    .version(packageVersion())
    .helpCommand(false)
    .addHelpText('after', () => `\nExit codes:\n${exitCodeLines().join('\n')}`);
  const groups = new Map<string, Command>();
  const groupOf = (name: string): Command => {
    const known = groups.get(name);
    if (known !== undefined) return known;
    const group = program.command(name).description(GROUPS[name]!);
    groups.set(name, configured(group, outputs).helpCommand(false));
    return group;
  };
  for (const [name, row] of Object.entries(COMMANDS)) {
    const [first = '', second] = name.split(' ');
    const group = GROUPS[first] === undefined ? undefined : groupOf(first);
    // A group may be a command itself.
    if (second === undefined)
      add(group ?? configured(program.command(first), outputs), name, row, act);
    else add(configured(group!.command(second), outputs), name, row, act);
  }
  return program;
}

/** Keeps the parser from ending the process, and from writing elsewhere. */
function configured(command: Command, { stderr, stdout }: Outputs): Command {
  return command.exitOverride().configureOutput({
    writeOut: (text) => stdout.block(text),
    writeErr: (text) => stderr.block(text),
  });
}

function add(command: Command, name: string, row: CommandRow, act: Act): void {
  command.description(`${row.does}\n\nIt runs ${NODE_TEXTS[row.node]}.`).summary(row.does);
  for (const arg of row.args ?? []) command.argument(arg.startsWith('[') ? arg : `<${arg}>`);
  for (const [flags, does] of Object.entries(row.options ?? {})) command.option(flags, does);
  command.option(DATA_DIR_FLAG, 'instead of DATA_DIR of the environment (./data)');
  command.action(async () => {
    const options = command.opts<Options>();
    await act(name, command.args, options);
  });
}

function exitCodeLines(): string[] {
  return Object.values(EXIT_CODES).map(({ code, means }) => `  ${code}  ${means}`);
}

interface Call {
  readonly env: Environment;
  readonly outputs: Outputs;
  readonly signal: AbortSignal;
}

async function run(
  name: string,
  args: readonly string[],
  options: Options,
  { env, outputs, signal }: Call,
): Promise<Exit> {
  const row = COMMANDS[name]!;
  const durability = env.DURABILITY || 'flushed';
  // A node reports all faults of its settings itself, in its log.
  if (row.node !== 'itself' && !DURABILITIES.includes(durability)) {
    throw new Refused(`DURABILITY must be flushed or committed, it is "${durability}"`);
  }
  // An empty value comes from an unset variable of a script; it does not mean the current directory.
  if (options.dataDir === '') throw new Refused('--data-dir must name a directory');
  const context: Context = {
    ...outputs,
    env,
    signal,
    dataDir: typeof options.dataDir === 'string' ? options.dataDir : env.DATA_DIR || './data',
    durability: durability as Durability,
    paint: outputs.stdout.paint,
    progress: new Progress(outputs.stderr),
  };
  const release = admitted(row, context.dataDir);
  try {
    const command = await codeOf(name, row);
    return await command(context, args, options);
  } finally {
    context.progress.clear();
    release();
  }
}

async function codeOf(name: string, { run }: CommandRow): Promise<Run> {
  if (run !== undefined) return run();
  const { OPERATION_COMMANDS } = await import('./operation-commands.ts');
  return OPERATION_COMMANDS[name]!;
}

/** Checks, prepares and locks DATA_DIR for a command. Returns the function that releases it. */
function admitted({ directory, node }: CommandRow, dataDir: string): () => void {
  if (node === 'shared') {
    const problem = foreignHolder(dataDir);
    if (problem !== undefined) throw new Refused(problem, 'inUse');
  }
  if (node !== 'stopped') return () => undefined;
  if (directory === 'made') makeDirectory(dataDir);
  const lock = takeDirectoryLock(dataDir);
  if (!lock.ok) throw new Refused(lock.detail, 'inUse');
  if (!lock.isLocked && directory !== 'read') {
    throw new Error(`DATA_DIR ${dataDir} is not there, or cannot be written: it cannot be locked`);
  }
  return lock.release;
}
