/** Operators change what they change at any node of a cluster: the node that leads makes it. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { readToken } from '../../server/admin/token-file.ts';
import { auditEntries } from '../../storage/operations/audit-log.ts';
import { useCompiledNodes } from '../common/forms.ts';
import { TestNode, temporaryDirectory, until } from '../common/node-harness.ts';
import { cli, type Ended } from '../common/run-cli.ts';
import { bodyOf } from '../common/traders.ts';
import {
  type Cluster,
  clustered,
  NEEDS_ETCD,
  PATIENT,
  traderOf,
  WAIT_MS,
} from './whole-cluster.ts';

useCompiledNodes();
const LEDGER = { LEDGER: 'on', RATE_LIMITS: 'on', ...PATIENT };

function run(cluster: Cluster, i: number, ...args: string[]): Promise<Ended> {
  return cli(cluster.directories[i]!, args, { settings: cluster.settingsOf(i) });
}

async function done(cluster: Cluster, i: number, ...args: string[]): Promise<string> {
  const { code, stderr, stdout } = await run(cluster, i, ...args);
  assert.deepEqual([code, stderr], [0, ''], `${args.join(' ')}: ${stdout}`);
  return stdout.trimEnd();
}

test('each change that is made at a follower holds on all nodes', NEEDS_ETCD, () =>
  clustered(async (cluster) => {
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
  }, LEDGER),
);

test('the answer names the batch, and a node without a listener makes it, too', NEEDS_ETCD, () =>
  clustered(async (cluster) => {
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
  }, PATIENT),
);
