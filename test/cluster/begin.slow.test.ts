import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../bench/common/free-port.ts';
import { auditEntries } from '../../storage/operations/audit-log.ts';
import { EtcdLog } from '../../storage/replicated-log/etcd-log.ts';
import { NO_TAIL, type Tail } from '../../storage/replicated-log/replicated-log.ts';
import { useCompiledNodes } from '../common/forms.ts';
import { get, TestNode, temporaryDirectory, until, withMarkets } from '../common/node-harness.ts';
import { cli, type Ended } from '../common/run-cli.ts';
import { Trader } from '../common/traders.ts';
import {
  Cluster,
  NEEDS_ETCD,
  placed,
  type Status,
  sharedCluster,
  traderOf,
  WAIT_MS,
} from './whole-cluster.ts';

useCompiledNodes();
/** A slow machine causes no change of the leader, which would add a record. */
const SILENCE = { CLUSTER_SILENCE_MS: '5000' };
const WAITS =
  /the log of the cluster is empty, and this node has records up to batch (\d+).* cluster begin --from (\S+)/;

interface Place {
  readonly directory: string;
  readonly settings: Readonly<Record<string, string>>;
}

async function placeOf(cluster: Cluster, node: string, directory: string): Promise<Place> {
  const port = String(await freePort());
  const settings = {
    CLUSTER: cluster.etcd.address(),
    NODE_ID: node,
    CLUSTER_SECRET: 's'.repeat(32),
    ADVERTISE: `http://127.0.0.1:${port}`,
    PORT: port,
    ...SILENCE,
  };
  return { directory, settings };
}

function begin(place: Place): Promise<Ended> {
  return cli(place.directory, ['cluster', 'begin', '--from', place.directory], {
    settings: place.settings,
  });
}

async function begun(place: Place): Promise<string> {
  const { code, stderr, stdout } = await begin(place);
  assert.equal(code, 0, `${stdout}${stderr}`);
  return stdout;
}

async function tailOf({ etcd }: Cluster, name = 'test'): Promise<Tail> {
  const log = new EtcdLog(await etcd.client(), name, 0);
  try {
    return await log.tail(WAIT_MS);
  } finally {
    await log.close();
  }
}

async function waits(node: TestNode): Promise<void> {
  await until(() => WAITS.test(node.log), WAIT_MS);
  await until(async () => {
    const status = (await get(node, '/status').catch(() => undefined))?.json;
    return (status as Status | undefined)?.status === 'read-only';
  }, WAIT_MS);
}

const placeIn = (cluster: Cluster, i: number): Place => ({
  directory: cluster.directories[i]!,
  settings: cluster.settingsOf(i),
});

async function traded(cluster: Cluster, from: number, to: number): Promise<void> {
  const alice = await traderOf(cluster, 'alice');
  for (let i = from; i <= to; i++) await placed(cluster, alice, i);
}

/** Time in which any node that would claim the log has tried. */
const SOME_SILENCES_MS = 15_000;
const on = sharedCluster(SILENCE);

test('a single node becomes a cluster by one command, and not without it', NEEDS_ETCD, async () => {
  const directory = temporaryDirectory();
  const [market] = await withMarkets(directory, [{ id: 1 }]);
  const single = await TestNode.start(directory);
  const alice = await Trader.join(single, 'alice');
  const order = alice.sign({ market: market!, side: 'BUY', ticks: 7, shares: 10 });
  assert.equal((await alice.postText(single, JSON.stringify([order.item]))).status, 200);
  await single.stop();

  const cluster = await Cluster.withoutNodes();
  try {
    cluster.market = market!;
    cluster.traders.set('alice', alice);
    const place = await placeOf(cluster, 'n0', directory);
    const first = TestNode.begin(directory, place.settings);
    cluster.nodes.push(first);
    await first.answers();
    await waits(first);
    assert.equal(WAITS.exec(first.log)![2], directory);
    assert.equal((await get(first, '/markets')).status, 200);
    // An empty node beside it does not begin another venue.
    const other = await placeOf(cluster, 'n1', temporaryDirectory());
    const second = TestNode.begin(other.directory, other.settings);
    cluster.nodes.push(second);
    await until(() => /node n0 has records: cluster begin/.test(second.log), WAIT_MS);
    await sleep(SOME_SILENCES_MS);
    assert.deepEqual(await tailOf(cluster), NO_TAIL);
    assert.equal((await begin(place)).code, 3, 'its node runs');
    await first.stop();

    const stdout = await begun(place);
    const { digest, epoch, sequence } = await tailOf(cluster);
    assert.match(stdout, new RegExp(`begins with batch ${sequence}, digest .*, epoch ${epoch}:`));
    const audited = (await auditEntries(directory, 1))[0]!;
    assert.deepEqual([audited.route, audited.status], ['cluster begin', 200]);
    const again = await begin(place);
    assert.equal(again.code, 1);
    assert.match(again.stderr, /is not empty: it ends with batch /);
    assert.deepEqual((await tailOf(cluster)).digest, digest);

    cluster.nodes[0] = await TestNode.start(directory, place.settings);
    await second.answers();
    await cluster.level();
    assert.deepEqual(await cluster.booksAreEqual(), ['10@0.07']);
    await placed(cluster, alice, 8);
    await cluster.level();
    assert.equal((await cluster.booksAreEqual()).length, 2);
  } finally {
    await cluster.end();
  }
});

test(
  'nodes whose etcd has lost its disks wait, and continue where the command begins',
  NEEDS_ETCD,
  on(async (cluster) => {
    await traded(cluster, 1, 5);
    await cluster.level();
    const before = await tailOf(cluster);
    await cluster.etcd.loseDisks();
    for (const node of cluster.nodes) await waits(node);
    await sleep(SOME_SILENCES_MS);
    assert.deepEqual(await tailOf(cluster), NO_TAIL);
    // Nobody has led since, so all have what the log had.
    await cluster.level();
    await cluster.nodes[1]!.stop();
    const { code, stderr, stdout } = await begin(placeIn(cluster, 1));
    assert.deepEqual([code, stderr], [0, ''], stdout);
    assert.match(stdout, /^n0 +\d+ +[0-9a-f]+ +is level$/m);
    assert.match(stdout, /^n2 +\d+ +[0-9a-f]+ +is level$/m);
    const after = await tailOf(cluster);
    assert.equal(after.digest, before.digest);
    assert(after.epoch > before.epoch);
    await cluster.run(1);
    await cluster.leader();
    await traded(cluster, 6, 8);
    await cluster.level();
    assert.equal((await cluster.booksAreEqual()).length, 8);
  }),
);

test(
  'a log does not begin with a directory where another node is ahead',
  NEEDS_ETCD,
  on(async (cluster) => {
    await traded(cluster, 1, 3);
    await cluster.level();
    await cluster.nodes[0]!.stop();
    const older = temporaryDirectory();
    cpSync(cluster.directories[0]!, older, { recursive: true });
    await cluster.leader([1, 2]);
    const alice = cluster.traders.get('alice')!;
    for (let i = 4; i <= 6; i++) await placed(cluster, alice, i, [1, 2]);
    await cluster.etcd.loseDisks();
    for (const i of [1, 2]) await waits(cluster.nodes[i]!);
    const refused = await begin({ ...placeIn(cluster, 0), directory: older });
    assert.equal(refused.code, 1);
    assert.match(refused.stdout, /^n1 +\d+ +[0-9a-f]+ +is ahead by [1-9]/m);
    assert.match(
      refused.stderr,
      /node n1 at http:\S+ is ahead by \d+; node n2 at .*Nothing has changed/,
    );
    assert.deepEqual(await tailOf(cluster), NO_TAIL);

    await cluster.nodes[2]!.stop();
    await begun(placeIn(cluster, 2));
    // What it lacks lies in the log: it needs no copy.
    await cluster.run(0);
    await cluster.run(2);
    await cluster.level();
    assert.doesNotMatch(cluster.nodes[0]!.log, /taken from node/);
    assert.equal((await cluster.booksAreEqual()).length, 6);
  }),
);

test(
  'a backup that was restored begins a cluster under another name',
  NEEDS_ETCD,
  on(async (cluster) => {
    await traded(cluster, 1, 3);
    await cluster.level();
    const backup = `${temporaryDirectory()}/backup`;
    const made = await cli(cluster.directories[1]!, ['backup', backup]);
    assert.equal(made.code, 0, made.stderr);
    await traded(cluster, 4, 5);
    for (const node of cluster.nodes) await node.stop();
    cluster.nodes.length = 0;

    const settings = { CLUSTER: cluster.etcd.address('again') };
    const directories = [temporaryDirectory(), temporaryDirectory()];
    const restored = await cli(directories[0]!, ['restore', backup]);
    assert.equal(restored.code, 0, restored.stderr);
    const [first, second] = await Promise.all(
      directories.map(async (directory, i) => {
        const place = await placeOf(cluster, `r${i}`, directory);
        return { directory, settings: { ...place.settings, ...settings } };
      }),
    );
    assert.match(await begun(first!), /^no node runs that could be compared with it$/m);
    for (const { directory, settings: its } of [first!, second!]) {
      cluster.nodes.push(TestNode.begin(directory, its));
    }
    for (const node of cluster.nodes) await node.answers();
    await cluster.level();
    assert.equal((await cluster.booksAreEqual()).length, 3);
    await placed(cluster, cluster.traders.get('alice')!, 9);
  }),
);

test('a directory that cannot begin a cluster is refused with a reason', NEEDS_ETCD, async () => {
  const cluster = await Cluster.withoutNodes();
  try {
    const place = await placeOf(cluster, 'n0', temporaryDirectory());
    const run = (args: readonly string[], settings = place.settings): Promise<Ended> =>
      cli(place.directory, ['cluster', 'begin', ...args], { settings });
    const from = ['--from', place.directory];
    for (const [ended, code, text] of [
      [await run([]), 2, /which directory\? --from DIR/],
      [await run(['--from', '/no/where']), 2, /there is no such directory/],
      [await run(from, {}), 2, /CLUSTER must be set/],
      [await run(from), 1, /has no records: start its node/],
    ] as const) {
      assert.equal(ended.code, code, ended.stderr);
      assert.match(ended.stderr, text);
    }
    assert.deepEqual(await tailOf(cluster), NO_TAIL);
  } finally {
    await cluster.end();
  }
});
