/** Invitations in a cluster: each code is used once by all nodes, through the death of the leader. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Wallet } from '../../client/client.ts';
import { level1 } from '../../client/credentials.ts';
import { type Reply, send, until } from '../common/node-harness.ts';
import { cli } from '../common/run-cli.ts';
import { CHAIN_ID, seconds } from '../common/traders.ts';
import { clustered, NEEDS_ETCD, WAIT_MS } from './whole-cluster.ts';

const CODES = 8;
const walletOf = (name: string): Wallet => Wallet.fromSeed(`invited ${name}`);

test('a code is used once by all nodes of a cluster, also while its leader dies', NEEDS_ETCD, () =>
  clustered(
    async (cluster) => {
      const leader = await cluster.leader();
      const [first = 0, second = 0] = cluster.nodes.map((_, i) => i).filter((i) => i !== leader);
      const run = (i: number, ...args: string[]) =>
        cli(cluster.directories[i]!, ['invite', ...args], { settings: cluster.settingsOf(i) });
      const made = await run(first, 'create', '--count', String(CODES), '--cash', '5');
      assert.equal(made.code, 0, made.stderr);
      const codes = made.stdout.trim().split('\n');
      const redeem = (i: number, name: string, code: string): Promise<Reply | undefined> => {
        const headers = level1('SERVICE', walletOf(name), CHAIN_ID, seconds(), '0');
        const body = JSON.stringify({ code, name });
        return send(cluster.nodes[i]!, 'POST', '/invites/redeem', headers, body).catch(
          () => undefined,
        );
      };
      const racers = await Promise.all(
        cluster.nodes.map((_, i) => redeem(i, `racer${i}`, codes[0]!)),
      );
      assert.deepEqual(racers.map((reply) => reply?.status).sort(), [200, 409, 409]);
      // The others come while the leader dies; whoever has no answer asks again.
      const others = codes.slice(1);
      const unheard = others.map((code, i) => redeem(i % 2 ? first : second, `guest${i}`, code));
      await cluster.nodes[leader]!.end('SIGKILL');
      await Promise.all(unheard);
      for (const [i, code] of others.entries()) {
        await until(async () => (await redeem(second, `guest${i}`, code))?.status === 200, WAIT_MS);
      }
      const taken = await redeem(first, 'stranger', others[0]!);
      assert.equal(taken?.status, 409, taken?.text);
      const listed = await run(second, 'list', '--json');
      const { open, redeemed } = JSON.parse(listed.stdout) as { open: number; redeemed: number };
      assert.deepEqual([open, redeemed], [0, CODES]);
      const totals = await cli(
        cluster.directories[second]!,
        ['ledger', 'balance', walletOf('guest0').address],
        {
          settings: cluster.settingsOf(second),
        },
      );
      assert.match(totals.stdout, /^cash +5 +0 +5$/m);
    },
    { LEDGER: 'on', INVITES: 'on', FAUCET: '1000' },
  ),
);
