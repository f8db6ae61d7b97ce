/**
 * A node under load, with the CPU profiles of its threads and a summary left in a directory.
 *
 * Thread: the tool's only one.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { LocalNode } from '../load/load-node.ts';
import { monotonicMs } from '../measure/pacer.ts';
import { Traffic } from '../orders/traffic.ts';
import { readProfile, summaryOf, threadOf, type Window } from './summary.ts';

export interface ProfileOptions {
  /** Orders a second; undefined: a closed loop. */
  readonly rate: number | undefined;
  readonly orders: number;
  readonly batch: number;
  readonly connections: number;
  readonly unsigned: boolean;
  /** Microseconds between samples. */
  readonly interval: number;
  readonly perf: boolean;
  readonly out: string;
  /** Environment of the node, beside that of this process. */
  readonly environment?: NodeJS.ProcessEnv;
}

const PERF_HERTZ = '999';
const PERF_ROWS = 80;

/** Runs one profile; rejects when the node or the load fails. */
export async function profileNode(options: ProfileOptions): Promise<readonly string[]> {
  const out = resolve(options.out);
  mkdirSync(out, { recursive: true });
  const dataDir = mkdtempSync(join(tmpdir(), 'profile-'));
  try {
    const node = await LocalNode.start(dataDir, {
      demo: true,
      environment: {
        ...options.environment,
        ...(options.unsigned ? { VERIFY_SIGNATURES: 'off' } : {}),
      },
      flags: [
        ...process.execArgv,
        ...['--cpu-prof', `--cpu-prof-dir=${out}`, `--cpu-prof-interval=${options.interval}`],
        ...(options.perf ? ['--perf-basic-prof'] : []),
      ],
    });
    const perf = options.perf ? startPerf(node.pid!, out) : undefined;
    const { lines, window } = await load(node, options);
    if (perf !== undefined) lines.push(await endPerf(perf, out));
    if ((await node.stop()) !== 0) throw new Error('the node did not end well');
    const profiles = profilesIn(out).map((path) => readProfile(path));
    profiles.sort((a, b) => threadOf(a).localeCompare(threadOf(b)));
    for (const profile of profiles) lines.push('', ...summaryOf(profile, window));
    writeFileSync(join(out, 'summary.txt'), `${lines.join('\n')}\n`);
    return lines;
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function load(
  node: LocalNode,
  { batch, connections, orders, rate, unsigned }: ProfileOptions,
): Promise<{ lines: string[]; window: Window }> {
  const traffic = await Traffic.open(node.url, { orders, unsigned });
  const requests = traffic.drawing(Math.ceil(orders / batch), batch);
  const from = 1_000 * monotonicMs();
  const burst =
    rate === undefined
      ? await traffic.closed(requests, connections)
      : await traffic.open(requests, connections, rate / batch);
  const window = { from, to: 1_000 * monotonicMs() };
  const line = `${orders} orders in requests of ${batch}, ${connections} connections: ${burst.ordersPerSecond.toFixed(0)} orders/s`;
  return { lines: [line], window };
}

function profilesIn(out: string): string[] {
  const names = readdirSync(out).filter((name) => name.endsWith('.cpuprofile'));
  return names.map((name) => join(out, name));
}

/** Records the whole process, if there is a perf that may. */
function startPerf(pid: number, out: string): ChildProcess | undefined {
  if (spawnSync('perf', ['--version']).error !== undefined) return undefined;
  const args = ['record', '-e', 'cpu-clock', '-F', PERF_HERTZ, '-g', '-p', String(pid)];
  return spawn('perf', [...args, '-o', join(out, 'perf.data')], { stdio: 'ignore' });
}

async function endPerf(perf: ChildProcess, out: string): Promise<string> {
  if (perf.exitCode === null) {
    perf.kill('SIGINT');
    await once(perf, 'exit');
  }
  const args = ['report', '-i', join(out, 'perf.data'), '--no-children', '-g', 'none'];
  const report = spawnSync('perf', [...args, '--stdio', '--sort', 'pid,dso,symbol']);
  const rows = report.stdout.toString().split('\n').slice(0, PERF_ROWS);
  writeFileSync(join(out, 'perf.txt'), `${rows.join('\n')}\n`);
  return 'perf: perf.data, perf.txt';
}
