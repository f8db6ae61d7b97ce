/** Reads one node repeatedly: its status and the books of the load, for the history. */
import { setTimeout as sleep } from 'node:timers/promises';
import { books, send } from '../../common/node-harness.ts';
import type { History } from './history.ts';
import type { ClusterLoad } from './load.ts';
import { stateOf } from './load.ts';
import type { ClusterStage, Status } from './stage.ts';

const REST_MS = 100;
const TIMEOUT_MS = 3_000;

export class Observer {
  stale = 0;
  private readonly node: number;
  private readonly stage: ClusterStage;
  private readonly load: ClusterLoad;
  private readonly history: History;
  private goesOn = true;
  private readonly running: Promise<void>;

  constructor(node: number, stage: ClusterStage, load: ClusterLoad, history: History) {
    this.node = node;
    this.stage = stage;
    this.load = load;
    this.history = history;
    this.running = this.observe();
  }

  async stop(): Promise<void> {
    this.goesOn = false;
    await this.running;
  }

  private async observe(): Promise<void> {
    while (this.goesOn) {
      const look = new AbortController();
      const late = sleep(TIMEOUT_MS, undefined, { signal: look.signal }).catch(() => undefined);
      // A node that is killed or stopped says nothing; what it says too late comes behind newer answers.
      await Promise.race([this.look(look.signal).catch(() => undefined), late]);
      look.abort();
      await sleep(REST_MS);
    }
  }

  private async look(signal: AbortSignal): Promise<void> {
    const { history, load, node, stage } = this;
    const name = `n${node}`;
    const counts = (): { sent: number; acknowledged: number }[] =>
      load.tokens.map(({ tokenId }) => ({ ...history.counts(tokenId) }));
    const before = await this.status(signal);
    const first = counts();
    const found = await books(
      stage.addresses[node]!,
      load.tokens.map(({ tokenId }) => tokenId),
    );
    signal.throwIfAborted();
    const last = counts();
    const after = await this.status(signal);
    if (before === undefined || after === undefined) return;
    const isLeader =
      before.role === 'leader' && after.role === 'leader' && before.epoch === after.epoch;
    for (const [i, book] of found.entries()) {
      const atLeast = isLeader ? first[i]!.acknowledged : 0;
      const { sent } = last[i]!;
      history.read({ node: name, book: book.asset_id, state: stateOf(book), sent, atLeast });
    }
  }

  /** `undefined` when its state may be stale, or it has no log yet. */
  private async status(signal: AbortSignal): Promise<NonNullable<Status['cluster']> | undefined> {
    const { history, node, stage } = this;
    const askedAt = performance.now();
    const { headers, json } = await send(stage.addresses[node]!, 'GET', '/status');
    signal.throwIfAborted();
    const { cluster, log } = json as Status;
    const answeredAt = performance.now();
    if (headers['x-stale'] !== undefined || cluster === null) {
      this.stale += 1;
      return undefined;
    }
    history.status({
      node: `n${node}`,
      askedAt,
      answeredAt,
      ...log,
      epoch: cluster.epoch,
      leads: cluster.role === 'leader',
    });
    return cluster;
  }
}
