/**
 * Faults of the machine around a serving node: disks, files, threads, clocks, processes. After
 * each, every answer holds (fault-stage.ts), or the node says why it cannot.
 *
 * The disk is made slow and failing inside the process (fault-preload.ts), where the log writes;
 * writes of LMDB are not affected.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../bench/common/free-port.ts';
import {
  get,
  remount,
  send,
  smallDisk,
  statusOf,
  TestNode,
  until,
} from '../common/node-harness.ts';
import { preloaded } from '../common/preloaded.ts';
import { Random } from '../common/random.ts';
import { damagedFiles } from './fault-files.ts';
import { assertSays, FaultStage } from './fault-stage.ts';
import { KILL_MOMENTS } from './kill-moments.ts';
import { type Done, Pace, type PartOptions, withRoundSeed } from './part.ts';

const PAUSE_MS = 3_000;
const PAUSE_MS_LONG = 60_000;
/** Milliseconds within which it must answer again. */
const ANSWER_MS_MAX = 2_000;
const HOUR_MS = 3_600_000;

interface Fault {
  readonly name: string;
  readonly run: (seed: number, isLong: boolean, say: (line: string) => void) => Promise<string>;
}

async function fullDisk(seed: number): Promise<string> {
  const disk = smallDisk('4m');
  if (disk === undefined) return 'not run: mounting is not allowed';
  const stage = await FaultStage.open(seed, {}, disk);
  const { bavail, bsize } = statfsSync(disk);
  appendFileSync(join(disk, 'filler'), Buffer.alloc(Math.max(0, bavail * bsize - 40_000), 1));
  const trading = stage.tradeThrough(() => !isFull(stage));
  await until(() => /reads only, until there is room/.test(stage.node.log));
  if (stage.random.chance(50)) await stage.node.end('SIGKILL');
  await sleep(stage.random.below(500));
  rmSync(join(disk, 'filler'));
  await trading;
  await stage.prove();
  return 'orders refused until there was room';
}

/** A node that was killed meanwhile begins anew: it trades again as soon as it can. */
function isFull({ dataDir }: FaultStage): boolean {
  const { bavail, bsize } = statfsSync(dataDir);
  return bavail * bsize < 500_000;
}

async function fileLimit(seed: number): Promise<string> {
  const stage = await FaultStage.open(seed);
  const bytes = 66_000 + stage.random.below(100_000);
  const { status } = spawnSync('prlimit', [
    '--pid',
    String(stage.node.pid),
    `--fsize=${bytes}:unlimited`,
  ]);
  if (status !== 0) return 'not run: no prlimit here';
  const { node } = stage;
  let isOver = false;
  const trading = stage.tradeThrough(() => isOver);
  await sleep(PAUSE_MS);
  isOver = true;
  if (!node.hasEnded)
    spawnSync('prlimit', ['--pid', String(node.pid), '--fsize=unlimited:unlimited']);
  await trading;
  await stage.prove();
  return `at ${bytes} bytes`;
}

async function readOnlyDirectory(seed: number): Promise<string> {
  const disk = smallDisk('8m');
  if (disk === undefined) return 'not run: mounting is not allowed';
  const stage = await FaultStage.open(seed, {}, disk);
  await stage.node.end('SIGKILL');
  remount(disk, 'ro');
  stage.node = await TestNode.start(disk);
  assert.equal(await statusOf(stage.node), 'read-only');
  remount(disk, 'rw');
  await until(() => stage.node.log.includes('resync'));
  await stage.prove();
  return 'reads only, and all again after it';
}

async function slowDisk(seed: number): Promise<string> {
  const stage = await FaultStage.open(seed, preloaded({ FAULT_WRITE_MS: '150' }));
  await stage.trade(3);
  await stage.prove();
  return 'each write took 150 ms';
}

async function failingDisk(seed: number): Promise<string> {
  const fails = String(12 + new Random(seed).below(10));
  const stage = await FaultStage.open(seed);
  // Not while the stage is set: nobody starts the node again by then.
  await stage.restart(preloaded({ FAULT_WRITE_FAILS: fails }));
  const first = stage.node;
  await stage.tradeThrough(() => first.hasEnded);
  await assertSays(first, /stopping: .*EIO/);
  await stage.prove();
  return `write ${fails} failed: the process stopped`;
}

async function followerEnds(seed: number, moment: string): Promise<string> {
  const stage = await FaultStage.open(seed, { IMAGE_BATCHES: '1000000' });
  // More than are there already: a node that has just started trades a little first.
  await stage.restart({ ...preloaded({ FAULT_FOLLOWER: moment }), IMAGE_BATCHES: '14' });
  const first = stage.node;
  await stage.tradeThrough(() => first.hasEnded);
  await assertSays(first, /stopping: follower: its thread ended/);
  await stage.prove();
  return `at its ${moment} of a snapshot: the process stopped`;
}

/** Kills the node at a step of its storage, by the system, so that nothing is cleaned up. */
async function killedAt(seed: number, moment: string): Promise<string> {
  const stage = await FaultStage.open(seed);
  const armed = `${stage.dataDir}.armed`;
  const kill = preloaded({ KILL_AT: moment, KILL_ARMED: armed }, 'kill-preload');
  await stage.restart(kill);
  const first = stage.node;
  writeFileSync(armed, '');
  await stage.tradeThrough(() => first.hasEnded);
  rmSync(armed);
  await stage.prove();
  return 'killed there, and all was there again';
}

async function clockJumps(seed: number): Promise<string> {
  const random = new Random(seed);
  const jumps = Array.from({ length: 6 }, () => random.between(-9, 9) * HOUR_MS);
  const stage = await FaultStage.open(seed, preloaded({ FAULT_CLOCK_MS: String(jumps) }));
  const port = await freePort();
  const ADMIN_TOKEN = 'a'.repeat(32);
  const settings = { AUTH_SKEW_SECONDS: '86400', ADMIN_PORT: String(port), ADMIN_TOKEN };
  const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` };
  await stage.restart({ ...preloaded({ FAULT_CLOCK_MS: String(jumps) }), ...settings });
  for (const [i, jump] of jumps.entries()) {
    process.kill(stage.node.pid, 'SIGUSR2');
    await until(() => stage.node.log.split('the clock has jumped').length > i + 1);
    const { status } = await send({ port }, 'POST', '/clock/accept', headers);
    assert.equal(status, jump === 0 ? 409 : 200, 'a jump is accepted once');
    if (Math.abs(jumps.slice(0, i + 1).reduce((a, b) => a + b, 0)) >= 23 * HOUR_MS) continue;
    await stage.trade(1);
    await stage.check();
  }
  // A start that finds its state in the future.
  await stage.prove();
  return `by ${jumps.map((jump) => jump / HOUR_MS).join(', ')} hours`;
}

async function secondProcess(seed: number): Promise<string> {
  const stage = await FaultStage.open(seed);
  const { code, log } = await TestNode.refuse(stage.dataDir);
  assert.notEqual(code, 0);
  assert.match(log, /node\.pid|already|process/i);
  await stage.trade(1);
  await stage.prove();
  return 'refused, and the first one unharmed';
}

async function paused(seed: number, isLong: boolean): Promise<string> {
  const stage = await FaultStage.open(seed);
  const { pid } = stage.node;
  const trading = stage.trade(2);
  process.kill(pid, 'SIGSTOP');
  const milliseconds = isLong ? PAUSE_MS_LONG : PAUSE_MS;
  await sleep(milliseconds);
  process.kill(pid, 'SIGCONT');
  await trading;
  await until(async () => {
    const asked = performance.now();
    await get(stage.node, '/time');
    return performance.now() - asked < ANSWER_MS_MAX;
  });
  await stage.prove();
  return `for ${milliseconds / 1_000} s`;
}

const FAULTS: readonly Fault[] = [
  { name: 'full disk', run: fullDisk },
  { name: 'limit of file size', run: fileLimit },
  { name: 'read-only directory', run: readOnlyDirectory },
  { name: 'slow disk', run: slowDisk },
  { name: 'failing disk', run: failingDisk },
  { name: 'follower ends before', run: (seed) => followerEnds(seed, 'open') },
  { name: 'follower ends inside', run: (seed) => followerEnds(seed, 'write') },
  { name: 'follower ends after', run: (seed) => followerEnds(seed, 'rename') },
  { name: 'clock jumps', run: clockJumps },
  { name: 'second process', run: secondProcess },
  { name: 'paused process', run: paused },
  { name: 'damaged files', run: damagedFiles },
  ...KILL_MOMENTS.map((moment) => ({
    name: `killed ${moment}`,
    run: (seed: number) => killedAt(seed, moment),
  })),
];

/** Number of faults, each once: the long form. */
export const ALL_FAULTS = FAULTS.length;

export async function faults(options: PartOptions): Promise<Done> {
  const pace = new Pace(options, 'faults');
  const first = new Random(options.seed).below(FAULTS.length);
  const isLong = options.goal >= ALL_FAULTS;
  const done: string[] = [];
  for (let n = 0; pace.goesOn(n === 0 ? 0 : 1); n++) {
    const { name, run } = FAULTS[(first + n) % FAULTS.length]!;
    // A failing one comes first under the seed of its turn.
    await withRoundSeed('faults', options.seed, async (seed) => {
      const text = await run(seed + n, isLong, options.say).catch((error: Error) => {
        throw new Error(`${name}: ${error.message}`, { cause: error });
      });
      done.push(`${name}: ${text}`);
      options.say(done.at(-1)!);
    });
  }
  return pace.done(done.join('; '));
}
