/**
 * Brings a generation of the catalog to the other nodes, until a majority of the members has it: those that have
 * announced themselves and may lead, this node included. Replicas get it too, and do not count.
 *
 * Thread: the I/O thread.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Announced } from './announced.ts';

export type OtherNode = Pick<Announced, 'mayLead' | 'peers'>;

export interface SpreadOptions {
  readonly node: string;
  readonly nodes: () => Promise<ReadonlyMap<string, OtherNode>>;
  /** Resolves once that node has the content; rejects with an Error that says why it does not. */
  readonly offer: (peers: string) => Promise<void>;
  readonly goesOn: () => boolean;
  readonly signal: AbortSignal;
  readonly msMax?: number;
}

const MS_MAX = 30_000;
const LOOK_MS = 250;
/** Before the next offer to a node that could not take it. */
const AGAIN_MS = 1_000;

/** Nodes that take longer still get it after this has resolved. Rejects with an Error that names who lacks it. */
export async function spread(options: SpreadOptions): Promise<void> {
  const { goesOn, msMax = MS_MAX, node, nodes, offer, signal } = options;
  const having = new Set([node]);
  const offered = new Set<string>();
  const problems = new Map<string, string>();
  let wake = (): void => undefined;
  const offerTo = async (other: string, peers: string): Promise<void> => {
    offered.add(other);
    try {
      await offer(peers);
      having.add(other);
      wake();
    } catch (error) {
      problems.set(other, (error as Error).message);
      await sleep(AGAIN_MS, undefined, { ref: false });
    } finally {
      offered.delete(other);
    }
  };
  let announced: ReadonlyMap<string, OtherNode> | undefined;
  const end = performance.now() + msMax;
  for (;;) {
    announced = await nodes().catch(() => announced);
    signal.throwIfAborted();
    if (!goesOn()) throw new Error('this node leads no more');
    for (const [other, { peers }] of announced ?? []) {
      if (!having.has(other) && !offered.has(other)) void offerTo(other, peers);
    }
    const woken = new Promise<void>((resolve) => (wake = resolve));
    await Promise.race([woken, sleep(LOOK_MS)]);
    if (announced === undefined) {
      if (performance.now() > end) throw new Error('nobody knows which nodes there are');
      continue;
    }
    const members = [...announced].filter(([, { mayLead }]) => mayLead).map(([name]) => name);
    const all = new Set([...members, node]);
    const lacking = [...all].filter((name) => !having.has(name));
    if (2 * lacking.length < all.size) return;
    if (performance.now() <= end) continue;
    const each = lacking.map((name) => `${name} (${problems.get(name) ?? 'it has not answered'})`);
    throw new Error(
      `${all.size - lacking.length} of ${all.size} members have it, which is no majority; ` +
        `it is not at ${each.join(', ')}`,
    );
  }
}
