/** Whole nodes on a real etcd: three processes of each. */
import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Etcd, NO_ETCD } from '../../bench/common/etcd.ts';
import { openNodeKey } from '../../server/identity/credentials.ts';
import type { CatalogMarket } from '../../storage/catalog/catalog-file.ts';
import { useCompiledNodes } from '../common/forms.ts';
import {
  book,
  freePort,
  get,
  levels,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { Trader } from '../common/traders.ts';

useCompiledNodes();
const NODES = 3;
const WAIT_MS = 60_000;
const LEVELS = 20;

interface Status {
  readonly status: string;
  readonly log: { readonly sequence: number; readonly digest: number };
  readonly cluster: {
    readonly node: string;
    readonly role: string;
    readonly leader: string | null;
    readonly epoch: number;
    readonly applied: number;
    readonly behind_ms: number;
  };
}

class Cluster {
  readonly nodes: TestNode[] = [];
  market!: CatalogMarket;
  readonly etcd: Etcd;
  private readonly directories: string[] = [];
  private readonly settings: Record<string, string>[] = [];

  private constructor(etcd: Etcd) {
    this.etcd = etcd;
  }

  static async start(further: Readonly<Record<string, string>> = {}): Promise<Cluster> {
    const cluster = new Cluster(await Etcd.start());
    for (let i = 0; i < NODES; i++) await cluster.prepare(i, further);
    await Promise.all(cluster.directories.map((_, i) => cluster.run(i)));
    return cluster;
  }

  async run(i: number): Promise<void> {
    this.nodes[i] = await TestNode.start(this.directories[i]!, this.settings[i]!);
  }

  async statusOf(i: number): Promise<Status> {
    return (await get(this.nodes[i]!, '/status')).json as Status;
  }

  /** The node that leads, once one does. */
  async leader(among = this.nodes.map((_, i) => i)): Promise<number> {
    let leader = -1;
    await until(async () => {
      for (const i of among) {
        const { cluster } = await this.statusOf(i).catch(() => ({ cluster: undefined }));
        if (cluster?.role === 'leader') leader = i;
      }
      return leader >= 0;
    }, WAIT_MS);
    return leader;
  }

  /** All nodes have applied the same batch, with the same digest. */
  async level(): Promise<void> {
    await until(async () => {
      const logs = await Promise.all(this.nodes.map((_, i) => this.statusOf(i)));
      const [first] = logs;
      return logs.every(({ log }) => log.sequence === first!.log.sequence);
    }, WAIT_MS);
    const logs = await Promise.all(this.nodes.map((_, i) => this.statusOf(i)));
    assert.equal(new Set(logs.map(({ log }) => JSON.stringify(log))).size, 1, JSON.stringify(logs));
  }

  async booksAreEqual(): Promise<readonly string[]> {
    const token = this.market.tokenIds[0]!;
    const [first, ...others] = await Promise.all(this.nodes.map((node) => book(node, token)));
    for (const other of others) assert.deepEqual(other, first);
    return levels(first!.bids);
  }

  async end(): Promise<void> {
    await Promise.all(this.nodes.map((node) => (node.hasEnded ? undefined : node.end('SIGKILL'))));
    await this.etcd.close();
  }

  private async prepare(i: number, further: Readonly<Record<string, string>>): Promise<void> {
    const directory = temporaryDirectory();
    const [market] = await withMarkets(directory, [{ id: 1 }]);
    this.market = market!;
    if (i === 0) openNodeKey(directory);
    else copyFileSync(join(this.directories[0]!, 'node.key'), join(directory, 'node.key'));
    this.directories.push(directory);
    const port = String(await freePort());
    this.settings.push({
      CLUSTER: this.etcd.address(),
      NODE_ID: `n${i}`,
      ADVERTISE: `http://127.0.0.1:${port}`,
      CLUSTER_SECRET: 's'.repeat(32),
      // Nobody takes the lead from a node that merely waits for a processor.
      CLUSTER_SILENCE_MS: '3000',
      PORT: port,
      ...further,
    });
  }
}

async function clustered(body: (cluster: Cluster) => Promise<void>): Promise<void> {
  const cluster = await Cluster.start();
  try {
    await body(cluster);
  } catch (error) {
    for (const { log } of cluster.nodes) console.error(log);
    throw error;
  } finally {
    await cluster.end();
  }
}

/** A trader with a key, which all nodes know once they have applied it. */
async function traderOf(cluster: Cluster, name: string): Promise<Trader> {
  let trader: Trader | undefined;
  await until(async () => {
    trader = await Trader.join(cluster.nodes[await cluster.leader()]!, name).catch(() => undefined);
    return trader !== undefined;
  }, WAIT_MS);
  await cluster.level();
  return trader!;
}

/** Sends the same order until whoever leads has taken it; how long that took. */
async function placed(
  cluster: Cluster,
  trader: Trader,
  ticks: number,
  among = cluster.nodes.map((_, i) => i),
): Promise<number> {
  const order = trader.sign({ market: cluster.market, side: 'BUY', ticks, shares: 10 });
  const began = performance.now();
  for (;;) {
    for (const i of among) {
      const reply = await trader
        .postText(cluster.nodes[i]!, JSON.stringify([order.item]))
        .catch(() => undefined);
      const [result] = reply?.status === 200 ? (reply.json as { orderID: string }[]) : [];
      if (result !== undefined && result.orderID === order.id) return performance.now() - began;
    }
    assert(performance.now() - began < WAIT_MS, 'nobody takes the order');
    await sleep(20);
  }
}

const NEEDS_ETCD = { skip: NO_ETCD };

test(
  'three nodes: one leads, all show the same book, and others refuse orders with its address',
  NEEDS_ETCD,
  () =>
    clustered(async (cluster) => {
      const { market } = cluster;
      const alice = await traderOf(cluster, 'alice');
      for (let i = 1; i <= LEVELS; i++) await placed(cluster, alice, i);
      await cluster.level();
      assert.equal((await cluster.booksAreEqual()).length, LEVELS);
      const leader = await cluster.leader();
      const address = `http://127.0.0.1:${cluster.nodes[leader]!.port}`;
      for (const [i, node] of cluster.nodes.entries()) {
        await until(
          async () => (await cluster.statusOf(i)).cluster.leader === `n${leader}`,
          WAIT_MS,
        );
        const { cluster: facts, status } = await cluster.statusOf(i);
        assert.deepEqual([facts.node, status], [`n${i}`, 'ok']);
        if (i === leader) continue;
        const order = alice.sign({ market, side: 'BUY', ticks: 1, shares: 10 });
        const reply = await alice.postText(node, JSON.stringify([order.item]));
        assert.deepEqual(
          [reply.status, reply.json],
          [
            503,
            {
              error: 'this node of the cluster does not lead',
              detail: address,
              code: 'NOT_LEADING',
            },
          ],
        );
      }
    }),
);

test(
  'kill -9 of the leader: another one takes orders, and nothing acknowledged is lost',
  NEEDS_ETCD,
  () =>
    clustered(async (cluster) => {
      const alice = await traderOf(cluster, 'alice');
      for (let i = 1; i <= LEVELS; i++) await placed(cluster, alice, i);
      const first = await cluster.leader();
      await cluster.nodes[first]!.end('SIGKILL');
      const others = cluster.nodes.map((_, i) => i).filter((i) => i !== first);
      const ms = await placed(cluster, alice, LEVELS + 1, others);
      console.log(`first acknowledged order ${Math.round(ms)} ms after the kill`);
      await cluster.run(first);
      await cluster.level();
      assert.equal((await cluster.booksAreEqual()).length, LEVELS + 1);
    }),
);

test(
  'a leader that was stopped for seconds has acknowledged nothing, and follows by itself',
  NEEDS_ETCD,
  () =>
    clustered(async (cluster) => {
      const alice = await traderOf(cluster, 'alice');
      await placed(cluster, alice, 1);
      const first = await cluster.leader();
      const stopped = cluster.nodes[first]!;
      process.kill(stopped.pid, 'SIGSTOP');
      const others = cluster.nodes.map((_, i) => i).filter((i) => i !== first);
      await placed(cluster, alice, 2, others);
      const late = alice.sign({ market: cluster.market, side: 'BUY', ticks: 3, shares: 10 });
      const answering = alice.postText(stopped, JSON.stringify([late.item])).catch(() => undefined);
      process.kill(stopped.pid, 'SIGCONT');
      assert.notEqual((await answering)?.status, 200);
      await until(async () => {
        const status = await cluster.statusOf(first).catch(() => undefined);
        return status?.cluster.role === 'follower' && status.status === 'ok';
      }, WAIT_MS);
      await cluster.level();
      assert.equal((await cluster.booksAreEqual()).length, 2);
    }),
);

test(
  'without etcd nothing is taken and reads say that they may be old, until it answers again',
  NEEDS_ETCD,
  () =>
    clustered(async (cluster) => {
      const alice = await traderOf(cluster, 'alice');
      await placed(cluster, alice, 1);
      const leader = cluster.nodes[await cluster.leader()]!;
      const stale = async (): Promise<unknown> => (await get(leader, '/status')).headers['x-stale'];
      assert.equal(await stale(), undefined);
      for (const member of cluster.etcd.members) member.pause();
      await until(async () => (await stale()) === 'true', WAIT_MS);
      const { status } = (await get(leader, '/status')).json as Status;
      assert.equal(status, 'read-only');
      const order = alice.sign({ market: cluster.market, side: 'BUY', ticks: 2, shares: 10 });
      const refused = await alice.postText(leader, JSON.stringify([order.item]));
      assert.equal(refused.status, 503);
      for (const member of cluster.etcd.members) member.resume();
      await placed(cluster, alice, 3);
      await cluster.level();
      assert.equal((await cluster.booksAreEqual()).length, 2);
      await until(
        async () => (await get(cluster.nodes[0]!, '/status')).headers['x-stale'] === undefined,
        WAIT_MS,
      );
    }),
);
