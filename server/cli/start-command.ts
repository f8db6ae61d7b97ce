/** `start`: the node, in this process. */
import { setFlagsFromString } from 'node:v8';
import type { Run } from './context.ts';

/** As the matching core is measured (bench/README.md): V8 inlines more functions. */
const V8_FLAGS = [
  '--max-inlined-bytecode-size=1500',
  '--max-inlined-bytecode-size-cumulative=6000',
];

/** Never resolves: the node ends the process. */
export const start: Run = async ({ dataDir }, _, options) => {
  for (const flag of V8_FLAGS) setFlagsFromString(flag);
  process.env.DATA_DIR = dataDir;
  // The other program expects its arguments after the script's name.
  process.argv.splice(
    2,
    Number.POSITIVE_INFINITY,
    ...(options.demo === false ? ['--no-demo'] : []),
  );
  await import('../app/main.ts');
  return new Promise(() => undefined);
};
