/**
 * A node that says when its I/O thread parses a long JSON text at once, and how long the text is, as a script
 * for tests.
 */

import { readConfig } from '../../server/config/config.ts';
import { startNode } from '../../server/node/node.ts';

/** A short body is parsed at once, whatever is in it, and so is a part of a long one, in quotes. */
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
