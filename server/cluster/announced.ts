/**
 * Announcements of nodes: their form, and those of the other nodes.
 *
 * Thread: the I/O thread.
 */
import type { ReplicatedLog } from '../../storage/replicated-log/replicated-log.ts';
import type { Log } from '../common/logger.ts';
import { jsonObject } from './json-value.ts';

export interface Announced {
  /** Address for clients; address for other nodes, as a URL. */
  readonly advertise: string;
  readonly peers: string;
  readonly mayLead: boolean;
  /** Digest of its node.key. */
  readonly key: string;
  /** Name of one process, and the newest batch of its log when it started; absent in older versions. */
  readonly run?: string;
  readonly last?: number;
}

export function announcedOf(value: Buffer): Announced | undefined {
  const found = jsonObject(value);
  const { advertise, key, mayLead, peers } = { ...found };
  const isWhole = isUrl(advertise) && isUrl(peers) && typeof key === 'string';
  return isWhole && typeof mayLead === 'boolean' ? (found as unknown as Announced) : undefined;
}

function isUrl(text: unknown): boolean {
  return typeof text === 'string' && URL.canParse(text);
}

/** Running nodes. An unreadable announcement is left out and reported once. */
export class Announcements {
  private readonly replicated: Pick<ReplicatedLog, 'nodes'>;
  private readonly prefix: string;
  private readonly print: Log;
  private bad: ReadonlySet<string> = new Set();

  constructor(replicated: Pick<ReplicatedLog, 'nodes'>, venue: string, print: Log) {
    this.replicated = replicated;
    this.prefix = `${venue}/nodes/`;
    this.print = print;
  }

  /** Announcements by node. Rejects with Unreachable. */
  async all(msMax: number): Promise<ReadonlyMap<string, Announced>> {
    const values = await this.replicated.nodes(msMax);
    const read = [...values].map(([node, value]) => [node, announcedOf(value)] as const);
    const bad = new Set<string>();
    const known = new Map<string, Announced>();
    for (const [node, announced] of read) {
      if (announced === undefined) bad.add(node);
      else known.set(node, announced);
    }
    for (const node of bad) {
      if (this.bad.has(node)) continue;
      const key = `${this.prefix}${node}`;
      this.print('warn', `etcd: ${key} has a value that cannot be read: node ${node} is left out`);
    }
    this.bad = bad;
    return known;
  }
}
