/**
 * `npm run load`: the load tool. Without a mode it checks a node under load (bench/load), with
 * `measure` it measures one (bench/measure).
 * Exit codes: 0 well, 1 the node is wrong or the load failed, 2 wrong usage.
 */
import { checkNode, Exit } from './load/load-main.ts';
import { measureNode } from './measure/measure-main.ts';

const MEASURE = 'measure';

process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));

const [mode, ...rest] = process.argv.slice(2);
const write = (text: string): void => {
  process.stdout.write(text);
};
try {
  const code =
    mode === MEASURE
      ? await measureNode(rest, write)
      : await checkNode(process.argv.slice(2), write);
  process.exit(code);
} catch (error) {
  write(`the load failed: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(Exit.failed);
}
