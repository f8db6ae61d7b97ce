import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { freePort } from '../../bench/common/free-port.ts';
import { useCompiledNodes } from '../common/forms.ts';
import { TestNode, temporaryDirectory } from '../common/node-harness.ts';
import { NEEDS_ETCD, placed, sharedCluster, traderOf } from './whole-cluster.ts';

useCompiledNodes();
const TAKEN = /NODE_ID=n\d: another node with this name runs at http:\/\/127\.0\.0\.1:\d+/;

describe('the name of a node', NEEDS_ETCD, () => {
  const on = sharedCluster();
  test(
    'a second node with the name of a running one is refused, and the lead stays',
    on(async (cluster) => {
      const leader = await cluster.leader();
      const { epoch } = (await cluster.statusOf(leader)).cluster;
      const settings = cluster.settingsOf(leader);
      const port = String(await freePort());
      const own = { PORT: port, ADMIN_PORT: '0', ADVERTISE: `http://127.0.0.1:${port}` };
      const { code, log } = await TestNode.refuse(temporaryDirectory(), { ...settings, ...own });
      assert.deepEqual([code, TAKEN.test(log)], [1, true], log);
      assert(log.includes(settings.ADVERTISE!), log);
      const status = await cluster.statusOf(leader);
      assert.deepEqual([status.cluster.role, status.cluster.epoch], ['leader', epoch]);
      await placed(cluster, await traderOf(cluster, 'alice'), 5);
    }),
  );

  test(
    'a second node that claims the same address is refused too, once the first one shows that it runs',
    on(async (cluster) => {
      const at = await cluster.follower();
      const node = TestNode.begin(temporaryDirectory(), {
        ...cluster.settingsOf(at),
        PORT: '0',
        ADMIN_PORT: '0',
      });
      const { code } = await node.exit();
      assert.deepEqual([code, TAKEN.test(node.log)], [1, true], node.log);
      await cluster.isReady(at);
      assert(!cluster.nodes[at]!.hasEnded);
      await placed(cluster, await traderOf(cluster, 'alice'), 6);
    }),
  );

  test(
    'a node that was killed starts at another address once its announcement has expired',
    on(async (cluster) => {
      const at = await cluster.follower();
      await cluster.nodes[at]!.end('SIGKILL');
      const port = String(await freePort());
      await cluster.run(at, { PORT: port, ADVERTISE: `http://127.0.0.1:${port}` });
      await cluster.level();
      await cluster.isReady(at);
    }),
  );
});
