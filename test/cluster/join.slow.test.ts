import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { EtcdLog } from '../../storage/replicated-log/etcd-log.ts';
import { useCompiledNodes } from '../common/forms.ts';
import { get, TestNode, until } from '../common/node-harness.ts';
import { seeded } from '../storage/stored-exchange.ts';
import {
  Cluster,
  emptyPlace,
  NEEDS_ETCD,
  type Place,
  placed,
  type Status,
  sharedCluster,
  traderOf,
  WAIT_MS,
} from './whole-cluster.ts';

useCompiledNodes();
const LEVELS = 20;
const KILLS = 4;

async function traded(cluster: Cluster): Promise<void> {
  const alice = await traderOf(cluster, 'alice');
  for (let i = 1; i <= LEVELS; i++) await placed(cluster, alice, i);
}

async function hasJoined(cluster: Cluster, node: TestNode, place: Place): Promise<void> {
  cluster.nodes.push(node);
  await cluster.level();
  assert.equal((await cluster.booksAreEqual()).length, LEVELS);
  const keys = [place.directory, cluster.directories[0]!].map((it) =>
    readFileSync(join(it, 'node.key')),
  );
  assert.deepEqual(keys[0], keys[1]);
  const left = readdirSync(place.directory).filter((name) => /^joining|^giving/.test(name));
  assert.deepEqual(left, []);
  const market = `/markets?condition_ids=${cluster.market.conditionId}`;
  // Live figures are worked out anew from time to time, at each node.
  await until(async () => {
    const both = [node, cluster.nodes[0]!].map(async (it) => (await get(it, market)).text);
    const [own, other] = await Promise.all(both);
    return own === other;
  }, WAIT_MS);
}

async function leaves({ nodes }: Cluster): Promise<void> {
  await nodes.pop()!.stop();
}

describe('nodes that join', NEEDS_ETCD, () => {
  const on = sharedCluster();
  test(
    'a node with an empty directory gets key, catalog, books, and later records',
    on(async (cluster) => {
      await traded(cluster);
      const place = await emptyPlace(cluster, 'n9');
      const node = await TestNode.start(place.directory, place.settings);
      assert.match(node.log, /taken from node n\d: all up to batch/);
      await hasJoined(cluster, node, place);
      await until(async () => {
        const { cluster: facts, status } = (await get(node, '/status')).json as Status;
        return facts.role === 'follower' && status === 'ok';
      }, WAIT_MS);
      await leaves(cluster);
    }),
  );

  test(
    'the next start gets everything after kill -9 of a joining node at any time',
    on(async (cluster) => {
      await traded(cluster);
      const place = await emptyPlace(cluster, 'n9');
      await seeded(async (random) => {
        for (let i = 0; i < KILLS; i++) {
          const node = TestNode.begin(place.directory, place.settings);
          await until(() => node.log.includes('taking what node') || node.port !== 0, WAIT_MS);
          await sleep(random.between(0, 250));
          await node.end('SIGKILL');
        }
      });
      const node = await TestNode.start(place.directory, place.settings);
      await hasJoined(cluster, node, place);
      await leaves(cluster);
    }),
  );

  test(
    'another node sends the copy after kill -9 of the senders',
    on(async (cluster) => {
      await traded(cluster);
      const place = await emptyPlace(cluster, 'n9');
      const node = TestNode.begin(place.directory, place.settings);
      let giver: string | undefined;
      await until(() => {
        giver = /taking what node n(\d)/.exec(node.log)?.[1];
        return giver !== undefined;
      }, WAIT_MS);
      const killed = Number(giver);
      await cluster.nodes[killed]!.end('SIGKILL');
      await node.answers();
      await cluster.run(killed);
      assert(!existsSync(join(cluster.directories[killed]!, 'giving')), 'a copy for nobody');
      await hasJoined(cluster, node, place);
      await leaves(cluster);
    }),
  );

  test(
    'a node that is behind the beginning of the shared log starts again with a copy',
    on(async (cluster) => {
      const alice = await traderOf(cluster, 'alice');
      const leader = await cluster.leader();
      const behind = cluster.nodes.findIndex((_, i) => i !== leader);
      await placed(cluster, alice, 1);
      await cluster.nodes[behind]!.stop();
      const others = cluster.nodes.map((_, i) => i).filter((i) => i !== behind);
      for (let i = 2; i <= LEVELS; i++) await placed(cluster, alice, i, others);
      const client = await cluster.etcd.client();
      const log = new EtcdLog(client, 'test', 0);
      await log.trim((await log.tail(WAIT_MS)).sequence);
      await log.close();
      const node = TestNode.begin(cluster.directories[behind]!, cluster.settingsOf(behind));
      cluster.nodes[behind] = node;
      await until(() => node.log.includes('taken from node'), WAIT_MS);
      await until(async () => {
        const status = await cluster.statusOf(behind).catch(() => undefined);
        return status?.status === 'ok';
      }, WAIT_MS);
      await cluster.level();
      assert.equal((await cluster.booksAreEqual()).length, LEVELS);
    }),
  );
});

test('empty nodes that start at the same time agree on one key', NEEDS_ETCD, async () => {
  const cluster = await Cluster.withoutNodes();
  try {
    const places = await Promise.all(['a', 'b', 'c'].map((name) => emptyPlace(cluster, name)));
    cluster.nodes.push(...places.map((it) => TestNode.begin(it.directory, it.settings)));
    const keyOf = ({ directory }: Place): string | undefined => {
      const path = join(directory, 'node.key');
      return existsSync(path) ? readFileSync(path, 'hex') : undefined;
    };
    const isWell = async (node: TestNode): Promise<boolean> => {
      const answer = await get(node, '/status').catch(() => undefined);
      return (answer?.json as Status | undefined)?.status === 'ok';
    };
    await until(async () => {
      const keys = new Set(places.map(keyOf));
      if (keys.size > 1 || keys.has(undefined)) return false;
      return (await Promise.all(cluster.nodes.map(isWell))).every((is) => is);
    }, WAIT_MS);
    const agreed = new Set(places.map(keyOf));
    await traderOf(cluster, 'alice');
    assert.deepEqual(new Set(places.map(keyOf)), agreed);
  } finally {
    await cluster.end();
  }
});
