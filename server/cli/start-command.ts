/** `start`: runs the node in this process. */
import { setFlagsFromString } from 'node:v8';
import { Refused, type Run } from './context.ts';
import { textOf } from './settings.ts';

/**
 * Flags under which nodes are measured (bench/README.md): V8 inlines more functions, and a heap may double before the
 * next full collection. By default the I/O thread of a busy leader does one for each 11 MB of objects and buffers.
 */
const V8_FLAGS = [
  '--max-inlined-bytecode-size=1500',
  '--max-inlined-bytecode-size-cumulative=6000',
  '--heap-growing-percent=100',
];

/** Settings by the option that replaces them. */
const VARIABLES = { port: 'PORT', adminPort: 'ADMIN_PORT' };

/** Never resolves: the node ends the process. */
export const start: Run = async ({ dataDir }, _, options) => {
  for (const flag of V8_FLAGS) setFlagsFromString(flag);
  process.env.DATA_DIR = dataDir;
  for (const [option, variable] of Object.entries(VARIABLES)) {
    const text = textOf(options, option);
    if (text === '') throw new Refused(`${variable} must be a number`);
    if (text !== undefined) process.env[variable] = text;
  }
  if (options.play === true) {
    process.env.LEDGER = 'on';
    process.env.FAUCET ??= '1000';
  }
  // The other program expects its arguments after the script's name.
  process.argv.splice(
    2,
    Number.POSITIVE_INFINITY,
    ...(options.demo === false ? ['--no-demo'] : []),
  );
  await import('../node/main.ts');
  return new Promise(() => undefined);
};
