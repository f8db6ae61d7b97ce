import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdClient } from '../../storage/replicated-log/etcd-client.ts';
import { makeRoom } from '../../storage/replicated-log/make-room.ts';
import { useCompiledNodes } from '../common/forms.ts';
import { until } from '../common/node-harness.ts';
import { cli } from '../common/run-cli.ts';
import {
  type Cluster,
  clustered,
  NEEDS_ETCD,
  placed,
  sharedCluster,
  traderOf,
  WAIT_MS,
} from './whole-cluster.ts';

useCompiledNodes();
const BAD = Buffer.from('{"this is": "no value of a node"}');
const MIB = 2 ** 20;

async function withEtcd(
  cluster: Cluster,
  body: (etcd: EtcdClient) => Promise<void>,
): Promise<void> {
  const etcd = await cluster.etcd.client();
  try {
    await body(etcd);
  } finally {
    etcd.close();
  }
}

async function put(etcd: EtcdClient, key: string, value: Buffer): Promise<Buffer | undefined> {
  for (;;) {
    const expected = await etcd.get(key, WAIT_MS);
    if (await etcd.swap({ key, expected, puts: [{ key, value }] }, WAIT_MS)) return expected;
  }
}

function warnings(log: string, key: string): number {
  return log.split('\n').filter((line) => line.includes(`${key} has a value that cannot be read`))
    .length;
}

describe('values that cannot be read', NEEDS_ETCD, () => {
  const on = sharedCluster();

  test(
    'an unreadable leader key is logged once, and another node leads when the leader dies',
    on((cluster) =>
      withEtcd(cluster, async (etcd) => {
        const alice = await traderOf(cluster, 'alice');
        const first = await cluster.leader();
        const others = [...cluster.nodes.keys()].filter((i) => i !== first);
        // A leader that runs puts its next heartbeat there.
        await put(etcd, 'test/leader', BAD);
        await placed(cluster, alice, 1, others);
        await cluster.nodes[first]!.end('SIGKILL');
        await put(etcd, 'test/leader', BAD);
        await placed(cluster, alice, 2, others);
        for (const i of others) {
          const said = warnings(cluster.nodes[i]!.log, 'test/leader');
          assert(said === 1 || said === 2, `${said} lines`);
        }
        await cluster.run(first);
        await cluster.level();
      }),
    ),
  );

  test(
    'a node that needs an unreadable record says so, is not ready, and continues once it is restored',
    on((cluster) =>
      withEtcd(cluster, async (etcd) => {
        const alice = await traderOf(cluster, 'alice');
        const at = await cluster.follower();
        const others = [...cluster.nodes.keys()].filter((i) => i !== at);
        await cluster.nodes[at]!.stop();
        await placed(cluster, alice, 1, others);
        const { rows } = await etcd.page({ start: 'test/log/', end: 'test/log0' }, 0, WAIT_MS);
        const { key } = rows.at(-1)!;
        const good = await put(etcd, key, BAD);
        await placed(cluster, alice, 2, others);
        await cluster.run(at);
        await cluster.isReady(at, new RegExp(key));
        assert.equal(warnings(cluster.nodes[at]!.log, key), 1);
        assert.match(
          cluster.nodes[at]!.log,
          /put back, or the key is deleted and it takes the copy/,
        );
        await put(etcd, key, good!);
        await cluster.isReady(at);
        await cluster.level();
        assert(!cluster.nodes[at]!.hasEnded);
      }),
    ),
  );

  test(
    'a node takes the copy of another one when the key of a record is deleted',
    on((cluster) =>
      withEtcd(cluster, async (etcd) => {
        const alice = await traderOf(cluster, 'alice');
        const at = await cluster.follower();
        const others = [...cluster.nodes.keys()].filter((i) => i !== at);
        await cluster.nodes[at]!.stop();
        await placed(cluster, alice, 1, others);
        const { rows } = await etcd.page({ start: 'test/log/', end: 'test/log0' }, 0, WAIT_MS);
        const { key } = rows.at(-1)!;
        await put(etcd, key, BAD);
        await placed(cluster, alice, 2, others);
        await cluster.run(at);
        await cluster.isReady(at, new RegExp(key));
        await etcd.delete({ start: key, end: `${key}\0` }, WAIT_MS);
        await cluster.level();
        await cluster.isReady(at);
      }),
    ),
  );

  test(
    'an unreadable announcement is logged once, and a handover works without that node',
    on((cluster) =>
      withEtcd(cluster, async (etcd) => {
        const at = await cluster.leader();
        await put(etcd, 'test/nodes/stranger', BAD);
        const settings = { settings: cluster.settingsOf(at) };
        const handed = await cli(cluster.directories[at]!, ['cluster', 'handover'], settings);
        assert.deepEqual([handed.code, handed.stderr], [0, ''], handed.stdout);
        assert.notEqual(await cluster.leader(), at);
        assert.equal(warnings(cluster.nodes[at]!.log, 'test/nodes/stranger'), 1);
        await etcd.delete({ start: 'test/nodes/stranger', end: 'test/nodes/stranger\0' }, WAIT_MS);
      }),
    ),
  );

  test(
    'a running node restores its unreadable announcement',
    on((cluster) =>
      withEtcd(cluster, async (etcd) => {
        const good = await put(etcd, 'test/nodes/n0', BAD);
        const isBack = async () => (await etcd.get('test/nodes/n0', WAIT_MS))?.equals(good!);
        await until(async () => (await isBack()) === true, WAIT_MS);
      }),
    ),
  );

  test(
    'the leader replaces an unreadable record of the secret, and no node is refused',
    on((cluster) =>
      withEtcd(cluster, async (etcd) => {
        const good = await put(etcd, 'test/secret', BAD);
        const isBack = async () => (await etcd.get('test/secret', WAIT_MS))?.equals(good!);
        await until(async () => (await isBack()) === true, WAIT_MS);
        for (const i of cluster.nodes.keys()) await cluster.isReady(i);
      }),
    ),
  );
});

test('no node is ready when etcd is full, and each is ready once there is room', NEEDS_ETCD, () =>
  clustered(
    (cluster) =>
      withEtcd(cluster, async (etcd) => {
        for (const i of cluster.nodes.keys()) await cluster.isReady(i);
        const value = Buffer.alloc(MIB);
        const fill = async (): Promise<boolean> => {
          const key = `fill/${performance.now()}`;
          const swap = { key, expected: undefined, puts: [{ key, value }] };
          return etcd.swap(swap, WAIT_MS).catch(() => false);
        };
        while (await fill());
        for (const i of cluster.nodes.keys()) await cluster.isReady(i, /full/);
        const leader = await cluster.leader();
        for (const [i, { log }] of cluster.nodes.entries()) {
          if (i === leader) continue;
          const lines = log
            .split('\n')
            .filter((line) => /warn.*etcd: the log of the.*full/.test(line));
          assert.equal(lines.length, 1, log);
        }
        await etcd.delete({ start: 'fill/', end: 'fill0' }, WAIT_MS);
        const { revision } = await etcd.page({ start: 'fill/', end: 'fill0' }, 1, WAIT_MS);
        await etcd.compact(revision, WAIT_MS);
        for (const member of etcd.members) await makeRoom(etcd, member);
        for (const i of cluster.nodes.keys()) await cluster.isReady(i);
        await placed(cluster, await traderOf(cluster, 'alice'), 1);
        await cluster.level();
      }),
    {},
    undefined,
    { quotaBytes: 16 * MIB },
  ),
);
