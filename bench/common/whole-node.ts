/**
 * A whole node in the process of a benchmark's child, which says warnings and ends the child with itself.
 *
 * Thread: the node's I/O thread. Non-goals: its own configuration; the environment is the node's.
 */
import { availableParallelism } from 'node:os';
import { readConfig } from '../../server/config/config.ts';
import { startNode } from '../../server/node/node.ts';

/** Resolves with the port. */
export async function startWholeNode(
  environment: Readonly<Record<string, string>>,
): Promise<number> {
  const read = readConfig(environment, ['--no-demo'], availableParallelism());
  if (!read.ok) throw new Error(read.problems.join('; '));
  const node = await startNode({
    config: read.config,
    log: (level, line) => {
      if (level !== 'info' && level !== 'debug') process.stderr.write(`node: ${line}\n`);
    },
    onFatal: (error) => {
      throw error;
    },
  });
  return node.port;
}
