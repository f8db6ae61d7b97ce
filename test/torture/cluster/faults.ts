/** Faults of a cluster: the table that `npm run test:cluster` draws from. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../common/node-harness.ts';
import { preloaded } from '../../common/preloaded.ts';
import type { Random } from '../../common/random.ts';
import type { ClusterLoad } from './load.ts';
import { type ClusterStage, NODES, QUOTA_BYTES } from './stage.ts';

export interface FaultPlace {
  readonly stage: ClusterStage;
  readonly load: ClusterLoad;
  readonly random: Random;
}

export interface Fault {
  readonly name: string;
  /** Number of runs in the long form. */
  readonly times: number;
  readonly needsNetwork?: boolean;
  /** Runs the fault under load; resolves with a word. Remaining damage is repaired after it. */
  readonly run: (place: FaultPlace) => Promise<string>;
}

const WAIT_MS = 60_000;
const PAUSE_MS = 5_000;
const CUT_MS = 4_000;
const SLOW_WRITE_MS = '150';
const SLOW_MS = 5_000;
const CLOCK_MS = 600_000;
const JUNK_BYTES = 1_000_000;

async function untilTaken({ load }: FaultPlace): Promise<number> {
  const then = performance.now();
  load.client.acknowledged = [];
  await until(() => load.client.firstAfter(then) !== undefined, WAIT_MS);
  return load.client.firstAfter(then)!;
}

async function taken(place: FaultPlace): Promise<string> {
  return `orders after ${Math.round(await untilTaken(place))} ms`;
}

async function killLeader(place: FaultPlace): Promise<string> {
  const { stage } = place;
  const leader = stage.nodes[await stage.leader()]!;
  process.kill(leader.pid, 'SIGKILL');
  return taken(place);
}

async function killEtcdLeader(place: FaultPlace): Promise<string> {
  const member = await place.stage.etcd.leader();
  await member.kill();
  return taken(place);
}

const ETCD = [NODES, NODES + 1, NODES + 2];

/** Ways that are cut, of a leader and of the other nodes. */
const PARTITIONS: Readonly<
  Record<string, (stage: ClusterStage, leader: number, others: readonly number[]) => void>
> = {
  'the leader from etcd': ({ network }, leader) => {
    for (const member of ETCD) network.cutBoth(leader, member);
  },
  'the leader from the nodes that follow': ({ network }, leader, others) => {
    for (const other of others) network.cutBoth(leader, other);
  },
  'what the leader sends to etcd': ({ network }, leader) => {
    for (const member of ETCD) network.cut(leader, member);
  },
  'what etcd sends to the leader': ({ network }, leader) => {
    for (const member of ETCD) network.cut(member, leader);
  },
  'the leader from all': ({ network }, leader, others) => {
    for (const other of [...ETCD, ...others]) network.cutBoth(leader, other);
  },
  'nodes that follow from etcd': ({ network }, _, others) => {
    for (const other of others) for (const member of ETCD) network.cutBoth(other, member);
  },
};

async function partition(place: FaultPlace, name: string): Promise<string> {
  const { stage } = place;
  const leader = await stage.leader();
  const others = [...stage.nodes.keys()].filter((i) => i !== leader);
  PARTITIONS[name]!(stage, leader, others);
  const taking = taken(place);
  await sleep(CUT_MS);
  const text = await taking;
  stage.network.heal();
  return `${name}: ${text}`;
}

/** Cuts an etcd leader off from the others, or the others off from it. */
async function partitionEtcd(place: FaultPlace): Promise<string> {
  const { random, stage } = place;
  const { etcd, network } = stage;
  const leader = etcd.members.indexOf(await etcd.leader());
  const others = ETCD.filter((member) => member !== ETCD[leader]);
  const isOneWay = random.chance(50);
  for (const other of others) {
    if (isOneWay) network.cut(ETCD[leader]!, other);
    else network.cutBoth(ETCD[leader]!, other);
  }
  const taking = taken(place);
  await sleep(CUT_MS);
  const text = await taking;
  network.heal();
  return `${isOneWay ? 'what it sends' : 'both ways'}: ${text}`;
}

async function pauseLeader(place: FaultPlace): Promise<string> {
  const { stage } = place;
  const leader = stage.nodes[await stage.leader()]!;
  process.kill(leader.pid, 'SIGSTOP');
  const taking = taken(place);
  await sleep(PAUSE_MS);
  process.kill(leader.pid, 'SIGCONT');
  return taking;
}

async function fullEtcd(place: FaultPlace): Promise<string> {
  const { load, stage } = place;
  const client = await stage.etcd.client();
  try {
    const value = Buffer.alloc(JUNK_BYTES);
    let count = 0;
    for (; !(await client.isFull(WAIT_MS)) && count < (2 * QUOTA_BYTES) / JUNK_BYTES; count++) {
      const put = { key: `junk/${count}`, value };
      const swap = { key: 'junk', expected: undefined, puts: [put] };
      await client.swap(swap, WAIT_MS).catch(() => undefined);
    }
    assert(await client.isFull(WAIT_MS), 'it is full');
    const statuses = stage.addresses.map((_, i) => stage.statusOf(i).catch(() => undefined));
    await until(async () => {
      const leader = await stage.leader();
      return (await stage.statusOf(leader)).status.status === 'read-only';
    }, WAIT_MS);
    await Promise.all(statuses);
    const before = load.acknowledged;
    await client.delete({ start: 'junk/', end: 'junk0' }, WAIT_MS);
    const { revision } = await client.page({ start: 'a', end: 'b' }, 1, WAIT_MS);
    await client.compact(revision, WAIT_MS);
    for (const { member } of await client.status(WAIT_MS)) await client.defragment(member, WAIT_MS);
    await client.disarm(WAIT_MS);
    assert.equal(load.acknowledged, before, 'nothing is taken where there is no room');
    return `${count} MB; ${await taken(place)} of room`;
  } finally {
    client.close();
  }
}

async function slowDisk(place: FaultPlace): Promise<string> {
  const { random, stage } = place;
  const leader = await stage.leader();
  const slow = random.below(NODES);
  await stage.nodes[slow]!.end('SIGKILL');
  await stage.run(slow, preloaded({ FAULT_WRITE_MS: SLOW_WRITE_MS }));
  if (leader !== slow) {
    for (const i of stage.nodes.keys()) {
      // Whoever is left leads: it may be the slow one.
      if (i !== slow) process.kill(stage.nodes[i]!.pid, 'SIGSTOP');
    }
    await until(async () => (await stage.leader()) === slow, WAIT_MS);
    for (const node of stage.nodes) process.kill(node.pid, 'SIGCONT');
  }
  const text = await taken(place);
  await sleep(SLOW_MS);
  await stage.nodes[slow]!.end('SIGKILL');
  return `each write of its log took ${SLOW_WRITE_MS} ms: ${text}`;
}

/** Stops an etcd member for most of the time, like a slow disk. */
async function slowEtcd(place: FaultPlace): Promise<string> {
  const { random, stage } = place;
  const member = random.chance(50) ? await stage.etcd.leader() : random.pick(stage.etcd.members);
  const taking = taken(place);
  for (const end = performance.now() + SLOW_MS; performance.now() < end; ) {
    member.pause();
    await sleep(random.between(50, 300));
    member.resume();
    await sleep(random.between(5, 50));
  }
  return `a member that stood still again and again: ${await taking}`;
}

async function clocks(place: FaultPlace): Promise<string> {
  const { stage } = place;
  const leader = await stage.leader();
  const apart = [...stage.nodes.keys()].filter((i) => i !== leader);
  const sign = place.random.chance(50) ? 1 : -1;
  for (const [n, i] of apart.entries()) {
    await stage.nodes[i]!.end('SIGKILL');
    const jump = n === 0 ? sign * CLOCK_MS : -sign * CLOCK_MS;
    // What clients sign by their clocks is not what is tested here.
    const clock = preloaded({ FAULT_CLOCK_FROM_MS: `${jump}` });
    await stage.run(i, { ...clock, AUTH_SKEW_SECONDS: '3600' });
  }
  await stage.nodes[leader]!.end('SIGKILL');
  const text = await taken(place);
  await stage.run(leader);
  const second = await stage.leader();
  await stage.nodes[second]!.end('SIGKILL');
  const last = await taken(place);
  for (const i of apart) if (i !== second) await stage.nodes[i]!.end('SIGKILL');
  return `10 minutes either way, two leaders killed: ${text}, ${last}`;
}

async function allNodes(place: FaultPlace): Promise<string> {
  const { stage } = place;
  const taking = taken(place);
  for (const node of stage.nodes) process.kill(node.pid, 'SIGKILL');
  await Promise.all(stage.nodes.map((node) => node.exit()));
  await stage.repair();
  return taking;
}

async function everything(place: FaultPlace): Promise<string> {
  const { stage } = place;
  const taking = taken(place);
  for (const node of stage.nodes) process.kill(node.pid, 'SIGKILL');
  await Promise.all(stage.etcd.members.map((member) => member.kill()));
  await Promise.all(stage.nodes.map((node) => node.exit()));
  await stage.repair();
  return taking;
}

/** Hands over the lead, which is no fault: clients may only see slower orders. */
async function handOver(place: FaultPlace): Promise<string> {
  const { load, stage } = place;
  const { client } = load;
  const leader = await stage.leader();
  client.failed.length = 0;
  client.acknowledged = [];
  await stage.handOver(leader);
  await until(async () => (await stage.leader()) !== leader, WAIT_MS);
  await taken(place);
  assert.deepEqual(client.failed, [], 'no request fails');
  return `orders after ${Math.round(client.slowest)} ms`;
}

export const FAULTS: readonly Fault[] = [
  { name: 'kill-leader', times: 50, run: killLeader },
  { name: 'hand-over', times: 10, run: handOver },
  { name: 'kill-etcd-leader', times: 20, run: killEtcdLeader },
  ...Object.keys(PARTITIONS).map((ways, i) => ({
    name: 'partition',
    times: i < 2 ? 4 : 3,
    needsNetwork: true,
    run: (place: FaultPlace) => partition(place, ways),
  })),
  { name: 'partition-etcd', times: 10, needsNetwork: true, run: partitionEtcd },
  { name: 'pause-leader', times: 20, run: pauseLeader },
  { name: 'full-etcd', times: 2, run: fullEtcd },
  { name: 'slow-disk', times: 3, run: slowDisk },
  { name: 'slow-etcd', times: 3, run: slowEtcd },
  { name: 'clocks', times: 3, run: clocks },
  { name: 'all-nodes', times: 5, run: allNodes },
  { name: 'everything', times: 5, run: everything },
];
