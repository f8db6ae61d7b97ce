/**
 * A node that the load tool runs itself, as a child process on its own data directory: to kill it
 * with SIGKILL in the middle of the load and start it again.
 * Thread: the tool's only one.
 * Non-goals: supervising a node that others use.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../common/free-port.ts';
import { ask, openClient } from './load-client.ts';

const START_TIMEOUT_MS = 120_000;
const POLL_MS = 25;
const NS_PER_US = 1_000;
const OUTPUT_TAIL_CHARS = 4000;

/** Sources run through tsx, compiled files as they are: the child runs the way this process does. */
const SUFFIX = extname(fileURLToPath(import.meta.url));

/** A program of the node, which is bundled where this file is compiled. */
function program(path: string): string {
  const root = resolve(import.meta.dirname, '../..', SUFFIX === '.ts' ? '' : 'node');
  return join(root, `${path}${SUFFIX}`);
}

/** Resolves when `path` answers 200; rejects after a deadline, or when `gone` says why not to wait. */
export async function untilUp(
  url: URL,
  gone: () => string | undefined,
  path = '/time',
): Promise<void> {
  const client = openClient(url);
  const deadline = performance.now() + START_TIMEOUT_MS;
  try {
    for (;;) {
      const reply = await client.send('GET', path).catch(() => undefined);
      if (reply?.status === 200) return;
      const reason = gone();
      if (reason !== undefined) throw new Error(reason);
      if (performance.now() > deadline) throw new Error(`no answer to GET ${path} at ${url}`);
      await pause(POLL_MS);
    }
  } finally {
    client.close();
  }
}

/** Imports a catalog file into a data directory, as the command `catalog import FILE` does. */
export async function importCatalog(file: string, dataDir: string): Promise<void> {
  const child = spawn(
    process.execPath,
    [...process.execArgv, program('server/cli/cli'), 'catalog', 'import', resolve(file)],
    { env: { ...process.env, DATA_DIR: dataDir, DEMO: 'off' }, stdio: 'inherit' },
  );
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`the import of ${file} failed`);
}

export interface LocalNodeOptions {
  readonly demo: boolean;
  /** Beside that of this process, which it overrules. */
  readonly environment?: NodeJS.ProcessEnv;
  /** Another program than this checkout's node. */
  readonly main?: string;
  /** Flags of its Node; those of this process by default. */
  readonly flags?: readonly string[];
  /** Any that is free, unless said. */
  readonly port?: number;
  /** With an admin listener on a port of its own. */
  readonly hasAdmin?: boolean;
  /** Looks at the directory between a kill and the start after it. */
  readonly whileDown?: () => Promise<void>;
}

type Operated = Readonly<Record<string, unknown>>;

/** Those that run: none of them outlives this process. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export class LocalNode {
  readonly url: URL;
  readonly #adminUrl: URL | undefined;
  readonly #dataDir: string;
  readonly #whileDown: () => Promise<void>;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #command: readonly string[];
  #child: ChildProcess | undefined;
  #output = '';
  #startMs = 0;
  #up: Promise<void> = Promise.resolve();

  private constructor(
    port: number,
    adminPort: number,
    dataDir: string,
    { demo, environment, flags, main, whileDown }: LocalNodeOptions,
  ) {
    this.#dataDir = dataDir;
    this.#adminUrl = adminPort === 0 ? undefined : new URL(`http://127.0.0.1:${adminPort}`);
    this.#whileDown = whileDown ?? (() => Promise.resolve());
    this.url = new URL(`http://127.0.0.1:${port}`);
    this.#command = [...(flags ?? process.execArgv), main ?? program('server/node/main')];
    this.#environment = {
      RATE_LIMITS: 'off',
      ADMIN_PORT: '0',
      DEMO_TRADERS: 'off',
      ...process.env,
      ...environment,
      HOST: '127.0.0.1',
      PORT: String(port),
      DATA_DIR: dataDir,
      DEMO: demo ? 'on' : 'off',
      ...(adminPort === 0 ? {} : { ADMIN_PORT: String(adminPort) }),
    };
  }

  static async start(dataDir: string, options: LocalNodeOptions): Promise<LocalNode> {
    const adminPort = options.hasAdmin === true ? await freePort() : 0;
    const node = new LocalNode(options.port ?? (await freePort()), adminPort, dataDir, options);
    await node.#start();
    return node;
  }

  /** Calls an operation of its admin listener, by POST where there is a body. Returns `undefined` without a listener. */
  async operator(path: string, body?: object): Promise<Operated | undefined> {
    if (this.#adminUrl === undefined) return undefined;
    const token = readFileSync(join(this.#dataDir, 'admin.token'), 'utf8').trim();
    const client = openClient(this.#adminUrl);
    try {
      const headers = { Authorization: `Bearer ${token}` };
      const text = body === undefined ? [] : [JSON.stringify(body)];
      return (await ask(client, body ? 'POST' : 'GET', path, headers, ...text)) as Operated;
    } finally {
      client.close();
    }
  }

  /** Id of its process. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Ticks of the processor, of all threads of its process so far; NaN where the system does not tell. */
  get ticks(): number {
    try {
      const fields = readFileSync(`/proc/${this.pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
      return Number(fields[11]) + Number(fields[12]);
    } catch {
      return Number.NaN;
    }
  }

  /** Microseconds of the processor: of its I/O thread, and of all threads that it has; NaN as above. */
  get threadUs(): { readonly io: number; readonly all: number } {
    const root = `/proc/${this.pid}/task`;
    const usOf = (thread: string): number =>
      Number(readFileSync(join(root, thread, 'schedstat'), 'utf8').split(' ')[0]) / NS_PER_US;
    try {
      const all = readdirSync(root).reduce((sum, thread) => sum + usOf(thread), 0);
      return { io: usOf(`${this.pid}`), all };
    } catch {
      return { io: Number.NaN, all: Number.NaN };
    }
  }

  /** Milliseconds from the start of its process to its first answer, the last time. */
  get startMs(): number {
    return this.#startMs;
  }

  /** Resolves at once while the node is up, after the restart while it is not. */
  async ready(): Promise<void> {
    await this.#up;
    const reason = this.#gone();
    if (reason !== undefined) throw new Error(reason);
  }

  /** SIGKILL at once, then a new start on the same directory and port; `ready` waits for it. */
  killAndRestart(): Promise<void> {
    const child = this.#child;
    this.#up = (async () => {
      if (child !== undefined) await end(child, 'SIGKILL');
      await this.#whileDown();
      await this.#start();
    })();
    return this.#up;
  }

  /** SIGTERM; the exit code, null when a signal ended the process. */
  async stop(): Promise<number | null> {
    return this.#child === undefined ? null : end(this.#child, 'SIGTERM');
  }

  /** SIGKILL, for good. */
  async end(): Promise<void> {
    if (this.#child !== undefined) await end(this.#child, 'SIGKILL');
  }

  async #start(): Promise<void> {
    const child = spawn(process.execPath, this.#command, {
      env: this.#environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const keep = (chunk: Buffer): void => {
      this.#output = (this.#output + chunk.toString()).slice(-OUTPUT_TAIL_CHARS);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    this.#child = child;
    running.add(child);
    child.once('exit', () => running.delete(child));
    const began = performance.now();
    await untilUp(this.url, () => this.#gone());
    this.#startMs = performance.now() - began;
    // The port opens before operations do.
    if (this.#adminUrl !== undefined) await untilUp(this.#adminUrl, () => this.#gone(), '/ready');
  }

  #gone(): string | undefined {
    const child = this.#child;
    if (child === undefined || (child.exitCode === null && child.signalCode === null)) return;
    return `the node ended (${child.exitCode ?? child.signalCode}); its last words:\n${this.#output}`;
  }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill(signal);
    await once(child, 'exit');
  }
  return child.exitCode;
}
