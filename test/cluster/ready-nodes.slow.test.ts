/**
 * Whole nodes that cannot serve: /ready on each of them, and the next leader. Full disks are small
 * file systems, wrong clocks those of test/torture/fault-preload.ts.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { auditEntries } from '../../storage/operations/audit-log.ts';
import { useCompiledNodes } from '../common/forms.ts';
import { idleConnections } from '../common/idle-connections.ts';
import { get, smallDisk, until } from '../common/node-harness.ts';
import { preloaded } from '../common/preloaded.ts';
import { cli } from '../common/run-cli.ts';
import { bodyOf } from '../common/traders.ts';
import {
  type Cluster,
  NEEDS_ETCD,
  PATIENT,
  placed,
  sharedCluster,
  traderOf,
  WAIT_MS,
} from './whole-cluster.ts';

useCompiledNodes();
const SMALL_FILES = { ORDERS_MAX: '65536', LOG_SEGMENT_BYTES: '65536', IMAGE_BATCHES: '100000' };
const ORDERS = 40;
const BLOCK_BYTES = 4_096;
const FAILING = { ...preloaded({ FAULT_FOLLOWER: 'open' }), IMAGE_BATCHES: '60' };
const AHEAD_MS = 3_600_000;

async function readiness(cluster: Cluster, i: number): Promise<string> {
  const reply = await get(cluster.nodes[i]!, '/ready').catch(() => undefined);
  if (reply === undefined) return 'no answer';
  const { reasons } = reply.json as { readonly reasons?: readonly string[] };
  assert.equal(reply.status, reasons === undefined ? 200 : 503);
  return reasons?.join() ?? 'ready';
}

/** Waits until /ready of these nodes matches; prints the time that it took. */
async function say(cluster: Cluster, among: readonly number[], expected: RegExp): Promise<void> {
  const began = performance.now();
  let said: readonly string[] = [];
  const isSaid = async (): Promise<boolean> => {
    said = await Promise.all(among.map((i) => readiness(cluster, i)));
    return said.every((one) => expected.test(one));
  };
  await until(isSaid, WAIT_MS).catch((error: unknown) => {
    throw new Error(`${expected} expected, ${said} is said`, { cause: error });
  });
  console.log(`${said} after ${Math.round(performance.now() - began)} ms`);
}

function numbersOf({ nodes }: Cluster): number[] {
  return nodes.map((_, i) => i);
}

describe('readiness of three nodes', NEEDS_ETCD, () => {
  const on = sharedCluster(PATIENT);

  test(
    'all nodes are ready while one leads, and a hanging leader makes the others unready until it continues',
    on(async (cluster) => {
      const leader = await cluster.leader();
      const others = numbersOf(cluster).filter((i) => i !== leader);
      await say(cluster, numbersOf(cluster), /^ready$/);
      process.kill(cluster.nodes[leader]!.pid, 'SIGSTOP');
      await say(cluster, others, /^(unreachable|no-leader)$/);
      process.kill(cluster.nodes[leader]!.pid, 'SIGCONT');
      await say(cluster, numbersOf(cluster), /^ready$/);
      assert.equal((await get(cluster.nodes[leader]!, '/health')).text, '"OK"');
    }),
  );

  test(
    'a killed leader makes the others unready until one of them leads',
    on(async (cluster) => {
      const leader = await cluster.leader();
      const others = numbersOf(cluster).filter((i) => i !== leader);
      await say(cluster, others, /^ready$/);
      await cluster.nodes[leader]!.end('SIGKILL');
      await say(cluster, others, /^(unreachable|no-leader)$/);
      await say(cluster, others, /^ready$/);
      await cluster.run(leader);
      await say(cluster, numbersOf(cluster), /^ready$/);
    }),
  );

  test(
    'every node reports a pause by the operator',
    on(async (cluster) => {
      const command = (...args: string[]) =>
        cli(cluster.directories[0]!, args, { settings: cluster.settingsOf(0) });
      await say(cluster, numbersOf(cluster), /^ready$/);
      assert.equal((await command('venue', 'pause', '--reason', 'night')).code, 0);
      await say(cluster, numbersOf(cluster), /^operator$/);
      assert.equal((await command('venue', 'resume')).code, 0);
      await say(cluster, numbersOf(cluster), /^ready$/);
    }),
  );

  test(
    'without etcd no node is ready',
    on(async (cluster) => {
      for (const member of cluster.etcd.members) member.pause();
      await say(cluster, numbersOf(cluster), /(^|,)etcd(,|$)/);
      for (const member of cluster.etcd.members) member.resume();
      await say(cluster, numbersOf(cluster), /^ready$/);
    }),
  );

  test(
    'a leader whose projector fails ends, and another node leads',
    on(async (cluster) => {
      const alice = await traderOf(cluster, 'alice');
      const [first, ...others] = numbersOf(cluster);
      assert(first !== undefined);
      await cluster.nodes[first]!.stop();
      await cluster.run(first, FAILING);
      await say(cluster, numbersOf(cluster), /^ready$/);
      if ((await cluster.leader()) !== first) {
        const { stderr } = await cli(cluster.directories[first]!, ['cluster', 'handover', 'n0'], {
          settings: cluster.settingsOf(first),
        });
        assert.equal(stderr, '');
      }
      // The thread ends at its next snapshot.
      for (let i = 1; !cluster.nodes[first]!.hasEnded; i++) {
        assert(i < 1_000, 'it takes a snapshot');
        await placed(cluster, alice, 1 + (i % 90));
      }
      assert.match(cluster.nodes[first]!.log, /stopping: follower: its thread ended/);
      await placed(cluster, alice, 95, others);
      await say(cluster, others, /^ready$/);
      await cluster.run(first);
      await say(cluster, numbersOf(cluster), /^ready$/);
    }),
  );

  test(
    'a leader with a wrong clock hands over, and requests of clients with right clocks are accepted',
    on(async (cluster) => {
      const alice = await traderOf(cluster, 'alice');
      await placed(cluster, alice, 1);
      const first = await cluster.leader();
      const others = numbersOf(cluster).filter((i) => i !== first);
      await say(cluster, numbersOf(cluster), /^ready$/);
      // It starts anew with a clock that is an hour ahead, and does not lead then.
      await cluster.nodes[first]!.stop();
      await cluster.run(first, preloaded({ FAULT_CLOCK_FROM_MS: `${AHEAD_MS}` }));
      await say(cluster, [first], /^clock-skew$/);
      // The log may come after the answer.
      const ahead = /clock of this node is 3[56]\d\d\.\d s ahead of the median of 3 nodes/;
      await until(() => ahead.test(cluster.nodes[first]!.log), WAIT_MS);
      await say(cluster, others, /^ready$/);
      const refused = await cli(
        cluster.directories[others[0]!]!,
        ['cluster', 'handover', `n${first}`],
        {
          settings: cluster.settingsOf(others[0]!),
        },
      );
      assert.match(refused.stderr, /cannot lead: read-only \(clock-skew\)/);
      // With nobody better it leads, and decides what others have judged.
      for (const i of others) await cluster.nodes[i]!.stop();
      // Heartbeats of the others count a while longer: it may hand the lead over to one of them before it is alone.
      const agrees = /the clock agrees with those of most nodes/;
      const leadsAlone = async (): Promise<boolean> =>
        agrees.test(cluster.nodes[first]!.log) &&
        (await cluster.statusOf(first)).cluster.role === 'leader';
      await until(leadsAlone, WAIT_MS);
      const [at = 0] = others;
      await cluster.run(at);
      await say(cluster, [at], /^ready$/);
      assert.match(await readiness(cluster, first), /^ready$/, 'two nodes do not know');
      const node = cluster.nodes[at]!;
      const cancelled = await alice.ask(node, 'DELETE', '/cancel-all');
      assert.equal(cancelled.status, 200, cancelled.text);
      const issued = await alice.call(node, 'POST', '/auth/readonly-api-key');
      assert.equal(issued.status, 200, issued.text);
      await until(() => /2 nodes do not say which one is wrong/.test(node.log), WAIT_MS);
      assert.equal((await cluster.statusOf(first)).cluster.role, 'leader');
      // With a third one it is known, and the lead goes to a node that is right.
      await cluster.run(others[1]!);
      await until(async () => (await cluster.leader()) !== first, WAIT_MS);
      await say(cluster, others, /^ready$/);
      await say(cluster, [first], /^clock-skew$/);
      const next = await cluster.leader();
      assert.deepEqual(await handoverEntry(cluster, next), {
        actor: `n${first}`,
        status: 200,
        body: { from: `n${first}`, to: `n${next}`, reasons: ['clock-skew'] },
      });
      await placed(cluster, alice, 2);
      await cluster.level();
      await cluster.nodes[first]!.stop();
      await cluster.run(first);
      await say(cluster, numbersOf(cluster), /^ready$/);
    }),
  );
});

async function tradeUntilLed(cluster: Cluster, from: number): Promise<number> {
  const alice = await traderOf(cluster, 'alice');
  const { market } = cluster;
  const others = numbersOf(cluster).filter((i) => i !== from);
  const began = performance.now();
  let leader = from;
  await until(async () => {
    const orders = Array.from({ length: ORDERS }, (_, i) =>
      alice.sign({ market, side: 'BUY', ticks: 1 + i, shares: 5 }),
    );
    await alice.postText(cluster.nodes[others[0]!]!, bodyOf(orders)).catch(() => undefined);
    for (const i of others) {
      const { cluster: facts } = await cluster.statusOf(i);
      if (facts.role === 'leader') leader = i;
    }
    return leader !== from;
  }, WAIT_MS);
  console.log(`n${leader} leads after ${Math.round(performance.now() - began)} ms`);
  await placed(cluster, alice, 50, others);
  return leader;
}

async function handoverEntry(cluster: Cluster, i: number): Promise<unknown> {
  let entry: unknown;
  await until(async () => {
    const entries = await auditEntries(cluster.directories[i]!, 10);
    const found = entries.find(({ route }) => route === 'POST /admin/cluster/handover');
    entry = found && { actor: found.actor, body: found.body, status: found.status };
    return found?.status !== undefined;
  }, WAIT_MS);
  return entry;
}

function fill(disk: string): void {
  try {
    for (;;) appendFileSync(join(disk, 'filler'), Buffer.alloc(BLOCK_BYTES, 1));
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC');
  }
}

const disks = NEEDS_ETCD.skip === undefined ? [0, 1, 2].map(() => smallDisk('24m')) : [];
const needsDisks = {
  skip: NEEDS_ETCD.skip || (disks.includes(undefined) && 'mounting a tmpfs is not allowed here'),
};

/** Small files, on small disks where they can be mounted. */
const small = sharedCluster({ ...PATIENT, ...SMALL_FILES }, 2, (i) => {
  const disk = disks[i];
  return disk === undefined ? {} : { directory: disk };
});

test(
  'a leader with a full disk hands over, is not ready, and serves again once there is room',
  needsDisks,
  small(async (cluster) => {
    const first = await cluster.leader();
    await say(cluster, numbersOf(cluster), /^ready$/);
    await traderOf(cluster, 'alice');
    fill(disks[first]!);
    const next = await tradeUntilLed(cluster, first);
    assert.match(await readiness(cluster, first), /log|follower/);
    await say(
      cluster,
      numbersOf(cluster).filter((i) => i !== first),
      /^ready$/,
    );
    const entry = (await handoverEntry(cluster, next)) as { body: { reasons: string[] } };
    const { reasons } = entry.body;
    assert.deepEqual(entry, {
      actor: `n${first}`,
      status: 200,
      body: { from: `n${first}`, to: `n${next}`, reasons },
    });
    assert(reasons.length > 0 && reasons.every((it) => ['log', 'follower'].includes(it)));
    // Nobody hands the lead to it.
    const third = 3 - first - next;
    const refused = await cli(cluster.directories[third]!, ['cluster', 'handover', `n${first}`], {
      settings: cluster.settingsOf(third),
    });
    assert.match(refused.stderr, new RegExp(`n${first} cannot lead: read-only \\(`));
    rmSync(join(disks[first]!, 'filler'));
    await say(cluster, numbersOf(cluster), /^ready$/);
    await cluster.level();
  }),
);

function isConnected(pid: number, port: number): boolean {
  const folder = `/proc/${pid}/fd`;
  const links = readdirSync(folder).flatMap((name) => {
    try {
      return [readlinkSync(join(folder, name))];
    } catch {
      return []; // it is closed by now
    }
  });
  const rows = readFileSync(`/proc/${pid}/net/tcp`, 'latin1').split('\n').slice(1);
  return rows.some((row) => {
    const fields = row.trim().split(/ +/);
    const remote = Number.parseInt(fields[2]?.split(':')[1] ?? '0', 16);
    return remote === port && links.includes(`socket:[${fields[9]}]`);
  });
}

const hasLimits = spawnSync('prlimit', ['--version']).status === 0;
const needsLimits = { skip: NEEDS_ETCD.skip || (!hasLimits && 'no prlimit here') };

test(
  'a leader that can open no file hands over',
  needsLimits,
  small(async (cluster) => {
    const first = await cluster.leader();
    const others = numbersOf(cluster).filter((i) => i !== first);
    await say(cluster, numbersOf(cluster), /^ready$/);
    const alice = await traderOf(cluster, 'alice');
    // From here on nobody needs another connection to it.
    for (const i of others) await placed(cluster, alice, 90 + i, [i]);
    const { pid } = cluster.nodes[first]!;
    const ports = cluster.etcd.members.map((member) => member.port);
    await until(() => ports.every((it) => isConnected(pid, it)), WAIT_MS);
    const endIdle = await idleConnections(cluster.nodes[first]!);
    try {
      const next = await tradeUntilLed(cluster, first);
      const { body } = (await handoverEntry(cluster, next)) as { body: { reasons: string[] } };
      assert.deepEqual(body.reasons, ['files']);
    } finally {
      endIdle();
    }
    await say(cluster, numbersOf(cluster), /^ready$/);
    assert(!cluster.nodes[first]!.hasEnded);
  }),
);
