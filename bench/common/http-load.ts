/**
 * The one place that runs wrk, the HTTP load generator: one run against one address, its figures as
 * numbers. Also pins processes to a processor each, so that the server and its load do not take each
 * other's.
 *
 * Thread: any. Non-goals: an offered rate (wrk sends as fast as it is answered).
 */
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';

/** The processor of a measured server, and that of the load. */
export const SERVER_CORE = 0;
const LOAD_CORE = 1;

const PRINTABLE = /^[\x20-\x7e]*$/;

export interface LoadRequest {
  /** Path and query. */
  readonly target: string;
  /** With a body it is a POST of JSON, without one a GET. */
  readonly body?: string;
}

export interface LoadOptions {
  readonly port: number;
  /** Sent in turn; at least one. */
  readonly requests: readonly LoadRequest[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Whole seconds, at least 1. */
  readonly seconds: number;
  readonly connections: number;
}

export interface LoadFigures {
  readonly requests: number;
  readonly perSecond: number;
  /** Bytes that arrived, heads included. */
  readonly bytes: number;
  readonly p50Us: number;
  readonly p99Us: number;
  /** Connections that broke, answers that did not come, and statuses from 400 on. */
  readonly failed: number;
}

/** Returns the reason why no load can be run here, or `undefined`. */
export function loadProblem(): string | undefined {
  return exists('wrk') ? undefined : 'wrk is not installed: apt-get install wrk';
}

/** Returns true where server and load can have a processor each. */
export function canPin(): boolean {
  return availableParallelism() > LOAD_CORE && exists('taskset');
}

/** Starts a child process on one processor, where that is possible. */
export function spawnPinned(
  core: number,
  command: string,
  args: readonly string[],
  options: SpawnOptions,
): ChildProcess {
  if (!canPin()) return spawn(command, args, options);
  return spawn('taskset', ['--cpu-list', String(core), command, ...args], options);
}

/** Runs wrk; rejects when it cannot run or its figures cannot be read. */
export async function runLoad(options: LoadOptions): Promise<LoadFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'http-load-'));
  try {
    const script = join(folder, 'requests.lua');
    writeFileSync(script, scriptOf(options.requests));
    const url = `http://127.0.0.1:${options.port}${options.requests[0]!.target}`;
    const args = ['--threads=1', `--connections=${options.connections}`];
    args.push(`--duration=${options.seconds}s`, '--timeout=10s', `--script=${script}`);
    for (const [name, value] of Object.entries(options.headers ?? {})) {
      args.push('--header', `${name}: ${value}`);
    }
    return figuresOf(await outputOf(spawnPinned(LOAD_CORE, 'wrk', [...args, url], {})));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Requests are formatted once, and only where there are several; figures come as one JSON line. */
function scriptOf(requests: readonly LoadRequest[]): string {
  const rows = requests.map(({ target, body }) => {
    return body === undefined ? `{${luaText(target)}}` : `{${luaText(target)},${luaText(body)}}`;
  });
  const isPlain = requests.length === 1 && requests[0]!.body === undefined;
  const several = `local rows = {${rows.join(',')}}
local requests, at = {}, 0
init = function()
  local headers = {["Content-Type"] = "application/json"}
  for name, value in pairs(wrk.headers) do headers[name] = value end
  for i, row in ipairs(rows) do
    requests[i] = row[2] and wrk.format("POST", row[1], headers, row[2]) or wrk.format("GET", row[1])
  end
end
request = function()
  at = at % #requests + 1
  return requests[at]
end
`;
  return `${isPlain ? '' : several}done = function(summary, latency)
  local e = summary.errors
  print(string.format('figures {"requests":%d,"us":%d,"bytes":%d,"p50":%d,"p99":%d,"failed":%d}',
    summary.requests, summary.duration, summary.bytes, latency:percentile(50),
    latency:percentile(99), e.connect + e.read + e.write + e.status + e.timeout))
end
`;
}

/** A text of printable ASCII is written alike in Lua and in JSON. */
function luaText(text: string): string {
  if (!PRINTABLE.test(text)) throw new Error(`a request must be plain ASCII: ${text}`);
  return JSON.stringify(text);
}

function figuresOf(output: string): LoadFigures {
  const line = /^figures (\{.*\})$/m.exec(output)?.[1];
  if (line === undefined) throw new Error(`wrk did not report: ${output.slice(-500)}`);
  const { requests, us, bytes, p50, p99, failed } = JSON.parse(line);
  return { requests, perSecond: (requests * 1e6) / us, bytes, p50Us: p50, p99Us: p99, failed };
}

function outputOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => (text += chunk.toString()));
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(text);
      else reject(new Error(`wrk ended with ${code}: ${text.slice(-500)}`));
    });
  });
}

function exists(command: string): boolean {
  return spawnSync(command, ['--version']).error === undefined;
}
