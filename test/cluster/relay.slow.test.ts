/** Relayed batches at any node: each nonce once in the whole cluster, through the death of its leader. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PROFILE_TABLE } from '../../server/config/profile.ts';
import { get, type Reply, send, until } from '../common/node-harness.ts';
import { approve, batch, ROUTER } from '../relayer/batches.ts';
import { clustered, NEEDS_ETCD, traderOf, WAIT_MS } from './whole-cluster.ts';

const SETTINGS = {
  LEDGER: 'on',
  RELAYER: 'on',
  BEACON_WALLET_FACTORY: PROFILE_TABLE.beaconWalletFactory.polymarket,
};

test('a batch is taken by any node, its nonce once by all of them', NEEDS_ETCD, () =>
  clustered(async (cluster) => {
    const { wallet } = await traderOf(cluster, 'owner');
    const leader = await cluster.leader();
    const [first = 0, second = 0] = cluster.nodes.map((_, i) => i).filter((i) => i !== leader);
    const signed = (nonce: number): Promise<object> =>
      batch('WALLET', wallet.exportKey(), { nonce, calls: [approve(ROUTER)] });
    const submit = (i: number, body: object): Promise<Reply> =>
      send(cluster.nodes[i]!, 'POST', '/submit', {}, JSON.stringify(body));
    const isNext = (i: number, nonce: string): Promise<void> =>
      until(async () => {
        const path = `/nonce?address=${wallet.address}&type=WALLET`;
        const found = await get(cluster.nodes[i]!, path).catch(() => undefined);
        return (found?.json as { nonce?: string } | undefined)?.nonce === nonce;
      }, WAIT_MS);
    const body = await signed(0);
    const taken = await submit(first, body);
    assert.equal(taken.status, 200, taken.text);
    for (const i of [leader, first, second]) await isNext(i, '1');
    for (const i of [leader, first, second]) {
      const { json, status } = await submit(i, body);
      assert.equal(status, 400);
      const { error } = json as { error: string };
      assert.equal(error, 'batch nonce 0 does not match on-chain nonce 1');
    }
    await cluster.level();
    await cluster.nodes[leader]!.end('SIGKILL');
    const next = await signed(1);
    await until(async () => {
      const reply = await submit(second, next).catch(() => undefined);
      // A retry of one that was taken.
      return reply?.status === 200 || reply?.text.includes('NONCE_MISMATCH') === true;
    }, WAIT_MS);
    for (const i of [first, second]) await isNext(i, '2');
  }, SETTINGS),
);
