/**
 * The cluster of README and docs/guides/a-cluster.md: its commands on a real etcd, and the removal
 * of a node.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import test from 'node:test';
import { NO_ETCD } from '../../bench/common/etcd.ts';
import { temporaryDirectory, until } from '../common/node-harness.ts';
import { commandsOfReadme, FOLLOWED_IN_CLUSTER } from '../common/readme-commands.ts';
import { ROOT } from '../common/root.ts';
import { cli } from '../common/run-cli.ts';
import { Walk } from './readme-walk.ts';

const WAIT_MS = 120_000;
const [LOWEST, HIGHEST] = [12_000, 31_000];
const PORTS = [0, 1, 2, 3, 4].flatMap((i) => [0, 100, 200].map((away) => away + i));
const SMALL = { ORDERS_MAX: '65536', ORDER_HISTORY: '65536', ACCOUNTS_MAX: '4096' };

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

async function freeBase(): Promise<number> {
  for (;;) {
    const base = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    const free = await Promise.all(PORTS.map((away) => isFree(base + away)));
    if (free.every((is) => is)) return base;
  }
}

interface Row {
  readonly node: string;
  readonly role?: string;
  readonly state: string;
}

async function nodesOf(walk: Walk, through: string): Promise<readonly Row[]> {
  const command = walk.run(`./cluster/run.sh ${through} cluster status --json`);
  if ((await command.ended()) !== 0) return [];
  return (JSON.parse(command.log) as { nodes: readonly Row[] }).nodes;
}

const leaderOf = (rows: readonly Row[]): string | undefined =>
  rows.find(({ role }) => role === 'leader')?.node;

test('a cluster runs by the five commands of README, survives the loss of its leader, and removes a node', {
  skip: NO_ETCD,
}, async (t) => {
  const walk = await Walk.begin();
  Object.assign(walk.env, SMALL);
  t.after(async () => {
    await walk.run('./cluster/stop.sh').ended();
    walk.end();
  });
  const text = readFileSync(join(ROOT, 'docs/guides/a-cluster.md'), 'utf8');
  for (const line of FOLLOWED_IN_CLUSTER) {
    assert(commandsOfReadme().includes(line), line);
    assert(text.includes(`${line}\n`), `docs/guides/a-cluster.md has the same commands: ${line}`);
  }
  const [example = '', start = '', status = '', handover = '', stop = ''] = FOLLOWED_IN_CLUSTER;
  const base = await freeBase();
  await walk.done(example, (line) => `${line} --port ${base}`);
  const folder = join(walk.place, 'cluster');
  const modeOf = (name: string): number => statSync(join(folder, name)).mode & 0o777;
  assert.deepEqual([modeOf('.'), modeOf('cluster.env'), modeOf('run.sh')], [0o700, 0o600, 0o700]);
  const started = await walk.done(start);
  for (const i of [1, 2, 3]) {
    assert.match(
      started,
      new RegExp(`^node${i} is ready: http://127.0.0.1:${base + 100 * (i - 1)}`, 'm'),
    );
  }
  assert.match(await walk.done(status), /^node2 .* ok +http/m);
  await until(async () => leaderOf(await nodesOf(walk, 'node1')) !== undefined, WAIT_MS);
  const first = leaderOf(await nodesOf(walk, 'node1'));
  assert.match(await walk.done(handover), /^node\d leads, \d+ ms after node\d$/m);
  const second = leaderOf(await nodesOf(walk, 'node1'))!;
  assert.notEqual(second, first);

  // The leader is removed: another one leads, and nobody lists it.
  assert.equal(await walk.run(`./cluster/stop.sh ${second}`).ended(), 0);
  const other = ['node1', 'node2', 'node3'].find((name) => name !== second)!;
  await until(async () => {
    const rows = await nodesOf(walk, other);
    const [next] = [leaderOf(rows)];
    return rows.length === 2 && next !== undefined && rows.every(({ state }) => state === 'ok');
  }, WAIT_MS);
  // It is brought back by the same script, which starts what does not run.
  assert.equal(await walk.run(start).ended(), 0);
  assert.equal((await nodesOf(walk, other)).length, 3);

  await walk.done(stop);
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.endsWith('.pid')),
    [],
  );
  const running = spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).stdout;
  assert(!running.includes(folder), 'nothing of it runs');
});

test('each example has a secret of its own, and none is written over another', async () => {
  const parent = temporaryDirectory();
  const run = (...args: string[]) => cli(parent, ['cluster', 'example', ...args]);
  const secretOf = (dir: string): string | undefined =>
    /^CLUSTER_SECRET=([0-9a-f]{64})$/m.exec(readFileSync(join(dir, 'cluster.env'), 'utf8'))?.[1];
  const [one, two] = [join(parent, 'one'), join(parent, 'two')];
  for (const dir of [one, two]) {
    assert.equal((await run('--dir', dir, '--nodes', '5', '--port', '20000')).code, 0);
  }
  assert.notEqual(secretOf(one), undefined);
  assert.notEqual(secretOf(one), secretOf(two));
  const ports = readdirSync(one)
    .filter((name) => /^(?:node|etcd)\d\.env$/.test(name))
    .flatMap((name) => [
      ...readFileSync(join(one, name), 'utf8').matchAll(/^(?:\w*PORT|ETCD_LISTEN_\w+)=.*?(\d+)$/gm),
    ])
    .map(([, port]) => port);
  assert.equal(ports.length, 5 * 3 + 3 * 2);
  assert.equal(new Set(ports).size, ports.length);
  for (const [args, problem] of [
    [['--dir', one], /is not empty/],
    [['--dir', join(parent, 'three'), '--nodes', '10'], /--nodes must be at most 9/],
    [['--dir', join(parent, 'three'), '--nodes', '0'], /--nodes must be a whole number from 1/],
    [['--dir', join(parent, 'three'), '--port', '65400'], /--port must be at most 65331/],
    [['--dir', join(parent, 'a b')], /cannot name such a path/],
  ] as const) {
    const { code, stderr } = await run(...args);
    assert.equal(code, 2);
    assert.match(stderr, problem);
  }
});

test('the units of an example are valid', {
  skip: spawnSync('systemd-analyze', ['--version']).status === 0 ? false : 'systemd is not here',
}, async () => {
  const dir = join(temporaryDirectory(), 'cluster');
  assert.equal((await cli(dir, ['cluster', 'example', '--dir', dir])).code, 0);
  for (const name of readdirSync(join(dir, 'units'))) {
    const unit = join(dir, 'units', name.replace('@', '@1'));
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' });
    assert.deepEqual([status, stderr], [0, ''], name);
  }
});
