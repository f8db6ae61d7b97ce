/**
 * Start of a node. Recovery begins before most modules are loaded (assembly.ts), because both take long.
 *
 * Thread: I/O.
 */
import { unsetCapacities } from '../config/config.ts';
import { Recovery } from './recovery.ts';
import type { NodeOptions, RunningNode } from './running-node.ts';

/** Rejects with an Error for the operator when the node must not run. */
export async function startNode(options: NodeOptions): Promise<RunningNode> {
  const { config, log, set } = options;
  const growing = unsetCapacities(set);
  const recovery = new Recovery({ ...config, growing }, (line) => log('warn', line));
  try {
    const { assemble } = await import('./assembly.ts');
    return await assemble(options, recovery);
  } catch (error) {
    await recovery.stop();
    throw error;
  }
}
