/**
 * The leader of a cluster, and acknowledgements meanwhile. The shared log is in memory, with
 * faults.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CommandKind,
  ControlRecordCommand,
  commandKind,
  commandWords,
  controlRecordBytes,
} from '../../engine/commands.ts';
import { batchOf } from '../../storage/recovery/replay.ts';
import { until } from '../common/node-harness.ts';
import type { Random } from '../common/random.ts';
import { type Fate, MemoryCluster } from '../storage/memory-log.ts';
import { seeded, TIGHT } from '../storage/stored-exchange.ts';
import { NOTE_KIND, SILENCE_MS, SimulatedNode } from './simulated-node.ts';

const WAIT_MS = 30_000;
const NODES = 3;
const STEPS = 40;
const ASKED = { by: 'an operator', reasons: [], isAudited: true };
const STEP_MS_MAX = 2 * SILENCE_MS;

class Stage {
  readonly cluster = new MemoryCluster();
  readonly nodes: readonly SimulatedNode[];

  constructor(count = NODES) {
    this.nodes = Array.from({ length: count }, (_, i) => new SimulatedNode(`n${i}`, this.cluster));
  }

  get leader(): SimulatedNode | undefined {
    return this.nodes.find(({ leads }) => leads);
  }

  async led(): Promise<SimulatedNode> {
    await until(() => this.leader !== undefined, WAIT_MS);
    return this.leader!;
  }

  async level(): Promise<void> {
    const tail = (): number => this.cluster.tail.sequence;
    const isLevel = ({ run, store }: SimulatedNode): boolean =>
      run === undefined || store.entries.at(-1)?.sequence === tail();
    await until(() => this.nodes.every(isLevel), WAIT_MS);
  }

  end(): void {
    for (const node of this.nodes) node.kill();
  }
}

async function staged(body: (stage: Stage) => Promise<void>): Promise<void> {
  const stage = new Stage();
  try {
    for (const node of stage.nodes) node.start();
    await body(stage);
    assert.deepEqual(
      stage.nodes.flatMap(({ fatal }) => fatal),
      [],
    );
  } finally {
    stage.end();
  }
}

function recordedIn({ stored }: MemoryCluster): number[] {
  return stored.flatMap(({ entry }) => {
    const { i32 } = batchOf(entry);
    const numbers: number[] = [];
    for (let at = 0; at < i32.length; at += commandWords(i32, at)) {
      if (commandKind(i32, at) !== CommandKind.controlRecord) continue;
      if (i32[at + ControlRecordCommand.kind] !== NOTE_KIND) continue;
      numbers.push(Number(Buffer.from(controlRecordBytes(i32, at)).toString()));
    }
    return numbers;
  });
}

test('one of three nodes leads, the others follow and refuse records', () =>
  staged(async (stage) => {
    const leader = await stage.led();
    assert.equal(await leader.record(1), undefined);
    await stage.level();
    assert.equal(stage.nodes.filter(({ leads }) => leads).length, 1);
    for (const node of stage.nodes.filter((one) => one !== leader)) {
      assert.equal(await node.record(2), 'busy');
      await until(() => node.run!.roles.facts().leader?.node === leader.name, WAIT_MS);
      assert.deepEqual(node.store.entries, leader.store.entries);
      // Until its next heartbeat it may not know that it has everything.
      await until(() => !node.run!.roles.isStale(), WAIT_MS);
    }
    assert.deepEqual(recordedIn(stage.cluster), [1]);
  }));

test('another node leads once the leader is dead, and continues from the time of the log', () =>
  staged(async (stage) => {
    const first = await stage.led();
    for (const node of stage.nodes) node.wallAhead = 600_000;
    assert.equal(await first.record(1), undefined);
    const { time } = stage.cluster.stored.at(-1)!.entry;
    // The others have seen it lead.
    await until(
      () => stage.nodes.every((node) => node.run!.roles.facts().leader?.node === first.name),
      WAIT_MS,
    );
    first.kill();
    const second = await stage.led();
    assert.notEqual(second, first);
    assert.equal(await second.record(2), undefined);
    const later = stage.cluster.stored.at(-1)!.entry.time;
    assert(later >= time && later < time + 300_000, `${later - time} ms later`);
    first.start();
    await stage.level();
    assert.equal(first.leads, false);
    assert.deepEqual(recordedIn(stage.cluster), [1, 2]);
  }));

test('nodes with records claim no empty log, running or starting, and continue once it has begun', () =>
  staged(async (stage) => {
    const { cluster, nodes } = stage;
    const first = await stage.led();
    assert.equal(await first.record(1), undefined);
    await stage.level();
    const { epoch } = cluster.tail;
    await until(
      () => nodes.every((node) => node.run!.roles.facts().leader?.epoch === epoch),
      WAIT_MS,
    );
    cluster.lose();
    const isWaiting = ({ run }: SimulatedNode): boolean => run!.roles.waitsForBegin();
    await until(() => nodes.every(isWaiting), WAIT_MS);
    const [starts = first] = nodes.filter((node) => node !== first);
    starts.kill();
    starts.start();
    await until(() => isWaiting(starts), WAIT_MS);
    await sleep(8 * SILENCE_MS);
    assert.equal(cluster.tail.epoch, 0);
    assert.equal(stage.leader, undefined);
    assert(
      nodes.every(({ run }) => run!.roles.isStale() && run!.roles.facts().leader === undefined),
    );
    const { entries } = starts.store;
    await starts.run!.replicated.begin(entries.slice(-1), entries.length + 1, WAIT_MS);
    const next = await stage.led();
    assert.equal(await next.record(2), undefined);
    await stage.level();
    assert(cluster.tail.epoch > epoch + 1);
    assert.deepEqual(recordedIn(cluster), [1, 2], 'it begins with the newest record of a node');
    for (const { store } of nodes) assert.deepEqual(store.entries, next.store.entries);
  }));

test('no node takes the lead from a leader whose heartbeats alone are lost', () =>
  staged(async (stage) => {
    const first = await stage.led();
    assert.equal(await first.record(1), undefined);
    await stage.level();
    const { epoch } = stage.cluster.tail;
    const others = stage.nodes.filter((node) => node !== first);
    for (const { run } of others) run!.faults.losesHeartbeats = true;
    const began = first.run!.roles;
    await sleep(8 * SILENCE_MS);
    assert.equal(stage.cluster.tail.epoch, epoch);
    assert.equal(first.run!.roles, began);
    first.kill();
    const second = await stage.led();
    assert.notEqual(second, first);
    assert.equal(await second.record(2), undefined);
    assert.deepEqual(recordedIn(stage.cluster), [1, 2]);
  }));

test('no node takes the lead from a leader whose heartbeat arrives right before the claim', () =>
  staged(async (stage) => {
    const first = await stage.led();
    const other = stage.nodes.find((node) => node !== first)!;
    const { faults, replicated, roles } = other.run!;
    await until(() => roles.facts().leader?.node === first.name, WAIT_MS);
    const { epoch } = stage.cluster.tail;
    const claim = replicated.claim.bind(replicated);
    const lastHeartbeat = replicated.lastHeartbeat.bind(replicated);
    let claims = 0;
    let read: Buffer | undefined;
    // What was read a moment before the newest heartbeat.
    replicated.lastHeartbeat = async (msMax) => {
      read ??= await lastHeartbeat(msMax);
      return read;
    };
    replicated.claim = (...args) => {
      claims += 1;
      return claim(...args);
    };
    faults.losesHeartbeats = true;
    await until(() => claims > 2 || stage.cluster.tail.epoch > epoch, WAIT_MS);
    assert.equal(stage.cluster.tail.epoch, epoch);
    assert.deepEqual([first.leads, other.run?.roles], [true, roles]);
  }));

test('a heartbeat that arrives after a newer one does not show a running leader', () =>
  staged(async (stage) => {
    const first = await stage.led();
    const others = stage.nodes.filter((node) => node !== first);
    const older = stage.cluster.heartbeat!;
    const isNewer = () => !stage.cluster.heartbeat!.equals(older);
    await until(isNewer, WAIT_MS);
    const newer = stage.cluster.heartbeat!;
    await until(() => !stage.cluster.heartbeat!.equals(newer), WAIT_MS);
    await until(() => others.every(({ run }) => run!.roles.facts().leader !== undefined), WAIT_MS);
    first.kill();
    stage.cluster.heartbeat = older;
    assert.notEqual(await stage.led(), first);
  }));

test('a heartbeat without an answer delays later ones only for a while', () =>
  staged(async (stage) => {
    const { replicated } = (await stage.led()).run!;
    const heartbeat = replicated.heartbeat.bind(replicated);
    let heartbeats = 0;
    replicated.heartbeat = (...args) => {
      heartbeats += 1;
      return heartbeats === 1 ? new Promise(() => undefined) : heartbeat(...args);
    };
    await until(() => heartbeats > 3, WAIT_MS);
  }));

test('a record that arrives while the tail is read is no damage', () =>
  staged(async (stage) => {
    const first = await stage.led();
    const other = stage.nodes.find((node) => node !== first)!;
    const { faults, replicated, roles } = other.run!;
    await until(() => roles.facts().leader?.node === first.name, WAIT_MS);
    const { epoch } = stage.cluster.tail;
    const tail = replicated.tail.bind(replicated);
    let reads = 0;
    replicated.tail = async (msMax) => {
      const before = await tail(msMax);
      assert.equal(await first.record(reads), undefined);
      await stage.level();
      reads += 1;
      return before;
    };
    // It looks whether a node leads.
    faults.losesHeartbeats = true;
    await until(() => reads > 2 || other.fatal.length > 0, WAIT_MS);
    assert.equal(stage.cluster.tail.epoch, epoch);
    assert.deepEqual([first.leads, other.run?.roles], [true, roles]);
  }));

test('a named node leads at once after a handover, both nodes continue, and the lead can return', () =>
  staged(async (stage) => {
    const first = await stage.led();
    assert.equal(await first.record(1), undefined);
    await stage.level();
    const second = stage.nodes.find((node) => node !== first)!;
    for (const [from, to] of [
      [first, second],
      [second, first],
      [first, second],
    ] as const) {
      const [run, epoch] = [from.run, from.run!.roles.leader!.epoch];
      const before = from.nexts.length;
      await from.run!.roles.handOver(to.name, ASKED);
      await until(() => to.leads, WAIT_MS);
      assert.equal(to.run!.roles.leader!.epoch, epoch + 1, 'nobody else led meanwhile');
      assert.equal(await to.record(2), undefined);
      assert.equal(await from.record(3), 'busy');
      await stage.level();
      assert.equal(from.run, run, 'it was not started again');
      assert.equal(from.run!.roles.role, 'following');
      await until(() => from.run!.roles.facts().leader?.node === to.name, WAIT_MS);
      assert.deepEqual(from.nexts.slice(before), [to.name], 'the connection that it began stays');
    }
    assert.equal(stage.nodes.filter(({ overs }) => overs > 0).length, 0);
    await assert.rejects(first.run!.roles.handOver(second.name, ASKED), /does not lead/);
  }));

test('a handover succeeds when heartbeats arrive late, and none of them counts', () =>
  staged(async (stage) => {
    const first = await stage.led();
    for (const { run } of stage.nodes) run!.faults.swapsHeartbeats = true;
    const others = stage.nodes.filter((node) => node !== first);
    await stage.level();
    for (const to of [...others, first, ...others]) {
      const from = await stage.led();
      const { epoch } = from.run!.roles.leader!;
      await from.run!.roles.handOver(to.name, ASKED);
      await until(() => to.leads, WAIT_MS);
      assert.equal(to.run!.roles.leader!.epoch, epoch + 1, 'nobody else led meanwhile');
      for (const { run } of stage.nodes)
        await until(() => run!.roles.facts().leader?.node === to.name, WAIT_MS);
    }
  }));

test('a node that missed the handover learns of it from the heartbeats of the next leader', () =>
  staged(async (stage) => {
    const first = await stage.led();
    const [second, third] = stage.nodes.filter((node) => node !== first);
    const knows = (name: string) => () => third!.run!.roles.facts().leader?.node === name;
    await until(knows(first.name), WAIT_MS);
    const heard = third!.nexts.length;
    third!.run!.faults.losesHeartbeats = true;
    const { looks } = third!.looksAway();
    await first.run!.roles.handOver(second!.name, ASKED);
    await until(() => second!.leads, WAIT_MS);
    assert.deepEqual(third!.nexts.slice(heard), []);
    third!.run!.faults.losesHeartbeats = false;
    looks();
    await until(knows(second!.name), WAIT_MS);
    assert.deepEqual(third!.nexts.slice(heard), [undefined]);
    // A leader that is dead has not left.
    third!.run!.faults.losesHeartbeats = true;
    second!.kill();
    await until(() => first.leads || third!.leads, WAIT_MS);
    third!.run!.faults.losesHeartbeats = false;
    await stage.level();
    assert.deepEqual(third!.nexts.slice(heard), [undefined]);
  }));

test('a leader whose named successor is dead follows the node that leads then', () =>
  staged(async (stage) => {
    const first = await stage.led();
    const [second] = stage.nodes.filter((node) => node !== first);
    second!.kill();
    await first.run!.roles.handOver(second!.name, ASKED);
    const leader = await stage.led();
    assert.equal(await leader.record(1), undefined);
    await stage.level();
  }));

test('a node that has handed over does not pause for records that its log lacked as a leader', () =>
  staged(async (stage) => {
    const first = await stage.led();
    const second = stage.nodes.find((node) => node !== first)!;
    // The heartbeats of a log that is full do not come: nobody else leads meanwhile.
    for (const node of stage.nodes) if (node !== first) node.looksAway();
    stage.cluster.full = 'refuses';
    await until(() => first.problem === 'the log of the cluster is full', WAIT_MS);
    // Before the leader itself looks whether there is room.
    stage.cluster.full = 'no';
    await first.run!.roles.handOver(second.name, ASKED);
    assert.equal(first.problem, undefined);
    await until(() => second.leads, WAIT_MS);
  }));

test('a node that has to start again while it claims does not lead', () =>
  staged(async (stage) => {
    const first = await stage.led();
    const other = stage.nodes.find((node) => node !== first)!;
    await until(() => other.run!.roles.facts().leader?.node === first.name, WAIT_MS);
    for (const node of stage.nodes) if (node !== first && node !== other) node.kill();
    const { replicated, roles } = other.run!;
    const claim = replicated.claim.bind(replicated);
    replicated.claim = async (...args) => {
      const writer = await claim(...args);
      roles.lost(new Error('the test ends it'));
      return writer;
    };
    // A node ends some time after it was decided.
    const { kill, start } = other;
    other.kill = () => undefined;
    other.start = () => undefined;
    first.kill();
    await until(() => other.overs === 1, WAIT_MS);
    await sleep(4 * SILENCE_MS);
    Object.assign(other, { kill, start });
    assert.equal(roles.role, 'over');
  }));

test('a node that ends while it hands the lead over does not go on', () =>
  staged(async (stage) => {
    const first = await stage.led();
    const second = stage.nodes.find((node) => node !== first)!;
    const { log, roles } = first.run!;
    const whenDurable = log.whenDurable.bind(log);
    let calls = 0;
    log.whenDurable = () => {
      calls += 1;
      // The first one is before the last heartbeat.
      if (calls === 2) roles.lost(new Error('the test ends it'));
      return whenDurable();
    };
    await assert.rejects(roles.handOver(second.name, ASKED), /this node ends/);
    assert.equal(roles.role, 'over');
    await until(() => second.leads, WAIT_MS);
  }));

test('a node whose files fail while it hands the lead over ends, and does not stay without a role', async () => {
  const cluster = new MemoryCluster();
  const [first, second] = ['n0', 'n1'].map((name) => new SimulatedNode(name, cluster));
  try {
    first!.start();
    await until(() => first!.leads, WAIT_MS);
    second!.start();
    await until(() => second!.run!.roles.facts().leader !== undefined, WAIT_MS);
    const { log, roles } = first!.run!;
    const whenDurable = log.whenDurable.bind(log);
    let calls = 0;
    log.whenDurable = () => {
      calls += 1;
      // The first one is before the last heartbeat.
      return calls === 2 ? Promise.reject(new Error('the disk is gone')) : whenDurable();
    };
    await assert.rejects(roles.handOver('n1', ASKED), /the disk is gone/);
    assert.deepEqual(first!.fatal, ['n0: the disk is gone']);
    await until(() => second!.leads, WAIT_MS);
  } finally {
    for (const node of [first, second]) node!.kill();
  }
});

test('a leader without its log pauses, and follows once another one leads', () =>
  staged(async (stage) => {
    const first = await stage.led();
    const before = first.run!;
    before.faults.isCut = true;
    const waiting = first.record(1);
    await until(() => before.roles.isStale(), WAIT_MS);
    await until(() => stage.nodes.some((node) => node.leads && node !== first), WAIT_MS);
    before.faults.isCut = false;
    assert.equal(await waiting, 'unknown');
    await until(() => first.overs === 1 && !first.leads, WAIT_MS);
    await stage.level();
    assert.equal(stage.nodes.filter(({ leads }) => leads).length, 1);
    assert.deepEqual(recordedIn(stage.cluster), []);
  }));

test('a replica never leads', async () => {
  const cluster = new MemoryCluster();
  const [leader, member, replica] = [
    new SimulatedNode('leader', cluster),
    new SimulatedNode('member', cluster),
    new SimulatedNode('replica', cluster, false),
  ];
  try {
    leader.start();
    await until(() => leader.leads, WAIT_MS);
    replica.start();
    await until(() => replica.run!.roles.facts().leader?.node === 'leader', WAIT_MS);
    leader.kill();
    await sleep(4 * SILENCE_MS);
    assert.equal(replica.leads, false);
    member.start();
    await until(() => member.leads, WAIT_MS);
    assert.equal(await member.record(1), undefined);
    await until(() => replica.run!.roles.facts().leader?.node === 'member', WAIT_MS);
    assert.deepEqual([leader.fatal, member.fatal, replica.fatal], [[], [], []]);
  } finally {
    for (const node of [leader, member, replica]) node.kill();
  }
});

test('a node with smaller tables may not join', async () => {
  const cluster = new MemoryCluster();
  const leader = new SimulatedNode('leader', cluster);
  const small = new SimulatedNode('small', cluster, true, { ...TIGHT, markets: 4, tokens: 12 });
  try {
    leader.start();
    await until(() => leader.leads, WAIT_MS);
    small.start();
    await until(() => small.fatal.length > 0, WAIT_MS);
    assert.equal(
      small.fatal[0],
      'small: the tables of this node are smaller than those of its leader, leader: ' +
        'MARKETS_MAX is 4, there 8; TOKENS_MAX is 12, there 24',
    );
  } finally {
    leader.kill();
    small.kill();
  }
});

test('a node whose records are not of its cluster ends as it starts', async () => {
  const clusters = [new MemoryCluster(), new MemoryCluster()];
  const leaders = clusters.map((cluster) => new SimulatedNode('leader', cluster));
  const stranger = new SimulatedNode('stranger', clusters[1]!);
  try {
    for (const node of leaders) node.start();
    await until(() => leaders.every(({ leads }) => leads), WAIT_MS);
    const [other, own] = leaders;
    for (const number of [1, 2]) assert.equal(await other!.record(number), undefined);
    stranger.store = { entries: [...other!.store.entries] };
    stranger.start();
    await until(() => stranger.fatal.length > 0, WAIT_MS);
    assert.match(
      stranger.fatal[0]!,
      /^stranger: log: it ends with batch 1; this node has batch \d;/,
    );
    assert.equal(await own!.record(1), undefined);
  } finally {
    for (const node of [...leaders, stranger]) node.kill();
  }
});

interface Acknowledged {
  readonly number: number;
  readonly epoch: number;
  readonly sent: number;
  readonly at: number;
}

/** Sends numbers to any node that says that it leads, several at a time, until it is stopped. */
class Load {
  readonly acknowledged: Acknowledged[] = [];
  readonly refused: number[] = [];
  private next = 0;
  private isOver = false;
  private readonly stage: Stage;
  private readonly ended: Promise<unknown>;

  constructor(stage: Stage, clients: number) {
    this.stage = stage;
    this.ended = Promise.all(Array.from({ length: clients }, () => this.send()));
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await this.ended;
  }

  private async send(): Promise<void> {
    for (let turn = 0; !this.isOver; turn++) {
      // Two nodes may think that they lead: both are asked.
      const leaders = this.stage.nodes.filter(({ leads }) => leads);
      const leader = leaders[turn % Math.max(1, leaders.length)];
      if (leader === undefined) {
        await sleep(5);
        continue;
      }
      this.next += 1;
      const number = this.next;
      const epoch = leader.run!.roles.leader!.epoch;
      const sent = performance.now();
      // A node that was killed answers nothing.
      const outcome = await Promise.race([leader.record(number), sleep(3_000, 'no answer')]);
      if (outcome === undefined) {
        this.acknowledged.push({ number, epoch, sent, at: performance.now() });
      } else if (outcome === 'busy' || outcome === 'unavailable') this.refused.push(number);
      await sleep(1);
    }
  }
}

const FATES: readonly Fate[] = [
  'arrives',
  'arrives',
  'arrives',
  'request lost',
  'answer lost',
  'late',
];

function breakSomething(stage: Stage, random: Random): void {
  const node = random.pick(stage.nodes);
  if (node.run === undefined) {
    node.start();
    return;
  }
  const { faults } = node.run;
  const action = random.below(7);
  if (action === 0) node.kill();
  else if (action === 1) faults.isCut = true;
  else if (action === 2) faults.fate = () => random.pick(FATES);
  else if (action === 6 && node.leads) {
    // It may lose the lead meanwhile, and starts over.
    node.run.roles.handOver(random.pick(stage.nodes).name, ASKED).catch(() => undefined);
  } else if (action === 3) {
    const most = random.below(2 * SILENCE_MS);
    faults.delayMs = () => random.below(most + 1);
  } else {
    faults.isCut = false;
    faults.fate = () => 'arrives';
    faults.delayMs = () => 0;
  }
}

test('nothing acknowledged is lost and no two nodes lead after any fault', () =>
  seeded((random) =>
    staged(async (stage) => {
      const load = new Load(stage, 4);
      for (let step = 0; step < STEPS; step++) {
        await sleep(random.below(STEP_MS_MAX));
        breakSomething(stage, random);
      }
      for (const node of stage.nodes) {
        if (node.run === undefined) node.start();
        node.run!.faults.isCut = false;
        node.run!.faults.fate = () => 'arrives';
        node.run!.faults.delayMs = () => 0;
      }
      const isWell = (): boolean => stage.nodes.filter(({ leads }) => leads).length === 1;
      await until(() => isWell() && load.acknowledged.length > 0, WAIT_MS);
      await load.stop();
      await stage.level();
      const recorded = recordedIn(stage.cluster);
      const times = new Map<number, number>();
      for (const number of recorded) times.set(number, (times.get(number) ?? 0) + 1);
      const { acknowledged, refused } = load;
      assert.equal(new Set(recorded).size, recorded.length, 'nothing is applied twice');
      const lost = acknowledged.filter(({ number }) => !times.has(number));
      assert.deepEqual(lost, [], 'what is acknowledged is in the log');
      assert.deepEqual(
        refused.filter((number) => times.has(number)),
        [],
        'what is refused is not',
      );
      for (const { entries } of stage.nodes.map(({ store }) => store)) {
        assert.deepEqual(
          entries.map(({ after, sequence }) => ({ after, sequence })),
          stage.cluster.stored.map(({ entry: { after, sequence } }) => ({ after, sequence })),
        );
      }
      for (const { epoch, sent } of acknowledged) {
        const newer = acknowledged.find((other) => other.epoch > epoch && other.at < sent);
        assert.equal(newer, undefined, 'an old leader acknowledges nothing new');
      }
    }),
  ));

test('a follower that stood still is stale until it has read the tail, after any heartbeats', () =>
  staged(async (stage) => {
    const leader = await stage.led();
    assert.equal(await leader.record(1), undefined);
    await stage.level();
    const node = stage.nodes.find((one) => one !== leader)!;
    const { roles } = node.run!;
    await until(() => !roles.isStale(), WAIT_MS);
    const away = node.looksAway();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3 * SILENCE_MS);
    assert(roles.isStale(), 'before anything else runs');
    await sleep(2 * SILENCE_MS);
    assert(roles.isStale(), 'heartbeats may have come before');
    away.looks();
    await until(() => !roles.isStale(), WAIT_MS);
    assert.equal(node.run!.roles, roles);
  }));

test('a node that is no member of its cluster never claims the log', () =>
  staged(async (stage) => {
    const leader = await stage.led();
    const [stranger, member] = stage.nodes.filter((one) => one !== leader);
    stranger!.isMember = false;
    leader.kill();
    await until(() => member!.leads, WAIT_MS);
    member!.kill();
    await sleep(4 * SILENCE_MS);
    assert(!stranger!.leads);
    stranger!.isMember = true;
    await until(() => stranger!.leads, WAIT_MS);
  }));
