/** Commands inside the test's process: quick, and with their output at hand. */
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { runCli } from '../../server/cli/program.ts';
import { type Settings, SMALL_NODE } from './node-harness.ts';

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface Options {
  readonly settings?: Settings;
  readonly signal?: AbortSignal;
  /** True: standard error is a terminal. */
  readonly isTerminal?: boolean;
  /** Input at a terminal, which standard input then is. */
  readonly typed?: string;
  readonly onOutput?: (text: string) => void;
}

export async function cli(
  dataDir: string,
  args: readonly string[],
  { isTerminal = false, onOutput, settings = {}, signal, typed }: Options = {},
): Promise<Ended> {
  const stdout = new PassThrough();
  const stderr = Object.assign(new PassThrough(), { isTTY: isTerminal });
  const texts = Promise.all([text(stdout), text(stderr)]);
  if (onOutput !== undefined) stdout.on('data', (bytes: Buffer) => onOutput(bytes.toString()));
  const env = { ...SMALL_NODE, DATA_DIR: dataDir, ...settings };
  const input = Readable.from(typed === undefined ? [] : [Buffer.from(typed)]);
  const stdin = Object.assign(input, { isTTY: typed !== undefined });
  const streams = { stdin, stdout, stderr };
  const code = await runCli(args, env, streams, signal);
  stdout.end();
  stderr.end();
  const [out, err] = await texts;
  return { code, stdout: out, stderr: err };
}
