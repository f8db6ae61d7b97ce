/**
 * A node that logs each long JSON text that its I/O thread parses at once, with its length, as a
 * script for tests.
 */

import { readConfig } from '../../server/config/config.ts';
import { startNode } from '../../server/node/node.ts';

/** Bound of a text that may be parsed at once: a short body, or a quoted part of a long one. */
const LENGTH_MAX = 2 ** 16 + 16;

const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};
const read = readConfig(process.env, [], 1);
if (!read.ok) throw new Error(read.problems.join('\n'));
const node = await startNode({
  config: read.config,
  log: (level, line) => say(`${level} ${line}`),
  onFatal: (error) => say(`stopping: ${error.message}`),
});
const { parse } = JSON;
JSON.parse = (text, reviver) => {
  if (text.length > LENGTH_MAX) say(`parsed ${text.length} at once`);
  return parse(text, reviver);
};
process.on('SIGTERM', () => void node.close().then(() => process.exit(0)));
say(`listening on http://127.0.0.1:${node.port}`);
