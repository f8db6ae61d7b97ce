/** A proposed payout in a cluster: made at a follower, shown by all nodes, paid by whoever leads at its deadline. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { auditEntries } from '../../storage/operations/audit-log.ts';
import { useCompiledNodes } from '../common/forms.ts';
import { get, until } from '../common/node-harness.ts';
import { cli, type Ended } from '../common/run-cli.ts';
import { type Cluster, clustered, NEEDS_ETCD, traderOf, WAIT_MS } from './whole-cluster.ts';

useCompiledNodes();

const balanceOf = (cluster: Cluster, i: number, wallet: string): Promise<Ended> =>
  run(cluster, i, 'ledger', 'balance', wallet);

function run(cluster: Cluster, i: number, ...args: string[]): Promise<Ended> {
  return cli(cluster.directories[i]!, args, { settings: cluster.settingsOf(i) });
}

async function done(cluster: Cluster, i: number, ...args: string[]): Promise<string> {
  const { code, stderr, stdout } = await run(cluster, i, ...args);
  assert.deepEqual([code, stderr], [0, ''], `${args.join(' ')}: ${stdout}`);
  return stdout.trimEnd();
}

test(
  'a successor keeps the proposal of a leader that was killed, and pays it once',
  NEEDS_ETCD,
  () =>
    clustered(
      async (cluster) => {
        const alice = await traderOf(cluster, 'alice');
        const leader = await cluster.leader();
        const others = cluster.nodes.map((_, i) => i).filter((i) => i !== leader);
        const [at = 0] = others;
        const { conditionId: condition } = cluster.market;
        await done(cluster, at, 'ledger', 'deposit', alice.address, '100');
        const split = { conditionId: condition, amount: '40000000', id: `${Date.now()}-split` };
        const { status, text } = await alice.ask(
          cluster.nodes[at]!,
          'POST',
          '/split',
          JSON.stringify(split),
        );
        assert.equal(status, 200, text);
        // A node that starts over cannot be reached.
        const says = async (i: number, text: string): Promise<boolean> => {
          const path = `/markets?condition_ids=${condition}`;
          const found = await get(cluster.nodes[i]!, path).catch(() => undefined);
          return JSON.stringify(found?.json ?? '').includes(text);
        };
        const areAll = (nodes: readonly number[], state: string): Promise<void> =>
          until(async () => {
            const text = `"umaResolutionStatus":"${state}"`;
            const found = await Promise.all(nodes.map((i) => says(i, text)));
            return found.every(Boolean);
          }, WAIT_MS);
        const all = [leader, ...others];

        await done(cluster, at, 'market', 'void', condition, '--review', '1h');
        await areAll(all, 'proposed');
        await done(cluster, at, 'market', 'withdraw-proposal', condition);
        await cluster.level();
        await done(
          cluster,
          at,
          'market',
          'resolve',
          condition,
          '--payout',
          '1,1',
          '--review',
          '15s',
        );
        await areAll(all, 'proposed');
        const [entry] = await auditEntries(cluster.directories[leader]!, 1);
        assert.deepEqual([entry?.route, entry?.status], ['POST /admin/markets/resolve', 200]);
        await cluster.nodes[leader]!.end('SIGKILL');
        await areAll(others, 'resolved');
        const paid = /^cash +100 +0 +100$/m;
        await until(
          async () => paid.test((await balanceOf(cluster, at, alice.address)).stdout),
          WAIT_MS,
        );
        await cluster.run(leader);
        await areAll(all, 'resolved');
        await cluster.level();
        for (const i of all) {
          assert.match((await balanceOf(cluster, i, alice.address)).stdout, paid);
        }
      },
      { LEDGER: 'on' },
    ),
);
