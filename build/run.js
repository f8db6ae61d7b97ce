/**
 * Runs a program from what is built, and builds first where its sources have changed since the last build.
 *
 *   node build/run.js node/server/cli/cli.js ARGUMENTS     the program's path below dist/
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, groupOf, isBuilt, wasBuilt } from './compile.js';

const [, , program = '', ...args] = process.argv;
const file = join(import.meta.dirname, '../dist', program);
const group = groupOf(program);
/** @param {string} text */
const say = (text) => process.stderr.write(`${text}\n`);

if (!isBuilt(group) || !existsSync(file)) {
  const why = wasBuilt() ? 'sources have changed since the last build' : 'nothing is built yet';
  say(`${why}: building`);
  const began = performance.now();
  // A file that is missing is made again, whatever the mark says.
  const code = build(isBuilt(group) ? undefined : group, () => say('waiting for another build'));
  if (code !== 0) {
    say('the build failed');
    process.exit(code);
  }
  say(`built in ${((performance.now() - began) / 1_000).toFixed(1)} s`);
}

// Strategies and examples of a checkout may be TypeScript, which Node runs by itself from 22.18 on.
const runsTypeScript = 'typescript' in process.features && process.features.typescript !== false;
const loader = 'tsx';
if (!runsTypeScript && args.some((arg) => /\.[cm]?ts$/.test(arg))) await import(loader);

process.argv.splice(1, 2, file);
await import(pathToFileURL(file).href);
