import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { useCompiledNodes } from '../common/forms.ts';
import { TestNode, temporaryDirectory, until } from '../common/node-harness.ts';
import {
  type Cluster,
  NEEDS_ETCD,
  placed,
  sharedCluster,
  traderOf,
  WAIT_MS,
} from './whole-cluster.ts';

useCompiledNodes();
const OLD = 's'.repeat(32);
const NEW = 'n'.repeat(32);
/** Twice the heartbeat timeout after which a follower claims the log. */
const SILENT_MS = 6_000;
const WRONG = /CLUSTER_SECRET is neither that of the cluster nor the one before it/;

async function taken(cluster: Cluster, ticks: number): Promise<void> {
  const alice = await traderOf(cluster, 'alice');
  for (const i of cluster.nodes.keys()) await placed(cluster, alice, ticks + i, [i]);
}

async function restarted(cluster: Cluster, i: number, further: Record<string, string>) {
  await cluster.nodes[i]!.stop();
  await cluster.run(i, further);
}

describe('the secret of a cluster', NEEDS_ETCD, () => {
  const on = sharedCluster();
  test(
    'a node with another secret is not ready and never leads, and the others continue',
    on(async (cluster) => {
      await taken(cluster, 1);
      const wrong = await cluster.follower();
      await restarted(cluster, wrong, { CLUSTER_SECRET: NEW });
      await cluster.isReady(wrong, WRONG);
      assert.match(cluster.nodes[wrong]!.log, WRONG);
      const status = (await cluster.statusOf(wrong)) as unknown as {
        readonly status: string;
        readonly paused: readonly { readonly reason: string }[];
      };
      assert.equal(status.status, 'read-only');
      assert(status.paused.some(({ reason }) => reason === 'secret'));
      const others = [...cluster.nodes.keys()].filter((i) => i !== wrong);
      for (const i of others) await cluster.isReady(i);

      const first = await cluster.leader(others);
      await cluster.nodes[first]!.end('SIGKILL');
      const alice = await traderOf(cluster, 'alice');
      const left = others.filter((i) => i !== first);
      await placed(cluster, alice, 20, left);
      assert.equal((await cluster.statusOf(wrong)).cluster.role, 'follower');

      // The node that is left is gone, too: nobody leads, rather than the one that is not of the cluster.
      await cluster.nodes[left[0]!]!.end('SIGKILL');
      const silent = (await cluster.statusOf(wrong)).cluster.epoch;
      await sleep(SILENT_MS);
      const { epoch, role } = (await cluster.statusOf(wrong)).cluster;
      assert.deepEqual([role, epoch], ['follower', silent]);

      await restarted(cluster, wrong, {});
      await placed(cluster, alice, 21, [wrong]);
      for (const i of others) await cluster.run(i);
      await cluster.level();
    }),
  );

  test(
    'a node with an empty directory and another secret gives the reason for having no copy',
    on(async (cluster) => {
      const settings = { ...cluster.settingsOf(0), NODE_ID: 'new', CLUSTER_SECRET: NEW };
      const node = TestNode.begin(temporaryDirectory(), {
        ...settings,
        PORT: '0',
        ADMIN_PORT: '0',
      });
      try {
        await until(() => /waits for the copy of another node: .*secret/i.test(node.log), WAIT_MS);
        assert.match(node.log, WRONG);
      } finally {
        await node.end('SIGKILL');
      }
    }),
  );

  test(
    'each node accepts orders while the secret changes node by node',
    on(async (cluster) => {
      let ticks = 1;
      const step = async (i: number, further: Record<string, string>): Promise<void> => {
        await restarted(cluster, i, further);
        await cluster.isReady(i);
        await taken(cluster, ticks);
        ticks += cluster.nodes.length;
      };
      await taken(cluster, 90);
      const changing = { CLUSTER_SECRET: NEW, CLUSTER_SECRET_PREVIOUS: OLD };
      for (const i of cluster.nodes.keys()) await step(i, changing);
      for (const i of cluster.nodes.keys()) await step(i, { CLUSTER_SECRET: NEW });
      await cluster.level();
      for (const node of cluster.nodes) assert.doesNotMatch(node.log, /does not have CLUSTER_SEC/);

      // No node of the cluster has both any more, so one with the old secret is a stranger.
      const late = await cluster.follower();
      await restarted(cluster, late, {});
      await cluster.isReady(late, WRONG);
      await restarted(cluster, late, { CLUSTER_SECRET: NEW });
      await cluster.isReady(late);

      const etcd = await cluster.etcd.client();
      const { rows } = await etcd.page({ start: 'a', end: 'zz' }, 0, WAIT_MS);
      etcd.close();
      assert(rows.some(({ key }) => key === 'test/secret'));
      for (const { key, value } of rows) {
        assert(!value.includes(OLD) && !value.includes(NEW), `${key} holds a secret`);
      }
    }),
  );
});
