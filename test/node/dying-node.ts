/**
 * `npm start` with another worker, as a script for tests. TEST_WORKER names the worker below test/;
 * by default it dies on command (dying-worker.ts).
 */

import { readConfig } from '../../server/config/config.ts';
import { startNode } from '../../server/node/node.ts';

const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
const EXIT_MS = 100;
const WORKER = process.env.TEST_WORKER ?? 'node/dying-worker';

const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};
const read = readConfig(process.env, [], 1);
if (!read.ok) throw new Error(read.problems.join('\n'));
const node = await startNode({
  config: read.config,
  workerFile: new URL(`../${WORKER}.${EXTENSION}`, import.meta.url),
  log: (level, line) => say(`${level} ${line}`),
  onFatal: (error) => {
    say(`stopping: ${error.message}`);
    // Answers that are on their way leave.
    setTimeout(() => process.exit(1), EXIT_MS);
  },
});
process.on('SIGTERM', () => void node.close().then(() => process.exit(0)));
say(`listening on http://127.0.0.1:${node.port}`);
