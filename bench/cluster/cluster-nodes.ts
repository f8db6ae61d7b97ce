/**
 * The nodes of the suite `cluster`: those of a cluster, or one alone, each a process with a directory of its own.
 *
 * Thread: the suite's only one.
 */
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openNodeKey } from '../../server/auth/credentials.ts';
import type { Etcd } from '../common/etcd.ts';
import { freePort } from '../common/free-port.ts';
import { LocalNode } from '../load/load-node.ts';

/** Directory and etcd of nodes that are stopped at the end. */
export interface Stage {
  readonly directory: string;
  readonly etcd: Etcd;
  readonly nodes: LocalNode[];
}

export interface Pair {
  /** The one that leads at first. */
  readonly leader: LocalNode;
  readonly follower: LocalNode;
}

const SILENCE_MS = '5000';

/** A cluster of two, with a name of its own. @param settings beside those of a cluster */
export async function startPair(
  stage: Stage,
  name: string,
  settings: NodeJS.ProcessEnv = {},
): Promise<Pair> {
  const [leader, follower] = await startCluster(stage, name, ['leader', 'follower'], settings);
  return { leader: leader!, follower: follower! };
}

/** @param ids of its nodes; the first one leads */
export async function startCluster(
  stage: Stage,
  name: string,
  ids: readonly string[],
  settings: NodeJS.ProcessEnv = {},
): Promise<readonly LocalNode[]> {
  const cluster = { CLUSTER: stage.etcd.address(name), CLUSTER_SECRET: 'bench'.repeat(8) };
  const start = async (node: string): Promise<LocalNode> => {
    const port = await freePort();
    const own = { NODE_ID: node, ADVERTISE: `http://127.0.0.1:${port}` };
    const all = { ...cluster, ...own, CLUSTER_SILENCE_MS: SILENCE_MS, ...settings };
    return startNode(stage, `${name}-${node}`, all, port, `${name}-${ids[0]}`);
  };
  const nodes: LocalNode[] = [];
  for (const id of ids) nodes.push(await start(id));
  return nodes;
}

/** A node without a cluster. */
export function startSingle(
  stage: Stage,
  name: string,
  settings: NodeJS.ProcessEnv = {},
): Promise<LocalNode> {
  return startNode(stage, name, settings);
}

/** @param first whose node.key it has, too */
async function startNode(
  { directory, nodes }: Stage,
  name: string,
  settings: NodeJS.ProcessEnv,
  port?: number,
  first = name,
): Promise<LocalNode> {
  const dataDir = join(directory, name);
  mkdirSync(dataDir);
  if (name === first) openNodeKey(dataDir);
  else copyFileSync(join(directory, first, 'node.key'), join(dataDir, 'node.key'));
  const node = await LocalNode.start(dataDir, {
    // All of them count their requests, as a node does by default.
    demo: true,
    hasAdmin: true,
    ...(port === undefined ? {} : { port }),
    environment: { WORKERS: '1', LOG_LEVEL: 'warn', ...settings },
  });
  nodes.push(node);
  return node;
}

/** Ends these nodes: the next part has the machine for itself. */
export async function endNodes({ nodes }: Stage): Promise<void> {
  // A node that follows ends first: nobody has to take the lead.
  for (const node of nodes.splice(0).reverse()) await node.stop();
}
