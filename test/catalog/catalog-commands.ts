/**
 * The catalog commands: inside this process, which is quick, or as a process where the process is
 * under test.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { runCli } from '../../server/cli/program.ts';
import { fileArgs } from '../common/forms.ts';
import { SMALL_NODE } from '../common/node-harness.ts';
import { ROOT } from '../common/root.ts';

const CLI = 'server/cli/cli';

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

type Environment = Readonly<Record<string, string>>;

const { ACCOUNTS_MAX, LEVELS_MAX, MARKETS_MAX, ORDERS_MAX, TOKENS_MAX } = SMALL_NODE;
const SMALL_TABLES = { ACCOUNTS_MAX, LEVELS_MAX, MARKETS_MAX, ORDERS_MAX, TOKENS_MAX };

export async function command(
  args: readonly string[],
  env: Environment = {},
  input: string | Buffer = '',
): Promise<Ended> {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const texts = Promise.all([buffer(stdout), text(stderr)]);
  const stdin = Readable.from([Buffer.from(input)]);
  const settings = { ...SMALL_TABLES, ...env };
  const code = await runCli(['catalog', ...args], settings, { stdin, stdout, stderr });
  stdout.end();
  stderr.end();
  const [out, err] = await texts;
  return { code, stdout: out.toString(), stderr: err };
}

export function startCommand(args: readonly string[], env: Environment) {
  return spawn(process.execPath, [...fileArgs(CLI), 'catalog', ...args], {
    cwd: ROOT,
    env: { ...process.env, DURABILITY: '', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

export async function commandProcess(
  args: readonly string[],
  env: Environment,
  input: string | Buffer = '',
): Promise<Ended> {
  const child = startCommand(args, env);
  child.stdin.end(input);
  const texts = Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = (await once(child, 'close')) as [number | null];
  const [stdout, stderr] = await texts;
  return { code, stdout, stderr };
}
