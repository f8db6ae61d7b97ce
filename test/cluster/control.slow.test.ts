import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { freePort } from '../../bench/common/free-port.ts';
import { readToken } from '../../server/admin/token-file.ts';
import { useCompiledNodes } from '../common/forms.ts';
import { TestNode, temporaryDirectory, until } from '../common/node-harness.ts';
import { cli } from '../common/run-cli.ts';
import type { Trader } from '../common/traders.ts';
import {
  type Cluster,
  NEEDS_ETCD,
  PATIENT,
  sharedCluster,
  traderOf,
  WAIT_MS,
} from './whole-cluster.ts';

useCompiledNodes();
const HANDOVERS = 4;

async function run(cluster: Cluster, i: number, ...args: string[]): Promise<string> {
  const { code, stderr, stdout } = await cli(cluster.directories[i]!, ['cluster', ...args], {
    settings: cluster.settingsOf(i),
  });
  return code === 0 ? stdout.trimEnd() : stderr.trimEnd();
}

class Load {
  readonly problems: string[] = [];
  placed = 0;
  worstMs = 0;
  private isOver = false;
  private readonly ended: Promise<unknown>;

  constructor(cluster: Cluster, traders: readonly Trader[]) {
    this.ended = Promise.all(cluster.nodes.map((node, i) => this.send(cluster, node, traders[i]!)));
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await this.ended;
  }

  private async send({ market }: Cluster, node: TestNode, trader: Trader): Promise<void> {
    while (!this.isOver) {
      const order = trader.sign({ market, side: 'BUY', ticks: 5, shares: 10 });
      const began = performance.now();
      const { json, status } = await trader.postText(node, JSON.stringify([order.item]));
      this.worstMs = Math.max(this.worstMs, performance.now() - began);
      const [result] = status === 200 ? (json as { orderID: string }[]) : [];
      if (result?.orderID === order.id) this.placed += 1;
      else this.problems.push(`${status} ${JSON.stringify(json)}`);
    }
  }
}

describe('what an operator does with a cluster', NEEDS_ETCD, () => {
  const on = sharedCluster(PATIENT);
  test(
    'the table names the nodes, the leader and the members of etcd, and marks missing ones',
    on(async (cluster) => {
      const leader = await cluster.leader();
      await cluster.level();
      const other = (leader + 1) % cluster.nodes.length;
      const { epoch } = (await cluster.statusOf(leader)).cluster;
      const rows = [...cluster.nodes.keys()].map((i) => {
        const role = i === leader ? 'leader' : 'follower';
        return `^n${i} +${role} +${epoch} +\\d+ +\\d+ ms +\\d+ \\w+ +member +ok `;
      });
      for (const { port } of cluster.etcd.members)
        rows.push(`^127.0.0.1:${port} +(leader|follower) +[\\d.]+ MiB`);
      // A node that has no time for an answer now has it later.
      await until(async () => {
        const table = await run(cluster, other, 'status');
        return rows.every((row) => new RegExp(row, 'm').test(table));
      }, WAIT_MS);
      // As the page of a node gets them: what was found out a moment before.
      const admin = `http://127.0.0.1:${cluster.settingsOf(other).ADMIN_PORT}`;
      const headers = { Authorization: `Bearer ${readToken(cluster.directories[other]!)}` };
      const isShown = async (): Promise<boolean> => {
        const answer = await fetch(`${admin}/page/summary`, { headers });
        const { node } = (await answer.json()) as { node: { cluster_nodes: { role?: string }[] } };
        const roles = node.cluster_nodes.map(({ role }) => role);
        return roles.sort().join() === 'follower,follower,leader';
      };
      await until(isShown, WAIT_MS);
      const third = 3 - leader - other;
      await until(async () => {
        await cluster.nodes[third]!.end('SIGKILL');
        const [table, refusal] = await Promise.all([
          run(cluster, other, 'status'),
          run(cluster, leader, 'handover', `n${third}`),
        ]);
        const isSaid = new RegExp(`^n${third} +- .*ECONNREFUSED`, 'm').test(table);
        if (isSaid && /cannot lead/.test(refusal)) return true;
        // Some seconds later it is no longer announced: it has to be gone again.
        await cluster.run(third);
        return false;
      }, 3 * WAIT_MS);
      assert.match(await run(cluster, other, 'handover', 'nobody'), /there is no node nobody/);
      const { port } = cluster.etcd.members[0]!;
      const made = await run(cluster, other, 'defrag', `127.0.0.1:${port}`);
      assert.match(made, /^127\.0\.0\.1:\d+: [\d.]+ MiB before, [\d.]+ MiB after$/);
      assert.match(
        await run(cluster, other, 'defrag', 'elsewhere:1'),
        /is no member; there are 127/,
      );
      await cluster.run(third);
    }),
  );

  test(
    'the lead moves from node to node under load, by a request at any node, and no request fails',
    on(async (cluster) => {
      let leader = await cluster.leader();
      const traders = [];
      for (const i of cluster.nodes.keys()) traders.push(await traderOf(cluster, `trader ${i}`));
      const load = new Load(cluster, traders);
      const lines: string[] = [];
      for (let i = 0; i < HANDOVERS; i++) {
        const placed = load.placed;
        await until(() => load.placed > placed + 10, WAIT_MS);
        const next = (leader + 1) % cluster.nodes.length;
        // Of who leads, who shall lead, and the third one.
        const asked = (leader + i) % cluster.nodes.length;
        let line = '';
        await until(async () => {
          line = await run(cluster, asked, 'handover', `n${next}`);
          // It had no time to answer: nothing was begun.
          return !/cannot lead/.test(line);
        }, WAIT_MS);
        assert.match(line, new RegExp(`^n${next} leads, \\d+ ms after n${leader}$`));
        lines.push(line);
        leader = next;
        await until(async () => (await cluster.leader()) === next, WAIT_MS);
      }
      const placed = load.placed;
      await until(() => load.placed > placed + 10, WAIT_MS);
      await load.stop();
      console.log(`${lines.join('; ')}; longest wait ${Math.round(load.worstMs)} ms`);
      assert.deepEqual(load.problems, []);
      await cluster.level();
      await cluster.booksAreEqual();
      for (const { log } of cluster.nodes) assert.doesNotMatch(log, /: resync/);
    }),
  );
});

test('a node without a cluster says so', async () => {
  const settings = { ADMIN_PORT: String(await freePort()) };
  const directory = temporaryDirectory();
  const node = await TestNode.start(directory, settings);
  const { code, stderr } = await cli(directory, ['cluster', 'status'], { settings });
  assert.equal(code, 1);
  assert.match(stderr, /no cluster: this node runs without CLUSTER/);
  await node.stop();
});
