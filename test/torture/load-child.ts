/** The measuring mode of the load tool in a process of its own, and the resources of a process. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Result } from '../../bench/measure/result.ts';
import { useCompiledNodes } from '../common/forms.ts';
import { temporaryDirectory } from '../common/node-harness.ts';

/** Settings of a node that the load tool can fill: the demo catalog, and room for its orders. */
export const LOADED_NODE = {
  DEMO: 'on',
  DEMO_TRADERS: 'off',
  VERIFY_SIGNATURES: 'off',
  ORDERS_MAX: '131072',
  ORDER_HISTORY: '32768',
  TRADES_MAX: '50000',
  LOG_SEGMENT_BYTES: '4194304',
};

const PAGE_BYTES = 4_096;

/** Runs one measurement against a node; rejects with the tool's output when it failed. */
export async function measured(port: number, args: readonly string[]): Promise<Result> {
  const out = join(temporaryDirectory(), 'result');
  const tool = join(useCompiledNodes(), 'bench/load.js');
  const target = ['--url', `http://127.0.0.1:${port}`, '--out', out, '--unsigned'];
  const child = spawn(process.execPath, [tool, 'measure', ...target, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const end = (): boolean => child.kill('SIGKILL');
  process.once('exit', end);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-4_000);
    });
  }
  const [code] = await once(child, 'close');
  process.off('exit', end);
  assert.equal(code, 0, said);
  return JSON.parse(readFileSync(`${out}.json`, 'utf8')) as Result;
}

export interface Taken {
  /** Memory without mapped files, whose pages the system may take back. */
  readonly residentBytes: number;
  readonly handles: number;
}

export function takenBy(pid: number): Taken {
  const [, resident, shared] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ');
  const handles = readdirSync(`/proc/${pid}/fd`).length;
  return { residentBytes: (Number(resident) - Number(shared)) * PAGE_BYTES, handles };
}
