import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { readToken } from '../../server/admin/token-file.ts';
import { auditEntries } from '../../storage/operations/audit-log.ts';
import { useCompiledNodes } from '../common/forms.ts';
import { get, TestNode, temporaryDirectory, until } from '../common/node-harness.ts';
import { cli, type Ended } from '../common/run-cli.ts';
import { bodyOf } from '../common/traders.ts';
import {
  type Cluster,
  NEEDS_ETCD,
  PATIENT,
  sharedCluster,
  traderOf,
  WAIT_MS,
} from './whole-cluster.ts';

useCompiledNodes();
const on = sharedCluster({ LEDGER: 'on', RATE_LIMITS: 'on', ...PATIENT });

function run(cluster: Cluster, i: number, ...args: string[]): Promise<Ended> {
  return cli(cluster.directories[i]!, args, { settings: cluster.settingsOf(i) });
}

async function done(cluster: Cluster, i: number, ...args: string[]): Promise<string> {
  const { code, stderr, stdout } = await run(cluster, i, ...args);
  assert.deepEqual([code, stderr], [0, ''], `${args.join(' ')}: ${stdout}`);
  return stdout.trimEnd();
}

test(
  'each change that is made at a follower holds on all nodes',
  NEEDS_ETCD,
  on(async (cluster) => {
    const alice = await traderOf(cluster, 'alice');
    const leader = await cluster.leader();
    const [at = 0, third = 0] = cluster.nodes.map((_, i) => i).filter((i) => i !== leader);
    const here = (...args: string[]): Promise<string> => done(cluster, at, ...args);
    const wallet = alice.address;

    // Whoever made a change finds it at the same node.
    assert.match(await here('ledger', 'deposit', wallet, '99', '--id', 'invoice 1'), /99$/);
    const file = join(temporaryDirectory(), 'wallets.csv');
    writeFileSync(file, `${wallet},0.5\n${wallet},0.5\n`);
    assert.match(
      await here('ledger', 'deposit', '--file', file),
      /^wallets.csv: 2 of 2 lines are /,
    );
    assert.match(await here('ledger', 'balance', wallet), /^cash +100 +0 +100$/m);
    const { apiKey } = JSON.parse(await here('keys', 'issue', wallet, '--nonce', '7')) as {
      apiKey: string;
    };
    assert.match(await here('keys', 'list', '--wallet', wallet), new RegExp(`${apiKey}.*active`));
    assert.match(await here('keys', 'revoke', apiKey), / is revoked$/);

    const order = alice.sign({ market: cluster.market, side: 'BUY', ticks: 9, shares: 10 });
    assert.equal((await alice.postText(cluster.nodes[third]!, bodyOf([order]))).status, 200);
    await cluster.level();
    assert.equal(await here('orders', 'cancel', wallet), '1 orders are canceled');
    await here('wallet', 'ban', wallet, '--reason', 'test');
    assert.match(await here('wallet', 'bans'), new RegExp(`${wallet} +20.* +test$`));
    await cluster.level();
    for (const node of cluster.nodes) {
      assert.equal((await alice.ask(node, 'GET', '/data/orders')).status, 403);
    }
    await here('wallet', 'unban', wallet);
    await here('venue', 'pause', '--reason', 'over night');
    await cluster.level();
    const again = alice.sign({ market: cluster.market, side: 'BUY', ticks: 8, shares: 10 });
    for (const node of cluster.nodes) {
      const { status, text } = await alice.postText(node, bodyOf([again]));
      assert.deepEqual([status, /cancel-only/.test(text)], [503, true], text);
    }
    await here('venue', 'resume');
    await cluster.level();
    assert.equal((await alice.postText(cluster.nodes[third]!, bodyOf([again]))).status, 200);

    // What is wrong is refused by the node that leads, in its words; what is of one node stays there.
    const none = await run(cluster, at, 'orders', 'cancel', wallet, `0x${'1'.repeat(64)}`);
    assert.match(none.stderr, /order not found: the wallet has no open order of that id$/m);
    await here('limits', 'set', 'book', '7/10');
    assert.doesNotMatch(await done(cluster, leader, 'limits', 'list'), /^book +7\/10 /m);

    // Both audit logs have it; that of the leader says where it was made.
    const entriesOf = (i: number) => auditEntries(cluster.directories[i]!, 100);
    const [own, leading] = [await entriesOf(at), await entriesOf(leader)];
    const made = leading.map(({ route, status }) => [route, status]);
    const taken = own.filter(({ route }) => route !== 'POST /admin/rate-limits');
    assert.deepEqual(
      taken.map(({ route, status }) => [route, status]),
      made,
    );
    assert.equal(made.length, 10);
    for (const [i, { actor }] of leading.entries())
      assert.equal(actor, `${taken[i]!.actor}, at n${at}`);
    assert.deepEqual(await entriesOf(third), []);

    // Ids that are texts are those of all nodes, whoever leads.
    await here('cluster', 'handover', `n${at}`);
    const repeated = await done(
      cluster,
      third,
      'ledger',
      'deposit',
      wallet,
      '99',
      '--id',
      'invoice 1',
    );
    assert.match(repeated, /^invoice 1: 99 is paid in .* \(it was done before\)$/);
    const sentAgain = await done(cluster, third, 'ledger', 'deposit', '--file', file);
    assert.match(sentAgain, /; 2 were done before$/);
    await cluster.level();
  }),
);

const balanceOf = (cluster: Cluster, i: number, wallet: string): Promise<Ended> =>
  run(cluster, i, 'ledger', 'balance', wallet);

test(
  'a successor keeps the proposal of a leader that was killed, and pays it once',
  NEEDS_ETCD,
  on(async (cluster) => {
    const carol = await traderOf(cluster, 'carol');
    const leader = await cluster.leader();
    const others = cluster.nodes.map((_, i) => i).filter((i) => i !== leader);
    const [at = 0] = others;
    const { conditionId: condition } = cluster.market;
    await done(cluster, at, 'ledger', 'deposit', carol.address, '100');
    const split = { conditionId: condition, amount: '40000000', id: `${Date.now()}-split` };
    const { status, text } = await carol.ask(
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
      }, 2 * WAIT_MS);
    const all = [leader, ...others];

    await done(cluster, at, 'market', 'void', condition, '--review', '1h');
    await areAll(all, 'proposed');
    await done(cluster, at, 'market', 'withdraw-proposal', condition);
    await cluster.level();
    await done(cluster, at, 'market', 'resolve', condition, '--payout', '1,1', '--review', '45s');
    await areAll(all, 'proposed');
    const [entry] = await auditEntries(cluster.directories[leader]!, 1);
    assert.deepEqual([entry?.route, entry?.status], ['POST /admin/markets/resolve', 200]);
    await cluster.nodes[leader]!.end('SIGKILL');
    await areAll(others, 'resolved');
    const paid = /^cash +100 +0 +100$/m;
    await until(
      async () => paid.test((await balanceOf(cluster, at, carol.address)).stdout),
      WAIT_MS,
    );
    await cluster.run(leader);
    await areAll(all, 'resolved');
    await cluster.level();
    for (const i of all) {
      assert.match((await balanceOf(cluster, i, carol.address)).stdout, paid);
    }
  }),
);

test(
  'the answer names the batch, also when the node that makes the change has no listener',
  NEEDS_ETCD,
  on(async (cluster) => {
    const alice = await traderOf(cluster, 'alice');
    const leader = await cluster.leader();
    const at = (leader + 1) % cluster.nodes.length;
    // A stopped node of a cluster changes nothing: its log has what that of the cluster has.
    await cluster.nodes[leader]!.stop();
    const stopped = await run(cluster, leader, 'wallet', 'ban', alice.address);
    assert.equal(stopped.code, 1);
    assert.match(stopped.stderr, /^DATA_DIR is that of a node of a cluster, which does not run/);
    assert.match(
      (await run(cluster, leader, 'wallet', 'bans')).stdout,
      /^wallet +name +since +reason\n$/,
    );

    const settings = { ...cluster.settingsOf(leader), ADMIN_PORT: '0' };
    cluster.nodes[leader] = await TestNode.start(cluster.directories[leader]!, settings);
    await until(async () => {
      if ((await cluster.leader()) === leader) return true;
      await run(cluster, at, 'cluster', 'handover', `n${leader}`);
      return false;
    }, WAIT_MS);
    const newest = async () => (await cluster.statusOf(leader)).cluster.applied;
    const before = await newest();
    const { ADMIN_PORT = '' } = cluster.settingsOf(at);
    const answer = await fetch(`http://127.0.0.1:${ADMIN_PORT}/admin/bans`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${readToken(cluster.directories[at]!)}` },
      body: JSON.stringify({ wallet: alice.address }),
    });
    assert.equal(answer.status, 200, await answer.text());
    const sequence = Number(answer.headers.get('x-sequence'));
    assert(sequence > before && sequence <= (await newest()), `${before}, ${sequence}`);
    assert.equal((await alice.ask(cluster.nodes[at]!, 'GET', '/data/orders')).status, 403);
  }),
);

test(
  'a node that leads again looks what its catalog lacks, as at its first lead',
  NEEDS_ETCD,
  on(async (cluster) => {
    const leader = await cluster.leader();
    const other = (leader + 1) % cluster.nodes.length;
    const loaded = () => cluster.nodes[leader]!.log.split('; loaded in ').length;
    const handOver = (to: number) =>
      until(async () => {
        if ((await cluster.leader()) === to) return true;
        await run(cluster, other, 'cluster', 'handover', `n${to}`);
        return false;
      }, WAIT_MS);
    await handOver(other);
    const before = loaded();
    await handOver(leader);
    await until(() => loaded() > before, WAIT_MS);
  }),
);
